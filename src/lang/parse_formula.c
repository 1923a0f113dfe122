/* Formulas and idioms from their text: which lines are roots, and that each line is defined once and used. */
#include <string.h>

#include "lang/build.h"

/* A root has to be an op: a name alone would match every value. */
static void check_root(struct builder *b, struct formula_scope *s, struct node *root, struct str name) {
    if (!b->failed && root->bare)
        build_fail(b, s, name, NULL, "the last line is not an operation");
    if (!b->failed)
        node_set_kinds(root);
}

/* The last plain line is the root; lines with `also` or `maybe` are secondary roots, searched from what it bound. */
static void build_roots(struct builder *b, struct formula_scope *s) {
    uint32_t last = s->nlines;
    for (uint32_t i = 0; i < s->nlines; i++)
        if (s->lines[i].kind == LINE_PLAIN)
            last = i;
    if (last == s->nlines) {
        build_fail(b, s, s->lines[0].name, "the root is a line without `also`", "the formula has no root");
        return;
    }
    b->f->root = build_line(b, s, last, s->lines[last].name);
    check_root(b, s, b->f->root, s->lines[last].name);
    for (uint32_t i = 0; i < s->nlines && !b->failed; i++) {
        if (s->lines[i].kind == LINE_PLAIN)
            continue;
        if (b->f->nsecondary == MAX_SECONDARY) {
            build_fail(b, s, s->lines[i].name, NULL, "too many further lines");
            return;
        }
        struct node *n = build_line(b, s, i, s->lines[i].name);
        check_root(b, s, n, s->lines[i].name);
        b->f->also[b->f->nsecondary++] = (struct secondary_root){n, n->deep, s->lines[i].kind == LINE_MAYBE};
    }
}

/* A variable that is spelled nearly as a line that nothing uses. */
static const char *meant_by(const struct builder *b, struct str name) {
    const char *names[MAX_SLOTS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->f->nslots; i++)
        if (b->f->slot_is_variable[i] && b->f->slot_name[i].n)
            names[n++] = arena_strdup(b->arena, b->f->slot_name[i]);
    const char *found = str_nearest(name, names, n);
    return found ? arena_printf(b->arena, "no line defines %s, which is a variable", found).p : NULL;
}

static bool formula_build(struct builder b, struct str text, struct text_origin origin) {
    struct formula *f = b.f;
    struct formula_scope *s = arena_alloc(b.scratch, sizeof *s);
    struct formula_parser p = {
        .arena = b.scratch, .diags = b.diags, .text = text, .origin = origin, .lexer = {text, 0, 0}};
    memset(f, 0, sizeof *f);
    s->parser = &p;
    s->lines = formula_lines(&p, &s->nlines);
    for (uint32_t i = 0; i < s->nlines && !p.failed; i++) {
        if (!s->lines[i].name.n)
            formula_fail(&p, s->lines[i].expr->text, "write `out = ...`", "each line of a formula has a name");
        for (uint32_t j = 0; j < i && !p.failed; j++)
            if (str_eq(s->lines[i].name, s->lines[j].name))
                formula_fail(&p, s->lines[i].name, NULL, "the name is defined twice");
    }
    if (!p.failed && s->nlines == 0)
        formula_fail(&p, text, NULL, "the formula is empty");
    if (p.failed)
        return false;
    build_roots(&b, s);
    for (uint32_t i = 0; i < s->nlines && !b.failed; i++)
        if (!s->built[i])
            build_fail(&b, s, s->lines[i].name, meant_by(&b, s->lines[i].name), "the name is defined but not used");
    return !b.failed;
}

bool formula_parse(struct formula *f, struct arena *a, const struct idioms *idioms, struct str text,
                   struct text_origin origin, struct diags *d) {
    _Alignas(16) char first[8192] = {0}; /* most formulas need no more */
    struct arena scratch = {.at = first, .end = first + sizeof first};
    struct builder b = {.f = f, .arena = a, .scratch = &scratch, .idioms = idioms, .diags = d};
    bool ok = formula_build(b, text, origin);
    f->text = text;
    arena_free(&scratch);
    return ok;
}
