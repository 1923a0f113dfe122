/* The fused form as variables of type Tensor, made by a Form. */
#include "compile/rewrite/form.h"

#include <string.h>

#include "patterns/lang/condition.h"
#include "patterns/library/lowering.h"

static struct str tensor(struct cpp *c, const struct node *n);

/* The operands, at least as many as any function of Form takes, absent ones as "{}". NULL with a reason. */
static struct str *operands(struct cpp *c, const struct node *n) {
    enum { LEAST = 5 };
    uint32_t count = n->nargs < LEAST ? LEAST : n->nargs;
    struct str *v = arena_alloc(c->arena, count * sizeof *v);
    for (uint32_t i = 0; i < count; i++) {
        v[i] = i < n->nargs ? tensor(c, n->args[i]) : str_of(form_absent(c));
        if (!v[i].n)
            return NULL;
    }
    return v;
}

static struct str op_form(struct cpp *c, const struct node *n) {
    const struct str *v = operands(c, n);
    return !v ? STR("") : c->way ? pdll_form_op(c, n, v) : form_op(c, n, v);
}

/* x * s | x / s, perhaps | x: "form.scaled(x, s, {s})"; likewise of + and -; or empty. */
static struct str scaled_form(struct cpp *c, const struct node *n) {
    const struct node *times = n->args[0], *over = n->nargs > 1 ? n->args[1] : NULL;
    bool names[MAX_SLOTS] = {false};
    struct str list = STR("");
    bool sum = over && form_is_binary(times, K_ADD) && form_is_binary(over, K_SUBTRACT);
    if (!over || n->nargs > 3 || !(sum || (form_is_binary(times, K_MULTIPLY) && form_is_binary(over, K_DIVIDE))))
        return list;
    struct str x = tensor(c, times->args[0]), by = x.n ? tensor(c, times->args[1]) : x;
    if (!by.n || !str_eq(x, tensor(c, over->args[0])) || !str_eq(by, tensor(c, over->args[1])) ||
        (n->nargs == 3 && !str_eq(x, tensor(c, n->args[2]))))
        return list;
    form_add_names(c, times->args[1], names);
    for (uint32_t i = 0; i < c->match->nslots; i++)
        if (names[i])
            list = arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", cpp_name(c, c->match->slot_name[i]).p);
    return arena_printf(c->arena, "form.%s(%s, %s, {%s})", sum ? "shifted" : "scaled", x.p, by.p, list.p);
}

/* x + y | x: "form.addIf(x, y)", which is x where there is no y; y | 0: "form.orElse(y, 0.0)"; or empty. */
static struct str optional_form(struct cpp *c, const struct node *n) {
    static const struct {
        enum op_kind op;
        const char *name;
    } ops[] = {{K_ADD, "add"}, {K_SUBTRACT, "subtract"}, {K_MULTIPLY, "multiply"}, {K_DIVIDE, "divide"}};
    const struct node *whole = n->args[0], *rest = n->nargs == 2 ? n->args[1] : NULL;
    if (rest && rest->kind == N_NUMBER) {
        struct str x = tensor(c, whole), y = x.n ? tensor(c, rest) : x;
        return y.n ? arena_printf(c->arena, "form.orElse(%s, %s)", x.p, y.p) : y;
    }
    for (size_t i = 0; rest && i < sizeof ops / sizeof *ops; i++)
        if (form_is_binary(whole, ops[i].op)) {
            struct str x = tensor(c, whole->args[0]), y = x.n ? tensor(c, whole->args[1]) : x;
            if (y.n && str_eq(x, tensor(c, rest)))
                return arena_printf(c->arena, "form.%sIf(%s, %s)", ops[i].name, x.p, y.p);
        }
    return STR("");
}

/* What the language says of a part, without the variables that it would need. */
static struct str tried(struct cpp *c, const struct node *n) {
    struct cpp before = *c;
    struct str tests = c->way->tests;
    size_t length = c->out->n;
    struct str text = tensor(c, n);
    *c = before;
    c->way->tests = tests;
    c->out->n = length;
    return text;
}

/* Of x * s and x / s, and of + and -, what the match does with s; any other alternative is as good. */
static bool has_sign_of_match(struct cpp *c, const struct node *n) {
    static const enum op_kind signs[][2] = {
        {K_MULTIPLY, K_DIVIDE}, {K_DIVIDE, K_MULTIPLY}, {K_ADD, K_SUBTRACT}, {K_SUBTRACT, K_ADD}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        bool names[MAX_SLOTS] = {false}, other = false;
        if (!form_is_binary(n, signs[i][0]))
            continue;
        form_add_names(c, n->args[1], names);
        for (uint32_t slot = 0; slot < c->match->nslots; slot++)
            other |= names[slot] && pdll_has(c, slot) && c->way->user[slot] == signs[i][1];
        return !other;
    }
    return true;
}

