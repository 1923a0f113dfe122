/* An explanation as one document, which is JSON for programs (every key is described in fusion-audit(1)) or text. */
#include "base/writer.h"
#include "report/explain/explain.h"

enum { MOST_MORE = 8 };

static void put_text(struct writer *w, const char *key, struct str text) {
    write_pair(w, key, text, TEXT_QUOTED);
}

static void put_op(struct writer *w, const struct explained_op *x) {
    write_map(w);
    put_text(w, "op", x->name);
    put_text(w, "result", x->result);
    write_pair_number(w, "line", x->line);
    write_close(w);
}

static void put_difference(struct writer *w, const struct explained *x) {
    write_key(w, STR("difference"));
    if (x->outcome != OUTCOME_NEAR) {
        write_null(w);
        return;
    }
    write_map(w);
    put_text(w, "kind", str_of(x->kind));
    put_text(w, "part", x->part);
    put_text(w, "reason", x->reason);
    write_pair_or_null(w, "hint", str_of(x->hint), TEXT_QUOTED);
    write_key(w, STR("compiler_accepts"));
    if (x->compiler)
        write_text(w, x->compiler->accepts, TEXT_QUOTED);
    else
        write_null(w);
    write_pair_number(w, "others", x->others);
    write_key(w, STR("at"));
    if (x->differs.line)
        put_op(w, &x->differs);
    else
        write_null(w);
    write_close(w);
}

const char *const outcome_words[] = {"matched", "refuted", "gives way", "slower", "near"};

static void put_place(struct writer *w, const struct explained *x) {
    write_map(w);
    put_text(w, "outcome", str_of(outcome_words[x->outcome]));
    put_text(w, "file", str_of(x->file));
    write_pair_number(w, "graph", x->graph);
    write_key(w, STR("root"));
    put_op(w, &x->root);
    put_text(w, "pattern", x->pattern);
    put_text(w, "fused_op", x->fused_op);
    write_pair_or_null(w, "source", x->source, TEXT_QUOTED);
    write_list_at(w, "matched");
    for (uint32_t i = 0; i < x->nops; i++)
        put_op(w, &x->ops[i]);
    write_close(w);
    write_pair_number(w, "total", x->total);
    if (w->markup == MARKUP_TEXT) {
        write_pair_bool(w, "both", x->nops == 2 && x->total == 2);
        write_pair_bool(w, "left_out", x->outcome == OUTCOME_SLOWER);
    }
    write_pair_or_null(w, "proof", x->proof, TEXT_QUOTED);
    write_pair_or_null(w, "gives_way_to", x->winner, TEXT_QUOTED);
    write_pair_or_null(w, "price", x->price, TEXT_QUOTED);
    put_difference(w, x);
    write_list_at(w, "same_at");
    for (uint32_t i = 0; i < x->nmore && i < MOST_MORE; i++)
        write_number(w, x->more[i]);
    write_close(w);
    write_pair_number(w, "same", x->nmore);
    write_close(w);
}

static const struct template explanation_text[] = {
    {.text = "{became?{became}\n\n|}{places?|nothing {at?|{reported?else |}}comes close{at? at {at}|}\n}"},
    {.of = "places",
     .apart = true,
     .text = "{file}:{root.line}: {^several_graphs?graph {graph}: |}{root.op} {root.result}: {outcome}: {pattern} -> "
             "{fused_op}{difference?, {both?both|{matched} of {total}} ops match|}{gives_way_to?, to {gives_way_to}|}\n"
             "{matched?  matched  {matched*{op} {line}}\n|}"
             "{source?  source   {source}\n|}"
             "{difference?{difference.part?  {difference.kind:label}{difference.part}\n|}"
             "  because  {difference.reason}\n"
             "{difference.others?  besides  {difference.others more condition} not met\n|}"
             "{difference.hint?  hint     {difference.hint}\n|}"
             "{difference.compiler_accepts?  compiler accepts {difference.compiler_accepts}\n|}|}"
             "{proof?  proof    {proof}\n|}"
             "{price?  price    {price}{left_out?: --include=slower reports it|}\n|}"
             "{same?  same at  {same more place}: line {same_at*{}}\n|}"},
    {.text = NULL},
};

void explain_print(const struct fa_explanation *e, bool json, FILE *out) {
    struct writer w;
    if (json)
        write_document(&w, MARKUP_JSON, out);
    else
        write_as_text(&w, explanation_text, out);
    write_pair_or_null(&w, "at", str_of(e->at), TEXT_QUOTED);
    write_pair_or_null(&w, "became", e->became, TEXT_QUOTED);
    write_pair_bool(&w, "several_graphs", e->inputs.ncompiles > 1);
    write_pair_bool(&w, "reported", e->reported);
    write_list_at(&w, "places");
    for (uint32_t i = 0; i < e->n; i++)
        put_place(&w, &e->items[i]);
    write_close(&w);
    write_close(&w);
    write_end(&w);
}
