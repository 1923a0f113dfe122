/* Adds the matches of a graph to the report as findings. */
#ifndef FA_DESCRIBE_H
#define FA_DESCRIBE_H

#include "device/chips/chip.h"
#include "device/price/perf.h"
#include "elementwise/regions.h"
#include "ir/graph/level.h"
#include "proof/prove/select.h"
#include "report/place/origin.h"
#include "report/place/tried.h"
#include "report/report.h"

/* The elementwise regions of one graph; zeroed: none was asked for. */
struct found_regions {
    const struct region_rules *rules;
    struct region_list list;
    struct proved *verdicts; /* of each region; NULL: nothing was proved */
};

/* The matches of one graph, as an audit finds them. */
struct findings {
    const struct compile *compile;
    uint32_t ngraphs; /* of the input; 1: one alone is audited */
    const struct pattern_set *patterns;
    const struct graph *graph; /* of the level that is shown */
    struct selection selection;
    struct found_regions regions;
    struct origins origins; /* zeroed where nothing is paired */
    const struct device *device;
    const struct perf_join *measured; /* times of a profiler; or NULL */
    const double *cycles;             /* of struct chips */
    const struct seen_texts *texts;   /* what the inputs show beside the modules */
    const struct inputs *inputs;      /* that the compile is of */
    const struct tried *tried;        /* places that the user's own compiler was asked about */
    bool unfused;                     /* much is missed, and no op is fused */
    bool show_slower;                 /* --include */
};

/* Adds a finding for each match and each region. The patterns have to outlive the report. True: what the fusing passes
 * made of a part of one shows that they ran. */
bool describe_findings(const struct findings *f, const struct fa_audit_options *o, struct report *r);

#endif
