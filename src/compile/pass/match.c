/* The guards. Of each root the ops that make its operands, by getProducer, which takes a null op; behind the guard that
 * all are there, the operands that no matched op makes, and which are the same. Then attributes, constants, extents. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "compile/pass/where.h"
#include "ir/graph/movement.h"

enum { MAX_PATH = 4, MAX_THROUGH = 8 };

/* The name that the formula has for a value, or for what movement made of it; empty: none. */
static struct str formula_name(const struct pass_writer *w, uint32_t value, bool moved) {
    const struct formula *f = &w->match->pattern->formula;
    for (uint32_t i = 0; i < w->detail.nslots; i++) {
        uint32_t v = w->detail.slots[i].value;
        bool same = (v == value && (moved || w->detail.slots[i].op == place_def(&w->place, value))) ||
                    (moved && v != NONE && movement_source(w->place.g, v) == movement_source(w->place.g, value));
        if (same && f->slot_name[i].n && !str_is(f->slot_name[i], "out"))
            return f->slot_name[i];
    }
    return STR("");
}

static void condition(struct buf *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void condition(struct buf *to, const char *fmt, ...) {
    va_list args;
    buf_add(to, to->n ? STR(" || ") : STR(""));
    va_start(args, fmt);
    buf_vprintf(to, fmt, args);
    va_end(args);
}

static struct str anchor(const struct pass_writer *w) {
    return w->expr[w->place.g->m->ops[w->place.roots[0]].first_result];
}

static void refuse(struct pass_writer *w, struct buf *conditions, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void refuse(struct pass_writer *w, struct buf *conditions, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct str all = buf_take(conditions, w->arena);
    if (!all.n)
        return;
    cpp_put(&w->guards, INDENT, "if (%.*s) {", (int)all.n, all.p);
    cpp_put(&w->guards, INDENT + 2, "return rewriter.notifyMatchFailure(%.*s, \"%s\");", (int)anchor(w).n, anchor(w).p,
            text);
    cpp_put(&w->guards, INDENT, "}");
    buf_addc(&w->guards, '\n');
}

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
    uint32_t op; /* or NONE */
    uint16_t through[MAX_THROUGH];
    uint32_t nthrough;
};

static bool has_kind(const struct producer *p, uint16_t kind) {
    bool found = false;
    for (uint32_t i = 0; i < p->nthrough && !found; i++)
        found = p->through[i] == kind;
    return found;
}

static struct producer producer_of(const struct pass_writer *w, uint32_t value) {
    const struct graph *g = w->place.g;
    struct producer p = {.op = place_def(&w->place, value)};
    while (p.op != NONE && (place_constant(&w->place, value)
                                ? graph_noperands(g, p.op) == 1
                                : place_inner(&w->place, g->m->ops[p.op].first_result) && !w->place.step[p.op])) {
        if (!has_kind(&p, g->kind[p.op]) && p.nthrough < MAX_THROUGH)
            p.through[p.nthrough++] = g->kind[p.op];
        p.op = place_def(&w->place, graph_operands(g, p.op)[0]);
    }
    return p;
}

/* "<MatmulOp, ReshapeOp>", without the op where it is no step. */
static struct str template_text(struct pass_writer *w, const struct producer *p, bool with_op) {
    struct buf b = {0};
    for (uint32_t i = 0; i <= p->nthrough; i++) {
        struct str spelling = i ? op_spelling((enum op_kind)p->through[i - 1], "ttir.", "") : STR("");
        struct str class = i ? cpp_class(spelling, w->arena) : with_op ? pass_class(w, w->place.g, p->op) : STR("");
        if (class.n)
            buf_printf(&b, "%s%.*s", b.n ? ", " : "<", (int)class.n, class.p);
    }
    buf_addc(&b, '>');
    return buf_take(&b, w->arena);
}

static struct str op_name(struct pass_writer *w, uint32_t op) {
    struct str name = formula_name(w, w->place.g->m->ops[op].first_result, false);
    return name.n >= 4 ? name : pass_word(w->place.g, op);
}

static void shape_matters(struct pass_writer *w, uint32_t value) {
    for (uint32_t i = 0; i < w->nshapes; i++)
        if (w->shapes[i] == value)
            return;
    if (w->nshapes < MAX_NAMES)
        w->shapes[w->nshapes++] = value;
}

/* An operand of an op that has a name: `index` is its number, or what findOperand found. */
struct operand {
    uint32_t op, value;
    struct str index, expr;
};

static struct operand operand_of(struct pass_writer *w, uint32_t op, uint32_t i, struct str index) {
    struct str of = w->expr[w->place.g->m->ops[op].first_result];
    struct str get = cpp_operand((enum op_kind)w->place.g->kind[op], i, w->arena);
    if (index.n)
        get = arena_printf(w->arena, "->getOperand(%.*s)", (int)index.n, index.p);
    return (struct operand){op, graph_operands(w->place.g, op)[i], index.n ? index : arena_printf(w->arena, "%u", i),
                            arena_printf(w->arena, "%.*s%.*s", (int)of.n, of.p, (int)get.n, get.p)};
}

/* The variable of a leaf, a value that no matched op makes: the name that the formula has for it; else that of the
 * accessor in `expr`, "rhs" of "dotOp.getRhs()"; else "input". */
static struct str leaf_name(struct pass_writer *w, uint32_t leaf, struct str expr) {
    struct str name = formula_name(w, leaf, true);
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
        expr = arena_printf(w->arena, "ttmlir::utils::lookThrough%.*s(%.*s)", (int)classes.n, classes.p, (int)expr.n,
                            expr.p);
        w->counts_uses = true;
    }
    for (uint32_t op = place_def(&w->place, leaf); x->value != leaf && op != NONE && has_kind(&p, w->place.g->kind[op]);
         op = place_def(&w->place, leaf))
        leaf = graph_operands(w->place.g, op)[0];
    struct str name = pass_variable(w, leaf_name(w, same, x->expr), "");
    cpp_put(&t->leaves, INDENT, "Value %.*s = %.*s;", (int)name.n, name.p, (int)expr.n, expr.p);
    w->expr[leaf] = w->expr[same] = name;
    w->final[leaf] = w->final[same] = true;
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
    w->helpers |= HELPER_PRODUCER;
    w->counts_uses = true;
    cpp_put(&w->guards, INDENT, "auto %.*s = getProducer%.*s(%.*s, %.*s%.*s);", (int)name.n, name.p, (int)classes.n,
            classes.p, (int)of.n, of.p, (int)x->index.n, x->index.p, (int)more.n, more.p);
    visit_operands(w, t, p->op);
    if (t->nsteps == before) /* else those before it are null with it */
        condition(&t->missing, "!%.*s", (int)name.n, name.p);
}

