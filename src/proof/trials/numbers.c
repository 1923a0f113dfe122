/* The generator is splitmix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014), started from
 * input, trial, seed and the index of an element, so that each element is a function of these. Numbers are of the size
 * of activations: sums, squares and exponentials of them are far from the limits of f64. */
#include "proof/trials/numbers.h"

#include <math.h>

#include "proof/numeric/formula_value.h"

/* Equal elements are of three values, and integers that are no indices of two. */
enum { FEW_INTEGERS = 2, EQUAL_VALUES = 3, POSITIONS = 3 };

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static double uniform(uint64_t *state) {
    return (double)(mixed(*state += 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

/* The last two dimensions, along one of which a softmax runs. */
struct plane {
    int64_t rows, row;
};

static struct plane plane_of(const struct shape *s) {
    return (struct plane){s->rank > 1 ? s->dim[s->rank - 2] : 1, s->rank ? s->dim[s->rank - 1] : 1};
}

/* What one input gets in one trial. */
struct filling {
    const struct input *input;
    const struct thresholds *thresholds;
    enum dtype type;
    int64_t n;
    struct plane plane;
    int64_t line, stride; /* along which truth values are counted: elements, and the step from one to the next */
    int64_t open[2];      /* the index along a row and a column that no mask hides */
    uint64_t seed, state;
    uint32_t index; /* of the input */
    enum trial trial;
    uint32_t turn; /* of the trials so far */
    bool positive;
    bool rooted;   /* positive since a root of it is taken, which may be 0 */
    bool wide;     /* integers may be as large as their type allows */
    bool distinct; /* no equal elements, since a sort would not tell their order */
    bool negated;
    bool whole;   /* they are integers */
    bool covers;  /* they are each place in turn */
    bool plain;   /* asked_for changes none of them */
    double least; /* what is divided by stays away from 0, where both sides have poles, which need not be the same; 0 */
};

/* An element, in its row and column. */
struct spot {
    int64_t i, row, column;
};

/* ---- masks ---- */

/* The index along a dimension that no mask hides. It is the same for all masks of a trial, so that each line along the
 * last two dimensions has an element that is seen whatever masks are combined. */
static int64_t open_index(const struct filling *f, int64_t extent) {
    uint64_t state = f->trial * 0x632be59bd9b4e019u + f->seed * 0xd1342543de82ef95u;
    return (int64_t)(uniform(&state) * (double)extent);
}

static bool is_open(const struct filling *f, struct spot at) {
    return (f->plane.row > 1 && at.column == f->open[0]) || (f->plane.rows > 1 && at.row % f->plane.rows == f->open[1]);
}

/* TRIAL_MASKED_ROWS hides every second row, beginning with the first, and the first column. */
static bool is_hidden_row(const struct filling *f, struct spot at) {
    return f->trial == TRIAL_MASKED_ROWS && (at.row % 2 == 0 || (f->plane.row > 1 && at.column == 0));
}

/* A condition that masks hides one element of each row, but none in TRIAL_POSITIVE: of two keys one alone would be
 * seen, whatever its score. One that selects has a true and a false one in each row. Other elements keep their random
 * truth value. */
static double condition(const struct filling *f, struct spot at, double x) {
    int64_t row = f->plane.row;
    bool seen = f->input->facts.predicate == PREDICATE_HIDES_FALSE; /* the truth value that lets a score be seen */
    bool masks = predicate_hides(f->input->facts.predicate);
    int64_t set = masks ? f->open[0] + 1 : at.row + f->index;
    if (is_hidden_row(f, at))
        return masks ? !seen : at.row % 4 == 2;
    if (masks && (is_open(f, at) || f->trial == TRIAL_POSITIVE))
        return seen;
    if (row > 1 && at.column == set % row)
        return masks && !seen;
    return row > 1 && !masks && at.column == (set + 1) % row ? 1 : x;
}

/* How many are true of a line of truth values that are counted: a number that counts are compared with, or all, none or
 * any in turn. */
static int64_t true_ones(const struct filling *f, int64_t line, uint64_t *state) {
    const struct thresholds *at = f->thresholds;
    uint64_t turn = (uint64_t)line + f->turn + f->index;
    double k = line % 2 == 0 && at->n ? at->at[turn / 2 % at->n] : -1;
    if (f->trial == TRIAL_THRESHOLDS && k >= 0 && k <= (double)f->line)
        return (int64_t)k;
    return turn % 3 == 0 ? f->line : turn % 3 == 1 ? 0 : (int64_t)(uniform(state) * (double)(f->line + 1));
}

static int64_t divisor(int64_t a, int64_t b) {
    return b ? divisor(b, a % b) : a;
}

/* So many of a line are true, which a step that meets each element once spreads: a random one is true as often as half
 * of them, whatever is counted. */
static double counted(const struct filling *f, int64_t i) {
    int64_t line = i / f->stride / f->line * f->stride + i % f->stride, at = i / f->stride % f->line;
    int64_t step = f->line / 2 + 1;
    uint64_t state = f->state + (uint64_t)line * 0x2545f4914f6cdd1du;
    int64_t ones = true_ones(f, line, &state);
    while (divisor(step, f->line) > 1)
        step++;
    int64_t from = (int64_t)(uniform(&state) * (double)f->line);
    return (at * (step % f->line) + from) % f->line < ones;
}

/* Numbers at a level, which decides, and beside it: of a mask some that hide and some that do not, else half of them,
 * on the same side in a row, whose largest or smallest number may be asked for. */
static double at_level(const struct filling *f, struct spot at, double x, double u) {
    const struct facts *facts = &f->input->facts;
    bool masks = facts->beside != PREDICATE_SELECTS, shows = facts->beside == PREDICATE_HIDES_TRUE, is = u < 0.5;
    double side = facts->mask_sign > 0 ? -1 : 1;
    if (masks && is_hidden_row(f, at))
        is = !shows;
    else if (masks && (f->n == 1 || is_open(f, at)))
        is = shows;
    if (!is && isinf(facts->level)) /* all else is beside it */
        return x;
    bool below = !masks && format_is_float(f->type) && (at.row + (int64_t)f->turn) % 2;
    return is ? facts->level : facts->level + (below ? -side : side) * (shows ? 1 : 1 + f->index);
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
static double threshold_number(const struct filling *f, double otherwise, const double u[3]) {
    const struct thresholds *t = f->thresholds;
    double x = otherwise;
    if (t->n && u[0] < 0.5)
        x = near_threshold(t->at[(uint32_t)(2 * u[0] * t->n)], format_is_integer(f->type), u[1], u[2]);
    else if (format_is_integer(f->type))
        x = some_integer(f->type, f->wide, u[1], u[2]);
    if (is_unsigned(f->type))
        x = fabs(x);
    if (format_is_integer(f->type)) /* a float has to meet the threshold itself, which no constant of the graph rounds
                                     */
        x = format_round(x, f->type, ROUND_EVEN);
    return isfinite(x) ? x : otherwise;
}

/* How many numbers it may be: places are from 0 on; 0: any. */
static int64_t places_of(const struct filling *f) {
    return f->input->facts.indices ? f->input->facts.indices : f->input->facts.places;
}

static double around_thresholds(const struct filling *f, double otherwise, uint64_t *state) {
    const struct input *in = f->input;
    double u[3];
    for (int i = 0; i < 3; i++)
        u[i] = uniform(state);
    if (f->type == DT_I1 || f->distinct || in->facts.mask_sign)
        return otherwise;
    double x = threshold_number(f, otherwise, u);
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
static double number_of(const struct filling *f, double size, bool zero, uint64_t *state) {
    double x = 2 * uniform(state) - 1;
    if (f->whole && f->n == 1)
        return f->type == DT_I1 ? (f->turn + f->index) % 2 : whole_in_turn(f);
    if (f->whole) {
        double u = uniform(state);
        bool any = f->trial == TRIAL_COARSE && format_is_integer(f->type) && f->type != DT_I1 && !places_of(f);
        return any ? some_integer(f->type, false, u, uniform(state))
                   : floor(u * (double)(places_of(f) ? places_of(f) : FEW_INTEGERS));
    }
    double far = uniform(state) < 0.03 ? 8 : 1;
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
static double epsilon_factor(const struct filling *f, struct spot at) {
    double epsilon = f->thresholds->epsilon;
    if (f->input->value == NONE) /* of what is computed of inputs, a square or a root perhaps */
        epsilon = pow(epsilon, 0.5 * (double)(1 + mixed(f->state ^ (uint64_t)at.i) % 4));
    bool odd = at.column % 2 || at.row % f->plane.rows % 2;
    double factor = odd ? epsilon / 64 : sqrt(epsilon);
    return f->rooted ? factor * factor : factor;
}

/* ---- elements ---- */

static bool is_at_levels(const struct filling *f) {
    const struct facts *facts = &f->input->facts;
    if (!facts->beside || facts->indices || facts->predicate)
        return false;
    return facts->beside == PREDICATE_SELECTS ? f->trial == TRIAL_COARSE
                                              : f->trial >= TRIAL_MASKED && f->trial != TRIAL_THRESHOLDS;
}

/* An additive mask hides half of the scores, and whole rows in TRIAL_MASKED_ROWS. */
static bool is_masked(const struct filling *f, struct spot at, double u) {
    return is_hidden_row(f, at) || (f->plane.row > 1 && !is_open(f, at) && u < 0.5);
}

static double masked(const struct filling *f, struct spot at, double x, uint64_t *state) {
    const struct facts *facts = &f->input->facts;
    bool masks = facts->mask_sign && !format_is_integer(f->type) &&
                 (f->trial == TRIAL_MASKED_ROWS || (f->trial >= TRIAL_MASKED && f->plane.row > 1));
    bool counts = facts->counted && !predicate_hides(facts->predicate) &&
                  (f->trial == TRIAL_COARSE || f->trial == TRIAL_THRESHOLDS);
    if (f->type == DT_I1)
        return counts ? counted(f, at.i) : condition(f, at, x);
    if (is_at_levels(f))
        return at_level(f, at, x, uniform(state));
    return masks && is_masked(f, at, uniform(state)) ? -facts->mask_sign * (double)INFINITY : x;
}

/* As the trial, and what is known of the input, ask for it. */
static double asked_for(const struct filling *f, struct spot at, double x, uint64_t *state) {
    if (f->trial == TRIAL_THRESHOLDS)
        x = around_thresholds(f, x, state);
    if (f->trial == TRIAL_NEAR_EPSILON && !f->whole)
        x *= epsilon_factor(f, at);
    if (f->trial == TRIAL_NAN && !f->whole && uniform(state) < 0.25)
        x = NAN;
    if (f->covers)
        x = (double)(((uint64_t)at.i + (uint64_t)f->n * f->turn) % (uint64_t)f->input->facts.places);
    x = masked(f, at, x, state);
    x = f->least > 0 ? copysign(fmax(fabs(x), f->least), x) : x;
    return f->negated ? -x : x;
}

static double element(const struct filling *f, struct spot at, double size, bool zero) {
    uint64_t state = f->state + (uint64_t)at.i * 0xd1342543de82ef95u;
    double x = number_of(f, size, zero, &state);
    return f->plain ? x : asked_for(f, at, x, &state);
}

static bool is_plain(const struct filling *f) {
    return f->trial != TRIAL_THRESHOLDS && f->trial != TRIAL_NEAR_EPSILON && f->trial != TRIAL_NAN &&
           f->type != DT_I1 && !is_at_levels(f) && !f->input->facts.mask_sign && f->least == 0 && !f->negated &&
           !f->covers;
}

/* Each row has one of four sizes, so that not every softmax is that of one dominant element and not every clamp is met;
 * the third row, and each sixteenth behind it, is zero. */
void filling_numbers(const struct filling *f, const int64_t *at, int64_t n, double *out) {
    static const double sizes[] = {0.25, 1, 0.5, 2};
    int64_t row = f->plane.row > 0 ? f->plane.row : 1;
    for (int64_t i = 0; i < n;) {
        int64_t number = at[i] / row, begin = number * row;
        double size = row > 1 ? sizes[mixed(f->state ^ (uint64_t)number * 0x9e3779b97f4a7c15u) % 4] : 1;
        bool zero = !f->distinct && row > 1 && number % 16 == 2;
        for (; i < n && at[i] - begin < row; i++)
            out[i] = element(f, (struct spot){at[i], number, at[i] - begin}, size, zero);
    }
}

/* What a choice is made by is 0 or 1, whatever type holds it; in TRIAL_COARSE any number may be true. */
static bool holds_truths(const struct input *in, enum trial trial) {
    return in->facts.predicate && !(in->facts.predicate == PREDICATE_SELECTS && trial == TRIAL_COARSE);
}

static void find_line(struct filling *f, const struct shape *s) {
    uint32_t d = s->rank;
    while (d > 0 && s->dim[d - 1] != f->input->facts.counted)
        d--;
    f->line = d ? s->dim[d - 1] : f->plane.row;
    f->stride = 1;
    for (uint32_t i = d; d && i < s->rank; i++)
        f->stride *= s->dim[i];
}

static uint64_t state_of(uint32_t input, enum trial trial, uint64_t seed) {
    return mixed((input + 1) * 0x2545f4914f6cdd1du + trial * 0x632be59bd9b4e019u + seed * 0xd1342543de82ef95u);
}

struct filling *filling_plain(const struct problem *p, struct draw d, uint32_t index, const struct shape *s,
                              bool truths, struct arena *a) {
    static const struct input nothing = {.value = NONE};
    struct filling *f = arena_alloc(a, sizeof *f);
    *f = (struct filling){.input = &nothing,
                          .thresholds = &p->thresholds,
                          .type = truths ? DT_I1 : DT_F32,
                          .whole = truths,
                          .n = shape_count(s),
                          .plane = plane_of(s),
                          .index = index,
                          .trial = d.trial,
                          .turn = d.trial + d.sample,
                          .positive = d.trial == TRIAL_POSITIVE || d.trial == TRIAL_NEAR_EPSILON,
                          .distinct = p->sorts,
                          .negated = d.trial == TRIAL_POSITIVE && d.sample % 2};
    f->state = state_of(index, d.trial, d.sample ? seed_of(d.seed, d.sample) : d.seed);
    f->plain = is_plain(f);
    return f;
}

struct filling *filling_of(const struct problem *p, struct draw d, uint32_t device, uint32_t input, struct arena *a) {
    const struct input *in = &p->inputs[input];
    const struct graph *g = p->program.graph;
    struct shape s;
    if (!program_shape(&p->program, in->value, &s) || s.rank > MAX_RANK || shape_count(&s) < 0)
        return NULL;
    /* 2^64 / golden ratio: far apart for neighbouring devices */
    uint64_t seed = d.seed + (in->replicated ? 0 : device * 0x9e3779b97f4a7c15u);
    seed = d.sample ? seed_of(seed, d.sample) : seed;
    /* coarse numbers have both signs, lest a side takes the root of what the other does not */
    bool rooted = in->facts.rooted && d.trial != TRIAL_COARSE, positive = in->positive || rooted;
    struct filling *f = arena_alloc(a, sizeof *f);
    *f = (struct filling){.input = in,
                          .thresholds = &p->thresholds,
                          .type = holds_truths(in, d.trial) ? DT_I1 : graph_dtype(g, in->value),
                          .n = shape_count(&s),
                          .plane = plane_of(&s),
                          .seed = seed,
                          .index = input,
                          .trial = d.trial,
                          .turn = d.trial + d.sample,
                          .positive = positive || d.trial == TRIAL_POSITIVE,
                          .rooted = rooted && !in->positive && d.trial != TRIAL_POSITIVE,
                          .wide = p->wide && !p->other, /* a formula has no types */
                          .distinct = p->sorts};
    f->state = state_of(input, d.trial, seed);
    f->open[0] = open_index(f, f->plane.row);
    f->open[1] = open_index(f, f->plane.rows);
    find_line(f, &s);
    f->whole = is_whole(in, f->type);
    bool one = f->n > 1 && g->varies[in->value] == 0, is_float = !f->whole;
    f->least = is_float && (in->facts.divides || one) ? 0.5 : in->facts.divides ? 1 : 0;
    f->negated = d.trial == TRIAL_POSITIVE && d.sample % 2 && is_float && !positive && !in->facts.mask_sign;
    f->covers = d.trial == TRIAL_COARSE && f->type != DT_I1 && in->facts.places && !in->facts.indices;
    f->plain = is_plain(f);
    return f;
}

/* ---- what a pattern states ---- */

const struct tensor *as_stated(struct eval_context *b, const struct formula *holds, const struct tensor *t) {
    const struct tensor *slots[MAX_SLOTS] = {NULL}, *results[MAX_RESULTS] = {NULL};
    for (uint32_t i = 0; i < holds->nslots; i++)
        slots[i] = holds->slots[i].is_variable ? t : NULL;
    if (!formula_value(b, b->lowerings, holds, slots, results))
        return NULL;
    return tensor_reshape(b, results[0], &t->shape);
}

bool trial_differs(const struct problem *p, enum trial trial) {
    if (p->ninputs == 0)
        return trial == TRIAL_PLAIN;
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
