#include "proof/prove/reading.h"

#include "proof/equal/shapes.h"
#include "proof/prove/fused_form.h"
#include "proof/prove/prove.h"
#include "proof/prove/rebind.h"

/* The match in these extents as a module of its own, proved there. NULL with a reason; *again where it does not match
 * there. */
static const struct proof *prove_in(const struct pattern_set *set, const struct match *m, const struct subgraph *s,
                                    const struct extents *e, struct arena *a, struct reason *why, bool *again) {
    struct rebound *r = arena_alloc(a, sizeof *r);
    struct resized *w = arena_alloc(a, sizeof *w);
    struct resize_options how = {.pattern = m->pattern, .scaled = true};
    struct proof *p = NULL;
    if (subgraph_resize(s, e, &how, a, w, why)) {
        match_rebind(m, s, w, a, r);
        p = proof_new(set, &r->match, 0, a);
        struct verdict v = proof_run(p);
        *again = v.kind == VERDICT_NONE;
        if (v.kind != VERDICT_SAME) {
            *why = v.why;
            p = NULL;
        }
        graph_free(&r->graph);
    }
    mlir_free(&w->ir);
    return p;
}

enum { MOST_EXTENTS = 4 };

/* In other extents where the pattern does not match in the smallest: a condition may ask for a multiple. */
static const struct proof *prove_small(const struct pattern_set *set, const struct match *m, struct arena *a,
                                       struct reason *why) {
    struct subgraph *s = arena_alloc(a, sizeof *s);
    struct extents *e = arena_alloc(a, sizeof *e);
    struct shapes_question shapes = {.subgraph = s};
    struct reason other = {.text = STR("")};
    const struct proof *p = NULL;
    bool again = subgraph_of_match(m, s, why);
    for (; shapes.number < MOST_EXTENTS && again; shapes.number++) {
        struct reason *reason = shapes.number ? &other : why;
        again = shapes.number > 0;
        if (shapes_choose(&shapes, false, MAX_SMALL_COST, e, reason))
            p = prove_in(set, m, s, e, a, reason, &again);
    }
    if (p)
        *why = (struct reason){.text = STR("")};
    return p;
}

bool reading_find(struct reading *out, const struct pattern_set *set, const struct match *m, struct arena *a,
                  struct str *why) {
    struct reason reason;
    const struct proof *p = prove_small(set, m, a, &reason);
    *why = reason.text;
    *out = (struct reading){.ref = {.set = set, .match = m, .arena = a}};
    if (!p)
        return false;
    if (!match_details(m, a, &out->ref.bound) || !form_prepare(&out->form, p->form.formula, &out->ref) ||
        p->frame >= out->form.nframes) {
        *why = STR("the place is read in another way than its proof");
        return false;
    }
    out->frame = out->form.frames[p->frame];
    out->choice = p->choice;
    out->excluded = p->ref.problem.excluded;
    return true;
}
