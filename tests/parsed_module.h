/* The text of one function as a module with its graph. */
#ifndef FA_PARSED_MODULE_H
#define FA_PARSED_MODULE_H

#include "ir/graph/graph.h"

struct parsed_module {
    struct source source;
    struct log_block block;
    struct mlir ir;
    struct graph graph;
    struct diags diags;
};

/* `text` and `a` have to outlive it. False where the text is not functions of well-formed ops. Free it in
 * either case. */
bool parsed_module_read(struct parsed_module *p, struct str text, struct arena *a);
void parsed_module_free(struct parsed_module *p);

#endif
