/* Where the compiler makes a fusion by itself: the key `status` of a pattern. */
#include "patterns/library/loader.h"

#define STATUS_TEXT(key)                                                                                               \
    { #key, FIELD_TEXT, false, offsetof(struct pattern_status, key), NULL, NULL }

void load_status(struct loader *l, struct pattern *p, const struct tree *n) {
    static const struct field fields[] = {
        STATUS_TEXT(level), STATUS_TEXT(lacks), STATUS_TEXT(pass), STATUS_TEXT(pattern), STATUS_TEXT(gated),
        STATUS_TEXT(off),   STATUS_TEXT(keeps), STATUS_TEXT(file), STATUS_TEXT(earlier), STATUS_TEXT(earlier_gated)};
    struct pattern_status *s = &p->status;
    if (!READ_RECORD(l, n, fields, "status: {level: ttir, pass: ttir-fusing, pattern: SDPAFusing}", s))
        return;
    if (s->level.n && !str_is(s->level, "ttir") && !str_is(s->level, "ttnn") && !str_is(s->level, "library"))
        error_at(l, tree_lookup(n, "level"),
                 "ttir or ttnn, where the compiler fuses; or library, if no dialect has the op",
                 "unknown level: ", s->level);
    else if (s->lacks.n && !str_is(s->level, "library"))
        error_at(l, n, "level: library", "`lacks` says what the dialect's op lacks of the library's", STR(""));
    else if ((s->pattern.n || s->gated.n || s->off.n || s->file.n || s->earlier.n) && !s->pass.n)
        error_at(l, n, NULL, "`pattern`, `gated`, `off`, `file` and `earlier` are said of a `pass`", STR(""));
    else if (s->earlier_gated.n && !s->earlier.n)
        error_at(l, n, NULL, "`earlier_gated` is said of what is `earlier`", STR(""));
}
