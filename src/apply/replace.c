/* The last op defines the name that the root defined, so that no user of it changes. Its location is that of the root,
 * fused with those of the ops that it stands for. */
#include "apply/replace.h"

#include <stdlib.h>

struct printing_lines {
    const struct mlir *m;
    struct emitter *e;
    struct arena *arena;
    struct str result, root; /* the value that is printed under the name of the root */
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
        if (p->used[i] || !str_eq(s->results, name))
            continue;
        p->used[i] = true;
        for (uint32_t k = 0; k < s->noperands; k++)
            mark_used(p, s->operands[k]);
    }
}

static struct str printed_name(const struct printing_lines *p, struct str name) {
    return str_eq(name, p->result) ? p->root : name;
}

static bool print_line(struct printing_lines *p, const struct short_op *s, struct buf *b) {
    struct str name = printed_name(p, s->results);
    buf_printf(b, "%.*s = \"%.*s\"(", (int)name.n, name.p, (int)s->spelling.n, s->spelling.p);
    for (uint32_t i = 0; i < s->noperands; i++)
        buf_printf(b, "%s%.*s", i ? ", " : "", (int)s->operands[i].n, s->operands[i].p);
    buf_addc(b, ')');
    if (short_print_attributes(b, p->arena, s).what)
        return false;
    buf_add(b, STR(" : ("));
    for (uint32_t i = 0; i < s->noperands; i++)
        buf_printf(b, "%s%.*s", i ? ", " : "", (int)s->operand_types[i].n, s->operand_types[i].p);
    buf_printf(b, ") -> %.*s", (int)s->types[0].n, s->types[0].p);
    buf_add(b, s->kind == p->fused ? p->own : p->location);
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

static void print_replacement(struct replacing *how, const struct reading *r, const struct form_request *q,
                              const struct written *result, struct arena *a, struct replacement *out) {
    const struct mlir *m = out->match->graph->m;
    uint32_t value = r->form.values[0], op = m->values[value].def;
    if (op == NONE || m->ops[op].nresults != 1) {
        out->why = STR("the result is not that of an op with one result");
        return;
    }
    add_alias(how, m, out->match, op, a, out);
    struct str location = plain_location(m, op, a);
    struct printing_lines p = {.m = m,
                               .e = q->emitter,
                               .arena = a,
                               .result = result->name,
                               .root = mlir_span(m, m->values[value].name),
                               .indent = indent_of(m, op),
                               .location = location,
                               .own = location_of_alias(out, location, a),
                               .fused = op_kind_of_spelling(out->match->pattern->fused_op)};
    mark_used(&p, result->name);
    out->root = op;
    out->text = print_lines(&p);
    keep_reads(&p, q, out);
    if (!out->text.n)
        out->why = STR("a property that the op needs is not known");
}

void replace_match(struct replacing *how, const struct reading *r, struct arena *a, struct replacement *out) {
    struct eval_context ctx = {.arena = a};
    struct emitter *e = arena_alloc(a, sizeof *e);
    struct form_request *q = arena_alloc(a, sizeof *q);
    struct written result;
    *e = (struct emitter){.eval = &ctx, .prefix = how->prefix, .next = &how->next};
    *q = (struct form_request){.reading = r, .emitter = e, .number = how->number, .self = how->self};
    *out = (struct replacement){.match = r->ref.match};
    if (!write_form(q, &result)) {
        out->why = ctx.error;
        return;
    }
    print_replacement(how, r, q, &result, a, out);
    memcpy(out->taken, q->taken, sizeof q->taken);
    out->ntaken = q->ntaken;
}
