/* What is told of a match beside its ops: facts, which a report puts into words. */
#ifndef FA_NOTES_H
#define FA_NOTES_H

#include "report/place/classify.h"
#include "report/place/flow.h"
#include "report/place/segment.h"
#include "search/match/match.h"

/* What all matches of a graph share. */
struct note_context {
    const struct pattern_set *set;
    const struct seen_compile *compile;
    struct flow *flow;
    struct matcher *origin_query; /* of the TTIR graph, for TTIR counterparts of TTNN matches */
    bool before_passes;           /* the ops shown are TTIR: the compiler's passes have yet to run */
    enum fusing fusing;           /* as fused ops tell */
};

/* Lists of sentences or names. */
struct notes {
    struct str sentence; /* what is there, and what it collapses to */
    bool decomposed;     /* the compiler took a fused op apart here for a reason of the op */
    struct str_list blocked, remarks, slices, outside, preconditions; /* as of struct match_detail */
    struct str_list carried;   /* attributes of the frontend that the fused op has to keep: "NAME = VALUE of %3 (OP)" */
    struct str place;          /* the model location; or empty */
    struct str_list names;     /* in the model, that tell it */
    struct str source;         /* lines of the model in Python: "modeling_qwen3.py:188 (forward)"; or empty */
    struct str torch;          /* the op of PyTorch; or empty */
    struct str_list call;      /* arguments of the fused op in Python */
    struct str_list locations; /* the innermost name in the location of each op, each once */
    struct claim claim;        /* of the compiler */
    uint32_t between; /* other ops between the first and the last one shown: constants and loads of cached ones, which
                         can be moved freely, do not count */
};

/* Of a match whose ops are `shown` in textual order. `origin`: of a TTNN match its counterpart in TTIR, or NULL. In `a`
 * or in the graph. */
struct notes notes_of(const struct note_context *c, const struct match *m, const struct match_detail *detail,
                      const struct segment *shown, const struct match *origin, const struct claim *claim,
                      struct arena *a);
/* The part of it that is of the compiler. */
struct claim claim_of(const struct note_context *c, const struct match *m, const struct match *origin,
                      const struct match_detail *detail, struct arena *a);
/* The innermost name in the location of each of its ops, each once. */
struct str_list locations_of(const struct match *m, struct arena *a);
/* The lines of Python in the locations of ops: "modeling_qwen3.py:188 (forward), lines 200 to 202"; or empty. */
struct str source_of(const struct segment *s, struct arena *a);
/* The op comes from this line of a file, or from the function that begins there. */
bool op_is_from(const struct mlir *m, uint32_t op, struct str file, uint64_t line);
/* The ir_loc of a match: location aliases of the ops in textual order, each once, comma-separated; the location's text
 * where there is no alias. */
struct str ir_loc_of(const struct match *m, struct arena *a);

#endif
