/* Places that look alike: what comes before an op, as far as a search looks, as a number. A pattern
 * that was not found at one place is not found at any that is alike, so it need not be searched for
 * there: the layers of a model are alike.
 *
 * The number covers kinds, attributes, shapes, constants, how far apart in the text the ops stand (so
 * which values are the same one), and who uses them,
 * ALIKE_DEPTH ops deep with all movement between, and no further apart than ALIKE_SPAN. A search that
 * looked elsewhere (matcher.h, `far`) says nothing about other places.
 *
 * What is remembered outlives the graph: a log holds the same model many times. */
#ifndef FA_ALIKE_H
#define FA_ALIKE_H

#include "graph/index.h"
#include "pattern/match.h"

struct alike;

enum {
    ALIKE_SPAN = 1024,   /* ops from the first to the last one covered, in the text */
    ALIKE_DEPTH = 16,    /* ops that are no movement, from the place to the deepest one covered */
    ALIKE_PATTERNS = 256 /* of one operator that are remembered; more are searched for each time */
};

/* With what is remembered of other graphs, searched for the same patterns; NULL: of none. */
struct alike *alike_new(const struct graph *g, struct alike_memory *memory);
void alike_free(struct alike *a);
/* Numbers the places of a function (ops first to before end); what is remembered of earlier ones stays. */
void alike_function(struct alike *a, uint32_t first, uint32_t end);

struct alike_hit {
    struct alike_hit *next;
    const struct pattern *pattern; /* the one that accepted the match */
    uint32_t index, nops, nthrough;
    int32_t *ops, *through; /* counted from the root */
    struct told told;
};

struct alike_place {
    uint64_t failed[ALIKE_PATTERNS / 64]; /* bit i: pattern i of those with such a root failed */
    struct alike_hit *hits;               /* and these were found */
};

/* What is known of places like op; to be read and added to until the next call. */
struct alike_place *alike_place(struct alike *a, uint32_t op);
/* Remembers a match of pattern `index` at such a place. */
void alike_keep(struct alike *a, struct alike_place *place, uint32_t index, const struct match *m,
                const struct told *told);
/* The match that was remembered, moved to `op`: its ops, what was looked through and the pattern. False: there is none,
 * or the locations here tell something else. */
bool alike_again(const struct alike_place *place, uint32_t index, uint32_t op, struct arena *arena, struct match *out);

#endif
