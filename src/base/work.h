/* Work spread over threads: numbered pieces in any order, results taken in the order of the numbers, so that nothing
 * depends on how many threads there are. */
#ifndef FA_WORK_H
#define FA_WORK_H

#include "base/base.h"

/* Does piece `i`; `worker` (0 .. threads-1) is the thread's own. */
typedef void work_piece(void *context, uint32_t i, uint32_t worker);

/* Runs `piece` for 0 .. n-1 on up to `threads` threads, the caller's among them, and returns when all are done. */
void work_run(uint32_t n, uint32_t threads, work_piece *piece, void *context);

/* Turns in the order of the numbers: work_wait returns when all lower numbers have called work_done. */
struct work_order;
struct work_order *work_order_new(void);
void work_wait(struct work_order *o, uint32_t i);
void work_done(struct work_order *o, uint32_t i);
void work_order_free(struct work_order *o);

/* How many threads to use when the user asked for so many; 0: one for each processor. */
uint32_t work_threads(unsigned asked);

#endif
