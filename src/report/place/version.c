/* The days are those of the facts (patterns/library/history.h). */
#include "report/place/version.h"

#include <string.h>

#include "ir/graph/attributes.h"

/* ---- what a module prints ---- */

/* A fact of one op name that dates the compiler. */
static bool has_printed(const struct graph *g, uint32_t op, const struct print_fact *p, struct str *what) {
    const struct mlir_op *o = &g->m->ops[op];
    if (p->operand.n) {
        *what = STR("the destination operand");
        return o->noperands > graph_noperands(g, op);
    }
    if (p->results.n) {
        *what = STR("the number of results");
        return str_is(p->results, mlir_result_name(g->m, op).n == 0 ? "0" : o->nresults == 1 ? "1" : "");
    }
    for (struct str rest = p->attributes; rest.n;) {
        size_t n = 0;
        while (n < rest.n && rest.p[n] != ' ')
            n++;
        *what = (struct str){rest.p, n};
        char key[64];
        if (n < sizeof key) {
            memcpy(key, rest.p, n);
            key[n] = '\0';
            if (attrs_find(graph_attributes(g, op), key))
                return true;
        }
        rest = n < rest.n ? (struct str){rest.p + n + 1, rest.n - n - 1} : STR("");
    }
    return !p->attributes.n;
}

static struct str sign_text(const struct graph *g, uint32_t op, struct str what, struct arena *a) {
    struct str name = mlir_op_name(g->m, op);
    return what.n ? arena_printf(a, "%.*s of %.*s", (int)what.n, what.p, (int)name.n, name.p) : arena_str(a, name);
}

static struct version_sign sign_of(const struct graph *g, uint32_t op, struct str day, struct str what,
                                   struct arena *a) {
    return (struct version_sign){day, sign_text(g, op, what, a), op, mlir_place(g->m, g->m->ops[op].text.begin).line};
}

/* The rows that are of an op by its name. */
struct rows {
    uint32_t *of, n; /* indices of `prints` */
};

static struct rows *rows_by_name(const struct compiler_facts *facts, const struct mlir *m, struct arena *a) {
    struct rows *all = arena_alloc(a, (m->nnames + (size_t)1) * sizeof *all);
    memset(all, 0, (m->nnames + (size_t)1) * sizeof *all);
    for (uint32_t i = 0; i < m->nnames; i++) {
        struct str name = m->names[i];
        bool ttir = str_starts(name, STR("ttir.")), ttnn = str_starts(name, STR("ttnn."));
        struct str op = ttir || ttnn ? (struct str){name.p + 5, name.n - 5} : STR("");
        all[i].of = op.n ? arena_alloc(a, (facts->nprints + (size_t)1) * sizeof *all[i].of) : NULL;
        for (uint32_t k = 0; k < facts->nprints && op.n; k++)
            if (word_among(ttir ? facts->prints[k].ttir : facts->prints[k].ttnn, op))
                all[i].of[all[i].n++] = k;
    }
    return all;
}

static void see_row(const struct graph *g, uint32_t op, const struct print_fact *p, struct arena *a,
                    struct version *out) {
    struct str what = STR(""), since = p->since, until = p->until;
    if (!has_printed(g, op, p, &what)) {
        if (!p->operand.n || !until.n ||
            graph_class(g, op) != OP_ELTWISE) /* of others it may be among the operands that have a role */
            return;
        since = until;
        until = STR("");
        what = STR("no destination operand");
    }
    if (since.n && (!out->since.day.n || str_cmp(since, out->since.day) > 0))
        out->since = sign_of(g, op, since, what, a);
    if (until.n && (!out->before.day.n || str_cmp(until, out->before.day) < 0))
        out->before = sign_of(g, op, until, what, a);
}

void version_of(const struct compiler_facts *facts, const struct graph *g, struct arena *a, struct version *out) {
    const struct rows *rows = rows_by_name(facts, g->m, a);
    *out = (struct version){.since = {.op = NONE}, .before = {.op = NONE}};
    for (uint32_t op = 0; op < g->m->nops; op++)
        for (uint32_t i = 0; i < rows[g->m->ops[op].name].n; i++)
            see_row(g, op, &facts->prints[rows[g->m->ops[op].name].of[i]], a, out);
    if (out->since.day.n && out->before.day.n && str_cmp(out->since.day, out->before.day) >= 0)
        *out = (struct version){.since = {.op = NONE}, .before = {.op = NONE}}; /* no compiler printed it */
}

