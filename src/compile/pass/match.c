/* The guards, from the roots back: first which ops make which operands, level by level; then attributes, constants and
 * extents. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "compile/pass/where.h"
#include "ir/graph/movement.h"

struct step_level {
    uint32_t ops[MAX_STEPS], nops;
    struct buf once, conditions, words;
};

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
    cpp_put(&w->guards, w->indent, "if (%.*s) {", (int)all.n, all.p);
    cpp_put(&w->guards, w->indent + 2, "return rewriter.notifyMatchFailure(%.*s, \"%s\");", (int)anchor(w).n,
            anchor(w).p, text);
    cpp_put(&w->guards, w->indent, "}");
    buf_addc(&w->guards, '\n');
}

/* ---- operands ---- */

/* How a value is made: the op, or the generator of a constant, and what is looked through on the way. */
struct producer {
    uint32_t op; /* or NONE */
    uint16_t through[8];
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
    while (p.op != NONE && (place_constant(&w->place, value) ? graph_noperands(g, p.op) == 1
                                                             : place_inner(&w->place, value) && !w->place.step[p.op])) {
        if (!has_kind(&p, g->kind[p.op]) && p.nthrough < 8)
            p.through[p.nthrough++] = g->kind[p.op];
        p.op = place_def(&w->place, graph_operands(g, p.op)[0]);
    }
    return p;
}

