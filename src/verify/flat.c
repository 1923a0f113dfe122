#include "verify/flat.h"

#include <ctype.h>
#include <stdlib.h>

#include "reduce/print_module.h"
#include "reduce/subgraph.h"

enum { MAX_DEPTH = 16, MAX_STEPS = 1 << 20, MAX_ATTRS = 48 };

uint32_t *no_ids(size_t n) {
    uint32_t *ids = xrealloc(NULL, (n + 1) * sizeof *ids);
    memset(ids, 0xff, (n + 1) * sizeof *ids);
    return ids;
}

bool same_dims(const struct graph *g, uint32_t v, const struct graph *h, uint32_t w) {
    uint32_t n, m;
    const int64_t *a = graph_shape(g, v, &n), *b = graph_shape(h, w, &m);
    return a && b && n == m && memcmp(a, b, n * sizeof *a) == 0;
}

/* ---- what ops are ---- */

bool op_computes(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return !class_moves(c) && c != OP_CONSTANT && c != OP_CALL && c != OP_RETURN && c != OP_NO_USE &&
           c != OP_STRUCTURE && !op_generates((enum op_kind)g->kind[op]) && g->kind[op] != K_EMPTY;
}

bool flat_computes(const struct flat *f, uint32_t step) {
    return op_computes(f->g, f->steps[step].op);
}

/* An op without results that takes tensors writes one: the first. */
static bool writes(const struct graph *g, uint32_t op) {
    return g->m->ops[op].nresults == 0 && op_computes(g, op) && graph_noperands(g, op) > 0 &&
           is_tensor_operand(g, graph_operands(g, op)[0]);
}

static bool is_float(enum dtype t) {
    return t >= DT_F64 && t <= DT_BFP2;
}

/* The result has the elements of the operand at the same places, but for the rounding of floats. */
static bool is_identity(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    if (!class_moves(c) || g->m->ops[op].nresults != 1 || graph_noperands(g, op) == 0)
        return false;
    uint32_t x = graph_operands(g, op)[0], y = g->m->ops[op].first_result;
    if (x == NONE || !same_dims(g, x, g, y) || (c == OP_MOVE && g->kind[op] != K_RESHAPE))
        return false;
    enum dtype from = graph_dtype(g, x), to = graph_dtype(g, y);
    return from == to || (is_float(from) && is_float(to));
}

/* ---- equal steps ---- */

static int relevant_attributes(const struct graph *g, uint32_t op, struct str *keys, struct str *values) {
    int n = mlir_attrs(g->m, op, keys, values, MAX_ATTRS), kept = 0;
    for (int i = 0; i < n && i < MAX_ATTRS; i++)
        if (!attribute_changes_nothing(keys[i], values[i])) {
            keys[kept] = keys[i];
            values[kept++] = values[i];
        }
    return n > MAX_ATTRS ? -1 : kept;
}

static struct str short_name(const struct graph *g, uint32_t op) {
    struct str name = mlir_op_name(g->m, op);
    const char *dot = memchr(name.p, '.', name.n);
    return dot ? (struct str){dot + 1, name.n - (size_t)(dot + 1 - name.p)} : name;
}

static uint64_t step_hash(const struct graph *g, uint32_t op) {
    return g->kind[op] == K_UNKNOWN ? str_hash(short_name(g, op)) : g->kind[op] * 0x9e3779b97f4a7c15u;
}

static bool same_attributes(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    struct str keys[2][MAX_ATTRS], values[2][MAX_ATTRS];
    int n = relevant_attributes(g, a, keys[0], values[0]), m = relevant_attributes(h, b, keys[1], values[1]);
    bool same = n == m && n >= 0;
    for (int i = 0; i < n && same; i++) {
        int k = 0;
        while (k < m && !str_eq(keys[0][i], keys[1][k]))
            k++;
        same = k < m && str_eq(values[0][i], values[1][k]);
    }
    return same;
}

static bool same_type(const struct graph *g, uint32_t v, const struct graph *h, uint32_t w) {
    enum dtype s = graph_dtype(g, v), t = graph_dtype(h, w);
    return same_dims(g, v, h, w) && (s == t || (is_float(s) && is_float(t)));
}

/* The function that a call runs; NONE: its body is not in the module. A function that runs on the host is declared
 * where it is called, and has its body in another module. */
