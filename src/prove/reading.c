#include "prove/reading.h"

#include "equal/shapes.h"
#include "prove/fused_form.h"
#include "prove/prove.h"
#include "prove/rebind.h"
#include "prove/variation.h"

/* The match as a small module of its own, proved there. NULL with a reason. */
static const struct proof *prove_small(const struct pattern_set *set, const struct match *m, struct arena *a,
                                       struct str *why) {
    struct subgraph *s = arena_alloc(a, sizeof *s);
    struct rebound *r = arena_alloc(a, sizeof *r);
    struct resized *w = arena_alloc(a, sizeof *w);
    struct extents *e = arena_alloc(a, sizeof *e);
    struct shapes_question shapes = {.subgraph = s};
    struct resize_options how = {.pattern = m->pattern, .scale_constants = true};
    struct proof *p = NULL;
    if (subgraph_of_match(m, s, why) && shapes_choose(&shapes, false, MAX_SMALL_COST, e, why) &&
        subgraph_resize(s, e, &how, a, w, why)) {
        match_rebind(m, s, w, a, r);
        p = proof_new(set, &r->match, 0, a);
        struct verdict v = proof_run(p);
        if (v.kind != VERDICT_SAME) {
            *why = v.text;
            p = NULL;
        }
        graph_free(&r->graph);
    }
    mlir_free(&w->ir);
    return p;
}

bool reading_find(struct reading *out, const struct pattern_set *set, const struct match *m, struct arena *a,
                  struct str *why) {
    const struct proof *p = prove_small(set, m, a, why);
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
