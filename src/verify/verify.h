/* The comparisons of one run of `verify`, and the report on them. Private to the files of the folder behind
 * fa_verify. */
#ifndef FA_VERIFY_H
#define FA_VERIFY_H

#include "fusion_audit.h"
#include "graph/level.h"
#include "library/pattern.h"
#include "verify/compare_modules.h"

/* Two modules that are compared: those of two files, or of two stages of a log. */
struct stage_pair {
    struct level_text text[SIDES];
    struct str pass; /* that made AFTER; or empty */
    const struct pattern_set *lowerings;
    /* results */
    struct buf report; /* entries */
    struct buf answer; /* for standard output: of --precision or --at */
    uint32_t ndifferences, nundecided, answers[SIDES][ANSWER_NOT_COMPARED + 1];
    uint32_t globs;     /* of --only: a bit for each that AFTER has */
    bool skipped;       /* a part of a module could not be read */
    struct str why;     /* nothing was compared; or empty */
    struct str missing; /* the most frequent reason why ops were not compared; or empty */
    struct str trusted; /* "name = value" of what was taken on trust, separated by "; " */
    uint32_t ntrusted;
    struct arena arena;
    struct diags diags;
};

struct fa_verification {
    const struct fa_verify_options *options;
    struct arena arena;
    struct diags diags;
    struct pattern_set lowerings;
    struct source_list sources;
    struct log_scan *scans;
    struct stage_pair *pairs;
    uint32_t npairs, pairs_cap;
    struct buf report, text;
    struct watch *watch; /* or NULL */
    uint32_t ndifferences, nundecided, answers[SIDES][ANSWER_NOT_COMPARED + 1];
    enum fa_status status;
};

/* All of the answers, which are one for each compute op. */
static inline uint32_t count_answers(const uint32_t answers[ANSWER_NOT_COMPARED + 1]) {
    return answers[ANSWER_PROVED] + answers[ANSWER_DIFFERENT] + answers[ANSWER_NOT_COMPARED];
}
/* Which modules are compared, from the files. FA_CLEAN, or FA_USAGE or FA_INPUT with diagnostics. */
enum fa_status find_pairs(struct fa_verification *v);
/* Appends the entries of a comparison to the report of the pair. */
void print_entries(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                   const struct fa_verify_options *o);
/* Appends the entry of a region, whatever was found. */
void print_region(struct buf *out, const struct stage_pair *p, const struct compared_region *r,
                  const struct level levels[SIDES]);
/* Appends the ops of a region in both modules, as they are written. */
void print_segments(struct buf *out, const struct compared_region *r, const struct level levels[SIDES]);
/* The entries of what is at options.at. */
void print_place(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                 const struct fa_verify_options *o);
/* The list of what the device loses, where it is asked for. */
void print_precision(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                     const struct fa_verify_options *o);
/* The whole report. */
void print_check(struct fa_verification *v);

#endif
