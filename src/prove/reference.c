/* Walks from the values of a match to its inputs. A constant that a name of the pattern stands for is an input too: it
 * gets the number that is printed, not what is left of it in its element type, because attributes have it so. */
#include "prove/reference.h"

#include <math.h>

#include "graph/movement.h"

/* ---- ops and inputs ---- */

static bool may_evaluate(const struct reference *r, uint32_t op) {
    const struct match *m = r->match;
    if (op_generates((enum op_kind)m->graph->kind[op]) || class_moves(graph_class(m->graph, op)))
        return true;
    for (uint32_t i = 0; i < m->nops; i++)
        if (m->ops[i] == op)
            return true;
    for (uint32_t i = 0; i < m->nthrough; i++)
        if (m->through[i] == op)
            return true;
    return false;
}

static bool is_named(const struct reference *r, uint32_t value) {
    bool named = false;
    for (uint32_t i = 0; i < r->bound.nslots && !named; i++)
        named = r->bound.slots[i].value == value;
    return named;
}

static const struct assumed_constant *assumed_constant_of(const struct reference *r, uint32_t value) {
    for (uint32_t i = 0; i < r->bound.nconstants; i++)
        if (r->bound.constants[i].value == value)
            return &r->bound.constants[i];
    if (!is_named(r, value) || !graph_constant(reference_graph(r), value).known)
        return NULL;
    struct assumed_constant *t = arena_alloc(r->arena, sizeof *t);
    *t = (struct assumed_constant){value, graph_constant(reference_graph(r), value).value, false};
    return t;
}

static const struct holding *holding_of(const struct reference *r, uint32_t value) {
    const struct pattern *pattern = r->match->pattern;
    for (uint32_t i = 0; i < pattern->nholds; i++)
        if (r->bound.slots[pattern->holds[i].slot].value == value)
            return &pattern->holds[i];
    return NULL;
}

/* A constant whose elements are not in the text (dense_resource). */
static bool is_unreadable(const struct reference *r, uint32_t op) {
    const struct graph *g = reference_graph(r);
    if (graph_class(g, op) != OP_CONSTANT)
        return false;
    struct arena scratch = {0};
    struct eval_context b = {.arena = &scratch};
    struct program program = {.graph = g};
    const struct tensor *t;
    bool read = interpret_values(&b, &program, &g->m->ops[op].first_result, 1, &t);
    arena_free(&scratch);
    return !read;
}

static void add_input(struct reference *r, uint32_t value, const struct assumed_constant *constant) {
    for (uint32_t i = 0; i < r->ninputs; i++)
        if (r->inputs[i].value == value)
            return;
    r->full |= r->ninputs == MAX_INPUTS || r->nops == MAX_REFERENCE_OPS;
    if (r->ninputs < MAX_INPUTS)
        r->inputs[r->ninputs++] = (struct proof_input){.value = value, .constant = constant};
}

void reference_add(struct reference *r, uint32_t value) {
    const struct graph *g = reference_graph(r);
    const struct assumed_constant *constant = assumed_constant_of(r, value);
    uint32_t op = constant || holding_of(r, value) ? NONE : g->m->values[value].def;
    if (op != NONE && reference_evaluates(r, op))
        return;
    if (op == NONE || !may_evaluate(r, op) || is_unreadable(r, op) || r->nops == MAX_REFERENCE_OPS) {
        add_input(r, value, constant);
        return;
    }
    r->ops[r->nops++] = op;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (graph_operands(g, op)[i] != NONE)
            reference_add(r, graph_operands(g, op)[i]);
}

/* ---- what is known of inputs ---- */

/* The value is one of those that a list of the pattern's names stands for. */
static bool is_listed(const struct reference *r, const uint32_t *slots, uint32_t n, uint32_t value) {
    bool found = false;
    for (uint32_t i = 0; i < n; i++)
        found |= r->bound.slots[slots[i]].value == value;
    return found;
}

static bool is_sort(const struct match *m, uint32_t op) {
    return op_is((enum op_kind)m->graph->kind[op], SORTS);
}

const struct formula *reference_parse(const struct reference *r, struct str text, struct eval_context *b) {
    struct diags quiet = {.arena = r->arena};
    struct formula *f = arena_alloc(r->arena, sizeof *f);
    struct text_origin origin = {r->match->pattern->file.p, r->match->pattern->line, 0};
    bool good = fused_parse(f, r->arena, r->set, text, origin, &quiet);
    if (!good)
        eval_fail(b, "`fused` or `holds` is no formula: %s", quiet.n ? quiet.items[0].message : "");
    diags_free(&quiet);
    return good ? f : NULL;
}

