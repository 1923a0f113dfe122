/* Findings that a report in a file has. */
#ifndef FA_FINDINGS_H
#define FA_FINDINGS_H

#include "base/tree.h"
#include "report/finding.h"

/* What a report in a file says. */
struct report_read {
    struct finding_list findings;
    double total_us, saved_us; /* of all ops, 0: not known; what can be saved of it, in YAML the sum of what findings of
                                  the dialect save */
};

/* Of a report in YAML or JSON; an empty file is one without findings. Texts are in `a`. False with a diagnostic. */
bool findings_read(const char *path, struct arena *a, struct diags *d, struct report_read *out);
/* What others save overlaps with what the dialect of TTNN has. */
static inline bool finding_is_of_dialect(const struct finding *f) {
    return str_is(f->source, "ttnn") && !f->lacks.n;
}

#endif
