/* Conditions and numbers over the names of a formula, from text. They share the expressions of formulas, but names are
 * those that the formula has: nothing is defined here. */
#include "lang/build.h"
#include "lang/condition.h"
#include "lang/infix.h"

enum { MAX_DEFINITION_DEPTH = 8 };

static const struct number *number_of(struct builder *b, struct formula_scope *s, const struct expr *e);

static const pcre2_code *compile(struct builder *b, struct formula_scope *s, struct str text) {
    const char *wrong = NULL;
    const pcre2_code *re = b->parts ? regexes_add(&b->parts->regexes, text, b->arena, &wrong) : NULL;
    if (!re)
        build_fail(b, s, text, NULL,
                   wrong ? arena_printf(b->arena, "wrong regular expression: %s", wrong).p
                         : "no regular expression is allowed here");
    return re;
}

/* The whole numbers that follow the names in a call. */
static void take_numbers(struct builder *b, struct formula_scope *s, const struct expr *e, uint32_t from,
                         struct number *n) {
    for (uint32_t i = from; i < e->nargs; i++) {
        const struct expr *v = e->args[i]->kind == E_NEG ? e->args[i]->args[0] : e->args[i];
        if (v->kind != E_NUMBER || v->value > 64 || v->value != (int)v->value) {
            build_fail(b, s, e->args[i]->text, NULL, "a whole number is meant");
            return;
        }
        n->given[n->ngiven++] = (int16_t)(e->args[i]->kind == E_NEG ? -v->value : v->value);
    }
}

static const char *did_you_mean(struct builder *b, const char *word) {
    return word ? arena_printf(b->arena, "did you mean %s?", word).p : NULL;
}

static void not_a_name(struct builder *b, struct formula_scope *s, struct str name) {
    const char *names[MAX_SLOTS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->f->nslots; i++)
        if (b->f->slot_name[i].n)
            names[n++] = arena_strdup(b->arena, b->f->slot_name[i]);
    build_fail(b, s, name, did_you_mean(b, str_nearest(name, names, n)), "not a name of the formula");
}

/* The slot that a name stands for: an argument in a definition, else a name of the formula. */
static uint32_t slot_of(const struct builder *b, const struct formula_scope *s, struct str name) {
    for (uint32_t i = 0; s->idiom && i < s->idiom->nparams; i++)
        if (str_eq(s->idiom->params[i], name))
            return s->params[i] ? s->params[i]->slot : NONE;
    return s->idiom ? NONE : formula_slot(b->f, name);
}

/* Argument i of a call: a name, source(name) or printed(name). NONE with a message for anything else. */
static uint32_t slot_of_argument(struct builder *b, struct formula_scope *s, const struct expr *e, uint32_t i,
                                 struct number *n) {
    const struct expr *name = e->args[i];
    bool view = name->kind == E_CALL && name->nargs == 1;
    bool source = view && str_is(name->text, "source"), printed = view && str_is(name->text, "printed");
    if (source || printed)
        name = name->args[0];
    uint32_t slot = name->kind == E_NAME ? slot_of(b, s, name->text) : NONE;
    if (slot == NONE)
        not_a_name(b, s, name->text);
    uint8_t bit = (uint8_t)(1u << (i & 7)); /* there are at most six names */
    n->sources |= source ? bit : 0;
    n->printed |= printed ? bit : 0;
    return slot;
}

static const struct idiom *find_definition(const struct builder *b, const struct expr *e) {
    const struct idioms *all = b->parts ? &b->parts->definitions : NULL;
    for (uint32_t i = all ? all->n : 0; i-- > 0;)
        if (str_eq(all->items[i].name, e->text) && all->items[i].nparams == e->nargs)
            return &all->items[i];
    return NULL;
}

static const struct idiom *definition_named(const struct builder *b, struct str name) {
    const struct idioms *all = b->parts ? &b->parts->definitions : NULL;
    uint32_t i = 0;
    while (all && i < all->n && !str_eq(all->items[i].name, name))
        i++;
    return all && i < all->n ? &all->items[i] : NULL;
}

static const char *nearest_condition(const struct builder *b, struct str name) {
    const struct idioms *all = b->parts ? &b->parts->definitions : NULL;
    const char *words[MAX_OTHERS];
    uint32_t n = 0;
    for (uint32_t i = 0; all && i < all->n && n < MAX_OTHERS; i++)
        words[n++] = arena_strdup(b->arena, all->items[i].name);
    return condition_nearest(name, words, n);
}

