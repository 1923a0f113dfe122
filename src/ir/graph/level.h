/* One module at one level of a compile, parsed and made a graph. */
#ifndef FA_LEVEL_H
#define FA_LEVEL_H

#include "input/log/inputs.h"
#include "ir/graph/graph.h"

/* Does not move: the graph points into it. */
struct level {
    bool present;
    const struct source *source;
    struct mlir ir;
    struct graph graph;
};

/* A level that the compile has no text of stays absent. */
void level_read(struct level *l, const struct level_text *text, struct diags *d);
void level_free(struct level *l);

#endif