static uint32_t callee_of(const struct graph *g, uint32_t op) {
    uint32_t name = g->m->ops[op].callee, func = name == NONE ? NONE : mlir_find_func(g->m, name);
    for (uint32_t f = 0; func != NONE && g->m->funcs[func].declaration && f < g->m->nfuncs; f++)
        if (g->m->funcs[f].name == name && !g->m->funcs[f].declaration)
            func = f;
    return func != NONE && !g->m->funcs[func].declaration && g->return_op[func] != NONE ? func : NONE;
}

/* It has ops of dialects that are lowered for the host (linalg, memref), which have no evaluators. */
static bool is_foreign(const struct graph *g, uint32_t func) {
    bool foreign = false;
    for (uint32_t op = g->m->funcs[func].first_op; op < g->m->funcs[func].end_op && !foreign; op++) {
        struct str name = mlir_op_name(g->m, op);
        foreign = g->kind[op] == K_UNKNOWN && memchr(name.p, '.', name.n) && !str_starts(name, STR("tt")) &&
                  !str_starts(name, STR("func."));
    }
    return foreign;
}

static struct str text_without_location(const struct mlir *m, uint32_t op) {
    struct span s = m->ops[op].text;
    if (m->ops[op].loc.end > s.begin && m->ops[op].loc.begin < s.end)
        s.end = m->ops[op].loc.begin;
    return mlir_span(m, s);
}

/* Both resolve the aliases in a text to the same. */
static bool same_aliases(const struct mlir *m, const struct mlir *other, struct str text) {
    const char *end = text.p + text.n, *p = text.p;
    while ((p = memchr(p, '#', (size_t)(end - p)))) {
        struct str name = {p, 1}, x, y;
        while (p + name.n < end && (isalnum((unsigned char)p[name.n]) || p[name.n] == '_'))
            name.n++;
        bool here = mlir_alias(m, name, &x);
        if (here != mlir_alias(other, name, &y) || (here && (!str_eq(x, y) || memchr(x.p, '#', x.n))))
            return false;
        p += name.n;
    }
    return true;
}

/* The same op in the text of two modules. One that names a function or a global may mean another there. */
static bool same_text(const struct mlir *m, uint32_t a, const struct mlir *other, uint32_t b) {
    struct str x = text_without_location(m, a);
    return str_eq(x, text_without_location(other, b)) && !memchr(x.p, '@', x.n) && same_aliases(m, other, x);
}

/* Calls of one name whose functions are not here, or are written alike. */
static bool same_callee(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    uint32_t x = g->m->ops[a].callee, y = h->m->ops[b].callee, f = callee_of(g, a), k = callee_of(h, b);
    if ((x == NONE) != (y == NONE) || (f == NONE) != (k == NONE))
        return false;
    if (x != NONE && !str_eq(g->m->names[x], h->m->names[y]))
        return false;
    if (f == NONE || (g == h && f == k))
        return true;
    const struct mlir_func *p = &g->m->funcs[f], *q = &h->m->funcs[k];
    bool same = p->end_op - p->first_op == q->end_op - q->first_op;
    for (uint32_t i = 0; same && i < p->end_op - p->first_op; i++)
        same = same_text(g->m, p->first_op + i, h->m, q->first_op + i);
    return same;
}

/* What the op computes of the same operands and attributes depends on its dialect: a flag says so, or padding and
 * defaults do, which are written in another way there. */
static bool depends_on_dialect(enum op_kind k) {
    const struct op_info *o = &op_table[k];
    return op_is(k, BY_DIALECT) || o->window.kind != WINDOW_NONE || (o->absent && strchr(o->absent, '/'));
}

/* What two steps do is the same, operands apart: the operator, its attributes but for those that change nothing
 * (layouts, devices), and the types of its results. The dialects may differ where that changes nothing. */
static bool steps_alike(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    const struct mlir_op *o = &g->m->ops[a], *p = &h->m->ops[b];
    bool alike = g->kind[a] == h->kind[b] && o->nresults == p->nresults &&
                 (!depends_on_dialect((enum op_kind)g->kind[a]) || graph_is_ttnn(g, a) == graph_is_ttnn(h, b)) &&
                 (g->kind[a] != K_UNKNOWN || str_eq(short_name(g, a), short_name(h, b)));
    for (uint32_t i = 0; i < o->nresults && alike; i++)
        alike = same_type(g, o->first_result + i, h, p->first_result + i);
    return alike && same_callee(g, a, h, b) && same_attributes(g, a, h, b);
}

/* ---- building ---- */

