/* Work spread over threads: numbered pieces in any order, results taken in the order of the numbers,
 * so that nothing depends on how many threads there are. */
#ifndef FA_WORK_H
#define FA_WORK_H

#include "base/base.h"

/* Does piece `i`; `slot` (0 .. jobs-1) is the thread's own. */
typedef void work_piece(void *context, uint32_t i, uint32_t slot);

/* Runs `piece` for 0 .. n-1 on up to `jobs` threads and returns when all are done. */
void work_run(uint32_t n, uint32_t jobs, work_piece *piece, void *context);

/* The same while the caller does something else: up to jobs - 1 threads begin, the caller joins in when it finishes.
 * `slot` is that of the caller, 0, only then. */
struct work_pool;
struct work_pool *work_begin(uint32_t n, uint32_t jobs, work_piece *piece, void *context);
void work_finish(struct work_pool *p); /* returns when all pieces are done */

/* A queue of turns: work_wait returns when all lower numbers have called work_done. */
struct work_order;
struct work_order *work_order_new(void);
void work_wait(struct work_order *o, uint32_t i);
void work_done(struct work_order *o, uint32_t i);
void work_order_free(struct work_order *o);

/* A board at which threads that have nothing else to do wait for pieces of what others do. */
struct work_board;
struct work_board *work_board_new(void);
/* One offer at a time; whoever makes it does not wait for anything to be done. */
void work_offer(struct work_board *b, uint32_t n, work_piece *piece, void *context);
void work_withdraw(struct work_board *b); /* what nobody has begun is left; returns when nobody is at it any more */
void work_help(struct work_board *b);     /* does what is offered until the board is closed; slot 0 */
void work_close(struct work_board *b);
void work_board_free(struct work_board *b);

/* Into how many pieces to cut what `jobs` threads share: several for each, since some take longer. At most `most`. */
uint32_t work_pieces(uint32_t jobs, uint32_t most);
/* Threads for what the user asked for; 0: one for each processor. */
uint32_t work_threads(unsigned asked);

#endif
