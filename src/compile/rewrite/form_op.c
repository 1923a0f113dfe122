/* An op of the fused form, whose operands are written already, as a call of a Form. */
#include "compile/rewrite/form.h"

#include <stdlib.h>
#include <string.h>

#include "patterns/lang/condition.h"

/* Joins two conditions; an empty one always holds. */
static struct str both(struct cpp *c, struct str a, struct str b) {
    return a.n && b.n && !str_eq(a, b) ? arena_printf(c->arena, "%s && %s", a.p, b.p) : a.n ? a : b;
}

/* That the match has the names of a number. */
const char *form_absent(const struct cpp *c) {
    return c->way ? "()" : "{}";
}

struct str form_name(struct cpp *c, struct str name) {
    return c->way ? cpp_slot(c, formula_slot(c->match, name)) : cpp_name(c, name);
}

struct str form_is_matched(struct cpp *c) {
    return cpp_cannot(c, "TTIR writes %s as the ops that are matched: only a pass over TTNN could make it",
                      c->pattern->fused_op.p);
}

struct str form_call(struct cpp *c, const char *function, enum op_kind k, struct str args) {
    struct str op = k == NO_OPERATOR ? STR("") : c->way ? pdll_op_name(c, k) : cpp_class(c, k);
    if (k != NO_OPERATOR && !op.n)
        return op;
    if (!c->way)
        return arena_printf(c->arena, "form.%s%s%s%s(%s)", function, op.n ? "<" : "", op.p, op.n ? ">" : "", args.p);
    op = op.n ? arena_printf(c->arena, "attr<\"\\\"%s\\\"\">, ", op.p) : op;
    return arena_printf(c->arena, "%s(%s, %s%s)", cpp_camel(c->arena, str_of(function)).p, c->way->root.p, op.p,
                        args.p);
}

static struct str number_needs(struct cpp *c, const struct formula *f, const struct number *n) {
    if (!n)
        return STR("");
    struct str a = number_needs(c, f, n->a), b = number_needs(c, f, n->b), own = STR("");
    bool is_root = n->slot != NONE && f->root->kind == N_NAMED && f->root->slot == n->slot;
    if (n->slot != NONE && n->op != NUM_VALUE && n->op != NUM_CALL && !is_root)
        own = !c->way                ? arena_printf(c->arena, "match.has(%s)", cpp_name(c, f->slot_name[n->slot]).p)
              : pdll_has(c, n->slot) ? own
                                     : STR("absent");
    return both(c, own, both(c, a, b));
}

/* Item `at` of the attribute's list; NULL with a reason. */
static const struct number *number_of(struct cpp *c, const struct attr_spec *a, uint32_t at) {
    const struct number *n = at < a->nnumbers ? a->numbers[at].outer : NULL;
    if (!n)
        cpp_cannot(c, "the fused form has an attribute that is no number: %s", a->key);
    return n;
}

const struct number *form_attribute_of(struct cpp *c, const struct attr_spec *a) {
    return number_of(c, a, a->nnumbers == 1 ? 0 : a->nnumbers);
}

static struct str number_text(struct cpp *c, const struct number *n) {
    const struct formula *form = c->formula;
    c->formula = c->match;
    struct str text = n ? cpp_number(c, n) : STR("");
    c->formula = form;
    return text;
}

struct str form_attribute(struct cpp *c, const struct attr_spec *a) {
    return number_text(c, form_attribute_of(c, a));
}

struct str form_needs(struct cpp *c, const struct node *n) {
    struct str all = STR("");
    bool of_form = op_table[n->op].class == OP_SLICE || op_table[n->op].class == OP_MOVE || op_convolves(n->op) ||
                   (n->op == K_SDPA && !c->way);
    for (uint32_t i = 0; i < n->nattrs && !of_form; i++) {
        const struct number *x = form_attribute_of(c, &n->attrs[i]);
        all = both(c, all, x ? number_needs(c, c->match, x) : STR(""));
    }
    return all;
}

const struct attr_spec *form_attribute_named(const struct node *n, const char *key) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (strcmp(n->attrs[i].key, key) == 0)
            return &n->attrs[i];
    return NULL;
}

int form_integer_bits(enum op_kind k, const char *key) {
    for (struct str rest = str_of(op_table[k].attributes ? op_table[k].attributes : ""); rest.n;) {
        struct str type = str_part(&rest, ' '), name = str_part(&type, ':');
        if (str_is(name, key))
            return str_starts(type, STR("i64")) ? 64 : str_starts(type, STR("i32")) ? 32 : 0;
    }
    return 0;
}

