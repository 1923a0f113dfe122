/* Formulas and idioms from their text: which lines are roots, and that each line is defined once and used. */
#include <string.h>

#include "ir/mlir/attributes.h"
#include "patterns/lang/build.h"

/* A root has to be an op: a name alone would match every value. */
static void check_root(struct builder *b, struct formula_scope *s, struct node *root, struct str name) {
    if (!b->failed && root->bare)
        build_fail(b, s, name, NULL, "the last line is not an operation");
    if (!b->failed)
        node_set_kinds(root);
}

/* It has one of the first n names. */
static bool has_name(const struct node *n, uint32_t names) {
    bool has = (n->kind == N_NAMED || n->kind == N_VARIABLE) && n->slot < names;
    for (uint32_t i = 0; i < n->nargs && !has; i++)
        has = has_name(n->args[i], names);
    return has;
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
        uint32_t names = b->f->nslots; /* of the lines before it */
        struct node *n = build_line(b, s, i, s->lines[i].name);
        check_root(b, s, n, s->lines[i].name);
        b->f->also = arena_grow(b->arena, b->f->also, &b->f->also_cap, b->f->nsecondary + 1, sizeof *b->f->also);
        b->f->also[b->f->nsecondary++] =
            (struct secondary_root){n, n->deep, s->lines[i].kind == LINE_MAYBE, !b->failed && !has_name(n, names)};
    }
}

/* A variable that is spelled nearly as a line that nothing uses. */
static const char *meant_by(const struct builder *b, struct str name) {
    const char *names[MAX_SLOTS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->f->nslots; i++)
        if (b->f->slots[i].is_variable && b->f->slots[i].name.n)
            names[n++] = arena_strdup(b->arena, b->f->slots[i].name);
    const char *found = str_nearest(name, names, n);
    return found ? arena_printf(b->arena, "no line defines %s, which is a variable", found).p : NULL;
}

/* `form`: its last line needs no name. `body`: of the text. */
static bool formula_build(struct builder *b, struct str text, struct str body, struct text_origin origin, bool form) {
    struct formula *f = b->f;
    struct formula_scope *s = arena_alloc(b->scratch, sizeof *s);
    struct formula_parser p = {.arena = b->scratch,
                               .kept = b->arena,
                               .diags = b->diags,
                               .text = text,
                               .origin = origin,
                               .lexer = {body, 0, 0}};
    memset(f, 0, sizeof *f);
    s->parser = &p;
    struct definition *lines = formula_lines(&p, &s->nlines);
    if (form && s->nlines && !lines[s->nlines - 1].name.n)
        lines[s->nlines - 1].name = STR("out");
    s->lines = lines;
    for (uint32_t i = 0; i < s->nlines && !p.failed; i++) {
        if (!s->lines[i].name.n)
            formula_fail(&p, s->lines[i].expr->text, "write `out = ...`", "each line of a formula has a name");
        for (uint32_t j = 0; j < i && !p.failed; j++)
            if (str_eq(s->lines[i].name, s->lines[j].name))
                formula_fail(&p, s->lines[i].name, NULL, "the name is defined twice");
    }
    if (!p.failed && s->nlines == 0)
        formula_fail(&p, body, NULL, "the formula is empty");
    if (p.failed)
        return false;
    build_roots(b, s);
    for (uint32_t i = 0; i < s->nlines && !b->failed; i++)
        if (!s->built[i])
            build_fail(b, s, s->lines[i].name, meant_by(b, s->lines[i].name), "the name is defined but not used");
    return !b->failed;
}

/* ---- numbers in attributes ---- */

/* The next of a comma-separated list; commas in parentheses belong to an expression. False at the end. */
static bool next_item(struct str *rest, struct str *item) {
    size_t i = 0;
    int open = 0;
    for (; i < rest->n && (open > 0 || rest->p[i] != ','); i++)
        open += (rest->p[i] == '(') - (rest->p[i] == ')');
    *item = str_trim((struct str){rest->p, i});
    rest->p += i + (i < rest->n);
    rest->n -= i + (i < rest->n);
    return item->n > 0;
}

