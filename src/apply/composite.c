#include "apply/form_writer.h"

#include "library/lowering.h"

static void bind_operand(struct form_writer *in, const struct lowering *low, uint32_t number, const struct written *v) {
    uint32_t slot = low->slots[number];
    in->names.bound[slot] = true;
    if (!v || is_absent(v))
        return;
    in->values[slot] = *v;
    in->values[slot].name = arena_printf(in->e->eval->arena, "%%arg%u", number);
    in->known[slot] = true;
    in->names.values[slot][0] = stand_in(in, v);
}

void add_composite(struct form_writer *w, struct written_op *o) {
    struct arena *a = w->e->eval->arena;
    struct composite *c = arena_alloc(a, sizeof *c);
    struct form_writer *in = arena_alloc(a, sizeof *in);
    const struct lowering *low = lowering_of_kind(w->names.set, o->kind);
    if (!low)
        op_fails(w->e->eval, "what %s computes is not known", op_table[o->kind].name);
    c->body = (struct emitter){.eval = w->e->eval, .prefix = STR("%"), .next = &c->next_name};
    *in = (struct form_writer){.request = w->request, .e = &c->body, .element = w->element};
    in->names = (struct formula_run){
        .eval = w->e->eval, .set = w->names.set, .formula = low->formula, .evaluate = evaluate_stand_in};
    for (uint32_t i = 0; i < low->nparams; i++)
        bind_operand(in, low, i, i < o->noperands ? &o->operands[i] : NULL);
    c->operands = o->operands;
    c->noperands = o->noperands;
    c->result = emit_plain(&c->body, write_node(in, low->formula->root), w->element);
    c->symbol =
        arena_printf(a, "%.*s%s_%u", (int)w->e->prefix.n - 1, w->e->prefix.p + 1, op_table[o->kind].name, *w->e->next);
    c->next = w->e->composites;
    w->e->composites = c;
    o->spelling = STR("ttcore.composite");
    add_key(o, "composite_name", arena_printf(a, "\"%s\"", op_table[o->kind].name));
    add_key(o, "decomposition", arena_printf(a, "@%.*s", (int)c->symbol.n, c->symbol.p));
}
