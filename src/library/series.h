/* Series of names in the texts of a pattern: `w4..` stands for w4, w5 and so on, up to w16. */
#ifndef FA_SERIES_H
#define FA_SERIES_H

#include "base/base.h"

enum { LAST_OF_SERIES = 16, MOST_MEMBERS = LAST_OF_SERIES + 1 }; /* numbers from 0 */

/* The texts that a condition with series stands for, one for each number; one text where there is no series. */
uint32_t series_members(struct arena *a, struct str text, struct str out[MOST_MEMBERS]);
/* The same as one condition: any of them. */
struct str series_any(struct arena *a, struct str text);
/* A formula: a line that defines a series stands there once for each number, a series in another one is its members. */
struct str series_formula(struct arena *a, struct str text);

#endif
