/* In which extents a problem is asked: in small ones that keep all relations, and where these decide nothing in those
 * of the model. */
#ifndef FA_TRIALS_SHAPES_H
#define FA_TRIALS_SHAPES_H

#include "proof/reduce/payload.h"
#include "proof/reduce/scale_constant.h"
#include "proof/trials/equal.h"

/* Elements and multiplications (extents_cost) up to which the small shapes of a match are evaluated. */
enum { MAX_SMALL_COST = 1 << 22 };

/* The subgraph of both sides in one choice of extents. */
struct sized {
    struct extents extents;
    bool scaled; /* constants that are functions of an extent are those of the new one */
    bool costly; /* few numbers have to do: what is the same there is so for many elements */
};

struct shapes_question {
    const struct subgraph *subgraph;
    const struct payloads *payloads; /* constants that keep their elements, or NULL */
    double small_cost, own_cost;     /* of an evaluation in small extents and in those of the model (extents_cost), at
                                        most; 0: none */
    struct verdict (*ask)(void *self, const struct sized *how);
    /* Whether both sides take the number; NULL: of none is told that it is no function of an extent. */
    bool (*in_both)(void *self, struct constant number);
    void *self;
};

struct shapes_answer {
    struct verdict verdict;
    struct sized at; /* VERDICT_DIFFERENT: shows it */
    uint32_t shapes; /* VERDICT_SAME: choices of extents in which it was evaluated */
    bool doubtful;   /* VERDICT_DIFFERENT: relations of extents may have been lost that it depends on */
};

/* Constants are scaled with the extents, and left as they are where that shows a difference. What one choice of extents
 * proves and another refutes is a relation that does not hold in general: a number that happens to be that of the
 * elements, a row as long as a column. What is proved has to hold also where extents that several constants follow
 * stay.
 */
struct shapes_answer equal_in_shapes(const struct shapes_question *q);
/* The smallest extents up to a cost; `reduced`: those that something is reduced over stay, since constants may be tied
 * to them. False with a reason. */
bool shapes_choose(const struct shapes_question *q, bool reduced, double most, struct extents *out, struct reason *why);

#endif
