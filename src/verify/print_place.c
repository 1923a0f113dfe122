/* What was found at a place of either module: all regions with an op that is meant. */
#include "explain/asked.h"
#include "verify/verify.h"

static bool has_asked(const struct compared_region *r, bool *const *asked) {
    for (int side = 0; side < SIDES_OF_CUT; side++)
        for (uint32_t i = 0; i < r->nops[side]; i++)
            if (asked[side][r->ops[side][i]])
                return true;
    return false;
}

static bool *ops_in_regions(const struct module_comparison *m, uint32_t nops, struct arena *a) {
    bool *in = arena_alloc(a, nops + (size_t)1);
    for (uint32_t i = 0; i < m->nregions; i++)
        for (uint32_t k = 0; m->regions[i].needed && k < m->regions[i].nops[AFTER]; k++)
            in[m->regions[i].ops[AFTER][k]] = true;
    return in;
}

/* An op of AFTER outside of all regions. */
static void print_op(struct buf *out, const struct module_comparison *m, const struct level levels[SIDES_OF_CUT],
                     uint32_t op) {
    struct str name = mlir_op_name(levels[AFTER].graph.m, op);
    uint8_t answer = m->answer[AFTER][op];
    struct compared_region r = {.judgement = {.answer = ANSWER_NOT_COMPARED}};
    if (answer == 1 + ANSWER_PROVED && m->twin[op] != NONE)
        buf_printf(out, "  - kind: proved\n    because: \"the same op of the same values is in BEFORE\"\n");
    else if (answer == 1 + ANSWER_PROVED)
        buf_printf(out,
                   "  - kind: proved\n    because: \"no result depends on it, or an op before it does the same\"\n");
    else if (answer)
        buf_printf(out, "  - kind: not_compared\n    reason: \"no value of BEFORE is likely the same\"\n");
    else if (op_computes(&levels[AFTER].graph, op))
        buf_printf(out, "  - kind: not_compared\n    reason: \"its function was not compared\"\n");
    else
        buf_printf(out, "  - kind: looked_through\n    because: \"%.*s computes nothing\"\n", (int)name.n, name.p);
    r.ops[AFTER] = &op;
    r.nops[AFTER] = 1;
    r.ops[BEFORE] = &m->twin[op];
    r.nops[BEFORE] = answer == 1 + ANSWER_PROVED && m->twin[op] != NONE;
    print_segments(out, &r, levels);
}

void print_place(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES_OF_CUT],
                 const struct fa_verify_options *o) {
    bool *asked[SIDES_OF_CUT], found = false;
    struct str became;
    for (int side = SIDES_OF_CUT; side-- > 0;) { /* AFTER first */
        asked[side] = arena_alloc(&p->arena, levels[side].graph.m->nops + (size_t)1);
        found = found || asked_mark(o->at, &levels[side], NULL, &p->arena, asked[side], &became);
    }
    for (uint32_t i = 0; found && i < m->nregions; i++)
        if (m->regions[i].needed && has_asked(&m->regions[i], asked))
            print_region(&p->answer, p, &m->regions[i], levels);
    const bool *in = ops_in_regions(m, levels[AFTER].graph.m->nops, &p->arena);
    for (uint32_t op = 0; found && op < levels[AFTER].graph.m->nops; op++)
        if (asked[AFTER][op] && !in[op])
            print_op(&p->answer, m, levels, op);
}
