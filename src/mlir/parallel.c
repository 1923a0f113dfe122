/* A large module of many functions, read by several threads: the functions are cut into runs. The parser reads the
 * first ones in place; each run that another thread takes is parsed as if it were a file of its own, and these are
 * joined to what was read before them, with their ids renumbered. What comes out is what one thread would have made.
 * Wherever the text is not as the printer lays it out, the cut does not hold: then the module is read as a whole. */
#include "mlir/parallel.h"
#include "base/work.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_A_JOB = 16, MAX_PARTS = 256, LEAST_BYTES = 1 << 20 };

/* The functions stand in text [first, end), all at one indentation; `mark` is the line start of a function. */
struct cut {
    struct str text;
    size_t first, end;
    struct str mark; /* "\n    func.func " */
};

static const char *find(struct str text, size_t from, struct str what) {
    const char *p = memmem(text.p + from, text.n - from, what.p, what.n);
    return p;
}

/* Behind the functions mostly stand aliases alone, many: where those begin, or somewhat later. */
static size_t begin_of_aliases(const struct cut *c) {
    enum { NEAR = 1 << 12 };
    size_t low = c->first, high = c->text.n;
    while (high - low > NEAR) {
        size_t middle = low + (high - low) / 2;
        const char *nl = memchr(c->text.p + middle, '\n', high - middle);
        if (nl && nl + 1 < c->text.p + c->text.n && nl[1] != '#')
            low = (size_t)(nl + 1 - c->text.p);
        else
            high = middle;
    }
    return high;
}

/* Offset after the last line that closes a function: the indentation of the functions and '}'. */
static size_t last_close(const struct cut *c, size_t indent) {
    for (size_t at = begin_of_aliases(c); at > c->first;) {
        const char *nl = memrchr(c->text.p, '\n', at);
        if (!nl)
            return 0;
        const char *p = nl + 1, *end = c->text.p + c->text.n;
        size_t n = 0;
        while (p + n < end && p[n] == ' ')
            n++;
        if (n == indent && p + n < end && p[n] == '}') {
            const char *stop = memchr(p, '\n', (size_t)(end - p));
            return stop ? (size_t)(stop - c->text.p) + 1 : c->text.n;
        }
        at = (size_t)(nl - c->text.p);
    }
    return 0;
}

/* Is there a line that starts with '!'? Types are aliased seldom, and the bytes before are many. */
static bool has_type_alias(struct str text) {
    const char *p = text.p, *end = text.p + text.n;
    for (; p < end && (p = memchr(p, '!', (size_t)(end - p))) != NULL; p++)
        if (p > text.p && p[-1] == '\n')
            return true;
    return false;
}

/* Nothing that goes on with the last function stands behind it. */
static bool ends_there(const struct cut *c) {
    const char *p = scan_space(c->text.p + c->end, c->text.p + c->text.n), *end = c->text.p + c->text.n;
    return p == end || *p == '}' || *p == '#';
}

static bool find_cut(struct cut *c, struct str text) {
    const char *func = find(text, 0, STR("func.func "));
    *c = (struct cut){.text = text};
    if (!func)
        return false;
    const char *line = func;
    while (line > text.p && line[-1] == ' ')
        line--;
    if (line == text.p || line[-1] != '\n')
        return false;
    c->first = (size_t)(line - text.p);
    c->mark = (struct str){line - 1, (size_t)(func - line) + 1 + sizeof "func.func " - 1};
    c->end = last_close(c, (size_t)(func - line));
    return c->end > c->first && ends_there(c) && text.p[0] != '!' && !has_type_alias((struct str){text.p, c->first});
}

/* Cuts at the first function after each equal share. */
static uint32_t cut_parts(const struct cut *c, uint32_t wanted, size_t *at) {
    uint32_t n = 0;
    at[n++] = c->first;
    for (uint32_t i = 1; i < wanted; i++) {
        size_t target = c->first + (c->end - c->first) / wanted * i;
        if (target <= at[n - 1])
            continue;
        const char *p = find((struct str){c->text.p, c->end}, target, c->mark);
        if (!p)
            break;
        if ((size_t)(p + 1 - c->text.p) > at[n - 1])
            at[n++] = (size_t)(p + 1 - c->text.p);
    }
    at[n] = c->end;
    return n;
}