/* ", {form.number("epsilon", 1e-05)}" of the attributes that the form says, empty where it says none; the others are
 * those of the match. False with a reason. */
static bool attributes(struct cpp *c, const struct node *n, struct str *text) {
    *text = STR("");
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str value = form_attribute(c, &n->attrs[i]);
        if (!value.n)
            return false;
        int bits = form_integer_bits(n->op, n->attrs[i].key);
        *text = arena_printf(c->arena, bits ? "%s%sform.integer(\"%s\", %s, %d)" : "%s%sform.number(\"%s\", %s)",
                             text->p, i ? ", " : "", n->attrs[i].key, value.p, bits);
    }
    *text = text->n ? arena_printf(c->arena, ", {%s}", text->p) : *text;
    return true;
}

static struct str attention(struct cpp *c, const struct node *n, const struct str *v) {
    const struct attr_spec *a = form_attribute_named(n, "scale");
    struct str scale = a ? form_attribute(c, a) : STR("std::nullopt");
    return scale.n ? arena_printf(c->arena, "form.attention(%s, %s, %s, %s, %s, %s)", v[0].p, v[1].p, v[2].p, v[3].p,
                                  v[4].p, scale.p)
                   : scale;
}

bool form_is_first(const struct node *n) {
    const struct attr_spec *begin = form_attribute_named(n, "begin"), *end = form_attribute_named(n, "end");
    return n->dim.given && begin && end && str_is(begin->value, "0") && str_is(end->value, "1");
}

static struct str slice_form(struct cpp *c, const struct node *n, struct str x) {
    const struct attr_spec *begin = form_attribute_named(n, "begin"), *end = form_attribute_named(n, "end");
    if (form_is_first(n))
        return arena_printf(c->arena, "form.first(%s, %d)", x.p, n->dim.axis);
    if (!n->dim.given || !begin || n->nattrs != 1 + (end != NULL))
        return cpp_cannot(c, "the fused form slices with a step, or without an axis");
    struct str from = form_attribute(c, begin), to = end && from.n ? form_attribute(c, end) : STR("INFINITY");
    return from.n && to.n ? arena_printf(c->arena, "form.slice(%s, %d, %s, %s)", x.p, n->dim.axis, from.p, to.p)
                          : STR("");
}

struct str form_as_one_axis(struct cpp *c, const struct node *n, struct str x) {
    const struct attr_spec *shape = form_attribute_named(n, "shape");
    uint32_t before = 0, after = 0, longer = 0;
    for (uint32_t i = 0; shape && i < shape->nnumbers; i++) {
        const struct number *size = shape->numbers[i].outer;
        bool one = size && size->op == NUM_VALUE && size->value == 1;
        before += one && !longer;
        after += one && longer;
        longer += !one;
    }
    const char *numbers = c->way ? "%s, attr<\"%u\">, attr<\"%u\">" : "%s, %u, %u";
    if (form_attribute_named(n, "like"))
        return x;
    return longer == 1 ? form_call(c, "asOneAxis", NO_OPERATOR, arena_printf(c->arena, numbers, x.p, before, after))
                       : STR("");
}

static struct str reshaped_form(struct cpp *c, const struct node *n, struct str x) {
    const struct attr_spec *shape = form_attribute_named(n, "shape");
    struct str list = form_as_one_axis(c, n, x);
    if (list.n)
        return list;
    for (uint32_t i = 0; shape && i < shape->nnumbers; i++) {
        struct str number = number_text(c, number_of(c, shape, i));
        if (!number.n)
            return number;
        list = arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", number.p);
    }
    return list.n ? arena_printf(c->arena, "form.reshaped(%s, {%s})", x.p, list.p)
                  : cpp_cannot(c, "the fused form reshapes to a shape that is not known");
}

/* The names of the match in a list, as the language has them; in PDLL those that are there. */
static struct str names_of(struct cpp *c, struct str list) {
    struct str text = STR("");
    for (struct str rest = list; rest.n;) {
        struct str one = str_item(&rest);
        if (formula_slot(c->match, one) == NONE)
            return STR("");
        if (!c->way || pdll_has(c, formula_slot(c->match, one)))
            text = arena_printf(c->arena, "%s%s%s", text.p, text.n ? ", " : "", form_name(c, one).p);
    }
    return text;
}

