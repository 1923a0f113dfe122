#include "report/explain/asked.h"

#include <stdlib.h>
#include <string.h>

#include "ir/pair/pair.h"
#include "report/place/notes.h"

enum { MOST_LOCATIONS = 16, MOST_NAMED = 4 };

/* What was asked for, taken apart. */
struct asked_place {
    struct str text;
    struct str value;      /* "%12"; or empty */
    struct str file, op;   /* of a line; or empty */
    uint64_t line;         /* 0: none */
    bool is_ttir, is_ttnn; /* "ttir:%12" */
};

static bool take(struct str *s, const char *prefix) {
    struct str p = str_of(prefix);
    if (!str_starts(*s, p))
        return false;
    *s = (struct str){s->p + p.n, s->n - p.n};
    return true;
}

/* Up to the first of these characters. */
static struct str head(struct str s, const char *ends) {
    size_t n = 0;
    while (n < s.n && !strchr(ends, s.p[n]))
        n++;
    return (struct str){s.p, n};
}

/* A number and nothing behind it but, after a colon, a column or what a message says, or a function. */
static uint64_t number_at(struct str s) {
    uint64_t x = 0;
    size_t n = 0;
    for (; n < s.n && n < 10 && s.p[n] >= '0' && s.p[n] <= '9'; n++)
        x = 10 * x + (uint64_t)(s.p[n] - '0');
    return n > 0 && (n == s.n || s.p[n] == ':' || str_starts((struct str){s.p + n, s.n - n}, STR(" ("))) ? x : 0;
}

static struct asked_place asked_place_of(const char *at) {
    struct asked_place q = {.text = str_trim(str_of(at))};
    struct str rest = q.text, first = head(rest, " ");
    q.is_ttir = take(&rest, "ttir:");
    q.is_ttnn = take(&rest, "ttnn:");
    if (q.is_ttir || q.is_ttnn)
        q.text = rest;
    if (rest.n && *rest.p == '%') {
        q.value = head(rest, " ,:;#)");
        struct str behind = head((struct str){q.value.p + q.value.n, rest.n - q.value.n}, "=(");
        q.value = str_find(behind, STR("%")) ? rest : q.value; /* several are the name of none; a line has one */
        return q;
    }
    if (first.n < rest.n && str_find(first, STR("."))) {
        struct str behind = str_trim((struct str){rest.p + first.n, rest.n - first.n});
        (void)(take(&behind, "at line ") || take(&behind, "line "));
        q.op = first;
        q.line = number_at(behind);
        if (q.line)
            return q;
        q.op = STR("");
    }
    const char *paren = memrchr(rest.p, '(', rest.n); /* "layer 0 (encoder.layer.0.dense)" */
    if (paren && str_ends(rest, STR(")")) && memchr(rest.p, ' ', (size_t)(paren - rest.p)))
        q.text = (struct str){paren + 1, rest.n - (size_t)(paren - rest.p) - 2};
    (void)(take(&q.text, "fed by ") || take(&q.text, "before "));
    const char *several = str_find(q.text, STR(": ")); /* "encoder.layer.0: query, key" */
    several = several ? several : str_find(q.text, STR(", "));
    q.text.n = several ? (size_t)(several - q.text.p) : q.text.n;
    (void)take(&rest, "line ");
    q.line = number_at(rest);
    for (size_t i = rest.n; i-- > 1 && !q.line;) /* the last colons first: a path may have some */
        if (rest.p[i] == ':' && i + 1 < rest.n) {
            q.file = (struct str){rest.p, i};
            q.line = number_at((struct str){rest.p + i + 1, rest.n - i - 1});
        }
    return q;
}

/* ---- the ops of one level ---- */

static bool separates(struct str name, const char *p) {
    return p == name.p + name.n || strchr("._/'[]", *p);
}

/* The name, or a path in it: "encoder.layer.0" in "model.encoder.layer.0.dense.weight". A name without any separator is
 * that of an op, and not of all that have it. */
