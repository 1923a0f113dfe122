/* The generator is splitmix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014), started from
 * input, trial and seed, so that each tensor has a sequence of its own. Numbers are of the size of activations: sums,
 * squares and exponentials of them are far from the limits of f64. */
#include "prove/numbers.h"

#include <math.h>

/* Equal elements are of three values, and integers that are no indices of two. */
enum { FEW_INTEGERS = 2, EQUAL_VALUES = 3 };

static double uniform(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* What one input gets in one trial. */
struct filling {
    const struct proof_input *input;
    const struct thresholds *thresholds;
    uint64_t seed;
    uint32_t index; /* of the input */
    enum trial trial;
    bool positive;
    bool distinct; /* no equal elements, since a sort would not tell their order */
};

/* ---- masks ---- */

/* The last two dimensions, along one of which a softmax runs. */
struct plane {
    int64_t rows, row;
};

static struct plane plane_of(const struct tensor *t) {
    uint32_t rank = t->shape.rank;
    return (struct plane){rank > 1 ? t->shape.dim[rank - 2] : 1, rank ? t->shape.dim[rank - 1] : 1};
}

/* The index along a dimension that no mask hides. It is the same for all masks of a trial, so that each line along the
 * last two dimensions has an element that is seen whatever masks are combined. */
static int64_t open_index(const struct filling *f, int64_t extent) {
    uint64_t state = f->trial * 0x632be59bd9b4e019u + f->seed * 0xd1342543de82ef95u;
    return (int64_t)(uniform(&state) * (double)extent);
}

static bool is_open(const struct filling *f, struct plane p, int64_t i) {
    return (p.row > 1 && i % p.row == open_index(f, p.row)) ||
           (p.rows > 1 && i / p.row % p.rows == open_index(f, p.rows));
}

/* TRIAL_MASKED_ROWS hides every second row, beginning with the first, and the first column. */
static bool is_hidden_row(const struct filling *f, struct plane p, int64_t i) {
    return f->trial == TRIAL_MASKED_ROWS && (i / p.row % 2 == 0 || (p.row > 1 && i % p.row == 0));
}

/* A condition that masks hides one element of each row, one that selects has a true and a false one in each row. Other
 * elements keep their random truth value. */
static void fill_condition(const struct filling *f, struct tensor *t) {
    struct plane p = plane_of(t);
    bool seen = f->input->predicate == PREDICATE_HIDES_FALSE; /* the truth value that lets a score be seen */
    bool masks = seen || f->input->predicate == PREDICATE_HIDES_TRUE;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t at = masks ? open_index(f, p.row) + 1 : i / p.row + f->index;
        if (is_hidden_row(f, p, i))
            t->x[i] = masks ? !seen : i / p.row % 4 == 2;
        else if (masks && is_open(f, p, i))
            t->x[i] = seen;
        else if (p.row > 1 && i % p.row == at % p.row)
            t->x[i] = masks && !seen;
        else if (p.row > 1 && !masks && i % p.row == (at + 1) % p.row)
            t->x[i] = 1;
    }
}

/* An additive mask hides half of the scores, and whole rows in TRIAL_MASKED_ROWS. */
static void hide(const struct filling *f, struct tensor *t, uint64_t *state) {
    struct plane p = plane_of(t);
    for (int64_t i = 0; i < t->n; i++)
        if (is_hidden_row(f, p, i) || (p.row > 1 && !is_open(f, p, i) && uniform(state) < 0.5))
            t->x[i] = f->input->mask_sign > 0 ? -INFINITY : INFINITY;
}

/* ---- single numbers ---- */

static bool is_unsigned(enum dtype t) {
    return t == DT_U64 || t == DT_U32 || t == DT_U16 || t == DT_U8 || t == DT_INDEX;
}

/* Of two random numbers: the threshold itself (40 %), between half and one and a half times it (30 %), or up to eight
 * times as far on either side (30 %). */
static double near_threshold(double threshold, double a, double b) {
    return a < 0.4 ? threshold : a < 0.7 ? threshold * (0.5 + b) : threshold * (16 * b - 8);
}

/* Half of the numbers are near a threshold; other integers are from -5 to 10, so that clamps and remainders of small
 * integers are met. `otherwise`: the number that is kept. */
