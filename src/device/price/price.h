/* What a match costs as it is, and what the fused op in its place would.
 *
 * With the fusion, the ops of the match and those it looks through go; the fused op reads what they read from outside,
 * each value once, and writes what is used outside. What fusing does not save stays: ops in between whose results have
 * other users, a permute of an operand that is stored in another order than the fused op takes, a cast where operand
 * and result differ in type, and what TTNN runs as an op of its own although the IR has one op (tt-metal
 * ttnn/cpp/ttnn/operations/matmul/matmul.cpp): the bias of a linear that is more than one row, or whose tensors are not
 * interleaved in DRAM, and the activation of a product, where no program config is given. The work of the vector unit
 * is what it was. */
#ifndef FA_PRICE_H
#define FA_PRICE_H

#include "device/price/cost.h"
#include "search/match/match.h"

struct price {
    bool known; /* the sizes of all tensors are */
    struct cost without, with;
    struct apart apart; /* of the fused op */
    double measured_us; /* of the ops as they are, by a profiler; 0: not known */
    double undone_us;   /* of the fused op as the compiler takes it apart again, estimated */
    double around_us;   /* that fusing saves at ops around the place, estimated */
    double sharding_us; /* of what it saves: by sharding the columns of a norm, which fusing alone does not; or 0 */
    double casts_us;    /* by leaving out casts of an attention that the compiler pads in between; or 0 */
};

/* What the model is off by at most, for nearly all of what users measured: tests/measured.tsv. */
#define MODEL_ERROR 1.35

/* The fused op takes longer, beyond that error. */
static inline bool price_is_slower(const struct price *x) {
    return x->known && x->with.estimated.us > MODEL_ERROR * x->without.estimated.us;
}

struct price price_match(struct pricer *p, const struct match *m, const struct match_detail *detail);
/* At the ops of the place: of what was measured, the part that the estimate says; else of the estimate. Below 0: fusing
 * is slower; what may be the error of the model is no difference. */
static inline double price_saved_here_us(const struct price *x) {
    double saved = x->without.estimated.us - x->with.estimated.us;
    if (!x->known || (saved < 0 && !price_is_slower(x)))
        return 0;
    return x->measured_us > 0 ? saved / x->without.estimated.us * x->measured_us : saved;
}

/* What it may save within that error. */
static inline double price_saved_at_best_us(const struct price *x) {
    double saved = x->without.estimated.us - x->with.estimated.us / MODEL_ERROR;
    if (!x->known)
        return 0;
    return price_is_slower(x) ? saved : saved + x->around_us;
}

/* What the time of the model falls by, where this place alone is fused. */
static inline double price_saved_us(const struct price *x) {
    double saved = price_saved_here_us(x);
    return price_is_slower(x) ? saved : saved + x->around_us;
}

/* The part of it that a pass saves which fuses and no more. */
static inline double price_saved_by_pass_us(const struct price *x) {
    double saved = price_saved_us(x), alone = saved - x->sharding_us - x->casts_us;
    return saved <= 0 ? saved : alone > 0 ? alone : 0;
}

/* Less is no time. */
#define NO_TIME_US 0.05

static inline int64_t price_saved_launches(const struct price *x) {
    return x->without.counted.launches - x->with.counted.launches;
}

/* It saves launches, and is not slower: where the compiler has the fusion, that counts alone. */
static inline bool price_saves_launches(const struct price *x) {
    return price_saved_launches(x) > 0 && !price_is_slower(x);
}

/* Nothing is saved that is worth telling. */
static inline bool price_saves_nothing(const struct price *x, bool compiler_has_it) {
    return x->known && price_saved_us(x) < NO_TIME_US && !(compiler_has_it && price_saves_launches(x));
}

/* The part of it that a fusion saves which the compiler takes apart again. */
static inline double price_saved_undone_us(const struct price *x) {
    double all = x->without.estimated.us - x->with.estimated.us, some = x->without.estimated.us - x->undone_us;
    return some > 0 && all > some ? some / all * price_saved_here_us(x) : 0;
}

/* What is saved once the fused op yields `unmoved`, and `moved` is made of it in `moving_us` only where that is wanted:
 * 0 where nothing moves it back. */
double around_us(struct pricer *p, uint32_t unmoved, uint32_t moved, double moving_us);

/* What moves a value for the op behind it alone, or `behind` the op that makes it: 0 where its last dimension stays. */
double moved_for_us(struct pricer *p, uint32_t value, bool behind);

/* What fusing saves beside time; below 0 where the fused op takes more. */
struct saved {
    int64_t launches, dram_bytes, l1_bytes;
};
struct saved price_saved(const struct price *x);

/* Us of all ops that run, and of each of them in `of_ops`: measured where all that runs at the location of one is, else
 * estimated. `alike`: as that of struct match_list; or NULL. */
double graph_us(struct pricer *p, const uint64_t *alike, double *of_ops);

/* "n150", "wormhole_b0" as the module states it, "n150 assumed". */
struct str device_label(const struct device *d, struct arena *a);
/* The text behind `saves:` in the notes: "about 296 of 332 ms (11 launches, 60.4 GB of DRAM traffic, DRAM-bound,
 * n150)". `d`: NULL: not told. `beside`: what that is beside other fused ops, or empty. Empty: sizes are not known. In
 * `a`. */
struct str price_line(const struct price *x, const struct device *d, struct str beside, struct arena *a);
/* What such a line of a report says to be saved: price_saved_us, in fewer digits. */
double price_line_us(struct str line);
double us_as_said(double us); /* in these digits */
/* All figures, those of the fused op with the suffix `_fused`. None as above. */
struct figures price_figures(const struct price *x, const struct device *d, struct arena *a);

#endif