/* The alternative of which the way has most names; of several with one sign or the other, that of the match. */
static struct str pdll_either(struct cpp *c, const struct node *n) {
    struct alternative best = {0}, one;
    for (uint32_t i = 0; i < n->nargs; i++) {
        one = (struct alternative){.node = n->args[i], .text = tried(c, n->args[i])};
        form_add_names(c, one.node, one.names);
        if (str_is(one.text, form_absent(c)) || !has_sign_of_match(c, one.node))
            continue;
        int order = best.node ? form_compare_names(&one, &best) : 1;
        if (order == 1 || (order == 0 && !best.text.n))
            best = one;
    }
    return best.node ? tensor(c, best.node) : str_of(form_absent(c));
}

/* What an alternative is: of an idiom the first spelling. */
static const struct node *first_spelling(struct cpp *c, const struct node *n) {
    while (n->nargs && (n->kind == N_EITHER || (n->kind == N_NAMED && !c->formula->slot_name[n->slot].n)))
        n = n->args[0];
    return n;
}

/* The innermost line that has all these ops; NULL: there is none. */
static const struct node *line_of_ops(struct cpp *c, const struct node *n, const struct node *ops) {
    const struct node *line = NULL;
    for (uint32_t i = 0; i < n->nargs && !line; i++)
        line = line_of_ops(c, n->args[i], ops);
    bool all = n->kind == N_NAMED && c->match->slot_name[n->slot].n;
    for (uint32_t i = 0; i < ops->nargs && all; i++) {
        const struct node *one = first_spelling(c, ops->args[i]);
        all = one->kind != N_OP || form_has_op(n, one->op);
    }
    return line ? line : all ? n : NULL;
}

/* y | relu(y) | gelu(y): the op of the match behind y, where it has one of these; or empty. */
static struct str behind_form(struct cpp *c, const struct node *n) {
    const struct node *bare = NULL, *line = line_of_ops(c, c->match->root, n);
    struct str list = STR("");
    for (uint32_t i = 0; i < n->nargs; i++)
        bare = n->args[i]->kind == N_NAMED ? n->args[i] : bare;
    for (uint32_t i = 0; i < n->nargs && bare; i++) {
        const struct node *one = first_spelling(c, n->args[i]);
        bool behind = one->kind == N_OP && one->nargs == 1 && one->args[0]->kind == N_NAMED &&
                      one->args[0]->slot == bare->slot && op_table[one->op].class == OP_ELTWISE;
        if (one != bare && !behind)
            return STR("");
        list = behind ? arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", cpp_class(c, one->op).p) : list;
    }
    if (!bare || !line || !list.n || !cpp_class(c, op_kind_of_spelling(c->pattern->fused_op)).n)
        return STR("");
    struct str y = tensor(c, bare), name = cpp_name(c, c->match->slot_name[line->slot]);
    return y.n ? arena_printf(c->arena, "form.activated<%s>(%s, {%s})", list.p, y.p, name.p) : y;
}

static struct str either_form(struct cpp *c, const struct node *n) {
    enum { MOST = 20 };
    const char *text_end = c->formula->text.p + c->formula->text.n;
    if (n->text.p < c->formula->text.p || n->text.p >= text_end)
        return tensor(c, n->args[0]); /* of an idiom: the first one */
    if (c->way)
        return pdll_either(c, n);
    struct str why = c->why, first = STR(""), scaled = scaled_form(c, n);
    struct alternative all[MOST], kept[MOST];
    uint32_t count = n->nargs < MOST ? n->nargs : MOST, nkept = 0;
    scaled = scaled.n ? scaled : optional_form(c, n);
    scaled = scaled.n ? scaled : behind_form(c, n);
    c->why = why;
    if (scaled.n)
        return scaled;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct alternative){.node = n->args[i], .text = tensor(c, n->args[i])};
        form_add_names(c, n->args[i], all[i].names);
        first = first.n ? first : c->why;
        c->why = why;
        if (all[i].text.n)
            kept[nkept++] = all[i];
    }
    if (!nkept) {
        c->why = first;
        return STR("");
    }
    struct str call = nkept == 2 && count == 2 ? form_one_call(c, kept[0].text, kept[1].text) : STR("");
    if (call.n)
        return call;
    if (form_are_ambiguous(kept, nkept))
        return form_are_behind(c, kept, nkept)
                   ? form_is_matched(c)
                   : cpp_cannot(c, "only numbers tell which alternative of the fused form is right");
    for (uint32_t i = 0; i < count; i++)
        if (!all[i].text.n && !form_refuse(c, &all[i], kept, nkept)) {
            c->why = first;
            return STR("");
        }
    return form_list(c, all, form_written_first(all, count));
}