static double threshold_number(const struct thresholds *t, enum dtype type, double otherwise, const double u[3]) {
    enum { INTEGERS = 16, NEGATIVE = 5 };
    double x = otherwise;
    if (t->n && u[0] < 0.5)
        x = near_threshold(t->at[(uint32_t)(2 * u[0] * t->n)], u[1], u[2]);
    else if (format_is_integer(type))
        x = floor(u[1] * INTEGERS) - NEGATIVE;
    if (is_unsigned(type))
        x = fabs(x);
    if (format_is_integer(type)) /* a float has to meet the threshold itself, which no constant of the graph rounds */
        x = format_round(x, type, ROUND_EVEN);
    return isfinite(x) ? x : otherwise;
}

static double around_thresholds(const struct filling *f, enum dtype type, double otherwise, uint64_t *state) {
    const struct proof_input *in = f->input;
    double u[3];
    for (int i = 0; i < 3; i++)
        u[i] = uniform(state);
    if (type == DT_I1 || f->distinct || in->mask_sign || in->indices)
        return otherwise;
    double x = threshold_number(f->thresholds, type, otherwise, u);
    return f->positive ? fabs(x) : x;
}

/* `size`: of the row. 3 % of the numbers are 8 times as large, so that clamps are met. Coarse numbers stay below 4: the
 * exponential of a sum of some of them is far from the limits of f64. */
static double number_of(const struct filling *f, enum dtype type, double size, bool zero, uint64_t *state) {
    double x = 2 * uniform(state) - 1, far = uniform(state) < 0.03 ? 8 : 1;
    if (format_is_integer(type))
        return floor(uniform(state) * (f->input->indices ? f->input->indices : FEW_INTEGERS));
    if (f->trial == TRIAL_EQUAL)
        return floor(uniform(state) * EQUAL_VALUES);
    if (f->positive)
        return (0.01 + fabs(x)) * size * far;
    if (zero)
        return 0;
    if (f->trial == TRIAL_COARSE)
        return (f->distinct ? 4 * x : rint(4 * x)) * fmin(size, 1) + 0.0; /* not -0, whose root has a pole of its own */
    return x * size * far;
}

/* A factor: epsilon / 64, so that even the sum of a line of elements stays below epsilon, or, where both of the last
 * two indices are even, sqrt(epsilon), the square of which is as large as epsilon. So along either dimension there are
 * lines beside which epsilon is large, and lines beside which it is not. */
static double epsilon_factor(double epsilon, struct plane p, int64_t i) {
    bool odd = i % p.row % 2 || i / p.row % p.rows % 2;
    return odd ? epsilon / 64 : sqrt(epsilon);
}

/* ---- tensors ---- */

/* Each row has one of four sizes, so that not every softmax is that of one dominant element and not every clamp is met;
 * the third row of a tensor is zero. */
static void fill(const struct filling *f, struct tensor *t, enum dtype type) {
    static const double sizes[] = {0.25, 1, 0.5, 2};
    uint64_t state =
        (f->index + 1) * 0x2545f4914f6cdd1du + f->trial * 0x632be59bd9b4e019u + f->seed * 0xd1342543de82ef95u;
    int64_t row = plane_of(t).row;
    for (int64_t from = 0; from < t->n; from += row) {
        double size = row > 1 ? sizes[(int)(uniform(&state) * 4)] : 1;
        bool zero = !f->distinct && row > 1 && from == 2 * row;
        for (int64_t i = from; i < from + row; i++) {
            t->x[i] = number_of(f, type, size, zero, &state);
            if (f->trial == TRIAL_THRESHOLDS)
                t->x[i] = around_thresholds(f, type, t->x[i], &state);
            if (f->trial == TRIAL_NEAR_EPSILON && !format_is_integer(type))
                t->x[i] *= epsilon_factor(f->thresholds->epsilon, plane_of(t), i);
        }
    }
    if (f->input->mask_sign && !format_is_integer(type) &&
        (f->trial == TRIAL_MASKED_ROWS || (f->trial >= TRIAL_MASKED && row > 1)))
        hide(f, t, &state);
    if (type == DT_I1)
        fill_condition(f, t);
}

/* What is divided by stays away from 0, where both sides have poles, which need not be the same. */
static void avoid_zero(struct tensor *t) {
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = copysign(fmax(fabs(t->x[i]), 0.5), t->x[i]);
}

