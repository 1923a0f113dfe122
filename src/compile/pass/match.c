/* The guards, from the roots back: first which ops make which operands, level by level; then attributes, constants and
 * extents. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "compile/pass/writer.h"
#include "ir/graph/movement.h"

enum { INDENT = 4 };

struct step_level {
    uint32_t ops[MAX_STEPS], nops;
    struct buf conditions, words;
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
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    buf_printf(to, "%s%s", to->n ? " || " : "", text);
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

static bool is_inner(const struct pass_writer *w, uint32_t value) {
    uint32_t op = place_def(&w->place, value);
    return op != NONE && w->place.matched[op] && !w->place.read[value];
}

/* "ReshapeOp, DotGeneralOp" down to the step. */
static struct str chain_text(struct pass_writer *w, uint32_t value) {
    uint32_t ops[MAX_STEPS], n = place_chain(&w->place, value, ops);
    struct buf b = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct str class = pass_class(w, w->place.g, ops[i]);
        buf_printf(&b, "%s%.*s", i ? ", " : "", (int)class.n, class.p);
    }
    return buf_take(&b, w->arena);
}

static uint32_t step_of(const struct pass_writer *w, uint32_t value) {
    uint32_t ops[MAX_STEPS], n = place_chain(&w->place, value, ops);
    return ops[n - 1];
}

/* Ops of the classes that make `value` make the other one, too. */
static bool would_follow(const struct pass_writer *w, uint32_t value, uint32_t other) {
    const struct graph *g = w->place.g;
    uint32_t ops[MAX_STEPS], n = place_chain(&w->place, value, ops);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = place_def(&w->place, other);
        if (op == NONE || g->kind[op] != g->kind[ops[i]])
            return false;
        other = graph_operands(g, op)[0];
    }
    return true;
}

/* The class of an operand that one of the two steps has and the other has not; empty: none. */
static struct str telling_operand(struct pass_writer *w, uint32_t step, uint32_t other) {
    const struct graph *g = w->place.g;
    for (uint32_t i = 0; i < graph_noperands(g, step); i++) {
        uint32_t v = graph_operands(g, step)[i], def = v == NONE ? NONE : place_def(&w->place, v);
        bool both = def == NONE || !w->place.matched[def];
        for (uint32_t k = 0; k < graph_noperands(g, other) && !both; k++) {
            uint32_t x = graph_operands(g, other)[k], its = x == NONE ? NONE : place_def(&w->place, x);
            both = its != NONE && g->kind[its] == g->kind[def];
        }
        if (!both)
            return pass_class(w, g, def);
    }
    return STR("");
}

/* "getProducer<ReshapeOp, DotGeneralOp>(x)" of what makes the value, which is called x. */
static struct str producer_text(struct pass_writer *w, uint32_t value, struct str expr) {
    uint32_t ops[MAX_STEPS], n = place_chain(&w->place, value, ops);
    struct str chain = chain_text(w, value);
    w->helpers |= n == 1 ? 0 : HELPER_PRODUCER;
    return n == 1 ? arena_printf(w->arena, "%.*s.getDefiningOp<%.*s>()", (int)expr.n, expr.p, (int)chain.n, chain.p)
                  : arena_printf(w->arena, "getProducer<%.*s>(%.*s)", (int)chain.n, chain.p, (int)expr.n, expr.p);
}

static struct str bind_step(struct pass_writer *w, struct step_level *next, uint32_t step) {
    uint32_t result = w->place.g->m->ops[step].first_result;
    struct str name = formula_name(w, result, false);
    w->expr[result] = pass_variable(w, name.n >= 4 ? name : pass_word(w->place.g, step), "Op");
    w->final[result] = true;
    struct str expr = w->expr[result], word = pass_word(w->place.g, step);
    condition(&next->conditions, "!%.*s", (int)expr.n, expr.p);
    if (!place_escapes(&w->place, result) && w->place.inside[result] == 1)
        condition(&next->conditions, "!%.*s->hasOneUse()", (int)expr.n, expr.p);
    else if (!place_escapes(&w->place, result)) {
        condition(&next->conditions, "ttmlir::utils::countUsers(%.*s.getResult()) != %u", (int)expr.n, expr.p,
                  w->place.inside[result]);
        w->counts_uses = true;
    }
    buf_printf(&next->words, "%s%.*s", next->words.n ? " and " : "", (int)word.n, word.p);
    if (next->nops < MAX_STEPS)
        next->ops[next->nops++] = step;
    return expr;
}

