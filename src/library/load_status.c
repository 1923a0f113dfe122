/* Where the compiler makes a fusion by itself: the key `status` of a pattern, and the sections `passes` and `options`.
 */
#include "library/loader.h"

static const char *const status_keys[] = {"level", "lacks", "pass",    "pattern", "gated",
                                          "off",   "keeps", "accepts", "file"};

void load_status(struct loader *l, struct pattern *p, const struct tree *n) {
    struct pattern_status *s = &p->status;
    struct str *to[] = {&s->level, &s->lacks, &s->pass,    &s->pattern, &s->gated,
                        &s->off,   &s->keeps, &s->accepts, &s->file};
    if (n->kind != TREE_MAPPING) {
        error_at(l, n, "status: {level: ttir, pass: ttir-fusing, pattern: SDPAFusing}", "`status` has keys of its own",
                 STR(""));
        return;
    }
    check_keys(l, n, status_keys, sizeof status_keys / sizeof *status_keys,
               "`status` has `level`, `lacks`, `pass`, `pattern`, `gated`, `off`, `keeps`, `accepts` and `file`");
    for (size_t i = 0; i < sizeof to / sizeof *to && !l->failed; i++) {
        const struct tree *value = tree_lookup(n, status_keys[i]);
        if (value && is_scalar(l, value))
            *to[i] = value->text;
    }
    if (l->failed)
        return;
    if (s->level.n && !str_is(s->level, "ttir") && !str_is(s->level, "ttnn") && !str_is(s->level, "library"))
        error_at(l, tree_lookup(n, "level"),
                 "ttir or ttnn, where the compiler fuses; or library, if no dialect has the op",
                 "unknown level: ", s->level);
    else if (s->lacks.n && !str_is(s->level, "library"))
        error_at(l, n, "level: library", "`lacks` says what the dialect's op lacks of the library's", STR(""));
    else if ((s->pattern.n || s->gated.n || s->off.n || s->accepts.n || s->file.n) && !s->pass.n)
        error_at(l, n, NULL, "`pattern`, `gated`, `off`, `accepts` and `file` are said of a `pass`", STR(""));
}

void load_pass(struct loader *l, const struct tree *n) {
    static const char *const names[] = {"name", "version", "off", "level", "file"};
    struct compiler_pass pass = {.name = STR("")};
    struct str *to[] = {&pass.name, &pass.version, &pass.off, &pass.level, &pass.file};
    for (size_t i = 0; i < sizeof to / sizeof *to && !l->failed; i++) {
        const struct tree *value = n->kind == TREE_MAPPING ? tree_lookup(n, names[i]) : NULL;
        if (!value && i < 2)
            error_at(l, n, "{name: ttir-fusing, off: enable-fusing-pass=false, version: tt-mlir 19c86fca45ae}",
                     "a pass has `name`, `version` and perhaps `off`, `level` and `file`", STR(""));
        else if (value && is_scalar(l, value))
            *to[i] = value->text;
    }
    struct pattern_set *set = l->set;
    set->passes = grow(set->passes, &set->passes_cap, set->npasses + 1, sizeof *set->passes);
    set->passes[set->npasses++] = pass;
}

void load_option(struct loader *l, const struct tree *n) {
    const struct tree *name = n->kind == TREE_MAPPING ? tree_lookup(n, "name") : NULL;
    const struct tree *needs = n->kind == TREE_MAPPING ? tree_lookup(n, "needs") : NULL;
    struct pattern_set *set = l->set;
    if (!name || !needs) {
        error_at(l, n, "{name: optimization-level=1, needs: a compiler with OpModel}",
                 "an option has `name` and `needs`", STR(""));
        return;
    }
    if (l->failed || !is_scalar(l, name) || !is_scalar(l, needs))
        return;
    set->options = grow(set->options, &set->options_cap, set->noptions + 1, sizeof *set->options);
    set->options[set->noptions++] = (struct compiler_option){name->text, needs->text};
}
