/* Puts what a pattern states under `status` and `compiler` into words, for an entry of the report and for the notes of
 * an instance. */
#include "report/place/classify.h"

static bool exists(const struct pattern *p) {
    return p->status.pass.n > 0;
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

static bool makes(const struct pattern_set *set, struct str pass, struct str op) {
    bool found = false;
    for (uint32_t i = 0; i < set->n && !found; i++)
        found = str_eq(set->items[i]->status.pass, pass) && str_eq(set->items[i]->fused_op, op);
    return found;
}

static struct str off_of(const struct claim *c) {
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    return c->pattern->status.off.n ? c->pattern->status.off : pass ? pass->off : STR("");
}

bool claim_is_optional(const struct claim *c) {
    return exists(c->pattern) && off_of(c).n && !c->undone.n && !c->before;
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

/* What nothing switches off ran before there was TTIR; of passes that no file describes nothing is known. */
static bool has_run(const struct claim *c) {
    return find_pass(c->set, c->pattern->status.pass) && (!off_of(c).n || c->fusing == FUSING_ON);
}

static bool has_yet_to_run(const struct claim *c) {
    return c->before && (off_of(c).n || !find_pass(c->set, c->pattern->status.pass));
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
        if (s->gated.n)
            add(&b, ", off unless ", s->gated, " is set");
        else
            buf_add(&b, has_yet_to_run(c) ? STR(" and has yet to run")
                        : has_run(c)      ? STR(", which ran and left it")
                                          : STR(""));
    }
    return buf_take(&b, a);
}

/* ---- what to do ---- */

/* "enable-fusing-pass=false" was given, "enable-fusing-pass=true" is wanted. */
static struct str turned_on(struct str off, struct arena *a) {
    struct str no = STR("=false");
    return str_ends(off, no) ? arena_printf(a, "%.*s=true", (int)(off.n - no.n), off.p) : off;
}

static struct str needs_of(const struct pattern_set *set, struct str option) {
    for (uint32_t i = set->noptions; i-- > 0;)
        if (str_eq(set->options[i].name, option))
            return set->options[i].needs;
    return STR("");
}

/* `then`: a second option; or empty. */
static struct todo set_options(const struct claim *c, struct str first, struct str then) {
    return (struct todo){
        .kind = TODO_OPTION, .what = first, .then = then, .needs = needs_of(c->set, then.n ? then : first)};
}

/* Of a pass that has not fired, or has yet to run. */
static struct todo todo_of_pass(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    struct str off = off_of(c);
    if (c->fusing == FUSING_OFF && off.n) {
        struct todo t = set_options(c, turned_on(off, a), s->gated.n ? s->gated : s->keeps);
        t.why = STR("nothing here is fused, so it seems to have been off");
        return t;
    }
    if (s->gated.n)
        return set_options(c, s->gated, STR(""));
    if (has_yet_to_run(c))
        return (struct todo){.kind = TODO_WAIT, .what = s->pass};
    return (struct todo){.kind = TODO_LOOK, .what = s->pattern.n ? s->pattern : s->pass, .ran = has_run(c)};
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
    struct str command = arena_printf(a, "fusion-audit pass --only=%s", c->pattern->name.p);
    return (struct todo){.kind = TODO_WRITE, .what = STR("TTIR"), .why = command};
}

const char *todo_word(enum todo_kind k) {
    static const char *const words[] = {"none", "set", "look", "write", "dialect", "kernel", "wait", "leave"};
    return words[k];
}

void todo_name(const struct todo *t, struct buf *out) {
    static const struct {
        const char *before, *after; /* of `what` */
    } texts[] = {[TODO_NOTHING] = {"", ""},
                 [TODO_OPTION] = {"set ", ""},
                 [TODO_LOOK] = {"", " left it"},
                 [TODO_WRITE] = {"no pass makes it; write one in ", ""},
                 [TODO_DIALECT] = {"add ", " to the TTNN dialect, its library has the kernel"},
                 [TODO_KERNEL] = {"request a kernel", ""},
                 [TODO_WAIT] = {"wait for ", ", which has yet to run"},
                 [TODO_LEAVE] = {"leave it: fusing is estimated to be slower", ""}};
    buf_printf(out, "%s%.*s%s", texts[t->kind].before, (int)t->what.n, t->what.p, t->ran ? " ran and" : "");
    add(out, " and ", t->then, "");
    buf_add(out, str_of(texts[t->kind].after));
}

void todo_reason(const struct todo *t, struct buf *out) {
    add(out, t->kind == TODO_OPTION ? "; " : ": ", t->why, "");
}

void todo_text(const struct todo *t, struct buf *out) {
    todo_name(t, out);
    todo_reason(t, out);
}
