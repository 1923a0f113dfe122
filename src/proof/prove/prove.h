/* One proof: what the ops of a match compute against the fused form of its pattern, on random numbers in f64. */
#ifndef FA_PROVE_H
#define FA_PROVE_H

#include "proof/prove/proof.h"
#include "proof/prove/verdict.h"

enum device_figures { FIGURES_NONE, FIGURES_WORMHOLE, FIGURES_BLACKHOLE };

/* The whole verdict, with the error of the device that is asked for. Tensors, texts and the reading live in `a`. */
struct proved prove_match(const struct pattern_set *set, const struct match *m, enum device_figures figures,
                          struct arena *a);

/* A proof of one match for several questions. It lives in `a`; it and its tensors end with that. */
struct proof {
    struct reference ref;
    struct fused_form form;
    struct effort effort;
    uint32_t frame;               /* the reading of the form at hand: its axes, by number, */
    struct formula_choice choice; /* and which alternatives of the form */
    bool dear;                    /* as in its verdict; then figures of the device would be, too */
};
struct proof *proof_new(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a);
/* Prepares it and runs all trials. */
struct verdict proof_run(struct proof *p);
/* Prepares it in a reading that is known, of this match or of an equal one (proofs.h). False with a reason. */
bool proof_read(struct proof *p, const struct proved_reading *known, struct str *why);

#endif
