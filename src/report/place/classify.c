/* Puts what a pattern states under `status` and `compiler` into words, for an entry of the report and for the notes of
 * an instance. */
#include "report/place/classify.h"

static bool exists(const struct pattern *p) {
    return p->status.pass.n > 0;
}

/* It is known when the compiler's own pattern fires. */
static bool has_rules(const struct pattern *p) {
    return p->ncompiler > 0 || p->nundecided > 0;
}

struct classification classify(const struct claim *c) {
    const struct pattern *p = c->pattern;
    const struct pattern_status *s = &p->status;
    return (struct classification){.given = true,
                                   .dialect_level = s->level,
                                   .pass_status = c->undone.n  ? STR("fused_and_undone")
                                                  : !exists(p) ? STR("no_pass")
                                                  : s->gated.n ? STR("gated_off")
                                                               : STR("pass_exists_not_fired"),
                                   .owning_pass = s->pass,
                                   .existing_pattern = s->pattern,
                                   .source_file = claim_file(c)};
}

static void add(struct buf *b, const char *before, struct str text, const char *after) {
    if (text.n)
        buf_printf(b, "%s%.*s%s", before, (int)text.n, text.p, after);
}

static void add_all(struct buf *b, struct str_list texts) {
    for (uint32_t i = 0; i < texts.n; i++)
        add(b, i ? "; " : ": ", str_trim(texts.items[i]), "");
}

static bool makes(const struct pattern_set *set, struct str pass, struct str op) {
    bool found = false;
    for (uint32_t i = 0; i < set->n && !found; i++)
        found = str_eq(set->items[i]->status.pass, pass) && str_eq(set->items[i]->fused_op, op);
    return found;
}

bool claim_is_sure(const struct claim *c, bool located) {
    const struct pattern_status *s = &c->pattern->status;
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    return pass && pass->off.n && !s->off.n && !s->gated.n && has_rules(c->pattern) && !c->fails.n && !c->undecided.n &&
           !c->undone.n && !c->before && !c->lowered && (!s->keeps.n || (c->pattern->nundone > 0 && located));
}

/* Activations and norms: other ops are made by conversions, too. */
bool pass_made_part(const struct pattern_set *set, const struct match *m, const struct match *origin) {
    const struct graph *g = m->graph, *before = origin->graph;
    bool made = false;
    for (uint32_t i = 0; i < m->nops && !made && exists(m->pattern); i++) {
        enum op_class class = graph_class(g, m->ops[i]);
        made = (class == OP_ELTWISE || class == OP_AXISWISE) &&
               makes(set, m->pattern->status.pass, mlir_op_name(g->m, m->ops[i]));
        for (uint32_t n = 0; n < origin->nops; n++)
            made &= before->kind[origin->ops[n]] != g->kind[m->ops[i]];
    }
    return made;
}

/* Where a new pattern of that level would stand. */
static struct str file_of_level(const struct pattern_set *set, struct str level) {
    for (uint32_t i = set->npasses; i-- > 0;)
        if (str_eq(set->passes[i].level, level))
            return set->passes[i].file;
    return STR("");
}

struct str claim_file(const struct claim *c) {
    const struct pattern_status *s = &c->pattern->status;
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    if (s->file.n || pass)
        return s->file.n ? s->file : pass->file;
    return s->level.n ? file_of_level(c->set, s->level) : STR("");
}

struct str claim_version(const struct claim *c) {
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    return pass ? pass->version : STR("");
}

