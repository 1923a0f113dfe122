/* Both sides of a problem as nodes, elements of their results, and these on sets of numbers. Private to proof/elements.
 */
#ifndef FA_SIDES_H
#define FA_SIDES_H

#include "proof/trials/compare.h"
#include "proof/trials/drawn.h"
#include "proof/trials/equal.h"

static const double tolerance = 1e-9;
/* Elements that are read for one set of numbers. */
static const double most_read = 2e6;      /* for many of a result */
static const double most_narrow = 6e6;    /* where inputs vary along some dimensions; */
static const double most_wide = 1e5;      /* for more they vary so; twice as many where nothing is known then */
static const double most_confirmed = 3e7; /* once inputs that vary along some dimensions agree */
static const double dear = 2e5, modest = 5e4, cheap = 2e4;

/* What is compared: one output on one device. */
struct compared {
    uint32_t device, output;
    const struct tensor *sides[2]; /* want, got */
    int64_t *at;
    uint32_t n, room;
    double *x[2], *moved[2], *slack;
};

struct squared_distance {
    double error, size; /* sums of squares */
    int64_t n;          /* elements */
    struct str text;    /* the last difference */
};

struct trying {
    const struct problem *p;
    struct effort how;
    struct arena *a; /* of the answer */
    struct arena scratch;
    struct eval_context ctx;
    struct lazies all;
    struct lockstep *lockstep;
    enum equals equals;
    uint32_t narrow;  /* 0: inputs vary along all dimensions; else along which of them (struct giving) */
    uint32_t parts;   /* how many choices there are: of inputs, and of what was given in place of nodes */
    bool replaced;    /* something was */
    bool confirms;    /* what they agreed in is asked of inputs that vary along all */
    bool in_a_row;    /* elements are side by side, since those are made of the same */
    bool patient;     /* inputs that vary along some dimensions were tried, and told nothing */
    uint32_t ninputs; /* that were read, of those with more than one element, at most */
    double read;
    double least;                     /* elements that the fewest of the results are made of */
    uint32_t nfailed, nbeyond, nleft; /* readings: not evaluated, of these for a lack of ours, left in haste */
    /* of the reading at hand */
    struct compared *compared;
    struct wanted_elements *asked;
    uint32_t ncompared;
    struct lazy_demand *demand;
    int64_t elements; /* that the program makes numbers */
    int64_t skipped;  /* and that it does not */
    struct squared_distance distance[MAX_OUTPUTS];
    struct drawn numbers;
    void (*draw)(const void *self, const struct lazy *input, const int64_t *at, int64_t n,
                 double *out); /* of `drawer` */
    const void *drawer;
    double shift[MAX_LOOSE]; /* of loose constants, so that the sides agree */
    double error;            /* the largest difference, relative */
    bool given;              /* what both sides take is drawn */
    bool rounded;            /* the last difference may be one of rounding, */
    bool settled;            /* and goes where constants are what they are shifted to now */
    uint32_t nsettled;       /* differences for which that was tried */
    struct verdict v;
};

/* ---- sides.c ---- */

/* `a`: of the answer. To be freed. */
struct trying *sides_of(const struct problem *p, struct effort how, struct arena *a);
void sides_free(struct trying *t);
/* The program on inputs that are made for it. False with a reason in `ctx`. */
bool sides_begin(struct trying *t, uint32_t narrow, enum equals equals);
/* Both sides of the reading at hand, on all devices: not evaluated, different where they have other shapes, or the same
 * so far. */
enum verdict_kind sides_make(struct trying *t);
/* What is asked for, on the numbers that `draw` gives. False with a reason in `ctx`. */
bool sides_evaluate(struct trying *t);
/* How many elements may be read for one set of numbers. */
double sides_most(const struct trying *t);
/* The largest difference of what was evaluated, but for what is left of larger terms, or jumps where a constant is
 * rounded. `slack`: whether it was found what is; false at first. False: not evaluated. */
bool sides_difference(struct trying *t, const struct compared *c, bool *slack, struct difference *d);
/* The difference may be one of rounding. */
bool sides_may_be_rounded(const struct trying *t, const struct compared *c);
/* Moves constants that are loose so that the sides agree (`settled`). To be asked for last: what was compared is
 * another then. */
void sides_settle(struct trying *t);
void sides_shift(struct trying *t, const double *shift);
/* Where the element number `at` of a tensor stands: "[0, 2, 1]", in `a`. */
struct str index_text(struct arena *a, const struct shape *s, int64_t at);
enum verdict_kind sides_differ(struct trying *t, struct str text);
enum verdict_kind sides_not_evaluated(struct trying *t, const struct eval_context *b);

/* ---- choose.c ---- */

/* Up to `most` elements of each output. False: they cost more than `read` elements. */
bool elements_ask(struct trying *t, uint32_t most, double read);
/* As many as are had for a low price, of a result that is not the same function of its inputs everywhere more. */
bool elements_settle(struct trying *t);
/* The result may be another function of its inputs at some elements. */
bool elements_have_parts(const struct trying *t);

#endif
