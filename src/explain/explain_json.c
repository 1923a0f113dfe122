/* An explanation as one JSON document, for programs; every key is described in fusion-audit(1). */
#include "base/json.h"
#include "explain/explain.h"

static json *op(const struct explained_op *x) {
    json *o = json_map();
    json_put_text(o, "op", x->name);
    json_put_text(o, "result", x->result);
    json_put_number(o, "line", x->line);
    return o;
}

static json *difference(const struct explained *x) {
    json *o = json_map();
    json_put_text(o, "kind", str_of(x->kind));
    json_put_text(o, "part", x->part);
    json_put_text(o, "reason", x->reason);
    json_put(o, "hint", x->hint ? json_text(str_of(x->hint)) : NULL);
    json_put(o, "compiler_accepts", x->compiler ? json_text(x->compiler->accepts) : NULL);
    json_put_number(o, "others", x->others);
    json_put(o, "at", x->differs.line ? op(&x->differs) : NULL);
    return o;
}

static json *one(const struct explained *x) {
    static const char *const outcomes[] = {"matched", "gives way", "near"};
    json *o = json_map(), *ops = json_list(), *more = json_list();
    json_put_text(o, "outcome", str_of(outcomes[x->outcome]));
    json_put_text(o, "file", str_of(x->file));
    json_put_number(o, "graph", x->graph);
    json_put(o, "root", op(&x->root));
    json_put_text(o, "pattern", x->pattern);
    json_put_text(o, "fused_op", x->fused_op);
    for (uint32_t i = 0; i < x->nops; i++)
        json_append(ops, op(&x->ops[i]));
    json_put(o, "matched", ops);
    json_put_number(o, "total", x->total);
    json_put(o, "proof", x->proof.n ? json_text(x->proof) : NULL);
    json_put(o, "gives_way_to", x->winner.n ? json_text(x->winner) : NULL);
    json_put(o, "difference", x->outcome == OUTCOME_NEAR ? difference(x) : NULL);
    for (uint32_t i = 0; i < x->nmore && i < 8; i++)
        json_append(more, json_number(x->more[i]));
    json_put(o, "same_at", more);
    json_put_number(o, "same", x->nmore);
    return o;
}

void explain_print_json(const struct fa_explanation *e, FILE *out) {
    json *document = json_map(), *places = json_list();
    json_put_text(document, "version", str_of(FA_VERSION));
    for (uint32_t i = 0; i < e->n; i++)
        json_append(places, one(&e->items[i]));
    json_put(document, "places", places);
    json_print(document, out);
}
