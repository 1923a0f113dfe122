/* The input files of an audit as a list of compiles: for each graph the text of its TTIR and of its TTNN. Nothing is
 * parsed here. */
#ifndef FA_INPUTS_H
#define FA_INPUTS_H

#include "fusion_audit.h"
#include "input/log/log.h"
#include "input/unpack/source.h"

/* The text of one level of a graph. */
struct level_text {
    const struct log_block *block; /* NULL: the graph has no such level */
    const struct source *source;
};

/* One graph as it was compiled. */
struct compile {
    uint32_t number; /* 1-based, among all graphs of the input */
    struct level_text ttir, ttnn;
};

/* A file, or one of an archive, with TTIR or TTNN in it. */
struct input_file {
    struct source source;
    struct log_scan scan;
    const struct input_kind *kind; /* of a file without TTIR and TTNN: what it is; NULL: not known */
};

struct inputs {
    struct input_file *files;
    size_t nfiles;
    struct compile *compiles;
    uint32_t ncompiles, cap;
    uint32_t ngraphs;                  /* of the input, with those that have no such level */
    uint32_t *compile_at;              /* by graph number: 1 + index into compiles; 0: none */
    const char *ttir_path, *ttnn_path; /* files that the levels come from; NULL: no such level */
    bool several;                      /* they are of more than one compile: see report/compare/pairs.c */
    bool failed;                       /* a compile failed: it is not audited */
    bool partial;                      /* some graph lacks a level: it is not audited, others are */
};

/* Opens and scans all files. FA_CLEAN when there is something to audit, else FA_USAGE or FA_INPUT with diagnostics. */
enum fa_status inputs_read(struct inputs *in, const struct fa_inputs *o, struct arena *a, struct diags *d);
void inputs_free(struct inputs *in);
/* Says what a file without TTIR and TTNN is, and what makes these of it; false where it is nothing that is known. */
bool inputs_say_other(const struct source *s, const struct log_scan *scan, struct diags *d);

#endif
