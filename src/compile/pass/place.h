/* A place as two modules show it: the ops that a fused op replaces, and the ops that are written for them.
 *
 * The ops are read from the roots back to what the fused form reads, and to constants. What only reshapes or casts is
 * looked through: the others are steps. */
#ifndef FA_PASS_PLACE_H
#define FA_PASS_PLACE_H

#include "compile/apply/prove_rewrite.h"

enum { MAX_ROOTS = 8, MAX_STEPS = 64 };

struct pass_place {
    struct arena *arena;
    const struct graph *g, *f; /* before; with the fused form */
    uint32_t func, fused_func;
    uint32_t *value_of; /* per value of f: that of g; NONE: it is new */
    bool *is_new;       /* per op of f */
    uint32_t roots[MAX_ROOTS], nroots;
    bool *matched;    /* per op of g: it is one of those that go */
    bool *read;       /* per value of g: the form takes it */
    bool *step;       /* per op of g: matched, and named by the code; the others are looked through */
    uint32_t *inside; /* per value of g: how often matched ops take it */
};

/* False: the two are no such pair, *why says so. */
bool pass_place_read(struct pass_place *p, const struct graph *before, const struct graph *fused, struct arena *a,
                     struct str *why);

static inline uint32_t place_def(const struct pass_place *p, uint32_t value) {
    return p->g->m->values[value].def;
}
static inline bool place_escapes(const struct pass_place *p, uint32_t value) {
    return graph_nuses(p->g, value) > p->inside[value];
}
/* A constant that is no operand of the form: a number in all elements. */
static inline bool place_constant(const struct pass_place *p, uint32_t value) {
    return !p->read[value] && graph_constant(p->g, value).known;
}
/* A matched op makes it, and the form does not take it. */
static inline bool place_inner(const struct pass_place *p, uint32_t value) {
    return place_def(p, value) != NONE && p->matched[place_def(p, value)] && !p->read[value];
}
/* What is behind the ops that are looked through. */
uint32_t place_behind(const struct pass_place *p, uint32_t value);
static inline bool place_reshapes(const struct graph *g, uint32_t op) {
    return graph_movement(g, op) == MOVEMENT_RESHAPE;
}
/* It only reshapes or casts. */
static inline bool place_leads_on(const struct graph *g, uint32_t op) {
    return place_reshapes(g, op) || graph_class(g, op) == OP_CAST;
}

#endif
