/* Finds the blocks of IR in a file: a plain .mlir file is one block or several, a log has blocks
 * between log lines. Nothing is parsed here; a block is handed on as text.
 *
 * The text of a block is a view of the source when its lines carry no prefix and nothing was
 * removed; else log_text puts it together from pieces of the source when it is wanted, so that a long
 * log is never copied as a whole. Either way log_place maps back to the source.
 *
 * Lines of several processes in one stream are told apart by their prefixes: each process has blocks
 * of its own and its TTNN belongs to its own TTIR. */
#ifndef FA_LOG_H
#define FA_LOG_H

#include "base/base.h"
#include "source/source.h"

enum log_stage {
    LOG_PLAIN,        /* IR without a header that names its stage: decided by its dialects */
    LOG_TTIR,         /* "MLIR Module ttir:", "TTIR module ..." */
    LOG_TTNN,         /* "MLIR Module ttnn:", "TTNN module ..." */
    LOG_TTNN_RUNTIME, /* the same graph after runtime-only rewrites: never a second TTNN */
    LOG_PASS_BEFORE,  /* "// -----// IR Dump Before X" */
    LOG_PASS_AFTER,
    LOG_OTHER /* vhlo, shlo, anything else with a header */
};

/* One stretch of text that maps linearly to the source. */
struct log_piece {
    uint32_t text_offset;
    size_t source_offset;
};

struct log_block {
    enum log_stage stage;
    struct str label;               /* what the header calls it ("ttir", "TTIRFusing"), or empty */
    struct str text;                /* the IR: module(s) and alias definitions, at most 4 GiB - 1; text.p is NULL
                                     * when it has to be cleaned: ask log_text */
    size_t source_offset;           /* of the first byte of text */
    const struct log_piece *pieces; /* of chosen blocks whose text is not a view of the source */
    uint32_t npieces;
    uint64_t first_line, last_line; /* in the source, 1-based, both inclusive */
    uint32_t dropped_lines;         /* foreign lines removed from inside */
    uint32_t joined_lines;          /* split lines put together again */
    bool complete;                  /* brackets balance */
    bool has_ttir, has_ttnn;        /* an op of the dialect is written somewhere in the block */
    bool has_ops;                   /* there is a func or module body at all */
    uint32_t graph;                 /* 1-based number of the compile it belongs to */
    bool chosen;                    /* one of the blocks to audit: TTIR before fusion or the final TTNN */
    /* A module that is compiled again (cache miss, warm-up, once for each rank) is audited once. Two
     * graphs are the same when their chosen blocks say the same without locations, "#loc" lines and
     * blanks at the ends of lines: the later one is no longer chosen and names the earlier one. */
    uint32_t duplicate_of; /* number of that graph, or 0 */
    uint32_t copies;       /* chosen blocks: how often the graph is in the file, 1 and more */
    uint64_t hash;         /* of the text so reduced; 0 when no other graph has a module of this name */
};

struct log_scan {
    struct log_block *blocks; /* in source order; arena */
    uint32_t nblocks;
    uint32_t ngraphs;
    bool is_log;           /* has log lines or headers, not just IR */
    uint32_t bare_headers; /* headers that name a module but have no IR after them */
    bool executed_only;    /* no block, but "Executing operation" lines of the runtime */
};

/* Scans `s`; sets graph and chosen of each block. Never fails; a file without IR has no blocks. */
void log_scan(struct source *s, struct arena *a, struct log_scan *out);

/* The text of a block: the view of the source, or a cleaned copy in *b (which the caller frees). Empty for
 * a block that needs cleaning and is not chosen. */
struct str log_text(const struct source *s, const struct log_block *block, struct buf *b);

/* Place in the source of an offset in block->text. */
struct place log_place(struct source *s, const struct log_block *block, size_t text_offset);

/* "ttir", "ttnn", "pass", ...: for people. */
const char *log_stage_name(enum log_stage stage);

#endif
