/* An op of the fused form, whose operands are written already, in PDLL. */
#include "compile/rewrite/form.h"

#include <string.h>

/* "epsilon = Float(...)" of the attributes that the form says; of a norm without its name. False with a reason. */
static bool attributes(struct cpp *c, const struct node *n, struct str *text) {
    bool norm = op_table[n->op].class == OP_AXISWISE;
    *text = STR("");
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str value = form_attribute(c, &n->attrs[i]);
        if (!value.n)
            return false;
        if (form_integer_bits(n->op, n->attrs[i].key) || n->op == K_GROUP_NORM) {
            cpp_cannot(c, "the attribute %s of %s", n->attrs[i].key, op_table[n->op].name);
            return false;
        }
        *text = arena_printf(c->arena, "%s%s%s%sFloat(%s)", text->p, i ? ", " : "", norm ? "" : n->attrs[i].key,
                             norm ? "" : " = ", pdll_asked(c, value).p);
    }
    return true;
}

/* The node of the form that is its result. */
static const struct node *result_of(const struct formula *f) {
    const struct node *n = f->root;
    while (n->kind == N_NAMED || n->kind == N_EITHER)
        n = n->args[0];
    return n;
}

/* That the result of an op of the form is as large as what it replaces: as its first operand is, or the product or
 * convolution of the match. False with a reason. */
static bool test_extents(struct cpp *c, const struct node *n, struct str args) {
    bool of_match = n->args[0]->kind == N_VARIABLE && op_table[n->op].class != OP_CONTRACT && !op_convolves(n->op);
    struct str x = of_match ? (struct str){args.p, cpp_item_end(args)} : c->way->whole;
    if (!x.n) {
        cpp_cannot(c, "how large the fused form's %s is", op_table[n->op].name);
        return false;
    }
    pdll_test(c, arena_printf(c->arena, "IsAsLargeAs(%.*s, %s)", (int)x.n, x.p, c->way->root.p));
    return true;
}

/* An op of PDLL; its attributes are those that the form says. As large as the root, whose type it has. */
static struct str pdll_result(struct cpp *c, const struct node *n, struct str args, struct str keys) {
    struct str op = pdll_op_name(c, n->op);
    if (n != result_of(c->formula) && n->nargs == 1 && !keys.n)
        return form_call(c, "unary", n->op, args);
    if (n != result_of(c->formula))
        return cpp_cannot(c, "%s within the fused form", op_table[n->op].name);
    if (!test_extents(c, n, args))
        return STR("");
    return !op.n ? op
                 : arena_printf(c->arena, "op<%s>(%s)%s%s%s -> (type)", op.p, args.p, keys.n ? " {" : "", keys.p,
                                keys.n ? "}" : "");
}

/* How many operands an op of the form needs. */
static uint32_t needed(const struct node *n) {
    return n->op == K_LINEAR || op_convolves(n->op) ? 2
           : n->op == K_SDPA                        ? 3
           : op_table[n->op].class == OP_AXISWISE   ? 1
                                                    : n->nargs;
}

/* Ops that PDLL does not write. */
static bool is_unwritten(enum op_kind k) {
    return k == K_CONCAT || k == K_SDPA || k == K_REPEAT_INTERLEAVE || k == K_CONCATENATE_HEADS ||
           k == K_ROTARY_EMBEDDING || (op_table[k].class == OP_OPAQUE && !op_convolves(k));
}

struct str pdll_form_op(struct cpp *c, const struct node *n, const struct str *v) {
    enum op_class class = op_table[n->op].class;
    struct str keys, op;
    for (uint32_t i = 0; i < needed(n); i++)
        if (str_is(v[i], form_absent(c)))
            return v[i];
    if (is_unwritten(n->op))
        return cpp_cannot(c, "the fused form has an op that is not written: %s", op_table[n->op].name);
    if ((class == OP_CONTRACT || op_convolves(n->op)) && !test_extents(c, n, STR("")))
        return STR("");
    struct str plain = form_plain(c, n, v);
    if (plain.n)
        return plain;
    if (op_convolves(n->op))
        return form_convolution(c, n, v);
    if (n->op == K_SOFTMAX && !n->nattrs && c->way->axis.n)
        return pdll_result(
            c, n, v[0],
            arena_printf(c->arena, "dimension = attr<\"%s : si32\">, numericStable = attr<\"true\">", c->way->axis.p));
    if (n->op == K_SLICE) /* has one element there: as all values in PDLL have a dimension for each axis */
        return form_is_first(n) ? v[0] : cpp_cannot(c, "the fused form slices with a step, or without an axis");
    if (n->op == K_RESHAPE) {
        struct str one = form_as_one_axis(c, n, v[0]);
        return one.n ? one : cpp_cannot(c, "the fused form reshapes to several dimensions");
    }
    op = cpp_class(c, n->op);
    if (!op.n || !attributes(c, n, &keys))
        return STR("");
    if (n->op == K_RMS_NORM || n->op == K_LAYER_NORM)
        return !test_extents(c, n, v[0]) ? STR("")
                                         : form_call(c, "norm", n->op,
                                                     arena_printf(c->arena, "%s, %s, %s, %s", v[0].p, v[1].p, v[2].p,
                                                                  keys.n ? keys.p : "attr<\"unit\">"));
    if (class == OP_REDUCE && !n->nattrs && !n->dim.given)
        return form_call(c, "reduce", n->op, v[0]);
    if (class != OP_ELTWISE || n->dim.given)
        return cpp_cannot(c, "the fused form has an op that is not written: %s", op_table[n->op].name);
    return pdll_result(c, n, form_joined(c, v, n->nargs), keys);
}
