/* What a match binds: its root is searched again, and a search that succeeded leaves its bindings in place. */
#include "search/match/cache.h"
#include "search/match/matcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct matcher *binding_query_new(const struct graph *g, const char *prefix) {
    struct matcher *m = matcher_new(g, NONE, UINT64_MAX, NULL);
    m->prefix = prefix;
    return m;
}

void binding_query_free(struct matcher *query) {
    matcher_free(query);
}

/* The rules that hold for the match and speak of nothing that it lacks, filled in. */
static struct str_list rules_text(struct evaluation *e, const struct note_rule *rules, uint32_t n) {
    struct str *lines = arena_alloc(e->arena, (n + 1) * sizeof *lines);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!rules[i].when || evaluates_to_true(e, rules[i].when))
            count += fill_in(e, rules[i].say, &lines[count]);
    return (struct str_list){lines, count};
}

static void add_claim(struct matcher *m, struct match_detail *out) {
    struct evaluation e = match_evaluation(m, m->found.ops, m->found.nops);
    const struct pattern *p = m->pattern;
    out->undone = rules_text(&e, p->undone, p->nundone);
    for (uint32_t i = 0; i < p->nnotes; i++)
        out->unmade |= p->notes[i].unmade && evaluates_to_true(&e, p->notes[i].when);
}

static void add_moved(struct matcher *m, struct match_detail *out) {
    struct evaluation e = match_evaluation(m, m->found.ops, m->found.nops);
    const struct pattern *p = m->pattern;
    uint32_t *values = arena_alloc(m->arena, (p->formula.nslots + (size_t)1) * sizeof *values);
    for (uint32_t i = 0; i < p->nnotes; i++) {
        const struct note_rule *rule = &p->notes[i];
        for (uint32_t k = 0; k < rule->nmoves && evaluates_to_true(&e, rule->when); k++) {
            uint32_t v = out->slots[rule->moves[k]].value, at = 0;
            while (at < out->nmoved && values[at] != v)
                at++;
            values[at] = v;
            out->nmoved += v != NONE && at == out->nmoved;
        }
    }
    out->moved = values;
}

static void add_notes(struct matcher *m, struct match_detail *out) {
    struct evaluation e = match_evaluation(m, m->found.ops, m->found.nops);
    const struct pattern *p = m->pattern;
    out->remarks = rules_text(&e, p->notes, p->nnotes);
    out->outside = rules_text(&e, p->outside, p->noutside);
    out->blocked = rules_text(&e, p->block, p->nblock);
    out->decomposed = !match_none_holds(&e, p->decomposed, p->ndecomposed);
    struct str_list torch = rules_text(&e, p->torch, p->ntorch);
    if (torch.n)
        out->torch = torch.items[0];
    bool known = true;
    e.python = &known;
    out->call = rules_text(&e, p->call, p->ncall);
    if (!known)
        out->call.n = 0;
}

/* What is equal in a value that the fused op takes a slice of. */
static const char *equal_parts(const struct binding *b) {
    struct imap last, before;
    axes_axis(b->axes, -1, &last);
    axes_axis(b->axes, -2, &before);
    bool row = imap_touches(b->needed, &last), column = imap_touches(b->needed, &before);
    return b->needed->n == 0                                 ? "the elements"
           : !row && imap_touches(b->map, &last)             ? "the columns"
           : row && !column && imap_touches(b->map, &before) ? "the rows"
                                                             : "parts";
}

/* Which conditions of the match or of its notes rely on. */
static void add_slices(const struct matcher *m, struct match_detail *out) {
    const struct assumptions *assumed = &m->state.assumed;
    struct str *lines = arena_alloc(m->arena, (assumed->nsliced + 1) * sizeof *lines);
    uint32_t n = 0;
    for (uint32_t k = 0; k < assumed->nsliced; k++) {
        uint32_t i = 0;
        while (i < out->nslots && out->slots[i].value != assumed->sliced[k])
            i++;
        if (i == out->nslots || graph_constant(m->g, assumed->sliced[k]).known)
            continue;
        struct str label = value_label(m->g, assumed->sliced[k], m->arena);
        lines[n++] = arena_printf(m->arena, "%s of %.*s are equal: a slice is taken.", equal_parts(&out->slots[i]),
                                  (int)label.n, label.p);
    }
    out->slices = (struct str_list){lines, n};
}

