/* The text of the part is read and printed again. A dimension more or less in front is one for what comes from outside
 * and has the largest rank there is, and for what follows from that; what says dimensions by number follows. */
#include "reduce/mutate.h"

#include <string.h>

enum { MANY = 2, MAX_KEYS = 24, MAX_LIST = 16, MAX_KINDS = 16 };

/* What an op that is put in takes beside: as many numbers, one for each element of the last dimension, one, or a known
 * one. */
enum other { OTHER_ALIKE, OTHER_ROW, OTHER_ONE, OTHER_KNOWN, OTHERS };

struct mutator {
    const struct mlir *m;
    const struct graph *g;
    const struct mlir_func *f;
    struct mutation *mu;
    struct arena *arena;
    struct buf out;
    bool *leads;       /* by value: its leading dimension is the one that is new, or goes */
    int64_t *extent;   /* by value: of that */
    uint32_t dropped;  /* the op that goes, and the value that stands for it */
    uint32_t stand_in; /* NONE: none */
    uint32_t at;       /* the value that an op is put behind, or NONE */
    struct str insert; /* that op */
    enum other other;
    bool unary, parameter, bad;
};

static bool changes_rank(const struct mutator *x) {
    return x->mu->change == CHANGE_BATCH || x->mu->change == CHANGE_RANK || x->mu->change == CHANGE_NO_LEAD;
}

static uint32_t rank_of(const struct mutator *x, uint32_t value) {
    uint32_t rank;
    return graph_shape(x->g, value, &rank) ? rank : 0;
}

/* ---- leading dimensions ---- */

static uint32_t largest_rank(const struct mutator *x) {
    uint32_t rank = 0;
    for (uint32_t v = 0; v < x->m->nvalues; v++)
        rank = rank_of(x, v) > rank ? rank_of(x, v) : rank;
    return rank;
}

static int64_t first_dim(const struct mutator *x, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = graph_shape(x->g, value, &rank);
    return dims && rank ? dims[0] : 0;
}

static void lead(struct mutator *x, uint32_t value, int64_t extent) {
    x->leads[value] = true;
    x->extent[value] = extent;
    x->bad |= x->mu->change == CHANGE_NO_LEAD && first_dim(x, value) != 1;
}

/* Ops that do to further dimensions in front what they do to those that are there: none, or all operands alike. */
static bool follows(enum op_kind k, enum op_class c) {
    return c == OP_ELTWISE || c == OP_REDUCE || c == OP_SLICE || c == OP_JOIN || c == OP_MOVE || c == OP_CAST ||
           c == OP_LAYOUT || k == K_SOFTMAX || k == K_LAYER_NORM || k == K_RMS_NORM || k == K_MATMUL || k == K_LINEAR ||
           k == K_SORT || k == K_TOPK || k == K_CUMSUM;
}

static void lead_results(struct mutator *x, uint32_t op) {
    const struct graph *g = x->g;
    enum op_class c = graph_class(g, op);
    bool any = false, all = true;
    int64_t extent = 1;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v == NONE)
            continue;
        any |= x->leads[v];
        all &= x->leads[v];
        extent = x->leads[v] && x->extent[v] > extent ? x->extent[v] : extent;
    }
    x->bad |= any && x->m->ops[op].nresults > 0 && (!follows((enum op_kind)g->kind[op], c) || (!all && c == OP_JOIN));
    for (uint32_t r = 0; r < x->m->ops[op].nresults && any; r++)
        lead(x, x->m->ops[op].first_result + r, extent);
}

static void find_leads(struct mutator *x) {
    uint32_t rank = largest_rank(x);
    for (uint32_t i = 0; i < x->f->nargs; i++)
        if (rank_of(x, x->f->first_arg + i) == rank)
            lead(x, x->f->first_arg + i, x->mu->change == CHANGE_BATCH ? MANY : 1);
    for (uint32_t op = x->f->first_op; op < x->f->end_op; op++) {
        if (graph_class(x->g, op) != OP_CONSTANT)
            lead_results(x, op);
        else if (rank_of(x, x->m->ops[op].first_result) == rank)
            lead(x, x->m->ops[op].first_result, 1);
    }
    x->bad |= rank == 0 || (x->mu->change == CHANGE_NO_LEAD && rank < 2);
}

/* ---- attributes ---- */

enum attr_use { DIM_NUMBERS, ORDER, FIRST_0, FIRST_1, FIRST_EXTENT };