/* Whether a condition asks for one of these names, in C++. */
static bool asks_for(struct cpp *c, const struct number *n, struct str names) {
    while (n->op == NUM_CALL && n->call == NONE)
        n = n->a;
    if (n->op == NUM_OR)
        return asks_for(c, n->a, names) || asks_for(c, n->b, names);
    if (n->op != NUM_CALL || n->call != CONDITION_present)
        return false;
    for (struct str rest = names; rest.n;)
        if (str_eq(str_item(&rest), cpp_slot(c, n->args[0])))
            return true;
    return false;
}

struct str form_convolution(struct cpp *c, const struct node *n, const struct str *v) {
    struct str pads = STR(""), act = STR("");
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str *names = strcmp(n->attrs[i].key, "padding") == 0      ? &pads
                            : strcmp(n->attrs[i].key, "activation") == 0 ? &act
                                                                         : NULL;
        if (names)
            *names = names_of(c, n->attrs[i].value);
        if (!names || (!names->n && !c->way))
            return cpp_cannot(c, "the fused form has an attribute of %s that is not written: %s", op_table[n->op].name,
                              n->attrs[i].key);
    }
    for (uint32_t i = 0; i < c->pattern->nrequire && act.n; i++)
        if (asks_for(c, c->pattern->require[i], act))
            return form_is_matched(c);
    bool bias = !str_is(v[2], form_absent(c));
    struct str same = arena_printf(c->arena, "%s, %s%s%s", v[0].p, v[1].p, bias ? ", " : "", bias ? v[2].p : "");
    if (c->way && str_eq(same, c->way->window))
        return cpp_cannot(c, "a convolution that stays as it is");
    if (c->way && pads.n)
        return cpp_cannot(c, "the padding of a pad before a window");
    struct str args = arena_printf(c->arena, "%s, %s, %s%s%s%s", v[0].p, v[1].p, v[2].p, pads.n ? ", {" : "", pads.p,
                                   pads.n ? "}" : "");
    struct str text = form_call(c, "convolution", n->op, args);
    args = arena_printf(c->arena, c->way ? "%s, %s" : "%s, {%s}", text.p, act.p);
    return act.n && text.n ? form_call(c, "activated", NO_OPERATOR, args) : text;
}

/* An op of the match again: max_pool2d(x, padding="p"). */
static struct str again_form(struct cpp *c, const struct node *n, const struct str *v) {
    struct str op = cpp_class(c, n->op), pads = STR(""), keys = STR(""), args = STR("");
    for (uint32_t i = 0; i < n->nargs; i++)
        args = arena_printf(c->arena, "%s%s%s", args.p, i ? ", " : "", v[i].p);
    for (uint32_t i = 0; i < n->nattrs && op.n; i++) {
        const struct attr_spec *a = &n->attrs[i];
        bool flag = str_is(a->value, "true") || str_is(a->value, "false");
        struct str names = names_of(c, a->value), one = STR("");
        if (strcmp(a->key, "padding") == 0 && names.n)
            pads = names;
        else if (flag)
            one = arena_printf(c->arena, "form.flag(\"%s\", %.*s)", a->key, (int)a->value.n, a->value.p);
        else
            return cpp_cannot(c, "the fused form has an attribute of %s that is not written: %s", op_table[n->op].name,
                              a->key);
        keys = one.n ? arena_printf(c->arena, "%s%s%s", keys.p, keys.n ? ", " : "", one.p) : keys;
    }
    return op.n ? arena_printf(c->arena, "form.again<%s>({%s}, {%s}%s%s%s)", op.p, args.p, keys.p, pads.n ? ", {" : "",
                               pads.p, pads.n ? "}" : "")
                : op;
}

bool form_has_op(const struct node *n, enum op_kind k) {
    bool has = n->kind == N_OP && n->op == k;
    for (uint32_t i = 0; i < n->nargs && !has; i++)
        has = form_has_op(n->args[i], k);
    return has;
}

