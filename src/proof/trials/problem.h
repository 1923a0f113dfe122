/* Two programs over shared inputs, of which is asked whether they are the same function. */
#ifndef FA_PROBLEM_H
#define FA_PROBLEM_H

#include "proof/numeric/interpret_graph.h"
#include "proof/trials/facts.h"
#include "search/match/match.h"

enum { MAX_INPUTS = 256, MAX_OUTPUTS = 16, MAX_ORDERS = 2, MAX_LOOSE = 64 };

/* An input and what is known of it, which decides the random numbers that it gets. */
struct input {
    uint32_t value;
    struct facts facts;
    const struct assumed_constant *constant; /* the number that a pattern says it holds; or NULL */
    const struct formula *holds; /* a pattern says that its elements are this function of something; or NULL */
    bool positive;               /* a pattern says so */
    bool replicated;             /* a pattern says that it is equal on all devices */
};

/* One device in one trial. */
struct evaluated {
    struct eval_context *eval;
    const struct given *given;
    const struct tensor **values; /* of problem.values */
    void *kept;                   /* what the other side keeps from one reading to the next; NULL at first */
};

struct problem {
    const struct pattern_set *lowerings;
    struct program program; /* without what is given */
    struct input inputs[MAX_INPUTS];
    uint32_t ninputs;

    const uint32_t *values; /* of the program, which are evaluated together */
    uint32_t nvalues;
    /* Values that are compared: with other values; or with what `other` makes of all of them, false with a reason in
     * the context. It may have several readings: `next` takes another one, false: there is none. */
    struct {
        uint32_t want, got; /* in `values` */
    } outputs[MAX_OUTPUTS];
    uint32_t noutputs;
    bool (*other)(void *self, struct evaluated *e, const struct tensor *got[MAX_OUTPUTS]);
    bool (*next)(void *self);
    void *self;
    const char *name; /* of the other side, in messages */

    double bound;        /* L2 of the difference relative to the results that is no difference; 0: none */
    unsigned excluded;   /* kinds of trials (numbers.h) that nothing is claimed of, a bit each */
    uint32_t devices;    /* of a mesh that evaluate it; 1: there is none */
    uint32_t product_op; /* products of the other side are as precise as this op's on a device; or NONE */
    const struct loose_constant *loose;
    uint32_t nloose;
    bool any_order; /* elements are compared by size, wherever they stand */
    bool choices;   /* what is chosen by numbers that are always the same is not compared */

    /* found by problem_facts */
    struct thresholds thresholds;
    bool integers;                  /* it takes integers that are no indices, so their values matter */
    uint32_t covers;                /* sets of numbers in which integers are each place that they are compared with */
    bool wide;                      /* and no float is made of them, so that all of their bits matter */
    bool masks;                     /* some input is an additive mask */
    bool hides;                     /* some input is a mask */
    bool tests_nan;                 /* it compares a value with itself, */
    bool compares;                  /* or numbers with one another */
    bool sorts;                     /* equal elements are tried on their own, */
    enum equals orders[MAX_ORDERS]; /* in these orders of a sort */
    uint32_t norders;
    bool unsorted; /* the other side leaves elements in any order, and the wanted one does not */
};

/* A constant that may be another number of its precision: what the other side computes instead is not rounded. */
struct loose_constant {
    uint32_t value;
    double number, error; /* absolute */
    double rounded;       /* what casts make of the number */
};

/* Once. False: there are too many. */
bool problem_add_input(struct problem *p, uint32_t value, const struct assumed_constant *constant);
/* Once program and inputs are set: what can be told of them by the ops. */
void problem_facts(struct problem *p);
/* The number of devices that shapes or attributes of a collective state; 0: none do. */
int64_t devices_stated(const struct graph *g, uint32_t op);
/* The devices of a mesh that collectives of the program are between; 1: it has none. 0 with a reason in the context
 * where they are along several axes of the mesh, or too many. */
uint32_t problem_devices(const struct problem *p, struct eval_context *b);

#endif
