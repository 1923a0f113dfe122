/* What each value is, told by a few numbers: its image in a model where every tensor has one element.
 *
 * Arguments are random numbers, the same at both levels; what moves, casts or lays out data is the identity; arithmetic
 * is arithmetic. What needs more than one element is a fixed smooth function: a reduction one of the element and of how
 * many there are, an op of which nothing else is known one of its operands, and so are thresholds (the image of relu(x)
 * is never that of x). Algebra holds: a product and a sum are a linear, exp(x - max(x)) / sum(...) is a softmax, a
 * weight that is folded into another is a product. So two values with equal images are one value up to movement,
 * however the levels spell it, but for chance; and values of another axis of the same extent. */
#ifndef FA_IMAGE_H
#define FA_IMAGE_H

#include "ir/graph/graph.h"

enum { IMAGE_NUMBERS = 3 };

struct image {
    double x[IMAGE_NUMBERS]; /* the first is NaN: not known */
    uint32_t parts;          /* of several values side by side: the first one in images.parts; else 0 */
};

struct image_part {
    struct image image;
    double extent; /* along the dimension that is joined; 0 ends the list */
};

static inline bool image_known(const struct image *i) {
    return i->x[0] == i->x[0];
}

struct images {
    const struct graph *g;
    const uint32_t *identity; /* per function: a number that it has in common with the same one of the other level */
    const uint32_t *numbers;  /* per value: of an argument, the same; or NULL: by position */
    struct image *of;         /* per value */
    const struct image_index *known;
    uint8_t *settled; /* per value: its image is given, and stays */
    struct image_part *parts;
    uint32_t nparts, parts_cap;
    uint64_t steps, most_steps;
};

/* Values of audited functions that ops make which do more than move data, in the order of their images. */
struct image_index {
    const struct images *images;
    uint32_t *values, n;
};

/* Values that are in `known`, the other level's, get the image that is there, digit by digit: the error of arithmetic
 * does not add up. `known` and `numbers` may be NULL. */
void images_begin(struct images *s, const struct graph *g, const uint32_t *identity, const uint32_t *numbers,
                  const struct image_index *known);
/* Images of all values that are not settled. */
void images_look(struct images *s);
void images_free(struct images *s);
void image_index_build(struct image_index *x, const struct images *s);
void image_index_free(struct image_index *x);
/* The first of the values with that image, and how many follow it (itself too), counted up to `most`; 0: none. */
uint32_t image_find(const struct image_index *x, const struct image *i, uint32_t most, uint32_t *first);
bool image_equal(const struct image *a, const struct image *b);
/* The image of one result of an op, from those of its operands. */
void image_of_op(const struct images *s, uint32_t op, uint32_t result, struct image *i);
/* The value behind what moves data: it has the same image. */
uint32_t image_source(const struct graph *g, uint32_t v);
/* True where an op makes a value of its own: it does more than move data, and stands in an audited function. */
bool image_is_made(const struct graph *g, uint32_t op);

#endif
