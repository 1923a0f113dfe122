/* What can be asked of the patterns themselves, without an input. */
#include "library.h"

#include <stdlib.h>
#include <string.h>

#include "pattern/examples.h"
#include "pattern/place.h"

struct fa_library {
    struct arena arena;
    struct diags diags;
    struct pattern_set patterns;
    enum fa_status status;
};

bool library_load(struct pattern_set *set, const struct fa_options *o, struct diags *d) {
    if (!o->no_default_patterns) {
        struct str dir = o->default_patterns ? str_of(o->default_patterns) : pattern_directory(&set->arena);
        if (!patterns_load(set, arena_strdup(&set->arena, dir), d))
            return false;
    }
    for (size_t i = 0; i < o->npatterns; i++)
        if (!patterns_load(set, o->patterns[i], d))
            return false;
    return true;
}

static bool has_word(const char *list, struct str word) {
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        if (str_eq(str_trim((struct str){p, n}), word))
            return true;
        p += n;
        p += *p == ',';
    }
    return false;
}

static bool check_words(const char *list, const char *option, const char *const *words, size_t nwords, const char *hint,
                        struct diags *d) {
    for (const char *p = list; p;) {
        size_t n = strcspn(p, ",");
        struct str word = str_trim((struct str){p, n});
        bool known = false;
        for (size_t i = 0; i < nwords; i++)
            known |= str_is(word, words[i]);
        if (!known) {
            diag_add(d, SEV_ERROR, (struct place){"", 0, 0}, hint, "%s knows no '%.*s'", option, (int)word.n, word.p);
            return false;
        }
        p = p[n] ? p + n + 1 : NULL;
    }
    return true;
}

bool library_select(struct pattern_set *set, const struct fa_options *o, struct diags *d) {
    static const char *const hidden[] = {"blocked", "decomposed"};
    struct str bad;
    if (!check_words(o->sources, "--source", pattern_sources, PATTERN_SOURCES,
                     "a comma-separated list of ttnn, torch, triton, cuda", d) ||
        !check_words(o->include, "--include", hidden, 2, "a comma-separated list of blocked, decomposed", d))
        return false;
    for (uint32_t i = 0; i < set->n; i++) {
        set->items[i]->show_blocked = has_word(o->include, STR("blocked"));
        set->items[i]->show_decomposed = has_word(o->include, STR("decomposed"));
    }
    if (patterns_select(set, o->only, o->skip, &bad))
        return true;
    diag_add(d, SEV_ERROR, (struct place){"", 0, 0}, NULL, "no pattern or fused op matches '%.*s'", (int)bad.n, bad.p);
    return false;
}

bool source_wanted(const struct fa_options *o, struct str source) {
    return !o->sources || has_word(o->sources, source);
}

struct fa_diagnostic diagnostic_of(const struct diag *d) {
    static const char *const names[] = {"note", "warning", "error"};
    return (struct fa_diagnostic){names[d->severity], d->file, d->line, d->column, d->message, d->hint};
}

struct fa_library *fa_library_read(const struct fa_options *o) {
    struct fa_library *l = xrealloc(NULL, sizeof *l);
    memset(l, 0, sizeof *l);
    l->diags.arena = &l->arena;
    l->diags.limit = o->max_diagnostics;
    l->patterns.max_steps = o->max_steps;
    bool good = library_load(&l->patterns, o, &l->diags) && library_select(&l->patterns, o, &l->diags);
    l->status = good ? FA_CLEAN : FA_USAGE;
    return l;
}

enum fa_status fa_library_status(const struct fa_library *l) {
    return l->status;
}
size_t fa_library_diagnostics(const struct fa_library *l) {
    return l->diags.n;
}
size_t fa_library_diagnostics_dropped(const struct fa_library *l) {
    return l->diags.dropped;
}
struct fa_diagnostic fa_library_diagnostic(const struct fa_library *l, size_t i) {
    return diagnostic_of(&l->diags.items[i]);
}

/* All patterns take part in the search of an example, whatever was asked to be tested: those that share a formula
 * decide together. */
static const struct pattern **take_selected(struct fa_library *l, uint32_t *n) {
    const struct pattern **taken = arena_alloc(&l->arena, (l->patterns.n + 1) * sizeof *taken);
    *n = 0;
    for (uint32_t i = 0; i < l->patterns.n; i++) {
        struct pattern *p = l->patterns.items[i];
        if (p->selected)
            taken[(*n)++] = p;
        p->selected = true;
    }
    return taken;
}

enum fa_status fa_library_test(struct fa_library *l, struct fa_test_counts *counts) {
    struct example_counts n = {0, 0};
    uint32_t ntaken;
    const struct pattern **taken = take_selected(l, &ntaken);
    *counts = (struct fa_test_counts){.patterns = ntaken};
    for (uint32_t i = 0; i < ntaken; i++) {
        counts->without += taken[i]->nexamples == 0;
        examples_run(&l->patterns, taken[i], &l->diags, &n);
    }
    counts->tests = n.run;
    counts->failed = n.failed;
    return n.failed ? FA_MISSED : FA_CLEAN;
}

void fa_library_free(struct fa_library *l) {
    patterns_free(&l->patterns);
    diags_free(&l->diags);
    arena_free(&l->arena);
    free(l);
}
