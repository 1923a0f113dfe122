/* Which extents at a place are one number for a reason, and what a pass has to compare.
 *
 * Extents are joined where the ops say that they are equal: those of the match before, then the guards, then those that
 * are written. An extent is printed as one of its class that the code can name. */
#ifndef FA_PASS_EXTENTS_H
#define FA_PASS_EXTENTS_H

#include "compile/pass/place.h"

struct extents_of_place {
    const struct pass_place *place;
    const struct str *expr; /* per value of g: how the code calls it; empty: it does not */
    uint32_t *first[2];     /* per value of g, f: its first node */
    uint32_t *up, *rank_up; /* of nodes; of values of g */
    uint32_t *type_up;      /* of values of g: those of one class have one type, which is compared */
    int64_t *size;
    uint32_t nnodes;
    struct str *computed;     /* per node: an expression of its own; or empty */
    uint32_t one;             /* the node of extents that are 1 */
    bool *typed;              /* per value of g: its type is a variable, */
    struct str *type;         /* this one */
    bool *ranked;             /* per value of g: its rank is compared, by its class */
    struct buf ranks, guards; /* conditions that must not hold, with " || " between */
};

void extents_begin(struct extents_of_place *e, const struct pass_place *p, const struct str *expr);
/* Joins what ops say; adds the guards. */
void extents_of_match(struct extents_of_place *e);
void extents_of_form(struct extents_of_place *e);
/* "xType", and sees to it that there is such a variable. */
struct str extents_type(struct extents_of_place *e, uint32_t value);
/* "xType.getDimSize(1)" of an extent of a value of g, or with `form` of f. */
struct str extents_print(struct extents_of_place *e, bool form, uint32_t value, uint32_t dim);
/* A value of g of the same shape, whose type is a variable or may be; with the same element type. NONE: none is. */
uint32_t extents_like(struct extents_of_place *e, uint32_t form_value);
/* Both values of g are compared to be of one type. */
bool extents_one_type(struct extents_of_place *e, uint32_t a, uint32_t b);
/* An extent that is this number at the place, of one class; empty: there is none, or there are several. */
struct str extents_number(struct extents_of_place *e, int64_t number);

#endif