static struct str precondition_text(const struct graph *g, const struct precondition *p, struct arena *a) {
    struct str label = value_label(g, p->argument, a);
    if (p->parameter)
        return arena_printf(a, "%.*s is a parameter", (int)label.n, label.p);
    if (isnan(p->number))
        return arena_printf(a, "%.*s holds one known number in every element", (int)label.n, label.p);
    return arena_printf(a, "every element of %.*s is %.9g", (int)label.n, label.p, p->number);
}

/* Each text once: numbers may differ in more digits than are printed. */
static void add_preconditions(const struct matcher *m, struct match_detail *out) {
    const struct assumptions *assumed = &m->state.assumed;
    struct str *lines = arena_alloc(m->arena, (out->nassumed + 1) * sizeof *lines);
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->nassumed; i++) {
        struct str text = precondition_text(m->g, &assumed->preconditions[i], m->arena);
        bool known = false;
        for (uint32_t k = 0; k < n; k++)
            known |= str_eq(lines[k], text);
        if (!known)
            lines[n++] = text;
    }
    out->preconditions = (struct str_list){lines, n};
}

static const struct imap *copied_map(struct arena *a, const struct imap *map) {
    struct imap *copy = map ? arena_alloc(a, sizeof *copy) : NULL;
    if (copy)
        imap_copy(copy, map);
    return copy;
}

static const struct axes *copied_axes(struct arena *a, const struct axes *axes) {
    struct axes *copy = axes ? arena_alloc(a, sizeof *copy) : NULL;
    if (copy)
        axes_copy(copy, axes);
    return copy;
}

/* Maps and axes are in scratch space. */
static void add_bindings(const struct matcher *m, struct match_detail *out) {
    uint32_t n = m->pattern->formula.nslots;
    struct binding *slots = arena_alloc(m->arena, (n + 1) * sizeof *slots);
    for (uint32_t i = 0; i < n; i++) {
        slots[i] = m->state.slots[i];
        slots[i].map = copied_map(m->arena, slots[i].map);
        slots[i].needed =
            m->state.slots[i].needed == m->state.slots[i].map ? slots[i].map : copied_map(m->arena, slots[i].needed);
        slots[i].axes = copied_axes(m->arena, slots[i].axes);
    }
    out->slots = slots;
    out->nslots = n;
}

static void add_constants(const struct matcher *m, struct match_detail *out) {
    const struct assumptions *assumed = &m->state.assumed;
    struct assumed_constant *constants = arena_alloc(m->arena, (assumed->nconstants + 1) * sizeof *constants);
    memcpy(constants, assumed->constants, assumed->nconstants * sizeof *constants);
    out->constants = constants;
    out->nconstants = assumed->nconstants;
}

static bool same_ops(const struct match *a, const struct match *b) {
    return a->nops == b->nops && memcmp(a->ops, b->ops, a->nops * sizeof *a->ops) == 0;
}

bool binding_query_run(struct matcher *query, const struct match *m, struct arena *a, struct match_detail *out) {
    struct search_record record = {.answers = NULL};
    *out = (struct match_detail){0};
    query->func = m->func;
    query->arena = a;
    query->record = &record;
    bool found = match_at(query, m->pattern->is_variant ? m->pattern->variant_of : m->pattern, m->root) &&
                 same_ops(&query->found, m);
    if (found) {
        out->nassumed = query->state.assumed.npreconditions;
        add_bindings(query, out);
        add_claim(query, out);
        add_moved(query, out);
        add_constants(query, out);
        out->named = record.elsewhere;
        out->answers = answers_from(record.answers, record.nanswers, match_first_op(m), a);
        out->nanswers = record.nanswers;
    }
    query->record = NULL;
    free(record.answers);
    return found;
}

void binding_query_say(struct matcher *query, struct match_detail *out) {
    add_preconditions(query, out);
    add_notes(query, out);
    add_slices(query, out);
    add_constants(query, out); /* of the conditions of these rules too */
}

bool match_details(const struct match *m, struct arena *a, struct match_detail *out) {
    struct matcher *query = binding_query_new(m->graph, NULL);
    bool found = binding_query_run(query, m, a, out);
    if (found)
        binding_query_say(query, out);
    binding_query_free(query);
    return found;
}

static bool is_of_spaces(const struct imap *axis, uint32_t first, uint32_t end) {
    bool is = axis->n > 0;
    for (uint32_t i = 0; i < axis->n; i++)
        is &= axis->t[i].space >= first && axis->t[i].space < end;
    return is;
}

bool match_axis_is_cut(const struct imap *axis) {
    return is_of_spaces(axis, FRESH_SPACE, WHOLE_SPACE);
}

bool match_axis_is_reduced(const struct imap *axis) {
    return is_of_spaces(axis, REDUCED_SPACE, FRESH_SPACE);
}
