/* Prints a subgraph as a module of its own, in other extents: one function of its inputs that returns what no op of the
 * subgraph takes. Values are named by number, so that equal subgraphs give equal text.
 *
 * A constant is printed in f64 as the number that was meant before it was rounded to its element type, and cast to that
 * type: 1/768 stored in bf16 becomes 1/768, and 1/12 where the extent 768 becomes 12 (scale_constant.h). */
#ifndef FA_PRINT_MODULE_H
#define FA_PRINT_MODULE_H

#include "reduce/payload.h"
#include "reduce/shrink.h"

struct printed_module {
    struct str text;
    uint32_t *line; /* by op of the subgraph: its number among the ops of the function */
};

struct print_options {
    const struct pattern *pattern; /* its numbers are among those that a constant may mean; or NULL */
    bool scale_constants;          /* a constant that is a function of an extent is that of the new extent */
    /* Constants to print with their elements, of each dimension as many as its new extent; NULL: they are arguments. */
    const struct payloads *payloads;
};

/* Attributes that do not change what an op computes in f64: layouts, devices, program configurations, annotations. */
bool attribute_changes_nothing(struct str key, struct str value);
/* The spelling of an element type; NULL: it cannot be evaluated. */
const char *element_type_text(enum dtype t);
/* The text lives in `a`. False with a reason where a type, attribute or constant has no equivalent in these extents. */
bool subgraph_print(const struct subgraph *s, const struct extents *e, const struct print_options *how, struct arena *a,
                    struct printed_module *out, struct str *why);

#endif
