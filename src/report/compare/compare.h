/* The one comparison of findings: which of two lists are the same, behind baselines, diff and summary --before. */
#ifndef FA_COMPARE_H
#define FA_COMPARE_H

#include "base/writer.h"
#include "report/finding.h"
#include "report/place/fingerprint.h"

/* The fingerprints in an array of structs: where the first one is, and the size of a struct. */
struct fingerprints {
    const struct fingerprint *first;
    uint32_t n;
    size_t step;
};

/* For each of `now` the index of the one of `before` that it is, or NONE; each is taken once; to be freed. First those
 * that are equal; then those of one structure at one named place; then those of one structure whose ranks are what they
 * were, or have shifted as far as ops of their like came or went before them. So a gain and a loss in two layers that
 * are alike are two changes, and a layer more is one. */
uint32_t *fingerprints_pair(struct fingerprints before, struct fingerprints now);

/* Of those that are left of both, pairs those of one key; 0 is none. */
void keys_pair(const uint64_t *before, uint32_t nbefore, const uint64_t *now, uint32_t nnow, uint32_t *before_of);

/* ---- findings ---- */

enum finding_change { FINDING_NEW, FINDING_CHANGED, FINDING_GONE, FINDING_CHANGES };

struct changed_finding {
    enum finding_change kind;
    struct finding *finding;
};

struct findings_compared {
    uint32_t *before_of; /* by finding now: the one that it is, or that it was before it changed; NONE: new */
    bool *is_there;      /* by finding before: it is one of now */
    struct changed_finding *changes; /* new ones, changed ones, gone ones */
    uint32_t nchanges, cap, counts[FINDING_CHANGES];
};

/* One that is missed at the same named place in other ops, and costs no more, is changed. Free with
 * findings_compared_free. */
struct findings_compared findings_compare(const struct finding_list *before, const struct finding_list *now);
void findings_compared_free(struct findings_compared *c);
/* The list of changes. */
void findings_compared_write(const struct findings_compared *c, struct writer *w);

#endif
