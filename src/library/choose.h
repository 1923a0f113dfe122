/* The patterns that a run works with: bundled ones, those of the user, and which of them are wanted. */
#ifndef FA_CHOOSE_H
#define FA_CHOOSE_H

#include "fusion_audit.h"
#include "library/pattern.h"

/* Reads the bundled patterns and those of the options. False with diagnostics. */
bool library_load(struct pattern_set *set, const struct fa_options *o, struct diags *d);
/* Applies --only, --skip and --include, and checks --source. False with a diagnostic. */
bool library_select(struct pattern_set *set, const struct fa_options *o, struct diags *d);
/* What --source says of a pattern's source. */
bool source_wanted(const struct fa_options *o, struct str source);

#endif
