#include "report/parts.h"

#include <stdlib.h>

#include "patterns/library/choose.h"
#include "patterns/library/signs.h"
#include "search/match/fingerprint.h"

static bool takes_a_number(const struct match *m) {
    for (uint32_t i = 0; i < m->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(m->graph, m->ops[i]); k++) {
            uint32_t v = graph_operands(m->graph, m->ops[i])[k];
            if (v != NONE && graph_constant(m->graph, v).known)
                return true;
        }
    return false;
}

/* That it was not made is a sign of the pass not having run: a module has that op only where it did, or the pass looks
 * at no number that could keep it. */
bool tells_of_fusing(const struct pattern_set *set, const struct match *m) {
    return is_sign_by_name(set, m->pattern->fused_op) || !takes_a_number(m);
}

/* ---- places of one kind ---- */

uint64_t kind_key(const struct describer *by, const struct match *m) {
    const struct findings *f = by->f;
    uint64_t function = m->func == NONE ? 0 : f->selection.matches.alike[m->func];
    return function && !f->origins.pairing.ttir && !f->measured ? match_alike(m, function) : 0;
}

struct kind *known_kind(struct describer *by, const struct match *m, uint64_t key) {
    struct kind *k = &by->kinds[key % KIND_SLOTS];
    return known_place_is(&k->place, key, m) ? k : NULL;
}

void keep_kind(struct describer *by, uint64_t key, const struct match_detail *d, struct kind kind) {
    if (known_place_keep(&kind.place, key, d, &by->kept))
        by->kinds[key % KIND_SLOTS] = kind;
}

/* ---- what options make at parts of places that take more ---- */

/* Per op: bits of the places that it belongs to. To be freed. */
enum { REPORTED = 1, BY_OPTIONS = 2 };

static uint8_t *mark_places(const struct describer *by, const struct report *r) {
    const struct match_list *list = &by->f->selection.matches;
    uint8_t *marks = xcalloc(by->f->graph->m->nops + (size_t)1, sizeof *marks);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match *m = &list->items[i];
        const struct finding *f = by->finding_of[i] == NONE ? NULL : r->findings.items[by->finding_of[i]];
        for (uint32_t k = 0; k < m->nops && f; k++)
            marks[m->ops[k]] |= f->todo.kind == TODO_OPTION ? BY_OPTIONS : f->counted ? REPORTED : 0;
    }
    return marks;
}

/* The dialect has it, and it shares ops with places that take more than options alone. */
static bool is_part(const struct describer *by, const struct match *m, const uint8_t *marks) {
    uint8_t any = 0;
    for (uint32_t k = 0; k < m->nops; k++)
        any |= marks[m->ops[k]];
    return any == REPORTED && pattern_reach(m->pattern) == REACH_DIALECT &&
           source_wanted(&by->options->patterns, m->pattern);
}

bool part_is_missed(const struct describer *by, const struct report *r) {
    const struct match_list *all = &by->f->selection.gave_way;
    uint8_t *marks = mark_places(by, r);
    bool missed = false;
    for (uint32_t i = 0; i < all->n && !missed; i++) {
        const struct match *m = &all->items[i];
        struct claim claim = {.set = by->f->patterns, .pattern = m->pattern, .before = by->notes.before_passes};
        missed = is_part(by, m, marks) && claim_is_optional(&claim) && tells_of_fusing(by->f->patterns, m);
    }
    free(marks);
    return missed;
}

static struct promise part_of(struct describer *by, const struct match *m, enum fusing fusing, struct report *r) {
    const struct match *origin = NULL;
    struct match_detail detail = {0};
    uint64_t key = kind_key(by, m);
    struct kind *known = known_kind(by, m, key);
    struct promise part = {.option = STR("")};
    if (known)
        return known->part;
    if (by->f->origins.pairing.ttir)
        (void)origin_segment(&by->f->origins, m, &by->arena, &origin);
    binding_query_run(by->query, m, &by->arena, &detail);
    struct claim claim = claim_of(&by->notes, m, origin, &detail, &by->arena);
    if (claim.fusing != FUSING_ON)
        claim.fusing = fusing;
    claim.many = by->f->unfused && by->f->origins.pairing.ttir;
    struct todo todo = todo_of(&claim, &by->arena);
    if (todo.kind == TODO_OPTION && !todo.then.n) {
        struct price price = price_match(&by->pricer, m, &detail);
        part.option = arena_str(&r->arena, todo.what);
        part.spelled = arena_str(&r->arena, todo.spelled);
        part.saved = price_saved_by_pass_us(&price);
        part.at_most = todo.at_most;
    }
    keep_kind(by, key, &detail, (struct kind){.part = part});
    arena_reset(&by->arena);
    return part;
}

/* Of the place that takes one of its ops: a part saves no more than what of that is left. */
static void add_part(const struct describer *by, const struct match *m, uint32_t first, double *left,
                     struct promise part, struct report *r) {
    uint32_t k = 0;
    while (k < m->nops && !by->taken[m->ops[k]])
        k++;
    if (k == m->nops)
        return;
    uint32_t taker = by->taken[m->ops[k]] - 1;
    double *rest = &left[taker - first];
    part.saved = part.saved < *rest ? part.saved : *rest;
    *rest -= part.saved;
    part.of = r->findings.items[taker];
    r->parts = grow(r->parts, &r->parts_cap, r->nparts + 1, sizeof *r->parts);
    r->parts[r->nparts++] = part;
}

void count_parts(struct describer *by, enum fusing fusing, uint32_t first, struct report *r) {
    const struct match_list *all = &by->f->selection.gave_way;
    struct match_list list = {0};
    uint8_t *marks = mark_places(by, r);
    double *left = xcalloc(r->findings.n - first + (size_t)1, sizeof *left);
    for (uint32_t i = first; i < r->findings.n; i++)
        left[i - first] = r->findings.items[i]->saved_us * r->findings.items[i]->counted;
    for (uint32_t i = 0; i < all->n; i++)
        if (is_part(by, &all->items[i], marks) && part_of(by, &all->items[i], fusing, r).option.n)
            match_list_add(&list, &all->items[i]);
    match_resolve(&list, NULL, NULL);
    for (uint32_t i = 0; i < list.n; i++)
        add_part(by, &list.items[i], first, left, part_of(by, &list.items[i], fusing, r), r);
    free(list.items);
    free(marks);
    free(left);
}
