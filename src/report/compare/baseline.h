/* Known findings: a file of those that are no news (fusion-audit(1), --baseline). */
#ifndef FA_BASELINE_H
#define FA_BASELINE_H

#include "fusion_audit.h"
#include "report/compare/compare.h"
#include "report/report.h"

struct known {
    struct fingerprint fingerprint;
    struct str fused_op, place, reason, until; /* "2027-01-31"; or empty */
    uint64_t line;
    uint32_t column;
    bool applies; /* to a finding */
};

struct baseline {
    const char *path;
    struct known *items; /* freed by baseline_free; texts in the arena */
    uint32_t n, cap;
    struct finding_list findings; /* these as findings that nothing else is told of, to be compared */
};

/* False with diagnostics: a file that is wrong is not used at all. */
bool baseline_read(struct baseline *b, const char *path, struct arena *a, struct diags *d);
/* Marks the findings that it has. Returns how many are new. */
uint32_t baseline_apply(struct baseline *b, struct finding_list *l);
/* Warns of entries that have expired before `today` ("2026-11-22") and, if `all` was read, of those that apply to none
 * although what they are of was looked for. Returns how many. */
uint32_t baseline_tell(const struct baseline *b, const char *today, bool all, const struct pattern_set *set,
                       const struct fa_patterns *o, struct diags *d);
/* The findings as a baseline; reasons and dates are those of `before` (or NULL), where it has them. False with the
 * errno of the stream. */
bool baseline_print(const struct finding_list *l, const struct baseline *before, FILE *out);
void baseline_free(struct baseline *b);

#endif