static void visit_leaf(struct pass_writer *w, uint32_t value, struct str expr) {
    bool used = w->place.read[value] || w->place.inside[value] > 1;
    if (place_constant(&w->place, value)) {
        w->expr[value] = expr;
        if (w->nconstants < MAX_CONSTANTS)
            w->constants[w->nconstants++] =
                (struct pass_constant){.value = value, .expr = expr, .number = graph_constant(w->place.g, value).value};
        return;
    }
    if (!used || w->final[value]) {
        w->expr[value] = w->expr[value].n ? w->expr[value] : expr;
        return;
    }
    struct str name = formula_name(w, value, true);
    w->expr[value] = pass_variable(w, name.n ? name : STR("input"), "");
    w->final[value] = true;
    if (w->place.read[value] && w->nread < MAX_NAMES)
        w->reads[w->nread++] = value;
    cpp_put(&w->guards, INDENT, "Value %.*s = %.*s;", (int)w->expr[value].n, w->expr[value].p, (int)expr.n, expr.p);
}

/* What the expression is, once its op is known. */
static void visit(struct pass_writer *w, struct step_level *next, uint32_t value, struct str expr) {
    if (w->final[value]) {
        condition(&next->conditions, "%.*s != %.*s%s", (int)expr.n, expr.p, (int)w->expr[value].n, w->expr[value].p,
                  is_inner(w, value) ? ".getResult()" : "");
        return;
    }
    if (!is_inner(w, value)) {
        visit_leaf(w, value, expr);
        return;
    }
    uint32_t ops[MAX_STEPS], n = place_chain(&w->place, value, ops), step = ops[n - 1];
    uint32_t result = w->place.g->m->ops[step].first_result;
    struct str made = producer_text(w, value, expr);
    if (w->final[result])
        condition(&next->conditions, "%.*s != %.*s", (int)made.n, made.p, (int)w->expr[result].n, w->expr[result].p);
    else {
        struct str name = bind_step(w, next, step);
        cpp_put(&w->guards, INDENT, "auto %.*s = %.*s;", (int)name.n, name.p, (int)made.n, made.p);
    }
    if (!w->expr[value].n)
        w->expr[value] = expr;
}

static struct str operand_text(struct pass_writer *w, uint32_t op, uint32_t i) {
    struct str of = w->expr[w->place.g->m->ops[op].first_result];
    struct str get = cpp_operand((enum op_kind)w->place.g->kind[op], i, w->arena);
    return arena_printf(w->arena, "%.*s%.*s", (int)of.n, of.p, (int)get.n, get.p);
}

/* "x.getLhs() != y": how to tell that the operands stand the other way round. */
static struct str is_swapped(struct pass_writer *w, uint32_t op, uint32_t k) {
    const uint32_t *x = graph_operands(w->place.g, op);
    struct str first = operand_text(w, op, 0), test = {0};
    if (w->final[x[k]])
        test = arena_printf(w->arena, "%.*s %s= %.*s%s", (int)first.n, first.p, k ? "=" : "!", (int)w->expr[x[k]].n,
                            w->expr[x[k]].p, is_inner(w, x[k]) ? ".getResult()" : "");
    else if (place_constant(&w->place, x[k])) {
        w->helpers |= HELPER_SPLAT;
        test = arena_printf(w->arena, "%sgetSplatValue(%.*s)", k ? "" : "!", (int)first.n, first.p);
    }
    return k && !w->final[x[k]] && test.n ? arena_printf(w->arena, "%.*s.has_value()", (int)test.n, test.p) : test;
}

