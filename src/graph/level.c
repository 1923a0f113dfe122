#include "graph/level.h"

#include <string.h>

void level_read(struct level *l, const struct level_text *text, struct diags *d) {
    memset(l, 0, sizeof *l);
    if (!text->block)
        return;
    l->present = true;
    l->source = *text->source;
    l->source.line_cache_offset = text->block->source_offset; /* lines are not counted from the first graph on */
    l->source.line_cache_line = text->block->first_line;
    mlir_parse(&l->ir, &l->source, text->block, d);
    graph_build(&l->graph, &l->ir, d);
}

void level_free(struct level *l) {
    if (!l->present)
        return;
    const struct str text = l->ir.block->text;
    graph_free(&l->graph);
    mlir_free(&l->ir);
    source_release(&l->source, text.p, text.n);
    l->present = false;
}
