/* One module at one level of a compile, parsed and made a graph. */
#ifndef FA_LEVEL_H
#define FA_LEVEL_H

#include "graph/graph.h"
#include "log/inputs.h"

/* Does not move: the graph points into it. */
struct level {
    bool present;
    struct source source; /* a view of the file's, with a line count of its own: threads share no state */
    struct mlir ir;
    struct graph graph;
};

/* A level that the compile has no text of stays absent. */
void level_read(struct level *l, const struct level_text *text, struct diags *d);
/* Gives the memory back, that of the file's pages too. */
void level_free(struct level *l);

#endif