/* The same by the ops that lead to one of the operands; empty: they lead to the other one, too. */
static struct str is_led_to(struct pass_writer *w, uint32_t op) {
    const uint32_t *x = graph_operands(w->place.g, op);
    struct str first = operand_text(w, op, 0);
    for (uint32_t k = 0; k < 2; k++) {
        if (!is_inner(w, x[k]) || w->final[x[k]] || would_follow(w, x[k], x[!k]))
            continue;
        struct str made = producer_text(w, x[k], first);
        return k ? arena_printf(w->arena, "%.*s != nullptr", (int)made.n, made.p)
                 : arena_printf(w->arena, "!%.*s", (int)made.n, made.p);
    }
    return STR("");
}

static void visit_commuting(struct pass_writer *w, struct step_level *next, uint32_t op) {
    const uint32_t *x = graph_operands(w->place.g, op);
    struct str test = is_led_to(w, op);
    for (uint32_t k = 0; k < 2 && !test.n; k++)
        test = is_swapped(w, op, k);
    if (!test.n && is_inner(w, x[0]) && is_inner(w, x[1])) {
        struct str inner = telling_operand(w, step_of(w, x[0]), step_of(w, x[1])), first = operand_text(w, op, 0);
        uint32_t k = inner.n == 0;
        if (k)
            inner = telling_operand(w, step_of(w, x[1]), step_of(w, x[0]));
        struct str class = pass_class(w, w->place.g, step_of(w, x[k]));
        w->helpers |= inner.n ? HELPER_MADE_OF : 0;
        if (inner.n)
            test = arena_printf(w->arena, "%sisMadeOf<%.*s, %.*s>(%.*s)", k ? "" : "!", (int)class.n, class.p,
                                (int)inner.n, inner.p, (int)first.n, first.p);
    }
    if (!test.n) {
        for (uint32_t i = 0; i < 2; i++)
            visit(w, next, x[i], operand_text(w, op, i));
        return;
    }
    struct str of = w->expr[w->place.g->m->ops[op].first_result];
    struct str swapped = pass_variable(w, STR("swapped"), "");
    cpp_put(&w->guards, INDENT, "bool %.*s = %.*s;", (int)swapped.n, swapped.p, (int)test.n, test.p);
    for (uint32_t i = 0; i < 2; i++)
        visit(w, next, x[i],
              arena_printf(w->arena, "%.*s->getOperand(%s%.*s)", (int)of.n, of.p, i ? "!" : "", (int)swapped.n,
                           swapped.p));
}

/* Both operands are values that are met elsewhere, which tells them apart. */
static bool is_early(const struct pass_writer *w, uint32_t op) {
    const uint32_t *x = graph_operands(w->place.g, op);
    bool leaf = true, again = false;
    if (graph_noperands(w->place.g, op) != 2 || !graph_op_is(w->place.g, op, COMMUTES) || x[0] == x[1])
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        leaf &= !is_inner(w, x[i]) && !w->final[x[i]];
        again |= w->place.inside[x[i]] > 1;
    }
    return leaf && again;
}

static void visit_operands(struct pass_writer *w, struct step_level *next, uint32_t op) {
    const struct graph *g = w->place.g;
    const uint32_t *x = graph_operands(g, op);
    uint32_t n = graph_noperands(g, op);
    if (n == 2 && x[0] == x[1]) {
        struct str a = operand_text(w, op, 0), b = operand_text(w, op, 1);
        condition(&next->conditions, "%.*s != %.*s", (int)a.n, a.p, (int)b.n, b.p);
        visit(w, next, x[0], a);
    } else if (n == 2 && graph_op_is(g, op, COMMUTES))
        visit_commuting(w, next, op);
    else
        for (uint32_t i = 0; i < n; i++)
            if (x[i] != NONE)
                visit(w, next, x[i], operand_text(w, op, i));
}

