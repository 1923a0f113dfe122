/* From files to compiles: which text is the TTIR and which the TTNN of each graph. Nothing is parsed
 * until a graph's turn comes. */
#ifndef FA_INPUTS_H
#define FA_INPUTS_H

#include "fusion_audit.h"
#include "graph/graph.h"
#include "log/log.h"
#include "mlir/mlir.h"
#include "source/source.h"

/* Where one level of a graph is written. */
struct level_text {
    const struct log_block *block; /* NULL: the graph has no such level */
    struct source *source;
};

/* One graph as it was compiled. */
struct compile {
    uint32_t number; /* 1-based */
    struct level_text ttir, ttnn;
};

struct input_file {
    struct source source;
    struct log_scan scan;
    bool opened;
};

struct inputs {
    struct input_file *files;
    size_t nfiles;
    struct compile *compiles;
    uint32_t ncompiles, cap;
    uint32_t *compile_at; /* per number of a graph: its place in compiles, 1-based; 0: none. While blocks are taken */
    const char *ttir_path, *ttnn_path; /* of the files that the levels come from, or NULL */
    bool skipped;                      /* something that was asked for is not audited */
};

/* Is some file so long that other threads can help to scan it? */
bool inputs_are_long(const struct fa_options *o);
/* Opens and scans all files, with the threads that wait at the board (NULL: there are none). FA_CLEAN when there is
 * something to audit, else FA_USAGE or FA_INPUT with diagnostics. */
struct work_board;
enum fa_status inputs_read(struct inputs *in, const struct fa_options *o, struct work_board *board, struct arena *a,
                           struct diags *d);
void inputs_free(struct inputs *in);

/* One module at one level, read and made a graph. Does not move: the graph points into it. */
struct level {
    bool present;
    struct source source; /* a view of the file's, with a line count of its own: threads share no state */
    struct mlir ir;
    struct graph graph;
};

/* A level that is not written stays absent. */
void level_read(struct level *l, const struct level_text *text, uint32_t jobs, struct diags *d);
/* Its text was gone through: its pages may go, as in source_release. Nothing where the level is absent. */
void level_release(const struct level *l);
/* Gives the memory back, that of the file's pages too. */
void level_free(struct level *l, const struct level_text *text, uint32_t jobs);

#endif
