/* From files to compiles: which text is the TTIR and which the TTNN of each graph. Nothing is parsed
 * until a graph's turn comes. */
#ifndef FA_INPUTS_H
#define FA_INPUTS_H

#include "fusion_audit.h"
#include "log/log.h"
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

/* Opens and scans all files. FA_CLEAN when there is something to audit, else FA_USAGE or FA_INPUT with diagnostics. */
enum fa_status inputs_read(struct inputs *in, const struct fa_options *o, struct arena *a, struct diags *d);
void inputs_free(struct inputs *in);

#endif