/* Masks are hidden with the sign that they have for positive scales (mask_sign_of): -inf times another one would show
 * what it hides. */
static void make_positive(struct tensor *t) {
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = fabs(t->x[i]);
}

/* Along a dimension in which the input does not vary all elements are the first one. */
static void repeat_elements(const struct graph *g, uint32_t value, struct tensor *t) {
    struct view v = view_of(t);
    if (g->varies[value] == graph_dimensions(g, value))
        return;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t from = 0;
        for (uint32_t d = 0; d < t->shape.rank; d++)
            from += g->varies[value] >> d & 1 ? i / v.stride[d] % t->shape.dim[d] * v.stride[d] : 0;
        t->x[i] = t->x[from];
    }
}

/* The pattern ties the input to a number: because the constant is known, or because it states so, unless violated. NaN:
 * to any one number. */
static void impose(const struct assumed_constant *constant, bool violated, struct tensor *t) {
    if (!constant || (constant->stated && violated))
        return;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = isnan(constant->number) ? t->x[0] : constant->number;
}

static struct tensor *tensor_for(struct device_run *run, uint32_t value) {
    struct shape s;
    if (!shape_in_graph(reference_graph(run->ref), value, &s)) {
        eval_fail(&run->eval, "an operand has no static shape");
        return NULL;
    }
    return tensor_new(&run->eval, &s);
}

/* The formula that the pattern says the input is, of random numbers. */
static const struct tensor *as_stated(struct device_run *run, const struct proof_input *in, const struct tensor *t) {
    const struct tensor *slots[MAX_SLOTS] = {NULL}, *results[MAX_RESULTS] = {NULL};
    for (uint32_t i = 0; i < in->holds->nslots; i++)
        slots[i] = in->holds->slot_is_variable[i] ? t : NULL;
    if (!formula_value(&run->eval, run->ref->set, in->holds, slots, results))
        return NULL;
    return tensor_reshape(&run->eval, results[0], &t->shape);
}

bool numbers_make(struct device_run *run, const struct device_run *first, enum trial trial, uint32_t violated) {
    const struct reference *r = run->ref;
    for (uint32_t i = 0; i < r->ninputs; i++) {
        const struct proof_input *in = &r->inputs[i];
        struct tensor *t = tensor_for(run, in->value);
        if (!t)
            return false;
        bool positive = trial == TRIAL_POSITIVE || (in->positive && i != violated);
        enum dtype type = in->predicate ? DT_I1 : graph_dtype(reference_graph(r), in->value);
        uint64_t seed = run->sample ? seed_of(run->seed, run->sample) : run->seed;
        struct filling f = {in, &r->thresholds, seed, i, trial, positive, r->sorts};
        fill(&f, t, type);
        bool hides = r->masks && trial >= TRIAL_MASKED, one = t->n > 1 && reference_graph(r)->varies[in->value] == 0;
        if (!format_is_integer(type) && (in->divides || one || (in->scales && hides)))
            avoid_zero(t);
        if (in->scales && hides)
            make_positive(t);
        repeat_elements(reference_graph(r), in->value, t);
        impose(in->constant, i == violated, t);
        const struct tensor *stated = in->holds && i != violated ? as_stated(run, in, t) : t;
        if (!stated)
            return false;
        bool shared = run != first && in->replicated && i != violated;
        run->given[i] = shared ? first->given[i] : (struct given){in->value, stated};
    }
    return true;
}

bool trial_differs(const struct reference *r, enum trial trial) {
    bool masks = false, hides = false;
    for (uint32_t i = 0; i < r->ninputs; i++) {
        enum predicate_use c = r->inputs[i].predicate;
        masks |= r->inputs[i].mask_sign != 0;
        hides |= c == PREDICATE_HIDES_TRUE || c == PREDICATE_HIDES_FALSE;
    }
    switch (trial) {
    case TRIAL_MASKED:
        return masks;
    case TRIAL_MASKED_ROWS:
        return masks || hides;
    case TRIAL_EQUAL:
        return r->sorts;
    case TRIAL_THRESHOLDS:
        return r->thresholds.n > 0 || r->thresholds.integers;
    case TRIAL_NEAR_EPSILON:
        return r->thresholds.epsilon > 0;
    default:
        return true;
    }
}
