/* What the two halves of the scan share: blocks with what their headers said. Private to the room. */
#ifndef FA_LOG_SCAN_H
#define FA_LOG_SCAN_H

#include "log/lines.h"

struct found {
    struct log_block block;
    struct header header;
    struct str module; /* symbol name of the outermost named module, or empty */
};

struct found_list {
    struct found *v;
    uint32_t n, cap;
};

/* dialects.c: has_ttir, has_ttnn and the module's name, from the block's text. */
void block_dialects(struct found *f);
/* graphs.c: graph and chosen of all blocks; returns the number of graphs. */
uint32_t block_graphs(struct found_list *list);

#endif
