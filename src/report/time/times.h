/* Where the time of a model goes: its ops by kind and by place. */
#ifndef FA_TIMES_H
#define FA_TIMES_H

#include "base/writer.h"
#include "report/needless/needless.h"

/* Ops of one kind and type at one line of the model. */
struct op_time {
    struct str op, type;
    struct str source, lines; /* source: of the model in Python, or empty; lines: of the input, "12-14, 20" */
    uint32_t n, graph;
    double us; /* of all of them */
    enum bound bound;
    int64_t cores; /* 0: it is not known */
};

struct op_times {
    struct op_time *rows;
    uint32_t nrows, rows_cap;
    struct needless needless;
};

void times_add(struct op_times *t, const struct timed_graph *g, struct arena *a);
/* Rows of one op as one, bound as the longest of them is; the longest first. To be freed. */
struct op_time *times_by_kind(const struct op_times *t, uint32_t *n);
void times_free(struct op_times *t);

#endif
