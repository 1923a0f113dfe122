/* One pass over the values of AFTER that results depend on, in textual order: each is merged with the value of BEFORE
 * that the same op of the same values makes, or with the candidate that it is proved to be. */
#ifndef FA_SWEEP_H
#define FA_SWEEP_H

#include "compile/verify/candidates.h"
#include "compile/verify/compare_modules.h"

struct sweep {
    struct module_comparison *m;
    struct dag d;
    struct candidates candidates;
    bool *reached;       /* per node: a result depends on it */
    uint32_t *region_of; /* per value of AFTER: the region that compared it, or NONE */
    uint8_t *mark;       /* per node: 0, or 1 + the answer */
    bool *fits;          /* per value: some other is proved with its representative in its place */
    struct arena arena;
};

/* Merges values, and marks the nodes that results depend on with their answers. The graph is built. */
void sweep_run(struct sweep *s, const struct alignment *align);
void sweep_free(struct sweep *s);

#endif
