#include "verify/region.h"

/* One walk from the two values backwards. */
struct region_walk {
    struct cut_region *r;
    const struct cuts *c;
    bool assumed;
    uint32_t stack[4 * MAX_REGION_STEPS], n;
};

/* The value of BEFORE that stands for a value at which the walk ends; NONE: it goes on. */
static uint32_t cut_at(const struct region_walk *w, int side, uint32_t value) {
    uint8_t cut = w->c->cut[side][value];
    uint32_t before = side == AFTER ? w->c->before_of[value] : value;
    bool compared = value == (side ? w->r->after : w->r->before) && w->c->side[side].values[value].step != NONE;
    if (cut == CUT_NONE || (cut == CUT_ASSUMED && !w->assumed) || compared)
        return NONE;
    return has_id(w->r->expanded, w->r->nexpanded, before) ? NONE : before;
}

static bool fail(struct cut_region *r, const char *why) {
    r->why = why;
    return false;
}

static bool add_input(struct region_walk *w, int side, uint32_t value, uint32_t before) {
    struct cut_region *r = w->r;
    uint32_t i = 0;
    while (i < r->ninputs && r->inputs[i] != before)
        i++;
    if (i == MAX_REGION_INPUTS)
        return fail(r, "too many operands");
    if (i == r->ninputs) {
        r->inputs[r->ninputs++] = before;
        r->used[i] = 0;
    }
    r->used[i] |= (uint8_t)(1 << side);
    if (side == AFTER && !has_id(r->reached, r->nreached, value)) {
        if (r->nreached == MAX_REGION_INPUTS)
            return fail(r, "too many operands");
        r->reached[r->nreached++] = value;
    }
    r->assumes |= w->c->cut[side][value] == CUT_ASSUMED;
    return true;
}

static bool visit(struct region_walk *w, int side, uint32_t value) {
    struct cut_region *r = w->r;
    const struct flat *f = &w->c->side[side];
    uint32_t before = cut_at(w, side, value), step = f->values[value].step;
    if (before != NONE)
        return add_input(w, side, value, before);
    if (step == NONE)
        return fail(r, "an argument that only one of the modules has");
    if (has_id(r->steps[side], r->nsteps[side], step))
        return true;
    if (r->nsteps[side] == MAX_REGION_STEPS)
        return fail(r, "too many ops without a cut point");
    r->steps[side][r->nsteps[side]++] = step;
    for (uint32_t i = 0; i < f->steps[step].noperands; i++) {
        uint32_t v = flat_operands(f, step)[i];
        if (v == NONE)
            continue;
        if (w->n == sizeof w->stack / sizeof *w->stack)
            return fail(r, "too many ops without a cut point");
        w->stack[w->n++] = v;
    }
    return true;
}

static bool walk_side(struct region_walk *w, int side) {
    w->n = 0;
    w->stack[w->n++] = side == AFTER ? w->r->after : w->r->before;
    while (w->n > 0)
        if (!visit(w, side, w->stack[--w->n]))
            return false;
    sort_ids(w->r->steps[side], w->r->nsteps[side]);
    return true;
}

bool region_build(struct cut_region *r, const struct cuts *c, bool assumed) {
    struct region_walk w = {.r = r, .c = c, .assumed = assumed};
    r->nsteps[BEFORE] = r->nsteps[AFTER] = r->ninputs = r->nreached = 0;
    r->assumes = false;
    r->why = NULL;
    return walk_side(&w, AFTER) && walk_side(&w, BEFORE);
}

/* Some op makes the value, so that it need not be an input. */
static bool is_made(const struct cuts *c, uint32_t before) {
    uint32_t step = c->side[BEFORE].values[before].step;
    return step != NONE && !op_generates(flat_kind(&c->side[BEFORE], step));
}

/* Expands inputs of which `used` is not both sides, or all. */
static bool expand(struct cut_region *r, const struct cuts *c, bool all) {
    uint32_t before = r->nexpanded;
    for (uint32_t i = 0; i < r->ninputs && r->nexpanded < MAX_EXPANDED; i++)
        if ((all || r->used[i] != (1 << BEFORE | 1 << AFTER)) && is_made(c, r->inputs[i]))
            r->expanded[r->nexpanded++] = r->inputs[i];
    return r->nexpanded > before;
}

bool region_grow(struct cut_region *r, const struct cuts *c, bool assumed, bool all) {
    return ((!all && expand(r, c, false)) || expand(r, c, true)) && region_build(r, c, assumed);
}
