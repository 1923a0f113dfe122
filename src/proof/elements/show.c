/* Simple numbers are tried before random ones; of what takes more than a few words, elements become 0 as long as a
 * difference stays. */
#include "proof/elements/show.h"

#include <math.h>

#include "proof/elements/sides.h"

enum { MAX_TRIES = 1000, MAX_LISTED = 24, MAX_EXCEPTIONS = 6 };

/* Elements that are read for one set of numbers, and for all. */
static const double most_shown = 1 << 24, most_read_in_all = 1 << 27;

/* Kinds of simple numbers. */
enum fill { FILL_ONES, FILL_TWOS, FILL_NUMBERS, FILL_FIRST, FILL_ASCENDING, FILL_DESCENDING, FILL_MIXED, FILLS };

static double simple(enum fill f, uint32_t input, int64_t i) {
    switch (f) {
    case FILL_ONES:
        return 1;
    case FILL_TWOS:
        return 2;
    case FILL_NUMBERS:
        return input + 2;
    case FILL_FIRST:
        return i == 0 ? input + 2 : 0;
    case FILL_ASCENDING:
        return (double)i;
    case FILL_DESCENDING:
        return (double)-i;
    default:
        return (double)((i * 7 + (int64_t)input * 3 + 1) % 5) - 2;
    }
}

static double simple_number(const struct problem *p, enum fill f, uint32_t input, int64_t i) {
    const struct facts *facts = &p->inputs[input].facts;
    double x = simple(f, input, i);
    if (graph_dtype(p->program.graph, p->inputs[input].value) == DT_I1)
        return i % 2 == 0;
    return facts->indices ? fmod(fabs(x), (double)facts->indices) : facts->mask_sign ? 0 : x;
}

/* Both sides on numbers that show a difference, as far as they were made smaller. */
struct smaller_example {
    struct trying *sides;
    double **numbers; /* by device and input: of each element */
    struct shape shapes[MAX_INPUTS];
    bool plain;                /* the difference has to stay so */
    struct difference found;   /* by the last evaluation, */
    const struct compared *in; /* and where */
    double **elements, *were;  /* all of the inputs, one after the other; numbers before the last change */
    size_t n, tries;
};

static void fill_all(const struct filling *f, int64_t n, double *out) {
    enum { MOST = 256 };
    int64_t at[MOST];
    for (int64_t from = 0; from < n; from += MOST) {
        int64_t here = n - from < MOST ? n - from : MOST;
        for (int64_t i = 0; i < here; i++)
            at[i] = from + i;
        filling_numbers(f, at, here, out + from);
    }
}

/* For trying.draw. */
static void given_numbers(const void *self, const struct lazy *input, const int64_t *at, int64_t n, double *out) {
    double *const *numbers = self;
    for (int64_t i = 0; i < n; i++)
        out[i] = numbers[input->input][at[i]];
}

/* On all devices, up to the first that differs. */
static bool differs(struct smaller_example *r) {
    struct trying *t = r->sides;
    bool slack = false, differs = false;
    for (uint32_t k = 0; k < t->ncompared && !differs; k++) {
        r->in = &t->compared[k];
        if (!sides_difference(t, r->in, &slack, &r->found))
            return false;
        differs = r->found.error > tolerance;
    }
    return differs;
}

/* However constants were rounded. */
static bool differs_for_all(struct smaller_example *r) {
    struct trying *t = r->sides;
    memset(t->shift, 0, sizeof t->shift);
    t->nsettled = 0;
    t->settled = false;
    sides_shift(t, t->shift);
    if (!sides_evaluate(t) || !differs(r))
        return false;
    struct difference found = r->found;
    if (t->p->nloose && sides_may_be_rounded(t, r->in))
        sides_settle(t);
    if (t->settled && (!sides_evaluate(t) || !differs(r)))
        return false;
    r->found = found;
    return true;
}

/* And shows in a few digits, if it has to. */
static bool still_differs(struct smaller_example *r) {
    r->tries++;
    r->sides->read = 0;
    const struct difference *d = &r->found;
    return differs_for_all(r) &&
           (!r->plain || !isfinite(d->got) || fabs(d->want - d->got) > 1e-4 * fmax(fabs(d->want), 1e-3));
}

