/* Puts what a pattern states under `status` and `compiler` into words, for an entry of the report and for the notes of
 * an instance. */
#include "place/classify.h"

static bool exists(const struct pattern *p) {
    return p->status.pass.n > 0;
}

/* It is known when the compiler's own pattern fires. */
static bool has_rules(const struct pattern *p) {
    return p->ncompiler > 0 || p->nundecided > 0;
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

static void add_all(struct buf *b, struct str_list texts) {
    for (uint32_t i = 0; i < texts.n; i++)
        add(b, i ? "; " : ": ", str_trim(texts.items[i]), "");
}

static const struct compiler_pass *pass_of(const struct pattern_set *set, const struct pattern *p) {
    for (uint32_t i = set->npasses; i-- > 0;)
        if (str_eq(set->passes[i].name, p->status.pass))
            return &set->passes[i];
    return NULL;
}

struct str version_of_claims(const struct pattern_set *set, const struct pattern *p) {
    const struct compiler_pass *pass = pass_of(set, p);
    return pass ? pass->version : STR("");
}

/* Of a pass that is on unless a flag says otherwise. */
static void add_answer(struct buf *b, const struct claim *c) {
    const struct match_detail *d = c->detail;
    const struct compiler_pass *pass = pass_of(c->set, c->pattern);
    bool before = c->before && (!pass || pass->off.n);
    const char *where = c->lowered ? " (by the TTNN ops)" : "";
    if (d->compiler.n) {
        buf_printf(b, ", which %s%s", before ? "does not fire here" : "did not fire", where);
        add_all(b, d->compiler);
        return;
    }
    if (d->undecided.n) {
        buf_printf(b, ", %s is not decided%s",
                   before ? "which may fire here; whether it does" : "which did not fire; why", where);
        add_all(b, d->undecided);
        return;
    }
    if (!has_rules(c->pattern)) {
        buf_add(b, before ? STR(" and has yet to run") : STR(", which did not fire"));
        return;
    }
    struct str off = c->pattern->status.off.n ? c->pattern->status.off : pass ? pass->off : STR("");
    if (c->lowered) {
        buf_add(
            b, STR(", which did not fire; why is not decided by the TTNN ops: TTIR had an op in its way that TTNN does "
                   "not show"));
        add(b, ", or it was stopped by ", off, "");
        return;
    }
    buf_add(b, before ? STR(", which fires here") : STR(", which should have fired: all of its preconditions hold"));
    add(b, before ? "; only " : "; known to stop it: ", off, before ? " stops it" : "");
}

struct str classification_note(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    struct buf b = {0};
    if (!exists(c->pattern)) {
        if (str_is(s->level, "library"))
            buf_add(&b, STR("the library of TTNN has this op and its dialect none; no pass makes it."));
        else if (s->level.n)
            buf_printf(&b, "no pass makes this fusion; it belongs to %s.", str_is(s->level, "ttir") ? "TTIR" : "TTNN");
    } else {
        add(&b, "", s->pass, " ");
        add(&b, "has ", s->pattern, " for this");
        if (!s->pattern.n)
            buf_add(&b, STR("makes this fusion"));
        if (s->gated.n) {
            add(&b, ", off unless ", s->gated, " is set");
            if (c->detail->compiler.n)
                buf_add(&b, STR(", and would not fire then"));
            add_all(&b, c->detail->compiler);
        } else {
            add_answer(&b, c);
        }
    }
    return buf_take(&b, a);
}

/* ---- what to do ---- */

/* "enable-fusing-pass=false" was given, "enable-fusing-pass=true" is wanted. */
static struct str turned_on(struct str off, struct arena *a) {
    struct str no = STR("=false");
    return str_ends(off, no) ? arena_printf(a, "%.*s=true", (int)(off.n - no.n), off.p) : off;
}

static struct str joined(struct str_list texts, struct arena *a) {
    struct buf b = {0};
    for (uint32_t i = 0; i < texts.n; i++) {
        struct str text = str_trim(texts.items[i]);
        buf_printf(&b, "%s%.*s", i ? "; " : "", (int)text.n, text.p);
    }
    return buf_take(&b, a);
}

/* Of a pass that has not fired, or has yet to run. */
static struct todo todo_of_pass(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    const struct match_detail *d = c->detail;
    const struct compiler_pass *pass = pass_of(c->set, c->pattern);
    struct str off = s->off.n ? s->off : pass ? pass->off : STR(""), name = s->pattern.n ? s->pattern : s->pass;
    if (d->compiler.n)
        return (struct todo){TODO_EXTEND, name, joined(d->compiler, a)};
    if (s->gated.n)
        return (struct todo){TODO_OPTION, s->gated, STR("")};
    if (d->undecided.n)
        return (struct todo){TODO_LOOK, name, joined(d->undecided, a)};
    if (c->before)
        return (struct todo){TODO_WAIT, s->pass, STR("")};
    if (!c->lowered && has_rules(c->pattern) && off.n)
        return (struct todo){TODO_OPTION, turned_on(off, a), STR("")};
    return (struct todo){TODO_LOOK, name, STR("")};
}

struct todo todo_of(const struct claim *c, bool undone, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    if (!pattern_is_direct(c->pattern))
        return (struct todo){TODO_KERNEL, STR(""), STR("")};
    if (str_is(s->level, "library"))
        return (struct todo){TODO_DIALECT, STR(""), STR("")};
    if (undone && s->keeps.n)
        return (struct todo){TODO_OPTION, s->keeps, STR("")};
    if (exists(c->pattern))
        return todo_of_pass(c, a);
    return (struct todo){TODO_WRITE, str_is(s->level, "ttir") ? STR("TTIR") : STR("TTNN"), STR("")};
}

void todo_text(const struct todo *t, struct buf *out) {
    static const struct {
        const char *before, *after; /* of `what` */
    } texts[] = {[TODO_NOTHING] = {"", ""},
                 [TODO_OPTION] = {"set ", ""},
                 [TODO_EXTEND] = {"extend ", ""},
                 [TODO_LOOK] = {"find out why ", " did not fire"},
                 [TODO_WRITE] = {"no pass makes it; write one in ", ""},
                 [TODO_DIALECT] = {"add an op to the TTNN dialect, its library has the kernel", ""},
                 [TODO_KERNEL] = {"request a kernel", ""},
                 [TODO_WAIT] = {"wait for ", ", which has yet to run"},
                 [TODO_LEAVE] = {"leave it: fusing is estimated to be slower", ""}};
    buf_printf(out, "%s%.*s%s", texts[t->kind].before, (int)t->what.n, t->what.p, texts[t->kind].after);
    if (t->why.n)
        buf_printf(out, ": %.*s", (int)t->why.n, t->why.p);
}
