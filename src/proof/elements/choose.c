#include "proof/elements/sides.h"

#include <math.h>

enum {
    MOST_ELEMENTS = 128, /* of an output, where they are had for a low price */
    ALL_ELEMENTS = 4096,
    SOME_ELEMENTS = 24,
    FEW_ELEMENTS = 6,
    LEAST_ELEMENTS = 2,
    LEAST_IN_PARTS = 4, /* the first and the last one, and both sides of a bound */
    RUN_ELEMENTS = 5,   /* of a row, where elements are dear */
    MAX_BOUNDS = 32,
    MOST_SORTED = 1 << 14 /* elements that are compared in any order */
};

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

/* For so many elements. */
static void make_room(struct trying *t, struct compared *c, uint32_t n) {
    if (n <= c->room)
        return;
    double *room = arena_alloc(&t->scratch, (size_t)5 * n * sizeof *room);
    c->room = n;
    c->at = arena_alloc(&t->scratch, n * sizeof *c->at);
    for (int side = 0; side < 2; side++) {
        c->x[side] = room + (size_t)side * n;
        c->moved[side] = room + (size_t)(2 + side) * n;
    }
    c->slack = room + (size_t)4 * n;
}

static bool by_index(const struct compared *c, int64_t at) {
    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i] == at)
            return true;
    return false;
}

static void add_element(struct compared *c, int64_t at, uint32_t most) {
    if (at >= 0 && at < c->sides[0]->n && c->n < most && (most > MOST_ELEMENTS || !by_index(c, at)))
        c->at[c->n++] = at;
}

/* Where parts of values begin: of a slice, a pad, what is put together. */
struct bounds {
    int64_t at[MAX_BOUNDS];
    uint32_t n;
    bool parts; /* of a result */
};

static void add_bound(struct bounds *b, int64_t at) {
    for (uint32_t i = 0; i < b->n; i++)
        if (b->at[i] == at)
            return;
    if (at > 0 && b->n < MAX_BOUNDS)
        b->at[b->n++] = at;
}

static bool has_extent(const struct shape *s, int64_t n) {
    bool found = false;
    for (uint32_t d = 0; d < s->rank; d++)
        found |= s->dim[d] == n;
    return found;
}

static void find_bounds(const struct trying *t, struct bounds *b) {
    for (uint32_t i = 0; i < t->all.n; i++) {
        const struct lazy *l = t->all.all[i];
        for (uint32_t k = 0; k < t->ncompared && l->nparts > 1; k++)
            b->parts |= has_extent(&t->compared[k].sides[0]->shape, l->begin[l->nparts]);
        for (uint32_t k = 1; k < l->nparts; k++)
            add_bound(b, l->begin[k]);
        for (uint32_t d = 0; l->kind == LAZY_PLACE && d < l->shape.rank; d++) {
            add_bound(b, l->before[d]);
            add_bound(b, l->before[d] + (l->in[0].shape.dim[d] - 1) * l->spread[d] + 1);
        }
    }
}

static int64_t random_index(const struct shape *s, uint64_t *state, uint32_t dim, int64_t index) {
    int64_t at = 0;
    for (uint32_t d = 0; d < s->rank; d++)
        at = at * s->dim[d] + (d == dim ? index : (int64_t)(next_random(state) % (uint64_t)s->dim[d]));
    return at;
}

/* All, or corners, both sides of each bound, and others in a few rows, or all of these where many are asked for, and
 * anywhere. */