/* A call of a definition, with what it is defined as over the arguments. */
static void define_call(struct builder *b, struct formula_scope *s, const struct expr *e, const struct idiom *d,
                        struct number *n) {
    struct formula_scope *inner = arena_alloc(b->scratch, sizeof *inner);
    struct formula_parser *p = arena_alloc(b->scratch, sizeof *p);
    *p = (struct formula_parser){.diags = b->diags, .text = d->text, .origin = d->origin}; /* for diagnostics */
    inner->idiom = d;
    inner->parser = p;
    n->call = NONE;
    n->says = d->says;
    n->nargs = (uint8_t)d->nparams;
    for (uint32_t i = 0; i < d->nparams; i++) {
        uint32_t slot = slot_of(b, s, e->args[i]->text);
        n->args[i] = (uint8_t)slot;
        if (e->args[i]->kind != E_NAME || slot == NONE)
            not_a_name(b, s, e->args[i]->text);
        inner->params[i] = arena_alloc(b->scratch, sizeof *inner->params[i]);
        *inner->params[i] = (struct node){.kind = N_VARIABLE, .slot = slot};
    }
    if (++b->depth > MAX_DEFINITION_DEPTH)
        build_fail(b, s, e->text, NULL, "a condition is defined by itself");
    if (!b->failed)
        n->a = number_of(b, inner, d->lines[0].expr);
    b->depth--;
}

static void condition_call(struct builder *b, struct formula_scope *s, const struct expr *e, struct number *n) {
    n->op = NUM_CALL;
    const struct idiom *definition = find_definition(b, e);
    if (definition) {
        define_call(b, s, e, definition, n);
        return;
    }
    n->call = condition_find(e->text);
    const struct idiom *other = n->call == NONE ? definition_named(b, e->text) : NULL;
    if (other) {
        build_fail(b, s, e->text, other->says, "wrong number of arguments");
        return;
    }
    if (n->call == NONE) {
        build_fail(b, s, e->text, did_you_mean(b, nearest_condition(b, e->text)),
                   arena_printf(b->arena, "no condition is called %.*s", (int)e->text.n, e->text.p).p);
        return;
    }
    const struct condition_info *info = &condition_table[n->call];
    if (e->nargs < info->least || e->nargs > info->most || (e->nargs > 4 && info->arguments != ARGUMENTS_NUMBERS)) {
        build_fail(b, s, e->text, info->says, "wrong number of arguments");
        return;
    }
    for (uint32_t i = 0; i < e->nargs; i++) {
        if (e->args[i]->kind == E_STRING && info->arguments == ARGUMENTS_REGEX && i + 1 == e->nargs) {
            n->regex = compile(b, s, e->args[i]->text);
            n->nargs = (uint8_t)i;
            return;
        }
        if (info->arguments == ARGUMENTS_NUMBERS && e->args[i]->kind != E_NAME && e->args[i]->kind != E_CALL) {
            take_numbers(b, s, e, i, n);
            n->nargs = (uint8_t)i;
            return;
        }
        if (i == sizeof n->args) {
            build_fail(b, s, e->args[i]->text, info->says, "a whole number is meant");
            return;
        }
        n->args[i] = (uint8_t)slot_of_argument(b, s, e, i, n);
    }
    n->nargs = (uint8_t)e->nargs;
}

static void measure_call(struct builder *b, struct formula_scope *s, const struct expr *e, uint32_t which,
                         struct number *n) {
    const struct measure_info *info = &measure_table[which];
    n->op = NUM_MEASURE;
    n->call = which;
    if (e->nargs != 1 + info->ngiven + info->key) {
        build_fail(b, s, e->text, info->says, "wrong number of arguments");
        return;
    }
    n->slot = slot_of_argument(b, s, e, 0, n);
    if (info->key && e->args[1]->kind != E_STRING)
        build_fail(b, s, e->args[1]->text, info->says, "a string is meant");
    else if (info->key)
        n->key = arena_strdup(b->arena, e->args[1]->text);
    else
        take_numbers(b, s, e, 1, n);
}

static const struct number *number_of_call(struct builder *b, struct formula_scope *s, const struct expr *e,
                                           struct number *n) {
    bool extent = str_is(e->text, "extent");
    uint32_t which = extent ? NONE : measure_find(e->text);
    if (extent && e->nargs == 2 && slot_of(b, s, e->args[0]->text) == NONE)
        not_a_name(b, s, e->args[0]->text);
    if (extent)
        return build_extent_number(b, s, e);
    if ((str_is(e->text, "not") || str_is(e->text, "sqrt")) && e->nargs == 1) {
        n->op = str_is(e->text, "not") ? NUM_NOT : NUM_SQRT;
        n->a = number_of(b, s, e->args[0]);
    } else if (str_is(e->text, "value") && e->nargs == 1) {
        n->op = NUM_VALUE_OF;
        n->slot = slot_of(b, s, e->args[0]->text);
        if (n->slot == NONE)
            not_a_name(b, s, e->args[0]->text);
    } else if (which != NONE) {
        measure_call(b, s, e, which, n);
    } else {
        condition_call(b, s, e, n);
    }
    return n;
}

