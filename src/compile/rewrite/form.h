/* What the files of the fused form share: cpp_form.c walks over the form, and asks the others for the text of an op
 * and of alternatives. Private to the folder. */
#ifndef FA_REWRITE_FORM_H
#define FA_REWRITE_FORM_H

#include "compile/rewrite/cpp.h"

/* ---- form_op.c; all texts are empty with a reason ---- */

/* An operand that the match lacks. */
const char *form_absent(const struct cpp *c);
/* A name of the match. */
struct str form_name(struct cpp *c, struct str name);
/* A call of a function of Form, of these operands; in PDLL of one that is called alike. `k`: its class, or
 * NO_OPERATOR. */
struct str form_call(struct cpp *c, const char *function, enum op_kind k, struct str args);
/* The reason: TTIR has no more to say than what is matched. */
struct str form_is_matched(struct cpp *c);
/* The number of an attribute of the form, over the names of the match: of a name, or an expression. */
const struct number *form_attribute_of(struct cpp *c, const struct attr_spec *a);
struct str form_attribute(struct cpp *c, const struct attr_spec *a);
const struct attr_spec *form_attribute_named(const struct node *n, const char *key);
/* The condition under which the numbers of an op's attributes are known; empty: always. */
struct str form_needs(struct cpp *c, const struct node *n);
/* The bits of an attribute that is an integer, as the op table has it; 0: it is none. */
int form_integer_bits(enum op_kind k, const char *key);
/* Whether a slice takes the first element along an axis. */
bool form_is_first(const struct node *n);
/* reshape(x, shape="1, numel(x)"): all that x varies along as one dimension between ones; like=y: as the value is put
 * in the place of y. Empty without a reason: it is another shape. */
struct str form_as_one_axis(struct cpp *c, const struct node *n, struct str x);
/* Whether a part of the formula has such an op. */
bool form_has_op(const struct node *n, enum op_kind k);
/* The first n operands, with commas. */
struct str form_joined(struct cpp *c, const struct str *v, uint32_t n);
/* A function of Form that takes the operands and nothing else; empty: there is none. */
struct str form_plain(struct cpp *c, const struct node *n, const struct str *v);
/* conv2d(x, w, b, padding="p", activation="act, other"): the activation is an op behind it, which the lowering takes.
 */
struct str form_convolution(struct cpp *c, const struct node *n, const struct str *v);
/* In C++. */
struct str form_op(struct cpp *c, const struct node *n, const struct str *v);

/* ---- pdll_form.c ---- */

struct str pdll_form_op(struct cpp *c, const struct node *n, const struct str *v);

/* ---- form_either.c ---- */

struct alternative {
    const struct node *node;
    struct str text; /* empty: it cannot be written */
    bool names[MAX_SLOTS];
};

/* Slots of the match that a part of the form speaks of. */
void form_add_names(struct cpp *c, const struct node *n, bool *names);
/* -1, 0, 1: it has fewer names than the other, the same, more; 2: others. */
int form_compare_names(const struct alternative *a, const struct alternative *b);
bool form_is_binary(const struct node *n, enum op_kind k);
/* Alternatives that need the same names and are different ops, or have different attributes: only numbers would tell
 * which one it is. Of attributes that are numbers, as epsilon = 0, the first one is that of the formula. */
bool form_are_ambiguous(const struct alternative *a, uint32_t n);
/* Some are ops of one value, and none is the fused one: they stand behind it. */
bool form_are_behind(struct cpp *c, const struct alternative *a, uint32_t n);
/* In the place of an alternative that cannot be written: where the match has a name that none of the others has, the
 * form is none. False where nothing tells it from the others. */
bool form_refuse(struct cpp *c, struct alternative *a, const struct alternative *all, uint32_t n);
/* Moves those that are written to the front. */
uint32_t form_written_first(struct alternative *all, uint32_t n);
/* "match.has(a) ? form(a) : form(b)", or "form.either({...})". */
struct str form_list(struct cpp *c, struct alternative *all, uint32_t n);
/* Two calls that differ in one number: "f(x, has(eps) ? a : b)" of (has(eps) ? f(x, a) : Tensor()) and f(x, b). */
struct str form_one_call(struct cpp *c, struct str a, struct str b);
/* "(has(a) ? x : Tensor())" where it is no operand. */
struct str form_unbracketed(struct cpp *c, struct str text);

#endif
