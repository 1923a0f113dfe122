/* The last op defines the name that the root defined, so that no user of it changes. The location of the fused op is
 * that of the root, fused with those of the ops that it stands for. */
#include "compile/apply/replace.h"

#include <stdlib.h>

struct printing_lines {
    const struct mlir *m;
    const struct emitter *e;
    struct arena *arena;
    const struct form_request *request; /* whose results are printed under the names of what they replace */
    struct str indent;
    struct str location, own; /* of any op, of one of the kind `fused` */
    enum op_kind fused;
    bool used[MAX_LINES];
};

/* ---- locations ---- */

static bool has_location(struct str text) {
    return text.n && !str_is(text, "unknown");
}

/* The locations of the root and the other ops of the match, each once, with commas; how many. */
static uint32_t list_locations(const struct mlir *m, const struct match *match, uint32_t root, struct buf *b) {
    struct str seen[64] = {mlir_loc_text(m, root)};
    uint32_t n = 1;
    buf_add(b, seen[0]);
    for (uint32_t i = 0; i < match->nops && n < 64; i++) {
        struct str one = mlir_loc_text(m, match->ops[i]);
        bool known = !has_location(one);
        for (uint32_t k = 0; k < n && !known; k++)
            known = str_eq(seen[k], one);
        if (known)
            continue;
        buf_printf(b, ", %.*s", (int)one.n, one.p);
        seen[n++] = one;
    }
    return n;
}

/* A line of its own behind the others: inside of fused[...] no location may be used before it is defined. */
static void add_alias(struct replacing *how, const struct mlir *m, const struct match *match, uint32_t root,
                      struct arena *a, struct replacement *out) {
    struct buf b = {0};
    uint32_t n = m->ops[root].loc.begin ? list_locations(m, match, root, &b) : 0;
    struct str list = buf_take(&b, a);
    if (n > 1)
        out->alias = arena_printf(a, "%.*s%u = loc(fused[%.*s])\n", (int)how->alias.n, how->alias.p, how->naliases++,
                                  (int)list.n, list.p);
}

static struct str location_of_alias(const struct replacement *r, struct str otherwise, struct arena *a) {
    struct str line = r->alias, name = str_trim(str_part(&line, '='));
    return name.n ? arena_printf(a, " loc(%.*s)", (int)name.n, name.p) : otherwise;
}

static struct str plain_location(const struct mlir *m, uint32_t root, struct arena *a) {
    struct str text = mlir_loc_text(m, root);
    return m->ops[root].loc.begin ? arena_printf(a, " loc(%.*s)", (int)text.n, text.p) : STR("");
}

/* ---- lines ---- */

static void mark_used(struct printing_lines *p, struct str name) {
    for (uint32_t i = 0; i < p->e->nlines; i++) {
        const struct short_op *s = p->e->lines[i];
        if (p->used[i] || s != emitted(p->e, name))
            continue;
        p->used[i] = true;
        for (uint32_t k = 0; k < s->noperands; k++)
            mark_used(p, s->operands[k]);
    }
}

/* The value of the module that is replaced by what is written under this name; or NONE. */
static uint32_t replaced_value(const struct printing_lines *p, struct str name) {
    for (uint32_t i = 0; i < p->request->nresults; i++)
        if (str_eq(name, p->request->results[i].written.name))
            return p->request->results[i].value;
    return NONE;
}

static struct str printed_name(const struct printing_lines *p, struct str name) {
    uint32_t value = replaced_value(p, name);
    return value == NONE ? name : mlir_span(p->m, p->m->values[value].name);
}

static bool print_line(struct printing_lines *p, const struct short_op *s, struct buf *b) {
    struct str location = s->kind == p->fused ? p->own : p->location, name;
    for (struct str rest = s->results; next_result(&rest, &name);) {
        uint32_t value = replaced_value(p, name);
        struct str printed = printed_name(p, name);
        if (value != NONE && s->kind != p->fused)
            location = plain_location(p->m, p->m->values[value].def, p->arena);
        buf_printf(b, "%s%.*s", name.p == s->results.p ? "" : ", ", (int)printed.n, printed.p);
    }
    buf_printf(b, " = \"%.*s\"(", (int)s->spelling.n, s->spelling.p);
    for (uint32_t i = 0; i < s->noperands; i++) {
        struct str operand = printed_name(p, s->operands[i]);
        buf_printf(b, "%s%.*s", i ? ", " : "", (int)operand.n, operand.p);
    }
    buf_addc(b, ')');
    if (short_print_attributes(b, p->arena, s).what)
        return false;
    buf_add(b, STR(" : ("));
    for (uint32_t i = 0; i < s->noperands; i++)
        buf_printf(b, "%s%.*s", i ? ", " : "", (int)s->operand_types[i].n, s->operand_types[i].p);
    buf_add(b, s->ntypes > 1 ? STR(") -> (") : STR(") -> "));
    for (uint32_t i = 0; i < s->ntypes; i++)
        buf_printf(b, "%s%.*s", i ? ", " : "", (int)s->types[i].n, s->types[i].p);
    buf_add(b, s->ntypes > 1 ? STR(")") : STR(""));
    buf_add(b, location);
    return true;
}

