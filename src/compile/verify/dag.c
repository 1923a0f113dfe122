#include "compile/verify/dag.h"

#include <ctype.h>
#include <stdlib.h>

#include "ir/graph/clone.h"
#include "ir/graph/functions.h"
#include "ir/graph/mesh.h"
#include "proof/numeric/interpret.h"
#include "proof/reduce/subgraph.h"

enum { MAX_DEPTH = 16, MAX_NODES = 1 << 20, MAX_TWIN_OPERANDS = 64 };

uint32_t *no_ids(size_t n) {
    uint32_t *ids = xrealloc(NULL, (n + 1) * sizeof *ids);
    memset(ids, 0xff, (n + 1) * sizeof *ids);
    return ids;
}

static bool same_dims(const struct graph *g, uint32_t v, const struct graph *h, uint32_t w) {
    uint32_t n, m;
    const int64_t *a = graph_shape(g, v, &n), *b = graph_shape(h, w, &m);
    return a && b && n == m && memcmp(a, b, n * sizeof *a) == 0;
}

bool dag_same_dims(const struct dag *d, uint32_t v, uint32_t w) {
    return same_dims(dag_graph(d, v), d->values[v].value, dag_graph(d, w), d->values[w].value);
}

int64_t dag_numel(const struct dag *d, uint32_t value) {
    return graph_numel(dag_graph(d, value), d->values[value].value);
}

/* Types that are not known, such as quantized ones, which have a scale and a zero point. */
static bool same_type_text(const struct mlir *m, uint32_t v, const struct mlir *other, uint32_t w) {
    struct str x = m->types[m->values[v].type].text, rest = x, alias;
    return str_eq(x, other->types[other->values[w].type].text) && !mlir_next_alias(&rest, true, &alias);
}

static bool same_type(const struct graph *g, uint32_t v, const struct graph *h, uint32_t w) {
    enum dtype s = graph_dtype(g, v), t = graph_dtype(h, w);
    return same_dims(g, v, h, w) &&
           (s == DT_OTHER ? same_type_text(g->m, v, h->m, w) : s == t || (format_is_float(s) && format_is_float(t)));
}

/* ---- what ops are ---- */

bool op_computes(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return !class_moves(c) && c != OP_CONSTANT && c != OP_CALL && c != OP_RETURN && c != OP_NO_USE &&
           c != OP_STRUCTURE && !op_generates((enum op_kind)g->kind[op]);
}

/* An op without results that takes tensors writes one: the first. */
static bool writes(const struct graph *g, uint32_t op) {
    return mlir_result_name(g->m, op).n == 0 && op_computes(g, op) && graph_noperands(g, op) > 0 &&
           is_tensor_operand(g, graph_operands(g, op)[0]);
}

/* What each device has of a tensor is all of it, or what it had before. */
static bool shards_nothing(const struct graph *g, uint32_t op) {
    struct placement p;
    return mesh_placement(g, op, &p) && g->m->ops[op].nresults == 1 && graph_noperands(g, op) > 0 &&
           graph_operands(g, op)[0] != NONE &&
           (p.in_place || same_dims(g, graph_operands(g, op)[0], g, g->m->ops[op].first_result));
}

/* The result has the elements of the operand at the same places, but for the rounding of floats. */
static bool is_identity(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    if ((graph_op_is(g, op, PREPARES) && graph_noperands(g, op) > 0) || shards_nothing(g, op))
        return true;
    if (!class_moves(c) || g->m->ops[op].nresults != 1 || graph_noperands(g, op) == 0)
        return false;
    uint32_t x = graph_operands(g, op)[0], y = g->m->ops[op].first_result;
    return x != NONE && same_type(g, x, g, y) && graph_movement(g, op) <= MOVEMENT_RESHAPE;
}

/* ---- equal ops ---- */

/* What the op means where the attribute is not printed. */
static bool says_the_default(const struct graph *g, uint32_t op, struct str key, struct str value) {
    struct str by_default;
    int64_t x, y;
    return op_default(op_table[g->kind[op]].absent, key, graph_is_ttnn(g, op), &by_default) &&
           (str_eq(value, by_default) || (mlir_int(value, &x) && mlir_int(by_default, &y) && x == y));
}