static void visit(struct pass_writer *w, struct root_guards *t, const struct operand *x) {
    uint32_t end = place_behind(&w->place, x->value);
    struct producer p = producer_of(w, x->value);
    if (x->value != end) {
        w->expr[x->value] = w->expr[x->value].n ? w->expr[x->value] : x->expr;
        shape_matters(w, x->value);
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
        is = arena_printf(w->arena, "ttmlir::utils::findOpThrough%.*s(%.*s)", (int)classes.n, classes.p, (int)is.n,
                          is.p);
    struct str leaf = arena_printf(w->arena, "Value %.*s =", (int)w->expr[end].n, w->expr[end].p);
    bool here = str_find(buf_str(&t->leaves), leaf) != NULL;
    condition(here ? &t->differing : &t->others, "%.*s != %.*s%s", (int)is.n, is.p, (int)w->expr[end].n, w->expr[end].p,
              place_inner(&w->place, end) && !p.nthrough ? ".getResult()" : "");
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
    bool known = place_constant(&w->place, value) || place_inner(&w->place, place_behind(&w->place, value));
    if (!known || p.op == NONE || before == n)
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
        buf_printf(&b, "%s%.*s", i ? ", " : "", (int)cpp_class(path.names[i], w->arena).n,
                   cpp_class(path.names[i], w->arena).p);
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

static void visit_commuting(struct pass_writer *w, struct root_guards *t, uint32_t op) {
    uint32_t first = 0;
    struct str of = w->expr[w->place.g->m->ops[op].first_result], ops = telling(w, op, &first), index[2] = {{0}, {0}};
    if (ops.n) {
        index[first] = operand_name(w, graph_operands(w->place.g, op)[first]);
        index[!first] = arena_printf(w->arena, "1 - %.*s", (int)index[first].n, index[first].p);
        w->helpers |= HELPER_OPERAND;
        cpp_put(&w->guards, INDENT, "unsigned %.*s = findOperand<%.*s>(%.*s);", (int)index[first].n, index[first].p,
                (int)ops.n, ops.p, (int)of.n, of.p);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct operand x = operand_of(w, op, ops.n && first ? !i : i, index[ops.n && first ? !i : i]);
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
        shape_matters(w, g->m->ops[op].first_result);
    if (n == 2 && !same && graph_op_is(g, op, COMMUTES)) {
        visit_commuting(w, t, op);
        return;
    }
    for (uint32_t i = 0; i < (same ? 1 : n); i++) {
        struct operand a = operand_of(w, op, i, STR(""));
        if (same)
            condition(&t->others, "%.*s != %.*s", (int)a.expr.n, a.expr.p, (int)operand_of(w, op, 1, STR("")).expr.n,
                      operand_of(w, op, 1, STR("")).expr.p);
        if (x[i] != NONE)
            visit(w, t, &a);
    }
}

/* ---- attributes ---- */

static struct str list_of(struct pass_writer *w, const struct attr *x) {
    struct buf b = {0};
    for (int32_t i = 0; i < x->n; i++)
        buf_printf(&b, "%s%" PRId64, i ? ", " : "", x->list[i]);
    return buf_take(&b, w->arena);
}

/* The form has it from here. */
static bool is_carried(const struct pass_writer *w, uint32_t op, const struct attr *x) {
    const struct graph *f = w->place.f;
    for (uint32_t i = 0; i < f->m->nops; i++) {
        const struct attr *its = w->place.is_new[i] && f->kind[i] == w->place.g->kind[op]
                                     ? attrs_find(graph_attributes(f, i), arena_strdup(w->arena, x->key))
                                     : NULL;
        if (its && str_eq(its->text, x->text))
            return true;
    }
    return false;
}

static bool is_said_elsewhere(const struct pass_writer *w, uint32_t op, const struct attr *x) {
    enum op_kind k = (enum op_kind)w->place.g->kind[op];
    enum dims_role role = op_dims_role(k, x->key);
    return role == DIMS_SHAPE || role == DIMS_FACTORS || role == DIMS_BEGINS || role == DIMS_ENDS ||
           role == DIMS_STEPS || (op_is(k, COUNTS) && str_is(x->key, "end")) || str_is(x->key, "operandSegmentSizes") ||
           op_table[k].class == OP_CAST || place_reshapes(w->place.g, op) ||
           (is_carried(w, op, x) && !str_is(x->key, "channel_dim"));
}

static void compare_attribute(struct pass_writer *w, uint32_t op, const struct attr *x, struct str of, struct buf *to) {
    struct str list = list_of(w, x);
    struct str type = cpp_attribute_type((enum op_kind)w->place.g->kind[op], x->key);
    const char *name = cpp_camel(x->key, true, w->arena).p;
    if (str_is(type, "word") && (str_is(x->text, "true") || str_is(x->text, "false")))
        condition(to, "%s%.*s.get%s()", str_is(x->text, "true") ? "!" : "", (int)of.n, of.p, name);
    else if (str_is(type, "i64s"))
        condition(to, x->n ? "%.*s.get%s() != ArrayRef<int64_t>{%.*s}" : "!%.*s.get%s().empty()%.*s", (int)of.n, of.p,
                  name, (int)list.n, list.p);
    else if (str_is(type, "i32s"))
        condition(to, "%.*s.get%sAttr() != rewriter.getDenseI32ArrayAttr({%.*s})", (int)of.n, of.p, name, (int)list.n,
                  list.p);
    else if (str_is(type, "[i32]"))
        condition(to, "%.*s.get%sAttr() != rewriter.getI32ArrayAttr({%.*s})", (int)of.n, of.p, name, (int)list.n,
                  list.p);
    else if (x->is_whole)
        condition(to, "%.*s.get%s() != %" PRId64, (int)of.n, of.p, name, x->whole);
    else if (x->is_number)
        condition(to, "%.*s.get%s().convertToFloat() != %s", (int)of.n, of.p, name,
                  cpp_float(attr_value(x), w->arena).p);
    else { /* "#ttcore.reduce_type<sum>" */
        struct str rest = x->text, dialect = str_part(&rest, '.'), mnemonic = str_part(&rest, '<');
        struct str word = str_part(&rest, '>'), class = cpp_camel(mnemonic, true, w->arena);
        condition(to, "%.*s.get%s() != %.*s::%.*s::%s", (int)of.n, of.p, name, (int)dialect.n - 1, dialect.p + 1,
                  (int)class.n, class.p, cpp_camel(word, true, w->arena).p);
    }
}

/* The conditions under which the op, called `of`, has others. */
static struct str attributes_text(struct pass_writer *w, uint32_t op, struct str of) {
    const struct attrs *a = graph_attributes(w->place.g, op);
    struct buf b = {0};
    for (uint32_t i = 0; i < a->n; i++)
        if (!is_said_elsewhere(w, op, &a->at[i]))
            compare_attribute(w, op, &a->at[i], of, &b);
    return buf_take(&b, w->arena);
}

/* An op of the same class before it with the same attributes; or NONE. */
static uint32_t alike_before(struct pass_writer *w, uint32_t op) {
    const struct graph *g = w->place.g;
    for (uint32_t i = g->m->nops; i-- > op + 1;)
        if (w->place.step[i] && w->expr[g->m->ops[i].first_result].n && g->kind[i] == g->kind[op] &&
            str_eq(mlir_span(g->m, g->m->ops[i].props), mlir_span(g->m, g->m->ops[op].props)))
            return i;
    return NONE;
}

/* Of all ops that have a name. */
static void match_attributes(struct pass_writer *w) {
    const struct graph *g = w->place.g;
    struct buf all = {0};
    for (uint32_t op = g->m->nops; op-- > 0;) {
        struct str of = w->place.step[op] ? w->expr[g->m->ops[op].first_result] : STR("");
        struct str text = of.n ? attributes_text(w, op, of) : STR("");
        uint32_t alike = text.n && str_find(text, STR("||")) ? alike_before(w, op) : NONE;
        if (alike != NONE)
            text =
                arena_printf(w->arena, "%.*s.getProperties() != %.*s.getProperties()", (int)of.n, of.p,
                             (int)w->expr[g->m->ops[alike].first_result].n, w->expr[g->m->ops[alike].first_result].p);
        if (text.n)
            condition(&all, "%.*s", (int)text.n, text.p);
    }
    refuse(w, &all, "unexpected attributes");
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
            buf_printf(&classes, "%s%.*s", classes.n ? ", " : "", (int)class.n, class.p);
    }
    for (uint32_t i = 0; i < number; i++) {
        struct str other = w->expr[m->ops[w->place.roots[i]].first_result];
        buf_printf(&others, "%s%.*s", i ? ", " : "", (int)other.n, other.p);
    }
    struct str all = buf_take(&classes, w->arena), taken = buf_take(&others, w->arena);
    w->helpers |= HELPER_CONSUMER;
    w->expr[m->ops[root].first_result] = name;
    w->final[m->ops[root].first_result] = true;
    cpp_put(&w->guards, INDENT, "auto %.*s = getConsumer<%.*s>(%.*s, {%.*s});", (int)name.n, name.p, (int)all.n, all.p,
            (int)value.n, value.p, (int)taken.n, taken.p);
}

/* What was collected, as guards with the leaves between. */
static void put_root(struct pass_writer *w, struct root_guards *t) {
    struct str others = buf_take(&t->others, w->arena);
    if (others.n)
        condition(&t->missing, "%.*s", (int)others.n, others.p);
    refuse(w, &t->missing, "unexpected producers");
    buf_add(&w->guards, buf_str(&t->leaves));
    buf_free(&t->leaves);
    refuse(w, &t->differing, "unexpected operands");
    *t = (struct root_guards){.nsteps = 0};
}

/* False: not all results are led to by what the first one is. */
static bool match_roots(struct pass_writer *w) {
    struct root_guards t = {.nsteps = 0};
    for (uint32_t i = 0; i < w->place.nroots; i++) {
        struct str from = {0};
        if (i > 0 && !find_root(w, i, &from))
            return false;
        if (i == 1 ||
            (i > 0 && str_find(buf_str(&t.leaves), arena_printf(w->arena, "Value %.*s =", (int)from.n, from.p))))
            put_root(w, &t);
        if (i > 0)
            put_consumer(w, i, from);
        uint32_t before = t.nsteps;
        visit_operands(w, &t, w->place.roots[i]);
        struct str name = w->expr[w->place.g->m->ops[w->place.roots[i]].first_result];
        if (i > 0 && t.nsteps == before)
            condition(&t.missing, "!%.*s", (int)name.n, name.p);
    }
    put_root(w, &t);
    match_attributes(w);
    return true;
}

/* ---- constants ---- */

/* The elements that a reduction of the match takes together are so many: an expression; or empty. */
static struct str reduced_count(struct pass_writer *w, double number) {
    const struct graph *g = w->place.g;
    for (uint32_t op = 0; op < g->m->nops; op++) {
        uint32_t x = w->place.matched[op] && graph_class(g, op) == OP_REDUCE ? graph_operands(g, op)[0] : NONE, rank;
        bool reduced[MAX_RANK] = {false};
        const int64_t *dims = x == NONE ? NULL : graph_shape(g, x, &rank);
        int64_t n = 1;
        if (!dims || rank > MAX_RANK || graph_reduced_dims(g, op, rank, reduced) == NONE)
            continue;
        for (uint32_t d = 0; d < rank; d++)
            n *= reduced[d] ? dims[d] : 1;
        struct buf b = {0};
        for (uint32_t d = 0; d < rank && fabs((double)n - number) < 1e-3 * number; d++)
            if (reduced[d] && dims[d] > 1) {
                struct str one = extents_print(&w->extents, false, x, d);
                buf_printf(&b, "%s%.*s", b.n ? " * " : "", (int)one.n, one.p);
            }
        struct str text = buf_take(&b, w->arena);
        if (text.n)
            return text;
    }
    return STR("");
}

/* An attribute of the form is this number, or its product with that of another constant with a name. */
static bool form_has(const struct pass_writer *w, double number) {
    const struct graph *f = w->place.f;
    for (uint32_t op = 0; op < f->m->nops; op++)
        for (uint32_t i = 0; w->place.is_new[op] && i < graph_attributes(f, op)->n; i++) {
            const struct attr *x = &graph_attributes(f, op)->at[i];
            double is = x->is_number && !x->is_whole ? attr_value(x) : NAN;
            for (uint32_t k = 0; k <= w->nconstants; k++) {
                double factor = k == w->nconstants                               ? 1
                                : formula_name(w, w->constants[k].value, true).n ? w->constants[k].number
                                                                                 : NAN;
                if (fabs(is - number * factor) <= 1e-6 * fabs(is))
                    return true;
            }
        }
    return false;
}

static struct str number_of_constant(struct pass_writer *w, double x, bool *counted) {
    struct str count = {0};
    if (x > 0 && x < 1 && (count = reduced_count(w, 1 / x)).n)
        count =
            arena_printf(w->arena, str_find(count, STR("*")) ? "1.0 / (%.*s)" : "1.0 / %.*s", (int)count.n, count.p);
    else if (x > 1)
        count = reduced_count(w, x);
    *counted = count.n > 0;
    return count.n ? count : cpp_number(x, w->arena);
}

/* Statements; the conditions under which constants are others. */
static struct buf match_constants(struct pass_writer *w) {
    struct buf named = {0}, others = {0};
    for (uint32_t i = 0; i < w->nconstants; i++) {
        struct pass_constant *c = &w->constants[i];
        struct str expr = c->expr, name = formula_name(w, c->value, true);
        bool counted;
        if (name.n && form_has(w, c->number)) {
            c->variable = pass_variable(w, name, "");
            w->helpers |= HELPER_SPLAT;
            cpp_put(&w->guards, INDENT, "auto %.*s = getSplatValue(%.*s);", (int)c->variable.n, c->variable.p,
                    (int)expr.n, expr.p);
            condition(&named, "!%.*s", (int)c->variable.n, c->variable.p);
            continue;
        }
        struct str number = number_of_constant(w, c->number, &counted);
        w->helpers |= HELPER_NEAR | HELPER_SPLAT;
        condition(&others, "!isSplat(%.*s, %.*s)", (int)expr.n, expr.p, (int)number.n, number.p);
        c->counted = counted;
    }
    struct str rest = buf_take(&others, w->arena);
    if (rest.n)
        condition(&named, "%.*s", (int)rest.n, rest.p);
    return named;
}

/* Where slices begin, in parts of what they cut. */
static struct str slices_text(struct pass_writer *w) {
    const struct graph *g = w->place.g;
    struct buf c = {0};
    for (uint32_t op = 0; op < g->m->nops; op++) {
        const int64_t *begins, *dims, *o;
        uint32_t rank, ro;
        if (!w->place.step[op] || graph_class(g, op) != OP_SLICE)
            continue;
        struct str of = w->expr[g->m->ops[op].first_result];
        dims = graph_shape(g, graph_operands(g, op)[0], &rank);
        o = graph_shape(g, g->m->ops[op].first_result, &ro);
        if (!dims || !o || attrs_list(graph_attributes(g, op), "begins", &begins) != (int32_t)rank)
            continue;
        for (uint32_t d = 0; d < rank; d++) {
            if (dims[d] == o[d])
                continue;
            struct str whole = extents_print(&w->extents, false, graph_operands(g, op)[0], d), begin;
            begin = begins[d] && dims[d] % begins[d] == 0
                        ? arena_printf(w->arena, "%.*s / %" PRId64, (int)whole.n, whole.p, dims[d] / begins[d])
                        : arena_printf(w->arena, "%" PRId64, begins[d]);
            condition(&c, "cast<IntegerAttr>(%.*s.getBegins()[%u]).getInt() != %.*s", (int)of.n, of.p, d, (int)begin.n,
                      begin.p);
        }
    }
    return buf_take(&c, w->arena);
}

/* ---- all of it ---- */

/* What the form reads has the element type of the result where that is so here. */
static void match_elements(struct pass_writer *w, struct buf *conditions) {
    const struct graph *g = w->place.g;
    uint32_t root = g->m->ops[w->place.roots[0]].first_result;
    struct buf list = {0};
    for (uint32_t i = 0; i < w->nread; i++) {
        struct str expr = w->expr[w->reads[i]];
        if (graph_dtype(g, w->reads[i]) == graph_dtype(g, root))
            buf_printf(&list, "%s%.*s", list.n ? ", " : "", (int)expr.n, expr.p);
    }
    struct str all = buf_take(&list, w->arena);
    if (all.n)
        condition(conditions, "!haveElementType({%.*s}, %.*s.getType().getElementType())", (int)all.n, all.p,
                  (int)anchor(w).n, anchor(w).p);
    w->helpers |= all.n ? HELPER_ELEMENTS : 0;
}

/* Reads first, since what is written is made of them. */
static void collect_shapes(struct pass_writer *w) {
    uint32_t all[MAX_NAMES], n = w->nshapes;
    memcpy(all, w->shapes, n * sizeof *all);
    w->nshapes = 0;
    for (uint32_t i = 0; i < w->nread; i++)
        shape_matters(w, w->reads[i]);
    for (uint32_t i = 0; i < w->place.nroots; i++)
        shape_matters(w, w->place.g->m->ops[w->place.roots[i]].first_result);
    for (uint32_t i = 0; i < n; i++)
        shape_matters(w, all[i]);
}

/* The variables, and which of them have another rank. */
static void put_shapes(struct pass_writer *w, struct buf *ranks) {
    const struct extents_of_place *e = &w->extents;
    for (uint32_t i = 0; i < e->ndefines; i++) {
        uint32_t v = e->defines[i], rank;
        struct str name = e->shape[v], expr = w->expr[v];
        if (!name.n)
            continue;
        bool op = str_find(expr, STR("Op")) != NULL;
        cpp_put(&w->guards, INDENT,
                op ? "ArrayRef<int64_t> %.*s = %.*s.getType().getShape();"
                   : "ArrayRef<int64_t> %.*s = cast<RankedTensorType>(%.*s.getType()).getShape();",
                (int)name.n, name.p, (int)expr.n, expr.p);
        graph_shape(w->place.g, v, &rank);
        if (e->indexed[v])
            condition(ranks, "%.*s.size() != %u", (int)name.n, name.p, rank);
    }
}

static void match_shapes(struct pass_writer *w, const struct str more[3]) {
    struct buf guards = {0};
    put_shapes(w, &guards);
    for (uint32_t i = 0; i < 3; i++)
        if (more[i].n)
            condition(&guards, "%.*s", (int)more[i].n, more[i].p);
    w->helpers |= str_find(buf_str(&guards), STR("haveShape")) ? HELPER_SHAPE : 0;
    match_elements(w, &guards);
    refuse(w, &guards, "unexpected shapes or types");
}

bool pass_match(struct pass_writer *w) {
    const struct mlir *m = w->place.g->m;
    uint32_t result = m->ops[w->place.roots[0]].first_result;
    w->expr[result] = pass_variable(w, STR("src"), "Op");
    w->final[result] = true;
    if (!match_roots(w))
        return false;
    extents_begin(&w->extents, &w->place, w->expr);
    collect_shapes(w);
    struct str shapes = extents_guards(&w->extents, w->shapes, w->nshapes);
    /* what is written, and constants, may name further extents */
    struct buf before = w->guards;
    w->guards = (struct buf){0};
    struct str slices = slices_text(w);
    struct buf asked = {0}, comment = {0}, numbers = match_constants(w);
    pass_where(w, &asked, &numbers, &comment);
    w->asked = buf_take(&comment, w->arena);
    struct str where = buf_take(&asked, w->arena);
    refuse(w, &numbers, "unexpected constants");
    struct buf constants = w->guards;
    w->guards = before;
    pass_create(w);
    match_shapes(w, (const struct str[]){shapes, slices, where});
    buf_add(&w->guards, buf_str(&constants));
    buf_free(&constants);
    return true;
}