/* A name stands for the number that it is. */
static const struct number *number_over(const struct formula *f, struct str text, struct arena *a) {
    uint32_t slot = formula_slot(f, text);
    struct diags quiet = {.arena = a};
    const struct number *n = NULL;
    if (slot != NONE) {
        struct number *of = arena_alloc(a, sizeof *of);
        *of = (struct number){.op = NUM_VALUE_OF, .slot = slot};
        return of;
    }
    bool good = condition_parse(&n, f, a, text, (struct text_origin){NULL, 1, 1}, NULL, &quiet);
    diags_free(&quiet);
    return good ? n : NULL;
}

static void read_numbers(const struct formula *f, const struct formula *outer, struct attr_spec *a,
                         struct arena *arena) {
    uint32_t most = 1;
    for (size_t i = 0; i < a->value.n; i++)
        most += a->value.p[i] == ',';
    struct attr_number *numbers = arena_alloc(arena, most * sizeof *numbers);
    struct str rest = a->value, item;
    bool all = true;
    a->nnumbers = 0;
    for (; next_item(&rest, &item); a->nnumbers++) {
        struct attr_number *n = &numbers[a->nnumbers];
        n->own = number_over(f, item, arena);
        n->outer = outer ? number_over(outer, item, arena) : n->own;
        all &= n->own != NULL;
    }
    a->numbers = numbers;
    if (all)
        return;
    struct attr *text = arena_alloc(arena, sizeof *text);
    *text = mlir_read_attr(str_of(a->key), a->value, arena);
    a->text = text;
}

/* ---- parsing ---- */

/* What names are beside those of the lines. */
struct naming {
    bool form;                   /* words in attributes are names, */
    const struct formula *outer; /* also of this formula; else NULL */
    const struct idiom *op;      /* whose parameters are variables; else NULL */
};

static void add_variable(const struct builder *b, struct str name) {
    if (formula_slot(b->f, name) == NONE && b->f->nslots < MAX_SLOTS)
        formula_add_slot(b->f, b->arena, (struct slot){.name = name, .is_variable = true});
}

static bool is_plain_word(struct str word) {
    return str_is(word, "true") || str_is(word, "false") || str_is(word, "absent") ||
           op_kind_of_name(word) != NO_OPERATOR;
}

/* Names that occur as the value of an attribute only (epsilon=eps) get a slot. */
static bool add_names(const struct node *n, void *builder) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (n->attrs[i].word && !is_plain_word(n->attrs[i].value))
            add_variable(builder, n->attrs[i].value);
    return false;
}

static void add_variables(struct builder *b, const struct naming *names) {
    if (names->form)
        formula_find(b->f, add_names, b);
    for (uint32_t i = 0; names->op && i < names->op->nparams; i++)
        add_variable(b, names->op->params[i]);
}

static bool parse(struct formula *f, struct arena *a, const struct idioms *idioms, const struct naming *names,
                  struct str text, struct text_origin origin, struct diags *d) {
    _Alignas(16) char first[8192]; /* most formulas need no more */
    struct arena scratch = {.at = first, .end = first + sizeof first};
    struct builder b = {.f = f, .arena = a, .scratch = &scratch, .idioms = idioms, .diags = d, .form = names->form};
    struct str body = names->op ? names->op->body : text;
    bool ok = formula_build(&b, text, body, origin, names->form || names->op);
    f->text = body;
    if (ok)
        add_variables(&b, names);
    for (const struct attributed *l = b.attributed; l && ok; l = l->before)
        for (uint32_t i = 0; i < l->op->nattrs; i++)
            if (l->op->attrs[i].test == ATTR_IS)
                read_numbers(f, names->outer, &l->op->attrs[i], a);
    arena_free(&scratch);
    return ok;
}

bool formula_parse(struct formula *f, struct arena *a, const struct idioms *idioms, struct str text,
                   struct text_origin origin, struct diags *d) {
    return parse(f, a, idioms, &(struct naming){.form = false}, text, origin, d);
}

bool lowering_parse(struct formula *f, struct arena *a, const struct idioms *idioms, const struct idiom *op,
                    struct diags *d) {
    return parse(f, a, idioms, &(struct naming){.op = op}, op->text, op->origin, d);
}

bool form_parse(struct formula *f, struct arena *a, const struct idioms *idioms, const struct formula *outer,
                struct str text, struct text_origin origin, struct diags *d) {
    return parse(f, a, idioms, &(struct naming){.form = true, .outer = outer}, text, origin, d);
}
