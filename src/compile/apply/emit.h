/* Writes ops of TTIR as text, each a line, with the types and properties that the operator table says.
 *
 * Runs within eval_attempt: what cannot be written ends it with a reason (op_fails). */
#ifndef FA_EMIT_H
#define FA_EMIT_H

#include "patterns/library/shorthand_op.h"
#include "proof/value/tensor.h"

/* A value of the module, or one that is written. What is pending is written when an op wants the value itself: several
 * ops can take it as an attribute. */
struct written {
    struct str name, type; /* empty: one number in all elements, which is not written */
    struct shape stored;   /* as it is printed */
    struct shape shape;    /* pending: a reshape to this, where it is another one */
    double number;
    double factor; /* pending: its elements are multiplied by this */
    enum dtype element;
    bool swapped; /* pending: the last two dimensions change places */
};

struct written_op {
    enum op_kind kind;
    struct str spelling; /* empty: the first one of TTIR */
    const struct written *operands;
    uint32_t noperands;
    struct str keys[SHORT_ATTRS], values[SHORT_ATTRS]; /* of properties, as short_print_attributes takes them */
    uint32_t nattrs;
    const struct shape *shape; /* of the result; NULL: it is inferred */
    enum dtype element;        /* of the result; DT_NONE: that of the first operand */
};

enum { MAX_LINES = 128 };

struct emitter {
    struct eval_context *eval; /* owns what is written */
    struct composite *composites;
    struct str prefix; /* of the names of values */
    uint32_t *next;    /* number of the next name */
    const struct short_op *lines[MAX_LINES];
    uint32_t nlines;
};

/* A function that a composite is decomposed to. Its arguments are %arg0 and on, of the types of the operands. */
struct composite {
    struct str symbol;
    struct emitter body;
    uint32_t next_name;
    const struct written *operands;
    uint32_t noperands;
    struct written result;
    struct composite *next;
};

struct written written_number(double x);
static inline bool is_number(const struct written *v) {
    return v->name.n == 0;
}

/* It is printed with the dimensions that it has, or others of the same last one. */
static inline bool is_reshaped(const struct written *v) {
    return !shape_eq(&v->stored, &v->shape);
}
static inline bool keeps_last(const struct written *v) {
    return v->stored.rank > 0 && v->shape.rank > 0 &&
           v->stored.dim[v->stored.rank - 1] == v->shape.dim[v->shape.rank - 1];
}

void add_key(struct written_op *o, const char *key, struct str value);
struct written emit(struct emitter *e, const struct written_op *o);
/* By the rule of the op for all of its results (ir/ops/infer.h), else as large as the first operand. `second`: the
 * element type of all but the first one, where it is another. */
struct written emit_fused(struct emitter *e, struct written_op *o, struct str second);
/* The op that makes a value of this name; NULL: none is written. */
const struct short_op *emitted(const struct emitter *e, struct str name);
/* The names of its results one by one; false at the end. */
static inline bool next_result(struct str *rest, struct str *name) {
    *name = str_item(rest);
    return name->n > 0;
}
/* A further result of the op that makes the value; NULL type: it has not so many. */
struct written emitted_result(const struct emitter *e, const struct written *v, uint32_t number);

/* The value itself: what is pending is written, a number becomes a tensor of one element. */
struct written emit_plain(struct emitter *e, struct written v, enum dtype element);
struct written emit_cast(struct emitter *e, struct written v, enum dtype element);
/* Stays pending. */
struct written emit_reshape(struct emitter *e, struct written v, const struct shape *s);
struct written emit_permute(struct emitter *e, struct written v, const uint32_t *order);
/* Of the same rank, with dimensions of one element repeated. */
struct written emit_broadcast(struct emitter *e, struct written v, const struct shape *s);
struct written emit_slice(struct emitter *e, struct written v, const int64_t *begin, const int64_t *end,
                          const int64_t *step);
struct written emit_full(struct emitter *e, double number, const struct shape *s, enum dtype element);

/* "[1, 2]", as attributes are written in short. */
struct str list_text(struct arena *a, const int64_t *list, uint32_t n);
/* A number as the text of a property of type f32: with a point, an infinity as bits. */
struct str float_property(struct arena *a, double x);

#endif
