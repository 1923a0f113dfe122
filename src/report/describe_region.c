#include "report/describe_region.h"

enum { MOST_DESCRIBED = 512, MOST_NAMED = 16, REMARKS = 4 };

struct match region_match(const struct graph *g, const struct region_rules *rules, const struct region *r) {
    uint32_t n = r->nops < MOST_DESCRIBED ? r->nops : MOST_DESCRIBED, root = r->ops[r->nops - 1];
    return (struct match){.pattern = &rules->claims[r->kind],
                          .graph = g,
                          .ops = r->order + r->nops - n,
                          .func = g->m->ops[root].func,
                          .root = root,
                          .nops = n};
}

static struct str result_name(const struct graph *g, uint32_t op) {
    return mlir_span(g->m, g->m->values[g->m->ops[op].first_result].name);
}

/* "%3, %5, %4": results in the order of the schedule. */
static struct str order_text(const struct graph *g, const struct region *r, struct arena *a) {
    struct buf b = {0};
    for (uint32_t i = 0; i < r->nops && i < MOST_NAMED; i++) {
        struct str name = result_name(g, r->order[i]);
        buf_printf(&b, "%s%.*s", i ? ", " : "", (int)name.n, name.p);
    }
    if (r->nops > MOST_NAMED)
        buf_printf(&b, " and %u more", r->nops - MOST_NAMED);
    return buf_take(&b, a);
}

static struct str registers_text(const struct graph *g, const struct region_rules *rules, const struct region *r,
                                 struct arena *a) {
    struct str order = order_text(g, r, a);
    int64_t most = r->wide ? rules->wide_registers : rules->registers;
    if (r->registers == r->registers_as_written)
        return arena_printf(a, "%u of %lld destination registers.", r->registers, (long long)most);
    return arena_printf(a, "%u of %lld destination registers in the order %.*s; %u as written.", r->registers,
                        (long long)most, (int)order.n, order.p, r->registers_as_written);
}

/* Results inside that would be stored in 16 bits or less. */
static bool rounds_inside(const struct graph *g, const struct region *r) {
    for (uint32_t i = 0; i + 1 < r->nops; i++) {
        enum dtype t = graph_dtype(g, g->m->ops[r->ops[i]].first_result);
        if (t == DT_BF16 || t == DT_BFP8)
            return true;
    }
    return false;
}

struct match_detail region_detail(const struct graph *g, const struct region_rules *rules, const struct region *r,
                                  struct arena *a) {
    struct match_detail d = {.nslots = 0};
    struct str *lines = arena_alloc(a, REMARKS * sizeof *lines), *given = arena_alloc(a, sizeof *given);
    uint32_t n = 0;
    lines[n++] =
        arena_printf(a, "%u ops, %u input%s of at most %lld%s.", r->nops, r->ninputs, r->ninputs == 1 ? "" : "s",
                     (long long)(r->wide ? rules->wide_inputs : rules->circular_buffers - 1),
                     r->wide ? " where elements have more than 16 bits" : "");
    lines[n++] = registers_text(g, rules, r, a);
    if (rounds_inside(g, r))
        lines[n++] =
            STR("intermediates are taken to stay in 32-bit registers, instead of being rounded as each op stores "
                "its result.");
    d.remarks = (struct str_list){lines, n};
    *given = STR("the grids and block sizes of the ops are equal: TTNN does not state them for interleaved tensors.");
    if (!r->grid_known)
        d.preconditions = (struct str_list){given, 1};
    return d;
}