/* From a root to all that is behind it. */
static void match_tree(struct pass_writer *w, uint32_t root) {
    struct step_level now = {.ops = {root}, .nops = 1};
    for (int round = 0; now.nops && round < 2 * MAX_STEPS; round++) {
        struct step_level next = {.nops = 0};
        bool any = false;
        for (uint32_t i = 0; i < now.nops; i++)
            any |= !is_early(w, now.ops[i]);
        for (uint32_t i = 0; i < now.nops; i++)
            if (any && is_early(w, now.ops[i]))
                next.ops[next.nops++] = now.ops[i];
            else
                visit_operands(w, &next, now.ops[i]);
        struct str words = buf_take(&next.words, w->arena), of = pass_word(w->place.g, now.ops[0]);
        if (words.n && now.nops == 1 && words.n < 40)
            refuse(w, &next.conditions, "expected %.*s of %.*s", (int)of.n, of.p, (int)words.n, words.p);
        else if (words.n)
            refuse(w, &next.conditions, words.n < 52 ? "expected %.*s" : "expected other producers", (int)words.n,
                   words.p);
        else
            refuse(w, &next.conditions, "%.*s takes other values", (int)of.n, of.p);
        now = next;
        now.conditions = now.words = (struct buf){0};
    }
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
        uint32_t all = v != NONE && is_inner(w, v) ? path_back(w, place_def(&w->place, v), path, from, n) : 0;
        if (all)
            return all;
    }
    return 0;
}

static void find_root(struct pass_writer *w, uint32_t number) {
    uint32_t root = w->place.roots[number], path[MAX_STEPS], from = NONE, n = path_back(w, root, path, &from, 0);
    uint32_t result = w->place.g->m->ops[root].first_result;
    struct buf classes = {0}, others = {0};
    w->expr[result] = pass_variable(w, pass_word(w->place.g, root), "Op");
    w->final[result] = true;
    for (uint32_t i = n; i-- > 0;) {
        struct str class = pass_class(w, w->place.g, path[i]);
        buf_printf(&classes, "%s%.*s", classes.n ? ", " : "", (int)class.n, class.p);
    }
    for (uint32_t i = 0; i < number; i++) {
        struct str other = w->expr[w->place.g->m->ops[w->place.roots[i]].first_result];
        buf_printf(&others, "%s%.*s", i ? ", " : "", (int)other.n, other.p);
    }
    struct str all = buf_take(&classes, w->arena), taken = buf_take(&others, w->arena), name = w->expr[result];
    struct str value = from == NONE ? anchor(w) : w->expr[from];
    w->helpers |= HELPER_CONSUMER;
    cpp_put(&w->guards, INDENT, "auto %.*s = getConsumer<%.*s>(%.*s, {%.*s});", (int)name.n, name.p, (int)all.n, all.p,
            (int)value.n, value.p, (int)taken.n, taken.p);
    struct buf c = {0};
    condition(&c, "!%.*s", (int)name.n, name.p);
    refuse(w, &c, "there is no further %.*s", (int)pass_word(w->place.g, root).n, pass_word(w->place.g, root).p);
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
           role == DIMS_STEPS || str_is(x->key, "operandSegmentSizes") || op_table[k].class == OP_CAST ||
           place_reshapes(w->place.g, op) || (is_carried(w, op, x) && !str_is(x->key, "channel_dim"));
}

