/* The generator is splitmix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014), started from
 * input, trial and seed, so that each tensor has a sequence of its own. Numbers are of the size of activations: sums,
 * squares and exponentials of them are far from the limits of f64. */
#include "proof/equal/numbers.h"

#include <math.h>

#include "proof/numeric/formula_value.h"

/* Equal elements are of three values, and integers that are no indices of two. */
enum { FEW_INTEGERS = 2, EQUAL_VALUES = 3, POSITIONS = 3 };

static double uniform(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* What one input gets in one trial. */
struct filling {
    const struct input *input;
    const struct thresholds *thresholds;
    uint64_t seed;
    uint32_t index; /* of the input */
    enum trial trial;
    uint32_t turn; /* of the trials so far */
    bool positive;
    bool rooted;   /* positive since a root of it is taken, which may be 0 */
    bool wide;     /* integers may be as large as their type allows */
    bool single;   /* one element */
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

/* A condition that masks hides one element of each row, but none in TRIAL_POSITIVE: of two keys one alone would be
 * seen, whatever its score. One that selects has a true and a false one in each row. Other elements keep their random
 * truth value. */
static void fill_condition(const struct filling *f, struct tensor *t) {
    struct plane p = plane_of(t);
    bool seen = f->input->facts.predicate == PREDICATE_HIDES_FALSE; /* the truth value that lets a score be seen */
    bool masks = predicate_hides(f->input->facts.predicate);
    for (int64_t i = 0; i < t->n; i++) {
        int64_t at = masks ? open_index(f, p.row) + 1 : i / p.row + f->index;
        if (is_hidden_row(f, p, i))
            t->x[i] = masks ? !seen : i / p.row % 4 == 2;
        else if (masks && (is_open(f, p, i) || f->trial == TRIAL_POSITIVE))
            t->x[i] = seen;
        else if (p.row > 1 && i % p.row == at % p.row)
            t->x[i] = masks && !seen;
        else if (p.row > 1 && !masks && i % p.row == (at + 1) % p.row)
            t->x[i] = 1;
    }
}

/* How many are true of `n` that are counted: a number that counts are compared with, or all, none or any in turn. */
static int64_t true_ones(const struct filling *f, int64_t line, int64_t n, uint64_t *state) {
    const struct thresholds *at = f->thresholds;
    uint64_t turn = (uint64_t)line + f->turn + f->index;
    double k = line % 2 == 0 && at->n ? at->at[turn / 2 % at->n] : -1;
    if (f->trial == TRIAL_THRESHOLDS && k >= 0 && k <= (double)n)
        return (int64_t)k;
    return turn % 3 == 0 ? n : turn % 3 == 1 ? 0 : (int64_t)(uniform(state) * (double)(n + 1));
}

/* Truth values along lines that are counted: a random one is true as often as half of them, whatever is counted. */
static void fill_counted(const struct filling *f, struct tensor *t) {
    struct view v = view_of(t);
    uint64_t state = f->index * 0x2545f4914f6cdd1du + f->seed;
    uint32_t d = t->shape.rank;
    while (d > 0 && t->shape.dim[d - 1] != f->input->facts.counted)
        d--;
    int64_t n = d ? t->shape.dim[d - 1] : plane_of(t).row, stride = d ? v.stride[d - 1] : 1;
    for (int64_t line = 0; line < (n ? t->n / n : 0); line++) {
        int64_t first = line / stride * stride * n + line % stride, left = true_ones(f, line, n, &state);
        for (int64_t i = 0; i < n; i++) {
            bool is = uniform(&state) * (double)(n - i) < (double)left;
            t->x[first + i * stride] = is;
            left -= is;
        }
    }
}

/* An additive mask hides half of the scores, and whole rows in TRIAL_MASKED_ROWS. */
static void hide(const struct filling *f, struct tensor *t, uint64_t *state) {
    struct plane p = plane_of(t);
    for (int64_t i = 0; i < t->n; i++)
        if (is_hidden_row(f, p, i) || (p.row > 1 && !is_open(f, p, i) && uniform(state) < 0.5))
            t->x[i] = f->input->facts.mask_sign > 0 ? -INFINITY : INFINITY;
}

/* Numbers at a level, which decides, and beside it: of a mask some that hide and some that do not, else half of them,
 * on the same side in a row, whose largest or smallest number may be asked for. */
static void fill_level(const struct filling *f, struct tensor *t, enum dtype type, uint64_t *state) {
    const struct facts *facts = &f->input->facts;
    struct plane p = plane_of(t);
    bool masks = facts->beside != PREDICATE_SELECTS, shows = facts->beside == PREDICATE_HIDES_TRUE;
    double side = facts->mask_sign > 0 ? -1 : 1;
    for (int64_t i = 0; i < t->n; i++) {
        bool at_level = uniform(state) < 0.5;
        if (masks && is_hidden_row(f, p, i))
            at_level = !shows;
        else if (masks && (t->n == 1 || is_open(f, p, i)))
            at_level = shows;
        bool below = !masks && format_is_float(type) && (i / p.row + (int64_t)f->turn) % 2;
        t->x[i] = at_level ? facts->level : facts->level + (below ? -side : side) * (shows ? 1 : 1 + f->index);
    }
}

/* ---- single numbers ---- */

/* Rows may be numbered by floats. */
static bool is_whole(const struct input *in, enum dtype t) {
    return format_is_integer(t) || in->facts.indices;
}

static bool is_unsigned(enum dtype t) {
    return t == DT_INDEX || (format_is_integer(t) && !dtype_table[t].is_signed);
}

/* Of two random numbers: the threshold itself (40 %), or of integers one beside it; within 2 % of it (20 %), where
 * another one may be that rounds to a neighbour; between half and one and a half times it (10 %), or up to eight times
 * as far on either side (30 %). */
static double near_threshold(double threshold, bool whole, double a, double b) {
    return a < 0.4   ? threshold + (whole ? floor(3 * b) - 1 : 0)
           : a < 0.6 ? threshold * (0.98 + 0.04 * b)
           : a < 0.7 ? threshold * (0.5 + b)
                     : threshold * (16 * b - 8);
}

/* From -5 to 10, so that clamps and remainders of small integers are met; half of the bytes, and of all if they are
 * `wide`, are any. 64 bits become 32 on a device. */
static double some_integer(enum dtype type, bool wide, double u, double v) {
    enum { INTEGERS = 16, NEGATIVE = 5 };
    uint32_t bits = dtype_table[type].bits;
    if ((bits == 8 || (wide && bits <= 32)) && v < 0.5)
        return floor((u - (is_unsigned(type) ? 0 : 0.5)) * ldexp(1, (int)bits));
    double x = floor(u * INTEGERS) - NEGATIVE;
    return is_unsigned(type) ? fabs(x) : x;
}

/* Half of the numbers are near a threshold. `otherwise`: the number that is kept. */
static double threshold_number(const struct filling *f, enum dtype type, double otherwise, const double u[3]) {
    const struct thresholds *t = f->thresholds;
    double x = otherwise;
    if (t->n && u[0] < 0.5)
        x = near_threshold(t->at[(uint32_t)(2 * u[0] * t->n)], format_is_integer(type), u[1], u[2]);
    else if (format_is_integer(type))
        x = some_integer(type, f->wide, u[1], u[2]);
    if (is_unsigned(type))
        x = fabs(x);
    if (format_is_integer(type)) /* a float has to meet the threshold itself, which no constant of the graph rounds */
        x = format_round(x, type, ROUND_EVEN);
    return isfinite(x) ? x : otherwise;
}

/* How many numbers it may be: places are from 0 on; 0: any. */
static int64_t places_of(const struct filling *f) {
    return f->input->facts.indices ? f->input->facts.indices : f->input->facts.places;
}

static double around_thresholds(const struct filling *f, enum dtype type, double otherwise, uint64_t *state) {
    const struct input *in = f->input;
    double u[3];
    for (int i = 0; i < 3; i++)
        u[i] = uniform(state);
    if (type == DT_I1 || f->distinct || in->facts.mask_sign)
        return otherwise;
    double x = threshold_number(f, type, otherwise, u);
    if (places_of(f))
        return x >= 0 && x < (double)places_of(f) ? floor(x) : otherwise;
    return f->positive ? fabs(x) : x;
}

/* A single integer, such as a position: each that there is in turn, from the last one down, since of few keys one alone
 * would be seen, and nothing turns at 0. In TRIAL_COARSE they are the same one. */
static double whole_in_turn(const struct filling *f) {
    uint64_t from = f->turn + (f->trial == TRIAL_COARSE ? 0 : f->index), n = (uint64_t)places_of(f);
    return n ? (double)(n - 1 - from % n) : (double)(POSITIONS - from % POSITIONS);
}

/* `size`: of the row. 3 % of the numbers are 8 times as large, so that clamps are met. Coarse numbers stay below 4: the
 * exponential of a sum of some of them is far from the limits of f64. */
static double number_of(const struct filling *f, enum dtype type, double size, bool zero, uint64_t *state) {
    double x = 2 * uniform(state) - 1, far = uniform(state) < 0.03 ? 8 : 1;
    if (is_whole(f->input, type) && f->single && type != DT_I1)
        return whole_in_turn(f);
    if (is_whole(f->input, type)) {
        double u = uniform(state);
        bool any = f->trial == TRIAL_COARSE && format_is_integer(type) && type != DT_I1 && !places_of(f);
        return any ? some_integer(type, false, u, uniform(state))
                   : floor(u * (double)(places_of(f) ? places_of(f) : FEW_INTEGERS));
    }
    if (f->trial == TRIAL_EQUAL)
        return floor(uniform(state) * EQUAL_VALUES);
    if (zero && (!f->positive || f->rooted))
        return 0;
    if (f->positive)
        return (0.01 + fabs(x)) * size * far;
    if (f->trial == TRIAL_COARSE)
        return (f->distinct ? 4 * x : rint(4 * x)) * fmin(size, 1) + 0.0; /* not -0, whose root has a pole of its own */
    return x * size * far;
}

/* A factor: epsilon / 64, so that even the sum of a line of elements stays below epsilon, or, where both of the last
 * two indices are even, sqrt(epsilon), the square of which is as large as epsilon. So along either dimension there are
 * lines beside which epsilon is large, and lines beside which it is not. Of what a root is taken the squares of both.
 */
static double epsilon_factor(const struct filling *f, struct plane p, int64_t i) {
    double epsilon = f->thresholds->epsilon;
    bool odd = i % p.row % 2 || i / p.row % p.rows % 2;
    double factor = odd ? epsilon / 64 : sqrt(epsilon);
    return f->rooted ? factor * factor : factor;
}

/* ---- tensors ---- */

static bool is_at_levels(const struct filling *f) {
    const struct facts *facts = &f->input->facts;
    if (!facts->beside || facts->indices || facts->predicate)
        return false;
    return facts->beside == PREDICATE_SELECTS ? f->trial == TRIAL_COARSE
                                              : f->trial >= TRIAL_MASKED && f->trial != TRIAL_THRESHOLDS;
}

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
            if (f->trial == TRIAL_NEAR_EPSILON && !is_whole(f->input, type))
                t->x[i] *= epsilon_factor(f, plane_of(t), i);
            if (f->trial == TRIAL_NAN && !is_whole(f->input, type) && uniform(&state) < 0.25)
                t->x[i] = NAN;
        }
    }
    if (is_at_levels(f))
        fill_level(f, t, type, &state);
    else if (f->input->facts.mask_sign && !format_is_integer(type) &&
             (f->trial == TRIAL_MASKED_ROWS || (f->trial >= TRIAL_MASKED && row > 1)))
        hide(f, t, &state);
    bool counted = f->input->facts.counted && !predicate_hides(f->input->facts.predicate) &&
                   (f->trial == TRIAL_COARSE || f->trial == TRIAL_THRESHOLDS);
    if (type == DT_I1 && counted)
        fill_counted(f, t);
    else if (type == DT_I1)
        fill_condition(f, t);
}

