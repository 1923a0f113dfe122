/* Prints the subgraph of a match in small extents, changes the text and proves the match that is found in it. */
#include "prove/variation.h"

#include <string.h>

#include "prove/prove.h"
#include "prove/rematch.h"

/* Random places at which an op is dropped or inserted: at most of them the pattern does not match the result. */
enum { MAX_PLACES = 12 };

/* Replaces the element types of all tensors. Constants are printed as f64 and cast (print_module.h), so their numbers
 * stay what they are. */
static struct str with_types(struct str text, enum variation_types types, struct arena *a) {
    static const struct {
        const char *from, *to[TYPES_COUNT];
    } names[] = {{"xbf16>", {"xbf16>", "xf32>", "xf16>"}}, {"xf32>", {"xf32>", "xbf16>", "xf16>"}}};
    struct buf out = {0};
    for (size_t i = 0; i < text.n;) {
        const char *to = NULL;
        size_t length = 1;
        for (size_t k = 0; k < sizeof names / sizeof *names && !to; k++)
            if (str_starts((struct str){text.p + i, text.n - i}, str_of(names[k].from))) {
                to = names[k].to[types];
                length = strlen(names[k].from);
            }
        buf_add(&out, to ? str_of(to) : (struct str){text.p + i, 1});
        i += length;
    }
    return buf_take(&out, a);
}

/* Proves one module of the variation. False where there is none for this seed, or the match is not found in it. */
static bool prove_changed(const struct pattern_set *set, const struct match *m, const struct variation *v,
                          const struct subgraph *s, const struct extents *e, uint64_t seed, struct arena *a,
                          struct proved *out) {
    struct print_options how = {.pattern = m->pattern, .scale_constants = true};
    struct mutation mu = {v->change, seed, NONE};
    struct printed_module w;
    struct str why;
    if (!subgraph_print(s, e, &how, a, &w, &why) || (v->change && !mutate(&mu, s, m, a, &w)))
        return false;
    w.text = with_types(w.text, v->types, a);
    struct rematch *r = arena_alloc(a, sizeof *r);
    bool found = rematch_find(r, set, m, s, &w, v->change ? &mu : NULL, a);
    if (found)
        *out = prove_function(set, &r->match, v->seed, a);
    rematch_free(r);
    return found;
}

static struct proved prove_any(const struct pattern_set *set, const struct match *m, const struct variation *v,
                               struct subgraph *s, struct arena *a) {
    struct shrink_options options = {.which = v->which};
    struct extents small;
    struct proved verdict;
    struct str why = STR("");
    int places = v->change == CHANGE_DROP || v->change == CHANGE_INSERT ? MAX_PLACES : 1;
    if (!subgraph_of_match(m, s, &why) || !extents_shrink(s, &options, &small, &why) ||
        extents_cost(s, &small) > MAX_SMALL_COST)
        return (struct proved){.text = why};
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