static struct str named_form(struct cpp *c, const struct node *n) {
    struct str name = c->formula->slot_name[n->slot];
    if (!name.n)
        return tensor(c, n->args[0]);
    struct str id = arena_printf(c->arena, "fused%s", cpp_camel(c->arena, name).p);
    if (c->written[n->slot])
        return id;
    struct str value = tensor(c, n->args[0]);
    if (!value.n || (c->way && (n == c->formula->root || !memchr(value.p, '(', value.n) || str_is(value, "()"))))
        return value;
    c->written[n->slot] = true;
    value = c->way ? value : form_unbracketed(c, value);
    cpp_put(c->out, c->way ? 4 : 6, arena_printf(c->arena, c->way ? "let %s = " : "Tensor %s = ", id.p),
            arena_printf(c->arena, "%s;", value.p));
    buf_addc(c->out, '\n');
    return id;
}

static struct str tensor(struct cpp *c, const struct node *n) {
    struct str x;
    switch (n->kind) {
    case N_VARIABLE:
        x = c->formula->slot_name[n->slot];
        if (formula_slot(c->match, x) == NONE || (c->way && !pdll_has(c, formula_slot(c->match, x))))
            return str_of(form_absent(c));
        return c->way ? form_name(c, x) : arena_printf(c->arena, "form(%s)", form_name(c, x).p);
    case N_NAMED:
        return named_form(c, n);
    case N_NUMBER:
        x = cpp_number(c, n->number);
        return c->way && x.n ? form_call(c, "number", NO_OPERATOR, pdll_asked(c, x)) : x;
    case N_EITHER:
        return either_form(c, n);
    case N_TRANSPOSED:
        x = tensor(c, n->args[0]);
        return x.n && !str_is(x, "()") ? form_call(c, "transposed", NO_OPERATOR, x) : x;
    case N_OP: {
        struct str needs = form_needs(c, n);
        if (c->way && needs.n)
            return str_of(form_absent(c));
        x = op_form(c, n);
        return needs.n && x.n ? arena_printf(c->arena, "(%s ? %s : Tensor())", needs.p, x.p) : x;
    }
    default:
        return cpp_cannot(c, "the fused form has a part that is not written");
    }
}

/* Names whose format the form is computed in: all but those of masks, which a fused op takes in its own. */
static void add_formats(struct cpp *c, const struct node *n, bool *names) {
    uint32_t slot = n->kind == N_VARIABLE ? formula_slot(c->match, c->formula->slot_name[n->slot]) : NONE;
    uint32_t nargs = n->kind == N_OP && n->op == K_SDPA && n->nargs > 3 ? 3 : n->nargs;
    if (slot != NONE)
        names[slot] = true;
    for (uint32_t i = 0; i < nargs; i++)
        add_formats(c, n->args[i], names);
}

struct str cpp_form_names(struct cpp *c) {
    bool names[MAX_SLOTS] = {false};
    struct str list = STR("");
    add_formats(c, c->formula->root, names);
    for (uint32_t i = 0; i < c->formula->nsecondary; i++)
        add_formats(c, c->formula->also[i].node, names);
    for (uint32_t i = 0; i < c->match->nslots; i++)
        if (names[i])
            list = arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", cpp_name(c, c->match->slot_name[i]).p);
    return list;
}

struct str cpp_form(struct cpp *c) {
    struct str root = tensor(c, c->formula->root);
    for (uint32_t i = 0; i < c->formula->nsecondary && root.n; i++) {
        const struct node *also = c->formula->also[i].node;
        struct str value = tensor(c, also), name = c->formula->slot_name[also->slot];
        if (!value.n || formula_slot(c->match, name) == NONE)
            return cpp_cannot(c, "the fused form has a further result that is not written");
        buf_printf(c->out, "      form.replace(%s, %s);\n", cpp_name(c, name).p, value.p);
    }
    return root;
}
