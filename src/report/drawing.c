#include "report/drawing.h"

#include "ir/mlir/print.h"
#include "report/place/segment.h"
#include "search/match/evaluate.h"

struct draughtsman {
    const struct graph *g;
    const struct mlir *m;
    struct arena *arena;
    struct drawn_op *ops;
    const uint32_t *inside; /* sorted */
    uint32_t *outside;      /* values */
    uint32_t ninside, noutside, nops;
};

/* "1x32xbf16" */
static struct str type_of(const struct draughtsman *d, uint32_t value) {
    struct buf text = {0};
    value_add_type(d->g, value, &text);
    return buf_take(&text, d->arena);
}

static struct drawn_op drawn(const struct draughtsman *d, enum drawn part, uint32_t value, uint32_t op) {
    struct drawn_op out = {.part = part};
    if (op != NONE) {
        out.op = arena_str(d->arena, mlir_op_name(d->m, op));
        out.line = mlir_place(d->m, d->m->ops[op].text.begin).line;
    }
    if (is_tensor_operand(d->g, value)) {
        out.value = mlir_value_text(d->m, value, d->arena);
        out.type = type_of(d, value);
    }
    return out;
}

static void draw_outside(struct draughtsman *d, uint32_t value) {
    uint32_t def = d->m->values[value].def;
    bool known = def != NONE && find_id(d->inside, d->ninside, def) != NONE;
    for (uint32_t i = 0; i < d->noutside; i++)
        known |= d->outside[i] == value;
    if (known)
        return;
    d->outside[d->noutside++] = value;
    d->ops[d->nops++] = drawn(d, DRAWN_OUTSIDE, value, def);
}

static struct str_list operands_of(const struct draughtsman *d, const struct mlir_op *op) {
    struct str *names = arena_alloc(d->arena, (op->noperands + (size_t)1) * sizeof *names);
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->noperands; k++)
        if (is_tensor_operand(d->g, d->m->operands[op->first_operand + k]))
            names[n++] = mlir_value_text(d->m, d->m->operands[op->first_operand + k], d->arena);
    return (struct str_list){names, n};
}

static void name_operands(const struct draughtsman *d, const struct match *m, const struct match_detail *detail,
                          struct drawing *out) {
    const struct formula *f = &m->pattern->formula;
    struct str *names = arena_alloc(d->arena, (detail->nslots + (size_t)1) * sizeof *names);
    struct str *values = arena_alloc(d->arena, (detail->nslots + (size_t)1) * sizeof *values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < detail->nslots; i++) {
        uint32_t value = detail->slots[i].value;
        if (!f->slots[i].is_variable || !is_tensor_operand(d->g, value))
            continue;
        names[n] = f->slots[i].name;
        values[n++] = mlir_value_text(d->m, value, d->arena);
    }
    out->names = (struct str_list){names, n};
    out->values = (struct str_list){values, n};
}

struct drawing draw_match(const struct match *m, const struct match_detail *detail, struct arena *a) {
    const struct mlir *ir = m->graph->m;
    struct segment s = match_segment(m, a);
    struct draughtsman d = {.g = m->graph, .m = ir, .arena = a, .inside = s.ops, .ninside = s.nops};
    uint32_t operands = 0;
    if (d.ninside > MOST_DRAWN)
        return (struct drawing){.nops = 0};
    for (uint32_t i = 0; i < d.ninside; i++)
        operands += ir->ops[d.inside[i]].noperands;
    d.outside = arena_alloc(a, (operands + (size_t)1) * sizeof *d.outside);
    d.ops = arena_alloc(a, (operands + d.ninside + (size_t)1) * sizeof *d.ops);
    for (uint32_t i = 0; i < d.ninside; i++)
        for (uint32_t k = 0; k < ir->ops[d.inside[i]].noperands; k++)
            if (is_tensor_operand(d.g, ir->operands[ir->ops[d.inside[i]].first_operand + k]))
                draw_outside(&d, ir->operands[ir->ops[d.inside[i]].first_operand + k]);
    for (uint32_t i = 0; i < d.ninside; i++) {
        const struct mlir_op *op = &ir->ops[d.inside[i]];
        bool through = find_id(m->through, m->nthrough, d.inside[i]) != NONE;
        struct drawn_op one =
            drawn(&d, through ? DRAWN_THROUGH : DRAWN_MATCHED, op->nresults ? op->first_result : NONE, d.inside[i]);
        one.operands = operands_of(&d, op);
        d.ops[d.nops++] = one;
    }
    struct drawing out = {.ops = d.ops, .nops = d.nops};
    name_operands(&d, m, detail, &out);
    return out;
}