static bool is_named(struct str name, struct str at) {
    if (!at.n || (!memchr(at.p, '.', at.n) && !memchr(at.p, '_', at.n)))
        return at.n && str_eq(name, at);
    for (struct str rest = name; rest.n >= at.n;) {
        const char *p = str_find(rest, at);
        if (!p)
            return false;
        if ((p == name.p || separates(name, p - 1)) && separates(name, p + at.n))
            return true;
        rest = (struct str){p + 1, (size_t)(name.p + name.n - p - 1)};
    }
    return false;
}

static bool has_location(const struct mlir *m, uint32_t op, struct str at) {
    struct str names[MOST_LOCATIONS];
    int n = mlir_loc_names(m, op, names, MOST_LOCATIONS);
    for (int i = 0; i < n && i < MOST_LOCATIONS; i++)
        if (is_named(names[i], at))
            return true;
    return at.n && str_eq(mlir_loc_text(m, op), at);
}

/* Ops span lines only where they have regions or long attributes. */
static bool is_on_line(const struct mlir *m, uint32_t op, uint64_t line) {
    return mlir_place(m, m->ops[op].text.begin).line <= line && line <= mlir_place(m, m->ops[op].text.end - 1).line;
}

/* "m.mlir:12:3" is column 3 of line 12 where m.mlir is the file, and line 3 of "m.mlir:12" where that is. */
static bool is_of_file(const struct level *l, const struct asked_place *q, uint64_t *line) {
    struct str path = str_of(l->source->path), file = q->file;
    *line = q->line;
    if (!file.n || str_ends(path, file))
        return true;
    const char *colon = memrchr(file.p, ':', file.n);
    if (!colon)
        return false;
    struct str shorter = {file.p, (size_t)(colon - file.p)};
    *line = number_at((struct str){colon + 1, file.n - shorter.n - 1});
    return *line && shorter.n && str_ends(path, shorter);
}

static void mark_direct_users(const struct graph *g, uint32_t value, bool *asked) {
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1]; i++)
        asked[g->uses[i]] = true;
}

/* What is made once of a value is used where its result is. */
static void mark_users(const struct graph *g, uint32_t value, bool *asked) {
    mark_direct_users(g, value, asked);
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1]; i++) {
        const struct mlir_op *op = &g->m->ops[g->uses[i]];
        for (uint32_t k = 0; k < op->nresults && graph_is_made_once(g, g->uses[i]); k++)
            mark_direct_users(g, op->first_result + k, asked);
    }
}

static bool mark_values(const struct graph *g, struct str name, bool *asked) {
    bool any = false;
    for (uint32_t v = 0; v < g->m->nvalues; v++) {
        uint32_t def = g->m->values[v].def;
        if (!str_eq(mlir_span(g->m, g->m->values[v].name), name))
            continue;
        any = true;
        if (def != NONE)
            asked[def] = true;
        if (def == NONE || graph_class(g, def) == OP_CONSTANT || graph_class(g, def) == OP_CALL)
            mark_users(g, v, asked);
    }
    return any;
}

/* What uses arguments of this name; computed once, what uses that. */
static bool mark_arguments(const struct graph *g, struct str at, bool *asked) {
    bool any = false;
    for (uint32_t v = 0; v < g->m->nvalues; v++) {
        uint32_t argument = graph_argument(g, v);
        if (argument == NONE || !is_named(graph_argument_name(g, argument), at))
            continue;
        mark_users(g, v, asked);
        any |= g->first_use[v] < g->first_use[v + 1];
    }
    return any;
}

/* Every op of this name: "ttnn.softmax". */
static bool mark_named(const struct mlir *m, struct str name, bool *asked) {
    bool any = false;
    for (uint32_t op = 0; op < m->nops; op++)
        if (str_eq(mlir_op_name(m, op), name))
            any = asked[op] = true;
    return any;
}

static bool mark_level(const struct level *l, const struct asked_place *q, bool *asked) {
    const struct mlir *m = &l->ir;
    uint64_t line = 0;
    bool any = false;
    if (q->value.n)
        return mark_values(&l->graph, q->value, asked);
    for (uint32_t op = 0; op < m->nops && !(q->line && !q->file.n); op++)
        if (graph_class(&l->graph, op) != OP_STRUCTURE &&
            (has_location(m, op, q->text) || (q->line && op_is_from(m, op, q->file, q->line))))
            any = asked[op] = true;
    if (!any && !q->line)
        return mark_arguments(&l->graph, q->text, asked) || mark_named(m, q->text, asked);
    if (any || !is_of_file(l, q, &line))
        return any;
    for (uint32_t op = 0; op < m->nops; op++)
        if (graph_class(&l->graph, op) != OP_STRUCTURE && is_on_line(m, op, line) &&
            (!q->op.n || str_eq(mlir_op_name(m, op), q->op)))
            any = asked[op] = true;
    return any;
}