/* The first "#loc" line behind the functions, with nothing but closing brackets before it; NULL: there is none. */
static const char *find_locs(const struct cut *c) {
    const char *p = c->text.p + c->end, *end = c->text.p + c->text.n;
    while (p < end && (*p == '}' || *p == ' ' || *p == '\n')) {
        const char *line = *p == '}' ? memchr(p, '\n', (size_t)(end - p)) : p; /* } loc(#loc3) */
        if (!line)
            return NULL;
        p = line + 1;
    }
    return end - p > 4 && memcmp(p, "#loc", 4) == 0 && p[-1] == '\n' ? p : NULL;
}

static void parse_locs(struct gap *g) {
    struct mlir_tables *tables = xcalloc(1, sizeof *tables);
    struct mlir m = {.text = g->module->text, .tables = tables};
    struct diags none = {.arena = &tables->arena};
    struct parser p = {
        .m = &m, .d = &none, .p = g->locs_begin, .begin = m.text.p, .end = m.text.p + m.text.n, .func = NONE};
    parse_loc_lines(&p, SIZE_MAX);
    g->locs_end = p.p;
    g->locs = tables->locs;
    g->nlocs = tables->nlocs;
    sym_free(&tables->aliases);
    free(tables->alias_values);
    arena_free(&tables->arena);
    free(tables);
}

/* Nothing in a part hints that the cut went through something, or that it would be something else further in. */
static bool is_sound(const struct part *p) {
    const struct mlir *m = &p->m;
    if (m->tables->has_trailer || m->tables->has_aliased_symbol || m->tables->deepest > NEST_MAX / 2)
        return false;
    if (p->diags.n || p->diags.dropped || m->bad_ops || m->undefined_values || !m->nfuncs || m->tables->nlocs ||
        m->tables->aliases.n)
        return false;
    for (uint32_t f = 0; f < m->nfuncs; f++)
        if (!m->funcs[f].complete && !m->funcs[f].declaration)
            return false;
    for (uint32_t op = 0; op < m->nops; op++)
        if (m->ops[op].parent == NONE && !str_is(m->names[m->ops[op].name], "func.func"))
            return false;
    return true;
}

/* Locations first, then the parts from the last one up, as far as the parser has not come. */
static void parse_piece(void *context, uint32_t i, uint32_t slot) {
    struct gap *g = context;
    (void)slot;
    if (g->locs_begin && i-- == 0) {
        parse_locs(g);
        return;
    }
    struct part *p = &g->parts[g->nparts - 1 - i];
    if (atomic_flag_test_and_set(&p->taken))
        return;
    p->diags.arena = &p->arena;
    mlir_parse(&p->m, &p->source, &p->block, &p->diags);
    p->sound = is_sound(p);
    source_release(&p->source, p->block.text.p, p->block.text.n);
}

/* ---- joining ---- */

struct join {
    struct mlir *to, *from;
    uint32_t text; /* of the part in the whole */
    uint32_t ops, values, operands, funcs, arg_attrs;
    uint32_t *names, *types;
    uint32_t module; /* op that the functions stand in */
};

static uint32_t moved(uint32_t id, uint32_t by) {
    return id == NONE ? NONE : id + by;
}

static struct span moved_span(struct span s, uint32_t by) {
    return s.begin == s.end ? s : (struct span){s.begin + by, s.end + by};
}

static void join_texts(struct join *j, struct parser *p) {
    j->names = xrealloc(NULL, (j->from->nnames + 1) * sizeof *j->names);
    j->types = xrealloc(NULL, (j->from->ntypes + 1) * sizeof *j->types);
    for (uint32_t i = 0; i < j->from->nnames; i++)
        j->names[i] = parse_name(p, j->from->names[i]);
    for (uint32_t i = 0; i < j->from->ntypes; i++)
        j->types[i] = type_add(j->to, j->from->types[i].text);
}

static void join_ops(const struct join *j) {
    for (uint32_t i = 0; i < j->from->nops; i++) {
        struct mlir_op op = j->from->ops[i];
        op.name = j->names[op.name];
        op.text = moved_span(op.text, j->text);
        op.props = moved_span(op.props, j->text);
        op.attrs = moved_span(op.attrs, j->text);
        op.loc = moved_span(op.loc, j->text);
        op.first_operand += j->operands;
        op.first_result += j->values;
        op.callee = op.callee == NONE ? NONE : j->names[op.callee];
        op.func = moved(op.func, j->funcs);
        op.parent = op.parent == NONE ? j->module : op.parent + j->ops;
        j->to->ops[j->ops + i] = op;
    }
}

