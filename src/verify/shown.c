/* Simple numbers are tried before random ones; then elements become 0 as long as a difference stays. */
#include "verify/shown.h"
#include "prove/trials.h"

#include <math.h>

enum { MAX_REDUCED = 256, MAX_LISTED = 32, MAX_EXCEPTIONS = 6 };

/* Kinds of simple numbers. */
enum fill { FILL_ONES, FILL_TWOS, FILL_NUMBERS, FILL_ASCENDING, FILL_DESCENDING, FILL_MIXED, FILLS };

static double simple(enum fill f, uint32_t input, int64_t i) {
    switch (f) {
    case FILL_ONES:
        return 1;
    case FILL_TWOS:
        return 2;
    case FILL_NUMBERS:
        return input + 2;
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
        if (!t || in->mask_sign)
            return false;
        for (int64_t i = 0; i < t->n; i++) {
            double x = simple(f, k, i);
            t->x[i] = type == DT_I1 ? i % 2 == 0 : in->is_index ? fmod(fabs(x), 2) : x;
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

static bool still_differs(const struct circuit *c, const struct given *given, enum equals equals, bool plain,
                          struct comparison *o) {
    struct arena scratch = {0};
    *o = circuit_compare(c, given, equals, &scratch);
    o->why = STR("");
    arena_free(&scratch);
    return plain ? is_plain(o) : o->evaluated && o->differs;
}

/* Elements become `to` one by one where the difference stays. */
static void reduce(const struct circuit *c, const struct given *given, struct tensor *const *tensors,
                   enum equals equals, bool plain) {
    int64_t n = 0;
    struct comparison o;
    for (uint32_t k = 0; k < c->reference.ninputs; k++)
        n += tensors[k]->n;
    for (uint32_t k = 0; k < c->reference.ninputs && n <= MAX_REDUCED; k++)
        for (int64_t i = 0; i < tensors[k]->n; i++) {
            double was = tensors[k]->x[i], rounded = rint(was * 4) / 4;
            const double tries[] = {0, 1, rounded};
            for (int t = 0; t < 3 && tensors[k]->x[i] == was && isfinite(was); t++) {
                tensors[k]->x[i] = tries[t];
                if (tries[t] == was || !still_differs(c, given, equals, plain, &o))
                    tensors[k]->x[i] = was;
            }
        }
}

static struct str list_text(struct arena *a, const struct tensor *t) {
    struct str text = STR("[");
    for (int64_t i = 0; i < t->n && i < MAX_LISTED; i++)
        text = arena_printf(a, "%.*s%s%.6g", (int)text.n, text.p, i ? ", " : "", t->x[i]);
    return arena_printf(a, "%.*s%s]", (int)text.n, text.p, t->n > MAX_LISTED ? ", ..." : "");
}

/* "all 1", "0 but for 2 at [0, 3]", "[1, 2, 3]". */
static struct str tensor_text(struct arena *a, const struct tensor *t) {
    int64_t exceptions = 0;
    double most = t->n > 0 ? t->x[t->n / 2] : 0;
    for (int64_t i = 0; i < t->n; i++)
        exceptions += t->x[i] != most;
    if (exceptions == 0)
        return arena_printf(a, "all %.6g", most);
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

struct str counterexample_show(const struct circuit *c, enum trial trial, uint64_t seed, struct arena *a) {
    struct arena scratch = {0};
    struct eval_context b = {.arena = &scratch};
    struct given given[MAX_INPUTS];
    struct tensor *tensors[MAX_INPUTS];
    enum equals equals = trial == TRIAL_EQUAL ? EQUALS_POINTED : EQUALS_FIRST;
    struct comparison o = {.at = -1};
    struct str text = STR("");
    bool plain = false;
    bool sorts = c->reference.sorts, random = false; /* then all have to be different */
    for (int f = sorts ? FILL_ASCENDING : 0; f < (sorts ? FILL_MIXED : FILLS) && !plain; f++)
        plain = fill_simply(c, (enum fill)f, &b, given, tensors) && still_differs(c, given, equals, true, &o);
    b.elements = 0;
    if (!plain && !circuit_fill(c, trial, seed, &b, given)) {
        arena_free(&scratch);
        return text;
    }
    if (!plain) {
        for (uint32_t k = 0; k < c->reference.ninputs; k++) {
            tensors[k] = tensor_copy(&b, given[k].tensor);
            given[k].tensor = tensors[k];
        }
        plain = still_differs(c, given, equals, true, &o);
        random = !sorts;
    }
    if (random)
        reduce(c, given, tensors, equals, plain);
    still_differs(c, given, equals, false, &o);
    for (uint32_t k = 0; k < c->reference.ninputs; k++)
        text = arena_printf(a, "%.*sinput %u, %s: %s\n", (int)text.n, text.p, k,
                            shape_text(&scratch, &tensors[k]->shape).p, tensor_text(&scratch, tensors[k]).p);
    text = arena_printf(a, "%.*sat %s: before %.6g, after %.6g\n", (int)text.n, text.p,
                        o.at >= 0 ? index_text(&scratch, &o.shape, o.at).p : "[]", positive_nan(o.before),
                        positive_nan(o.after));
    arena_free(&scratch);
    return text;
}
