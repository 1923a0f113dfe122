/* Blocks while a log is scanned, with what is needed to group them into graphs. Private to the folder. */
#ifndef FA_LOG_SCAN_H
#define FA_LOG_SCAN_H

#include "input/log/line_reader.h"

/* The dialects of a block; filled in line by line. */
struct dialects {
    bool ttir, ttnn;
    bool device_ttir;                  /* TTIR ops in a function that runs on the device at each call */
    bool cpu;                          /* functions of the CPU, bodies or declarations */
    bool in_cpu_module, host_function; /* host: runs on the CPU, or once before the first call */
    struct str module;                 /* symbol name of the outermost named module, or empty; arena */
};

struct found_block {
    struct log_block block;
    struct header header;
    uint64_t process;       /* that wrote it: of struct line */
    bool cpu_only;          /* the pipeline of what was hoisted to the CPU prints its module alone */
    struct range_list text; /* where the text is in the source; empty for a view */
};

struct found_list {
    struct found_block *v;
    uint32_t n, cap;
};

/* dialects.c: takes a line of a block, without its indentation, into account. */
void dialects_line(struct dialects *d, struct arena *a, struct str in);
/* graphs.c: sets graph, chosen and copies of all blocks; returns the number of graphs. */
uint32_t block_graphs(const struct source *s, struct found_list *list);
/* copies.c: of equal graphs all but the first are no longer chosen. ttir and ttnn hold for each graph number, 1 to n,
 * the index of its chosen block, or NONE. */
void block_copies(const struct source *s, struct found_list *list, const uint32_t *ttir, const uint32_t *ttnn,
                  uint32_t n);
/* block.c: the text of a block: a view, or a copy in `b`. */
struct str found_text(const struct source *s, const struct found_block *f, struct buf *b);

#endif
