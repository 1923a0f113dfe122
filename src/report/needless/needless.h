/* Work that is needless without any fused op. */
#ifndef FA_NEEDLESS_H
#define FA_NEEDLESS_H

#include "device/price/price.h"

/* One graph whose ops were priced: each takes `of_ops` us. */
struct timed_graph {
    struct pricer *pricer;
    const double *of_ops;
    const bool *taken; /* per op: it is of a finding */
    uint32_t number;
};

/* Of one kind and graph. */
struct needless_work {
    const char *kind, *change; /* change: what to do */
    struct str source, lines;  /* source: of the model in Python, or empty; lines: of the input, "12-14, 20" */
    uint32_t n, graph;
    double us;
};

struct needless {
    struct needless_work *items; /* to be freed */
    uint32_t n, cap;
};

void needless_add(struct needless *all, const struct timed_graph *g, struct arena *a);

#endif
