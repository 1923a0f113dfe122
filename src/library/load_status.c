/* The key `status` of a pattern: where the compiler makes the fusion by itself. */
#include "library/loader.h"

static const char *const status_keys[] = {"level", "pass", "pattern", "gated"};

void load_status(struct loader *l, struct pattern *p, const struct tree *n) {
    struct pattern_status *s = &p->status;
    struct str *to[] = {&s->level, &s->pass, &s->pattern, &s->gated};
    if (n->kind != TREE_MAPPING) {
        error_at(l, n, "status: {level: ttir, pass: ttir-fusing, pattern: SDPAFusing}", "`status` has keys of its own",
                 STR(""));
        return;
    }
    check_keys(l, n, status_keys, sizeof status_keys / sizeof *status_keys,
               "`status` has `level`, `pass`, `pattern` and `gated`");
    for (size_t i = 0; i < sizeof to / sizeof *to && !l->failed; i++) {
        const struct tree *value = tree_lookup(n, status_keys[i]);
        if (value && is_scalar(l, value))
            *to[i] = value->text;
    }
    if (l->failed)
        return;
    if (s->level.n && !str_is(s->level, "ttir") && !str_is(s->level, "ttnn"))
        error_at(l, tree_lookup(n, "level"), "the dialect that the compiler fuses in: ttir or ttnn",
                 "unknown level: ", s->level);
    else if ((s->pattern.n || s->gated.n) && !s->pass.n)
        error_at(l, n, NULL, "`pattern` and `gated` are said of a `pass`", STR(""));
}
