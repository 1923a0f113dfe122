/* What changed between two compiles: facts, which print_diff.c puts into words. */
#ifndef FA_DIFF_H
#define FA_DIFF_H

#include <stdio.h>

#include "base/writer.h"
#include "report/compare/inventory.h"
#include "report/finding.h"

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
    struct str op, place;          /* place: empty where it has no name */
    struct str now;                /* the fused op that stands there now, where it is another one; or empty */
    struct str how;                /* how it changed; or empty */
    const struct finding *finding; /* new where it was lost, or gone where it was gained: what it costs; or NULL */
};

/* The changes of one fused op: n of those of the diff, from `first` on. */
struct op_changes {
    struct str op;
    uint32_t before, now; /* how many there are */
    uint32_t lost, gained, first, n;
};

enum finding_change { FINDING_NEW, FINDING_CHANGED, FINDING_GONE, FINDING_CHANGES };

struct changed_finding {
    enum finding_change kind;
    const struct finding *finding;
    bool of_op; /* it is new where a fused op was lost, or gone where one was gained: that is listed already */
};

struct diff {
    struct change *changes;
    struct op_changes *ops; /* by name */
    struct changed_finding *findings;
    uint32_t nchanges, changes_cap, nops, ops_cap, nfindings, findings_cap;
    uint32_t lost, gained;                                     /* fused ops; partly lost ones are lost */
    uint32_t counts[FINDING_CHANGES], of_ops[FINDING_CHANGES]; /* of_ops: those of them that are of_op */
    const struct compile_summary *before, *now;
};

/* Texts are in `a` or those of the compiles, findings those of the lists. */
struct diff diff_make(const struct compile_summary *before, const struct compile_summary *now, struct arena *a);
void diff_free(struct diff *d);

/* Prints what changed as text, nothing where nothing did, or as JSON. False: the stream failed. */
bool diff_print(const struct diff *d, bool json, FILE *out);
void diff_write_finding(struct writer *w, const struct changed_finding *x);

#endif