static struct str print_lines(struct printing_lines *p) {
    struct buf b = {0};
    bool first = true, good = true;
    for (uint32_t i = 0; i < p->e->nlines && good; i++) {
        if (!p->used[i])
            continue;
        if (!first)
            buf_printf(&b, "\n%.*s", (int)p->indent.n, p->indent.p);
        first = false;
        good = print_line(p, p->e->lines[i], &b);
    }
    struct str text = buf_take(&b, p->arena);
    return good ? text : STR("");
}

/* The functions of composites, in the module that the replaced op is in. */
static struct str print_functions(const struct printing_lines *p, struct str indent) {
    static const struct form_request none = {.nresults = 0};
    struct buf b = {0};
    for (const struct composite *c = p->e->composites; c; c = c->next) {
        struct printing_lines body = *p;
        struct str type = c->result.type, at = p->location;
        body.e = &c->body;
        body.request = &none;
        body.indent = arena_printf(p->arena, "%.*s  ", (int)indent.n, indent.p);
        memset(body.used, true, sizeof body.used);
        struct str lines = print_lines(&body);
        buf_printf(&b, "%.*sfunc.func private @%.*s(", (int)indent.n, indent.p, (int)c->symbol.n, c->symbol.p);
        for (uint32_t i = 0; i < c->noperands; i++)
            buf_printf(&b, "%s%%arg%u: %.*s", i ? ", " : "", i, (int)c->operands[i].type.n, c->operands[i].type.p);
        buf_printf(&b, ") -> %.*s attributes {tt.composite_decomposition} {\n%.*s%.*s\n", (int)type.n, type.p,
                   (int)body.indent.n, body.indent.p, (int)lines.n, lines.p);
        buf_printf(&b, "%.*sreturn %.*s : %.*s%.*s\n%.*s}%.*s\n", (int)body.indent.n, body.indent.p,
                   (int)c->result.name.n, c->result.name.p, (int)type.n, type.p, (int)at.n, at.p, (int)indent.n,
                   indent.p, (int)at.n, at.p);
    }
    return buf_take(&b, p->arena);
}

/* The blanks in front of an op. */
static struct str indent_of(const struct mlir *m, uint32_t op) {
    uint32_t begin = m->ops[op].text.begin, from = begin;
    while (from > 0 && (m->text.p[from - 1] == ' ' || m->text.p[from - 1] == '\t'))
        from--;
    return (struct str){m->text.p + from, begin - from};
}

/* ---- values that are read ---- */

static bool reads_name(const struct printing_lines *p, struct str name) {
    for (uint32_t i = 0; i < p->e->nlines; i++)
        for (uint32_t k = 0; p->used[i] && k < p->e->lines[i]->noperands; k++)
            if (str_eq(p->e->lines[i]->operands[k], name))
                return true;
    return false;
}

static void keep_reads(const struct printing_lines *p, const struct form_request *q, struct replacement *out) {
    out->reads = arena_alloc(p->arena, (q->nreads + (size_t)1) * sizeof *out->reads);
    for (uint32_t i = 0; i < q->nreads; i++)
        if (reads_name(p, q->reads[i].name))
            out->reads[out->nreads++] = q->reads[i].value;
}

/* The ops whose results are replaced, in textual order. False with a reason. */
static bool find_roots(const struct form_request *q, const struct mlir *m, struct replacement *out) {
    for (uint32_t i = 0; i < q->nresults; i++) {
        uint32_t op = m->values[q->results[i].value].def;
        bool twice = false;
        for (uint32_t k = 0; k < i; k++)
            twice |= out->roots[k] == op || str_eq(q->results[k].written.name, q->results[i].written.name);
        if (op == NONE || m->ops[op].nresults != 1 || twice)
            out->why = STR("the results are not those of ops with one result each");
        out->roots[out->nroots++] = op;
    }
    sort_ids(out->roots, out->nroots);
    out->place = out->roots[0];
    return out->why.n == 0;
}

/* The last of the ops that go before any result of theirs is used. */
static uint32_t last_place(const struct graph *g, const struct replacement *r) {
    uint32_t first_user = NONE, place = r->roots[0];
    for (uint32_t i = 0; i < r->nroots; i++) {
        uint32_t v = g->m->ops[r->roots[i]].first_result;
        for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++)
            first_user = g->uses[u] < first_user ? g->uses[u] : first_user;
    }
    for (uint32_t i = 0; i < r->nroots; i++)
        place = r->roots[i] < first_user ? r->roots[i] : place;
    return place;
}

enum { MOST_MOVED = 32 };

