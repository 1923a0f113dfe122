/* Conditions and numbers over the names of a formula, from text. They share the expressions of formulas, but names are
 * those that the formula has: nothing is defined here. */
#include "ir/ops/scalar.h"
#include "patterns/lang/build.h"
#include "patterns/lang/condition.h"
#include "patterns/lang/infix.h"

enum { MAX_DEFINITION_DEPTH = 8 };

static const struct number *number_of(struct builder *b, struct formula_scope *s, const struct expr *e);

bool number_is_truth(const struct number *n) {
    return (n->op >= NUM_EQ && n->op <= NUM_NOT) || n->op == NUM_CALL;
}

/* A number does not stand for a condition, nor a condition for a number but as 1 or 0 beside ==, != and *. */
static const struct number *operand_of(struct builder *b, struct formula_scope *s, const struct expr *e, bool truth) {
    const struct number *n = number_of(b, s, e);
    if (!b->failed && number_is_truth(n) != truth)
        build_fail(b, s, e->text, NULL, truth ? "not a condition" : "a condition stands where a number is expected");
    return n;
}

static const struct regex *compile(struct builder *b, struct formula_scope *s, struct str text) {
    const char *wrong = NULL;
    const struct regex *re = b->parts ? regexes_add(&b->parts->regexes, text, b->arena, &wrong) : NULL;
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
        if (b->f->slots[i].name.n)
            names[n++] = arena_strdup(b->arena, b->f->slots[i].name);
    build_fail(b, s, name, did_you_mean(b, str_nearest(name, names, n)), "not a name of the formula");
}

/* The slot that a name stands for: an argument in a definition, else a name of the formula. */
static uint32_t slot_of(const struct builder *b, const struct formula_scope *s, struct str name) {
    for (uint32_t i = 0; s->idiom && i < s->idiom->nparams; i++)
        if (str_eq(s->idiom->params[i], name))
            return s->params[i] ? s->params[i]->slot : NONE;
    return s->idiom ? NONE : formula_slot(b->f, name);
}

/* A name stands there; NONE with a message for anything else. */
static uint32_t slot_of_name(struct builder *b, struct formula_scope *s, const struct expr *e) {
    uint32_t slot = e->kind == E_NAME ? slot_of(b, s, e->text) : NONE;
    if (slot == NONE)
        not_a_name(b, s, e->text);
    return slot;
}

/* Argument i of a call: a name, source(name) or printed(name). NONE with a message for anything else. */
static uint32_t slot_of_argument(struct builder *b, struct formula_scope *s, const struct expr *e, uint32_t i,
                                 struct number *n) {
    const struct expr *name = e->args[i];
    bool view = name->kind == E_CALL && name->nargs == 1 && !name->forced_op;
    bool source = view && str_is(name->text, "source"), printed = view && str_is(name->text, "printed");
    uint32_t slot = slot_of_name(b, s, source || printed ? name->args[0] : name);
    uint8_t bit = (uint8_t)(1u << (i & 7)); /* there are at most six names */
    n->sources |= source ? bit : 0;
    n->printed |= printed ? bit : 0;
    return slot;
}

/* The last definition of this name, with so many arguments; NONE: with any number. */
static const struct idiom *find_definition(const struct builder *b, struct str name, uint32_t nargs) {
    const struct idioms *all = b->parts ? &b->parts->definitions : NULL;
    for (uint32_t i = all ? all->n : 0; i-- > 0;)
        if (str_eq(all->items[i].name, name) && (nargs == NONE || all->items[i].nparams == nargs))
            return &all->items[i];
    return NULL;
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
        uint32_t slot = slot_of_name(b, s, e->args[i]);
        n->args[i] = (uint8_t)slot;
        inner->params[i] = arena_alloc(b->scratch, sizeof *inner->params[i]);
        *inner->params[i] = (struct node){.kind = N_VARIABLE, .slot = slot};
    }
    if (++b->depth > MAX_DEFINITION_DEPTH)
        build_fail(b, s, e->text, NULL, "a condition is defined by itself");
    if (!b->failed)
        n->a = operand_of(b, inner, d->lines[0].expr, true);
    b->depth--;
}

