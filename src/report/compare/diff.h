/* What changed between two compiles: facts, which print_diff.c puts into words. */
#ifndef FA_DIFF_H
#define FA_DIFF_H

#include <stdio.h>

#include "report/compare/compare.h"
#include "report/compare/inventory.h"

/* What a compile fused, and what it missed. */
struct compile_summary {
    const char *files[2]; /* that it was read from; NULL: there is none */
    struct inventory fused;
    const struct finding_list *missed;
    double total_us, saved_us; /* of all ops, by the model, and what of it can be saved; 0: not known */
};

enum change_kind { OP_LOST, OP_PARTLY_LOST, OP_GAINED, OP_CHANGED };

/* A fused op at one place. */
struct change {
    enum change_kind kind;
    struct str op, place; /* place: empty where it has no name */
    struct str now;       /* the fused op that stands there now, where it is another one; or empty */
    struct str how;       /* how it changed; or empty */
};

/* The changes of one fused op: n of those of the diff, from `first` on. */
struct op_changes {
    struct str op;
    uint32_t before, now; /* how many there are */
    uint32_t first, n;
};

struct diff {
    struct change *changes;
    struct op_changes *ops; /* by name */
    uint32_t nchanges, changes_cap, nops, ops_cap;
    uint32_t lost; /* fused ops, in whole or in part */
    struct findings_compared findings;
    const struct compile_summary *before, *now;
};

/* Texts are in `a` or those of the compiles, findings those of the lists. */
struct diff diff_make(const struct compile_summary *before, const struct compile_summary *now, struct arena *a);
void diff_free(struct diff *d);

/* Prints what changed as text, nothing where nothing did, or as JSON. False: the stream failed. */
bool diff_print(const struct diff *d, bool json, FILE *out);

#endif
