/* Dataflow facts about the values of a graph, from which the roles of ops in a model are read (query projection,
 * pre-MLP norm). Two passes over the use-def graph, in textual order and against it; each looks at an op once.
 *
 * Forward, from definitions to uses: the sources of a value are the definitions that reach it, where movement, casts
 * and elementwise ops let them through and matrix products, attentions, residual adds and inputs are definitions.
 * Backward, from uses to definitions: the sinks of a value are the operand slots of such ops that it reaches in the
 * same way. Weights are neither source nor sink. An op that is not understood is a source of its own and a sink of
 * kind SINK_OTHER, so that no role is read into it.
 *
 * Roles of linears (matrix products with weights): query, key and value projections feed an attention; the output
 * projection takes its result. A plain MLP is second(activation(first(x))), a gated one (as in SwiGLU)
 * down(activation(gate(x)) * up(x)). The stream is what residual adds are made to. */
#ifndef FA_FLOW_H
#define FA_FLOW_H

#include "graph/index.h"

enum { MAX_SOURCES = 4 };

/* The definitions that reach a value. Sets are shared between values; set 0 is empty. */
struct source_set {
    uint32_t v[MAX_SOURCES]; /* values; of a gated set the activated one comes first */
    uint8_t n;
    bool truncated; /* there are more than MAX_SOURCES; the rest is not listed */
    bool gated;     /* activation(v[0]) * v[1]; with n == 1 both factors are slices of v[0] */
};

/* Kinds of uses that a value reaches: a bit mask. */
enum flow_sink {
    SINK_QUERY = 1 << 0, /* operand of an attention */
    SINK_KEY = 1 << 1,
    SINK_VALUE = 1 << 2,
    SINK_QUERY_OR_KEY = 1 << 3, /* of an attention whose queries and keys cannot be told apart */
    SINK_WEIGHTS = 1 << 4,      /* attention weights (softmax of scores), at the product with the values */
    SINK_LINEAR = 1 << 5,       /* input of a linear; after the last pass with one of the five FEEDS bits: */
    FEEDS_QUERY = 1 << 6,       /* the linear is a query projection, perhaps fused with keys and values */
    FEEDS_KEY_VALUE = 1 << 7,   /* a projection to keys or values only */
    FEEDS_MLP = 1 << 8,         /* a linear that an MLP begins with */
    FEEDS_RETURN = 1 << 9,      /* a linear of no known role whose result is only returned: the model's head */
    FEEDS_REST = 1 << 10,       /* any other linear */
    SINK_RESIDUAL = 1 << 11,    /* operand of a residual add */
    SINK_RETURN = 1 << 12,
    SINK_OTHER = 1 << 13
};
#define MANY_SINKS (NONE - 1)

enum flow_flag {
    WAS_ACTIVATED = 1 << 0, /* passed an activation function since its source */
    WAS_EXP = 1 << 1,       /* passed an exponential or softmax */
    IS_STATISTIC = 1 << 2,  /* a reduction, perhaps scaled: mean, sum, variance */
    IS_DEVIATION = 1 << 3,  /* square root of a statistic, or its inverse */
    WAS_NORMED = 1 << 4,    /* divided by its deviation */
    IS_RESIDUAL = 1 << 5,   /* the result of a residual add */
    HAS_ATTENTION = 1 << 6, /* scores of an attention that is known */
    HAS_ATTENTIONS = 1 << 7 /* ... and of more than one */
};

/* Facts of one value. Scores are the product of queries and keys: one of their last two dimensions counts queries, the
 * other one keys. */
struct value_facts {
    uint32_t sources; /* index into flow.sets */
    uint32_t slice;   /* 1 + the slice op that it went through since its source; 0: none, or several */
    uint32_t scores;  /* 1 + the product op whose scores it is made of; 0: of none */
    uint32_t sink_op; /* the op of all sinks; NONE: not known, MANY_SINKS: several ops */
    uint16_t sinks;   /* enum flow_sink */
    uint8_t flags;    /* enum flow_flag */
    /* of what is made of scores, for the forward pass alone: */
    uint8_t orientation : 2;  /* order of the last two dimensions, enum scores_orientation */
    uint8_t softmax_axis : 2; /* the dimension that was normalised, enum scores_axis */
};

/* An attention, as one op or as two products around a softmax. */
struct attention_site {
    uint32_t op;      /* makes the result: the product with the values, or the fused op */
    uint32_t scores;  /* makes the scores: the product of queries and keys; `op` for a fused op */
    uint32_t q, k, v; /* operands, values */
    bool ordered;     /* q and k are told apart */
};

struct flow {
    const struct graph *g;
    struct value_facts *values; /* by value */
    struct source_set *sets;
    uint32_t nsets, sets_cap;
    struct attention_site *attentions; /* sorted by `op` */
    uint32_t nattentions, attentions_cap;
};

/* Runs both passes over main functions and ops outside of functions. The graph must outlive the result. */
struct flow *flow_new(const struct graph *g);
void flow_free(struct flow *f); /* NULL is fine */

/* The operand of a linear that is not its weights; NONE when the op is no linear. */
uint32_t flow_linear_input(const struct graph *g, uint32_t op);
/* The attention whose result `op` makes, or NULL. */
const struct attention_site *flow_attention(const struct flow *f, uint32_t op);
/* Whether the scores of the attention are used by it alone (or returned as well). */
bool flow_owns_scores(const struct flow *f, const struct attention_site *a);

static inline const struct value_facts *flow_of(const struct flow *f, uint32_t v) {
    return &f->values[v];
}
static inline const struct source_set *flow_sources(const struct flow *f, uint32_t v) {
    return &f->sets[f->values[v].sources];
}
/* The only source; NONE if there are none or several. */
static inline uint32_t flow_only_source(const struct flow *f, uint32_t v) {
    const struct source_set *s = flow_sources(f, v);
    return s->n == 1 && !s->truncated ? s->v[0] : NONE;
}
bool flow_has_source(const struct source_set *s, uint32_t v);
bool flow_disjoint(const struct source_set *a, const struct source_set *b); /* of the sources that are listed */

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