static bool is_relevant(const struct graph *g, uint32_t op, const struct attr *x) {
    return !attribute_changes_nothing(x->key, x->text) && !says_the_default(g, op, x->key, x->text);
}

/* All that matter in an op are in another one, too. */
static bool has_attributes(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    const struct attrs *all = graph_attributes(g, a), *others = graph_attributes(h, b);
    bool has = true;
    for (uint32_t i = 0; i < all->n && has; i++) {
        const struct attr *x = &all->at[i];
        has = !is_relevant(g, a, x);
        for (uint32_t k = 0; k < others->n && !has; k++)
            has = str_eq(x->key, others->at[k].key) && str_eq(x->text, others->at[k].text);
    }
    return has;
}

static struct str short_name(const struct graph *g, uint32_t op) {
    struct str name = mlir_op_name(g->m, op);
    const char *dot = memchr(name.p, '.', name.n);
    return dot ? (struct str){dot + 1, name.n - (size_t)(dot + 1 - name.p)} : name;
}

static uint64_t op_hash(const struct graph *g, uint32_t op) {
    return g->kind[op] == NO_OPERATOR ? str_hash(short_name(g, op)) : g->kind[op] * 0x9e3779b97f4a7c15u;
}

static bool same_attributes(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    return has_attributes(g, a, h, b) && has_attributes(h, b, g, a);
}

/* Whole numbers of two widths: what only moves them does the same to both. */
static bool narrowed(const struct graph *g, uint32_t v, const struct graph *h, uint32_t w) {
    return same_dims(g, v, h, w) && format_is_integer(graph_dtype(g, v)) && format_is_integer(graph_dtype(h, w));
}