static void compare_attribute(struct pass_writer *w, uint32_t op, const struct attr *x, struct buf *to) {
    struct str of = w->expr[w->place.g->m->ops[op].first_result], list = list_of(w, x);
    struct str type = cpp_attribute_type((enum op_kind)w->place.g->kind[op], x->key);
    const char *name = cpp_camel(x->key, true, w->arena).p;
    if (str_is(type, "word") && (str_is(x->text, "true") || str_is(x->text, "false")))
        condition(to, "%s%.*s.get%s()", str_is(x->text, "true") ? "!" : "", (int)of.n, of.p, name);
    else if (str_is(type, "i64s"))
        condition(to, x->n ? "!llvm::equal(%.*s.get%s(), ArrayRef<int64_t>{%.*s})" : "!%.*s.get%s().empty()%.*s",
                  (int)of.n, of.p, name, (int)list.n, list.p);
    else if (str_is(type, "i32s"))
        condition(to, "%.*s.get%sAttr() != rewriter.getDenseI32ArrayAttr({%.*s})", (int)of.n, of.p, name, (int)list.n,
                  list.p);
    else if (str_is(type, "[i32]"))
        condition(to, "%.*s.get%sAttr() != rewriter.getI32ArrayAttr({%.*s})", (int)of.n, of.p, name, (int)list.n,
                  list.p);
    else if (x->is_whole)
        condition(to, "%.*s.get%s() != %" PRId64, (int)of.n, of.p, name, x->whole);
    else if (x->is_number)
        condition(to, "%.*s.get%s().convertToFloat() != %sf", (int)of.n, of.p, name,
                  cpp_number(attr_value(x), w->arena).p);
    else
        condition(to, "%.*s->getAttr(\"%.*s\") != parseAttribute(\"%.*s\", rewriter.getContext())", (int)of.n, of.p,
                  (int)x->key.n, x->key.p, (int)x->text.n, x->text.p);
}