/* The numbers of a trial on all devices. False: an input has none. */
static bool draw(struct smaller_example *r, struct draw at, struct arena *a) {
    const struct problem *p = r->sides->p;
    r->numbers = arena_alloc(a, (p->devices * (size_t)p->ninputs + 1) * sizeof *r->numbers);
    for (uint32_t i = 0; i < p->devices * p->ninputs; i++) {
        struct filling *f = filling_of(p, at, i / p->ninputs, i % p->ninputs, a);
        struct shape *s = &r->shapes[i % p->ninputs];
        if (!f || !program_shape(&p->program, p->inputs[i % p->ninputs].value, s))
            return false;
        r->numbers[i] = arena_alloc(a, ((size_t)shape_count(s) + 1) * sizeof **r->numbers);
        fill_all(f, shape_count(s), r->numbers[i]);
    }
    r->sides->drawer = r->numbers;
    return true;
}

/* In that order of equal elements. False: not all elements can be evaluated. */
static bool make(struct smaller_example *r, enum equals order) {
    enum { MOST = 1 << 22 };
    struct trying *t = r->sides;
    return sides_begin(t, 0, order) && sides_make(t) == VERDICT_SAME && t->compared[0].sides[0]->n <= MOST &&
           elements_ask(t, (uint32_t)t->compared[0].sides[0]->n, most_shown);
}

static void fill_simply(struct smaller_example *r, enum fill f) {
    const struct problem *p = r->sides->p;
    for (uint32_t k = 0; k < p->ninputs; k++)
        for (int64_t i = 0; i < shape_count(&r->shapes[k]); i++)
            r->numbers[k][i] = simple_number(p, f, k, i);
}

static void list_elements(struct smaller_example *r, struct arena *a) {
    size_t n = 0;
    for (uint32_t k = 0; k < r->sides->p->ninputs; k++)
        n += (size_t)shape_count(&r->shapes[k]);
    r->elements = arena_alloc(a, (n + 1) * sizeof *r->elements);
    r->were = arena_alloc(a, (n + 1) * sizeof *r->were);
    for (uint32_t k = 0; k < r->sides->p->ninputs; k++)
        for (int64_t i = 0; i < shape_count(&r->shapes[k]); i++)
            r->elements[r->n++] = &r->numbers[k][i];
}

/* Sets elements to `to`, or to a number of two bits behind the point; back where the difference goes. */
static bool set_while_different(struct smaller_example *r, size_t first, size_t n, bool rounded, double to) {
    bool changed = false;
    for (size_t i = first; i < first + n; i++) {
        double was = r->were[i] = *r->elements[i];
        if (!rounded || isfinite(was))
            *r->elements[i] = rounded ? rint(was * 4) / 4 : to;
        changed |= *r->elements[i] != was;
    }
    if (!changed || (r->tries < MAX_TRIES && (double)r->tries * demand_size(r->sides->demand) < most_read_in_all &&
                     still_differs(r)))
        return true;
    for (size_t i = first; i < first + n; i++)
        *r->elements[i] = r->were[i];
    return false;
}

/* Elements become 0 in halves, quarters and so on, then those that are left 1 or round, as long as the difference
 * stays: delta debugging. */
static void reduce(struct smaller_example *r, struct arena *a) {
    list_elements(r, a);
    for (size_t size = r->n; size > 0; size = size == 1 ? 0 : (size + 1) / 2)
        for (size_t i = 0; i < r->n; i += size)
            set_while_different(r, i, size < r->n - i ? size : r->n - i, false, 0);
    for (size_t i = 0; i < r->n; i++)
        if (*r->elements[i] != 0 && *r->elements[i] != 1 && !set_while_different(r, i, 1, false, 1))
            set_while_different(r, i, 1, true, 0);
}

static struct str list_text(struct arena *a, const struct tensor *t) {
    struct str text = STR("[");
    for (int64_t i = 0; i < t->n && i < MAX_LISTED; i++)
        text = arena_printf(a, "%.*s%s%.6g", (int)text.n, text.p, i ? ", " : "", t->x[i]);
    return arena_printf(a, "%.*s%s]", (int)text.n, text.p, t->n > MAX_LISTED ? ", ..." : "");
}