static uint32_t add_value(struct flat *f, uint32_t value, uint32_t step, uint32_t result) {
    f->values = grow(f->values, &f->values_cap, f->nvalues + 1, sizeof *f->values);
    f->values[f->nvalues] = (struct flat_value){value, step, result};
    return f->nvalues++;
}

static uint32_t *slot_of(const struct flat *f, uint64_t at) {
    return &f->table[at & (f->table_cap - 1)];
}

static uint64_t hash_on(const struct graph *g, uint32_t op, const uint32_t *operands, uint32_t n) {
    uint64_t h = step_hash(g, op);
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ operands[i]) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t hash_of(const struct flat *f, uint32_t step) {
    const struct flat_step *s = &f->steps[step];
    return hash_on(f->g, s->op, f->operands + s->first_operand, s->noperands);
}

static bool is_copy(const struct flat *f, uint32_t a, uint32_t b) {
    const struct flat_step *s = &f->steps[a], *t = &f->steps[b];
    return s->noperands == t->noperands &&
           memcmp(f->operands + s->first_operand, f->operands + t->first_operand, s->noperands * sizeof *f->operands) ==
               0 &&
           steps_alike(f->g, s->op, f->g, t->op) &&
           (f->g->m->ops[s->op].nresults == 0 ||
            graph_dtype(f->g, f->g->m->ops[s->op].first_result) == graph_dtype(f->g, f->g->m->ops[t->op].first_result));
}

static void make_table(struct flat *f) {
    free(f->table);
    f->table_cap = f->table_cap ? 4 * f->table_cap : 256;
    f->table = no_ids(f->table_cap);
    for (uint32_t i = 0; i < f->nsteps; i++) {
        uint64_t h = hash_of(f, i);
        while (*slot_of(f, h) != NONE)
            h++;
        *slot_of(f, h) = i;
    }
}

/* An earlier step that does the same to the same values; NONE after the step itself was entered. */
static uint32_t find_copy(struct flat *f, uint32_t step) {
    if (2 * (f->nsteps + 1) > f->table_cap) {
        f->nsteps--; /* the step itself is not in it yet */
        make_table(f);
        f->nsteps++;
    }
    uint64_t h = hash_of(f, step);
    for (; *slot_of(f, h) != NONE; h++)
        if (is_copy(f, *slot_of(f, h), step))
            return *slot_of(f, h);
    *slot_of(f, h) = step;
    return NONE;
}

uint32_t flat_find(const struct flat *f, const struct graph *g, uint32_t op, const uint32_t *operands, uint32_t n) {
    for (uint64_t h = f->table_cap ? hash_on(g, op, operands, n) : 0; f->table_cap && *slot_of(f, h) != NONE; h++) {
        const struct flat_step *s = &f->steps[*slot_of(f, h)];
        if (s->noperands == n && memcmp(f->operands + s->first_operand, operands, n * sizeof *operands) == 0 &&
            steps_alike(f->g, s->op, g, op))
            return *slot_of(f, h);
    }
    return NONE;
}

static void add_copy(struct flat *f, uint32_t op, uint32_t step) {
    f->copies = grow(f->copies, &f->copies_cap, f->ncopies + 1, sizeof *f->copies);
    f->copies[f->ncopies++] = (struct flat_copy){op, step};
}

static void add_step(struct flat *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t n = graph_noperands(g, op), step = f->nsteps, copy = NONE;
    f->operands = grow(f->operands, &f->operands_cap, f->noperands + n + 1, sizeof *f->operands); /* never NULL */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = graph_operands(g, op)[i];
        bool tensor = is_tensor_operand(g, v);
        if (tensor && f->of[v] == NONE) /* of a block, or of what is not understood: like no other */
            f->of[v] = add_value(f, v, NONE, 0);
        f->operands[f->noperands + i] = tensor ? f->of[v] : NONE;
    }
    f->steps = grow(f->steps, &f->steps_cap, step + 1, sizeof *f->steps);
    f->steps[f->nsteps++] = (struct flat_step){op, f->noperands, n, f->nvalues, writes(g, op) ? 1 : o->nresults};
    copy = find_copy(f, step);
    if (g->kind[op] == K_EMPTY || g->kind[op] == K_RAND)
        copy = NONE;
    f->cut_short |= f->nsteps > MAX_STEPS;
    if (copy != NONE) {
        f->nsteps--;
        add_copy(f, op, copy);
        for (uint32_t i = 0; i < o->nresults; i++)
            f->of[o->first_result + i] = f->steps[copy].first_result + i;
        return;
    }
    f->noperands += n;
    if (writes(g, op)) {
        uint32_t v = graph_operands(g, op)[0], was = f->of[v], is = add_value(f, v, step, 0);
        for (uint32_t w = 0; was != NONE && w < g->m->nvalues; w++)
            f->of[w] = f->of[w] == was ? is : f->of[w]; /* all names of that tensor */
        f->of[v] = is;
    }
    for (uint32_t i = 0; i < o->nresults; i++)
        f->of[o->first_result + i] = add_value(f, o->first_result + i, step, i);
}

