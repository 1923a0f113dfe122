/* Known findings: a file of those that are no news (fusion-audit(1), --baseline). */
#ifndef FA_BASELINE_H
#define FA_BASELINE_H

#include "base/tree.h"
#include "fusion_audit.h"
#include "report/report.h"

/* A finding by its fingerprint; without one a rule: all at places that the globs mean. */
struct known {
    struct fingerprint fingerprint;
    struct str fused_op, place, reason, until; /* until: "2027-01-31"; or empty */
    struct str location;                       /* of a rule, as fused_op a glob; empty: any */
    double saved_us;                           /* when the file was written; -INFINITY: not said */
    uint64_t line;
    uint32_t column;
    bool applies; /* to a finding */
};

struct known_list {
    struct known *items;
    uint32_t n, cap;
};

struct baseline {
    const char *path;
    double total_us; /* of all ops when it was written; 0: not said */
    struct known_list rules, places;
    struct finding_list findings; /* the places as findings, to be compared */
    const struct tree *list;      /* that it was read from; texts are in the arena */
};

/* False with diagnostics: a file that is wrong is not used at all. */
bool baseline_read(struct baseline *b, const char *path, struct arena *a, struct diags *d);
/* Marks the findings of the report that it has, and adds to it those that are gone. */
void baseline_apply(struct baseline *b, struct report *r);
/* Warns of entries that have expired before `today` ("2026-11-22") and, if `all` was read, of those that apply to none
 * although what they are of was looked for. Returns how many. */
uint32_t baseline_tell(const struct baseline *b, const char *today, bool all, const struct pattern_set *set,
                       const struct fa_patterns *o, struct diags *d);
/* The findings as a baseline, with the rules of `before`; reasons and dates are those that it has. False with the errno
 * of the stream. */
bool baseline_print(const struct report *r, const struct baseline *before, FILE *out);
void baseline_free(struct baseline *b);

#endif