static void join_values(const struct join *j) {
    for (uint32_t i = 0; i < j->from->nvalues; i++) {
        struct mlir_value v = j->from->values[i];
        v.type = j->types[v.type];
        v.def = moved(v.def, j->ops);
        v.name = moved_span(v.name, j->text);
        j->to->values[j->values + i] = v;
    }
    for (uint32_t i = 0; i < j->from->noperands; i++)
        j->to->operands[j->operands + i] = j->from->operands[i] + j->values;
}

static void join_funcs(const struct join *j) {
    for (uint32_t i = 0; i < j->from->nfuncs; i++) {
        struct mlir_func f = j->from->funcs[i];
        f.name = j->names[f.name];
        f.op += j->ops;
        f.first_op += j->ops;
        f.end_op += j->ops;
        f.first_arg += j->values;
        f.first_arg_attr += j->arg_attrs;
        f.attributes = moved_span(f.attributes, j->text);
        f.module = f.module == NONE ? j->module : f.module + j->ops;
        j->to->funcs[j->funcs + i] = f;
    }
    for (uint32_t i = 0; i < j->from->narg_attrs; i++)
        j->to->arg_attrs[j->arg_attrs + i] = moved_span(j->from->arg_attrs[i], j->text);
}

/* Where the part goes, and what its names and types are in the whole; its arrays are copied later. */
static struct join join_begin(struct parser *p, struct part *part, uint32_t module) {
    struct mlir *m = p->m;
    struct join j = {.to = m,
                     .from = &part->m,
                     .text = (uint32_t)(part->block.text.p - m->text.p),
                     .ops = m->nops,
                     .values = m->nvalues,
                     .operands = m->noperands,
                     .funcs = m->nfuncs,
                     .arg_attrs = m->narg_attrs,
                     .module = module};
    join_texts(&j, p);
    m->nops += part->m.nops;
    m->nvalues += part->m.nvalues;
    m->noperands += part->m.noperands;
    m->nfuncs += part->m.nfuncs;
    m->narg_attrs += part->m.narg_attrs;
    m->custom_ops += part->m.custom_ops;
    return j;
}

static void join_part(void *context, uint32_t i, uint32_t slot) {
    struct join *j = (struct join *)context + i;
    (void)slot;
    join_ops(j);
    join_values(j);
    join_funcs(j);
    mlir_free(j->from);
    free(j->names);
    free(j->types);
}

/* Room for exactly what the parts behind the gap hold. */
static void reserve(struct mlir *m, const struct gap *g) {
    uint64_t ops = m->nops, values = m->nvalues, operands = m->noperands, funcs = m->nfuncs, attrs = m->narg_attrs;
    for (uint32_t i = g->next; i < g->nparts; i++) {
        ops += g->parts[i].m.nops;
        values += g->parts[i].m.nvalues;
        operands += g->parts[i].m.noperands;
        funcs += g->parts[i].m.nfuncs;
        attrs += g->parts[i].m.narg_attrs;
    }
    m->ops = xrealloc(m->ops, ops * sizeof *m->ops);
    m->values = xrealloc(m->values, values * sizeof *m->values);
    m->operands = xrealloc(m->operands, operands * sizeof *m->operands);
    m->funcs = xrealloc(m->funcs, funcs * sizeof *m->funcs);
    m->arg_attrs = xrealloc(m->arg_attrs, attrs * sizeof *m->arg_attrs);
    m->ops_cap = (uint32_t)ops;
    m->values_cap = (uint32_t)values;
    m->operands_cap = (uint32_t)operands;
    m->funcs_cap = (uint32_t)funcs;
    m->arg_attrs_cap = (uint32_t)attrs;
}

/* A type alias means something to every part. Between the lines of locations that were read there is none. */
static bool has_type_alias_behind(const struct gap *g) {
    const char *end = g->module->text.p + g->module->text.n;
    const char *stop = g->locs_begin ? g->locs_begin : end, *more = g->locs_begin ? g->locs_end - 1 : end;
    return has_type_alias((struct str){g->end, (size_t)(stop - g->end)}) ||
           has_type_alias((struct str){more, (size_t)(end - more)});
}