/* ---- from TTIR to TTNN ---- */

static void name_op(const struct mlir *m, uint32_t op, struct buf *out) {
    struct str name = mlir_op_name(m, op);
    buf_printf(out, "%.*s", (int)name.n, name.p);
    struct str value = mlir_result_name(m, op);
    buf_printf(out, "%s%.*s", value.n ? " " : "", (int)value.n, value.p);
    buf_printf(out, " at line %llu", (unsigned long long)mlir_place(m, m->ops[op].text.begin).line);
}

/* All that these ops became. */
static bool carry_over(const struct pairing *p, const bool *in_ttir, bool *asked) {
    bool any = false;
    for (uint32_t op = 0; op < p->ttnn->m->nops; op++)
        if (p->ttir_of[op] != NONE && in_ttir[p->ttir_of[op]])
            any = asked[op] = true;
    return any;
}

/* One op further: what uses the results of marked ops is marked, too. False: nothing does. */
static bool step_forward(const struct graph *g, bool *marked) {
    bool any = false;
    for (uint32_t op = g->m->nops; op-- > 0;)
        for (uint32_t i = 0; marked[op] && i < g->m->ops[op].nresults; i++) {
            uint32_t v = g->m->ops[op].first_result + i;
            for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++) {
                any |= !marked[g->uses[u]];
                marked[g->uses[u]] = true;
            }
        }
    return any;
}

static struct str say_became(const struct level *from, const bool *first, const struct level *to, const bool *asked,
                             struct arena *a) {
    const struct level *levels[] = {from, to};
    const bool *marks[] = {first, asked};
    struct buf out = {0};
    for (int k = 0; k < 2; k++) {
        uint32_t n = 0;
        for (uint32_t op = 0; op < levels[k]->ir.nops; op++)
            if (marks[k][op] && n++ < MOST_NAMED) {
                buf_add(&out, n > 1 ? STR(", ") : k ? STR(": here ") : STR(""));
                name_op(&levels[k]->ir, op, &out);
            }
        if (n > MOST_NAMED)
            buf_printf(&out, " and %u more", n - MOST_NAMED);
    }
    return buf_take(&out, a);
}

static bool mark_descendants(const struct level *ttir, const bool *first, const struct level *ttnn, struct arena *a,
                             bool *asked) {
    struct pairing p;
    size_t n = ttir->ir.nops + (size_t)1;
    bool *marked = arena_alloc(a, n);
    memcpy(marked, first, n);
    pair_build(&p, &ttir->graph, &ttnn->graph, true);
    bool any = carry_over(&p, marked, asked);
    while (!any && step_forward(&ttir->graph, marked))
        any = carry_over(&p, marked, asked);
    pair_free(&p);
    return any;
}

static bool is_ttnn(const struct level *l) {
    bool any = false;
    for (uint32_t op = 0; op < l->ir.nops && !any; op++)
        any = graph_is_ttnn(&l->graph, op);
    return any;
}

bool asked_mark(const char *at, const struct level *decides, const struct level *ttir, struct arena *a, bool *asked,
                struct str *became) {
    struct asked_place q = asked_place_of(at);
    bool in_decides = ttir || is_ttnn(decides) ? !q.is_ttir : !q.is_ttnn;
    *became = STR("");
    if (in_decides && mark_level(decides, &q, asked))
        return true;
    if (!ttir || q.is_ttnn)
        return false;
    bool *first = arena_alloc(a, ttir->ir.nops + (size_t)1);
    if (!mark_level(ttir, &q, first) || !mark_descendants(ttir, first, decides, a, asked))
        return false;
    *became = say_became(ttir, first, decides, asked, a);
    return true;
}
