/* What an op would be that a pass has no class of TTIR for: its operands, attributes and results, as the formula names
 * them. */
#include "compile/pass/definition.h"

#include "compile/pass/cpp.h"

static struct str type_text(const struct graph *g, uint32_t value) {
    return mlir_unalias(g->m, g->m->types[g->m->values[value].type].text);
}

static void list(struct buf *out, const char *what, struct str items) {
    if (items.n)
        buf_printf(out, "%s%s %.*s", out->n ? "; " : "", what, (int)items.n, items.p);
}

static bool is_result(const struct match *m, uint32_t op) {
    const struct graph *g = m->graph;
    uint32_t v = g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE, inside = 0;
    for (uint32_t i = 0; i < m->nops && v != NONE; i++)
        for (uint32_t k = 0; k < graph_noperands(g, m->ops[i]); k++)
            inside += graph_operands(g, m->ops[i])[k] == v;
    for (uint32_t i = 0; i < m->nthrough && v != NONE; i++)
        for (uint32_t k = 0; k < graph_noperands(g, m->through[i]); k++)
            inside += graph_operands(g, m->through[i])[k] == v;
    return v != NONE && (op == m->root || graph_nuses(g, v) > inside);
}

static struct str interface(const struct match *m, const struct match_detail *d, struct arena *a) {
    const struct graph *g = m->graph;
    const struct formula *f = &m->pattern->formula;
    struct buf operands = {0}, attributes = {0}, results = {0}, out = {0};
    for (uint32_t i = 0; i < d->nslots; i++) {
        uint32_t v = d->slots[i].value;
        if (v == NONE || !f->slot_is_variable[i] || !f->slot_name[i].n)
            continue;
        bool number = graph_constant(g, v).known;
        struct buf *to = number ? &attributes : &operands;
        struct str type = number ? STR("F32Attr") : type_text(g, v);
        buf_printf(to, "%s%.*s: %.*s", to->n ? ", " : "", (int)f->slot_name[i].n, f->slot_name[i].p, (int)type.n,
                   type.p);
    }
    for (uint32_t i = 0; i < m->nops; i++)
        if (is_result(m, m->ops[i])) {
            struct str type = type_text(g, g->m->ops[m->ops[i]].first_result);
            buf_printf(&results, "%s%.*s", results.n ? ", " : "", (int)type.n, type.p);
        }
    list(&out, "operands", buf_take(&operands, a));
    list(&out, "attributes", attributes.n ? buf_take(&attributes, a) : STR("none"));
    list(&out, "results", buf_take(&results, a));
    return buf_take(&out, a);
}

struct str pass_definition(const struct match *m, const struct match_detail *d, struct arena *a) {
    struct str is = interface(m, d, a), op = m->pattern->fused_op;
    struct str ours = op_spelling(m->pattern->makes, "ttnn.", "");
    bool known = !str_starts(mlir_op_name(m->graph->m, m->root), STR("ttnn."));
    if (ours.n)
        return arena_printf(a, "%s; its class is ttnn::%.*s, for a pattern over the ops of TTNN: %.*s",
                            known ? "TTIR has no such op"
                                  : "its ops in TTIR are not known, which a pattern is written from",
                            (int)cpp_class(ours, a).n, cpp_class(ours, a).p, (int)is.n, is.p);
    return arena_printf(a, "no class to create yet: %.*s wants a definition in TTNNOps.td with %.*s", (int)op.n, op.p,
                        (int)is.n, is.p);
}
