#include "report/compare/fails.h"

#include <stdlib.h>

#include "patterns/library/choose.h"

static int by_fused_op(const void *pa, const void *pb) {
    const struct finding *const *a = pa, *const *b = pb;
    return str_cmp((*a)->fused_op, (*b)->fused_op);
}

/* What is saved is not known where a price is not: that is not nothing. */
static bool is_much(struct finding *const *items, uint32_t n, double least_us) {
    double saved = 0;
    bool known = true;
    for (uint32_t i = 0; i < n; i++) {
        known &= items[i]->price.known;
        saved += items[i]->saved_us > 0 ? items[i]->saved_us * items[i]->places : 0;
    }
    return !known || saved >= least_us;
}

uint32_t findings_fail(struct finding *const *items, uint32_t n, const struct gate *g) {
    const char *sources = g->fail_on ? g->fail_on : "ttnn:dialect";
    struct finding **new = xcalloc(n + (size_t)1, sizeof *new);
    uint32_t nnew = 0, failing = 0;
    for (uint32_t i = 0; i < n; i++) {
        items[i]->fails = false;
        if (!items[i]->known.n && source_is_one_of(sources, items[i]->source, items[i]->lacks))
            new[nnew++] = items[i];
    }
    qsort(new, nnew, sizeof *new, by_fused_op);
    for (uint32_t i = 0, end; i < nnew; i = end) {
        for (end = i + 1; end < nnew && str_eq(new[end]->fused_op, new[i]->fused_op); end++) {
        }
        bool fails = is_much(new + i, end - i, g->least_us);
        failing += fails ? end - i : 0;
        for (uint32_t k = i; k < end; k++)
            new[k]->fails = fails;
    }
    free(new);
    return failing;
}
