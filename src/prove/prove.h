/* One proof: what the ops of a match compute against the fused form of its pattern, on random numbers in f64. */
#ifndef FA_PROVE_H
#define FA_PROVE_H

#include "match/match.h"
#include "prove/trials.h"
#include "prove/verdict.h"

enum device_figures { FIGURES_NONE, FIGURES_WORMHOLE, FIGURES_BLACKHOLE };

/* The whole verdict, with the error of the device that is asked for. `further`: the same match was evaluated in other
 * extents, so that fewer trials do. Tensors and texts live in `a`. */
struct proved prove_match(const struct pattern_set *set, const struct match *m, enum device_figures figures,
                          bool further, struct arena *a);
/* Kind, text and misfit only, on the numbers of a seed. */
struct proved prove_function(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a);

/* A proof of one match for several questions. It lives in `a`; it and its tensors end with that. */
struct proof *proof_new(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a);
/* Prepares it and runs all trials. TRIAL_NOT_EVALUATED with the reason where it cannot be prepared. */
struct trial_result proof_run(struct proof *p);
/* After that, TRIAL_NOT_EVALUATED: the fused form cannot be evaluated on what the pattern matched, so one of the two is
 * wrong. False where the evaluator is what lacks something. */
bool proof_misfits(const struct proof *p);

#endif
