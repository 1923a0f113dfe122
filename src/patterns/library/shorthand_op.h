/* One op of IR in short, and what is printed of it: types, those that it leaves out, attributes. Texts are views or in
 * the arena that is passed. */
#ifndef FA_SHORTHAND_OP_H
#define FA_SHORTHAND_OP_H

#include "ir/graph/graph.h"

enum { SHORT_OPERANDS = 32, SHORT_RANK = MAX_RANK, SHORT_ATTRS = 48 };

struct short_op {
    struct str word; /* of the text */
    struct str spelling;
    enum op_kind kind;
    struct str results; /* as they are printed: "%a, %b" or "%s:3"; empty: it has none */
    struct str operands[SHORT_OPERANDS], operand_types[SHORT_OPERANDS];
    uint32_t noperands;
    struct str keys[SHORT_ATTRS], values[SHORT_ATTRS];
    uint32_t nattrs;
    struct str types[SHORT_OPERANDS]; /* of its results */
    uint32_t ntypes;
};

struct short_fault {
    struct str at;    /* of the text */
    const char *what; /* NULL: there is none */
};

struct short_shape {
    int64_t dims[SHORT_RANK];
    uint32_t rank;
    struct str element;
    bool known;
};

struct short_list {
    int64_t v[64];
    uint32_t n;
};

/* "32x64" to "tensor<32x64xELEMENT>", "8xf32" to "tensor<8xf32>"; a type that is written out stays. */
struct str short_type(struct arena *a, const char *element, struct str text);
/* Not known: it is no tensor. */
struct short_shape short_shape_of(struct str type);
struct str short_shape_type(struct arena *a, const struct short_shape *shape);
/* The attributes that are written, as those of an op. */
struct attrs short_attributes(struct arena *a, const struct short_op *op);
/* The type of the only result, from those of the operands and the attributes. */
struct short_fault short_infer(struct arena *a, const struct short_op *op, struct str *type);

/* NONE: it is not given. */
uint32_t short_find_key(const struct short_op *op, struct str key);
/* "[1, 2]" or "1"; false when it is none of these. */
bool short_read_list(struct str text, struct short_list *out);
/* "2", "-0.5", "-inf" */
bool short_is_number(struct str word);
/* " <{…}>": those of the table (ops.def, `attributes`) in its order, then the others. */
struct short_fault short_print_attributes(struct buf *out, struct arena *a, const struct short_op *op);

#endif
