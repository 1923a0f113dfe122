/* What changed between two compiles. */
#ifndef FA_DIFF_H
#define FA_DIFF_H

#include <stdio.h>

#include "gate/inventory.h"
#include "report/finding.h"

/* What a compile fused, and what it missed. */
struct compile_summary {
    struct inventory fused;
    const struct finding_list *missed;
    double total_us; /* of all ops, by the model; 0: not known */
};

struct diff_total {
    uint32_t lost, gained; /* fused ops; partly lost ones are lost */
    uint32_t new_findings;
    bool any; /* something is not as it was */
};

/* Prints what changed; nothing where nothing did. */
struct diff_total diff_print(const struct compile_summary *before, const struct compile_summary *now, FILE *out);

#endif
