/* Which extents at a place are one for a reason, and what a pass has to compare.
 *
 * Extents are joined where the ops say that they are equal, before and in what is written. An extent is printed as one
 * of its class in a shape that the code has a variable of. */
#ifndef FA_PASS_EXTENTS_H
#define FA_PASS_EXTENTS_H

#include "compile/pass/place.h"

enum { MAX_SUMS = 8 };

struct named_sum {
    struct str text, name;
};

struct extents_of_place {
    const struct pass_place *place;
    const struct str *expr; /* per value of g: how the code calls it; empty: it does not */
    uint32_t *first[2];     /* per value of g, f: its first node */
    uint32_t *up;           /* per node */
    int64_t *size;
    uint32_t nnodes, one; /* node `one`: extents that have to be 1 */
    struct str *shape;    /* per value of g: the variable that has its shape; or empty */
    bool *indexed;        /* per value of g: elements of that variable are asked for */
    uint32_t *defines;    /* values of g whose shapes name extents, in this order */
    uint32_t ndefines;
    struct named_sum sums[MAX_SUMS]; /* how the code calls them */
    uint32_t nsums;
};

void extents_begin(struct extents_of_place *e, const struct pass_place *p, const struct str *expr);
/* "xShape[1]" of an extent of a value of g, or with `form` of f. */
struct str extents_print(struct extents_of_place *e, bool form, uint32_t value, uint32_t dim);
/* "{1, xShape[1]}" or "xShape". */
struct str extents_list(struct extents_of_place *e, bool form, uint32_t value);
/* Sums among the extents of a value of f are those of its type, which is this variable. */
void extents_name(struct extents_of_place *e, uint32_t form_value, struct str type);
/* A value of g of the same shape and element type that the code can call; NONE: none is. */
uint32_t extents_like(struct extents_of_place *e, uint32_t form_value);
/* An extent of what is replaced that is this number; empty: there is none. */
struct str extents_number(struct extents_of_place *e, int64_t number);
/* An offset along an extent of f: the sum of the first of what is put together there, a part of it, or a number. */
struct str extents_offset(struct extents_of_place *e, uint32_t form_value, uint32_t dim, int64_t offset);
/* The shapes of these values, of which not all is known, as conditions that must not hold, with " || " between. */
struct str extents_guards(struct extents_of_place *e, const uint32_t *values, uint32_t n);

#endif
