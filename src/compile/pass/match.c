/* Of each root the ops that make its operands, by getProducer, which takes a null op; behind the guard that all are
 * there, the operands that no matched op makes, and which are the same. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "compile/pass/writer.h"
#include "ir/graph/movement.h"

enum { MAX_PATH = 4, MAX_THROUGH = 8 };

/* ---- operands ---- */

/* What is asked of the operands of one root. */
struct root_guards {
    struct buf leaves;             /* statements: operands that no matched op makes */
    struct buf missing, differing; /* conditions; `differing`: those that ask leaves, */
    struct buf others;             /* and those that do not */
    uint32_t nsteps;
};

/* How a value is made: the op, or the generator of a constant, and what is looked through on the way. */
struct producer {
    uint32_t op;                   /* or NONE */
    uint32_t through[MAX_THROUGH]; /* ops, one of each name */
    uint32_t nthrough;
};

static bool has_name(const struct graph *g, const struct producer *p, uint32_t op) {
    bool found = false;
    for (uint32_t i = 0; i < p->nthrough && !found; i++)
        found = str_eq(mlir_op_name(g->m, p->through[i]), mlir_op_name(g->m, op));
    return found;
}

static struct producer producer_of(const struct pass_writer *w, uint32_t value) {
    const struct graph *g = w->place.g;
    struct producer p = {.op = place_def(&w->place, value)};
    while (p.op != NONE && (place_constant(&w->place, value)
                                ? graph_noperands(g, p.op) == 1
                                : place_inner(&w->place, g->m->ops[p.op].first_result) && !w->place.step[p.op])) {
        if (!has_name(g, &p, p.op) && p.nthrough < MAX_THROUGH)
            p.through[p.nthrough++] = p.op;
        p.op = place_def(&w->place, graph_operands(g, p.op)[0]);
    }
    return p;
}

/* "<MatmulOp, ReshapeOp>", without the op where it is no step. */
static struct str template_text(struct pass_writer *w, const struct producer *p, bool with_op) {
    struct buf b = {0};
    for (uint32_t i = !with_op; i <= p->nthrough; i++) {
        struct str class = pass_class(w, w->place.g, i ? p->through[i - 1] : p->op);
        if (class.n)
            buf_printf(&b, "%s%s", b.n ? ", " : "<", class.p);
    }
    buf_addc(&b, '>');
    return buf_take(&b, w->arena);
}

static struct str op_name(struct pass_writer *w, uint32_t op) {
    struct str name = pass_formula_name(w, w->place.g->m->ops[op].first_result, false);
    return name.n >= 4 ? name : pass_word(w->place.g, op);
}

/* An operand of an op that has a name: `index` is its number, or what findOperand found. */
struct operand {
    uint32_t op, value;
    struct str index, expr;
    bool late; /* it is known behind the guard that the op is there */
};

static struct operand operand_of(struct pass_writer *w, uint32_t op, uint32_t i, struct str index) {
    struct str of = w->expr[w->place.g->m->ops[op].first_result];
    struct str get = cpp_operand((enum op_kind)w->place.g->kind[op], i, w->arena);
    if (index.n)
        get = arena_printf(w->arena, "->getOperand(%s)", index.p);
    return (struct operand){op, graph_operands(w->place.g, op)[i], index.n ? index : arena_printf(w->arena, "%u", i),
                            arena_printf(w->arena, "%s%s", of.p, get.p), false};
}

/* The variable of a leaf, a value that no matched op makes: the name that the formula has for it; else that of the
 * accessor in `expr`, "rhs" of "dotOp.getRhs()"; else "input". */
static struct str leaf_name(struct pass_writer *w, uint32_t leaf, struct str expr) {
    struct str name = pass_formula_name(w, leaf, true);
    const char *at = str_find(expr, STR(".get"));
    struct str rest = at ? (struct str){at + 4, (size_t)(expr.p + expr.n - at - 4)} : STR("input");
    name = name.n ? name : str_part(&rest, '(');
    return name.n ? arena_printf(w->arena, "%c%.*s", tolower((unsigned char)*name.p), (int)name.n - 1, name.p + 1)
                  : name;
}

