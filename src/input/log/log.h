/* Finds the modules in a file as blocks of text: an .mlir file is one block or several, a log has blocks between its
 * lines. Nothing is parsed.
 *
 * The text of a block is a view of the source where it is one stretch of it. Where prefixes or foreign lines were taken
 * out, log_text puts it together on demand, so that a long log is never copied as a whole. log_place maps offsets in
 * the text back to the source in both cases.
 *
 * Lines of several processes in one log are told apart by their prefixes: each process has blocks of its own, and its
 * TTNN modules belong to its own TTIR modules. */
#ifndef FA_LOG_H
#define FA_LOG_H

#include "base/base.h"
#include "input/unpack/source.h"

enum log_stage {
    LOG_PLAIN,        /* no header: the level is decided by its dialects */
    LOG_TTIR,         /* "MLIR Module ttir:", "TTIR module ..." */
    LOG_TTNN,         /* "MLIR Module ttnn:", "TTNN module ..." */
    LOG_TTNN_RUNTIME, /* the TTNN module after rewrites of the runtime */
    LOG_PASS_BEFORE,  /* "// -----// IR Dump Before X" */
    LOG_PASS_AFTER,
    LOG_OTHER /* VHLO, StableHLO, anything else with a header */
};

/* A stretch of the text of a block that is contiguous in the source; it ends where the next one begins. */
struct log_piece {
    uint32_t text_offset;
    size_t source_offset;
};

struct log_block {
    enum log_stage stage;
    struct str label;               /* what the header calls it ("ttir", "TTIRFusing"), or empty */
    struct str module;              /* symbol name of the outermost named module, or empty; arena */
    struct str text;                /* modules and alias definitions, less than 4 GiB; p is NULL where the text is
                                     * no view of the source (its size is known): use log_text */
    size_t source_offset;           /* of its first line; aliases of other blocks may stand before it in text */
    const struct log_piece *pieces; /* of blocks whose text is no view; else NULL */
    uint32_t npieces;
    uint64_t first_line, last_line; /* in the source, 1-based, both inclusive */
    uint32_t dropped_lines;         /* lines of others that were taken out of it */
    uint64_t error_line;            /* of the first error that the compiler reported behind it; 0: none */
    bool failed;                    /* it ends a compile that failed: no TTNN of this compile is chosen */
    bool complete;                  /* brackets balance */
    bool has_ttir, has_ttnn;        /* it has ops of the dialect; beside TTNN ops only TTIR ops for the device count */
    bool has_ops;                   /* there is a func or module body at all */
    uint32_t graph;                 /* 1-based number of the compile it belongs to */
    bool chosen;                    /* one of the blocks to audit: TTIR before fusion or the final TTNN */
    /* A module that is compiled again (cache miss, warm-up, once for each rank) is audited once: of graphs whose chosen
     * blocks differ in locations, "#loc" lines and blanks at most, the first one stays chosen. */
    uint32_t copies; /* chosen blocks: how often the graph is in the file, 1 and more */
    uint64_t hash;   /* of the text without these; 0 when no other graph has a module of this name */
};

struct log_scan {
    struct log_block *blocks; /* in source order; arena */
    uint32_t nblocks;
    uint32_t ngraphs;
    bool is_log;           /* has log lines or headers, not just IR */
    uint32_t bare_headers; /* headers that name a module but have no IR after them */
    bool executed_only;    /* no block, but lines of the runtime ("Executing operation: ...") */
};

/* Scans a source in linear time. Blocks live in the arena; texts are views of the source. A file without IR has no
 * blocks; there are no errors. */
void log_scan(const struct source *s, struct arena *a, struct log_scan *out);

/* The level of a block. TTIR ops in a TTNN module run on the host, or once. */
static inline bool log_is_ttnn(const struct log_block *b) {
    return b->has_ttnn;
}
static inline bool log_is_ttir(const struct log_block *b) {
    return b->has_ttir && !b->has_ttnn;
}

/* For modules of two files, which a compile has written into one file for each level: of each chosen block of TTNN in
 * `ttnn` the block of `ttir` that is the TTIR of it, or NONE. Where there is one of each these are it; else a name of a
 * module that each file has once tells. Arena. */
uint32_t *log_partners(const struct log_scan *ttir, const struct log_scan *ttnn, struct arena *a);

/* The text of a block: a view of the source, or a copy in *b, which the caller frees. */
struct str log_text(const struct source *s, const struct log_block *block, struct buf *b);

/* An offset in the text of the block as one in the source, and as line and column there. */
size_t log_offset(const struct log_block *block, size_t text_offset);
struct source_location log_place(const struct source *s, const struct log_block *block, size_t text_offset);

/* An error for each compile that failed. True when there is one. */
bool log_say_failures(const struct log_scan *scan, const char *path, struct diags *d);

/* "ttir", "ttnn", "before pass": for output. */
const char *log_stage_name(enum log_stage stage);

#endif
