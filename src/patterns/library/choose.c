/* The options --patterns, --only, --skip, --include and --source, applied to a set of patterns. */
#include "patterns/library/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"

bool library_load(struct pattern_set *set, const struct fa_patterns *o, struct diags *d) {
    struct str dir = data_directory(o->data, "patterns", &set->arena);
    static const char *const always[] = {"conditions", "library", "lowering"};
    if (!o->no_bundled && access(dir.p, F_OK) != 0) {
        diag_add(d, SEV_ERROR, (struct source_location){dir.p, 0, 0},
                 "share/fusion-audit stands beside the program, or where it was installed", "%s", strerror(errno));
        return false;
    }
    if (!o->no_bundled && !patterns_load_bundled(set, arena_strdup(&set->arena, dir), d))
        return false;
    /* conditions are part of the language; which ops there are and what they compute is true of all patterns */
    for (int i = 0; i < 3 && o->no_bundled; i++) {
        struct str path = arena_printf(&set->arena, "%.*s/%s.yml", (int)dir.n, dir.p, always[i]);
        if (access(path.p, F_OK) == 0 && !patterns_load(set, path.p, d))
            return false;
    }
    for (size_t i = 0; i < o->nfiles; i++)
        if (!patterns_load(set, o->files[i], d))
            return false;
    return true;
}

static bool has_word(const char *list, struct str word) {
    for (struct str rest = str_of(list); rest.n;)
        if (str_eq(str_item(&rest), word))
            return true;
    return false;
}

bool option_wrong(struct diags *d, const char *option, const char *takes, struct str given) {
    diag_add(d, SEV_ERROR, (struct source_location){"", 0, 0}, NULL, "%s takes %s, not '%.*s'", option, takes,
             (int)given.n, given.p);
    return false;
}

static bool check_words(const char *list, const char *option, const char *const *words, size_t nwords, struct arena *a,
                        struct diags *d) {
    struct buf takes = {0};
    for (size_t i = 0; i < nwords; i++)
        buf_printf(&takes, "%s%s", i ? ", " : "a comma-separated list of ", words[i]);
    const char *text = buf_take(&takes, a).p;
    for (const char *p = list; p;) {
        size_t n = strcspn(p, ",");
        struct str word = str_trim((struct str){p, n});
        bool known = false;
        for (size_t i = 0; i < nwords; i++)
            known |= str_is(word, words[i]);
        if (!known)
            return option_wrong(d, option, text, word);
        p = p[n] ? p + n + 1 : NULL;
    }
    return true;
}

/* A hint: the name or the fused op that a glob seems to mean, or NULL. */
static const char *nearest_pattern(struct pattern_set *set, struct str glob) {
    const char **names = xrealloc(NULL, (2 * (size_t)set->n + 1) * sizeof *names);
    size_t n = 0;
    for (uint32_t i = 0; i < set->n; i++) {
        const struct str words[] = {set->items[i]->name, set->items[i]->fused_op};
        for (int k = 0; k < 2 && !set->items[i]->replaced; k++)
            if (glob.n && words[k].n &&
                words[k].p[0] ==
                    glob.p[0]) /* a misspelt word rarely has another first letter, and a glob is close to many names */
                names[n++] = arena_strdup(&set->arena, words[k]);
    }
    const char *found = str_nearest(glob, names, n);
    free(names);
    return found ? arena_printf(&set->arena, "did you mean %s?", found).p : NULL;
}

/* "ttnn", or a direct one by its reach: "ttnn:dialect". */
static const char *const source_words[PATTERN_SOURCES + REACH_ELSEWHERE] = {
    "ttnn", "torch", "triton", "cuda", "ttnn:dialect", "ttnn:operand", "ttnn:library"};

bool source_is_one_of(const char *list, struct str source, struct str lacks) {
    enum pattern_reach reach = !lacks.n ? REACH_DIALECT : str_eq(lacks, LACKS_OP) ? REACH_LIBRARY : REACH_OPERAND;
    return has_word(list, source) ||
           (str_is(source, "ttnn") && has_word(list, str_of(source_words[PATTERN_SOURCES + reach])));
}

bool source_wanted(const struct fa_patterns *o, const struct pattern *p) {
    return !o->sources || source_is_one_of(o->sources, p->source, pattern_lacks(p));
}

bool sources_check(const char *list, const char *option, struct arena *a, struct diags *d) {
    return check_words(list, option, source_words, sizeof source_words / sizeof *source_words, a, d);
}

bool included(const struct fa_patterns *o, const char *word) {
    return has_word(o->include, str_of(word));
}

const char *const region_words[2] = {"elementwise", "elementwise-reduction"};

/* A region with a reduction is searched with those without. */
static void put_regions_beside(struct pattern_set *set, const struct fa_patterns *o) {
    set->nbeside = included(o, region_words[1]) ? 2 : included(o, region_words[0]) ? 1 : 0;
    for (uint32_t i = 0; i < set->nbeside; i++)
        set->beside[i] = (struct pattern){.name = str_of(region_words[i]),
                                          .fused_op = STR("ttnn.generic"),
                                          .makes = op_kind_of_spelling(STR("ttnn.generic")),
                                          .source = STR("ttnn")};
}

static const char *hint_for(struct pattern_set *set, struct str bad) {
    if (str_ends(bad, STR(".yml")))
        return "-P FILE reads a pattern file";
    if (str_is(bad, "ttnn.generic") || str_is(bad, region_words[0]) || str_is(bad, region_words[1]))
        return "--include=elementwise or --include=elementwise-reduction searches for it";
    return nearest_pattern(set, bad);
}

static bool is_searched(const struct pattern *p, const struct fa_patterns *o) {
    return p->selected && !p->replaced && source_wanted(o, p);
}

bool library_select(struct pattern_set *set, const struct fa_patterns *o, struct diags *d) {
    const char *const hidden[] = {"blocked", "decomposed", "slower", region_words[0], region_words[1]};
    struct str bad;
    if (!sources_check(o->sources, "--source", &set->arena, d) ||
        !check_words(o->include, "--include", hidden, sizeof hidden / sizeof *hidden, &set->arena, d))
        return false;
    for (uint32_t i = 0; i < set->n; i++) {
        set_flag(&set->items[i]->show_blocked, included(o, "blocked"));
        set_flag(&set->items[i]->show_decomposed, included(o, "decomposed"));
    }
    put_regions_beside(set, o);
    if (!patterns_select(set, o->only, o->skip, &bad)) {
        diag_add(d, SEV_ERROR, (struct source_location){"", 0, 0}, hint_for(set, bad),
                 "no pattern or fused op matches '%.*s'", (int)bad.n, bad.p);
        return false;
    }
    for (uint32_t i = 0; i < set->n; i++)
        if (is_searched(set->items[i], o))
            return true;
    for (uint32_t i = 0; i < set->nbeside; i++)
        if (is_searched(&set->beside[i], o))
            return true;
    diag_add(d, SEV_ERROR, (struct source_location){"", 0, 0}, NULL, "no pattern is left to search");
    return false;
}
