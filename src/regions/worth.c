/* The ops one by one, and the kernel: it reads each input once, writes the result and computes what the ops do. */
#include "regions/worth.h"

enum { MOST_SEEN = 64, MOST_MEASURED = 512 };

static bool was_seen(const uint32_t *seen, uint32_t n, uint32_t value) {
    for (uint32_t i = 0; i < n; i++)
        if (seen[i] == value)
            return true;
    return false;
}

/* What the kernel reads. False: a size is not known. */
static bool read_inputs(struct pricer *p, const struct region *r, struct work *w) {
    const struct graph *g = p->graph;
    uint32_t seen[MOST_SEEN], n = 0;
    for (uint32_t i = 0; i < r->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(g, r->ops[i]); k++) {
            uint32_t v = graph_operands(g, r->ops[i])[k];
            if (region_computes(g, r->ops, r->nops, v) || was_seen(seen, n, v))
                continue;
            if (n < MOST_SEEN)
                seen[n++] = v;
            if (!work_reads(p, v, w))
                return false;
        }
    return true;
}

static int64_t bytes_of(struct pricer *p, uint32_t value) {
    struct work w = {0};
    return work_writes(p, value, &w) ? w.dram_written + w.l1_written : 0;
}

/* The most bytes of results inside at one time, in textual order: each has one user. */
static int64_t held_at_once(struct pricer *p, const struct region *r) {
    const struct graph *g = p->graph;
    int64_t held = 0, most = 0;
    for (uint32_t i = 0; i + 1 < r->nops; i++) {
        held += bytes_of(p, g->m->ops[r->ops[i]].first_result);
        most = held > most ? held : most;
        for (uint32_t k = 0; k < graph_noperands(g, r->ops[i]); k++) {
            const uint32_t *in = graph_operands(g, r->ops[i]);
            if (region_computes(g, r->ops, r->nops, in[k]) && !was_seen(in, k, in[k]))
                held -= bytes_of(p, in[k]);
        }
    }
    return most;
}

struct price region_price(struct pricer *p, const struct region *r) {
    const struct graph *g = p->graph;
    struct price out = {.known = false};
    struct work kernel = {0}, w;
    for (uint32_t i = 0; i < r->nops; i++) {
        if (!op_is_launched(p, r->ops[i]))
            continue;
        if (!work_of_op(p, r->ops[i], &w))
            return out;
        cost_add(p, &w, &out.without);
        kernel.vector_cycles += w.vector_cycles;
        kernel.cores = w.cores > kernel.cores ? w.cores : kernel.cores;
    }
    if (!read_inputs(p, r, &kernel) || !work_writes(p, g->m->ops[r->ops[r->nops - 1]].first_result, &kernel))
        return out;
    cost_add(p, &kernel, &out.with);
    out.without.counted.held = held_at_once(p, r);
    out.known = true;
    if (p->measured && r->nops <= MOST_MEASURED)
        out.measured_us = perf_of_ops(p->measured, r->ops, r->nops);
    return out;
}

bool region_is_worth(const struct price *x) {
    const struct counted *a = &x->without.counted, *b = &x->with.counted;
    return x->known && (a->launches > b->launches || a->dram_read + a->dram_written > b->dram_read + b->dram_written);
}
