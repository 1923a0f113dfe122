/* What changed between two compiles: facts, which print_diff.c puts into words. */
#ifndef FA_DIFF_H
#define FA_DIFF_H

#include <stdio.h>

#include "base/writer.h"
#include "gate/inventory.h"
#include "report/finding.h"

/* What a compile fused, and what it missed. */
struct compile_summary {
    struct inventory fused;
    const struct finding_list *missed;
    double total_us; /* of all ops, by the model; 0: not known */
};

enum change_kind { OP_LOST, OP_PARTLY_LOST, OP_GAINED, OP_CHANGED };

/* A fused op at one place. */
struct change {
    enum change_kind kind;
    struct str op, place; /* place: empty where it has no name */
    struct str now;       /* the fused op that stands there now, where it is another one; or empty */
    struct str how;       /* how it changed; or empty */
    double us;            /* what it costs or saves; 0: not known */
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
};

struct diff {
    struct change *changes;
    struct op_changes *ops; /* by name */
    struct changed_finding *findings;
    uint32_t nchanges, changes_cap, nops, ops_cap, nfindings, findings_cap;
    uint32_t lost, gained; /* fused ops; partly lost ones are lost */
    uint32_t counts[FINDING_CHANGES];
    struct {
        uint32_t findings;
        double us; /* of all ops; 0: not known */
    } before, now;
};

/* Texts are in `a` or those of the compiles, findings those of the lists. */
struct diff diff_make(const struct compile_summary *before, const struct compile_summary *now, struct arena *a);
void diff_free(struct diff *d);

/* Prints what changed as text, nothing where nothing did, or as a document. False: the stream failed. */
bool diff_print(const struct diff *d, FILE *out);
bool diff_print_json(const struct diff *d, FILE *out);

#endif
