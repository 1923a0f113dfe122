/* Which new findings make an audit or a comparison fail: by what they cost. */
#ifndef FA_FAILS_H
#define FA_FAILS_H

#include "report/finding.h"

struct gate {
    const char *fail_on; /* sources, as --source has them; NULL: what the compiler could make today */
    double least_us;     /* that the new places of a fused op save together; below 0: whatever they save */
};

/* Marks those of the new findings, which no baseline knows, that fail. Returns how many. */
uint32_t findings_fail(struct finding *const *items, uint32_t n, const struct gate *g);

#endif
