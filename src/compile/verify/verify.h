/* The comparisons of one run of `verify`, and the report on them. Private to the files of the folder behind
 * fa_verify. */
#ifndef FA_VERIFY_H
#define FA_VERIFY_H

#include "base/writer.h"
#include "compile/verify/check_entry.h"
#include "fusion_audit.h"
#include "ir/graph/level.h"
#include "patterns/library/pattern.h"

/* Two modules that are compared: those of two files, or of two stages of a log. */
struct stage_pair {
    struct level_text text[SIDES];
    struct str pass; /* that made AFTER; or empty */
    const struct pattern_set *lowerings;
    uint64_t seed; /* as in fa_verify_options */
    /* results */
    struct check_list checks; /* entries of the report */
    struct buf answer;        /* for standard output: of --at */
    uint32_t ndifferences, nundecided, answers[SIDES][ANSWER_NOT_COMPARED + 1];
    uint32_t globs;     /* of --only: a bit for each that AFTER has */
    bool skipped;       /* a part of a module could not be read */
    struct str why;     /* nothing was compared; or empty */
    struct str missing; /* the most frequent reason why ops were not compared; or empty */
    struct arena arena;
    struct diags diags;
};

struct fa_verification {
    const struct fa_verify_options *options; /* while it runs */
    const char *paths[2];                    /* of the files; NULL: there is none */
    bool narrowed;                           /* by `only` */
    struct arena arena;
    struct diags diags;
    struct pattern_set lowerings;
    struct source_list sources;
    struct log_scan *scans;
    struct stage_pair *pairs;
    uint32_t npairs, pairs_cap;
    struct buf text;
    uint32_t ndifferences, nundecided, answers[SIDES][ANSWER_NOT_COMPARED + 1];
    enum fa_status status;
};

/* All of the answers, which are one for each compute op. */
static inline uint32_t count_answers(const uint32_t answers[ANSWER_NOT_COMPARED + 1]) {
    return answers[ANSWER_PROVED] + answers[ANSWER_DIFFERENT] + answers[ANSWER_NOT_COMPARED];
}
/* Which modules are compared, from the files. FA_CLEAN, or FA_USAGE or FA_INPUT with diagnostics. */
enum fa_status find_pairs(struct fa_verification *v);
/* Adds what was found to the checks of the pair. */
void check_pair(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                const struct fa_verify_options *o);
/* Adds a region, whatever was found. */
void check_region(struct check_list *l, struct stage_pair *p, const struct compared_region *r,
                  const struct level levels[SIDES]);
/* The ops of a region in both modules, as they are written. */
void check_segments(struct check *c, const struct compared_region *r, const struct level levels[SIDES],
                    struct arena *a);
void check_add(struct check_list *l, const struct check *c);
/* The entries of what is at options.at. */
void print_place(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                 const struct fa_verify_options *o);
/* The whole report, or entries alone, in YAML. False when the stream fails. */
bool check_print(const struct fa_verification *v, enum markup markup, FILE *out);
bool checks_print(const struct check_list *l, FILE *out);

#endif
