/* What a call says of itself while it runs, and whether it is to go on. */
#ifndef FA_WATCH_H
#define FA_WATCH_H

#include "base/base.h"
#include "fusion_audit.h"

struct watch;
/* NULL where there is nobody to tell: a call without a watch always goes on. */
struct watch *watch_new(struct fa_progress told);
void watch_free(struct watch *w);
/* Told before piece `done` of `all`, by any thread: whether that is wanted; once it is not, nothing more is. */
bool watch_wants(struct watch *w, const char *doing, uint32_t done, uint32_t all);
bool watch_has_ended(const struct watch *w);
/* True with a diagnostic: it was ended. */
bool watch_say_ended(const struct watch *w, struct diags *d);

#endif
