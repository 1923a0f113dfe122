#include "compile/apply/choose.h"

#include <stdlib.h>
#include <string.h>

#include "patterns/library/choose.h"

static bool is_assumed(const struct fa_apply_options *o, const struct pattern *p) {
    for (struct str rest = str_of(o->assume); rest.n;) {
        struct str glob = str_item(&rest);
        if (str_is(glob, "all") || str_matches(p->name, glob) || str_matches(p->fused_op, glob))
            return true;
    }
    return false;
}

/* The first precondition of the match, or what its claim leaves out; empty: it has none. */
static struct str precondition_of(const struct match_detail *d, struct arena *a) {
    if (d->preconditions.n)
        return d->preconditions.items[0];
    if (d->outside.n)
        return d->outside.items[0];
    for (uint32_t i = 0; i < d->remarks.n; i++)
        if (str_starts(d->remarks.items[i], STR("precondition: ")))
            return arena_str(a, (struct str){d->remarks.items[i].p + 14, d->remarks.items[i].n - 14});
    return STR("");
}

/* The elements of an argument are assumed, of which a comparison of modules knows nothing. */
static bool assumes_elements(const struct match *m, const struct match_detail *d) {
    bool found = false;
    for (uint32_t i = 0; i < m->pattern->nholds; i++)
        found |= d->slots[m->pattern->holds[i].slot].value != NONE;
    return found;
}

static uint32_t *kept_ids(const uint32_t *ids, uint32_t n, struct arena *a) {
    uint32_t *kept = arena_alloc(a, (n + (size_t)1) * sizeof *kept);
    return n ? memcpy(kept, ids, n * sizeof *kept) : kept;
}

/* What was written, for as long as the module. */
static void keep_texts(struct replacement *x, struct arena *a) {
    struct str *const texts[] = {&x->text, &x->why, &x->indent, &x->functions, &x->alias, &x->unknown};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(a, *texts[i]);
    x->reads = kept_ids(x->reads, x->nreads, a);
    x->moved = kept_ids(x->moved, x->nmoved, a);
    struct str taken = {(const char *)x->taken, x->ntaken * sizeof *x->taken};
    x->taken = taken.n ? memcpy(arena_alloc(a, taken.n), taken.p, taken.n) : NULL;
}

/* What has to be assumed, and is not; empty: nothing. */
static struct str not_assumed(const struct choosing *c, const struct match *m, const struct match_detail *d,
                              struct arena *a) {
    struct str precondition = precondition_of(d, a);
    if (!precondition.n || is_assumed(c->options, m->pattern))
        return STR("");
    return arena_printf(a, "--assume=%.*s accepts this: %.*s", (int)m->pattern->name.n, m->pattern->name.p,
                        (int)precondition.n, precondition.p);
}

static void write_one(const struct choosing *c, struct arena *a, struct replacement *out) {
    const struct match *m = out->match;
    struct arena scratch = {0}; /* the proof is large */
    struct reading *r = arena_alloc(&scratch, sizeof *r);
    bool found = reading_find(r, c->how->patterns, m, out->known, &scratch, &out->why);
    struct str assumption = found ? not_assumed(c, m, &r->ref.bound, &scratch) : STR("");
    struct str precondition = found ? precondition_of(&r->ref.bound, &scratch) : STR("");
    if (!found)
        out->why = arena_printf(&scratch, "it is not proved: %.*s", (int)out->why.n, out->why.p);
    else if (assumption.n)
        out->why = assumption;
    else if (assumes_elements(m, &r->ref.bound))
        out->why = arena_printf(&scratch, "the module with it cannot be compared: it holds %s%.*s",
                                precondition.n ? "where " : "for these elements of a constant alone",
                                (int)precondition.n, precondition.p);
    else
        replace_match(c->how, r, &scratch, out);
    keep_texts(out, a);
    arena_free(&scratch);
}

/* ---- candidates ---- */

static bool is_asked_for(const struct choosing *c, const struct match *m) {
    bool asked = !c->asked;
    for (uint32_t i = 0; i < m->nops && !asked; i++)
        asked = c->asked[m->ops[i]];
    return asked && pattern_reach(m->pattern) == REACH_DIALECT;
}

/* `verdicts`: of those that are reported, else NULL. Where one is proved, or not told of, what is missing is an
 * assumption. */
static uint32_t add_candidates(const struct choosing *c, const struct match_list *list, const struct proved *verdicts,
                               struct arena *a, struct replacement *out) {
    struct matcher *query = binding_query_new(c->pricer->graph, NULL);
    struct match_detail detail;
    struct arena scratch = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match *m = &list->items[i];
        arena_reset(&scratch);
        if (!is_asked_for(c, m) || !binding_query_run(query, m, &scratch, &detail))
            continue;
        binding_query_say(query, &detail);
        struct price price = price_match(c->pricer, m, &detail);
        if (!price_is_slower(&price) || included(&c->options->patterns, "slower"))
            out[n++] = (struct replacement){.match = m,
                                            .saved_us = price_saved_us(&price),
                                            .reported = verdicts != NULL,
                                            .known = verdicts ? verdicts[i].reading : NULL};
        if (n && out[n - 1].match == m && (!verdicts || verdicts[i].kind == VERDICT_SAME))
            out[n - 1].why = arena_str(a, not_assumed(c, m, &detail, &scratch));
    }
    binding_query_free(query);
    arena_free(&scratch);
    return n;
}

static int by_saving(const void *pa, const void *pb) {
    const struct replacement *a = pa, *b = pb;
    if (a->saved_us != b->saved_us)
        return a->saved_us > b->saved_us ? -1 : 1;
    if (a->reported != b->reported)
        return a->reported ? -1 : 1;
    return a->match->root < b->match->root ? -1 : a->match->root > b->match->root;
}

static int by_place(const void *pa, const void *pb) {
    const struct replacement *a = pa, *b = pb;
    return a->match->root < b->match->root ? -1 : a->match->root > b->match->root;
}

struct replacement *choose(const struct choosing *c, const struct selection *s, struct arena *a, uint32_t *n) {
    const struct graph *g = c->pricer->graph;
    struct replacement *all = xcalloc(s->matches.n + s->gave_way.n + (size_t)1, sizeof *all);
    uint8_t *marks = arena_alloc(a, g->m->nops + (size_t)1);
    uint32_t nall = add_candidates(c, &s->matches, s->verdicts, a, all);
    nall += add_candidates(c, &s->gave_way, NULL, a, all + nall);
    qsort(all, nall, sizeof *all, by_saving);
    *n = 0;
    for (uint32_t i = 0; i < nall; i++) {
        struct replacement *x = &all[i];
        if (match_excluded(x->match, marks))
            x->why = STR("a fused op that takes part of its ops saves more");
        else if (!x->why.n)
            write_one(c, a, x);
        x->written = x->text.n > 0;
        if (x->written)
            match_mark(x->match, marks);
        if (x->written || x->reported)
            all[(*n)++] = *x;
    }
    qsort(all, *n, sizeof *all, by_place);
    struct replacement *kept = memcpy(arena_alloc(a, (*n + (size_t)1) * sizeof *all), all, *n * sizeof *all);
    free(all);
    return kept;
}
