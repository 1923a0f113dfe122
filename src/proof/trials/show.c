/* Simple numbers are tried before random ones; of what takes more than a few words, elements become 0 as long as a
 * difference stays. */
#include "proof/trials/show.h"

#include "proof/trials/compare.h"

enum { MAX_TRIES = 1000, MAX_ELEMENTS_TRIED = 1 << 24, MAX_LISTED = 24, MAX_EXCEPTIONS = 6 };

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

/* A difference that shows in a few digits. */
static bool is_plain(const struct comparison *o) {
    return o->differs && (!isfinite(o->after) || fabs(o->before - o->after) > 1e-4 * fmax(fabs(o->before), 1e-3));
}

/* Numbers that show a difference, as far as they were made smaller. */
struct smaller_example {
    const struct problem *p;
    struct given *given[MAX_DEVICES];
    struct tensor *tensors[MAX_INPUTS]; /* of the first device, to be written */
    enum equals order;
    bool plain;               /* the difference has to stay so */
    struct comparison found;  /* by the last evaluation */
    double **elements, *were; /* all of the inputs, one after the other; numbers before the last change */
    size_t n, tries;
    struct arena scratch; /* empty between evaluations */
};

static bool still_differs(struct smaller_example *r) {
    r->found = equal_compare(r->p, r->given, r->order, &r->scratch);
    r->tries++;
    arena_reset(&r->scratch);
    return r->plain ? is_plain(&r->found) : r->found.differs;
}

/* The numbers of a trial on all devices. */
static bool draw(struct smaller_example *r, struct draw d, struct eval_context *b) {
    bool good = r->p->devices > 0;
    b->elements = 0;
    for (uint32_t i = 0; i < r->p->devices && good; i++) {
        r->given[i] = arena_alloc(b->arena, (r->p->ninputs + (size_t)1) * sizeof *r->given[i]);
        good = numbers_make(r->p, d, i, r->given[0], b, r->given[i]);
    }
    for (uint32_t k = 0; k < r->p->ninputs && good; k++) {
        r->given[0][k].tensor = r->tensors[k] = tensor_copy(b, r->given[0][k].tensor);
        good = r->tensors[k] != NULL;
    }
    return good;
}

static void fill_simply(struct smaller_example *r, enum fill f) {
    for (uint32_t k = 0; k < r->p->ninputs; k++)
        for (int64_t i = 0; i < r->tensors[k]->n; i++)
            r->tensors[k]->x[i] = simple_number(r->p, f, k, i);
}

static void list_elements(struct smaller_example *r, struct arena *a) {
    size_t n = 0;
    for (uint32_t k = 0; k < r->p->ninputs; k++)
        n += (size_t)r->tensors[k]->n;
    r->elements = arena_alloc(a, (n + 1) * sizeof *r->elements);
    r->were = arena_alloc(a, (n + 1) * sizeof *r->were);
    for (uint32_t k = 0; k < r->p->ninputs; k++)
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

static struct str example_text(const struct smaller_example *r, const struct str *names, struct arena *a) {
    struct str text = STR("");
    for (uint32_t k = 0; k < r->p->ninputs; k++)
        text = arena_printf(a, "%.*sinput %.*s, %s: %s\n", (int)text.n, text.p, (int)names[k].n, names[k].p,
                            shape_text(a, &r->tensors[k]->shape).p, tensor_text(a, r->tensors[k]).p);
    return arena_printf(a, "%.*sat %s: before %.6g, after %.6g%s\n", (int)text.n, text.p,
                        r->found.at >= 0 ? index_text(a, &r->found.shape, r->found.at).p : "[]",
                        unsigned_nan(r->found.before), unsigned_nan(r->found.after),
                        r->order == EQUALS_POINTED ? " (of an index the element that it points to)" : "");
}

/* Finds numbers that show the difference; false where none do. What is sorted has to be different, but for trials of
 * equals. */
static bool find_example(struct smaller_example *r, const struct verdict *v, struct eval_context *b) {
    bool sorts = r->p->sorts, simple_enough = false;
    int f = sorts ? FILL_ASCENDING : 0;
    if (!draw(r, v->at, b))
        return false;
    for (; f < (sorts ? FILL_MIXED : FILLS) && !simple_enough; f++) {
        fill_simply(r, (enum fill)f);
        simple_enough = still_differs(r);
    }
    if (!simple_enough) {
        if (!draw(r, v->at, b))
            return false;
        r->order = v->order;
        r->plain = still_differs(r);
    }
    if (sorts ? !simple_enough && v->at.trial == TRIAL_EQUAL : !simple_enough || f > FILL_ASCENDING)
        reduce(r, b->arena);
    r->plain = false;
    return still_differs(r);
}

struct str equal_show(const struct problem *p, const struct verdict *v, const struct str *names, struct arena *a) {
    struct arena scratch = {0};
    struct eval_context b = {.arena = &scratch, .lowerings = p->lowerings};
    struct smaller_example *r = arena_alloc(&scratch, sizeof *r);
    *r = (struct smaller_example){.p = p, .order = EQUALS_FIRST, .plain = true};
    struct str text = find_example(r, v, &b) ? example_text(r, names, a) : STR("");
    arena_free(&r->scratch);
    arena_free(&scratch);
    return text;
}
