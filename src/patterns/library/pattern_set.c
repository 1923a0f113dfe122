/* The set of patterns of a run: replacing and switching off earlier ones, selection by globs, and the index by the
 * operator of the root. */
#include <stdlib.h>
#include <string.h>

#include "patterns/library/image.h"
#include "patterns/library/loader.h"

const char *const pattern_sources[PATTERN_SOURCES] = {"ttnn", "torch", "triton", "cuda"};

/* ---- adding ---- */

struct pattern *find_pattern(const struct pattern_set *set, struct str name) {
    for (uint32_t i = 0; i < set->n; i++)
        if (!set->items[i]->replaced && str_eq(set->items[i]->name, name))
            return set->items[i];
    return NULL;
}

const struct compiler_pass *find_pass(const struct pattern_set *set, struct str name) {
    for (uint32_t i = set->npasses; i-- > 0;)
        if (str_eq(set->passes[i].name, name))
            return &set->passes[i];
    return NULL;
}

struct str version_of_pass(const struct pattern_set *set, struct str name) {
    const struct compiler_pass *pass = find_pass(set, name);
    return pass && !pass->version.n ? set->version : pass ? pass->version : STR("");
}

const char *nearest_pattern_name(struct pattern_set *set, struct str name, const char *hint) {
    const char **names = xrealloc(NULL, (set->n + 1) * sizeof *names);
    for (uint32_t i = 0; i < set->n; i++)
        names[i] = arena_strdup(&set->arena, set->items[i]->name);
    const char *found = str_nearest(name, names, set->n);
    free(names);
    return found ? arena_printf(&set->arena, "did you mean %s?", found).p : hint;
}

/* Variants follow the pattern that they are like, in the order of reading. */
static void link_variant(struct pattern *p) {
    struct pattern **at = &p->variant_of->variant;
    while (*at)
        at = &(*at)->variant;
    *at = p;
}

static void append_pattern(struct pattern_set *set, struct pattern *p) {
    set->items = arena_grow(&set->arena, set->items, &set->cap, set->n + 1, sizeof *set->items);
    set->items[set->n++] = p;
}

/* Puts `by` in the place of a pattern, or nothing (NULL). One that others are like stays for them, marked. */
void retire_pattern(struct pattern_set *set, struct pattern *p, struct pattern *by) {
    uint32_t n = 0;
    p->replaced = true;
    p->next_retired = set->retired;
    set->retired = p;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->items[i] != p)
            set->items[n++] = set->items[i];
        else if (by)
            set->items[n++] = by;
    set->n = n;
    if (p->variant && !p->is_variant)
        append_pattern(set, p);
}

/* Replaces the pattern of the same name, if there is one. */
void add_pattern(struct pattern_set *set, struct pattern *p) {
    p->replaces = find_pattern(set, p->name);
    p->order = p->replaces ? p->replaces->order : set->nread++;
    if (p->replaces)
        retire_pattern(set, p->replaces, p);
    else
        append_pattern(set, p);
    if (p->is_variant)
        link_variant(p);
    else if (p->formula.root)
        net_add(&set->net, &p->formula, &set->arena);
}

/* ---- selecting ---- */

static bool selected(const struct pattern *p) {
    for (; p; p = p->variant)
        if (p->selected && !p->replaced)
            return true;
    return false;
}

/* Of each pattern that is searched for, once for each operator of its root: counts them, behind that of the operator,
 * or puts the pattern where the count is. */
static void index_roots(struct pattern_set *set, bool put) {
    for (uint32_t i = 0; i < set->n; i++) {
        struct pattern *p = set->items[i];
        if (p->is_variant || !p->formula.root || !selected(p))
            continue;
        for (uint32_t k = node_next_kind(p->formula.root, 0); k < OPERATORS; k = node_next_kind(p->formula.root, k + 1))
            if (put)
                set->rooted[set->first_rooted[k]++] = p;
            else
                set->first_rooted[k + 1]++;
    }
}

void patterns_index(struct pattern_set *set) {
    uint32_t *first = set->first_rooted;
    memset(first, 0, sizeof set->first_rooted);
    index_roots(set, false);
    for (uint32_t k = 0; k < OPERATORS; k++)
        first[k + 1] += first[k];
    set->rooted = arena_alloc(&set->arena, (first[OPERATORS] + (size_t)1) * sizeof *set->rooted);
    index_roots(set, true);
    memmove(first + 1, first, OPERATORS * sizeof *first); /* each has become the next one's */
    first[0] = 0;
}

/* The patterns, then what is beside them. */
static struct pattern *selectable(struct pattern_set *set, uint32_t i) {
    return i < set->n ? set->items[i] : &set->beside[i - set->n];
}

/* Sets hit[i] for the selectable that a glob matches, by name or by fused op; false at a glob that matches none. */
static bool mark_globs(struct pattern_set *set, const char *globs, bool *hit, struct str *bad) {
    for (struct str rest = str_of(globs); rest.n;) {
        struct str glob = str_item(&rest);
        bool any = false;
        for (uint32_t i = 0; i < set->n + set->nbeside; i++) {
            const struct pattern *x = selectable(set, i);
            if (!x->replaced && (str_matches(x->name, glob) || str_matches(x->fused_op, glob)))
                any = hit[i] = true;
        }
        if (!any) {
            *bad = glob;
            return false;
        }
    }
    return true;
}

bool patterns_select(struct pattern_set *set, const char *only, const char *skip, struct str *bad) {
    uint32_t n = set->n + set->nbeside;
    bool *in = xrealloc(NULL, n + (size_t)1), *out = xrealloc(NULL, n + (size_t)1);
    memset(in, only == NULL, n + (size_t)1);
    memset(out, 0, n + (size_t)1);
    bool ok = (!only || mark_globs(set, only, in, bad)) && (!skip || mark_globs(set, skip, out, bad));
    bool other = false;
    for (uint32_t i = 0; i < n; i++)
        other |= set_flag(&selectable(set, i)->selected, in[i] && !out[i]);
    if (other)
        patterns_index(set);
    free(in);
    free(out);
    return ok;
}

void patterns_free(struct pattern_set *set) {
    regexes_free(&set->conditions.regexes);
    image_free(set);
    arena_free(&set->arena);
    memset(set, 0, sizeof *set);
}
