/* What an audit finds, place by place, for the commands that write something for each. */
#ifndef FA_CLI_PLACES_H
#define FA_CLI_PLACES_H

#include "cli/options.h"

typedef void each_finding(struct args *args, const struct fa_finding *f, FILE *out);

/* Audits, and hands over each different finding with its modules, until there is an error. */
enum fa_status each_place(struct args *args, each_finding *each, FILE *out);

/* The patterns of a pattern or fused op by this name, of these sources or NULL, read once for places that follow one
 * another: the sources of one `kept` stay the same. */
struct place_patterns {
    struct fa_library *library; /* to be freed with fa_library_free */
    const char *of;
};
struct fa_patterns patterns_of_place(struct args *args, struct place_patterns *kept, const char *only,
                                     const char *sources);
/* What the fused op is written with; its inputs are those of the caller. */
struct fa_apply_options writing_options(const struct args *args, struct fa_patterns patterns);

#endif
