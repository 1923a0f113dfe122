/* The functions of a large module, parsed by several threads and joined. Private to the room. */
#ifndef FA_MLIR_PARALLEL_H
#define FA_MLIR_PARALLEL_H

#include "mlir/parser.h"
#include "source/source.h"

struct part {
    struct log_block block;
    struct source source;
    struct mlir m;
    struct arena arena;
    struct diags diags;
    bool sound; /* reads like a run of functions */
};

/* A stretch of text whose ops are read meanwhile: the parser reads what is before it and takes them in where it comes
 * to it. So are the lines of locations behind it. */
struct gap {
    struct work_pool *pool;  /* until the parser has come there */
    const char *begin, *end; /* from a function to behind the last one */
    const char *locs_begin, *locs_end;
    struct loc_slot *locs; /* by number */
    uint32_t nlocs;
    const struct mlir *module;
    struct part *parts;
    uint32_t nparts, jobs;
    bool filled;
};

/* Begins to parse the later functions of m->text. False when there is nothing to gain or the text cannot be cut. */
bool gap_open(struct gap *g, const struct mlir *m, uint32_t jobs);
/* At the gap: its ops become those of the open module, and reading goes on behind it. Where they are not what one
 * reading would have made of them, there is no gap any more, and reading goes on in it. */
void gap_fill(struct parser *p);
/* The locations become those of the open module. */
void gap_take_locs(struct parser *p);
void gap_free(struct gap *g);

#endif
