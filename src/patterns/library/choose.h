/* The patterns of a run: bundled ones and those of the user, as the options select them. */
#ifndef FA_CHOOSE_H
#define FA_CHOOSE_H

#include "fusion_audit.h"
#include "patterns/library/pattern.h"

/* Reads the bundled patterns and those of the options. False with diagnostics. */
bool library_load(struct pattern_set *set, const struct fa_patterns *o, struct diags *d);
/* Applies --only, --skip and --include, and checks --source. False with a diagnostic. */
bool library_select(struct pattern_set *set, const struct fa_patterns *o, struct diags *d);
/* Whether --source has a pattern's source; without the option it has all. */
bool source_wanted(const struct fa_patterns *o, const struct pattern *p);
/* The same of a finding, for any such list: its source, and what the dialect of TTNN lacks of it. */
bool source_is_one_of(const char *list, struct str source, struct str lacks);
/* Says what is wrong with such a list, NULL is none. False with a diagnostic. */
bool sources_check(const char *list, const char *option, struct arena *a, struct diags *d);
/* The kinds of regions (elementwise/rules.h), as --include, --only and reports call them. */
extern const char *const region_words[2];
/* An error: "--sort takes saving, count or name, not 'size'". False. */
bool option_wrong(struct diags *d, const char *option, const char *takes, struct str given);
/* A word of --include. */
bool included(const struct fa_patterns *o, const char *word);

#endif
