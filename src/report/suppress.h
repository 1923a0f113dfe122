/* Places that are never wanted in a model, from a file that says why: a YAML list of mappings with the keys `fused_op`
 * and `location`, globs of which at least one is there, and `reason`. */
#ifndef FA_SUPPRESS_H
#define FA_SUPPRESS_H

#include "base/base.h"

struct suppression {
    struct str fused_op, location; /* globs; empty: any */
    struct str reason;
    uint64_t line;    /* of the file */
    uint32_t nplaces; /* that it suppresses */
};

struct suppressions {
    const char *file;
    struct suppression *items;
    uint32_t n, cap;
};

/* False with a diagnostic. Texts are in `a`; free with suppressions_free. */
bool suppressions_read(struct suppressions *s, const char *path, struct arena *a, struct diags *d);
void suppressions_free(struct suppressions *s);
/* The first that means a place of this fused op that one of the names is said of, counted; or NULL. */
const struct suppression *suppression_of(struct suppressions *s, struct str fused_op, struct str_list names);
/* Says which mean nothing. */
void suppressions_say_unused(const struct suppressions *s, struct diags *d);

#endif
