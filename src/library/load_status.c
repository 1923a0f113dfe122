/* Where the compiler makes a fusion by itself: the key `status` of a pattern, and the sections `passes`, `options` and
 * `unchecked`. */
#include "library/loader.h"

static const char *const status_keys[] = {"level", "lacks", "pass", "pattern", "gated", "off", "keeps", "file"};

enum { STATUS_KEYS = sizeof status_keys / sizeof *status_keys };

/* The texts of these keys, of which the first `needed` have to be there: else the error says `what`. */
static void load_texts(struct loader *l, const struct tree *n, const char *const *keys, struct str *const *to,
                       size_t count, size_t needed, const char *hint, const char *what) {
    for (size_t i = 0; i < count && !l->failed; i++) {
        const struct tree *value = n->kind == TREE_MAPPING ? tree_lookup(n, keys[i]) : NULL;
        if (!value && i < needed)
            error_at(l, n, hint, what, STR(""));
        else if (value && is_scalar(l, value))
            *to[i] = value->text;
    }
}

void load_status(struct loader *l, struct pattern *p, const struct tree *n) {
    struct pattern_status *s = &p->status;
    struct str *to[STATUS_KEYS] = {&s->level, &s->lacks, &s->pass,  &s->pattern,
                                   &s->gated, &s->off,   &s->keeps, &s->file};
    if (n->kind != TREE_MAPPING) {
        error_at(l, n, "status: {level: ttir, pass: ttir-fusing, pattern: SDPAFusing}", "`status` has keys of its own",
                 STR(""));
        return;
    }
    check_keys(l, n, status_keys, STATUS_KEYS,
               "`status` has `level`, `lacks`, `pass`, `pattern`, `gated`, `off`, `keeps` and `file`");
    load_texts(l, n, status_keys, to, STATUS_KEYS, 0, NULL, "");
    if (l->failed)
        return;
    if (s->level.n && !str_is(s->level, "ttir") && !str_is(s->level, "ttnn") && !str_is(s->level, "library"))
        error_at(l, tree_lookup(n, "level"),
                 "ttir or ttnn, where the compiler fuses; or library, if no dialect has the op",
                 "unknown level: ", s->level);
    else if (s->lacks.n && !str_is(s->level, "library"))
        error_at(l, n, "level: library", "`lacks` says what the dialect's op lacks of the library's", STR(""));
    else if ((s->pattern.n || s->gated.n || s->off.n || s->file.n) && !s->pass.n)
        error_at(l, n, NULL, "`pattern`, `gated`, `off` and `file` are said of a `pass`", STR(""));
}

void load_pass(struct loader *l, const struct tree *n) {
    static const char *const keys[] = {"name", "version", "off", "level", "file"};
    struct compiler_pass pass = {.name = STR("")};
    struct str *to[] = {&pass.name, &pass.version, &pass.off, &pass.level, &pass.file};
    struct pattern_set *set = l->set;
    load_texts(l, n, keys, to, sizeof to / sizeof *to, 2,
               "{name: ttir-fusing, off: enable-fusing-pass=false, version: tt-mlir 19c86fca45ae}",
               "a pass has `name`, `version` and perhaps `off`, `level` and `file`");
    set->passes = grow(set->passes, &set->passes_cap, set->npasses + 1, sizeof *set->passes);
    set->passes[set->npasses++] = pass;
}

void load_option(struct loader *l, const struct tree *n) {
    static const char *const keys[] = {"name", "needs"};
    struct compiler_option option = {.name = STR("")};
    struct str *to[] = {&option.name, &option.needs};
    struct pattern_set *set = l->set;
    load_texts(l, n, keys, to, 2, 2, "{name: optimization-level=1, needs: a compiler with OpModel}",
               "an option has `name` and `needs`");
    set->options = grow(set->options, &set->options_cap, set->noptions + 1, sizeof *set->options);
    set->options[set->noptions++] = option;
}

static enum op_kind operator_of(struct loader *l, const struct tree *n, struct str name) {
    enum op_kind k = op_kind_of_name(name);
    if (k == K_UNKNOWN)
        error_at(l, n, NULL, "no operator: ", name);
    return k;
}

void load_unchecked(struct loader *l, const struct tree *n) {
    static const char *const keys[] = {"pass", "pattern", "makes", "accepts"};
    struct unchecked u = {.nof = 0};
    struct str makes = STR(""), *to[] = {&u.pass, &u.pattern, &makes, &u.accepts};
    struct pattern_set *set = l->set;
    load_texts(l, n, keys, to, 4, 4,
               "{pass: ttir-fusing, pattern: MishFusingPattern, makes: mish, of: where, accepts: any threshold}",
               "what is unchecked has `pass`, `pattern`, `makes`, `accepts` and perhaps `of`");
    if (l->failed)
        return;
    const struct tree *of = tree_lookup(n, "of");
    if (!find_pass(set, u.pass))
        error_at(l, n, NULL, "none of `passes`: ", u.pass);
    else if (of && count_items(of) > MOST_REPLACED)
        error_at(l, of, NULL, "at most 4 ops are meant", STR(""));
    else
        u.makes = operator_of(l, n, makes);
    for (const struct tree *i = of ? items_of(of) : NULL; i && !l->failed && is_scalar(l, i); i = i->next)
        u.of[u.nof++] = operator_of(l, i, i->text);
    set->unchecked = grow(set->unchecked, &set->unchecked_cap, set->nunchecked + 1, sizeof *set->unchecked);
    set->unchecked[set->nunchecked++] = u;
}