/* A matched op takes the value, perhaps moved, as this operand. */
static bool is_operand(const struct reference *r, enum op_kind k, uint32_t operand, uint32_t value) {
    const struct graph *g = reference_graph(r);
    bool found = false;
    for (uint32_t i = 0; i < r->match->nops && !found; i++) {
        uint32_t op = r->match->ops[i];
        found = g->kind[op] == k && graph_noperands(g, op) > operand &&
                movement_source(g, graph_operands(g, op)[operand]) == movement_source(g, value);
    }
    return found;
}

/* Quantizing divides by the scale. */
static bool is_divisor(const struct reference *r, uint32_t value) {
    return is_operand(r, K_DIVIDE, 1, value) || is_operand(r, K_QUANTIZE, 1, value) ||
           is_operand(r, K_QUANTIZE_UNROLLED, 1, value);
}

static bool is_scale(const struct reference *r, uint32_t value) {
    return graph_numel(reference_graph(r), value) == 1 &&
           (is_operand(r, K_MULTIPLY, 0, value) || is_operand(r, K_MULTIPLY, 1, value) || is_divisor(r, value));
}

bool reference_inputs(struct reference *r, struct eval_context *b) {
    const struct pattern *pattern = r->match->pattern;
    bool good = true;
    for (uint32_t i = 0; i < r->ninputs; i++) {
        struct proof_input *in = &r->inputs[i];
        const struct holding *h = holding_of(r, in->value);
        in->holds = h ? reference_parse(r, h->formula, b) : NULL;
        good &= !h || in->holds;
        in->positive = is_listed(r, pattern->positive, pattern->npositive, in->value);
        in->replicated = is_listed(r, pattern->replicated, pattern->nreplicated, in->value);
        in->predicate = predicate_use_of(r, in->value);
        in->mask_sign = mask_sign_of(r, in->value);
        in->indices = indices_of_input(r, in->value);
        in->divides = is_divisor(r, in->value);
        in->scales = is_scale(r, in->value);
        r->masks |= in->mask_sign != 0;
    }
    for (uint32_t i = 0; i < r->match->nops; i++)
        r->sorts |= is_sort(r->match, r->match->ops[i]);
    r->thresholds = thresholds_of(r);
    return good;
}

bool input_has_precondition(const struct reference *r, uint32_t input, bool devices) {
    const struct proof_input *in = &r->inputs[input];
    bool stated = in->constant && in->constant->stated;
    /* that all elements are one number, whichever, cannot fail for a single element */
    stated = stated && (!isnan(in->constant->number) || graph_numel(reference_graph(r), in->value) > 1);
    bool fixed = in->constant && !in->constant->stated;
    return stated || (in->positive && !fixed) || in->holds || (in->replicated && devices);
}

/* Some evaluated op takes the value, seen through movement; `moved_too`: movement itself counts. */
static bool is_taken(const struct reference *r, uint32_t value, bool moved_too, int depth) {
    enum { MAX_DEPTH = 16 };
    const struct graph *g = reference_graph(r);
    bool taken = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < MAX_DEPTH && !taken; u++) {
        uint32_t op = g->uses[u];
        enum op_class c = graph_class(g, op);
        bool moves = class_moves(c) || c == OP_SLICE || c == OP_JOIN;
        if (reference_evaluates(r, op))
            taken = moved_too || !moves || is_taken(r, g->m->ops[op].first_result, false, depth + 1);
    }
    return taken;
}

bool reference_takes(const struct reference *r, uint32_t value) {
    return is_taken(r, value, false, 0);
}

bool reference_shows_order(const struct reference *r) {
    const struct match *m = r->match;
    bool shown = false;
    for (uint32_t i = 0; i < m->nops && !shown; i++) {
        const struct mlir_op *op = &m->graph->m->ops[m->ops[i]];
        struct str stable = STR("");
        if (!is_sort(m, m->ops[i]) || op->nresults < 2)
            continue;
        mlir_attr(m->graph->m, m->ops[i], "stable", &stable);
        bool promised = str_is(stable, "true");
        uint32_t indices = op->first_result + 1;
        shown = is_taken(r, indices, promised, 0) || (promised && is_named(r, indices));
    }
    return shown;
}
