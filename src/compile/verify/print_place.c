/* What was found at a place of either module: all regions with an op that is meant. */
#include <stdlib.h>

#include "compile/verify/verify.h"
#include "report/explain/asked.h"

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
static void add_op(struct check_list *l, const struct module_comparison *m, const struct level levels[SIDES], int side,
                   uint32_t op, struct arena *a) {
    const struct mlir *ir = levels[side].graph.m;
    uint8_t answer = m->answer[side][op];
    uint32_t copy = m->copy_of[side][op], twin = side == AFTER ? m->twin[op] : NONE;
    struct compared_region r = {.judgement = {.answer = ANSWER_NOT_COMPARED}};
    struct check c = {.kind = CHECK_NOT_COMPARED};
    if (copy != NONE) {
        struct str first = mlir_op_name(ir, copy);
        c.kind = CHECK_COPY;
        c.because = arena_printf(a, "%.*s at line %u does the same to the same values", (int)first.n, first.p,
                                 (unsigned)mlir_place(ir, ir->ops[copy].text.begin).line);
    } else if (answer == 1 + ANSWER_PROVED) {
        c.kind = CHECK_PROVED;
        c.because = twin != NONE ? STR("the same op of the same values is in BEFORE") : STR("no result depends on it");
    } else if (answer && !m->why.n) {
        c.reason = arena_printf(a, "no value of %s is likely the same", side == AFTER ? "BEFORE" : "AFTER");
    } else if (op_computes(&levels[side].graph, op)) {
        c.reason = arena_printf(a, "its function was not compared%s%.*s", m->why.n ? ": " : "", (int)m->why.n,
                                m->why.n ? m->why.p : "");
    } else {
        struct str name = mlir_op_name(ir, op);
        c.kind = CHECK_LOOKED_THROUGH;
        c.because = arena_printf(a, "%.*s computes nothing", (int)name.n, name.p);
    }
    r.ops[side] = &op;
    r.nops[side] = 1;
    if (answer == 1 + ANSWER_PROVED && twin != NONE) {
        r.ops[BEFORE] = &m->twin[op];
        r.nops[BEFORE] = 1;
    }
    check_segments(&c, &r, levels, a);
    check_add(l, &c);
}

static void answer_with(struct stage_pair *p, const struct check_list *checks) {
    char *text = NULL;
    size_t n = 0;
    FILE *stream = made(open_memstream(&text, &n));
    checks_print(checks, stream);
    fclose(stream);
    made(text); /* the last allocation of a stream in memory is made here */
    buf_add(&p->answer, (struct str){text, n});
    free(text);
}

void print_place(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                 const struct fa_verify_options *o) {
    bool *asked[SIDES], *shown[SIDES], found = false;
    struct str became;
    struct check_list checks = {0};
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
            check_region(&checks, p, &m->regions[i], levels);
    for (int side = SIDES; side-- > 0;)
        for (uint32_t op = 0; op < levels[side].graph.m->nops; op++)
            if (asked[side][op] && !shown[side][op])
                add_op(&checks, m, levels, side, op, &p->arena);
    answer_with(p, &checks);
    free(checks.items);
}