struct str form_plain(struct cpp *c, const struct node *n, const struct str *v) {
    static const struct {
        const char *name;
        enum op_kind op;
        uint32_t nargs;
    } plain[] = {{"add", K_ADD, 2},
                 {"subtract", K_SUBTRACT, 2},
                 {"multiply", K_MULTIPLY, 2},
                 {"divide", K_DIVIDE, 2},
                 {"clamp", K_CLAMP, 3},
                 {"batchNorm", K_BATCH_NORM_INFERENCE, 5},
                 {"product", K_MATMUL, 2},
                 {"product", K_LINEAR, 3},
                 {"concatenateHeads", K_CONCATENATE_HEADS, 1},
                 {"rotaryEmbedding", K_ROTARY_EMBEDDING, 3}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].op == n->op && !n->nattrs && (n->op != K_BATCH_NORM_INFERENCE || n->nargs == plain[i].nargs)) {
            struct str text = v[0];
            for (uint32_t k = 1; k < plain[i].nargs; k++)
                text = arena_printf(c->arena, "%s, %s", text.p, v[k].p);
            return form_call(c, plain[i].name, NO_OPERATOR, text);
        }
    return STR("");
}

struct str form_joined(struct cpp *c, const struct str *v, uint32_t n) {
    struct str text = v[0];
    for (uint32_t i = 1; i < n; i++)
        text = arena_printf(c->arena, "%s, %s", text.p, v[i].p);
    return text;
}

/* A norm; empty: it is none. */
static struct str norm_form(struct cpp *c, const struct node *n, struct str op, const struct str *v, struct str keys) {
    switch ((int)n->op) {
    case K_RMS_NORM:
    case K_LAYER_NORM:
        return arena_printf(c->arena, "form.norm<%s>(%s, {%s, %s}%s)", op.p, v[0].p, v[1].p, v[2].p, keys.p);
    case K_BATCH_NORM_INFERENCE:
        return arena_printf(c->arena, "form.batchNormInference(%s%s)", form_joined(c, v, n->nargs).p, keys.p);
    case K_GROUP_NORM:
        return arena_printf(c->arena, "form.groupNorm(%s, %s, %s%s)", v[0].p, v[2].p, v[3].p, keys.p);
    case K_DISTRIBUTED_RMS_NORM:
        return arena_printf(c->arena, "form.distributedNorm<%s>(%s, {%s}, %s)", op.p, v[0].p, v[1].p, v[2].p);
    case K_DISTRIBUTED_LAYER_NORM:
        return arena_printf(c->arena, "form.distributedNorm<%s>(%s, {%s, %s}, %s)", op.p, v[0].p, v[1].p, v[2].p,
                            v[3].p);
    default:
        return STR("");
    }
}

struct str form_op(struct cpp *c, const struct node *n, const struct str *v) {
    struct str plain = form_plain(c, n, v), op, keys;
    if (plain.n)
        return plain;
    if (op_table[n->op].class == OP_JOIN)
        return n->dim.given
                   ? arena_printf(c->arena, "form.concat({%s}, %d)", form_joined(c, v, n->nargs).p, n->dim.axis)
                   : cpp_cannot(c, "the fused form concatenates without an axis");
    if (op_convolves(n->op))
        return form_convolution(c, n, v);
    if (n->op == K_SDPA)
        return attention(c, n, v);
    if (n->op == K_SOFTMAX && !n->nattrs && !n->dim.given)
        return arena_printf(c->arena, "form.softmax(%s, true)", v[0].p);
    if (op_table[n->op].class == OP_SLICE)
        return slice_form(c, n, v[0]);
    if (op_table[n->op].movement == MOVEMENT_RESHAPE)
        return reshaped_form(c, n, v[0]);
    if (op_table[n->op].movement == MOVEMENT_INTERLEAVE && n->dim.given) /* as often as the axis of the root says */
        return arena_printf(c->arena, "form.repeatInterleave(%s, %d)", v[0].p, n->dim.axis);
    if (op_table[n->op].class == OP_OPAQUE && form_has_op(c->match->root, n->op) && n->op != K_GROUP_NORM)
        return again_form(c, n, v);
    op = cpp_class(c, n->op);
    if (!op.n || !attributes(c, n, &keys))
        return STR("");
    struct str norm = norm_form(c, n, op, v, keys);
    if (norm.n)
        return norm;
    if (op_table[n->op].class == OP_REDUCE && !n->nattrs && !n->dim.given)
        return form_call(c, "reduce", n->op, v[0]);
    if (op_table[n->op].class != OP_ELTWISE || n->dim.given)
        return cpp_cannot(c, "the fused form has an op that is not written: %s", op_table[n->op].name);
    return arena_printf(c->arena, "form.elementwise<%s>({%s}%s)", op.p, form_joined(c, v, n->nargs).p, keys.p);
}