static const struct {
    const char *key;
    enum attr_use use;
} dim_attrs[] = {{"dim_arg", DIM_NUMBERS},
                 {"dimension", DIM_NUMBERS},
                 {"dim", DIM_NUMBERS},
                 {"dim0", DIM_NUMBERS},
                 {"dim1", DIM_NUMBERS},
                 {"permutation", ORDER},
                 {"begins", FIRST_0},
                 {"ends", FIRST_EXTENT},
                 {"step", FIRST_1},
                 {"shape", FIRST_EXTENT},
                 {"broadcast_dimensions", FIRST_1},
                 {"repeat_dimensions", FIRST_1},
                 {"repeat_dims", FIRST_1}};

static void print_list(struct mutator *x, const int64_t *list, int n) {
    buf_addc(&x->out, '[');
    for (int i = 0; i < n; i++)
        buf_printf(&x->out, "%s%lld", i ? ", " : "", (long long)list[i]);
    buf_addc(&x->out, ']');
}

/* Numbers of dimensions from the front; those from the end stay. */
static void shift_dims(struct mutator *x, int64_t *list, int n, bool less) {
    for (int i = 0; i < n; i++) {
        x->bad |= less && list[i] == 0;
        list[i] += list[i] < 0 ? 0 : less ? -1 : 1;
    }
}

static void print_attr(struct mutator *x, uint32_t value, enum attr_use use, struct str text) {
    bool less = x->mu->change == CHANGE_NO_LEAD;
    int64_t list[MAX_LIST + 1], one;
    int n = mlir_ints(text, list + 1, MAX_LIST);
    if (use == DIM_NUMBERS && mlir_int(text, &one)) {
        shift_dims(x, &one, 1, less);
        buf_printf(&x->out, "%lld : i32", (long long)one);
        return;
    }
    x->bad |= n < 0 || n > MAX_LIST || (n == 0 && less);
    if (x->bad)
        return;
    if (use == ORDER)
        x->bad |= less && list[1] != 0;
    if (use == DIM_NUMBERS || use == ORDER)
        shift_dims(x, list + 1 + (use == ORDER && less), n - (use == ORDER && less), less);
    list[0] = use == FIRST_1 ? 1 : use == FIRST_EXTENT ? x->extent[value] : 0;
    int skipped = use == DIM_NUMBERS ? 1 : less ? 2 : 0;
    print_list(x, list + skipped, n + 1 - skipped);
}

static void print_attrs(struct mutator *x, uint32_t op) {
    struct str keys[MAX_KEYS], values[MAX_KEYS];
    int n = mlir_attrs(x->m, op, keys, values, MAX_KEYS);
    uint32_t result = x->m->ops[op].first_result;
    x->bad |= n > MAX_KEYS || (graph_class(x->g, op) == OP_REDUCE && n == 0);
    for (int i = 0; i < n && i < MAX_KEYS; i++) {
        const char *equals = values[i].n ? " = " : "";
        buf_printf(&x->out, "%s%.*s%s", i ? ", " : "", (int)keys[i].n, keys[i].p, equals);
        size_t k = 0;
        while (k < sizeof dim_attrs / sizeof *dim_attrs && !str_is(keys[i], dim_attrs[k].key))
            k++;
        if (k < sizeof dim_attrs / sizeof *dim_attrs)
            print_attr(x, result, dim_attrs[k].use, values[i]);
        else
            buf_add(&x->out, values[i]);
    }
}

/* ---- printing ---- */

static void print_type(struct mutator *x, uint32_t value) {
    struct str text = x->m->types[x->m->values[value].type].text, tensor = STR("tensor<");
    if (!x->leads[value] || !str_starts(text, tensor)) {
        buf_add(&x->out, text);
        return;
    }
    struct str rest = {text.p + tensor.n, text.n - tensor.n};
    buf_add(&x->out, tensor);
    if (x->mu->change != CHANGE_NO_LEAD)
        buf_printf(&x->out, "%lldx", (long long)x->extent[value]);
    else
        rest = (struct str){rest.p + 2, rest.n - 2}; /* "1x" */
    buf_add(&x->out, rest);
}

static void print_name(struct mutator *x, uint32_t value, bool behind) {
    while (x->dropped != NONE && x->m->values[value].def == x->dropped)
        value = x->stand_in;
    const struct mlir_value *v = &x->m->values[value];
    struct str name = mlir_span(x->m, v->name);
    if (behind && value == x->at) {
        buf_add(&x->out, STR("%new"));
        return;
    }
    buf_add(&x->out, name);
    if (v->def != NONE && x->m->ops[v->def].nresults > 1)
        buf_printf(&x->out, "#%u", v->index);
}