/* What makes a value stands before the text, or can be moved there: it is made of parameters and constants. */
static bool move_up(const struct match *match, uint32_t value, struct replacement *out) {
    const struct mlir *m = match->graph->m;
    uint32_t op = value == NONE ? NONE : m->values[value].def;
    if (op == NONE || op < out->place)
        return true;
    bool known = false;
    for (uint32_t i = 0; i < out->nmoved && !known; i++)
        known = out->moved[i] == op;
    if (known)
        return true;
    bool good = graph_is_parameter(match->graph, value) || graph_constant(match->graph, value).known;
    for (uint32_t k = 0; k < m->ops[op].noperands && good; k++)
        good = move_up(match, m->operands[m->ops[op].first_operand + k], out);
    if (good && out->nmoved < MOST_MOVED)
        out->moved[out->nmoved++] = op;
    return good && out->nmoved < MOST_MOVED;
}

static bool has_room(struct replacement *out) {
    bool good = true;
    out->nmoved = 0;
    for (uint32_t i = 0; i < out->nreads && good; i++)
        good = move_up(out->match, out->reads[i], out);
    sort_ids(out->moved, out->nmoved);
    return good;
}

/* In the place of the first result, as long as the operands are there; else of a later one. */
static bool make_room(struct arena *a, struct replacement *out) {
    out->moved = arena_alloc(a, MOST_MOVED * sizeof *out->moved);
    if (has_room(out))
        return true;
    out->place = last_place(out->match->graph, out);
    if (has_room(out))
        return true;
    out->why = STR("an operand is made behind the first result that is used");
    return false;
}

static bool is_movement(enum op_kind k) {
    return class_moves(op_table[k].class) || op_generates(k);
}

/* One op takes its result, so that it goes where that does. */
static bool is_used_once(const struct graph *g, uint32_t op) {
    uint32_t v = g->m->ops[op].first_result;
    return g->m->ops[op].nresults == 1 && g->first_use[v + 1] == g->first_use[v] + 1;
}

/* The form is written as the ops that are there, with no less movement around them. */
static bool is_as_before(const struct printing_lines *p, const struct match *m) {
    int *counts = arena_alloc(p->arena, OPERATORS * sizeof *counts), moves = 0;
    bool same = true;
    for (uint32_t i = 0; i < p->e->nlines; i++)
        counts[p->e->lines[i]->kind] += p->used[i];
    for (uint32_t i = 0; i < m->nops; i++)
        counts[m->graph->kind[m->ops[i]]]--;
    for (uint32_t i = 0; i < m->nthrough; i++)
        counts[m->graph->kind[m->through[i]]] -= is_used_once(m->graph, m->through[i]);
    for (uint32_t k = 0; k < OPERATORS && same; k++) {
        bool minor = is_movement(k) && !is_movement(p->fused);
        moves += minor ? counts[k] : 0;
        same = minor || counts[k] == 0;
    }
    return same && moves >= 0;
}

static void print_replacement(struct replacing *how, const struct form_request *q, struct arena *a,
                              struct replacement *out) {
    const struct mlir *m = out->match->graph->m;
    uint32_t op = m->values[q->results[0].value].def;
    if (!find_roots(q, m, out))
        return;
    if (q->emitter->composites && m->ops[op].func == NONE) {
        out->why = STR("there is no module for the function that it is decomposed to");
        return;
    }
    add_alias(how, m, out->match, op, a, out);
    out->indent = indent_of(m, out->place);
    struct str location = plain_location(m, op, a);
    struct printing_lines p = {.m = m,
                               .e = q->emitter,
                               .arena = a,
                               .request = q,
                               .indent = out->indent,
                               .location = location,
                               .own = location_of_alias(out, location, a),
                               .fused = out->match->pattern->makes};
    for (uint32_t i = 0; i < q->nresults; i++)
        mark_used(&p, q->results[i].written.name);
    keep_reads(&p, q, out);
    if (is_as_before(&p, out->match)) {
        out->why = STR("TTIR can write it only as the ops that are there");
        return;
    }
    if (!make_room(a, out))
        return;
    out->text = print_lines(&p);
    if (q->emitter->composites)
        out->functions = print_functions(&p, indent_of(m, m->funcs[m->ops[op].func].op));
    if (!out->text.n)
        out->why = STR("a property that the op needs is not known");
}

void replace_match(struct replacing *how, const struct reading *r, struct arena *a, struct replacement *out) {
    struct eval_context ctx = {.arena = a};
    struct emitter *e = arena_alloc(a, sizeof *e);
    struct form_request *q = arena_alloc(a, sizeof *q);
    *e = (struct emitter){.eval = &ctx, .prefix = how->prefix, .next = &how->next};
    *q = (struct form_request){
        .reading = r, .emitter = e, .number = how->number, .self = how->self, .stand_in = how->stand_in};
    if (!write_form(q)) {
        out->why = ctx.error;
        return;
    }
    print_replacement(how, q, a, out);
    for (uint32_t i = 0; i < r->form.formula->nslots; i++) {
        struct str name = r->form.formula->slots[i].name;
        if (q->unknown[i])
            out->unknown = arena_printf(a, "%.*s%s%.*s", (int)out->unknown.n, out->unknown.n ? out->unknown.p : "",
                                        out->unknown.n ? ", " : "", (int)name.n, name.p);
    }
    out->taken = q->taken;
    out->ntaken = q->ntaken;
    out->excluded = r->excluded;
}
