/* The audit: of one compile, or of each of many. */
#ifndef FA_CLI_AUDIT_H
#define FA_CLI_AUDIT_H

#include "cli/options.h"
#include "fusion_audit.h"

/* Prints what an audit says on standard error. */
void say_audit(const struct fa_audit *a, const struct options *o);
enum fa_status run_audit(const struct options *o);

#endif
