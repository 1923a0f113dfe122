/* Shapes of tensors: equal, counted, printed. */
#include "ir/ops/shape.h"

#include <string.h>

int64_t shape_count(const struct shape *s) {
    int64_t n = 1;
    for (uint32_t d = 0; d < s->rank; d++)
        if (s->dim[d] < 0 || __builtin_mul_overflow(n, s->dim[d], &n))
            return -1;
    return n;
}

bool shape_eq(const struct shape *a, const struct shape *b) {
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
}

struct str shape_text(struct arena *a, const struct shape *s) {
    struct str text = s->rank ? STR("") : STR("scalar");
    for (uint32_t d = 0; d < s->rank && d < MAX_RANK; d++)
        text = arena_printf(a, "%.*s%s%lld", (int)text.n, text.p, d ? "x" : "", (long long)s->dim[d]);
    return text;
}
