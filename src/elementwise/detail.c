/* What notes say of a region. */
#include "elementwise/regions.h"

enum { REMARKS = 3 };

/* Results inside that would be stored in 16 bits or less. */
static bool rounds_inside(const struct graph *g, const struct region *r) {
    for (uint32_t i = 0; i + 1 < r->match.nops; i++) {
        enum dtype t = graph_dtype(g, g->m->ops[r->match.ops[i]].first_result);
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
        arena_printf(a, "%u ops, %u input%s of at most %lld%s.", r->match.nops, r->ninputs, r->ninputs == 1 ? "" : "s",
                     (long long)(r->wide ? rules->wide_inputs : rules->circular_buffers - 1),
                     r->wide ? " where elements have more than 16 bits" : "");
    lines[n++] = arena_printf(a, "%u of %lld destination registers.", r->registers,
                              (long long)(r->wide ? rules->wide_registers : rules->registers));
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