static void visit_leaf(struct pass_writer *w, struct root_guards *t, const struct operand *x, uint32_t leaf) {
    struct producer p = producer_of(w, x->value);
    struct str expr = x->expr;
    uint32_t same = leaf;
    if (place_constant(&w->place, leaf)) {
        w->expr[leaf] = expr;
        if (w->nconstants < MAX_CONSTANTS)
            w->constants[w->nconstants++] =
                (struct pass_constant){.value = leaf, .expr = expr, .number = graph_constant(w->place.g, leaf).value};
        return;
    }
    if (x->value != leaf) {
        struct str classes = template_text(w, &p, false);
        expr = arena_printf(w->arena, "ttmlir::utils::lookThrough%s(%s)", classes.p, expr.p);
    }
    for (uint32_t op = place_def(&w->place, leaf); x->value != leaf && op != NONE && has_name(w->place.g, &p, op);
         op = place_def(&w->place, leaf))
        leaf = graph_operands(w->place.g, op)[0];
    w->final[leaf] = w->final[same] = true;
    w->expr[leaf] = w->expr[same] = expr;
    if (!w->place.read[same] && w->place.inside[same] <= 1) /* it may be any */
        return;
    struct str name = pass_variable(w, leaf_name(w, same, x->expr), "");
    cpp_put(&t->leaves, INDENT, "Value %s = %s;", name.p, expr.p);
    w->expr[leaf] = w->expr[same] = name;
    if (w->place.read[same] && w->nread < MAX_NAMES)
        w->reads[w->nread++] = leaf;
}

static void visit_operands(struct pass_writer *w, struct root_guards *t, uint32_t op);

/* The op that makes the operand, and all that makes that. */
static void visit_step(struct pass_writer *w, struct root_guards *t, const struct operand *x,
                       const struct producer *p) {
    const struct mlir *m = w->place.g->m;
    uint32_t result = m->ops[p->op].first_result, before = ++t->nsteps;
    struct str name = pass_variable(w, op_name(w, p->op), "Op"), classes = template_text(w, p, true);
    struct str of = w->expr[m->ops[x->op].first_result];
    uint32_t uses = place_escapes(&w->place, result) ? 0 : w->place.inside[result];
    struct str more = uses == 1 ? STR("") : arena_printf(w->arena, ", /*uses=*/%u", uses);
    w->expr[result] = name;
    w->final[result] = true;
    for (uint32_t i = 1; i < m->ops[p->op].nresults; i++) {
        w->expr[result + i] = arena_printf(w->arena, "%s->getResult(%u)", name.p, i);
        w->final[result + i] = true;
    }
    cpp_put(&w->guards, INDENT, "auto %s = getProducer%s(%s, %s%s);", name.p, classes.p, of.p, x->index.p, more.p);
    visit_operands(w, t, p->op);
    if (t->nsteps == before) /* else those before it are null with it */
        pass_condition(&t->missing, "!%s", name.p);
}

static void visit(struct pass_writer *w, struct root_guards *t, const struct operand *x) {
    uint32_t end = place_behind(&w->place, x->value);
    struct producer p = producer_of(w, x->value);
    if (x->value != end) {
        w->expr[x->value] = w->expr[x->value].n ? w->expr[x->value] : x->expr;
        pass_shape_matters(w, x->value);
    }
    if (!w->final[end]) {
        if (place_inner(&w->place, end))
            visit_step(w, t, x, &p);
        else
            visit_leaf(w, t, x, end);
        return;
    }
    struct str is = x->expr, classes = template_text(w, &p, place_inner(&w->place, end));
    if (p.nthrough && place_inner(&w->place, end))
        is = arena_printf(w->arena, "ttmlir::utils::findOpThrough%s(%s)", classes.p, is.p);
    struct str leaf = arena_printf(w->arena, "Value %s =", w->expr[end].p);
    bool here = x->late || str_find(buf_str(&t->leaves), leaf) != NULL;
    bool result = place_inner(&w->place, end) && !p.nthrough && !str_find(w->expr[end], STR("->"));
    bool only = result && w->place.g->m->ops[p.op].nresults == 1;
    pass_condition(here ? &t->differing : &t->others, "%s != %s%s", is.p, w->expr[end].p,
                   only     ? ".getResult()"
                   : result ? "->getResult(0)"
                            : "");
}

/* ---- either order ---- */

/* Names of ops from one operand back. */
struct path {
    struct str names[MAX_PATH];
    uint32_t n;
};

/* isMadeBy, on this graph, for those from `at` on. */
static bool is_made_by(const struct pass_writer *w, uint32_t value, const struct path *path, uint32_t at) {
    const struct graph *g = w->place.g;
    uint32_t op = place_def(&w->place, value);
    while (op != NONE && !str_eq(mlir_op_name(g->m, op), path->names[at]) && place_leads_on(g, op))
        op = place_def(&w->place, graph_operands(g, op)[0]);
    if (op == NONE || !str_eq(mlir_op_name(g->m, op), path->names[at]))
        return false;
    bool is = at + 1 == path->n;
    for (uint32_t i = 0; i < graph_noperands(g, op) && !is; i++)
        is = graph_operands(g, op)[i] != NONE && is_made_by(w, graph_operands(g, op)[i], path, at + 1);
    return is;
}