static void choose_elements(struct trying *t, struct compared *c, const struct bounds *b, uint32_t most) {
    enum { ROWS = 4 };
    const struct shape *s = &c->sides[0]->shape;
    int64_t n = c->sides[0]->n, row = s->rank ? s->dim[s->rank - 1] : 1, rows[ROWS];
    uint64_t state = t->how.seed * 77 + 1;
    c->n = 0;
    if ((t->in_a_row || (most <= RUN_ELEMENTS && !b->parts)) && n > most) { /* side by side, made of the same */
        int64_t from = (int64_t)(next_random(&state) % (uint64_t)(n - most + 1));
        for (uint32_t i = 0; i < most; i++)
            c->at[c->n++] = from + i;
        return;
    }
    for (int64_t i = 0; n <= most && i < n; i++)
        c->at[c->n++] = i;
    if (n <= most)
        return;
    add_element(c, 0, most);
    add_element(c, n - 1, most);
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t d = s->rank; d-- > 0 && c->n < most / 2;)
            for (int64_t side = -1; side <= 0; side++)
                if (b->at[i] < s->dim[d])
                    add_element(c, random_index(s, &state, d, b->at[i] + side), most / 2);
    bool whole_rows = most > MOST_ELEMENTS && ROWS * row <= most / 2;
    for (int i = 0; i < ROWS; i++) {
        bool again = false;
        rows[i] = (int64_t)(next_random(&state) % (uint64_t)(n / row)) * row;
        for (int k = 0; k < i; k++)
            again |= rows[k] == rows[i];
        for (int64_t k = 0; whole_rows && !again && k < row; k++)
            add_element(c, rows[i] + k, most);
    }
    for (uint32_t tries = 0; c->n < most && c->n < n && tries < 4 * most; tries++)
        add_element(c,
                    whole_rows || tries % (t->how.whole ? 2 : 4) == 1
                        ? (int64_t)(next_random(&state) % (uint64_t)n)
                        : rows[tries % ROWS] + (int64_t)(next_random(&state) % (uint64_t)row),
                    most);
}

bool elements_have_parts(const struct trying *t) {
    bool found = t->compared[0].sides[0]->n <= (int64_t)4 * MOST_ELEMENTS;
    for (uint32_t i = 0; i < t->all.n && !found; i++) {
        const struct lazy *l = t->all.all[i];
        found = l->kind == LAZY_JOIN || l->kind == LAZY_PLACE || l->kind == LAZY_TAKE ||
                (l->kind == LAZY_TABLE && l->n > 1);
    }
    return found;
}

bool elements_ask(struct trying *t, uint32_t most, double read) {
    struct bounds b = {.n = 0};
    find_bounds(t, &b);
    for (uint32_t k = 0; k < t->ncompared; k++) {
        struct compared *c = &t->compared[k];
        make_room(t, c, c->sides[0]->n < most ? (uint32_t)c->sides[0]->n : most);
        choose_elements(t, c, &b, most);
        for (int side = 0; side < 2; side++)
            t->asked[2 * k + side] = (struct wanted_elements){c->sides[side], c->at, c->n, c->x[side]};
    }
    demand_free(t->demand);
    t->ctx.error = STR("");
    t->demand = demand_of(&t->ctx, &t->all, t->asked, 2 * t->ncompared, read);
    return t->demand;
}

bool elements_settle(struct trying *t) {
    bool all = t->how.whole || (t->how.thorough && elements_have_parts(t));
    double most = sides_most(t);
    t->least = 0;
    if (t->p->any_order)
        return t->compared[0].sides[0]->n > MOST_SORTED
                   ? eval_reason(&t->ctx, REASON_TOO_LARGE, "%lld elements in any order",
                                 (long long)t->compared[0].sides[0]->n)
                   : elements_ask(t, MOST_SORTED, most);
    struct bounds b = {.n = 0};
    find_bounds(t, &b);
    uint32_t least = b.parts ? LEAST_IN_PARTS : LEAST_ELEMENTS;
    if (!elements_ask(t, least, most))
        return false;
    t->least = demand_size(t->demand);
    double few = t->least, little_more = fmin(dear, fmax(modest, 1.5 * few));
    const struct {
        uint32_t most;
        double read;
    } tries[] = {{ALL_ELEMENTS, all ? most_read : 0},
                 {ALL_ELEMENTS / 4, all ? most_read : 0},
                 {MOST_ELEMENTS, cheap},
                 {SOME_ELEMENTS, little_more},
                 {FEW_ELEMENTS, little_more}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (few < tries[i].read && elements_ask(t, tries[i].most, tries[i].read))
            return true;
    return (t->p->nloose && elements_ask(t, RUN_ELEMENTS, most)) || t->demand || elements_ask(t, least, most);
}
