/* Attributes as they are printed; and the comparison of a constant with a number of a formula, up to the rounding of
 * the formats that the constant went through. */
#include "search/automaton/ask.h"

#include <math.h>

#include "ir/ops/scalar.h"
#include <string.h>

enum { PRINTED_BITS = 16 }; /* of a number that people print: 0.166667 is 1/6 */

const struct attr_spec *node_wrong_attribute(const struct node *node, const struct graph *g, uint32_t op) {
    if (op_table[node->op].class == OP_SLICE)
        return NULL; /* part=, of= and every= are no attributes*/
    for (uint32_t i = 0; i < node->nattrs; i++) {
        const struct attr_spec *a = &node->attrs[i];
        struct str inner;
        const struct attr *x = attrs_find(graph_attributes(g, op), a->key);
        if (a->test == ATTR_ABSENT) {
            if (x)
                return a;
            continue;
        }
        double y;
        bool same =
            x && (str_eq(x->text, a->value) || (mlir_string(x->text, &inner) && str_eq(inner, a->value)) ||
                  (x->is_number && mlir_float(a->value, &y) && (x->number == y || x->number == (double)(float)y)));
        if (!same && (strcmp(a->key, activation_keys[0]) != 0 || !str_eq(graph_activation(g, op), a->value)))
            return a;
    }
    return NULL;
}

bool node_says_folded(const struct node *node) {
    for (uint32_t i = 0; i < node->nattrs; i++)
        if (node->attrs[i].test == ATTR_IS && strcmp(node->attrs[i].key, "activation") == 0)
            return true;
    return false;
}

/* Half a unit in the last place of the narrowest format on the constant's way, doubled for a computation in between;
 * and never less than what people leave out when they print a number. */
bool close_to(double actual, double expected, int bits) {
    if (actual == expected)
        return true;
    double tolerance = ldexp(1, bits < 1 + PRINTED_BITS ? 1 - bits : -PRINTED_BITS);
    return isfinite(actual) && isfinite(expected) && fabs(actual - expected) <= fabs(expected) * tolerance;
}

/* In a narrow format 1/199 and 1/200 may be one number within its error. Where the constant is printed with more digits
 * than the format has, it has to be the right one; else both have to round to the same number of the format. */
bool count_close_to(double actual, double expected, double count, int bits) {
    if (!isfinite(actual) || !isfinite(expected))
        return false;
    double near = fmin(ldexp(1, -PRINTED_BITS), 1 / (16 * count));
    if (fabs(actual - expected) <= fabs(expected) * near)
        return true;
    if (bits < 8) /* a shared exponent: what it rounds to depends on other elements */
        return fabs(actual - expected) <= fabs(expected) * ldexp(1, -bits);
    double kept = round_to_bits(actual, bits);
    return fabs(actual - kept) <= fabs(kept) * near && kept == round_to_bits(expected, bits);
}

/* Of a number that counts elements `expected` or its reciprocal is about that count. */
bool node_number_is(const struct node *n, struct constant c, double expected) {
    int bits = c.bits > 24 ? 24 : c.bits;
    if (!c.known)
        return false;
    return n->counts ? count_close_to(c.value, expected, fmax(expected, 1 / expected), bits)
                     : close_to(c.value, expected, bits);
}
