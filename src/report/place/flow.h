/* Where the values of a graph come from and where they go, from which the roles of ops in a model are read (query
 * projection, pre-MLP norm).
 *
 * Landmarks are matrix products, attentions, residual adds, inputs, returns and ops that are not understood. All other
 * ops let data through: movement, casts, elementwise ops, norms. Each value has links to the landmarks that it is made
 * by and to those that take it, through any number of such ops; what it passed since the former is in its flags.
 * Weights are no landmarks, and an operand that only shifts, scales or selects another one ends at the op.
 *
 * Roles of linears (matrix products with weights): query, key and value projections feed an attention; the output
 * projection takes its result. A plain MLP is second(activation(first(x))), a gated one (as in SwiGLU)
 * down(activation(gate(x)) * up(x)). The stream is what residual adds are made to. */
#ifndef FA_FLOW_H
#define FA_FLOW_H

#include "ir/graph/index.h"
#include "report/place/names.h"

enum { MAX_LINKS = 6 };

enum link_kind {
    LINK_LINEAR = 1 << 0, /* made by a product with weights, or taken as the other operand of one */
    LINK_RESIDUAL = 1 << 1,
    LINK_OTHER = 1 << 2,     /* an input; an op that is not understood */
    LINK_PRODUCT = 1 << 3,   /* made by a product of two computed values: scores, perhaps */
    LINK_ATTENTION = 1 << 4, /* made by an attention */
    LINK_QUERY = 1 << 5,     /* taken as an operand of an attention */
    LINK_KEY = 1 << 6,
    LINK_VALUE = 1 << 7,
    LINK_QUERY_OR_KEY = 1 << 8, /* of an attention whose queries and keys cannot be told apart */
    LINK_WEIGHTS = 1 << 9,      /* as attention weights (softmax of scores), at the product with the values */
    LINK_RETURN = 1 << 10
};

struct flow_link {
    uint32_t at;   /* the value that a landmark made; the op that takes it, NONE for a return */
    uint16_t kind; /* enum link_kind */
};

/* Sets of links are shared between values; set 0 is empty. */
struct flow_links {
    struct flow_link items[MAX_LINKS]; /* of a gated set the activated one comes first */
    uint16_t kinds;                    /* of all, also of those that are not listed */
    uint8_t n;
    bool truncated; /* there are more than MAX_LINKS; the rest is not listed */
    bool gated;     /* activation(items[0]) * items[1]; with n == 1 both factors are slices of items[0] */
};

/* What a value passed since the landmarks that it comes from. */
enum flow_flag {
    WAS_ACTIVATED = 1 << 0, /* an activation function */
    WAS_EXP = 1 << 1,       /* an exponential or softmax */
    IS_STATISTIC = 1 << 2,  /* a reduction, perhaps scaled: mean, sum, variance */
    IS_DEVIATION = 1 << 3,  /* square root of a statistic, or its inverse */
    WAS_NORMED = 1 << 4     /* divided by its deviation */
};

struct flow_value {
    uint32_t from, to; /* links, by index into flow.sets */
    uint32_t slice;    /* 1 + the slice op that it went through since it was made; 0: none, or several */
    uint8_t flags;     /* enum flow_flag */
};

/* An attention, as one op or as two products around a softmax. */
struct attention_site {
    uint32_t op;      /* makes the result: the product with the values, or the fused op */
    uint32_t scores;  /* the product of queries and keys, a value; the result of a fused op */
    uint32_t q, k, v; /* operands, values */
    bool ordered;     /* q and k are told apart */
};

struct flow {
    const struct graph *g;
    struct flow_value *values; /* by value */
    struct flow_links *sets;
    uint32_t nsets, sets_cap;
    struct attention_site *attentions; /* sorted by `op` */
    uint32_t nattentions, attentions_cap;
    struct known_names *known; /* by what a reader of names has found; of one set of patterns */
};

/* Of main functions and of ops outside of functions. The graph must outlive the result. */
struct flow *flow_new(const struct graph *g);
void flow_free(struct flow *f); /* NULL is fine */

static inline const struct flow_links *flow_from(const struct flow *f, uint32_t v) {
    return &f->sets[f->values[v].from];
}
static inline const struct flow_links *flow_to(const struct flow *f, uint32_t v) {
    return &f->sets[f->values[v].to];
}
static inline unsigned flow_flags(const struct flow *f, uint32_t v) {
    return f->values[v].flags;
}
/* The op that makes a value; NONE for an argument, and for NONE. */
static inline uint32_t flow_def(const struct flow *f, uint32_t v) {
    return v == NONE ? NONE : f->g->m->values[v].def;
}
/* The only value that a landmark made and that `v` comes from; NONE if there are none or several. */
uint32_t flow_source(const struct flow *f, uint32_t v);
/* The only op that takes it, returns aside; NONE if there are none or several. */
uint32_t flow_taker(const struct flow *f, uint32_t v);
bool flow_comes_from(const struct flow_links *from, uint32_t v);
/* Whether two values share none of the landmarks that are listed. */
bool flow_unrelated(const struct flow *f, uint32_t a, uint32_t b);
/* It is the result of a residual add. */
bool flow_is_residual(const struct flow *f, uint32_t v);

/* The operand of a linear that is not its weights; NONE when the op is no linear. */
uint32_t flow_linear_input(const struct graph *g, uint32_t op);
/* The attention whose result `op` makes, or NULL. */
const struct attention_site *flow_attention(const struct flow *f, uint32_t op);
/* Whether the scores of the attention are used by it alone (or returned as well). */
bool flow_owns_scores(const struct flow *f, const struct attention_site *a);
/* The product that both `weights` are made of by a softmax, and whose result `op` contracts with `values`. Asks for
 * what values come from only. False: `op` is no attention. */
bool flow_find_attention(const struct flow *f, uint32_t op, uint32_t weights, uint32_t values,
                         struct attention_site *out);

/* Values, each once; a full list takes no more. */
enum { MAX_VALUES = 160 };
struct value_list {
    uint32_t items[MAX_VALUES], n;
};
void value_list_add(struct value_list *l, uint32_t v);
static inline bool value_list_is_full(const struct value_list *l) {
    return l->n == MAX_VALUES;
}

/* Roles of a linear: a bit mask, since several projections may be fused into one product. */
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
/* By where the result goes and where the input comes from. 0: not known, or these contradict each other. */
unsigned flow_linear_role(const struct flow *f, uint32_t op);

#endif