static const struct number *number_either(struct builder *b, struct formula_scope *s, const struct expr *e) {
    const struct number *all = number_of(b, s, e->args[0]);
    for (uint32_t i = 1; i < e->nargs; i++) {
        struct number *both = arena_alloc(b->arena, sizeof *both);
        *both =
            (struct number){.op = NUM_OR, .slot = NONE, .a = all, .b = number_of(b, s, e->args[i]), .text = e->text};
        all = both;
    }
    return all;
}

static const struct number *number_of(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct number *n = arena_alloc(b->arena, sizeof *n);
    const struct infix *sign;
    n->text = e->text;
    n->slot = NONE;
    if (b->failed)
        return n;
    switch (e->kind) {
    case E_NUMBER:
        n->value = e->value;
        return n;
    case E_NEG:
        n->op = NUM_NEG;
        n->a = number_of(b, s, e->args[0]);
        return n;
    case E_INFIX:
        sign = infix_of_sign(e->text);
        n->op = sign ? sign->number : NUM_VALUE;
        n->a = number_of(b, s, e->args[0]);
        n->b = number_of(b, s, e->args[1]);
        return n;
    case E_EITHER:
        return number_either(b, s, e);
    case E_CALL:
        return number_of_call(b, s, e, n);
    default:
        build_fail(b, s, e->text, "conditions compare numbers and extents, or call a condition", "not a condition");
        return n;
    }
}

static bool condition_build(const struct number **out, struct builder b, struct str text, struct text_origin origin) {
    struct formula_scope *s = arena_alloc(b.scratch, sizeof *s);
    struct formula_parser p = {.arena = b.scratch,
                               .diags = b.diags,
                               .text = text,
                               .origin = origin,
                               .lexer = {text, 0, 0},
                               .at_end = "in [a, b] of YAML each comma ends an item: write items behind '- ', a line each"};
    s->parser = &p;
    s->lines = formula_lines(&p, &s->nlines);
    if (!p.failed && s->nlines != 1)
        formula_fail(&p, text, NULL, "one condition expected");
    if (p.failed)
        return false;
    *out = number_of(&b, s, s->lines[0].expr);
    return !b.failed;
}

bool condition_parse(const struct number **out, const struct formula *f, struct arena *a, struct str text,
                     struct text_origin origin, struct condition_parts *parts, struct diags *d) {
    _Alignas(16) char first[2048] = {0}; /* most conditions need no more */
    struct arena scratch = {.at = first, .end = first + sizeof first};
    struct formula names = *f; /* a copy: building may add slots, conditions must not */
    struct builder b = {.f = &names, .arena = a, .scratch = &scratch, .diags = d, .parts = parts};
    bool ok = condition_build(out, b, text, origin);
    arena_free(&scratch);
    return ok;
}

/* ---- of several formulas ---- */

static void add_params(struct formula_parser *p, struct idiom *to, const struct expr *e) {
    uint32_t known = 0;
    for (uint32_t i = 0; i < e->nargs && !p->failed; i++)
        add_params(p, to, e->args[i]);
    if (e->kind != E_NAME)
        return;
    while (known < to->nparams && !str_eq(to->params[known], e->text))
        known++;
    if (known == MOST_IDIOM_PARAMS)
        formula_fail(p, e->text, NULL, "too many names in one condition");
    else if (known == to->nparams)
        to->params[to->nparams++] = e->text;
}

bool condition_read(struct idiom *out, struct arena *a, struct str text, struct text_origin origin, struct diags *d) {
    struct formula_parser p = {.arena = a, .diags = d, .text = text, .origin = origin, .lexer = {text, 0, 0}};
    *out = (struct idiom){.text = text, .body = text, .origin = origin};
    out->lines = formula_lines(&p, &out->nlines);
    if (!p.failed && out->nlines != 1)
        formula_fail(&p, text, NULL, "one condition expected");
    if (!p.failed)
        add_params(&p, out, out->lines[0].expr);
    return !p.failed;
}

bool condition_of(const struct number **out, const struct formula *f, struct arena *a, const struct idiom *condition,
                  const uint32_t *slots, struct condition_parts *parts, struct diags *d) {
    struct arena scratch = {0};
    struct formula names = *f;
    struct node params[MOST_IDIOM_PARAMS];
    struct builder b = {.f = &names, .arena = a, .scratch = &scratch, .diags = d, .parts = parts};
    struct formula_parser p = {.diags = d, .text = condition->text, .origin = condition->origin}; /* for diagnostics */
    struct formula_scope s = {.idiom = condition, .parser = &p};
    for (uint32_t i = 0; i < condition->nparams; i++) {
        params[i] = (struct node){.kind = N_VARIABLE, .slot = slots[i]};
        s.params[i] = &params[i];
    }
    *out = number_of(&b, &s, condition->lines[0].expr);
    arena_free(&scratch);
    return !b.failed;
}

const char *condition_says(const struct number *n) {
    return n->call == NONE ? n->says : condition_table[n->call].says;
}