/* ---- what stands around the modules ---- */

static uint64_t line_at(const struct source *s, const char *p) {
    return source_place(s, (size_t)(p - s->data)).line;
}

static void add_seen(struct seen_texts *t, const struct source *s, const char *at, const struct fact *f,
                     struct str value) {
    for (uint32_t i = 0; i < t->n; i++)
        if (t->facts[i].fact == f)
            return;
    if (t->n < MOST_SEEN)
        t->facts[t->n++] = (struct seen_fact){f, value, line_at(s, at), s->path};
}

/* A dump before it or behind it. */
static void see_pass(struct seen_texts *t, const struct fact *f, const struct source *s, struct arena *a) {
    struct str text = {s->data, s->size};
    const char *sides[] = {"Before", "After"}, *at = NULL;
    for (int i = 0; i < 2 && !at; i++)
        at = str_find(text, arena_printf(a, "IR Dump %s %.*s ", sides[i], (int)f->dump.n, f->dump.p));
    if (at)
        add_seen(t, s, at, f, STR(""));
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* "name=value", "name: value", "\"name\": \"value\"". */
static void see_option(struct seen_texts *t, const struct fact *f, struct str name, const struct source *s,
                       struct arena *a) {
    struct str rest = {s->data, s->size};
    for (const char *at; name.n && (at = str_find(rest, name)); rest.p = at + name.n) {
        rest.n -= (size_t)(at + name.n - rest.p);
        const char *p = at + name.n, *end = s->data + s->size;
        bool whole = at == s->data || !is_word(at[-1]), set = false;
        for (; p < end && strchr("\"' :=", *p) && *p; p++)
            set |= *p == '=' || *p == ':';
        const char *value = p;
        while (p < end && is_word(*p))
            p++;
        if (whole && set && p > value) {
            struct str v = arena_str(a, (struct str){value, (size_t)(p - value)});
            add_seen(t, s, at, f, str_is(v, "True") ? STR("true") : str_is(v, "False") ? STR("false") : v);
            return;
        }
    }
}

static bool is_day(const char *p) {
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? p[i] < '0' || p[i] > '9' : p[i] != form[i])
            return false;
    return true;
}

/* "2026-03-18" to "2026-03-19": a text that is behind it and before the next one. */
static struct str behind(struct str day, struct arena *a) {
    return arena_printf(a, "%.*s+", (int)day.n, day.p);
}

/* Lines of a log that begin with their time. */
static void see_days(struct seen_texts *t, const struct source *s, struct arena *a) {
    enum { STAMP = 19, DAY = 10 };
    const char *last = NULL, *end = s->data + s->size;
    for (const char *p = s->data; p && end - p > STAMP; p = memchr(p, '\n', (size_t)(end - p)), p = p ? p + 1 : NULL)
        if (is_day(p) && (!last || memcmp(p, last, DAY) > 0))
            last = p;
    struct str day = last ? (struct str){last, DAY} : STR("");
    if (last && (!t->day.day.n || str_cmp(day, t->day.day) > 0))
        t->day = (struct version_sign){behind(day, a), STR("the log's own time"), NONE, line_at(s, last)};
}

void texts_see(struct seen_texts *t, const struct compiler_facts *facts, const struct source *s, struct arena *a) {
    struct str text = {s->data, s->size};
    if (str_find(text, STR("@SyncTensorsGraph")) || str_find(text, STR("@ReplicateShardedData")))
        t->frontend = FRONTEND_TORCH_XLA;
    t->called_by_it |= str_find(text, STR(" module_builder.cc:")) != NULL;
    if (t->frontend == FRONTEND_OTHER && t->called_by_it && str_find(text, STR("module @jit_")))
        t->frontend = FRONTEND_JAX;
    see_days(t, s, a);
    bool dumps = str_find(text, STR("IR Dump ")) != NULL;
    for (uint32_t i = 0; i < facts->nhad; i++) {
        const struct fact *f = &facts->had[i];
        if (f->dump.n && dumps)
            see_pass(t, f, s, a);
        if (f->option.n) {
            see_option(t, f, f->option, s, a);
            see_option(t, f, f->xla, s, a);
        }
    }
}

