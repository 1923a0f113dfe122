/* What the files of the scan share: blocks with what their headers and lines said. Private to the room. */
#ifndef FA_LOG_SCAN_H
#define FA_LOG_SCAN_H

#include "log/lines.h"

/* The dialects of a block, told line by line. */
struct dialects {
    bool ttir, ttnn;
    bool device_ttir; /* in a function that runs on the device, more than once */
    bool in_cpu, aside;
    struct str module; /* symbol name of the outermost named module, or empty; arena */
};

struct found {
    struct log_block block;
    struct header header;
    struct str key; /* of the process that wrote it */
    struct str module;
    struct keep_list text; /* where the text is in the source, when it is not one piece */
};

struct found_list {
    struct found *v;
    uint32_t n, cap;
};

/* dialects.c: `in` is a line without the blanks at its front. */
void dialects_line(struct dialects *d, struct arena *a, struct str in);
void dialects_op(struct dialects *d, struct str in); /* the same, for a line that starts with '%' or '"' */
/* graphs.c: graph and chosen of all blocks; returns the number of graphs. */
uint32_t block_graphs(const struct source *s, struct found_list *list);
/* copies.c: takes out the graphs that say what an earlier one has said. ttir and ttnn are by graph
 * number, from 1 to n: the index of the chosen block, or NONE. */
void block_copies(const struct source *s, struct found_list *list, const uint32_t *ttir, const uint32_t *ttnn,
                  uint32_t n);
/* log.c: the text of a block, in `b` unless it is a view. */
struct str found_text(const struct source *s, const struct found *f, struct buf *b);

#endif
