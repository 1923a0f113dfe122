/* What was found at a place of either module: all regions with an op that is meant. */
#include "explain/asked.h"
#include "verify/verify.h"

static bool has_asked(const struct compared_region *r, bool *const *asked) {
    for (int side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < r->nops[side]; i++)
            if (asked[side][r->ops[side][i]])
                return true;
    return false;
}

/* Marks also the ops whose verdict is that of the marked ones: the first of copies, the same op of AFTER. `shown`: ops
 * that need no entry of their own. */
static void mark_verdicts(const struct module_comparison *m, const struct level levels[SIDES], bool *const *asked,
                          bool *const *shown) {
    for (int side = 0; side < SIDES; side++)
        for (uint32_t op = 0; op < levels[side].graph.m->nops; op++)
            if (asked[side][op] && m->copy_of[side][op] != NONE)
                asked[side][m->copy_of[side][op]] = true;
    for (uint32_t op = 0; op < levels[AFTER].graph.m->nops; op++)
        if (m->twin[op] != NONE && asked[BEFORE][m->twin[op]] && m->copy_of[AFTER][op] == NONE)
            asked[AFTER][op] = shown[BEFORE][m->twin[op]] = true;
    for (uint32_t i = 0; i < m->nregions; i++)
        for (int side = 0; m->regions[i].needed && side < SIDES; side++)
            for (uint32_t k = 0; k < m->regions[i].nops[side]; k++)
                shown[side][m->regions[i].ops[side][k]] = true;
}

/* An op outside of all regions. */
static void print_op(struct buf *out, const struct module_comparison *m, const struct level levels[SIDES], int side,
                     uint32_t op) {
    const struct mlir *ir = levels[side].graph.m;
    struct str name = mlir_op_name(ir, op);
    uint8_t answer = m->answer[side][op];
    uint32_t copy = m->copy_of[side][op], twin = side == AFTER ? m->twin[op] : NONE;
    struct compared_region r = {.judgement = {.answer = ANSWER_NOT_COMPARED}};
    if (copy != NONE) {
        struct str first = mlir_op_name(ir, copy);
        buf_printf(out, "  - kind: copy\n    because: \"%.*s at line %u does the same to the same values\"\n",
                   (int)first.n, first.p, (unsigned)mlir_place(ir, ir->ops[copy].text.begin).line);
    } else if (answer == 1 + ANSWER_PROVED && twin != NONE)
        buf_printf(out, "  - kind: proved\n    because: \"the same op of the same values is in BEFORE\"\n");
    else if (answer == 1 + ANSWER_PROVED)
        buf_printf(out, "  - kind: proved\n    because: \"no result depends on it\"\n");
    else if (answer && !m->why.n)
        buf_printf(out, "  - kind: not_compared\n    reason: \"no value of %s is likely the same\"\n",
                   side == AFTER ? "BEFORE" : "AFTER");
    else if (op_computes(&levels[side].graph, op))
        buf_printf(out, "  - kind: not_compared\n    reason: \"its function was not compared%s%.*s\"\n",
                   m->why.n ? ": " : "", (int)m->why.n, m->why.p ? m->why.p : "");
    else
        buf_printf(out, "  - kind: looked_through\n    because: \"%.*s computes nothing\"\n", (int)name.n, name.p);
    r.ops[side] = &op;
    r.nops[side] = 1;
    if (answer == 1 + ANSWER_PROVED && twin != NONE) {
        r.ops[BEFORE] = &m->twin[op];
        r.nops[BEFORE] = 1;
    }
    print_segments(out, &r, levels);
}

void print_place(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                 const struct fa_verify_options *o) {
    bool *asked[SIDES], *shown[SIDES], found = false;
    struct str became;
    for (int side = SIDES; side-- > 0;) { /* AFTER first */
        asked[side] = arena_alloc(&p->arena, levels[side].graph.m->nops + (size_t)1);
        shown[side] = arena_alloc(&p->arena, levels[side].graph.m->nops + (size_t)1);
        found = found || asked_mark(o->at, &levels[side], NULL, &p->arena, asked[side], &became);
    }
    if (!found)
        return;
    mark_verdicts(m, levels, asked, shown);
    for (uint32_t i = 0; i < m->nregions; i++)
        if (m->regions[i].needed && has_asked(&m->regions[i], asked))
            print_region(&p->answer, p, &m->regions[i], levels);
    for (int side = SIDES; side-- > 0;)
        for (uint32_t op = 0; op < levels[side].graph.m->nops; op++)
            if (asked[side][op] && !shown[side][op])
                print_op(&p->answer, m, levels, side, op);
}