/* It has ops of dialects that are lowered for the host (linalg, memref), which have no evaluators. */
static bool is_foreign(const struct graph *g, uint32_t func) {
    bool foreign = false;
    for (uint32_t op = g->m->funcs[func].first_op; op < g->m->funcs[func].end_op && !foreign; op++) {
        struct str name = mlir_op_name(g->m, op);
        foreign = g->kind[op] == NO_OPERATOR && memchr(name.p, '.', name.n) && !str_starts(name, STR("tt")) &&
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

/* Known by name only: what it makes of its operands is the same whatever types hold them. */
static bool is_closed(const struct graph *g, uint32_t op) {
    return graph_class(g, op) == OP_OPAQUE && !interpretable((enum op_kind)g->kind[op]);
}

/* A cast that keeps whole numbers that fit, which the compiler takes for granted: kernels want indices of 16 bits. */
static bool casts_whole(const struct graph *g, uint32_t op, bool to_any) {
    if (graph_class(g, op) != OP_CAST || graph_noperands(g, op) != 1 || graph_operands(g, op)[0] == NONE)
        return false;
    enum dtype from = graph_dtype(g, graph_operands(g, op)[0]), to = graph_dtype(g, g->m->ops[op].first_result);
    return format_is_integer(from) && (to_any || format_is_integer(to));
}

/* The same op in the text of two modules. One that names a function or a global may mean another there. */
static bool same_text(const struct mlir *m, uint32_t a, const struct mlir *other, uint32_t b) {
    struct str x = text_without_location(m, a);
    return str_eq(x, text_without_location(other, b)) && !memchr(x.p, '@', x.n) && same_aliases(m, other, x);
}

/* What devices have of a tensor may be cut in the words of either dialect. */
static bool same_placement(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    struct placement p, q;
    return graph_op_is(g, a, SHARDS) && mesh_placement(g, a, &p) && mesh_placement(h, b, &q) &&
           placements_agree(&p, &q);
}

/* Calls of one name whose functions are not here, not all of them, or are written alike. */
static bool same_callee(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    uint32_t x = g->m->ops[a].callee, y = h->m->ops[b].callee, f = graph_callee(g, a), k = graph_callee(h, b);
    if ((x == NONE) != (y == NONE))
        return false;
    if (x != NONE && !str_eq(g->m->names[x], h->m->names[y]))
        return false;
    if (f == NONE || k == NONE || (g == h && f == k))
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

/* What two ops do is the same, operands apart: the operator, its attributes but for those that change nothing
 * (layouts, devices), and the types of its results. The dialects may differ where that changes nothing. */
static bool ops_alike(const struct graph *g, uint32_t a, const struct graph *h, uint32_t b) {
    const struct mlir_op *o = &g->m->ops[a], *p = &h->m->ops[b];
    bool alike = g->kind[a] == h->kind[b] && o->nresults == p->nresults &&
                 (!depends_on_dialect((enum op_kind)g->kind[a]) || graph_is_ttnn(g, a) == graph_is_ttnn(h, b)) &&
                 (g->kind[a] != NO_OPERATOR || str_eq(short_name(g, a), short_name(h, b)));
    for (uint32_t i = 0; i < o->nresults && alike; i++)
        alike = same_type(g, o->first_result + i, h, p->first_result + i) ||
                (is_closed(g, a) && same_dims(g, o->first_result + i, h, p->first_result + i)) ||
                (graph_op_is(g, a, SHARDS) && narrowed(g, o->first_result + i, h, p->first_result + i));
    return alike && same_callee(g, a, h, b) && (same_placement(g, a, h, b) || same_attributes(g, a, h, b));
}

/* ---- constants without their elements ---- */

static struct str elements_of(const struct graph *g, uint32_t op) {
    const struct attr *value = graph_class(g, op) == OP_CONSTANT ? attrs_find(graph_attributes(g, op), "value") : NULL;
    return value ? value->text : STR("");
}

/* "dense_resource<__elided__>", in older text "dense<__elided__>". */
static bool has_no_name(const struct graph *g, uint32_t op) {
    struct str text = elements_of(g, op);
    return str_starts(text, STR("dense_resource<__elided__>")) || str_starts(text, STR("dense<__elided__>"));
}

bool dag_is_elided(const struct dag *d, uint32_t node) {
    const struct graph *g = d->side[d->nodes[node].side].g;
    uint32_t op = d->nodes[node].op;
    return has_no_name(g, op) || str_starts(elements_of(g, op), STR("dense_resource<"));
}

/* How many constants of a side are printed like the op. */
static uint32_t count_alike(const struct dag *d, int side, const struct graph *g, uint32_t op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->nnodes; i++)
        n += d->nodes[i].side == side && has_no_name(d->side[side].g, d->nodes[i].op) &&
             ops_alike(d->side[side].g, d->nodes[i].op, g, op);
    return n;
}

bool dag_is_one_of_many(const struct dag *d, uint32_t node) {
    const struct dag_node *x = &d->nodes[node];
    const struct graph *g = d->side[x->side].g;
    return has_no_name(g, x->op) && count_alike(d, x->side, g, x->op) > 1;
}

/* ---- equal nodes ---- */

static uint32_t *slot_of(const struct dag *d, uint64_t at) {
    return &d->table[at & (d->table_cap - 1)];
}

static uint64_t hash_of(const struct graph *g, uint32_t op, const uint32_t *operands, uint32_t n) {
    uint64_t h = op_hash(g, op);
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ operands[i]) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static bool on_operands(const struct dag *d, uint32_t node, const uint32_t *operands, uint32_t n) {
    return d->nodes[node].noperands == n &&
           (n == 0 || memcmp(dag_operands(d, node), operands, n * sizeof *operands) == 0);
}

/* The node of a side that does what an op does, on these operands; NONE: there is none. `same_types`: results have the
 * same type, not only two of floats. `number`: of a constant whose elements are left out. */
static uint32_t find_node(const struct dag *d, int side, const struct graph *g, uint32_t op, const uint32_t *operands,
                          uint32_t n, bool same_types, uint32_t number) {
    uint64_t h = hash_of(g, op, operands, n);
    for (; d->table_cap && *slot_of(d, h) != NONE; h++) {
        uint32_t node = *slot_of(d, h);
        const struct dag_node *x = &d->nodes[node];
        const struct graph *of = d->side[x->side].g;
        if (x->side == side && x->number == number && on_operands(d, node, operands, n) &&
            ops_alike(of, x->op, g, op) &&
            (!same_types || writes(g, op) ||
             graph_dtype(of, of->m->ops[x->op].first_result) == graph_dtype(g, g->m->ops[op].first_result)))
            return node;
    }
    return NONE;
}

static void enter(struct dag *d, uint32_t node) {
    const struct dag_node *x = &d->nodes[node];
    uint64_t h = hash_of(d->side[x->side].g, x->op, d->operands + x->first_operand, x->noperands);
    while (*slot_of(d, h) != NONE)
        h++;
    *slot_of(d, h) = node;
}

static void make_room(struct dag *d) {
    if (2 * (d->nnodes + 1) <= d->table_cap)
        return;
    free(d->table);
    d->table_cap = d->table_cap ? 4 * d->table_cap : 256;
    d->table = no_ids(d->table_cap);
    for (uint32_t node = 0; node < d->nnodes; node++)
        enter(d, node);
}

/* ---- building ---- */

/* One side while it is built. */
struct dag_builder {
    struct dag *d;
    struct dag_side *s;
    const struct graph *g;
    const struct graph *other;
    uint8_t side;
};

static uint32_t add_value(struct dag_builder *b, uint32_t value, uint32_t node, uint32_t result) {
    struct dag *d = b->d;
    uint32_t v = d->nvalues++;
    d->values = grow(d->values, &d->values_cap, d->nvalues, sizeof *d->values);
    d->values[v] = (struct dag_value){.value = value,
                                      .node = node,
                                      .result = result,
                                      .side = b->side,
                                      .rep = b->side == BEFORE ? v : NONE,
                                      .exact = NONE,
                                      .rounded = NONE,
                                      .next_rounded = NONE};
    return v;
}

static void add_copy(struct dag_builder *b, uint32_t op, uint32_t node) {
    struct dag_side *s = b->s;
    s->copies = grow(s->copies, &s->copies_cap, s->ncopies + 1, sizeof *s->copies);
    s->copies[s->ncopies++] = (struct dag_copy){op, node};
    for (uint32_t i = 0; i < b->g->m->ops[op].nresults; i++)
        s->of[b->g->m->ops[op].first_result + i] = b->d->nodes[node].first_result + i;
}

/* All names of a tensor stand for what it now holds. */
static void write_tensor(struct dag_builder *b, uint32_t tensor, uint32_t is) {
    uint32_t was = b->s->of[tensor];
    for (uint32_t w = 0; w < b->g->m->nvalues; w++)
        b->s->of[w] = b->s->of[w] == was ? is : b->s->of[w];
}

/* An op that copies its first operand into the second. */
static bool copy(struct dag_builder *b, uint32_t op) {
    const uint32_t *x = graph_operands(b->g, op);
    if (!graph_op_is(b->g, op, OVERWRITES) || graph_noperands(b->g, op) != 2 || b->s->of[x[0]] == NONE)
        return false;
    if (b->s->of[x[1]] != NONE)
        write_tensor(b, x[1], b->s->of[x[0]]);
    b->s->of[x[1]] = b->s->of[x[0]];
    return true;
}

/* The value that a cast was made of. */
static uint32_t before_cast(const struct dag_builder *b, uint32_t value) {
    uint32_t node = b->d->values[value].node;
    return node != NONE && casts_whole(b->g, b->d->nodes[node].op, false) ? dag_operands(b->d, node)[0] : value;
}

/* Made by an op that is known by name only. */
static bool is_of_closed(const struct dag_builder *b, uint32_t value) {
    uint32_t node = value == NONE ? NONE : b->d->values[value].node;
    return node != NONE && is_closed(b->g, b->d->nodes[node].op);
}

static void add_node(struct dag_builder *b, uint32_t op) {
    const struct graph *g = b->g;
    struct dag *d = b->d;
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t n = graph_noperands(g, op), node = d->nnodes, copy = NONE;
    uint32_t number = has_no_name(g, op) ? count_alike(d, b->side, g, op) : 0;
    d->operands = grow(d->operands, &d->operands_cap, d->noperands + n + 1, sizeof *d->operands); /* never NULL */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = graph_operands(g, op)[i];
        bool tensor = is_tensor_operand(g, v);
        if (tensor && b->s->of[v] == NONE) /* of a block, or of what is not understood: like no other */
            b->s->of[v] = add_value(b, v, NONE, 0);
        d->operands[d->noperands + i] = tensor ? is_closed(g, op) ? before_cast(b, b->s->of[v]) : b->s->of[v] : NONE;
    }
    if (!graph_op_is(g, op, ARBITRARY))
        copy = find_node(d, b->side, g, op, d->operands + d->noperands, n, true, number);
    if (copy != NONE) {
        add_copy(b, op, copy);
        return;
    }
    d->nodes = grow(d->nodes, &d->nodes_cap, node + 1, sizeof *d->nodes);
    d->nodes[d->nnodes] = (struct dag_node){.op = op,
                                            .first_operand = d->noperands,
                                            .noperands = n,
                                            .first_result = d->nvalues,
                                            .nresults = writes(g, op) ? 1 : o->nresults,
                                            .twin = NONE,
                                            .number = number,
                                            .side = b->side};
    d->noperands += n;
    make_room(d);
    enter(d, d->nnodes++);
    d->cut_short |= d->nnodes > MAX_NODES;
    if (writes(g, op))
        write_tensor(b, graph_operands(g, op)[0], add_value(b, graph_operands(g, op)[0], node, 0));
    for (uint32_t i = 0; i < o->nresults && !writes(g, op); i++)
        b->s->of[o->first_result + i] = add_value(b, o->first_result + i, node, i);
}

/* Deallocated is what a name stands for: a view of it, which has another name, keeps its memory. */
static void note_freed(struct dag_side *s, uint32_t op) {
    const struct mlir_op *o = &s->g->m->ops[op];
    bool reads = graph_class(s->g, op) != OP_RETURN || !s->g->m->funcs[o->func].copies_results;
    for (uint32_t i = 0; reads && i < graph_noperands(s->g, op); i++) {
        uint32_t v = graph_operands(s->g, op)[i];
        if (v == NONE)
            continue;
        if (graph_class(s->g, op) == OP_NO_USE) {
            s->freed[v] = op;
        } else if (s->freed[v] != NONE) {
            s->freed_uses = grow(s->freed_uses, &s->freed_uses_cap, s->nfreed_uses + 1, sizeof *s->freed_uses);
            s->freed_uses[s->nfreed_uses++] = (struct freed_use){op, s->freed[v]};
        }
    }
    for (uint32_t i = 0; i < o->nresults; i++) /* of a function that is called again */
        s->freed[o->first_result + i] = NONE;
}

static void inline_function(struct dag_builder *b, uint32_t func, int depth);

/* The other module calls a function of this name, too, and has no body of it: it is one function of a module whose
 * functions are printed one by one. */
static bool is_only_here(const struct dag_builder *b, struct str name) {
    const struct mlir *m = b->other->m;
    bool only = false;
    for (uint32_t i = 0; i < b->other->nlone_calls && !only; i++)
        only = str_eq(m->names[m->ops[b->other->lone_calls[i]].callee], name);
    return only;
}

static bool call(struct dag_builder *b, uint32_t op, int depth) {
    const struct graph *g = b->g;
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t func = graph_callee(g, op), n = graph_noperands(g, op);
    if (func == NONE || g->m->funcs[func].nargs != n || is_foreign(g, func) || is_only_here(b, g->m->names[o->callee]))
        return false;
    if (depth == 0) {
        b->d->cut_short = true;
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = graph_operands(g, op)[i], argument = g->m->funcs[func].first_arg + i;
        b->s->of[argument] = v == NONE ? NONE : b->s->of[v];
        b->s->freed[argument] = NONE;
    }
    inline_function(b, func, depth - 1);
    uint32_t end = g->return_op[func];
    for (uint32_t i = 0; i < o->nresults; i++)
        b->s->of[o->first_result + i] = i < graph_noperands(g, end) && graph_operands(g, end)[i] != NONE
                                            ? b->s->of[graph_operands(g, end)[i]]
                                            : NONE;
    return true;
}

static enum dtype dag_dtype(const struct dag *d, uint32_t value) {
    return graph_dtype(dag_graph(d, value), d->values[value].value);
}

/* The value rounded to a type; NONE: nothing rounds it to that. */
static uint32_t rounded_to(const struct dag *d, uint32_t exact, enum dtype type) {
    uint32_t v = d->values[exact].rounded;
    while (v != NONE && dag_dtype(d, v) != type)
        v = d->values[v].next_rounded;
    return v;
}

/* What a cast makes of a value. Casts between floats are no nodes: those of numbers that the compiler computes with
 * round all the same. */
static uint32_t cast_value(struct dag_builder *b, uint32_t op, uint32_t x) {
    uint32_t result = b->g->m->ops[op].first_result;
    enum dtype to = graph_dtype(b->g, result);
    if (graph_class(b->g, op) != OP_CAST || !graph_constant(b->g, result).known || !format_is_float(to) ||
        dtype_table[to].precision >= dtype_table[dag_dtype(b->d, x)].precision)
        return x;
    uint32_t v = rounded_to(b->d, x, to);
    if (v == NONE) {
        v = add_value(b, result, b->d->values[x].node, b->d->values[x].result);
        b->d->values[v].exact = x;
        b->d->values[v].next_rounded = b->d->values[x].rounded;
        b->d->values[x].rounded = v;
    }
    return v;
}

static void inline_function(struct dag_builder *b, uint32_t func, int depth) {
    const struct graph *g = b->g;
    for (uint32_t op = g->m->funcs[func].first_op; op < g->m->funcs[func].end_op && !b->d->cut_short; op++) {
        const struct mlir_op *o = &g->m->ops[op];
        enum op_class c = graph_class(g, op);
        bool calls = c == OP_CALL || (o->callee != NONE && graph_callee(g, op) != NONE);
        if (o->func == func)
            note_freed(b->s, op);
        if (c == OP_RETURN || c == OP_NO_USE || c == OP_STRUCTURE || o->func != func)
            continue;
        if ((calls && call(b, op, depth)) || copy(b, op))
            continue;
        uint32_t x = is_identity(g, op) || casts_whole(g, op, true) ? b->s->of[graph_operands(g, op)[0]] : NONE;
        if (x == NONE || (!is_identity(g, op) && !is_of_closed(b, x))) {
            add_node(b, op);
            continue;
        }
        b->s->of[o->first_result] = cast_value(b, op, x);
        if (graph_op_is(g, op, SHARDS) && b->d->values[x].node == NONE) /* an argument is what each device has of it */
            b->d->values[x].value = o->first_result;
    }
}

static void add_side(struct dag *d, uint8_t side, const struct graph *g, uint32_t func, const struct graph *other) {
    const struct mlir_func *m = &g->m->funcs[func];
    struct dag_side *s = &d->side[side];
    struct dag_builder b = {d, s, g, other, side};
    *s = (struct dag_side){.g = g,
                           .of = no_ids(g->m->nvalues),
                           .freed = no_ids(g->m->nvalues),
                           .first_node = d->nnodes,
                           .first_arg = d->nvalues};
    for (uint32_t i = 0; i < m->nargs; i++)
        if (is_model_argument(g, m->first_arg + i))
            s->of[m->first_arg + i] = add_value(&b, m->first_arg + i, NONE, s->nargs++);
    inline_function(&b, func, MAX_DEPTH);
    s->end_node = d->nnodes;
    uint32_t end = g->return_op[func];
    s->returns = end != NONE;
    for (uint32_t i = 0; end != NONE && i < graph_noperands(g, end); i++) {
        uint32_t v = graph_operands(g, end)[i];
        s->outputs = grow(s->outputs, &s->outputs_cap, s->noutputs + 1, sizeof *s->outputs);
        s->outputs[s->noutputs++] = v == NONE ? NONE : s->of[v];
    }
}

/* Where both sides join what the devices have in the same way, that is what they return. */
static void compare_before_joining(struct dag *d) {
    struct dag_side *b = &d->side[BEFORE], *a = &d->side[AFTER];
    for (uint32_t i = 0; i < b->noutputs && i < a->noutputs; i++) {
        uint32_t x = b->outputs[i] == NONE ? NONE : d->values[b->outputs[i]].node;
        uint32_t y = a->outputs[i] == NONE ? NONE : d->values[a->outputs[i]].node;
        if (x == NONE || y == NONE || !op_is(dag_kind(d, x), SHARDS) ||
            !ops_alike(b->g, d->nodes[x].op, a->g, d->nodes[y].op))
            continue;
        b->outputs[i] = dag_operands(d, x)[0];
        a->outputs[i] = dag_operands(d, y)[0];
    }
}

void dag_build(struct dag *d, const struct graph *before, uint32_t func, const struct graph *after,
               uint32_t func_after) {
    *d = (struct dag){.cut_short = false};
    add_side(d, BEFORE, before, func, after);
    add_side(d, AFTER, after, func_after, before);
    const struct dag_side *b = &d->side[BEFORE], *a = &d->side[AFTER];
    uint32_t *same = pair_arguments(before, func, after, func_after);
    for (uint32_t i = 0; i < a->nargs; i++)
        if (same[i] != NONE && same[i] < b->nargs)
            dag_merge(d, a->first_arg + i, b->first_arg + same[i], (struct movement){.rank = 0}, PROVED);
    free(same);
    compare_before_joining(d);
}

void dag_free(struct dag *d) {
    for (int side = 0; side < SIDES; side++) {
        free(d->side[side].of);
        free(d->side[side].outputs);
        free(d->side[side].copies);
        free(d->side[side].freed_uses);
        free(d->side[side].freed);
    }
    free(d->values);
    free(d->nodes);
    free(d->operands);
    free(d->table);
}

/* ---- merging ---- */

void dag_merge(struct dag *d, uint32_t after, uint32_t before, struct movement moved, enum merge how) {
    struct dag_value *v = &d->values[after], *w = &d->values[before];
    v->rep = before;
    v->moved = moved;
    v->merged = (uint8_t)how;
    if (w->merged < how)
        w->merged = (uint8_t)how;
}

void dag_part(struct dag *d, uint32_t after, const struct dag_value *was) {
    uint32_t rep = d->values[after].rep;
    d->values[after] = *was;
    if (rep == NONE)
        return;
    d->values[rep].merged = NOT_MERGED;
    for (const struct dag_value *v = d->values; v < d->values + d->nvalues; v++)
        if (v->side == AFTER && v->rep == rep && v->merged > d->values[rep].merged)
            d->values[rep].merged = v->merged;
}

/* A value and what is rounded of it: what is of a type that the one of BEFORE is rounded to is that. */
static void merge_constant(struct dag *d, uint32_t after, uint32_t before, enum merge how) {
    uint32_t rounded = rounded_to(d, before, dag_dtype(d, after));
    dag_merge(d, after, rounded == NONE ? before : rounded, (struct movement){.rank = 0}, how);
    for (uint32_t v = d->values[after].rounded; v != NONE; v = d->values[v].next_rounded)
        if (rounded_to(d, before, dag_dtype(d, v)) != NONE || dag_dtype(d, before) == dag_dtype(d, v))
            merge_constant(d, v, before, how);
}

/* The node of BEFORE that does what one of AFTER does, on these operands in this or the other order. */
static uint32_t find_twin(const struct dag *d, uint32_t node, const uint32_t *operands) {
    const struct dag_node *x = &d->nodes[node];
    const struct graph *g = d->side[AFTER].g;
    uint32_t twin = find_node(d, BEFORE, g, x->op, operands, x->noperands, false, x->number);
    if (twin == NONE && x->noperands == 2 && op_is(dag_kind(d, node), COMMUTES))
        twin = find_node(d, BEFORE, g, x->op, (uint32_t[]){operands[1], operands[0]}, 2, false, x->number);
    return twin;
}

bool dag_merge_twin(struct dag *d, uint32_t node) {
    struct dag_node *x = &d->nodes[node];
    uint32_t operands[MAX_TWIN_OPERANDS] = {NONE}, exact[MAX_TWIN_OPERANDS] = {NONE}, n = x->noperands;
    enum merge how = PROVED;
    bool rounded = false; /* to the type of a constant of AFTER, which no cast rounds */
    if (n > MAX_TWIN_OPERANDS)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = dag_operands(d, node)[i];
        const struct dag_value *of = v == NONE ? NULL : &d->values[v];
        if (of && (of->rep == NONE || of->moved.rank || !dag_same_dims(d, v, of->rep)))
            return false;
        operands[i] = exact[i] = of ? of->rep : NONE;
        how = of && of->merged < how ? of->merged : how;
        if (of && of->exact == NONE && d->values[of->rep].exact != NONE) {
            exact[i] = d->values[of->rep].exact;
            rounded = true;
        }
    }
    x->twin = find_twin(d, node, operands);
    if (x->twin == NONE && rounded)
        x->twin = find_twin(d, node, exact);
    for (uint32_t i = 0; x->twin != NONE && i < x->nresults; i++)
        merge_constant(d, x->first_result + i, d->nodes[x->twin].first_result + i, how);
    return x->twin != NONE;
}
