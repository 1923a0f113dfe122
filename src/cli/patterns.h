/* The commands `patterns` and `lower`: what can be asked of the pattern files themselves. */
#ifndef FA_CLI_PATTERNS_H
#define FA_CLI_PATTERNS_H

#include "cli/options.h"
#include "fusion_audit.h"

enum fa_status run_patterns(const struct options *o);
enum fa_status run_lower(const struct options *o);

#endif
