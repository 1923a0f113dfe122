/* A formula from its text: its roots, the operators that may stand at each node, and the idioms that texts may use. */
#include "lang/formula.h"

#include <stdlib.h>
#include <string.h>

#include "lang/build.h"

static void add_kind(struct node *n, enum op_kind k) {
    n->kinds[k / 64] |= 1ull << (k % 64);
}

static bool has_kinds(const struct node *n) {
    for (size_t k = 0; k < sizeof n->kinds / sizeof *n->kinds; k++)
        if (n->kinds[k])
            return true;
    return false;
}

/* Fills in the operators that each node may match, operands first. Shared nodes are visited once. */
static void set_kinds(struct node *n) {
    if (n->any || has_kinds(n))
        return;
    for (uint32_t i = 0; i < n->nargs; i++)
        set_kinds(n->args[i]);
    switch (n->kind) {
    case N_OP:
        add_kind(n, n->op);
        n->any =
            op_table[n->op].class == OP_MOVE || op_table[n->op].class == OP_CAST || op_table[n->op].class == OP_LAYOUT;
        if (n->op == K_MATMUL) { /* the same product under other names */
            add_kind(n, K_DOT_GENERAL);
            add_kind(n, K_LINEAR);
        }
        return;
    case N_OUTER:
        add_kind(n, K_MULTIPLY);
        return;
    case N_NAMED:
    case N_EITHER:
    case N_RESULT:
    case N_TRANSPOSED:
        for (uint32_t i = 0; i < n->nargs; i++) {
            n->any |= n->args[i]->any;
            for (size_t k = 0; k < sizeof n->kinds / sizeof *n->kinds; k++)
                n->kinds[k] |= n->args[i]->kinds[k];
        }
        return;
    case N_VARIABLE:
    case N_NUMBER:
        n->any = true;
    }
}

static void add_roots(const struct node *n, bool *roots) {
    switch (n->kind) {
    case N_OP:
        roots[n->op] = true;
        return;
    case N_OUTER:
        roots[K_MULTIPLY] = true;
        return;
    case N_NAMED:
    case N_EITHER:
    case N_RESULT:
    case N_TRANSPOSED:
        for (uint32_t i = 0; i < n->nargs; i++)
            add_roots(n->args[i], roots);
        return;
    default:
        roots[K_UNKNOWN] = true;
    }
}

/* A root has to be an op: a name alone would match every value. */
static void check_root(struct builder *b, struct formula_scope *s, struct node *root, struct str name) {
    bool roots[K_COUNT] = {false};
    add_roots(root, roots);
    if (!b->failed && roots[K_UNKNOWN])
        build_fail(b, s, name, NULL, "the last line is not an operation");
    if (!b->failed)
        set_kinds(root);
}

/* How many ops deep a part of the formula is. */
static uint32_t ops_deep(const struct node *n) {
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        uint32_t d = ops_deep(n->args[i]);
        deepest = d > deepest ? d : deepest;
    }
    return deepest + (n->kind == N_OP || n->kind == N_OUTER);
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
        b->f->also[b->f->nsecondary++] = (struct secondary_root){n, ops_deep(n), s->lines[i].kind == LINE_MAYBE};
    }
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
            build_fail(&b, s, s->lines[i].name, NULL, "the name is defined but not used");
    return !b.failed;
}

bool formula_parse(struct formula *f, struct arena *a, const struct idioms *idioms, struct str text,
                   struct text_origin origin, struct diags *d) {
    struct arena scratch = {0};
    struct builder b = {.f = f, .arena = a, .scratch = &scratch, .idioms = idioms, .diags = d};
    bool ok = formula_build(b, text, origin);
    f->text = text;
    arena_free(&scratch);
    return ok;
}

uint32_t formula_slot(const struct formula *f, struct str name) {
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slot_name[i].n && str_eq(f->slot_name[i], name))
            return i;
    return NONE;
}

void formula_roots(const struct formula *f, bool roots[K_COUNT]) {
    memset(roots, 0, K_COUNT * sizeof *roots);
    add_roots(f->root, roots);
}

bool idiom_add(struct idioms *all, struct arena *a, struct str text, struct text_origin origin, struct diags *d) {
    struct formula_parser p = {.arena = a, .diags = d, .text = text, .origin = origin, .lexer = {text, 0, 0}};
    struct idiom idiom = {.origin = origin};
    const char *body = formula_idiom_head(&p, &idiom);
    if (!body)
        return false;
    idiom.body = (struct str){body, (size_t)(text.p + text.n - body)};
    idiom.origin.line = lex_place(origin, text, body).line;
    struct formula_parser q = {
        .arena = a, .diags = d, .text = idiom.body, .origin = idiom.origin, .lexer = {idiom.body, 0, 0}};
    idiom.lines = formula_lines(&q, &idiom.nlines);
    if (q.failed)
        return false;
    all->items = grow(all->items, &all->cap, all->n + 1, sizeof *all->items);
    all->items[all->n++] = idiom;
    return true;
}

void idioms_free(struct idioms *all) {
    free(all->items);
    *all = (struct idioms){0};
}
