/* What a match assumes of the numbers that its values hold: collected by constants and conditions while a match is
 * searched for, cut back by the search when it backtracks. Where there is no more room the search is given up.
 * And what it asked of locations, for the match cache. */
#include "search/match/evaluate.h"

#include <math.h>
#include <string.h>

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

void assume_precondition(struct assumptions *a, struct precondition p) {
    for (uint32_t i = 0; a && i < a->npreconditions; i++)
        if (a->preconditions[i].argument == p.argument && a->preconditions[i].parameter == p.parameter &&
            same_number(a->preconditions[i].number, p.number))
            return;
    if (a && a->npreconditions < MAX_PRECONDITIONS)
        a->preconditions[a->npreconditions++] = p;
}

void assume_constant(struct assumptions *a, uint32_t value, double number, bool stated) {
    for (uint32_t i = 0; a && i < a->nconstants; i++)
        if (a->constants[i].value == value)
            return;
    if (a && a->nconstants < MAX_ASSUMED_CONSTANTS)
        a->constants[a->nconstants++] = (struct assumed_constant){value, number, stated};
}

void assume_slice(struct assumptions *a, uint32_t value) {
    for (uint32_t i = 0; a && i < a->nsliced; i++)
        if (a->sliced[i] == value)
            return;
    if (a && a->nsliced < MAX_SLICED)
        a->sliced[a->nsliced++] = value;
}

bool record_ops(struct evaluation *e, const struct number *condition, bool holds) {
    struct search_record *r = e->record;
    if (!r)
        return holds;
    uint32_t *ops = arena_alloc(e->arena, (e->nops + (size_t)1) * sizeof *ops);
    if (e->nops)
        memcpy(ops, e->ops, e->nops * sizeof *ops);
    r->answers = grow(r->answers, &r->cap, r->nanswers + 1, sizeof *r->answers);
    r->answers[r->nanswers++] = (struct op_answer){condition, ops, e->nops, holds};
    return holds;
}
