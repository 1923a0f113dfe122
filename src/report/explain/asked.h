/* What --at means: everything that the program prints of an op. A value ("%12", "ttir:%12", "%12 (ttnn.add)"), a line
 * ("812", "line 812", "FILE:812"), an op ("ttnn.softmax": all of them; "ttnn.add 812", "ttnn.add at line 812": that of
 * this line), a name in a location ("add.174"), an alias ("#loc12"). */
#ifndef FA_ASKED_H
#define FA_ASKED_H

#include "ir/graph/level.h"

/* Marks the ops of `decides` that are meant; of an argument or a constant also those that use it. What is not there is
 * looked for in `ttir`, which may be NULL: then those are marked that it became, or that what uses it did, and *became
 * says so, in `a`. False when there are none. */
bool asked_mark(const char *at, const struct level *decides, const struct level *ttir, struct arena *a, bool *asked,
                struct str *became);

#endif
