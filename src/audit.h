/* What an audit holds, and its rooms between reading and reporting. Private to audit.c and audit_*.c. */
#ifndef FA_AUDIT_H
#define FA_AUDIT_H

#include "base/work.h"
#include "fusion_audit.h"
#include "inputs.h"
#include "pair/pair.h"
#include "pattern/match.h"
#include "prove/proofs.h"
#include "report/flow.h"
#include "report/report.h"

struct fa_audit {
    const struct fa_options *options; /* while it runs */
    struct arena arena;
    struct diags diags;
    struct arena input_arena; /* of what is read while the patterns are */
    struct diags input_diags;
    struct work_board *board; /* meanwhile, for threads that have nothing else to do; or NULL */
    struct pattern_set patterns;
    struct inputs inputs;
    struct report report;
    struct proofs *proofs; /* or NULL: nothing is proved */
    const char **remarks;
    uint32_t nremarks, remarks_cap;
    uint32_t unfused; /* graphs */
    bool has_patterns;
    bool skipped; /* an op, a function or a graph was not audited */
    enum fa_status status;
};

struct refuted {
    struct match match;
    struct str text; /* the line that says so */
};

/* What one thread describes matches with, and what it has said of those of the batch. */
struct describer {
    struct arena said;                    /* as long as a batch */
    struct arena arena;                   /* as long as one match is described */
    struct arena kept;                    /* as long as the graph */
    struct matcher *closer, *ttir_closer; /* or NULL */
    uint8_t *marks;                       /* for pair_segment, or NULL */
    struct buf text;                      /* room for one instance */
};

/* What is at hand while one graph is audited. Graphs may be audited side by side: each has its own. */
struct graph_audit {
    struct fa_audit *a;
    const struct compile *compile;
    struct level ttir, ttnn;
    struct level *shown; /* the level that decides */
    struct pairing pairing;
    const struct pairing *pairs; /* or NULL: there is nothing to pair */
    struct match_list matches, ttir_matches;
    struct rivals *rivals;   /* of each match, or NULL */
    struct proved *verdicts; /* of each match, or NULL */
    struct refuted *refuted; /* what was matched and computes something else */
    uint32_t nrefuted, refuted_cap;
    bool blackhole;               /* the chip that the text says; else Wormhole */
    bool unfused;                 /* much is missed and nothing is fused */
    struct arena arena;           /* as long as this graph */
    struct describer *describers; /* of each thread */
    struct instance *batch;       /* of the matches from `described` on */
    uint32_t described;
    struct flow *flow; /* or NULL: nothing is described */
    struct diags diags;
    uint32_t jobs;                  /* threads for this graph */
    struct alike_memory **memories; /* of each of them */
    struct work_order *order;       /* of what is handed over */
    uint32_t turn;
};

/* audit_match.c: the matches in a graph, function by function. Of those that overlap the winners only where `settle`.
 */
void audit_match_level(struct graph_audit *g, const struct graph *graph, bool settle, struct match_list *out);

/* audit_prove.c: the matches that are reported, and their verdicts. */
void audit_find_matches(struct graph_audit *g);

/* audit_origin.c: the ops of a match. */
struct segment audit_segment(const struct match *m, struct arena *a);
/* The TTIR side of a TTNN match; `origin`: the match there, if it is one, else NULL. */
struct segment audit_ttir_segment(const struct graph_audit *g, struct describer *by, const struct match *m,
                                  const struct match **origin);

/* audit_describe.c: what the report says of the matches, a batch at a time: those from `described` on. */
void audit_describe_begin(struct graph_audit *g);
void audit_describe_batch(struct graph_audit *g);
void audit_report_batch(struct graph_audit *g); /* what was described; the next batch's turn */
void audit_describe_end(struct graph_audit *g);

/* audit_say.c: remarks, and notes on whole graphs. */
void audit_remark(struct fa_audit *a, struct str text);
void audit_remark_graph(const struct graph_audit *g);
void audit_say_given_up(const struct graph_audit *g);
bool audit_is_unfused(const struct graph_audit *g); /* much is missed and nothing is fused */
void audit_say_unfused(struct fa_audit *a);

/* Whether 4 MB of text lie between a match and the one before it: what was read of the text may go. */
static inline bool audit_steps(const struct match_list *list, uint32_t i) {
    const struct match *m = &list->items[i];
    const struct mlir_op *ops = m->graph->m->ops;
    return i > 0 && source_step(ops[(m - 1)->ops[0]].text.begin, ops[m->ops[0]].text.begin);
}

#endif
