/* What an audit holds. Private to audit.c and result.c. */
#ifndef FA_AUDIT_H
#define FA_AUDIT_H

#include "device/chips/chip.h"
#include "device/price/perf.h"
#include "elementwise/rules.h"
#include "fusion_audit.h"
#include "input/log/inputs.h"
#include "proof/prove/proofs.h"
#include "report/compare/baseline.h"
#include "report/compare/diff.h"
#include "report/compare/expect.h"
#include "report/place/version.h"
#include "report/report.h"

struct fa_audit {
    const struct fa_audit_options *options; /* while it runs */
    struct arena arena;
    struct diags diags;
    struct pattern_set own;             /* read for this audit */
    const struct pattern_set *patterns; /* these or those of a library */
    struct chips chips;
    struct region_rules rules;
    enum region_kind regions; /* --include; REGION_KINDS: none */
    struct perf perf;         /* --perf */
    uint32_t perf_joined;     /* its rows that are of an op */
    const struct chip *chip;  /* --device; NULL: that of each module */
    struct tried tried;       /* what `try --why` learned */
    struct inputs inputs;
    struct seen_texts texts; /* of the inputs */
    struct report report;
    struct shown_finding **shown; /* by number, once they are asked for; NULL: none was */
    struct baseline baseline;
    struct expectations expect;
    struct fused_counts counts;
    struct inventory fused; /* with `inventory` */
    uint32_t failed;        /* expectations */
    struct proofs *proofs;  /* or NULL: nothing is proved */
    const char **remarks;   /* for --verbose */
    uint32_t nremarks, remarks_cap;
    uint32_t unfused; /* graphs in which nothing is fused and much is missed */
    bool is_read;     /* a report from a file: its findings alone */
    bool skipped;     /* an op, a function or a graph was not audited */
    bool narrowed;    /* some patterns were left out, or their findings */
    enum fa_status status;
};

#endif
