/* Pairs the ops of a TTNN module with the TTIR ops they were made of: by resolved location, and
 * among equals by dataflow. No pair rather than a wrong one. */
#ifndef FA_PAIR_H
#define FA_PAIR_H

#include "graph/graph.h"

struct pairing {
    const struct graph *ttir, *ttnn;
    uint32_t *ttir_of;  /* per TTNN op: a TTIR op or NONE */
    uint32_t nlocation; /* paired by a location that is one op's alone */
    uint32_t ndataflow; /* paired by producers: the location is shared by several ops, or missing */
    uint32_t nunpaired; /* compute ops without a pair */
    uint8_t *marks;     /* scratch of pair_segment: a zero byte for each TTIR op */
};

void pair_build(struct pairing *p, const struct graph *ttir, const struct graph *ttnn);
void pair_free(struct pairing *p);

/* The TTIR ops that a set of TTNN ops descends from, in textual order, with what lies between them on
 * the way. False when none is paired, they do not hang together, or too much lies between. *out is in the arena. One
 * thread at a time. */
bool pair_segment(const struct pairing *p, const uint32_t *ttnn_ops, uint32_t n, struct arena *a, uint32_t **out,
                  uint32_t *nout);

#endif