/* Deallocated is what a name stands for: a view of it, which has another name, keeps its memory. */
static void note_freed(struct flat *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v == NONE)
            continue;
        if (g->kind[op] == K_DEALLOCATE) {
            f->freed[v] = op;
        } else if (f->freed[v] != NONE) {
            f->freed_uses = grow(f->freed_uses, &f->freed_uses_cap, f->nfreed_uses + 1, sizeof *f->freed_uses);
            f->freed_uses[f->nfreed_uses++] = (struct freed_use){op, f->freed[v]};
        }
    }
    for (uint32_t i = 0; i < o->nresults; i++) /* of a function that is called again */
        f->freed[o->first_result + i] = NONE;
}

static void inline_function(struct flat *f, uint32_t func, int depth);

static bool call(struct flat *f, uint32_t op, int depth) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t func = callee_of(g, op), n = graph_noperands(g, op);
    if (func == NONE || g->m->funcs[func].nargs != n || is_foreign(g, func))
        return false;
    if (depth == 0) {
        f->cut_short = true;
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        f->of[g->m->funcs[func].first_arg + i] =
            graph_operands(g, op)[i] == NONE ? NONE : f->of[graph_operands(g, op)[i]];
    for (uint32_t i = 0; i < n; i++)
        f->freed[g->m->funcs[func].first_arg + i] = NONE;
    inline_function(f, func, depth - 1);
    uint32_t end = g->return_op[func];
    for (uint32_t i = 0; i < o->nresults; i++)
        f->of[o->first_result + i] =
            i < graph_noperands(g, end) && graph_operands(g, end)[i] != NONE ? f->of[graph_operands(g, end)[i]] : NONE;
    return true;
}

static void inline_function(struct flat *f, uint32_t func, int depth) {
    const struct graph *g = f->g;
    for (uint32_t op = g->m->funcs[func].first_op; op < g->m->funcs[func].end_op && !f->cut_short; op++) {
        const struct mlir_op *o = &g->m->ops[op];
        enum op_class c = graph_class(g, op);
        bool calls = c == OP_CALL || (o->callee != NONE && callee_of(g, op) != NONE);
        if (o->func == func)
            note_freed(f, op);
        if (c == OP_RETURN || c == OP_NO_USE || c == OP_STRUCTURE || o->func != func)
            continue;
        if (calls && call(f, op, depth))
            continue;
        uint32_t x = is_identity(g, op) ? f->of[graph_operands(g, op)[0]] : NONE;
        if (x != NONE)
            f->of[o->first_result] = x;
        else
            add_step(f, op);
    }
}

void flat_build(struct flat *f, const struct graph *g, uint32_t func) {
    const struct mlir_func *m = &g->m->funcs[func];
    *f = (struct flat){.g = g, .of = no_ids(g->m->nvalues), .freed = no_ids(g->m->nvalues)};
    for (uint32_t i = 0; i < m->nargs; i++)
        if (is_tensor_operand(g, m->first_arg + i) &&
            g->m->types[g->m->values[m->first_arg + i].type].kind != TYPE_DEVICE)
            f->of[m->first_arg + i] = add_value(f, m->first_arg + i, NONE, f->nargs++);
    inline_function(f, func, MAX_DEPTH);
    uint32_t end = g->return_op[func];
    f->returns = end != NONE;
    for (uint32_t i = 0; end != NONE && i < graph_noperands(g, end); i++) {
        uint32_t v = graph_operands(g, end)[i];
        f->outputs = grow(f->outputs, &f->outputs_cap, f->noutputs + 1, sizeof *f->outputs);
        f->outputs[f->noutputs++] = v == NONE ? NONE : f->of[v];
    }
}

void flat_free(struct flat *f) {
    free(f->values);
    free(f->steps);
    free(f->operands);
    free(f->of);
    free(f->copies);
    free(f->outputs);
    free(f->freed_uses);
    free(f->freed);
    free(f->table);
}
