/* The layers of a model, by the names of the weights that its ops use. */
#ifndef FA_LAYERS_H
#define FA_LAYERS_H

#include "ir/graph/graph.h"
#include "patterns/library/pattern.h"
#include "report/place/names.h"

struct layers {
    struct str *names; /* "layer 3", each once, as the ops come; the first is empty: of no layer */
    uint32_t *of_op;   /* index of `names` */
    uint32_t n, cap;
};

/* An op without weights belongs to the layer of one that has some right before it, as movement, the addition of a
 * residual and an activation do; else of the next one, or of the last one where none follows: what is written out before a weight is used, such as a
 * norm, goes with that weight. */
struct layers layers_new(const struct pattern_set *set, const struct graph *g, struct known_names *known,
                         struct arena *a);
void layers_free(struct layers *l);

#endif
