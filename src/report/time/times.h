/* Where the time of a model goes: its ops by kind and by place, and work that no op has to do. */
#ifndef FA_TIMES_H
#define FA_TIMES_H

#include "base/writer.h"
#include "device/price/price.h"

/* Ops of one kind and type at one line of the model. */
struct op_time {
    struct str op, type;
    struct str source, lines; /* source: of the model in Python, or empty; lines: of the input, "12-14, 20" */
    uint32_t n, graph;
    double us; /* of all of them */
    enum bound bound;
    int64_t cores; /* 0: it is not known */
};

/* Work of one kind that is needless (needless.c). */
struct needless_work {
    const char *kind, *change; /* change: what to do */
    struct str source, lines;
    uint32_t n, graph;
    double us;
};

struct op_times {
    struct op_time *rows;
    struct needless_work *needless;
    uint32_t nrows, rows_cap, nneedless, needless_cap;
};

/* One graph whose ops were priced: each takes `of_ops` us. */
struct timed_graph {
    struct pricer *pricer;
    const double *of_ops;
    const bool *taken; /* per op: it is of a finding */
    uint32_t number;
};

void times_add(struct op_times *t, const struct timed_graph *g, struct arena *a);
void needless_add(struct op_times *t, const struct timed_graph *g, struct arena *a);
/* Rows of one op as one, bound as the longest of them is; the longest first. To be freed. */
struct op_time *times_by_kind(const struct op_times *t, uint32_t *n);
void times_free(struct op_times *t);

#endif
