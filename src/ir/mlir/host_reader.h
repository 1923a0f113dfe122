/* A function of the host while it is read (host.c), and what its ops make of symbols (host_ops.c). */
#ifndef FA_HOST_READER_H
#define FA_HOST_READER_H

#include <string.h>

#include "ir/mlir/host.h"

/* What a value of LLVM stands for. */
enum kind {
    NOTHING,
    WHOLE,     /* an integer: `at` */
    NUMBER,    /* a floating-point constant */
    TENSOR,    /* an element: one for each iteration */
    POINTER,   /* into a buffer; NONE: the null pointer, whose offsets are sizes */
    ADDRESS,   /* a pointer as an integer */
    REMAINDER, /* of an address, to align it */
    VIEW,      /* a descriptor */
    RESULTS    /* several of these */
};

struct descriptor {
    uint32_t buffer, rank;
    int64_t offset, sizes[MAX_LOOPS], strides[MAX_LOOPS];
};

struct symbol {
    enum kind kind;
    uint32_t id;     /* tensor, buffer, or the first of the views */
    uint32_t source; /* buffer that a tensor was loaded from, at `at`; or NONE */
    uint64_t loaded; /* the buffers that it was made of, a bit each; the last one for all from there on */
    uint32_t serial; /* of the loop that it is of; 0: of none */
    struct affine at;
    int64_t bytes; /* of an element that a pointer counts */
    double number;
    uint32_t nviews; /* RESULTS: so many */
};

struct host_block {
    struct str label;
    uint32_t op; /* its first one */
};

struct host_reader {
    struct host host;
    struct mlir *m;
    uint32_t op, first_op, end_op; /* llvm.func and its body */
    const uint32_t *globals;       /* llvm.mlir.global of the module */
    uint32_t nglobals;
    struct host_block *blocks;
    uint32_t nblocks, blocks_cap;
    uint32_t first_value, nvalues;
    struct symbol *symbols;
    struct descriptor *views;
    uint32_t nviews, views_cap;
};

static inline struct str text_behind(struct str text, const char *what) {
    const char *at = str_find(text, str_of(what));
    size_t n = strlen(what);
    return at ? (struct str){at + n, text.n - (size_t)(at - text.p) - n} : STR("");
}
static inline struct str text_until(struct str text, const char *ends) {
    size_t n = 0;
    while (n < text.n && !strchr(ends, text.p[n]))
        n++;
    return (struct str){text.p, n};
}

/* What an op says in the generic form as an attribute, in its own between two texts. */
struct str llvm_said(const struct mlir *m, uint32_t op, const char *key, const char *before, const char *ends);
/* Without the "@" or the quotes. */
struct str llvm_symbol(struct str text);
bool llvm_is(const struct host_reader *r, uint32_t op, const char *name);
uint32_t llvm_operand(const struct host_reader *r, uint32_t op, uint32_t i); /* NONE: it has none */

struct symbol symbol_of_operand(const struct host_reader *r, uint32_t op, uint32_t i);
bool symbol_set(struct host_reader *r, uint32_t value, struct symbol s);
/* One number in all iterations. */
bool symbol_is_fixed(const struct symbol *s);

/* Sets the symbol of the op's result. False: what it computes is not understood. */
bool llvm_read_op(struct host_reader *r, uint32_t op);
/* The end of the function, which returns what descriptors stand for. */
bool llvm_read_return(struct host_reader *r, uint32_t op);

#endif
