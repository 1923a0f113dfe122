/* Views of what has a node's elements in another shape, as views of that node: where only some dimensions of it vary,
 * no more elements are asked for than it has. */
#ifndef FA_SPLIT_H
#define FA_SPLIT_H

#include "proof/value/lazy.h"

enum { MOST_SPLIT = 3 };

/* Views of one shape after each of its dimensions was split into some, of which none steps through two dimensions of a
 * node. */
struct split {
    struct shape shape;
    uint32_t of[MAX_RANK]; /* the dimension that was split */
    struct view v[MOST_SPLIT];
};

/* The function of a node that has another one's elements in another shape. */
double element_itself(double x);
/* False: no view is of such a node, or some dimension has no such parts. Up to MOST_SPLIT views over `shape`. */
bool split_views(const struct view *v, uint32_t n, const struct shape *shape, struct split *out);

/* Where a dimension of a view steps through what a node joins, each element behind the one before it, and no other one
 * does. */
struct join_steps {
    uint32_t d;
    int64_t begin; /* in what is joined */
    int64_t at[MAX_RANK], step[MAX_RANK];
    uint32_t along[MAX_RANK]; /* of the view's dimensions: that of the node, NONE: of one element */
};
bool view_is_joined(const struct view *v, uint32_t d, struct join_steps *out);
/* `n` elements along that dimension from `from` on, which are in one part: of that part. */
struct view view_of_part(const struct view *v, const struct join_steps *j, int64_t from, int64_t n);
/* How many of them are in the part of the first one at most. */
int64_t joined_alike(const struct view *v, const struct join_steps *j, int64_t from);

#endif