static void print_new_type(struct mutator *x) {
    uint32_t rank;
    const int64_t *dims = graph_shape(x->g, x->at, &rank);
    buf_add(&x->out, STR("tensor<"));
    for (uint32_t d = 0; d < rank; d++) {
        bool kept = x->other == OTHER_ALIKE || (x->other == OTHER_ROW && d + 1 == rank);
        buf_printf(&x->out, "%lldx", (long long)(kept ? dims[d] : 1));
    }
    buf_printf(&x->out, "%s>", dtype_name(graph_dtype(x->g, x->at)));
}

/* The operand, where it is a known number. */
static void print_known(struct mutator *x, const char *dialect) {
    buf_printf(&x->out, "  %%other = \"%s.full\"() <{fill_value = 0.5 : f32, shape = [", dialect);
    for (uint32_t d = 0; d < rank_of(x, x->at); d++)
        buf_printf(&x->out, "%s1", d ? ", " : "");
    buf_add(&x->out, STR("]}> : () -> "));
    print_new_type(x);
    buf_addc(&x->out, '\n');
}

static void print_new_op(struct mutator *x) {
    buf_printf(&x->out, "  %%new = \"%.*s\"(", (int)x->insert.n, x->insert.p);
    print_name(x, x->at, false);
    buf_add(&x->out, x->unary ? STR(") : (") : STR(", %other) : ("));
    print_type(x, x->at);
    if (!x->unary) {
        buf_add(&x->out, STR(", "));
        print_new_type(x);
    }
    buf_add(&x->out, STR(") -> "));
    print_type(x, x->at);
    buf_addc(&x->out, '\n');
}

static void print_types(struct mutator *x, const uint32_t *values, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        buf_add(&x->out, i ? STR(", ") : STR(""));
        print_type(x, values[i]);
    }
}

static void print_operands(struct mutator *x, uint32_t op) {
    const struct mlir_op *o = &x->m->ops[op];
    for (uint32_t i = 0; i < o->noperands; i++) {
        buf_add(&x->out, i ? STR(", ") : STR(""));
        print_name(x, x->m->operands[o->first_operand + i], true);
    }
}

static void print_op(struct mutator *x, uint32_t op) {
    const struct mlir_op *o = &x->m->ops[op];
    struct str name = mlir_op_name(x->m, op);
    const uint32_t *operands = x->m->operands + o->first_operand;
    if (x->g->kind[op] == K_RETURN) {
        buf_add(&x->out, STR("  return "));
        print_operands(x, op);
        buf_add(&x->out, STR(" : "));
        print_types(x, operands, o->noperands);
        buf_addc(&x->out, '\n');
        return;
    }
    struct str result = mlir_span(x->m, x->m->values[o->first_result].name);
    buf_printf(&x->out, "  %.*s", (int)result.n, result.p);
    if (o->nresults > 1)
        buf_printf(&x->out, ":%u", o->nresults);
    buf_printf(&x->out, " = \"%.*s\"(", (int)name.n, name.p);
    print_operands(x, op);
    buf_add(&x->out, STR(") <{"));
    if (x->leads[o->first_result])
        print_attrs(x, op);
    else
        buf_add(&x->out, mlir_span(x->m, o->props));
    buf_add(&x->out, STR("}> : ("));
    print_types(x, operands, o->noperands);
    buf_add(&x->out, o->nresults > 1 ? STR(") -> (") : STR(") -> "));
    for (uint32_t r = 0; r < o->nresults; r++) {
        buf_add(&x->out, r ? STR(", ") : STR(""));
        print_type(x, o->first_result + r);
    }
    buf_add(&x->out, o->nresults > 1 ? STR(")\n") : STR("\n"));
}

static void print_arguments(struct mutator *x) {
    for (uint32_t i = 0; i < x->f->nargs; i++) {
        struct str attr = mlir_span(x->m, x->m->arg_attrs[x->f->first_arg_attr + i]);
        buf_add(&x->out, i ? STR(", ") : STR(""));
        buf_add(&x->out, mlir_span(x->m, x->m->values[x->f->first_arg + i].name));
        buf_add(&x->out, STR(": "));
        print_type(x, x->f->first_arg + i);
        if (attr.n)
            buf_printf(&x->out, " {%.*s}", (int)attr.n, attr.p);
    }
    if (x->at == NONE || x->unary || x->other == OTHER_KNOWN)
        return;
    buf_add(&x->out, x->f->nargs ? STR(", %other: ") : STR("%other: "));
    print_new_type(x);
    if (x->parameter)
        buf_add(&x->out, STR(" {ttcore.argument_type = #ttcore.argument_type<parameter>}"));
}

