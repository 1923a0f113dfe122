/* From files to compiles: which text is the TTIR and which the TTNN of each graph. */
#ifndef FA_INPUTS_H
#define FA_INPUTS_H

#include "fusion_audit.h"
#include "graph/graph.h"
#include "log/log.h"
#include "mlir/mlir.h"
#include "source/source.h"

/* One module at one level, read and made a graph. */
struct level {
    bool present;
    const struct log_block *block;
    struct source *source;
    struct mlir ir;
    struct graph graph;
};

/* One graph as it was compiled. */
struct compile {
    uint32_t number; /* 1-based */
    struct level ttir, ttnn;
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
    const char *ttir_path, *ttnn_path; /* of the files that the levels come from, or NULL */
    bool skipped;                      /* something that was asked for was not audited */
};

/* Opens, scans and parses all files. FA_CLEAN when there is something to audit, else FA_USAGE or FA_INPUT with
 * diagnostics. */
enum fa_status inputs_read(struct inputs *in, const struct fa_options *o, struct arena *a, struct diags *d);
void inputs_free(struct inputs *in);

#endif