static void condition_call(struct builder *b, struct formula_scope *s, const struct expr *e, struct number *n) {
    n->op = NUM_CALL;
    const struct idiom *definition = find_definition(b, e->text, e->nargs);
    if (definition) {
        define_call(b, s, e, definition, n);
        return;
    }
    n->call = condition_find(e->text);
    const struct idiom *other = n->call == NONE ? find_definition(b, e->text, NONE) : NULL;
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
            n->key = arena_strdup(b->arena, e->args[i]->text);
            n->nargs = (uint8_t)i;
            return;
        }
        if (info->arguments == ARGUMENTS_NUMBERS && e->args[i]->kind != E_NAME && e->args[i]->kind != E_CALL) {
            take_numbers(b, s, e, i, n);
            n->nargs = (uint8_t)i;
            return;
        }
        if (i == sizeof n->args || (info->arguments == ARGUMENTS_NUMBERS && i + 1 == e->nargs)) {
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
    if (e->forced_op)
        build_fail(b, s, e->text, NULL, "a condition has no ops");
    for (uint32_t i = 0; i < e->nargs; i++)
        if (e->keys[i].n)
            build_fail(b, s, e->keys[i], NULL, "arguments of conditions have no names");
    if (extent && e->nargs == 2)
        (void)slot_of_name(b, s, e->args[0]);
    if (b->failed)
        return n;
    if (extent)
        return build_extent_number(b, s, e);
    enum op_kind function = op_kind_of_name(e->text);
    if (str_is(e->text, "not") && e->nargs == 1) {
        n->op = NUM_NOT;
        n->a = operand_of(b, s, e->args[0], true);
    } else if (function != NO_OPERATOR && unary_of(function) && e->nargs == 1) {
        n->op = NUM_FUNCTION;
        n->call = function;
        n->a = operand_of(b, s, e->args[0], false);
    } else if (str_is(e->text, "value") && e->nargs == 1) {
        n->op = NUM_VALUE_OF;
        n->slot = slot_of_name(b, s, e->args[0]);
    } else if (which != NONE) {
        measure_call(b, s, e, which, n);
    } else {
        condition_call(b, s, e, n);
    }
    return n;
}

static const struct number *number_either(struct builder *b, struct formula_scope *s, const struct expr *e) {
    const struct number *all = operand_of(b, s, e->args[0], true);
    if (e->optional)
        build_fail(b, s, e->text, NULL, "a condition has no optional parts");
    for (uint32_t i = 1; i < e->nargs; i++) {
        struct number *both = arena_alloc(b->arena, sizeof *both);
        *both = (struct number){
            .op = NUM_OR, .slot = NONE, .a = all, .b = operand_of(b, s, e->args[i], true), .text = e->text};
        all = both;
    }
    return all;
}

static const struct number *number_of(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct number *n = arena_alloc(b->arena, sizeof *n);
    bool any;
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
        n->a = operand_of(b, s, e->args[0], false);
        return n;
    case E_INFIX:
        n->op = infix_of_sign(e->text)->number;
        if (n->op == NUM_NONE)
            build_fail(b, s, e->text, NULL, "numbers have no such product");
        any = n->op == NUM_EQ || n->op == NUM_NE || n->op == NUM_MUL;
        n->a = any ? number_of(b, s, e->args[0]) : operand_of(b, s, e->args[0], n->op == NUM_AND);
        n->b = any ? number_of(b, s, e->args[1]) : operand_of(b, s, e->args[1], n->op == NUM_AND);
        return n;
    case E_EITHER:
        return number_either(b, s, e);
    case E_CALL:
        return number_of_call(b, s, e, n);
    case E_NAME:
        if (slot_of_name(b, s, e) != NONE)
            build_fail(b, s, e->text, "value(x) is the number that x holds, extent(x, -1) how long an axis of it is",
                       "not a condition");
        return n;
    default:
        build_fail(b, s, e->text, "conditions compare numbers and extents, or call a condition", "not a condition");
        return n;
    }
}

