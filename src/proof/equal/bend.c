/* Each constant is moved to either end of what rounds to it, alone and with all others: an element that jumps is then
 * what the other side has, to the last bit but for arithmetic. What is smooth is not, and is solved for (loose.h). */
#include "proof/equal/bend.h"

#include <math.h>

#include "proof/equal/compare.h"

enum { MAX_MOVED = 8 };

static const double same = 1e-9, beyond = 1.001; /* an end may be the tie itself */

static bool is_near(double x, double y) {
    return x == y || (both_finite(x, y) && fabs(x - y) <= same * fmax(fabs(x), fabs(y)));
}

struct moved {
    const struct lockstep *at;
    struct lockstep *again;
    uint32_t device, output;
    const struct tensor *want, *got; /* where nothing is moved */
    double *slack;
    bool any;
};

/* What one side has then, the other had before. */
static void add_explained(struct moved *m, const struct tensor *want, const struct tensor *got) {
    if (!shape_eq(&want->shape, &m->want->shape) || !shape_eq(&got->shape, &m->got->shape))
        return;
    for (int64_t i = 0; i < want->n; i++) {
        double x = m->want->x[i], y = m->got->x[i];
        bool explained = both_finite(x, y) && !is_near(x, y) && (is_near(want->x[i], y) || is_near(got->x[i], x));
        m->slack[i] = explained ? fmax(m->slack[i], fabs(x - y)) : m->slack[i];
        m->any |= explained;
    }
}

static void try_moved(struct moved *m, const double *shift) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    struct arena scratch = {0};
    lockstep_again(m->again, m->at, &scratch, shift, 0);
    if (lockstep_program(m->again) && lockstep_outputs(m->again, m->device, want, got))
        add_explained(m, want[m->output], got[m->output]);
    arena_free(&scratch);
}

bool bends_explain(const struct lockstep *l, const double *shift, uint32_t device, uint32_t output,
                   const struct tensor *want, const struct tensor *got, double *slack) {
    const struct problem *p = l->p;
    struct moved m = {l, NULL, device, output, want, got, slack, false};
    double to[MAX_LOOSE];
    if (p->nloose == 0 || p->nloose > MAX_MOVED || p->devices > 1 || !p->compares)
        return false;
    m.again = xcalloc(1, sizeof *m.again);
    for (int sign = -1; sign <= 1; sign += 2)
        for (uint32_t which = 0; which <= p->nloose; which++) { /* one of them, or all */
            memcpy(to, shift, sizeof to);
            for (uint32_t k = 0; k < p->nloose; k++)
                to[k] = which == k || which == p->nloose ? sign * beyond * p->loose[k].error : to[k];
            try_moved(&m, to);
        }
    free(m.again);
    return m.any;
}
