/* Makes the subgraph of a match in small extents, with the change, and proves the match that is found in it. */
#include "proof/prove/variation.h"

#include "proof/prove/prove.h"
#include "proof/prove/rebind.h"

/* Random places at which an op is dropped or inserted: at most of them the pattern does not match the result. */
enum { MAX_PLACES = 12 };

/* Proves one module of the variation. False where there is none for this seed, or the match is not found in it. */
static bool prove_changed(const struct pattern_set *set, const struct match *m, const struct variation *v,
                          const struct subgraph *s, const struct extents *e, uint64_t seed, struct arena *a,
                          struct proved *out) {
    struct edit edit = edit_none(v->types);
    struct resize_options how = {.pattern = m->pattern, .scaling = SCALE_ALL, .edit = &edit};
    struct resized w;
    struct rebound *r = arena_alloc(a, sizeof *r);
    struct reason why;
    if (!edit_choose(&edit, v->change, seed, s, m, a))
        return false;
    bool found = subgraph_resize(s, e, &how, a, &w, &why);
    if (found && v->change)
        found = match_search_edited(set, m, s, &w, &edit, a, r);
    else if (found)
        match_rebind(m, s, &w, a, r);
    if (found)
        *out = prove_function(set, &r->match, v->seed, a);
    graph_free(&r->graph);
    mlir_free(&w.ir);
    return found && !out->lost;
}

static struct proved prove_any(const struct pattern_set *set, const struct match *m, const struct variation *v,
                               struct subgraph *s, struct arena *a) {
    struct shrink_options options = {.which = v->which};
    struct extents small;
    struct proved verdict;
    struct reason why = {.text = STR("")};
    int places = v->change == CHANGE_DROP || v->change == CHANGE_INSERT ? MAX_PLACES : 1;
    if (!subgraph_of_match(m, s, &why) || !extents_shrink(s, &options, &small, &why) ||
        extents_cost(s, &small) > MAX_SMALL_COST)
        return (struct proved){.text = why.text};
    for (int i = 0; i < places; i++)
        if (prove_changed(set, m, v, s, &small, seed_of(v->seed, (uint64_t)i), a, &verdict))
            return verdict;
    return (struct proved){.text = STR("the match is not found in it")};
}

struct proved prove_variation(const struct pattern_set *set, const struct match *m, const struct variation *v,
                              struct arena *a) {
    struct arena scratch = {0};
    struct subgraph s;
    struct proved verdict = prove_any(set, m, v, &s, &scratch);
    if (verdict.kind == VERDICT_DIFFERENT)
        verdict.text = original_names(&s, verdict.text, &scratch);
    verdict.text = arena_str(a, verdict.text);
    arena_free(&scratch);
    return verdict;
}
