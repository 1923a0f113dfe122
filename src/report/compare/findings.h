/* Findings that a report in a file has. */
#ifndef FA_FINDINGS_H
#define FA_FINDINGS_H

#include "base/tree.h"
#include "report/report.h"

/* Of a report in YAML or JSON: findings, times, device, version; an empty file is one without findings. Texts are in
 * `a`. False with a diagnostic. */
bool report_read(const char *path, struct arena *a, struct diags *d, struct report *out);
/* What others save overlaps with what the dialect of TTNN has. */
static inline bool finding_is_of_dialect(const struct finding *f) {
    return str_is(f->source, "ttnn") && !f->lacks.n;
}

#endif