/* A path of `n` ops by way of `value` that leads from x[0] back and not from x[1]. */
static bool find_path(const struct pass_writer *w, const uint32_t *x, uint32_t value, struct path *path, uint32_t n) {
    const struct graph *g = w->place.g;
    struct producer p = producer_of(w, value);
    uint32_t before = path->n;
    if (!place_inner(&w->place, place_behind(&w->place, value)) || p.op == NONE || before == n)
        return false;
    path->names[path->n++] = mlir_op_name(g->m, p.op);
    bool found = path->n == n && is_made_by(w, x[0], path, 0) && !is_made_by(w, x[1], path, 0);
    for (uint32_t i = 0; i < graph_noperands(g, p.op) && !found; i++)
        found = graph_operands(g, p.op)[i] != NONE && find_path(w, x, graph_operands(g, p.op)[i], path, n);
    path->n = found ? path->n : before;
    return found;
}

/* The operand that ops lead to which do not lead to the other one, and these as arguments of findOperand; empty: none
 * tells them apart. */
static struct str telling(struct pass_writer *w, uint32_t op, uint32_t *first) {
    const uint32_t *x = graph_operands(w->place.g, op);
    struct path path = {.n = 0};
    for (uint32_t i = 0; i < 2 * MAX_PATH && !path.n; i++) {
        *first = i % 2;
        (void)find_path(w, (const uint32_t[]){x[*first], x[!*first]}, x[*first], &path, i / 2 + 1);
    }
    struct buf b = {0};
    for (uint32_t i = 0; i < path.n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", cpp_class(path.names[i], w->arena).p);
    return buf_take(&b, w->arena);
}

static struct str operand_name(struct pass_writer *w, uint32_t value) {
    uint32_t end = place_behind(&w->place, value);
    return pass_variable(w,
                         place_inner(&w->place, end)      ? op_name(w, place_def(&w->place, end))
                         : place_constant(&w->place, end) ? STR("constant")
                                                          : leaf_name(w, end, STR("")),
                         "Index");
}

/* The operand that is known, or alone of the result's type, and what is true where it is the first, asked
 * behind the guard that the op is there; empty: nothing tells them apart, or a matched op makes one. */
static struct str telling_plain(struct pass_writer *w, uint32_t op, uint32_t *first) {
    const uint32_t *x = graph_operands(w->place.g, op);
    const struct mlir *m = w->place.g->m;
    uint32_t result = m->ops[op].first_result, type = m->values[result].type;
    struct str of = w->expr[result], left = operand_of(w, op, 0, STR("")).expr;
    if (place_inner(&w->place, place_behind(&w->place, x[0])) || place_inner(&w->place, place_behind(&w->place, x[1])))
        return STR("");
    for (*first = 0; *first < 2; ++*first) {
        uint32_t v = x[*first];
        if (w->final[v])
            return arena_printf(w->arena, "%s == %s", left.p, w->expr[v].p);
        if (m->values[v].type == type && m->values[x[!*first]].type != type)
            return arena_printf(w->arena, "%s.getType() == %s.getType()", left.p, of.p);
    }
    return STR("");
}

static void visit_commuting(struct pass_writer *w, struct root_guards *t, uint32_t op) {
    const uint32_t *o = graph_operands(w->place.g, op);
    struct str of = w->expr[w->place.g->m->ops[op].first_result], find = {0}, late = {0}, index[2] = {{0}, {0}};
    bool constant = place_constant(&w->place, o[0]) != place_constant(&w->place, o[1]);
    uint32_t first = constant && place_constant(&w->place, o[1]);
    if (constant)
        find = STR("findConstant");
    else if ((find = telling(w, op, &first)).n)
        find = arena_printf(w->arena, "findOperand<%s>", find.p);
    else
        late = telling_plain(w, op, &first);
    if (find.n || late.n) {
        index[first] = operand_name(w, o[first]);
        index[!first] = arena_printf(w->arena, "1 - %s", index[first].p);
    }
    if (find.n) {
        cpp_put(&w->guards, INDENT, "unsigned %s = %s(%s);", index[first].p, find.p, of.p);
    } else if (late.n)
        cpp_put(&t->leaves, INDENT, "unsigned %s = %s ? 0 : 1;", index[first].p, late.p);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t k = index[0].n && first ? !i : i;
        struct operand x = operand_of(w, op, k, index[k]);
        x.late = late.n > 0;
        visit(w, t, &x);
    }
}

