/* Figures in units that people read. */
#ifndef FA_UNITS_H
#define FA_UNITS_H

#include "base/base.h"
#include "fusion_audit.h" /* fa_format_time */

/* "40.9 MB", "17 bytes" */
void add_bytes(struct buf *out, int64_t n);
/* "10us", "1.5 ms", or "2%", which is a share. The other one is 0. */
bool read_time_or_share(struct str s, double *us, double *share);
/* "296 of 332 ms", "310 us of 12 ms" */
void add_time_part(struct buf *out, double part, double all);
/* "29.77 ms": the time of all ops, in the digits in which that of other compiles differs. */
void add_total_time(struct buf *out, double us);

enum { DAY_TEXT = 16 };
/* "2026-11-22", in UTC; returns `out`, or empty. */
const char *today(char out[DAY_TEXT]);

#endif