/* findOpThrough finds the op of the producer from this value, too. */
static bool finds(const struct pass_writer *w, const struct producer *p, uint32_t value) {
    const struct graph *g = w->place.g;
    uint32_t op = place_def(&w->place, value);
    while (op != NONE && has_kind(p, g->kind[op]))
        op = place_def(&w->place, graph_operands(g, op)[0]);
    return op != NONE && g->kind[op] == g->kind[p->op];
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

/* "x.getDefiningOp<SumOp>()" */
static struct str producer_text(struct pass_writer *w, const struct producer *p, struct str expr) {
    struct str classes = template_text(w, p, true);
    w->counts_uses |= p->nthrough > 0;
    return p->nthrough
               ? arena_printf(w->arena, "ttmlir::utils::findOpThrough%.*s(%.*s)", (int)classes.n, classes.p,
                              (int)expr.n, expr.p)
               : arena_printf(w->arena, "%.*s.getDefiningOp%.*s()", (int)expr.n, expr.p, (int)classes.n, classes.p);
}

static struct str op_name(struct pass_writer *w, uint32_t op) {
    struct str name = w->place.nroots > 1 ? STR("") : formula_name(w, w->place.g->m->ops[op].first_result, false);
    return name.n >= 4 ? name : pass_word(w->place.g, op);
}

static struct str bind_step(struct pass_writer *w, struct step_level *next, uint32_t step) {
    uint32_t result = w->place.g->m->ops[step].first_result;
    struct str expr = pass_variable(w, op_name(w, step), "Op"), word = pass_word(w->place.g, step);
    w->expr[result] = expr;
    w->final[result] = true;
    bool once = !place_escapes(&w->place, result) && w->place.inside[result] == 1;
    if (once)
        buf_printf(&next->once, "%s%.*s", next->once.n ? ", " : "", (int)expr.n, expr.p);
    else
        condition(&next->conditions, "!%.*s", (int)expr.n, expr.p);
    if (!once && !place_escapes(&w->place, result)) {
        condition(&next->conditions, "ttmlir::utils::countUsers(%.*s.getResult()) != %u", (int)expr.n, expr.p,
                  w->place.inside[result]);
        w->counts_uses = true;
    }
    if (!str_find(buf_str(&next->words), word))
        buf_printf(&next->words, "%s%.*s", next->words.n ? ", " : "", (int)word.n, word.p);
    return expr;
}

static void shape_matters(struct pass_writer *w, uint32_t value) {
    for (uint32_t i = 0; i < w->nshapes; i++)
        if (w->shapes[i] == value)
            return;
    if (w->nshapes < MAX_NAMES)
        w->shapes[w->nshapes++] = value;
}

/* The variable of a leaf, a value that no matched op makes: the name that the formula has for it, if there is one root;
 * else that of the accessor in `expr`, "rhs" of "dotOp.getRhs()"; else "input". */
static struct str leaf_name(struct pass_writer *w, uint32_t leaf, struct str expr) {
    struct str name = w->place.nroots > 1 ? STR("") : formula_name(w, leaf, true);
    const char *at = str_find(expr, STR(".get"));
    struct str rest = at ? (struct str){at + 4, (size_t)(expr.p + expr.n - at - 4)} : STR("input");
    name = name.n ? name : str_part(&rest, '(');
    return name.n ? arena_printf(w->arena, "%c%.*s", tolower((unsigned char)*name.p), (int)name.n - 1, name.p + 1)
                  : name;
}

/* A value that no matched op makes: behind what is looked through, called `expr` before that; `named`: by a variable.
 */
static void visit_leaf(struct pass_writer *w, uint32_t value, uint32_t leaf, struct str expr, bool named) {
    struct producer p = producer_of(w, value);
    if (place_constant(&w->place, leaf)) {
        w->expr[leaf] = expr;
        if (w->nconstants < MAX_CONSTANTS)
            w->constants[w->nconstants++] =
                (struct pass_constant){.value = leaf, .expr = expr, .number = graph_constant(w->place.g, leaf).value};
        return;
    }
    if (value != leaf) {
        struct str classes = template_text(w, &p, false);
        expr = arena_printf(w->arena, "ttmlir::utils::lookThrough%.*s(%.*s)", (int)classes.n, classes.p, (int)expr.n,
                            expr.p);
        w->counts_uses = true;
    }
    struct str name = leaf_name(w, leaf, expr);
    uint32_t same = leaf;
    for (uint32_t op = place_def(&w->place, leaf); value != leaf && op != NONE && has_kind(&p, w->place.g->kind[op]);
         op = place_def(&w->place, leaf))
        leaf = graph_operands(w->place.g, op)[0];
    if (!named || value != leaf) {
        w->expr[leaf] = pass_variable(w, name, "");
        cpp_put(&w->guards, w->indent, "Value %.*s = %.*s;", (int)w->expr[leaf].n, w->expr[leaf].p, (int)expr.n,
                expr.p);
    } else
        w->expr[leaf] = expr;
    w->expr[same] = w->expr[leaf];
    w->final[leaf] = w->final[same] = true;
    if (w->place.read[same] && w->nread < MAX_NAMES)
        w->reads[w->nread++] = leaf;
}

static void visit_operands(struct pass_writer *w, struct step_level *next, uint32_t op);

/* All that is asked of its operands are conditions. */
static bool takes_known_values(const struct pass_writer *w, uint32_t op) {
    const uint32_t *x = graph_operands(w->place.g, op);
    uint32_t n = graph_noperands(w->place.g, op);
    bool known = n > 0, either = n == 2 && graph_op_is(w->place.g, op, COMMUTES);
    for (uint32_t i = 0; i < n && known; i++)
        known =
            x[i] != NONE && (w->final[place_behind(&w->place, x[i])] || (!either && place_constant(&w->place, x[i])));
    return known;
}

/* What the expression is, once its op is known. */
static void visit(struct pass_writer *w, struct step_level *next, uint32_t value, struct str expr, bool named) {
    uint32_t end = place_behind(&w->place, value);
    struct producer p = producer_of(w, value);
    if (value != end) {
        w->expr[value] = w->expr[value].n ? w->expr[value] : expr;
        shape_matters(w, value);
    }
    if (!place_inner(&w->place, end) && !w->final[end])
        visit_leaf(w, value, end, expr, named);
    else if (w->final[end]) {
        bool through = place_inner(&w->place, end) && p.nthrough;
        struct str is = through ? producer_text(w, &p, expr) : expr;
        condition(&next->conditions, "%.*s != %.*s%s", (int)is.n, is.p, (int)w->expr[end].n, w->expr[end].p,
                  place_inner(&w->place, end) && !through ? ".getResult()" : "");
    } else {
        struct str made = producer_text(w, &p, expr), name = bind_step(w, next, p.op);
        cpp_put(&w->guards, w->indent, "auto %.*s = %.*s;", (int)name.n, name.p, (int)made.n, made.p);
        if (takes_known_values(w, p.op))
            visit_operands(w, next, p.op);
        else if (next->nops < MAX_STEPS)
            next->ops[next->nops++] = p.op;
    }
}

static struct str operand_text(struct pass_writer *w, uint32_t op, uint32_t i) {
    struct str of = w->expr[w->place.g->m->ops[op].first_result];
    struct str get = cpp_operand((enum op_kind)w->place.g->kind[op], i, w->arena);
    return arena_printf(w->arena, "%.*s%.*s", (int)of.n, of.p, (int)get.n, get.p);
}

/* ---- either order ---- */

/* The class of an operand that the step has and the other has not; empty: none. */
static struct str telling_operand(struct pass_writer *w, uint32_t step, uint32_t other) {
    const struct graph *g = w->place.g;
    for (uint32_t i = 0; i < graph_noperands(g, step); i++) {
        uint32_t def = place_def(&w->place, graph_operands(g, step)[i]);
        bool both = def == NONE || !w->place.matched[def];
        for (uint32_t k = 0; k < graph_noperands(g, other) && !both; k++) {
            uint32_t its = place_def(&w->place, graph_operands(g, other)[k]);
            both = its != NONE && g->kind[its] == g->kind[def];
        }
        if (!both)
            return pass_class(w, g, def);
    }
    return STR("");
}

static struct str operand_name(struct pass_writer *w, uint32_t value) {
    uint32_t end = place_behind(&w->place, value);
    struct str name = leaf_name(w, end, STR(""));
    if (place_inner(&w->place, end))
        return pass_variable(w, op_name(w, place_def(&w->place, end)), "");
    if (place_constant(&w->place, end))
        return pass_variable(w, STR("constant"), "");
    return pass_variable(w, name, "");
}

/* The operand that has a producer of its own, first; what tells them apart, as arguments of getOperands, and where it
 * is one of its operands, that one's class. */
static struct str telling(struct pass_writer *w, uint32_t op, uint32_t *first, struct str *made_of) {
    const uint32_t *x = graph_operands(w->place.g, op);
    struct producer p[2] = {producer_of(w, x[0]), producer_of(w, x[1])};
    bool inner[2];
    for (uint32_t k = 0; k < 2; k++)
        inner[k] = p[k].op != NONE &&
                   (place_constant(&w->place, x[k]) || place_inner(&w->place, place_behind(&w->place, x[k])));
    for (*first = 0; *first < 2; ++*first)
        if (inner[*first] && !finds(w, &p[*first], x[!*first]))
            return template_text(w, &p[*first], true);
    for (*first = 0; *first < 2 && inner[0] && inner[1]; ++*first) {
        *made_of = telling_operand(w, p[*first].op, p[!*first].op);
        if (made_of->n)
            return template_text(w, &p[*first], true);
    }
    return STR("");
}

static void visit_commuting(struct pass_writer *w, struct step_level *next, uint32_t op) {
    const uint32_t *x = graph_operands(w->place.g, op);
    uint32_t first = 0;
    struct str of = w->expr[w->place.g->m->ops[op].first_result], made_of = {0};
    struct str classes = telling(w, op, &first, &made_of);
    if (!classes.n) {
        for (uint32_t i = 0; i < 2; i++)
            visit(w, next, x[i], operand_text(w, op, i), false);
        return;
    }
    struct str a = operand_name(w, x[first]), b = operand_name(w, x[!first]);
    w->helpers |= HELPER_OPERANDS;
    w->counts_uses = true;
    cpp_put(&w->guards, w->indent, "auto [%.*s, %.*s] = getOperands%.*s(%.*s);", (int)a.n, a.p, (int)b.n, b.p,
            (int)classes.n, classes.p, (int)of.n, of.p);
    if (made_of.n) {
        w->helpers |= HELPER_MADE_OF;
        cpp_put(&w->guards, w->indent, "if (!isMadeOf<%.*s>(%.*s)) {", (int)made_of.n, made_of.p, (int)a.n, a.p);
        cpp_put(&w->guards, w->indent + 2, "std::swap(%.*s, %.*s);", (int)a.n, a.p, (int)b.n, b.p);
        cpp_put(&w->guards, w->indent, "}");
    }
    visit(w, next, x[first], a, true);
    visit(w, next, x[!first], b, true);
}

static void visit_operands(struct pass_writer *w, struct step_level *next, uint32_t op) {
    const struct graph *g = w->place.g;
    const uint32_t *x = graph_operands(g, op);
    uint32_t n = graph_noperands(g, op);
    bool has_constant = false;
    for (uint32_t i = 0; i < n; i++)
        has_constant |= x[i] != NONE && place_constant(&w->place, x[i]);
    if (graph_movement(g, op) == MOVEMENT_BROADCAST || graph_class(g, op) == OP_SLICE || has_constant ||
        graph_op_is(g, op, COUNTS) || place_reshapes(g, op))
        shape_matters(w, g->m->ops[op].first_result);
    if (n == 2 && x[0] == x[1]) {
        struct str a = operand_text(w, op, 0), b = operand_text(w, op, 1);
        condition(&next->conditions, "%.*s != %.*s", (int)a.n, a.p, (int)b.n, b.p);
        visit(w, next, x[0], a, false);
    } else if (n == 2 && graph_op_is(g, op, COMMUTES))
        visit_commuting(w, next, op);
    else
        for (uint32_t i = 0; i < n; i++)
            if (x[i] != NONE)
                visit(w, next, x[i], operand_text(w, op, i), false);
}

/* Ops with one use in front of the conditions, which ask them more. */
static void merge_once(struct pass_writer *w, struct step_level *level) {
    struct str once = buf_take(&level->once, w->arena), rest = buf_take(&level->conditions, w->arena);
    if (once.n)
        condition(&level->conditions, "!haveOneUse(%.*s)", (int)once.n, once.p);
    if (rest.n)
        condition(&level->conditions, "%.*s", (int)rest.n, rest.p);
    w->helpers |= once.n ? HELPER_ONE_USE : 0;
}

/* From a root to all that is behind it. */
static void match_tree(struct pass_writer *w, uint32_t root) {
    struct step_level now = {.ops = {root}, .nops = 1};
    while (now.nops) {
        struct step_level next = {.nops = 0};
        for (uint32_t i = 0; i < now.nops; i++)
            visit_operands(w, &next, now.ops[i]);
        merge_once(w, &next);
        struct str words = buf_take(&next.words, w->arena), of = pass_word(w->place.g, now.ops[0]);
        if (!words.n)
            refuse(w, &next.conditions, "%.*s takes other values", (int)of.n, of.p);
        else
            refuse(w, &next.conditions, words.n < 28 ? "no %.*s" : "other producers", (int)words.n, words.p);
        now = next;
        now.once = now.conditions = now.words = (struct buf){0};
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

/* Of all ops that have a name. */
static void match_attributes(struct pass_writer *w) {
    const struct graph *g = w->place.g;
    struct buf all = {0};
    for (uint32_t op = g->m->nops; op-- > 0;) {
        struct str of = w->place.step[op] ? w->expr[g->m->ops[op].first_result] : STR("");
        struct str text = of.n ? attributes_text(w, op, of) : STR("");
        if (text.n)
            condition(&all, "%.*s", (int)text.n, text.p);
    }
    refuse(w, &all, "other attributes");
}

/* ---- further roots ---- */

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

/* The ops back from two roots are alike; `to`: per value of g, that of the second one. */
static bool are_alike(struct pass_writer *w, uint32_t a, uint32_t b, uint32_t *to) {
    const struct pass_place *p = &w->place;
    uint32_t x = place_def(p, a), y = place_def(p, b);
    if (to[a] != NONE)
        return to[a] == b;
    to[a] = b;
    if (place_inner(p, a) != place_inner(p, b) || graph_dtype(p->g, a) != graph_dtype(p->g, b))
        return false;
    if (!place_inner(p, a))
        return place_constant(p, a) == place_constant(p, b);
    bool alike = p->g->kind[x] == p->g->kind[y] && graph_noperands(p->g, x) == graph_noperands(p->g, y) &&
                 p->inside[a] == p->inside[b] && str_eq(attributes_text(w, x, STR("")), attributes_text(w, y, STR("")));
    for (uint32_t i = 0; alike && i < graph_noperands(p->g, x); i++)
        alike = are_alike(w, graph_operands(p->g, x)[i], graph_operands(p->g, y)[i], to);
    return alike;
}

static bool is_member(const struct pass_writer *w, uint32_t value) {
    return w->expr[value].n && !str_find(w->expr[value], STR("(")) &&
           value != w->place.g->m->ops[w->place.roots[0]].first_result;
}

static struct str member_of(struct pass_writer *w, struct str branch, struct str name) {
    if (str_starts(name, STR("srcOp")))
        return name;
    return arena_printf(w->arena, "%.*s.%.*s", (int)branch.n, branch.p, (int)name.n, name.p);
}

/* A function of what the guards are so far, which fills a struct of what they found. */
static void begin_branches(struct pass_writer *w) {
    uint32_t root = w->place.roots[0], nvalues = w->place.g->m->nvalues;
    struct str guards = buf_take(&w->guards, w->arena), class = pass_class(w, w->place.g, root);
    struct buf b = {0}, members = {0};
    buf_add(&b, STR("// What leads to one of the results.\nstruct Branch {\n"));
    for (uint32_t v = 0; v < nvalues; v++)
        if (is_member(w, v)) {
            struct str type = w->final[v] && place_inner(&w->place, v)
                                  ? pass_class(w, w->place.g, place_def(&w->place, v))
                                  : STR("Value");
            buf_printf(&b, "  %.*s %.*s;\n", (int)type.n, type.p, (int)w->expr[v].n, w->expr[v].p);
            buf_printf(&members, "%s%.*s", members.n ? ", " : "", (int)w->expr[v].n, w->expr[v].p);
        }
    struct str all = buf_take(&members, w->arena);
    buf_printf(&b, "};\n\nLogicalResult matchBranch(%.*s srcOp, PatternRewriter &rewriter,\n", (int)class.n, class.p);
    buf_printf(&b, "                          Branch &branch) {\n");
    buf_add(&b, guards);
    cpp_put(&b, 2, "branch = {%.*s};", (int)all.n, all.p);
    buf_add(&b, STR("  return success();\n}\n\n"));
    w->functions = buf_take(&b, w->arena);
    w->indent = INDENT;
}

/* What the code calls values of the first branch, it calls those of another one likewise. */
static void name_branch(struct pass_writer *w, struct str name, struct str root, const uint32_t *to,
                        const struct str *first, struct buf *differ) {
    uint32_t nshapes = w->nshapes, nread = w->nread, nconstants = w->nconstants;
    for (uint32_t v = 0; v < w->place.g->m->nvalues; v++) {
        if (!first[v].n || to[v] == NONE || to[v] == w->place.g->m->ops[w->place.roots[0]].first_result)
            continue;
        struct str expr = member_of(w, name, first[v]), rest = {first[v].p + 5, first[v].n - 5};
        if (differ && str_starts(first[v], STR("srcOp.")))
            expr = arena_printf(w->arena, "%.*s%.*s", (int)root.n, root.p, (int)rest.n, rest.p);
        if (w->final[to[v]] && to[v] == v && w->expr[v].n && differ)
            condition(differ, "%.*s != %.*s", (int)expr.n, expr.p, (int)w->expr[v].n, w->expr[v].p);
        else if (!str_is(first[v], "srcOp"))
            w->expr[to[v]] = expr;
        w->final[to[v]] |= w->final[v];
    }
    for (uint32_t i = 0; i < nshapes && differ; i++)
        if (to[w->shapes[i]] != NONE)
            shape_matters(w, to[w->shapes[i]]);
    for (uint32_t i = 0; i < nread && differ && w->nread < MAX_NAMES; i++)
        if (to[w->reads[i]] != NONE && to[w->reads[i]] != w->reads[i])
            w->reads[w->nread++] = to[w->reads[i]];
    for (uint32_t i = 0; i < nconstants && w->nconstants < MAX_CONSTANTS; i++) {
        struct pass_constant *c = &w->constants[i];
        if (!differ)
            c->expr = member_of(w, name, c->expr);
        else if (to[c->value] != NONE && to[c->value] != c->value) {
            w->constants[w->nconstants] = *c;
            w->constants[w->nconstants].value = to[c->value];
            w->constants[w->nconstants++].expr = w->expr[to[c->value]];
        }
    }
}

/* Each further root from a value that is known; the conditions under which it is none. False: it leads to none. */
static bool find_root(struct pass_writer *w, uint32_t number, struct buf *conditions) {
    const struct mlir *m = w->place.g->m;
    uint32_t root = w->place.roots[number], path[MAX_STEPS], from = NONE, n = path_back(w, root, path, &from, 0);
    struct str name = pass_variable(w, pass_word(w->place.g, root), "Op");
    struct buf classes = {0}, others = {0};
    if (n == 0)
        return false;
    for (uint32_t i = n; i-- > 0;) {
        struct str class = pass_class(w, w->place.g, path[i]);
        buf_printf(&classes, "%s%.*s", classes.n ? ", " : "", (int)class.n, class.p);
    }
    for (uint32_t i = 0; i < number; i++) {
        struct str other = w->expr[m->ops[w->place.roots[i]].first_result];
        buf_printf(&others, "%s%.*s", i ? ", " : "", (int)other.n, other.p);
    }
    struct str all = buf_take(&classes, w->arena), taken = buf_take(&others, w->arena);
    struct str value = w->expr[from];
    w->helpers |= HELPER_CONSUMER;
    w->expr[m->ops[root].first_result] = name;
    w->final[m->ops[root].first_result] = true;
    cpp_put(&w->guards, w->indent, "auto %.*s = getConsumer<%.*s>(%.*s, {%.*s});", (int)name.n, name.p, (int)all.n,
            all.p, (int)value.n, value.p, (int)taken.n, taken.p);
    condition(conditions, "!%.*s", (int)name.n, name.p);
    return true;
}

/* With its branch, which is alike. */
static bool match_branch(struct pass_writer *w, uint32_t number, const uint32_t *to, const struct str *first) {
    static const char *const branches[MAX_ROOTS] = {"first", "second", "third",   "fourth",
                                                    "fifth", "sixth",  "seventh", "eighth"};
    uint32_t root = w->place.roots[number];
    struct buf c = {0};
    if (!find_root(w, number, &c))
        return false;
    struct str name = w->expr[w->place.g->m->ops[root].first_result], branch = str_of(branches[number]);
    cpp_put(&w->guards, w->indent, "Branch %.*s;", (int)branch.n, branch.p);
    condition(&c, "failed(matchBranch(%.*s, rewriter, %.*s))", (int)name.n, name.p, (int)branch.n, branch.p);
    name_branch(w, branch, name, to, first, &c);
    refuse(w, &c, "no further %.*s", (int)pass_word(w->place.g, root).n, pass_word(w->place.g, root).p);
    return true;
}

/* Branches that are alike are found by one function. False: not all results are led to by what the first one is. */
static bool match_roots(struct pass_writer *w) {
    const struct mlir *m = w->place.g->m;
    uint32_t *to[MAX_ROOTS] = {NULL};
    size_t nvalues = m->nvalues + (size_t)1;
    struct str *first = arena_alloc(w->arena, nvalues * sizeof *first);
    bool alike = w->place.nroots > 1;
    for (uint32_t i = 0; i < w->place.nroots && alike; i++) {
        to[i] = arena_alloc(w->arena, nvalues * sizeof **to);
        memset(to[i], 0xff, nvalues * sizeof **to);
        alike = are_alike(w, m->ops[w->place.roots[0]].first_result, m->ops[w->place.roots[i]].first_result, to[i]);
    }
    w->indent = alike ? INDENT - 2 : INDENT; /* of a function of its own */
    match_tree(w, w->place.roots[0]);
    for (uint32_t i = 1; i < w->place.nroots && !alike; i++) {
        struct buf c = {0};
        if (!find_root(w, i, &c))
            return false;
        refuse(w, &c, "no further %.*s", (int)pass_word(w->place.g, w->place.roots[i]).n,
               pass_word(w->place.g, w->place.roots[i]).p);
        match_tree(w, w->place.roots[i]);
    }
    match_attributes(w);
    if (!alike)
        return true;
    begin_branches(w);
    memcpy(first, w->expr, m->nvalues * sizeof *first);
    name_branch(w, STR("first"), STR("srcOp"), to[0], first, NULL);
    cpp_put(&w->guards, w->indent, "Branch first;");
    cpp_put(&w->guards, w->indent, "if (failed(matchBranch(srcOp, rewriter, first))) {");
    cpp_put(&w->guards, w->indent + 2, "return failure();");
    cpp_put(&w->guards, w->indent, "}");
    buf_addc(&w->guards, '\n');
    for (uint32_t i = 1; i < w->place.nroots; i++)
        alike &= match_branch(w, i, to[i], first);
    return alike;
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

static void match_constants(struct pass_writer *w) {
    struct buf named = {0}, others = {0};
    for (uint32_t i = 0; i < w->nconstants; i++) {
        struct pass_constant *c = &w->constants[i];
        struct str expr = c->expr, name = formula_name(w, c->value, true);
        bool counted;
        if (name.n && form_has(w, c->number)) {
            c->variable = pass_variable(w, name, "");
            w->helpers |= HELPER_SPLAT;
            cpp_put(&w->guards, w->indent, "std::optional<double> %.*s = getSplatValue(%.*s);", (int)c->variable.n,
                    c->variable.p, (int)expr.n, expr.p);
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
    refuse(w, &named, "a constant does not fit");
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
        cpp_put(&w->guards, w->indent,
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
    refuse(w, &guards, "shapes or types do not fit");
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
    struct buf asked = {0}, comment = {0};
    pass_where(w, &asked, &comment);
    w->asked = buf_take(&comment, w->arena);
    struct str where = buf_take(&asked, w->arena);
    match_constants(w);
    struct buf constants = w->guards;
    w->guards = before;
    pass_create(w);
    match_shapes(w, (const struct str[]){shapes, slices, where});
    buf_add(&w->guards, buf_str(&constants));
    buf_free(&constants);
    return true;
}
