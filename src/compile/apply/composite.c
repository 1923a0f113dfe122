/* Ops by what they compute: their lowering, as ops in their place or as the function of a composite. */
#include "compile/apply/form_writer.h"

#include <string.h>

#include "patterns/library/lowering.h"

static void bind_param(struct form_writer *in, uint32_t slot, struct written v) {
    in->names.bound[slot] = true;
    if (is_absent(&v))
        return;
    in->values[slot] = v;
    in->known[slot] = true;
    in->names.values[slot][0] = stand_in(in, &v);
}

/* A writer of the lowering, into `e`, whose names are not bound yet. */
static struct form_writer *begin_lowering(struct form_writer *w, const struct lowering *low, struct emitter *e) {
    struct form_writer *in = arena_alloc(e->eval->arena, sizeof *in);
    *in = (struct form_writer){.write = w->write, .request = w->request, .e = e, .run = w->run, .element = w->element};
    in->names = (struct formula_run){
        .eval = e->eval, .set = w->names.set, .formula = low->formula, .evaluate = evaluate_stand_in};
    return in;
}

bool write_lowering(struct form_writer *w, const struct node *n, const struct written *v, uint32_t nv,
                    struct written *out) {
    const struct lowering *low = lowering_of_kind(w->names.set, n->op);
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    if (!low || low->primitive)
        return false;
    struct form_writer *in = begin_lowering(w, low, w->e);
    for (uint32_t i = 0; i < low->op.nparams; i++) {
        const struct attr *x = NULL;
        if (i >= nv)
            x = formula_attribute(&self, arena_strdup(w->e->eval->arena, low->op.params[i]));
        bind_param(in, low->slots[i], i < nv ? v[i] : x && x->is_number ? written_number(x->number) : absent);
    }
    *out = in->write(in, low->formula->root);
    return true;
}

void add_composite(struct form_writer *w, struct written_op *o) {
    struct arena *a = w->e->eval->arena;
    struct composite *c = arena_alloc(a, sizeof *c);
    const struct lowering *low = lowering_of_kind(w->names.set, o->kind);
    if (!low)
        op_fails(w->e->eval, "what %s computes is not known", op_table[o->kind].name);
    c->body = (struct emitter){.eval = w->e->eval, .prefix = STR("%"), .next = &c->next_name};
    struct form_writer *in = begin_lowering(w, low, &c->body);
    for (uint32_t i = 0; i < low->op.nparams; i++) {
        struct written v = i < o->noperands ? o->operands[i] : absent;
        v.name = arena_printf(a, "%%arg%u", i);
        bind_param(in, low->slots[i], v);
    }
    struct written *operands = arena_alloc(a, (o->noperands + (size_t)1) * sizeof *operands);
    memcpy(operands, o->operands, o->noperands * sizeof *operands);
    c->operands = operands;
    c->noperands = o->noperands;
    c->result = emit_plain(&c->body, in->write(in, low->formula->root), w->element);
    c->symbol =
        arena_printf(a, "%.*s%s_%u", (int)w->e->prefix.n - 1, w->e->prefix.p + 1, op_table[o->kind].name, *w->e->next);
    c->next = w->e->composites;
    w->e->composites = c;
    o->spelling = STR("ttcore.composite");
    add_key(o, "composite_name", arena_printf(a, "\"%s\"", op_table[o->kind].name));
    add_key(o, "decomposition", arena_printf(a, "@%.*s", (int)c->symbol.n, c->symbol.p));
}
