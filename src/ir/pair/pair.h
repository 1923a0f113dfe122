/* Pairs the ops of a TTNN module with the TTIR ops they were made of: by the value that they make, else by resolved
 * location. No pair rather than a wrong one. */
#ifndef FA_PAIR_H
#define FA_PAIR_H

#include "ir/graph/graph.h"

/* Of pair_segment; there with a whole pairing only. */
struct segment_scratch {
    uint8_t *marks;            /* a zero byte for each op of the larger level */
    uint32_t *equal, *seed_of; /* per TTIR op: the first one that makes the same value; of these the seed, or NONE */
    uint8_t *paired;           /* of these: a TTNN op descends from it */
};

struct pairing {
    const struct graph *ttir, *ttnn;
    uint32_t *ttir_of; /* per TTNN op: a TTIR op or NONE */
    /* Of ops that compute: */
    uint32_t nlocation; /* paired by a location that is one op's alone */
    uint32_t ndataflow; /* paired by value, or the only one of a location that is fed alike */
    uint32_t nunpaired; /* without a pair */
    uint32_t njudged;   /* of the first of the compute ops those that should have an origin in TTIR of the same model */
    uint32_t norigins;  /* and those that have one: of the same kind and size, at their location if ops have any */
    struct segment_scratch segments;
};

/* Not `whole`: where the first ops of both show that most have an origin, these only. */
void pair_build(struct pairing *p, const struct graph *ttir, const struct graph *ttnn, bool whole);
void pair_free(struct pairing *p);

void segment_scratch_build(struct segment_scratch *s, const struct graph *ttir, const struct graph *ttnn,
                           const uint32_t *ttir_of);
void segment_scratch_free(struct segment_scratch *s);

/* The TTIR ops that a set of TTNN ops descends from, in textual order, with what lies between them on the way and, of
 * merged ops, all of them; ops that make one value are one. False when none is paired, too much lies between, or they
 * hang together less than the TTNN ops do. *out is in the arena. Of a whole pairing. One thread at a time. */
bool pair_segment(const struct pairing *p, const uint32_t *ttnn_ops, uint32_t n, struct arena *a, uint32_t **out,
                  uint32_t *nout);

#endif