/* Lines of what comes behind one that is gone or new. */
static void move_lines(struct written_part *w, uint32_t n, uint32_t from, int by) {
    for (uint32_t i = 0; i < n; i++)
        if (w->line[i] != NONE && w->line[i] >= from)
            w->line[i] = (uint32_t)((int)w->line[i] + by);
}

static const char *dialect_of(const struct mutator *x) {
    return str_starts(mlir_op_name(x->m, x->f->end_op - 2), STR("ttnn.")) ? "ttnn" : "ttir";
}

static void note_lines(struct mutator *x, const struct part *p, struct written_part *w, bool known) {
    uint32_t put = x->at == NONE ? NONE : x->m->values[x->at].def, gone = x->dropped - x->f->first_op;
    if (x->at != NONE) {
        x->mu->added = (put == NONE ? 0 : put + 1 - x->f->first_op) + known;
        move_lines(w, p->nops, 0, known);
        move_lines(w, p->nops, x->mu->added, 1);
    }
    for (uint32_t i = 0; i < p->nops && x->dropped != NONE; i++)
        w->line[i] = w->line[i] == gone ? NONE : w->line[i];
    if (x->dropped != NONE)
        move_lines(w, p->nops, gone, -1);
}

static void print_module(struct mutator *x, const struct part *p, struct written_part *w) {
    uint32_t put = x->at == NONE ? NONE : x->m->values[x->at].def;
    bool known = x->at != NONE && !x->unary && x->other == OTHER_KNOWN;
    note_lines(x, p, w, known);
    buf_add(&x->out, STR("func.func @part("));
    print_arguments(x);
    buf_add(&x->out, STR(") {\n"));
    if (known)
        print_known(x, dialect_of(x));
    if (x->at != NONE && put == NONE)
        print_new_op(x);
    for (uint32_t op = x->f->first_op; op < x->f->end_op; op++) {
        if (op != x->dropped)
            print_op(x, op);
        if (op == put && x->at != NONE)
            print_new_op(x);
    }
    buf_add(&x->out, STR("}\n"));
}

/* ---- one op more or less ---- */

/* The op in the text that a matched one is. */
static uint32_t op_of(const struct mutator *x, const struct part *p, const struct written_part *w, uint32_t op) {
    for (uint32_t i = 0; i < p->nops; i++)
        if (p->ops[i] == op)
            return x->f->first_op + w->line[i];
    return NONE;
}

static bool same_type(const struct mutator *x, uint32_t a, uint32_t b) {
    return str_eq(x->m->types[x->m->values[a].type].text, x->m->types[x->m->values[b].type].text);
}

/* An operand that could stand for the result of an elementwise op, by number among all of the match. */
static bool choose_dropped(struct mutator *x, const struct part *p, const struct match *m,
                           const struct written_part *w) {
    uint32_t n = 0, choice = 0;
    for (int counted = 0; counted < 2; counted++) {
        for (uint32_t i = 0, k = 0; i < m->nops; i++) {
            uint32_t op = op_of(x, p, w, m->ops[i]);
            for (uint32_t j = 0; j < x->m->ops[op].noperands && graph_class(x->g, op) == OP_ELTWISE; j++) {
                uint32_t v = x->m->operands[x->m->ops[op].first_operand + j];
                if (!same_type(x, v, x->m->ops[op].first_result))
                    continue;
                if (counted && k == choice) {
                    x->dropped = op;
                    x->stand_in = v;
                    return true;
                }
                k++;
                n += !counted;
            }
        }
        if (n == 0)
            return false;
        choice = (uint32_t)(x->mu->seed % n);
    }
    return false;
}

/* Elementwise operators that a formula has beside an alternative without them: x + y | x. */
struct optional {
    enum op_kind kinds[MAX_KINDS];
    bool unary[MAX_KINDS];
    uint32_t n;
};

/* Written alike: an optional part is read as two alternatives, and names inside of idioms are others each time. */
static bool same_node(const struct node *a, const struct node *b) {
    bool same = a->kind == b->kind && a->nargs == b->nargs && str_eq(a->text, b->text);
    if (a->kind == N_VARIABLE || (a->kind == N_NAMED && a->slot == b->slot))
        return same && a->slot == b->slot;
    for (uint32_t i = 0; i < a->nargs && same; i++)
        same = same_node(a->args[i], b->args[i]);
    return same && a->op == b->op;
}