/* One of a series for each number, as many as there is room for. */
static bool condition_build(const struct number **out, uint32_t *count, uint32_t most, struct builder b,
                            struct str text, struct text_origin origin) {
    struct formula_scope *s = arena_alloc(b.scratch, sizeof *s);
    struct formula_parser p = {.arena = b.scratch,
                               .diags = b.diags,
                               .text = text,
                               .origin = origin,
                               .lexer = {text, 0, 0},
                               .condition = true,
                               .at_end =
                                   "in [a, b] of YAML each comma ends an item: write items behind '- ', a line each"};
    s->parser = &p;
    s->lines = formula_lines(&p, &s->nlines);
    if (!p.failed && (s->nlines != 1 || s->lines[0].name.n || s->lines[0].kind != LINE_PLAIN))
        formula_fail(&p, text, NULL, "one condition expected");
    if (p.failed)
        return false;
    struct expr *e = s->lines[0].expr;
    uint32_t n = series_size(&p, e);
    if (n > most)
        build_fail(&b, s, e->text, NULL, "no series is meant here");
    for (uint32_t i = 0; i < n && !b.failed; i++)
        out[(*count)++] = number_of(&b, s, p.series ? series_member(&p, e, i) : e);
    return !b.failed && !p.failed;
}

static bool parse(const struct number **out, uint32_t *n, uint32_t most, const struct formula *f, struct arena *a,
                  struct str text, struct text_origin origin, struct condition_parts *parts, struct diags *d) {
    _Alignas(16) char first[2048]; /* most conditions need no more */
    struct arena scratch = {.at = first, .end = first + sizeof first};
    struct formula names = *f; /* a copy: building may add slots, conditions must not */
    struct builder b = {.f = &names, .arena = a, .scratch = &scratch, .diags = d, .parts = parts};
    bool ok = condition_build(out, n, most, b, text, origin);
    arena_free(&scratch);
    return ok;
}

bool condition_parse(const struct number **out, const struct formula *f, struct arena *a, struct str text,
                     struct text_origin origin, struct condition_parts *parts, struct diags *d) {
    uint32_t n = 0;
    return parse(out, &n, 1, f, a, text, origin, parts, d);
}

bool condition_members(const struct number *out[MOST_MEMBERS], uint32_t *n, const struct formula *f, struct arena *a,
                       struct str text, struct text_origin origin, struct condition_parts *parts, struct diags *d) {
    *n = 0;
    return parse(out, n, MOST_MEMBERS, f, a, text, origin, parts, d);
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
    if (!p.failed && (out->nlines != 1 || out->lines[0].name.n || p.series))
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
    *out = operand_of(&b, &s, condition->lines[0].expr, true);
    arena_free(&scratch);
    return !b.failed;
}

bool definition_check(const struct condition_parts *parts, uint32_t definition, struct diags *d) {
    const struct idiom *idiom = &parts->definitions.items[definition];
    struct arena a = {0};
    struct condition_parts own = {.definitions = parts->definitions};
    struct formula *f = arena_alloc(&a, sizeof *f);
    uint32_t slots[MOST_IDIOM_PARAMS];
    const struct number *n;
    for (uint32_t i = 0; i < idiom->nparams; i++)
        slots[i] = formula_add_slot(f, &a, (struct slot){.name = idiom->params[i]});
    bool good = condition_of(&n, f, &a, idiom, slots, &own, d);
    regexes_free(&own.regexes);
    arena_free(&a);
    return good;
}

const char *condition_says(const struct number *n) {
    return n->call == NONE ? n->says : condition_table[n->call].says;
}