static void visit_operands(struct pass_writer *w, struct root_guards *t, uint32_t op) {
    const struct graph *g = w->place.g;
    const uint32_t *x = graph_operands(g, op);
    uint32_t n = graph_noperands(g, op);
    bool has_constant = false, same = n == 2 && x[0] == x[1];
    for (uint32_t i = 0; i < n; i++)
        has_constant |= x[i] != NONE && place_constant(&w->place, x[i]);
    if (graph_movement(g, op) == MOVEMENT_BROADCAST || graph_class(g, op) == OP_SLICE || has_constant ||
        graph_op_is(g, op, COUNTS) || place_reshapes(g, op))
        pass_shape_matters(w, g->m->ops[op].first_result);
    if (n == 2 && !same && graph_op_is(g, op, COMMUTES)) {
        visit_commuting(w, t, op);
        return;
    }
    for (uint32_t i = 0; i < (same ? 1 : n); i++) {
        struct operand a = operand_of(w, op, i, STR(""));
        if (same)
            pass_condition(&t->others, "%s != %s", a.expr.p, operand_of(w, op, 1, STR("")).expr.p);
        if (x[i] != NONE)
            visit(w, t, &a);
    }
}

/* ---- roots ---- */

/* The ops from the root back to one that takes a value which is known; how many; 0: none. */
static uint32_t path_back(struct pass_writer *w, uint32_t op, uint32_t *path, uint32_t *from, uint32_t n) {
    const struct graph *g = w->place.g;
    path[n++] = op;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v != NONE && w->final[v]) {
            *from = v;
            return n;
        }
    }
    for (uint32_t i = 0; i < graph_noperands(g, op) && n < MAX_STEPS; i++) {
        uint32_t v = graph_operands(g, op)[i];
        uint32_t all =
            v != NONE && place_inner(&w->place, v) ? path_back(w, place_def(&w->place, v), path, from, n) : 0;
        if (all)
            return all;
    }
    return 0;
}

/* The value that is known from which ops lead to a further root. False: none does. */
static bool find_root(struct pass_writer *w, uint32_t number, struct str *value) {
    uint32_t path[MAX_STEPS], from = NONE;
    uint32_t n = path_back(w, w->place.roots[number], path, &from, 0);
    *value = n ? w->expr[from] : STR("");
    return n > 0;
}

static void put_consumer(struct pass_writer *w, uint32_t number, struct str value) {
    const struct mlir *m = w->place.g->m;
    uint32_t root = w->place.roots[number], path[MAX_STEPS], from = NONE, n = path_back(w, root, path, &from, 0);
    struct str name = pass_variable(w, pass_word(w->place.g, root), "Op");
    struct buf classes = {0}, others = {0};
    for (uint32_t i = n; i-- > 0;) {
        struct str class = pass_class(w, w->place.g, path[i]);
        if (w->place.step[path[i]])
            buf_printf(&classes, "%s%s", classes.n ? ", " : "", class.p);
    }
    for (uint32_t i = 0; i < number; i++) {
        struct str other = w->expr[m->ops[w->place.roots[i]].first_result];
        buf_printf(&others, "%s%s", i ? ", " : "", other.p);
    }
    struct str all = buf_take(&classes, w->arena), taken = buf_take(&others, w->arena);
    w->expr[m->ops[root].first_result] = name;
    w->final[m->ops[root].first_result] = true;
    cpp_put(&w->guards, INDENT, "auto %s = getConsumer<%s>(%s, {%s});", name.p, all.p, value.p, taken.p);
}

/* What was collected, as guards with the leaves between. */
static void put_root(struct pass_writer *w, struct root_guards *t) {
    struct str others = buf_take(&t->others, w->arena);
    if (others.n)
        pass_condition(&t->missing, "%s", others.p);
    pass_refuse(w, &t->missing, "unexpected producers");
    buf_add(&w->guards, buf_str(&t->leaves));
    buf_free(&t->leaves);
    pass_refuse(w, &t->differing, "unexpected operands");
    *t = (struct root_guards){.nsteps = 0};
}

/* False: not all results are led to by what the first one is. */
static bool match_roots(struct pass_writer *w) {
    struct root_guards t = {.nsteps = 0};
    for (uint32_t i = 0; i < w->place.nroots; i++) {
        struct str from = {0};
        if (i > 0 && !find_root(w, i, &from))
            return false;
        if (i == 1 || (i > 0 && str_find(buf_str(&t.leaves), arena_printf(w->arena, "Value %s =", from.p))))
            put_root(w, &t);
        if (i > 0)
            put_consumer(w, i, from);
        uint32_t before = t.nsteps;
        visit_operands(w, &t, w->place.roots[i]);
        w->nread_first = i ? w->nread_first : w->nread;
        struct str name = w->expr[w->place.g->m->ops[w->place.roots[i]].first_result];
        if (i > 0 && t.nsteps == before)
            pass_condition(&t.missing, "!%s", name.p);
    }
    put_root(w, &t);
    return true;
}

bool pass_match(struct pass_writer *w) {
    uint32_t result = w->place.g->m->ops[w->place.roots[0]].first_result;
    w->expr[result] = pass_variable(w, STR("src"), "Op");
    w->final[result] = true;
    return match_roots(w);
}
