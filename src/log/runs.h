/* Runs of lines that need no more than a look: ops, or locations numbered one after the other. Most of a big module is
 * made of them, and what they are does not depend on what stands before: other threads tell it ahead. Private to the
 * room. */
#ifndef FA_LOG_RUNS_H
#define FA_LOG_RUNS_H

#include "base/work.h"
#include "log/scan.h"

/* A line of a module that holds one op and leaves the depth of brackets as it is; tells its dialect. */
bool run_op(struct str line, struct dialects *d);
/* "#locN = loc(...)", all on the line; *number is N counted from 1, 0 for "#loc". */
bool run_loc(struct str line, uint32_t *number);
/* The same number of any line that defines an alias; NONE for other names. */
uint32_t loc_number_of(struct str line);

struct run {
    size_t begin, end, last; /* in the source: behind the last newline; where the last line begins */
    uint32_t lines;
    bool locs; /* numbers first_loc and on; else ops */
    uint32_t first_loc;
    bool ttir, ttnn, device_ttir; /* ops of these, as on the device */
};

/* Offers the text behind what `lines` has read to the threads at the board. NULL when that is not worth it, or lines
 * have to be cleaned. */
struct ahead;
struct ahead *ahead_begin(const struct source *s, const struct lines *lines, struct work_board *board);
/* The run that begins at the line start `at`, where another thread has told it; else NULL. `at` never goes back. */
const struct run *ahead_run(struct ahead *a, size_t at);
void ahead_end(struct ahead *a);

#endif