/* The parts were read as if they stood right in a module for the device. */
static bool fits_in(const struct parser *p) {
    return p->func == NONE && p->parent == p->module && !p->in_cpu_module;
}

/* All is read, and is what it should be. */
static bool is_ready(const struct parser *p) {
    struct gap *g = p->gap;
    work_finish(g->pool);
    g->pool = NULL;
    bool sound = fits_in(p) && !has_type_alias_behind(g);
    for (uint32_t i = g->next; i < g->nparts && sound; i++)
        sound = g->parts[i].sound;
    return sound;
}

static void fill(struct parser *p) {
    struct gap *g = p->gap;
    if (!is_ready(p)) {
        gap_free(g);
        p->gap = NULL;
        return;
    }
    uint32_t n = g->nparts - g->next;
    struct join *joins = xrealloc(NULL, n * sizeof *joins);
    reserve(p->m, g);
    for (uint32_t i = 0; i < n; i++)
        joins[i] = join_begin(p, &g->parts[g->next + i], p->parent);
    work_run(n, g->jobs, join_part, joins);
    free(joins);
    p->p = g->end;
}

static const char *begin_of_part(const struct gap *g, uint32_t i) {
    return i < g->nparts ? g->parts[i].block.text.p + g->indent : NULL;
}

void gap_reached(struct parser *p) {
    struct gap *g = p->gap;
    if (!atomic_flag_test_and_set(&g->parts[g->next].taken))
        g->begin = begin_of_part(g, ++g->next);
    else
        fill(p);
}

void gap_take_locs(struct parser *p) {
    struct gap *g = p->gap;
    struct mlir_tables *t = p->m->tables;
    if (g->pool)
        work_finish(g->pool);
    g->pool = NULL;
    for (uint32_t i = 0; i < t->nlocs && i < g->nlocs; i++)
        if (g->locs[i].end == 0)
            g->locs[i] = t->locs[i];
    if (t->nlocs <= g->nlocs) {
        free(t->locs);
        t->locs = g->locs;
        t->nlocs = t->locs_cap = g->nlocs;
        g->locs = NULL;
    } else if (g->nlocs > 0) {
        memcpy(t->locs, g->locs, g->nlocs * sizeof *t->locs);
    }
    p->p = g->locs_end;
    g->locs_begin = NULL;
}

void gap_free(struct gap *g) {
    if (g->pool)
        work_finish(g->pool);
    free(g->locs);
    for (uint32_t i = 0; i < g->nparts; i++) {
        mlir_free(&g->parts[i].m);
        diags_free(&g->parts[i].diags);
        arena_free(&g->parts[i].arena);
    }
    free(g->parts);
    *g = (struct gap){0};
}

bool gap_open(struct gap *g, const struct mlir *m, uint32_t jobs) {
    struct cut c;
    size_t at[MAX_PARTS + 1];
    *g = (struct gap){.jobs = jobs, .module = m};
    if (jobs < 2 || m->text.n < LEAST_BYTES || m->text.n > UINT32_MAX || !find_cut(&c, m->text))
        return false;
    g->indent = (uint32_t)(c.mark.n - 1 - (sizeof "func.func " - 1));
    g->locs_begin = find_locs(&c);
    uint32_t wanted = jobs * PARTS_A_JOB < MAX_PARTS ? jobs * PARTS_A_JOB : MAX_PARTS;
    g->nparts = cut_parts(&c, wanted, at);
    g->parts = xrealloc(NULL, g->nparts * sizeof *g->parts);
    for (uint32_t i = 0; i < g->nparts; i++) {
        struct part *p = &g->parts[i];
        *p = (struct part){.taken = ATOMIC_FLAG_INIT, .source = *m->source, .block = *m->block};
        p->block.text = (struct str){m->text.p + at[i], at[i + 1] - at[i]};
        p->block.pieces = NULL;
        p->block.npieces = 0;
    }
    g->begin = begin_of_part(g, 0);
    g->end = c.text.p + c.end;
    uint32_t offered = g->nparts > 1 ? g->nparts : 0; /* one alone is read in place */
    if (g->locs_begin || offered)
        g->pool = work_begin(offered + (g->locs_begin != NULL), jobs, parse_piece, g);
    return true;
}
