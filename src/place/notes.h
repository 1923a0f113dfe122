/* The notes of an instance: lines of text about one match for the report. */
#ifndef FA_NOTES_H
#define FA_NOTES_H

#include "match/match.h"
#include "place/classify.h"
#include "place/flow.h"
#include "place/segment.h"

/* What all matches of a graph share. */
struct note_context {
    const struct pattern_set *set;
    struct flow *flow;
    struct matcher *origin_query; /* of the TTIR graph, for TTIR counterparts of TTNN matches */
    bool before_passes;           /* the ops shown are TTIR: the compiler's passes have yet to run */
    uint32_t copies;              /* how often the graph was compiled */
    uint32_t graph, ngraphs;      /* number and count in the input */
};

/* What the notes say of a match beside what it binds. */
struct match_facts {
    const struct segment *shown; /* its ops in textual order */
    const struct match_detail *detail;
    const struct match *origin; /* of a TTNN match: its counterpart in TTIR, if there is one */
    bool unpaired;              /* of a TTNN match: no TTIR ops are known that it descends from */
    struct str_list conflicts;  /* fused ops that compete for its ops */
    struct str beside;          /* a wrong fusion beside it; or empty */
    struct str verdict;         /* of the proof: "validated: ..."; or empty */
    struct str saves;           /* what fusing saves; or empty */
    struct str memory;          /* the precondition that it fits into memory, where that is in doubt; or empty */
};

/* What notes say that a report also says elsewhere, or once for several places. */
struct note_marks {
    struct todo todo;
    bool undone;                   /* the compiler had fused it and decomposed it again */
    struct span verdict, compiler; /* these paragraphs; may be empty */
    struct str version;            /* of the compiler, where one of its passes is spoken of */
    struct str place;              /* the model location; or empty */
    struct str_list names;         /* in the model, that tell it */
};

/* The notes of a match, line by line, in the arena. */
struct str notes_of(const struct note_context *c, const struct match *m, const struct match_facts *facts,
                    struct note_marks *marks, struct arena *a);
/* The ir_loc of a match: location aliases of the ops in textual order, each once, comma-separated; the location's text
 * where there is no alias. */
struct str ir_loc_of(const struct match *m, struct arena *a);

#endif
