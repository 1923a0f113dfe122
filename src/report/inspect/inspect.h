/* The counts of the `inspect` command, collected once and then printed as a table or as JSON.
 *
 * Names are copied into the arena, so that each module can be freed as soon as it has been counted and paired. Blocks
 * and paths are views of files that stay open until the end. */
#ifndef FA_INSPECT_H
#define FA_INSPECT_H

#include <stdio.h>

#include "device/chips/chip.h"
#include "device/chips/grid.h"
#include "device/chips/layout.h"
#include "fusion_audit.h"
#include "input/log/log.h"
#include "report/place/version.h"

enum { FUNC_KINDS = FUNC_DECLARATION + 1 };

struct op_count {
    struct str name;   /* as printed: "ttnn.add" */
    enum op_kind kind; /* NO_OPERATOR: not in the operator table */
    uint32_t n;
};

struct func_facts {
    struct str name; /* empty for what stands outside of functions */
    enum func_kind kind;
    bool complete;
    uint32_t nargs, nops, nvalues, nedges;
    struct op_count *counts; /* most first, then by name */
    uint32_t ncounts;
};

/* Values of one layout but for the sizes of their tensors. */
struct layout_count {
    struct layout layout; /* of one of them */
    uint32_t n;
    int64_t bytes; /* of all, padding included */
};

struct device_facts {
    bool known; /* the module states its device */
    struct device device;
    struct worker_grid grid;      /* rank 0: not printed */
    struct layout_count *layouts; /* most first */
    uint32_t nlayouts, layouts_cap;
    uint32_t unread;       /* encodings that are no layout that is understood */
    uint32_t inconsistent; /* values whose shard is not what follows from shape, grid and tile */
};

struct module_facts {
    struct device_facts device;
    bool is_ttnn;
    struct version version;
    struct func_facts *funcs; /* in textual order */
    uint32_t nfuncs;
    struct func_facts outside; /* ops outside of functions: modules, the func ops themselves, ops of a fragment */
    uint32_t nops, nvalues, nedges, ndestinations;
    uint32_t bad_ops, custom_ops, undefined_values;
    struct op_count *unknown; /* ops that no entry of the operator table covers */
    uint32_t nunknown;
    struct str *unresolved;                /* aliases used and never defined, each once */
    uint32_t nunresolved, unresolved_uses; /* names, occurrences */
};

struct file_facts {
    struct source source; /* without data: it could not be read */
    struct log_scan scan;
    struct module_facts **modules; /* per block; NULL: not chosen */
};

struct pair_facts {
    uint32_t graph;
    const char *ttir_path, *ttnn_path;
    uint32_t by_location, by_dataflow, unpaired;
};

struct inspection {
    struct arena arena;
    struct chips chips;
    struct pattern_set facts; /* without patterns */
    struct diags diags;
    struct file_facts *files;
    size_t nfiles;
    struct pair_facts *pairs;
    uint32_t npairs, pairs_cap;
    enum fa_status status;
};

/* Counts one module. Everything in the result is in the arena. */
struct module_facts *inspect_module(const struct graph *g, bool is_ttnn, const struct chips *chips,
                                    const struct compiler_facts *facts, struct arena *a);
struct device_facts inspect_device(const struct graph *g, const struct chips *chips, struct arena *a);
const char *inspect_func_kind(enum func_kind kind); /* "const-eval" */
/* Makes counts of one name one, and sorts them. Returns how many there are. */
uint32_t inspect_merge(struct op_count *counts, uint32_t n);

void inspect_print(const struct inspection *in, bool json, FILE *out);

#endif