/* What is divided by stays away from 0, where both sides have poles, which need not be the same. */
static void avoid_zero(struct tensor *t, double least) {
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = copysign(fmax(fabs(t->x[i]), least), t->x[i]);
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

/* The pattern ties the input to a number: because the constant is known, or because it states so. NaN:
 * to any one number. */
static void impose(const struct assumed_constant *constant, struct tensor *t) {
    for (int64_t i = 0; constant && i < t->n; i++)
        t->x[i] = isnan(constant->number) ? t->x[0] : constant->number;
}

/* The formula that the pattern says the input is, of random numbers. */
static struct tensor *as_stated(struct eval_context *b, const struct formula *holds, struct tensor *t) {
    const struct tensor *slots[MAX_SLOTS] = {NULL}, *results[MAX_RESULTS] = {NULL};
    for (uint32_t i = 0; i < holds->nslots; i++)
        slots[i] = holds->slot_is_variable[i] ? t : NULL;
    if (!formula_value(b, b->lowerings, holds, slots, results))
        return NULL;
    const struct tensor *stated = tensor_reshape(b, results[0], &t->shape);
    return stated ? tensor_copy(b, stated) : NULL;
}

static void negate(struct tensor *t) {
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = -t->x[i];
}

/* What a choice is made by is 0 or 1, whatever type holds it; in TRIAL_COARSE any number may be true. */
static bool holds_truths(const struct input *in, enum trial trial) {
    return in->facts.predicate && !(in->facts.predicate == PREDICATE_SELECTS && trial == TRIAL_COARSE);
}

static const struct tensor *numbers_of(const struct problem *p, struct draw d, uint64_t seed, uint32_t input,
                                       struct eval_context *b) {
    const struct input *in = &p->inputs[input];
    const struct graph *g = p->program.graph;
    /* coarse numbers have both signs, lest a side takes the root of what the other does not */
    bool rooted = in->facts.rooted && d.trial != TRIAL_COARSE;
    bool positive = in->positive || rooted;
    enum dtype type = holds_truths(in, d.trial) ? DT_I1 : graph_dtype(g, in->value);
    struct shape s;
    if (!program_shape(&p->program, in->value, &s)) {
        eval_reason(b, REASON_NOT_STATIC, "an operand has no static shape");
        return NULL;
    }
    struct tensor *t = tensor_new(b, &s);
    if (!t)
        return NULL;
    struct filling f = {.input = in,
                        .thresholds = &p->thresholds,
                        .seed = seed,
                        .index = input,
                        .trial = d.trial,
                        .turn = d.trial + d.sample,
                        .positive = positive || d.trial == TRIAL_POSITIVE,
                        .rooted = rooted && !in->positive && d.trial != TRIAL_POSITIVE,
                        .wide = p->wide && !p->other, /* a formula has no types */
                        .single = t->n == 1,
                        .distinct = p->sorts};
    fill(&f, t, type);
    bool one = t->n > 1 && g->varies[in->value] == 0;
    bool is_float = !is_whole(in, type);
    if (is_float && (in->facts.divides || one))
        avoid_zero(t, 0.5);
    else if (in->facts.divides)
        avoid_zero(t, 1);
    if (d.trial == TRIAL_POSITIVE && d.sample % 2 && is_float && !positive && !in->facts.mask_sign)
        negate(t);
    repeat_elements(g, in->value, t);
    impose(in->constant, t);
    return in->holds ? as_stated(b, in->holds, t) : t;
}

bool numbers_make(const struct problem *p, struct draw d, uint32_t device, const struct given *first,
                  struct eval_context *b, struct given *out) {
    /* 2^64 / golden ratio: far apart for neighbouring devices */
    uint64_t seed = d.seed + device * 0x9e3779b97f4a7c15u;
    seed = d.sample ? seed_of(seed, d.sample) : seed;
    for (uint32_t i = 0; i < p->ninputs; i++) {
        bool shared = device > 0 && p->inputs[i].replicated;
        out[i] = shared ? first[i] : (struct given){p->inputs[i].value, numbers_of(p, d, seed, i, b)};
        if (!out[i].tensor)
            return false;
    }
    return true;
}

bool trial_differs(const struct problem *p, enum trial trial) {
    switch (trial) {
    case TRIAL_MASKED:
        return p->masks;
    case TRIAL_MASKED_ROWS:
        return p->hides;
    case TRIAL_EQUAL:
        return p->sorts;
    case TRIAL_THRESHOLDS:
        return p->thresholds.n > 0 || p->integers;
    case TRIAL_NEAR_EPSILON:
        return p->thresholds.epsilon > 0;
    case TRIAL_NAN:
        return p->tests_nan;
    default:
        return true;
    }
}
