/* The parser reads files and log blocks: the text stands for both. Diagnostics are dropped, since nobody wrote it. */
#include "parsed_module.h"

bool parsed_module_read(struct parsed_module *p, struct str text, struct arena *a) {
    *p = (struct parsed_module){.diags = {.arena = a}};
    p->source = (struct source){.path = "proof", .data = text.p, .size = text.n};
    p->block = (struct log_block){.text = text, .complete = true};
    mlir_parse(&p->ir, &p->source, &p->block, &p->diags);
    graph_build(&p->graph, &p->ir, &p->diags);
    return p->ir.nfuncs > 0 && p->ir.bad_ops == 0;
}

void parsed_module_free(struct parsed_module *p) {
    graph_free(&p->graph);
    mlir_free(&p->ir);
    diags_free(&p->diags);
}
