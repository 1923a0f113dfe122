/* Puts matches into the report: each with its locations, segments and notes. */
#ifndef FA_DESCRIBE_H
#define FA_DESCRIBE_H

#include "graph/level.h"
#include "place/origin.h"
#include "prove/select.h"
#include "report/report.h"

/* Matches of one graph and what is known around them. */
struct findings {
    const struct compile *compile;
    uint32_t ngraphs; /* of all inputs */
    const struct pattern_set *patterns;
    const struct graph *graph; /* of the level that is shown */
    const struct selection *selection;
    const struct conflicts *conflicts; /* of each match, or NULL: none has any */
    const struct origins *origins;     /* NULL: there is one level only */
};

/* Adds an instance for each match; where the report only counts, without a text. */
void describe_findings(const struct findings *f, const struct fa_options *o, struct report *r);

#endif
