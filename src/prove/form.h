/* What a match computes and what its fused form makes of the same operands, on tensors. Shared by the files of the
 * prover. */
#ifndef FA_PROVE_FORM_H
#define FA_PROVE_FORM_H

#include "numeric/numeric.h"
#include "prove/compare.h"
#include "prove/prove.h"
#include "reduce/interpret_graph.h"

enum { MAX_LEAVES = 64, MAX_INSIDE = 512, MAX_FRAMES = 8 };

struct sides;

/* In whose axes a form is evaluated. */
struct frame {
    uint32_t slot;   /* of the pattern; NONE: the formula's own axes */
    uint32_t behind; /* a batch normalisation between the root and it; or NONE */
};

/* What a condition decides: nothing, something, what is hidden, what is not. */
enum truth { TRUTH_NONE, TRUTH_DECIDES, TRUTH_HIDES, TRUTH_OPENS };

struct leaf {
    uint32_t value;
    const struct tie *tie;       /* the number that it holds, or NULL */
    bool positive;               /* the pattern says that it is */
    bool replicated;             /* the same on each device */
    const struct formula *holds; /* the pattern says that it is this of something; or NULL */
    enum truth truth;
    bool index; /* an integer that may point to an element */
    int mask;   /* the sign of the infinity that hides an element of it; or 0 */
};

enum { MAX_LIMITS = 16 };

/* Numbers at which the match does something else. */
struct limits {
    double at[MAX_LIMITS];
    uint32_t n;
    double epsilon; /* the smallest of the small numbers that it adds; 0: none */
    bool integers;  /* it takes some that are no indices */
};

struct proof {
    struct prover *prover;
    const struct match *match;
    const struct example *example;
    struct arena *arena;
    struct bench bench;

    /* of the match */
    struct match_bound bound;
    uint32_t inside[MAX_INSIDE], ninside; /* ops that are evaluated */
    struct leaf leaves[MAX_LEAVES];       /* what they start from */
    struct given given[MAX_LEAVES];
    uint32_t nleaves;
    struct limits limits;
    bool too_many;
    bool sorts;                   /* some matched op does */
    const struct axes *root_axes; /* the formula's */
    uint32_t work_axis;           /* along which the match works, as an axis of the formula; NONE: the last, or none */

    /* of the fused form */
    bool own; /* the pattern's own formula stands for the fused form */
    const struct formula *fused;
    bool whole[MAX_SLOTS]; /* names whose values are as they are printed */
    struct formula_like like;
    struct frame frames[MAX_FRAMES], frame;
    uint32_t nframes;
    bool finite;            /* only what is a finite number is compared */
    bool few;               /* the trials that a first look takes */
    bool same_outside;      /* it computes the same in what is stated to be no part of the claim */
    bool approximate;       /* some line agrees within the bound of the pattern only */
    uint64_t spent, budget; /* elements and steps of all evaluations, and after which no more are tried */
    uint64_t plain;         /* spent on plain numbers */
    struct formula_choice choice;
    uint32_t nfailed, nbeyond; /* evaluations of it that failed; those that could not but fail (bench_beyond) */
    struct sides *sides;       /* the match on the tensors at hand */
    struct mesh *devices;      /* devices.h; NULL: there is one */
};

/* The op is one of those that are evaluated. */
static inline bool proof_evaluates(const struct proof *p, uint32_t op) {
    for (uint32_t i = 0; i < p->ninside; i++)
        if (p->inside[i] == op)
            return true;
    return false;
}

/* One line of the fused form and the value of the match that it stands for. */
struct outcome {
    const struct tensor *want, *got; /* of one shape */
};

/* A formula of the pattern, in which fused ops may stand; NULL with a reason. */
const struct formula *form_read(struct proof *p, struct str text);
/* Reads the form and finds what the match binds. False with a reason in the bench. */
bool form_prepare(struct proof *p);
/* The slot of the pattern that a name of the fused form means; NONE: the form's own. */
uint32_t form_slot(const struct proof *p, uint32_t fused_slot);
/* The pattern's formula. */
const struct formula *form_pattern(const struct proof *p);
/* The pattern says of this match that these inputs are no part of the claim. */
bool form_outside(const struct proof *p, enum outside what);
bool form_is_bound(const struct proof *p, uint32_t slot);
/* The value of the match that the last line of the form stands for. */
uint32_t form_root(const struct proof *p);

enum { MAX_OUTCOMES = 8 };
/* Evaluates the match on the tensors given, in the arena of the bench. False with a reason. */
bool form_begin(struct proof *p);
/* After that: the names of the form in the frame. False with a reason. */
bool form_names(struct proof *p);
/* After that: evaluates the form with one choice. The number of lines, 0 with a reason in the bench. A form of another
 * shape is a line whose `got` has that shape. */
uint32_t form_evaluate(struct proof *p, struct outcome out[MAX_OUTCOMES]);

/* The tensor that a convolution or pool reads, without what a matched pad added to it; NULL with a reason. */
const struct tensor *form_unpadded(struct proof *p, uint32_t op, const struct binding *pad, const struct tensor *t);
/* `padding=p` where p is a matched pad: the padding of the op and of the pad together. */
bool form_padding(const struct proof *p, uint32_t op, const struct binding *pad, const char *key, struct str *out);

#endif
