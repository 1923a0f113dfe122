/* Puts what a pattern states under `status` and `compiler` into words, for an entry of the report and for the notes of
 * an instance. */
#include "place/classify.h"

static bool exists(const struct pattern *p) {
    return p->status.pass.n > 0;
}

struct classification classify(const struct pattern *p, bool undone) {
    const struct pattern_status *s = &p->status;
    return (struct classification){.given = true,
                                   .dialect_level = s->level,
                                   .pass_status = undone       ? STR("fused_and_undone")
                                                  : !exists(p) ? STR("no_pass")
                                                  : s->gated.n ? STR("gated_off")
                                                               : STR("pass_exists_not_fired"),
                                   .owning_pass = s->pass,
                                   .existing_pattern = s->pattern};
}

static void add(struct buf *b, const char *before, struct str text, const char *after) {
    if (text.n)
        buf_printf(b, "%s%.*s%s", before, (int)text.n, text.p, after);
}

static void add_reasons(struct buf *b, const struct pattern *p, const struct match_detail *d, bool lowered) {
    for (uint32_t i = 0; i < d->compiler.n; i++)
        add(b, i ? "; " : lowered ? ": in TTNN, " : ": ", str_trim(d->compiler.items[i]), "");
    if (p->ncompiler && !d->compiler.n)
        buf_add(b, STR(": none of the compiler's preconditions is seen to fail"));
}

struct str classification_note(const struct pattern *p, const struct match_detail *d, bool before, bool lowered,
                               struct arena *a) {
    const struct pattern_status *s = &p->status;
    struct buf b = {0};
    if (!exists(p)) {
        if (s->level.n)
            buf_printf(&b, "no pass makes this fusion; it belongs to %s.", str_is(s->level, "ttir") ? "TTIR" : "TTNN");
    } else {
        add(&b, "", s->pass, " ");
        add(&b, "has ", s->pattern, " for this");
        if (!s->pattern.n)
            buf_add(&b, STR("makes this fusion"));
        if (s->gated.n) {
            add(&b, ", off unless ", s->gated, " is set");
            if (d->compiler.n) {
                buf_add(&b, STR(", and would not fire then"));
                add_reasons(&b, p, d, lowered);
            }
        } else {
            buf_add(&b, !before         ? STR(", which did not fire")
                        : d->compiler.n ? STR(" and has yet to run; as it stands it would not fire")
                                        : STR(" and has yet to run"));
            add_reasons(&b, p, d, lowered);
        }
    }
    struct str text = arena_str(a, buf_str(&b));
    buf_free(&b);
    return text;
}