static void add_optional(struct optional *all, const struct node *either, const struct node *n) {
    bool without = false;
    if (n->kind == N_NAMED && n->nargs)
        n = n->args[0];
    for (uint32_t i = 0; i < either->nargs && n->kind == N_OP; i++)
        for (uint32_t k = 0; k < n->nargs; k++)
            without |= same_node(either->args[i], n->args[k]);
    if (!without || op_table[n->op].class != OP_ELTWISE || n->nargs > 2 || all->n == MAX_KINDS)
        return;
    all->kinds[all->n] = n->op;
    all->unary[all->n++] = n->nargs == 1;
}

static void find_optional(struct optional *all, const struct node *n, bool seen[MAX_SLOTS]) {
    if (n->kind == N_NAMED && seen[n->slot])
        return;
    if (n->kind == N_NAMED)
        seen[n->slot] = true;
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (n->kind == N_EITHER)
            add_optional(all, n, n->args[i]);
        find_optional(all, n->args[i], seen);
    }
}

/* The op as this dialect spells it; empty where it has none. */
static struct str spelling(enum op_kind k, const char *dialect) {
    for (const char *p = op_table[k].spellings; *p; p += strspn(p, " ")) {
        struct str one = {p, strcspn(p, " ")};
        if (str_starts(one, str_of(dialect)))
            return one;
        p += one.n;
    }
    return STR("");
}

/* A value that a matched op makes or takes, and what to do to it. */
static bool choose_inserted(struct mutator *x, const struct part *p, const struct match *m,
                            const struct written_part *w) {
    const struct formula *f = m->pattern->is_variant ? &m->pattern->variant_of->formula : &m->pattern->formula;
    struct optional all = {.n = 0};
    bool seen[MAX_SLOTS] = {false};
    uint64_t seed = x->mu->seed;
    find_optional(&all, f->root, seen);
    if (all.n == 0)
        return false;
    uint32_t op = op_of(x, p, w, m->ops[seed % m->nops]), kind = (uint32_t)(seed / m->nops % all.n);
    const struct mlir_op *o = &x->m->ops[op];
    seed /= (uint64_t)m->nops * all.n;
    uint32_t which = (uint32_t)(seed % (1 + o->noperands));
    seed /= 1 + o->noperands;
    x->at = which < 1 ? o->first_result : x->m->operands[o->first_operand + which - 1];
    x->unary = all.unary[kind];
    x->insert = spelling(all.kinds[kind], dialect_of(x));
    x->other = (enum other)(seed % OTHERS);
    x->parameter = seed / OTHERS % 2;
    enum dtype t = graph_dtype(x->g, x->at);
    return x->insert.n && graph_numel(x->g, x->at) > 0 && rank_of(x, x->at) > 0 &&
           (t == DT_F32 || t == DT_BF16 || t == DT_F16);
}

/* ---- all of it ---- */

const char *change_name(enum change c) {
    static const char *const names[CHANGES] = {[CHANGE_BATCH] = "with one more leading dimension",
                                               [CHANGE_RANK] = "with one more leading dimension",
                                               [CHANGE_NO_LEAD] = "with one leading dimension less",
                                               [CHANGE_DROP] = "without an optional part",
                                               [CHANGE_INSERT] = "with one more optional part"};
    return names[c] ? names[c] : "";
}

static bool change(struct mutator *x, const struct part *p, const struct match *m, struct written_part *w) {
    x->leads = arena_alloc(x->arena, (x->m->nvalues + 1) * sizeof *x->leads);
    x->extent = arena_alloc(x->arena, (x->m->nvalues + 1) * sizeof *x->extent);
    if (changes_rank(x))
        find_leads(x);
    else if (!(x->mu->change == CHANGE_DROP ? choose_dropped : choose_inserted)(x, p, m, w))
        return false;
    if (!x->bad)
        print_module(x, p, w);
    w->text = arena_str(x->arena, buf_str(&x->out));
    buf_free(&x->out);
    return !x->bad;
}

bool mutate(struct mutation *mu, const struct part *p, const struct match *m, struct arena *a, struct written_part *w) {
    struct source source = {.path = "proof", .data = w->text.p, .size = w->text.n, .line_cache_line = 1};
    struct log_block block = {.text = w->text, .complete = true};
    struct diags diags = {.arena = a};
    struct mlir ir;
    struct graph g;
    mlir_parse(&ir, &source, &block, &diags);
    graph_build(&g, &ir);
    mu->added = NONE;
    struct mutator x = {.m = &ir, .g = &g, .mu = mu, .arena = a, .dropped = NONE, .stand_in = NONE, .at = NONE};
    bool good = ir.nfuncs == 1 && ir.bad_ops == 0 && ir.nops > 1;
    x.f = ir.funcs;
    good = good && change(&x, p, m, w);
    graph_free(&g);
    mlir_free(&ir);
    diags_free(&diags);
    return good;
}
