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
    return exists(c->pattern) && off_of(c).n && !c->unmade && !c->undone.n && !c->before;
}

/* Activations, norms and reductions: other ops are made by conversions, too. */
bool pass_made_part(const struct pattern_set *set, const struct match *m, const struct match *origin) {
    const struct graph *g = m->graph, *before = origin->graph;
    bool made = false;
    for (uint32_t i = 0; i < m->nops && !made && exists(m->pattern); i++) {
        enum op_class class = graph_class(g, m->ops[i]);
        made = (class == OP_ELTWISE || class == OP_AXISWISE || class == OP_REDUCE) &&
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

/* Where a new pattern would stand: TTIR cannot write an op that it does not have. */
static struct str new_level(const struct claim *c) {
    enum op_kind makes = c->pattern->makes;
    bool lacks = makes != NO_OPERATOR && !op_spelling(makes, "ttir.", "").n;
    return str_is(c->pattern->status.level, "ttir") && lacks ? STR("ttnn") : c->pattern->status.level;
}

struct str claim_file(const struct claim *c) {
    const struct pattern_status *s = &c->pattern->status;
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    if (s->file.n || pass)
        return s->file.n ? s->file : pass->file;
    return s->level.n ? file_of_level(c->set, new_level(c)) : STR("");
}

struct str claim_version(const struct claim *c) {
    return version_of_pass(c->set, c->pattern->status.pass);
}

/* "enable-fusing-pass=false" was given, "enable-fusing-pass=true" is wanted. */
static struct str turned_on(struct str off, struct arena *a) {
    struct str no = STR("=false");
    return str_ends(off, no) ? arena_printf(a, "%.*s=true", (int)(off.n - no.n), off.p) : off;
}

/* The frontend gives nobody a name to switch it off, and it is on by default. */
static bool is_always_on(const struct claim *c, struct str off) {
    const struct fact *f = fact_of_option(&c->set->facts, off);
    return f && !f->xla.n && c->compile && c->compile->texts->called_by_it &&
           fact_default(f, STR("false"), c->compile->days, true) == DEFAULT_NO && str_ends(off, STR("=false"));
}

/* What nothing switches off ran before there was TTIR; of passes that no file describes nothing is known. */
static bool has_run(const struct claim *c) {
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    return pass && (!off_of(c).n || c->fusing == FUSING_ON || is_always_on(c, pass->off) ||
                    (c->compile && pass_seen(c->compile, pass->name)));
}

/* The line of a dump that shows its pass; 0: none does. */
static uint64_t pass_dump(const struct claim *c) {
    const struct seen_fact *seen = c->compile ? pass_seen(c->compile, c->pattern->status.pass) : NULL;
    return seen ? seen->line : 0;
}

static bool has_yet_to_run(const struct claim *c) {
    return c->before && (off_of(c).n || !find_pass(c->set, c->pattern->status.pass));
}

static struct day_span days_of(const struct claim *c) {
    return c->compile ? c->compile->days : (struct day_span){STR(""), STR("")};
}

/* What makes it in a compiler that lacks its pattern, has this one or may have it, or is too old for both, of which
 * this one came first and stayed; NULL: nothing does. */
static const struct fact *made_earlier(const struct claim *c) {
    const struct pattern_status *s = &c->pattern->status;
    const struct fact *earlier = fact_of_pattern(&c->set->facts, s->earlier);
    struct day_span days = days_of(c);
    bool lacks = !c->before && fact_is_younger(fact_of_pattern(&c->set->facts, s->pattern), days);
    bool gone =
        earlier && earlier->until.n && (fact_is_younger(earlier, days) || str_cmp(earlier->until, days.since) <= 0);
    return lacks && !gone ? earlier : NULL;
}

/* Empty where the compiler has it for sure. */
static struct str open_days(const struct claim *c, const struct fact *f, struct arena *a) {
    if (!c->compile || !f || fact_is_there(f, days_of(c)))
        return STR("");
    return arena_printf(a, f->until.n ? "%.*s to %.*s" : "since %.*s", (int)f->since.n, f->since.p, (int)f->until.n,
                        f->until.p);
}

struct str claim_behind(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    const struct fact *earlier = made_earlier(c);
    bool named = earlier && fact_is_younger(earlier, days_of(c)); /* with its day */
    const struct str parts[] = {c->undone.n ? c->undone
                                : named     ? STR("")
                                : earlier   ? s->earlier
                                            : s->pass,
                                !earlier ? claim_file(c)
                                : named  ? STR("")
                                         : open_days(c, earlier, a)};
    struct buf b = {0};
    for (int i = 0; i < 2; i++)
        add(&b, b.n ? ", " : " (", (struct str){parts[i].p, parts[i].n - str_ends(parts[i], STR("."))}, "");
    buf_add(&b, str_of(b.n ? ")" : ""));
    return buf_take(&b, a);
}

/* ---- what to do ---- */

static bool is_on(const struct claim *c, struct str option) {
    return option.n && c->compile && option_is_on(c->compile, option);
}

/* "optimization_level": 1 */
static void add_entry(struct buf *b, const struct claim *c, struct str option, bool jax) {
    const struct fact *f = fact_of_option(&c->set->facts, option);
    size_t value = f->option.n + 1;
    bool truth = str_ends(option, STR("=true")) || str_ends(option, STR("=false"));
    char first = truth && !jax ? (char)(option.p[value] - 'a' + 'A') : option.p[value];
    buf_printf(b, "%s\"%.*s\": %s%c%.*s%s", b->p[b->n - 1] == '{' ? "" : ", ", (int)f->xla.n, f->xla.p, jax ? "\"" : "",
               first, (int)(option.n - value - 1), option.p + value + 1, jax ? "\"" : "");
}

/* As the frontend takes it; empty, where the options are those of the pipeline, or one has no name there. */
static struct str spelled(const struct claim *c, struct str first, struct str then, struct arena *a) {
    enum frontend by = c->compile ? c->compile->texts->frontend : FRONTEND_OTHER;
    struct buf b = {0};
    struct str both[] = {first, then};
    for (int i = 0; i < 2 && by != FRONTEND_OTHER; i++) {
        const struct fact *f = both[i].n ? fact_of_option(&c->set->facts, both[i]) : NULL;
        if (both[i].n && (!f || !f->xla.n))
            by = FRONTEND_OTHER;
    }
    if (by == FRONTEND_OTHER)
        return STR("");
    buf_add(&b, by == FRONTEND_JAX ? STR("jax.jit(..., compiler_options={")
                                   : STR("torch_xla.set_custom_compile_options({"));
    for (int i = 0; i < 2; i++)
        if (both[i].n)
            add_entry(&b, c, both[i], by == FRONTEND_JAX);
    buf_add(&b, STR("})"));
    return buf_take(&b, a);
}

/* tt-xla builds its compiler so from some day on. */
static struct str needs_of(const struct claim *c, struct str option) {
    struct str needs = STR("");
    for (uint32_t i = c->set->noptions; i-- > 0 && !needs.n;)
        if (str_eq(c->set->options[i].name, option))
            needs = c->set->options[i].needs;
    bool built = c->compile && c->compile->texts->frontend != FRONTEND_OTHER &&
                 fact_is_there(fact_of_option(&c->set->facts, needs), days_of(c));
    return built ? STR("") : needs;
}

/* "before 2026-06-02", "of 2026-03-18 at the latest". */
static struct str age(struct day_span s, struct arena *a) {
    bool at_most = str_ends(s.before, STR("+"));
    return arena_printf(a, at_most ? "of %.*s at the latest" : "before %.*s", (int)(s.before.n - at_most), s.before.p);
}

/* `with`: more that is said of it; or empty. */
static struct todo update(const struct claim *c, const struct fact *f, struct str name, struct str with,
                          struct arena *a) {
    struct str old = age(days_of(c), a);
    return (struct todo){.kind = TODO_UPDATE,
                         .what = name,
                         .why =
                             arena_printf(a, "your compiler (%.*s) lacks it: %.*s came on %.*s%.*s", (int)old.n, old.p,
                                          (int)name.n, name.p, (int)f->since.n, f->since.p, (int)with.n, with.p)};
}

/* `then`: a second option; or empty. Of those that are on nothing is said; one that the compiler cannot have makes it
 * old. */
static struct todo set_options(const struct claim *c, struct str first, struct str then, struct arena *a) {
    struct str both[] = {is_on(c, first) ? STR("") : first, is_on(c, then) ? STR("") : then};
    for (int i = 0; i < 2; i++) {
        const struct fact *f = fact_of_option(&c->set->facts, both[i]);
        if (both[i].n && fact_is_younger(f, days_of(c)))
            return update(c, f, f->option, STR(""), a);
    }
    if (!both[0].n) {
        both[0] = both[1];
        both[1] = STR("");
    }
    struct str last = both[1].n ? both[1] : both[0];
    return (struct todo){.kind = both[0].n ? TODO_OPTION : TODO_LOOK,
                         .what = both[0],
                         .then = both[1],
                         .needs = needs_of(c, last),
                         .at_most = str_eq(last, c->pattern->status.keeps),
                         .spelled = both[0].n ? spelled(c, both[0], both[1], a) : STR("")};
}

/* With its day, where days leave open whether the compiler has the pattern. */
static struct str with_age(const struct claim *c, struct str name, const struct fact *f, struct arena *a) {
    struct str days = open_days(c, f, a);
    return days.n ? arena_printf(a, "%.*s (%.*s)", (int)name.n, name.p, (int)days.n, days.p) : name;
}

/* Where it may be off. */
static struct str open_state(const struct claim *c, struct arena *a) {
    const struct compiler_pass *pass = find_pass(c->set, c->pattern->status.pass);
    struct str off = off_of(c);
    bool may_be_off = off.n && !has_run(c), both = pass && pass->off.n && !str_eq(off, pass->off);
    off = both ? arena_printf(a, "%.*s or %.*s", (int)pass->off.n, pass->off.p, (int)off.n, off.p) : off;
    return may_be_off ? arena_printf(a, "unless %.*s was given", (int)off.n, off.p) : STR("");
}

static struct str tried(const struct claim *c, struct arena *a) {
    const struct tried_answer *t = c->tried;
    return t ? arena_printf(a, "%.*s (tried %.*s, %.*s)", (int)t->answer.n, t->answer.p, (int)t->day.n, t->day.p,
                            (int)t->compiler.n, t->compiler.p)
             : STR("");
}

/* Empty where the compiler, which begins with TTIR, could not answer. */
static struct str how_to_ask(const struct claim *c) {
    bool any = c->traced && fact_of_pass(&c->set->facts, c->pattern->status.pass);
    return any ? STR("`try --why` tells why") : STR("");
}

struct str claim_maker(const struct claim *c) {
    const struct pattern_status *s = &c->pattern->status;
    struct str pattern = made_earlier(c) ? s->earlier : s->pattern;
    return pattern.n ? pattern : s->pass;
}

/* `f`: what is known of its maker; NULL: its age is not said. */
static struct todo left(const struct claim *c, const struct fact *f, struct arena *a) {
    return (struct todo){.kind = TODO_LOOK,
                         .what = with_age(c, claim_maker(c), f, a),
                         .why = open_state(c, a),
                         .tried = c->tried ? tried(c, a) : how_to_ask(c),
                         .line = pass_dump(c),
                         .around = c->around,
                         .ran = has_run(c) && (!f || !c->compile || fact_is_there(f, days_of(c)))};
}

/* Of an option that the user's compiler does not fuse it with, nothing is said; but of one that keeps what is seen to
 * have been fused. */
static struct todo heed(const struct claim *c, struct todo t, struct arena *a) {
    struct str answer = c->tried ? c->tried->answer : STR("");
    bool none = str_starts(answer, STR("fuses after none")), named = str_find(answer, t.what);
    if (!c->tried || t.kind == TODO_LOOK || t.kind == TODO_UPDATE || (t.kind == TODO_WRITE && none))
        return t;
    bool made = str_starts(answer, STR("fuses alone")) || str_starts(answer, STR("fuses in its model"));
    if (t.kind == TODO_OPTION && !t.then.n && !made && !named && !c->undone.n)
        return left(c, NULL, a);
    t.tried = tried(c, a);
    t.at_most &= none || !named;
    return t;
}

/* Why the fusing passes seem not to have run; *sure: they have not. */
static struct str seems_off(const struct claim *c, const struct fact *f, bool *sure, struct arena *a) {
    struct str maker = claim_maker(c), name = with_age(c, maker, fact_of_pattern(&c->set->facts, maker), a);
    bool by_default = f && fact_default(f, STR("true"), days_of(c), false) == DEFAULT_NO;
    *sure = by_default || c->many;
    return by_default ? STR("which is off by default")
           : c->many  ? STR("since nothing here is fused")
                      : arena_printf(a, "if it was off; else %.*s left it", (int)name.n, name.p);
}

/* Of fusing passes that do not seem to have run; `then`: what it takes beside them; or empty. */
static struct todo turn_on(const struct claim *c, struct str then, struct arena *a) {
    struct str off = find_pass(c->set, c->pattern->status.pass)->off;
    const struct fact *f = fact_of_option(&c->set->facts, off);
    if (fact_is_younger(f, days_of(c)))
        return update(c, f, f->option, STR(""), a);
    then = is_on(c, then) ? STR("") : then;
    struct str on = turned_on(off, a);
    bool sure;
    struct str why = seems_off(c, f, &sure, a);
    return (struct todo){.kind = TODO_OPTION,
                         .what = on,
                         .then = then,
                         .needs = needs_of(c, then.n ? then : on),
                         .spelled = spelled(c, on, then, a),
                         .at_most = !sure || then.n,
                         .tried = sure ? STR("") : how_to_ask(c),
                         .why = why};
}

/* Of a pattern that is to come: what it takes, or what keeps the op that it makes. */
static struct str options_with(const struct claim *c, struct str gated, struct str keeps, struct arena *a) {
    if (gated.n)
        return arena_printf(a, " and takes %.*s", (int)gated.n, gated.p);
    return keeps.n && !is_on(c, keeps) ? arena_printf(a, " and %.*s keeps it", (int)keeps.n, keeps.p) : STR("");
}

/* Of a pass that has not fired, or has yet to run. */
static struct todo todo_of_pass(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    const struct compiler_pass *pass = find_pass(c->set, s->pass);
    const struct fact *earlier = made_earlier(c), *f = earlier ? earlier : fact_of_pattern(&c->set->facts, s->pattern);
    struct str gated = earlier ? s->earlier_gated : s->gated, keeps = earlier ? STR("") : s->keeps;
    gated = gated.n && !is_on(c, gated) ? gated : STR("");
    if (fact_is_younger(f, days_of(c)) && !c->before)
        return update(c, f, claim_maker(c), options_with(c, gated, keeps, a), a);
    if (c->fusing == FUSING_OFF && pass && pass->off.n && !has_run(c))
        return turn_on(c, gated.n ? gated : keeps, a);
    if (gated.n) {
        struct todo t = set_options(c, gated, STR(""), a);
        t.at_most |= earlier != NULL;
        return t;
    }
    if (has_yet_to_run(c))
        return (struct todo){.kind = TODO_WAIT, .what = s->pass, .line = pass_dump(c)};
    return left(c, f, a);
}

/* A new pattern runs where those of its level do, of which it may be that nothing here tells. */
static struct todo write_one(const struct claim *c, struct arena *a) {
    struct str keeps = c->pattern->status.keeps, first;
    struct str command = arena_printf(a, "fusion-audit pass --only=%s", c->pattern->name.p);
    if (keeps.n && !c->undone.n && !is_on(c, keeps)) /* what was undone says so itself */
        command = arena_printf(a, "%s, which %.*s keeps", command.p, (int)keeps.n, keeps.p);
    first = command;
    if (!c->traced) /* it is written from the ops of TTIR */
        return (struct todo){.kind = TODO_WRITE, .what = STR("TTIR"), .undone = c->undone.n > 0};
    for (uint32_t i = 0; i < c->set->npasses && c->fusing != FUSING_ON && !c->before; i++) {
        const struct compiler_pass *pass = &c->set->passes[i];
        struct str on = turned_on(pass->off, a);
        bool runs = is_always_on(c, pass->off) || (c->compile && pass_seen(c->compile, pass->name));
        if (str_is(pass->level, "ttir") && on.n && !runs)
            first =
                arena_printf(a, "%s; first set %.*s%s", command.p, (int)on.n, on.p, c->many ? "" : ", if it was off");
    }
    return (struct todo){.kind = TODO_WRITE, .what = STR("TTIR"), .why = first, .undone = c->undone.n > 0};
}

struct todo todo_of(const struct claim *c, struct arena *a) {
    const struct pattern_status *s = &c->pattern->status;
    if (!pattern_is_direct(c->pattern))
        return (struct todo){.kind = TODO_KERNEL, .why = c->signature};
    if (str_is(s->level, "library"))
        return (struct todo){.kind = TODO_DIALECT, .what = pattern_lacks(c->pattern)};
    if (c->unmade)
        return heed(c, write_one(c, a), a);
    if (c->undone.n && s->keeps.n) {
        struct todo t = set_options(c, s->keeps, STR(""), a);
        return t.kind == TODO_LOOK ? left(c, NULL, a) : heed(c, t, a);
    }
    if (exists(c->pattern))
        return heed(c, todo_of_pass(c, a), a);
    if (!str_is(new_level(c), "ttir"))
        return heed(c, (struct todo){.kind = TODO_WRITE, .what = STR("TTNN")}, a);
    return heed(c, write_one(c, a), a);
}

const char *todo_word(enum todo_kind k) {
    static const char *const words[] = {"none", "set", "update", "look", "write", "dialect", "kernel", "wait", "leave"};
    return words[k];
}

void todo_name(const struct todo *t, struct buf *out) {
    static const struct {
        const char *before, *after; /* of `what` */
    } texts[] = {[TODO_NOTHING] = {"", ""},
                 [TODO_OPTION] = {"set ", ""},
                 [TODO_LOOK] = {"", " left it"},
                 [TODO_WRITE] = {"no pass makes it; write one in ", ""},
                 [TODO_DIALECT] = {"give the op of the TTNN dialect the ", " that TTNN's library takes"},
                 [TODO_KERNEL] = {"no op of TTNN saves as much, kernel feature request", ""},
                 [TODO_WAIT] = {"wait for ", ", which has yet to run"},
                 [TODO_LEAVE] = {"leave it: fusing is estimated to be slower", ""}};
    if (t->spelled.n || t->kind == TODO_UPDATE) {
        add(out, "", t->kind == TODO_UPDATE ? t->why : t->spelled, "");
        return;
    }
    if (t->kind == TODO_WAIT && t->line) {
        buf_printf(out, "TTNN tells what %.*s left, which ran behind these ops (its dump in line %llu)", (int)t->what.n,
                   t->what.p, (unsigned long long)t->line);
        return;
    }
    if (t->around.kind == AROUND_BEHIND) {
        buf_printf(out, "its ops came behind %.*s (the dump before it is in line %llu)", (int)t->what.n, t->what.p,
                   (unsigned long long)t->around.before);
        return;
    }
    if (t->kind == TODO_DIALECT && str_is(t->what, "the op")) {
        buf_add(out, STR("add the op to the TTNN dialect, TTNN's library has the kernel"));
        return;
    }
    const char *before = t->undone ? "no pass makes it as the device takes it; write one in " : texts[t->kind].before;
    buf_printf(out, "%s%.*s", before, (int)t->what.n, t->what.p);
    if (t->around.kind == AROUND_LEFT) {
        buf_printf(out, " %sleft it (line %llu before it, line %llu behind it)", t->ran ? "ran and " : "",
                   (unsigned long long)t->around.before, (unsigned long long)t->around.behind);
        return;
    }
    if (t->ran)
        buf_add(out, STR(" ran"));
    if (t->ran && t->line)
        buf_printf(out, " (its dump in line %llu)", (unsigned long long)t->line);
    if (t->ran)
        buf_add(out, STR(" and"));
    add(out, " and ", t->then, "");
    buf_add(out, str_of(texts[t->kind].after));
}

void todo_reason(const struct todo *t, struct buf *out) {
    if (t->kind != TODO_UPDATE)
        add(out, t->kind == TODO_OPTION || t->kind == TODO_LOOK ? ", " : ": ", t->why, "");
    add(out, t->kind == TODO_LOOK && !t->why.n ? ": " : "; ", t->tried, "");
}

void todo_text(const struct todo *t, struct buf *out) {
    todo_name(t, out);
    todo_reason(t, out);
}
