/* Times that a profiler measured: the ops_perf_results*.csv of tt-metal, with the columns that `ttrt perf` appends.
 *
 * A row is one op of the device. It belongs to the TTNN ops at its location and to no other; several rows of one
 * location add up, over devices they are averaged. Columns are told by their names, which differ in number and order
 * from one version to the next. Source: tools/tracy/process_ops_logs.py of tt-metal, tools/ttrt/common/perf.py of
 * tt-mlir. */
#ifndef FA_PERF_H
#define FA_PERF_H

#include "device/price/cost.h"

struct perf {
    struct perf_place *places; /* by location; private */
    uint32_t nplaces, places_cap;
    struct perf_index *index; /* private */
    uint32_t nrows;           /* of ops of the device that run at each call */
    uint32_t nconst_eval;     /* rows left out: run once */
    uint32_t nunknown;        /* rows without a location */
};

/* Reads a file. False with a diagnostic: it cannot be read, or lacks a column. Texts are in `a`; free with perf_free.
 */
bool perf_read(struct perf *p, const char *path, struct arena *a, struct diags *d);
void perf_free(struct perf *p);

/* The measured times of one graph. */
struct perf_join {
    const struct perf *perf;
    uint32_t *place;                /* by op: its place in perf; NONE: no row is at its location */
    uint32_t *nops;                 /* by place: ops at it that run on the device */
    uint32_t joined;                /* rows at a location of the graph */
    uint32_t agreeing, disagreeing; /* places by whether one of their rows is such an op as stands there */
    struct str example;             /* of one that disagrees: what ran and what stands there; in the arena */
};

void perf_join_begin(struct perf_join *j, const struct perf *p, const struct graph *g, const struct device *d,
                     struct arena *a);
void perf_join_end(struct perf_join *j);
/* The rows are of another module, or shifted against it. */
static inline bool perf_is_shifted(const struct perf_join *j) {
    return j->disagreeing > j->agreeing;
}
/* Us of the ops together. 0: some of them has no row, or shares its location with ops beside these. */
double perf_of_ops(const struct perf_join *j, const uint32_t *ops, uint32_t n);

#endif