/* Of a pass that is on unless a flag says otherwise. */
static void add_answer(struct buf *b, const struct claim *c) {
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    bool before = c->before && (!pass || pass->off.n);
    const char *where = c->lowered ? " (by the TTNN ops)" : "";
    if (c->fails.n) {
        buf_printf(b, ", which %s%s", before ? "does not fire here" : "did not fire", where);
        add_all(b, c->fails);
        return;
    }
    if (c->undecided.n) {
        buf_printf(b, ", %s is not decided%s",
                   before ? "which may fire here; whether it does" : "which did not fire; why", where);
        add_all(b, c->undecided);
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
    if (c->ran || c->fusing == FUSING_ON) {
        buf_add(b, STR(", which did not fire although it ran and all of its preconditions seem to hold"));
        return;
    }
    buf_add(b, before ? STR(", which fires here") : STR(", which should have fired: all of its preconditions hold"));
    add(b, before ? "; only " : "; known to stop it: ", off, before ? " stops it" : "");
}

struct str classification_note(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    struct buf b = {0};
    if (c->undone.n)
        return c->undone;
    if (!exists(c->pattern)) {
        if (str_is(s->level, "library"))
            buf_printf(&b,
                       s->lacks.n
                           ? "the op of the TTNN dialect lacks %.*s, which its library has; no pass makes this fusion."
                           : "the library of TTNN has this op and its dialect none; no pass makes it.",
                       (int)s->lacks.n, s->lacks.p);
        else if (s->level.n)
            buf_printf(&b, "no pass makes this fusion; it belongs to %s.", str_is(s->level, "ttir") ? "TTIR" : "TTNN");
    } else {
        add(&b, "", s->pass, " ");
        add(&b, "has ", s->pattern, " for this");
        if (!s->pattern.n)
            buf_add(&b, STR("makes this fusion"));
        if (s->gated.n) {
            add(&b, ", off unless ", s->gated, " is set");
            if (c->fails.n)
                buf_add(&b, STR(", and would not fire then"));
            add_all(&b, c->fails);
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

static struct str needs_of(const struct pattern_set *set, struct str option) {
    for (uint32_t i = set->noptions; i-- > 0;)
        if (str_eq(set->options[i].name, option))
            return set->options[i].needs;
    return STR("");
}

/* `then`: a second option; or empty. */
static struct todo set_options(const struct claim *c, struct str first, struct str then) {
    return (struct todo){TODO_OPTION, first, then, needs_of(c->set, then.n ? then : first), STR("")};
}

/* Of a pass that has not fired, or has yet to run. */
static struct todo todo_of_pass(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    struct str off = s->off.n ? s->off : pass ? pass->off : STR(""), name = s->pattern.n ? s->pattern : s->pass;
    if (c->fails.n)
        return (struct todo){.kind = TODO_EXTEND, .what = name, .why = joined(c->fails, a)};
    if (c->fusing == FUSING_OFF && off.n) {
        struct todo t = set_options(c, turned_on(off, a), s->gated.n ? s->gated : s->keeps);
        t.why = joined(c->undecided, a);
        return t;
    }
    if (s->gated.n)
        return set_options(c, s->gated, STR(""));
    if (c->undecided.n)
        return (struct todo){.kind = TODO_LOOK, .what = name, .why = joined(c->undecided, a)};
    if (c->before)
        return (struct todo){.kind = TODO_WAIT, .what = s->pass};
    bool fires = !c->lowered && !c->ran && has_rules(c->pattern);
    if (fires && s->keeps.n)
        return set_options(c, s->keeps, STR(""));
    if (fires && off.n && c->fusing != FUSING_ON)
        return set_options(c, turned_on(off, a), STR(""));
    return (struct todo){.kind = TODO_LOOK, .what = name};
}

struct todo todo_of(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    if (!pattern_is_direct(c->pattern))
        return (struct todo){.kind = TODO_KERNEL, .why = c->signature};
    if (str_is(s->level, "library"))
        return (struct todo){.kind = TODO_DIALECT, .what = pattern_lacks(c->pattern)};
    if (c->undone.n && s->keeps.n)
        return set_options(c, s->keeps, STR(""));
    if (exists(c->pattern))
        return todo_of_pass(c, a);
    if (!str_is(s->level, "ttir"))
        return (struct todo){.kind = TODO_WRITE, .what = STR("TTNN")};
    return (struct todo){.kind = TODO_WRITE, .what = STR("TTIR")};
}

const char *todo_word(enum todo_kind k) {
    static const char *const words[] = {"none", "set", "extend", "look", "write", "dialect", "kernel", "wait", "leave"};
    return words[k];
}

void todo_name(const struct todo *t, struct buf *out) {
    static const struct {
        const char *before, *after; /* of `what` */
    } texts[] = {[TODO_NOTHING] = {"", ""},
                 [TODO_OPTION] = {"set ", ""},
                 [TODO_EXTEND] = {"extend ", ""},
                 [TODO_LOOK] = {"find out why ", " did not fire"},
                 [TODO_WRITE] = {"no pass makes it; write one in ", ""},
                 [TODO_DIALECT] = {"add ", " to the TTNN dialect, its library has the kernel"},
                 [TODO_KERNEL] = {"request a kernel", ""},
                 [TODO_WAIT] = {"wait for ", ", which has yet to run"},
                 [TODO_LEAVE] = {"leave it: fusing is estimated to be slower", ""}};
    buf_printf(out, "%s%.*s", texts[t->kind].before, (int)t->what.n, t->what.p);
    add(out, " and ", t->then, "");
    buf_add(out, str_of(texts[t->kind].after));
}

void todo_reason(const struct todo *t, struct buf *out) {
    if (t->why.n)
        buf_printf(out, "%s: %.*s", t->kind == TODO_OPTION ? "; whether that is enough is open" : "", (int)t->why.n,
                   t->why.p);
}

void todo_text(const struct todo *t, struct buf *out) {
    todo_name(t, out);
    todo_reason(t, out);
}
