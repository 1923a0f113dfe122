/* Traces are looked through. An op that captures a trace, or executes it once it is captured, is read as a call of the
 * function that was traced:
 *
 *     allocate(parameters) -> slots          where inputs and results stay between runs; older text has no such
 * function capture(inputs, slots)                 writes inputs into their slots, and calls traced(slots) copies its
 * results into the last ones; older text returns them
 *
 * Its operands are what fills the slots, and the traced function returns what it copies. Source: TTNNTrace of tt-mlir,
 * of 2025-08 to 2026-08. */
#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

enum { MAX_STEPS = 8 };

struct trace {
    struct mlir *m;
    uint32_t op;
    uint32_t first, n, nothers;                   /* operands but for the device; of these no tensors, the last ones */
    uint32_t allocate, capture, traced;           /* functions; there may be no `allocate` */
    uint32_t call, end;                           /* of `traced`, its return */
    uint32_t first_output, noutputs, first_input; /* in mlir.operands, as of a call that returns */
};

static uint32_t function_at(const struct mlir *m, uint32_t op, const char *key) {
    struct str text;
    if (!mlir_attr(m, op, key, &text) || text.n < 2 || text.p[0] != '@')
        return NONE;
    return mlir_func_named(m, (struct str){text.p + 1, text.n - 1});
}

static bool is_argument(const struct mlir *m, uint32_t func, uint32_t value) {
    const struct mlir_func *f = &m->funcs[func];
    return value >= f->first_arg && value - f->first_arg < f->nargs;
}

static uint32_t operand(const struct mlir *m, uint32_t op, uint32_t i) {
    return m->operands[m->ops[op].first_operand + i];
}

static uint32_t find_return(const struct mlir *m, uint32_t func) {
    uint32_t found = NONE;
    for (uint32_t op = m->funcs[func].first_op; op < m->funcs[func].end_op; op++)
        if (m->ops[op].func == func && str_is(mlir_op_name(m, op), "func.return"))
            found = op;
    return found;
}

/* What a function writes into a tensor; NONE: nothing, or not once. */
static uint32_t written_into(const struct mlir *m, uint32_t func, uint32_t tensor, const char *by) {
    uint32_t source = NONE, n = 0;
    for (uint32_t op = m->funcs[func].first_op; op < m->funcs[func].end_op; op++)
        if (m->ops[op].noperands == 2 && operand(m, op, 1) == tensor && str_is(mlir_op_name(m, op), by)) {
            source = operand(m, op, 0);
            n++;
        }
    return n == 1 ? source : NONE;
}

/* The operand of the trace that argument `i` of what captures it is: inputs, slots, and what is no tensor. NONE: a slot
 * that is none. */
static uint32_t captured(const struct trace *t, uint32_t i) {
    const struct mlir *m = t->m;
    uint32_t nallocated = 0, end = NONE, nslots = 0;
    if (t->allocate != NONE) {
        nallocated = m->funcs[t->allocate].nargs;
        end = find_return(m, t->allocate);
        nslots = end == NONE ? 0 : m->ops[end].noperands;
    }
    if (nallocated + t->nothers > t->n)
        return NONE;
    uint32_t ninputs = t->n - t->nothers - nallocated;
    if (i < ninputs)
        return m->operands[t->first + nallocated + i];
    i -= ninputs;
    if (i >= nslots)
        return i - nslots < t->nothers ? m->operands[t->first + t->n - t->nothers + (i - nslots)] : NONE;
    uint32_t slot = operand(m, end, i);
    return is_argument(m, t->allocate, slot) ? m->operands[t->first + m->values[slot].index] : NONE;
}

/* The operand of the trace that a value is which the traced function is called with; NONE: not known. */
static uint32_t source_of(const struct trace *t, uint32_t value) {
    uint32_t found = NONE;
    for (int step = 0; step < MAX_STEPS && value != NONE && found == NONE; step++) {
        if (is_argument(t->m, t->capture, value))
            found = captured(t, t->m->values[value].index);
        value = written_into(t->m, t->capture, value, "ttnn.write_tensor");
    }
    return found;
}

static bool find_functions(struct trace *t) {
    struct mlir *m = t->m;
    t->capture = function_at(m, t->op, "capture_callee");
    t->allocate = function_at(m, t->op, "allocate_slots_callee");
    t->traced = NONE;
    if (t->capture == NONE)
        return false;
    for (uint32_t op = m->funcs[t->capture].first_op; op < m->funcs[t->capture].end_op && t->traced == NONE; op++) {
        t->call = op;
        t->traced = m->ops[op].callee == NONE ? NONE : mlir_find_func(m, m->ops[op].callee);
    }
    return t->traced != NONE && m->ops[t->call].noperands == m->funcs[t->traced].nargs;
}

static void append(struct mlir *m, uint32_t value) {
    m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
    m->operands[m->noperands++] = value;
}

/* What the traced function copies into arguments, or nothing where it returns its results. */
static bool find_outputs(struct trace *t) {
    struct mlir *m = t->m;
    const struct mlir_func *f = &m->funcs[t->traced];
    t->end = find_return(m, t->traced);
    t->first_output = m->noperands;
    for (uint32_t i = 0; i < f->nargs; i++) {
        uint32_t source = written_into(m, t->traced, f->first_arg + i, "ttnn.copy");
        if (source != NONE)
            append(m, source);
    }
    t->noutputs = m->noperands - t->first_output;
    return t->end != NONE && t->noutputs + m->ops[t->end].noperands == m->ops[t->op].nresults &&
           (!t->noutputs || !m->ops[t->end].noperands);
}

/* What the traced function is called with. */
static bool find_inputs(struct trace *t) {
    struct mlir *m = t->m;
    const struct mlir_func *f = &m->funcs[t->traced];
    t->first_input = m->noperands;
    for (uint32_t i = 0; i < f->nargs; i++) {
        uint32_t v = source_of(t, operand(m, t->call, i));
        if (v == NONE && written_into(m, t->traced, f->first_arg + i, "ttnn.copy") == NONE)
            return false;
        append(m, v);
    }
    return true;
}

static void note_kind(struct mlir *m, uint32_t func) {
    if (func != NONE)
        m->funcs[func].traces = true;
}

static bool is_tensor(const struct mlir *m, uint32_t value) {
    return m->types[m->values[value].type].kind == TYPE_TENSOR;
}

static void look_through(struct mlir *m, uint32_t op) {
    struct mlir_op *o = &m->ops[op];
    struct trace t = {.m = m, .op = op, .first = o->first_operand, .n = o->noperands};
    if (t.n > 0 && m->types[m->values[m->operands[t.first]].type].kind == TYPE_DEVICE) {
        t.first++;
        t.n--;
    }
    while (t.nothers < t.n && !is_tensor(m, m->operands[t.first + t.n - t.nothers - 1]))
        t.nothers++;
    if (!find_functions(&t) || !find_outputs(&t) || !find_inputs(&t))
        return;
    o->callee = m->funcs[t.traced].name;
    o->first_operand = t.first_input;
    o->noperands = m->funcs[t.traced].nargs;
    if (t.noutputs) {
        m->ops[t.end].first_operand = t.first_output;
        m->ops[t.end].noperands = t.noutputs;
        m->funcs[t.traced].copies_results = true;
    }
    note_kind(m, t.allocate);
    note_kind(m, t.capture);
    note_kind(m, function_at(m, op, "execute_callee"));
}

void look_through_traces(struct mlir *m) {
    for (uint32_t op = 0; op < m->nops; op++)
        if (str_is(mlir_op_name(m, op), "ttnn.capture_or_execute_trace"))
            look_through(m, op);
}
