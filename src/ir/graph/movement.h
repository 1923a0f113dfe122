/* Values seen through casts, layout changes and data movement, with their index maps. */
#ifndef FA_MOVEMENT_H
#define FA_MOVEMENT_H

#include "ir/graph/index.h"

enum { MAX_CHAIN = 48 }; /* ops that are looked through in a row */

/* One value on the way up through movement. */
struct link {
    uint32_t value, op; /* op: what was looked through to get here; NONE for the first */
    struct imap map;
};

/* The value and those that it was moved from, at most `max`; how many. */
uint32_t movement_chain(const struct graph *g, uint32_t value, const struct imap *map, struct link *out, uint32_t max);
/* The value that casts and movement made this one of; itself where none did. */
uint32_t movement_source(const struct graph *g, uint32_t value);
/* The value that casts and movement make of this one where nothing else uses it; itself where there are none. */
uint32_t movement_result(const struct graph *g, uint32_t value);
/* The value is stored with the formula's last axis innermost. */
bool last_axis_innermost(const struct imap *map, const struct axes *axes);

#endif
