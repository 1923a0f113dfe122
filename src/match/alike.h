/* Places that look alike: what comes before an op, as far as a search looks, as a number. A pattern
 * that was not found at one place is not found at any that is alike, so it need not be searched for
 * there: the layers of a model are alike.
 *
 * The number covers kinds, attributes, shapes, constants, how far apart in the text the ops stand (so
 * which values are the same one), and who uses them,
 * ALIKE_DEPTH ops deep with all movement between, and no further apart than ALIKE_SPAN. What a search looked at behind
 * a value is told by the numbers of the ops there (`struct seen`). A search that looked elsewhere (matcher.h, `far`)
 * says nothing about other places.
 *
 * What is remembered outlives the graph: a log holds the same model many times. */
#ifndef FA_ALIKE_H
#define FA_ALIKE_H

#include "graph/index.h"
#include "match/match.h"

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

/* What was looked at behind a value, beside the place itself. */
struct seen {
    uint32_t op;
    uint32_t slot; /* NONE: the place that the op is; else all that use this operand of it */
};

struct alike_seen {
    int32_t op; /* counted from the root */
    uint32_t slot;
    uint64_t number;
};

struct alike_hit {
    struct alike_hit *next;
    const struct pattern *pattern; /* the one that accepted the match; NULL: none did */
    struct alike_seen *seen;       /* has to be the same */
    uint32_t nseen;
    uint32_t index, nops, nthrough;
    int32_t *ops, *through; /* counted from the root */
    uint64_t names;         /* of the ops: match.h */
    struct told told;
};

struct alike_place {
    uint64_t failed[ALIKE_PATTERNS / 64]; /* bit i: pattern i of those with such a root failed */
    struct alike_hit *hits;               /* what was found, and what failed with something seen */
    uint32_t nhits;
};

/* What is known of places like op; to be read and added to until the next call. */
struct alike_place *alike_place(struct alike *a, uint32_t op);
/* What a search says of the places that are alike. */
struct alike_search {
    uint32_t index, root;      /* pattern and op */
    const struct match *found; /* NULL: nothing; without a pattern: what locations told to be none */
    const struct told *told;
    const struct seen *seen;
    uint32_t nseen;
};
void alike_keep(struct alike *a, struct alike_place *place, const struct alike_search *search);

enum alike_answer { ALIKE_UNKNOWN, ALIKE_FOUND, ALIKE_FAILED };
/* What is known of pattern `index` at `op`. ALIKE_FOUND: `out` is the match that was remembered, moved to `op`: its
 * ops, what was looked through and the pattern. */
enum alike_answer alike_again(const struct alike *a, const struct alike_place *place, uint32_t index, uint32_t op,
                              struct arena *arena, struct match *out);
/* The number of a place tells who uses the results of the op. */
bool alike_tells_users(const struct graph *g, uint32_t op);

#endif
