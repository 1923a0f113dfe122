/* The functions of a large module, parsed by several threads and joined. Private to the room. */
#ifndef FA_MLIR_PARALLEL_H
#define FA_MLIR_PARALLEL_H

#include "mlir/parser.h"
#include "source/source.h"

#include <stdatomic.h>

struct part {
    atomic_flag taken; /* by the parser or by another thread */
    struct log_block block;
    struct source source;
    struct mlir m;
    struct arena arena;
    struct diags diags;
    bool sound; /* reads like a run of functions */
};

/* The functions in parts. The parser reads on from the first one, part by part, while the other threads read the lines
 * of locations behind them and then the parts from the last one up. Where the two meet is the gap: what the others have
 * read is taken in there. */
struct gap {
    struct work_pool *pool; /* until the parser has come there */
    const char *begin;      /* of the next part; NULL: none is left */
    const char *end;        /* behind the last function */
    uint32_t next, indent;
    const char *locs_begin, *locs_end;
    struct loc_slot *locs; /* by number */
    uint32_t nlocs;
    const struct mlir *module;
    struct part *parts;
    uint32_t nparts, jobs;
};

/* Begins to parse the last functions of m->text. False when there is nothing to gain or the text cannot be cut. */
bool gap_open(struct gap *g, const struct mlir *m, uint32_t jobs);
/* At the next part. When nobody has it, the parser reads on. Otherwise the ops of this and all later parts become those
 * of the open module, and reading goes on behind them; where they are not what one reading would have made of them,
 * there is no gap any more, and reading goes on as if there had never been one. */
void gap_reached(struct parser *p);
/* The locations become those of the open module. */
void gap_take_locs(struct parser *p);
void gap_free(struct gap *g);

#endif
