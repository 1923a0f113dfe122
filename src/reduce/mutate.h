/* Mutates the printed module of a subgraph: its rank, or one op more or less. Whether a pattern still matches the
 * result is left to the search. */
#ifndef FA_MUTATE_H
#define FA_MUTATE_H

#include "reduce/print_module.h"
#include "reduce/subgraph.h"

enum change {
    CHANGE_NONE,
    CHANGE_BATCH,   /* one more leading dimension, of two elements */
    CHANGE_RANK,    /* one more leading dimension, of one element */
    CHANGE_NO_LEAD, /* one leading dimension of one element less */
    CHANGE_DROP,    /* one matched op less: its users take an operand of it */
    CHANGE_INSERT,  /* one more op before or behind a matched one */
    CHANGES
};

struct mutation {
    enum change change;
    uint64_t seed;  /* chooses the op */
    uint32_t added; /* out: line of the inserted op, or NONE */
};

/* Replaces the text and the lines of ops, NONE for the one that is gone. False where no such change exists. */
bool mutate(struct mutation *mu, const struct subgraph *s, const struct match *m, struct arena *a,
            struct printed_module *w);
/* What was changed, for messages: "with one more leading dimension". */
const char *change_name(enum change c);

#endif
