/* Simple numbers are tried before random ones; of what takes more than a few words, elements become 0 as long as a
 * difference stays. */
#include "verify/shown.h"
#include "prove/trials.h"

#include <math.h>

enum { MAX_TRIES = 1000, MAX_ELEMENTS_TRIED = 1 << 22, MAX_LISTED = 32, MAX_EXCEPTIONS = 6 };

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

static struct tensor *tensor_of(const struct circuit *c, uint32_t input, struct eval_context *b) {
    struct shape s;
    return shape_in_graph(&c->module.graph, c->reference.inputs[input].value, &s) ? tensor_new(b, &s) : NULL;
}

static bool fill_simply(const struct circuit *c, enum fill f, struct eval_context *b, struct given given[MAX_INPUTS],
                        struct tensor *tensors[MAX_INPUTS]) {
    b->elements = 0;
    for (uint32_t k = 0; k < c->reference.ninputs; k++) {
        const struct proof_input *in = &c->reference.inputs[k];
        enum dtype type = graph_dtype(&c->module.graph, in->value);
        struct tensor *t = tensors[k] = tensor_of(c, k, b);
        if (!t)
            return false;
        for (int64_t i = 0; i < t->n; i++) {
            double x = simple(f, k, i);
            t->x[i] = type == DT_I1 ? i % 2 == 0 : in->indices ? fmod(fabs(x), in->indices) : in->mask_sign ? 0 : x;
        }
        given[k] = (struct given){in->value, t};
    }
    return true;
}

/* A difference that shows in a few digits. */
static bool is_plain(const struct comparison *o) {
    return o->evaluated && o->differs &&
           (!isfinite(o->after) || fabs(o->before - o->after) > 1e-4 * fmax(fabs(o->before), 1e-3));
}

/* Numbers that show a difference, as far as they were made smaller. */
struct smaller_example {
    const struct circuit *c;
    struct given given[MAX_INPUTS];
    struct tensor *tensors[MAX_INPUTS]; /* the same, to be written */
    enum equals equals;
    bool plain;               /* the difference has to stay so */
    struct comparison found;  /* by the last evaluation */
    double **elements, *were; /* all of the inputs, one after the other; numbers before the last change */
    size_t n, tries;
    struct arena scratch; /* empty between evaluations */
};

static bool still_differs(struct smaller_example *r) {
    r->found = circuit_compare(r->c, r->given, r->equals, &r->scratch);
    r->found.why = STR("");
    r->tries++;
    arena_reset(&r->scratch);
    return r->plain ? is_plain(&r->found) : r->found.evaluated && r->found.differs;
}

static void list_elements(struct smaller_example *r, struct arena *a) {
    size_t n = 0;
    for (uint32_t k = 0; k < r->c->reference.ninputs; k++)
        n += (size_t)r->tensors[k]->n;
    r->elements = arena_alloc(a, (n + 1) * sizeof *r->elements);
    r->were = arena_alloc(a, (n + 1) * sizeof *r->were);
    for (uint32_t k = 0; k < r->c->reference.ninputs; k++)
        for (int64_t i = 0; i < r->tensors[k]->n; i++)
            r->elements[r->n++] = &r->tensors[k]->x[i];
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
    if (!changed || (r->tries < MAX_TRIES && r->tries * r->n < MAX_ELEMENTS_TRIED && still_differs(r)))
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

static double positive_nan(double x) {
    return isnan(x) ? fabs(x) : x;
}

/* Random numbers as in the trial. */
static bool fill_as_in(struct smaller_example *r, struct trial_of_circuit at, struct eval_context *b) {
    b->elements = 0;
    if (!circuit_fill(r->c, at.trial, at.seed, b, r->given))
        return false;
    for (uint32_t k = 0; k < r->c->reference.ninputs; k++)
        r->given[k].tensor = r->tensors[k] = tensor_copy(b, r->given[k].tensor);
    r->equals = at.equals;
    r->plain = true;
    r->plain = still_differs(r);
    return true;
}

struct str counterexample_show(const struct circuit *c, struct trial_of_circuit at, struct arena *a) {
    struct arena scratch = {0};
    struct eval_context b = {.arena = &scratch};
    struct smaller_example *r = arena_alloc(&scratch, sizeof *r);
    struct str text = STR("");
    bool sorts = c->reference.sorts, plain = false; /* what is sorted has to be different, but for trials of equals */
    int f = sorts ? FILL_ASCENDING : 0;
    *r = (struct smaller_example){.c = c, .equals = EQUALS_FIRST, .plain = true};
    for (; f < (sorts ? FILL_MIXED : FILLS) && !plain; f++)
        plain = fill_simply(c, (enum fill)f, &b, r->given, r->tensors) && still_differs(r);
    if (!plain && !fill_as_in(r, at, &b)) {
        arena_free(&r->scratch);
        arena_free(&scratch);
        return text;
    }
    if (sorts ? !plain && at.trial == TRIAL_EQUAL : !plain || f > FILL_ASCENDING)
        reduce(r, &scratch);
    r->plain = false;
    still_differs(r);
    for (uint32_t k = 0; k < c->reference.ninputs; k++)
        text = arena_printf(a, "%.*sinput %u, %s: %s\n", (int)text.n, text.p, c->argument[k],
                            shape_text(&scratch, &r->tensors[k]->shape).p, tensor_text(&scratch, r->tensors[k]).p);
    text = arena_printf(a, "%.*sat %s: before %.6g, after %.6g%s\n", (int)text.n, text.p,
                        r->found.at >= 0 ? index_text(&scratch, &r->found.shape, r->found.at).p : "[]",
                        positive_nan(r->found.before), positive_nan(r->found.after),
                        r->equals == EQUALS_POINTED ? " (of an index the element that it points to)" : "");
    arena_free(&r->scratch);
    arena_free(&scratch);
    return text;
}
