/* A part of a graph with one thing changed: its rank, or one op more or less. Whether a pattern still means it, the
 * search tells. */
#ifndef FA_PROVE_MUTATE_H
#define FA_PROVE_MUTATE_H

#include "reduce/part.h"
#include "reduce/write.h"

enum change {
    CHANGE_NONE,
    CHANGE_BATCH,   /* a leading dimension more; of several elements what comes from outside */
    CHANGE_RANK,    /* a leading dimension of one element more */
    CHANGE_NO_LEAD, /* a leading dimension of one element less */
    CHANGE_DROP,    /* one matched op less: an operand of it stands for it */
    CHANGE_INSERT,  /* one op more, before or behind a matched one */
    CHANGES
};

struct mutation {
    enum change change;
    uint64_t seed;  /* which op */
    uint32_t added; /* out: line of the op that was added, or NONE */
};

/* Changes the text of a part that was written, and the lines of its ops: NONE for one that is gone. False where it has
 * no such change. */
bool mutate(struct mutation *mu, const struct part *p, const struct match *m, struct arena *a, struct written_part *w);
/* "with another rank", for people. */
const char *change_name(enum change c);

#endif