/* Of ops of one kind together; of many kinds all together. */
static void match_attributes(struct pass_writer *w) {
    enum { MANY = 3 };
    const struct graph *g = w->place.g;
    struct buf all[MAX_STEPS] = {{0}};
    uint32_t of[MAX_STEPS], n = 0;
    for (uint32_t op = g->m->nops; op-- > 0;) {
        const struct attrs *a = graph_attributes(g, op);
        uint32_t k = 0;
        while (k < n && g->kind[of[k]] != g->kind[op])
            k++;
        if (!w->place.step[op] || k == MAX_STEPS)
            continue;
        for (uint32_t i = 0; i < a->n; i++)
            if (!is_said_elsewhere(w, op, &a->at[i]))
                compare_attribute(w, op, &a->at[i], &all[k]);
        of[k] = op;
        n += k == n && all[k].n > 0;
    }
    struct buf together = {0};
    for (uint32_t k = 0; k < n; k++) {
        struct str word = pass_word(g, of[k]), text = buf_str(&all[k]);
        if (n < MANY)
            refuse(w, &all[k], "%.*s has other attributes", (int)word.n, word.p);
        else {
            buf_printf(&together, "%s%.*s", together.n ? " || " : "", (int)text.n, text.p);
            buf_free(&all[k]);
        }
    }
    refuse(w, &together, "attributes differ");
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

/* It is a name of the formula, whose number the form may be made of. */
static bool has_name(const struct pass_writer *w, uint32_t value) {
    const struct formula *f = &w->match->pattern->formula;
    for (uint32_t i = 0; i < w->detail.nslots; i++) {
        uint32_t v = w->detail.slots[i].value;
        if (v != NONE && f->slot_name[i].n && movement_source(w->place.g, v) == movement_source(w->place.g, value))
            return true;
    }
    return false;
}

/* An attribute of the form is this number, or its product with that of another constant with a name. */
static bool form_has(const struct pass_writer *w, double number) {
    const struct graph *f = w->place.f;
    for (uint32_t op = 0; op < f->m->nops; op++)
        for (uint32_t i = 0; w->place.is_new[op] && i < graph_attributes(f, op)->n; i++) {
            const struct attr *x = &graph_attributes(f, op)->at[i];
            double is = x->is_number && !x->is_whole ? attr_value(x) : NAN;
            for (uint32_t k = 0; k <= w->nconstants; k++) {
                double factor = k == w->nconstants                   ? 1
                                : has_name(w, w->constants[k].value) ? w->constants[k].number
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
    bool any_counted = false;
    for (uint32_t i = 0; i < w->nconstants; i++) {
        struct pass_constant *c = &w->constants[i];
        struct str expr = c->expr, name = formula_name(w, c->value, true);
        bool counted;
        if (has_name(w, c->value) && form_has(w, c->number)) {
            c->variable = pass_variable(w, name.n ? name : STR("number"), "");
            w->helpers |= HELPER_SPLAT;
            cpp_put(&w->guards, INDENT, "std::optional<double> %.*s = getSplatValue(%.*s);", (int)c->variable.n,
                    c->variable.p, (int)expr.n, expr.p);
            condition(&named, "!%.*s", (int)c->variable.n, c->variable.p);
            continue;
        }
        struct str number = number_of_constant(w, c->number, &counted);
        w->helpers |= HELPER_NEAR | HELPER_SPLAT;
        condition(&others, "!isSplat(%.*s, %.*s)", (int)expr.n, expr.p, (int)number.n, number.p);
        any_counted |= c->counted = counted;
    }
    refuse(w, &named, "a number is no constant");
    refuse(w, &others, any_counted ? "a constant is not that of the extents" : "a constant is another number");
}

/* ---- all of it ---- */

/* What the form reads has the element type of the result where that is so here. */
static void match_elements(struct pass_writer *w, struct buf *conditions) {
    const struct graph *g = w->place.g;
    uint32_t root = g->m->ops[w->place.roots[0]].first_result;
    struct str result = w->expr[root];
    size_t before = conditions->n;
    for (uint32_t i = 0; i < w->nread; i++) {
        uint32_t v = w->reads[i];
        if (graph_dtype(g, v) == graph_dtype(g, root) && !extents_one_type(&w->extents, v, root))
            condition(conditions, "getElementTypeOrSelf(%.*s) != getElementTypeOrSelf(%.*s)", (int)w->expr[v].n,
                      w->expr[v].p, (int)result.n, result.p);
    }
    w->element_types = conditions->n > before;
}

static bool is_root_or_step(const struct pass_writer *w, uint32_t value) {
    uint32_t def = place_def(&w->place, value);
    return def != NONE && w->place.step[def] && w->final[value] && !w->place.read[value];
}

static void match_shapes(struct pass_writer *w) {
    struct extents_of_place *e = &w->extents;
    struct buf declared = {0};
    for (uint32_t v = 0; v < w->place.g->m->nvalues; v++)
        if (e->typed[v] && w->expr[v].n) {
            struct str type = extents_type(e, v), expr = w->expr[v];
            bool plain = !str_find(expr, STR(".get")) && !is_root_or_step(w, v); /* a Value */
            cpp_put(&declared, INDENT,
                    plain ? "auto %.*s = cast<RankedTensorType>(%.*s.getType());"
                          : "RankedTensorType %.*s = %.*s.getType();",
                    (int)type.n, type.p, (int)expr.n, expr.p);
        }
    buf_add(&w->guards, buf_str(&declared));
    buf_free(&declared);
    w->helpers |= str_find(buf_str(&e->guards), STR("haveOneType")) ? HELPER_ONE_TYPE : 0;
    refuse(w, &e->ranks, "tensors of other ranks");
    match_elements(w, &e->guards);
    refuse(w, &e->guards, w->element_types ? "shapes or element types do not fit" : "shapes do not fit");
}

void pass_match(struct pass_writer *w) {
    const struct mlir *m = w->place.g->m;
    uint32_t result = m->ops[w->place.roots[0]].first_result;
    w->expr[result] = pass_variable(w, pass_word(w->place.g, w->place.roots[0]), "Op");
    w->final[result] = true;
    match_tree(w, w->place.roots[0]);
    for (uint32_t i = 1; i < w->place.nroots; i++) {
        find_root(w, i);
        match_tree(w, w->place.roots[i]);
    }
    match_attributes(w);
    extents_begin(&w->extents, &w->place, w->expr);
    extents_of_match(&w->extents);
    extents_of_form(&w->extents);
    /* what is written, and constants, may name further types */
    struct buf before = w->guards;
    w->guards = (struct buf){0};
    match_constants(w);
    struct buf constants = w->guards;
    w->guards = before;
    pass_create(w);
    match_shapes(w);
    buf_add(&w->guards, buf_str(&constants));
    buf_free(&constants);
}