/* 0, 1, 2, ... or 0, -1, -2, ... in row-major order. */
static bool counts_up(const struct tensor *t, double step) {
    int64_t i = 0;
    while (i < t->n && t->x[i] == step * (double)i)
        i++;
    return i == t->n;
}

/* "all 1", "0 but for 2 at [0, 3]", "[1, 2, 3]", "0, 1, 2, ..., 63 row by row". */
static struct str tensor_text(struct arena *a, const struct tensor *t) {
    int64_t exceptions = 0;
    double most = t->n > 0 ? t->x[t->n / 2] : 0;
    for (int64_t i = 0; i < t->n; i++)
        exceptions += t->x[i] != most;
    if (exceptions == 0)
        return arena_printf(a, "all %.6g", most);
    for (int step = -1; step < 2 && t->n > MAX_LISTED; step += 2)
        if (counts_up(t, step))
            return arena_printf(a, "0, %d, %d, ..., %.17g row by row", step, 2 * step, t->x[t->n - 1]);
    if (t->n <= 8 || exceptions > MAX_EXCEPTIONS)
        return list_text(a, t);
    struct str text = arena_printf(a, "%.6g but for", most);
    for (int64_t i = 0; i < t->n; i++)
        if (t->x[i] != most) {
            struct str at = index_text(a, &t->shape, i);
            text = arena_printf(a, "%.*s %.6g at %.*s%s", (int)text.n, text.p, t->x[i], (int)at.n, at.p,
                                --exceptions ? "," : "");
        }
    return text;
}

static struct str example_text(const struct smaller_example *r, const struct str *names, struct arena *a) {
    struct str text = STR("");
    for (uint32_t k = 0; k < r->sides->p->ninputs; k++) {
        struct tensor t = {.shape = r->shapes[k], .n = shape_count(&r->shapes[k]), .x = r->numbers[k]};
        text = arena_printf(a, "%.*sinput %.*s, %s: %s\n", (int)text.n, text.p, (int)names[k].n, names[k].p,
                            shape_text(a, &t.shape).p, tensor_text(a, &t).p);
    }
    return arena_printf(a, "%.*sat %s: before %.6g, after %.6g%s\n", (int)text.n, text.p,
                        index_text(a, &r->in->sides[0]->shape, r->in->at[r->found.at]).p, unsigned_nan(r->found.want),
                        unsigned_nan(r->found.got),
                        r->sides->equals == EQUALS_POINTED ? " (of an index the element that it points to)" : "");
}

/* Finds numbers that show the difference; false where none do. What is sorted has to be different, but for trials of
 * equals. */
static bool find_example(struct smaller_example *r, const struct verdict *v, struct arena *a) {
    bool sorts = r->sides->p->sorts, simple_enough = false;
    int f = sorts ? FILL_ASCENDING : 0;
    if (!make(r, EQUALS_FIRST) || !draw(r, v->at, a))
        return false;
    for (; f < (sorts ? FILL_MIXED : FILLS) && !simple_enough; f++) {
        fill_simply(r, (enum fill)f);
        simple_enough = still_differs(r);
    }
    if (!simple_enough) {
        if (!draw(r, v->at, a) || (v->order != EQUALS_FIRST && !make(r, v->order)))
            return false;
        r->plain = still_differs(r);
    }
    if (sorts ? !simple_enough && v->at.trial == TRIAL_EQUAL : !simple_enough || f > FILL_ASCENDING)
        reduce(r, a);
    r->plain = false;
    return still_differs(r);
}

struct str same_show(const struct problem *p, const struct verdict *v, const struct str *names, struct arena *a) {
    struct arena scratch = {0};
    struct smaller_example *r = arena_alloc(&scratch, sizeof *r);
    *r = (struct smaller_example){.sides = sides_of(p, (struct effort){.seed = v->at.seed}, &scratch), .plain = true};
    r->sides->draw = given_numbers;
    struct str text = find_example(r, v, &scratch) ? example_text(r, names, a) : STR("");
    sides_free(r->sides);
    arena_free(&scratch);
    return text;
}
