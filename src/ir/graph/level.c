#include "ir/graph/level.h"

#include <string.h>

void level_read(struct level *l, const struct level_text *text, struct diags *d) {
    memset(l, 0, sizeof *l);
    if (!text->block)
        return;
    l->present = true;
    l->source = text->source;
    mlir_parse(&l->ir, l->source, text->block, d);
    graph_build(&l->graph, &l->ir, d);
}

void level_free(struct level *l) {
    graph_free(&l->graph);
    mlir_free(&l->ir);
    l->present = false;
}