/* ---- a compile ---- */

static struct version_sign later(struct version_sign a, struct version_sign b) {
    return !b.day.n || (a.day.n && str_cmp(a.day, b.day) >= 0) ? a : b;
}

static struct version_sign earlier(struct version_sign a, struct version_sign b) {
    return !b.day.n || (a.day.n && str_cmp(a.day, b.day) <= 0) ? a : b;
}

static bool is_there(const struct graph *g, enum op_kind kind) {
    for (uint32_t op = 0; g && op < g->m->nops; op++)
        if (g->kind[op] == kind)
            return true;
    return false;
}

/* No pattern makes it without this option. */
static bool only_option_makes(const struct seen_compile *c, const struct fact *f, enum op_kind kind) {
    for (uint32_t i = 0; i < c->set->n; i++) {
        const struct pattern *p = c->set->items[i];
        if (p->makes == kind && pattern_is_direct(p) && fact_of_option(&c->set->facts, p->status.gated) != f)
            return false;
    }
    return true;
}

/* The first op of TTNN that a pattern, which the compiler is known to have, makes with this option alone, and TTIR has
 * none of. */
static uint64_t made_by_option(const struct seen_compile *c, const struct graph *ttir, const struct graph *ttnn,
                               const struct fact *f) {
    for (uint32_t i = 0; i < c->set->n; i++) {
        const struct pattern *p = c->set->items[i];
        if (p->makes == NO_OPERATOR || fact_of_option(&c->set->facts, p->status.gated) != f ||
            !fact_is_there(fact_of_pattern(&c->set->facts, p->status.pattern), c->days) ||
            !only_option_makes(c, f, p->makes) || is_there(ttir, p->makes))
            continue;
        for (uint32_t op = 0; op < ttnn->m->nops; op++)
            if (ttnn->kind[op] == p->makes)
                return mlir_place(ttnn->m, ttnn->m->ops[op].text.begin).line;
    }
    return 0;
}

void compile_see(const struct pattern_set *set, const struct seen_texts *t, const struct graph *ttir,
                 const struct graph *ttnn, struct arena *a, struct seen_compile *out) {
    const struct graph *both[] = {ttir, ttnn};
    *out = (struct seen_compile){.set = set, .texts = t, .version = {.before = t->day}};
    for (int i = 0; i < 2; i++) {
        struct version v;
        if (!both[i])
            continue;
        version_of(&set->facts, both[i], a, &v);
        out->version.since = later(out->version.since, v.since);
        out->version.before = earlier(out->version.before, v.before);
    }
    if (out->version.since.day.n && out->version.before.day.n &&
        str_cmp(out->version.since.day, out->version.before.day) >= 0)
        out->version = (struct version){.since = {.op = NONE}};
    out->days = (struct day_span){out->version.since.day, out->version.before.day};
    out->made_at = arena_alloc(a, (set->facts.nhad + (size_t)1) * sizeof *out->made_at);
    for (uint32_t i = 0; i < set->facts.nhad; i++)
        out->made_at[i] =
            ttir && ttnn && set->facts.had[i].option.n ? made_by_option(out, ttir, ttnn, &set->facts.had[i]) : 0;
}

const struct seen_fact *pass_seen(const struct seen_compile *c, struct str pass) {
    const struct fact *f = fact_of_pass(&c->set->facts, pass);
    for (uint32_t i = 0; f && i < c->texts->n; i++)
        if (c->texts->facts[i].fact == f)
            return &c->texts->facts[i];
    return NULL;
}

static struct str value_of(struct str option) {
    for (size_t i = 0; i < option.n; i++)
        if (option.p[i] == '=')
            return (struct str){option.p + i + 1, option.n - i - 1};
    return STR("");
}

bool option_is_on(const struct seen_compile *c, struct str option) {
    const struct fact *f = fact_of_option(&c->set->facts, option);
    if (!f)
        return false;
    if (c->made_at[f - c->set->facts.had])
        return true;
    for (uint32_t i = 0; i < c->texts->n; i++)
        if (c->texts->facts[i].fact == f)
            return str_cmp(c->texts->facts[i].value, value_of(option)) >= 0; /* a level above it, too */
    return fact_default(f, value_of(option), c->days, c->texts->frontend != FRONTEND_OTHER) == DEFAULT_YES;
}
