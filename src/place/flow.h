/* Where the values of a graph come from and where they go, as far as roles in a model are read from it.
 *
 * One pass down the text and two up it, which look at each op once. Down: the sources of a value, which are the
 * products, attentions, residual adds and inputs that reach it through movement, casts and elementwise ops. Up: the
 * ends of a value, which are the operands of such ops that it reaches in the same way. Weights are neither source nor
 * end. */
#ifndef FA_FLOW_H
#define FA_FLOW_H

#include "graph/index.h"

enum { MAX_SOURCES = 4 };

/* Kept once for all values that share it; number 0 is empty. */
struct source_set {
    uint32_t v[MAX_SOURCES]; /* values; of a gated set first what went through the activation */
    uint8_t n;
    bool many;  /* and more that are not listed */
    bool gated; /* the product of an activation of v[0] and of v[1], or of two slices of v[0] */
};

enum flow_end {
    END_QUERY = 1 << 0, /* operand of an attention; `end_at` is the op that makes its result */
    END_KEY = 1 << 1,
    END_VALUE = 1 << 2,
    END_QUERY_OR_KEY = 1 << 3,
    END_WEIGHTS = 1 << 4,  /* attention weights, at the product with the values */
    END_LINEAR = 1 << 5,   /* of a product with weights; with one of the next five */
    TO_QUERY = 1 << 6,     /* ... whose result has a query, and perhaps keys and values */
    TO_KEY_VALUE = 1 << 7, /* ... only keys or values */
    TO_MLP = 1 << 8,       /* ... that an MLP begins with */
    TO_RETURN = 1 << 9,    /* ... whose result is only returned */
    TO_REST = 1 << 10,     /* ... of another kind */
    END_RESIDUAL = 1 << 11,
    END_RETURN = 1 << 12,
    END_OTHER = 1 << 13
};
#define MANY_ENDS (NONE - 1)

enum flow_flag {
    WAS_ACTIVATED = 1 << 0, /* went through an activation since its source */
    WAS_EXP = 1 << 1,       /* ... an exponential or softmax */
    IS_STATISTIC = 1 << 2,  /* a mean or sum, perhaps scaled */
    IS_DEVIATION = 1 << 3,  /* its root */
    WAS_NORMED = 1 << 4,
    IS_RESIDUAL = 1 << 5, /* the result of a residual add */
    HAS_CORE = 1 << 6,    /* of scores: their attention is known */
    HAS_CORES = 1 << 7    /* ... and more than one */
};

struct value_flow {
    uint32_t sources; /* in `sets` */
    uint32_t slice;   /* the op that cut it out, plus 1; 0: none since its source */
    uint32_t scores;  /* the product of queries and keys that it is made of, plus 1 */
    uint32_t end_at;  /* the op of all ends; NONE: none, MANY_ENDS: several */
    uint16_t ends;
    uint8_t flags;
    uint8_t turned : 2, axis : 2; /* of scores: private to flow.c */
};

/* An attention, as one op or as products around a softmax. */
struct attention {
    uint32_t op, scores; /* the op of its result, that of its scores; the same for an op that is all of it */
    uint32_t q, k, v;    /* operands */
    bool ordered;        /* q and k are told apart */
};

struct flow {
    const struct graph *g;
    struct value_flow *values;
    struct source_set *sets;
    uint32_t nsets, sets_cap;
    struct attention *attentions; /* in the order of `op` */
    uint32_t nattentions, attentions_cap;
};

/* On up to `jobs` threads: the result says the same, however many. */
struct flow *flow_new(const struct graph *g, uint32_t jobs);
void flow_free(struct flow *f); /* NULL is fine */

/* The operand of a product with weights that is not the weights; NONE when the op is no such product. */
uint32_t flow_linear_input(const struct graph *g, uint32_t op);
/* The attention that `op` makes the result of, or NULL. */
const struct attention *flow_attention(const struct flow *f, uint32_t op);
/* The attention is that of its scores alone, and these are used for nothing else. */
bool flow_attention_alone(const struct flow *f, const struct attention *a);

static inline const struct value_flow *flow_of(const struct flow *f, uint32_t v) {
    return &f->values[v];
}
static inline const struct source_set *flow_sources(const struct flow *f, uint32_t v) {
    return &f->sets[f->values[v].sources];
}
/* The only source; NONE if there are none or several. */
static inline uint32_t flow_only_source(const struct flow *f, uint32_t v) {
    const struct source_set *s = flow_sources(f, v);
    return s->n == 1 && !s->many ? s->v[0] : NONE;
}
bool flow_has_source(const struct source_set *s, uint32_t v);
bool flow_disjoint(const struct source_set *a, const struct source_set *b);

/* What a product with weights is by where its result goes and where its input comes from. */
enum linear_role {
    ROLE_QUERY = 1,
    ROLE_KEY = 2,
    ROLE_VALUE = 4,
    ROLE_OUT = 8,
    ROLE_GATE = 16,
    ROLE_UP = 32,
    ROLE_DOWN = 64,
    ROLE_FIRST = 128,
    ROLE_SECOND = 256
};
unsigned flow_linear_role(const struct flow *f, uint32_t op); /* 0: not known, or more than one thing */

#endif
