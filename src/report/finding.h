/* A missed fusion at one place: facts. A printer turns them into words. */
#ifndef FA_FINDING_H
#define FA_FINDING_H

#include "device/price/price.h"
#include "proof/prove/verdict.h"
#include "report/drawing.h"
#include "report/place/fingerprint.h"
#include "report/place/notes.h"

/* From the first character of an op to behind its last one; lines are 0 where there is none. */
struct extent {
    struct source_location begin, end;
};
struct extent extent_of(const struct mlir *m, uint32_t op);

/* Ops of one level as a report shows them. */
struct shown_ops {
    struct str text, lines; /* as the input has them; "12-14, 20". Empty: the level is missing */
    struct extent first;    /* of them */
    struct str module;      /* with these ops alone, where it is asked for; or empty */
};

/* Of one that is read from a file only the first group is known. */
struct finding {
    struct str fused_op, source, ir_loc, place; /* place: the model location, or empty */
    struct str layer;                           /* "layer 3"; or empty. Not copied by finding_add */
    struct str lacks;                           /* what the dialect of TTNN lacks of a direct one; or empty */
    double saved_us; /* what the model's time falls by, where this alone is fused, in the digits that notes say: of sums
                        all parts add up; below 0: fusing is slower */
    struct fingerprint fingerprint;
    struct str known;  /* why a baseline has it; empty: it has not */
    struct str action; /* what is to be done about its entry; or empty. Set by report_sort */
    bool fails;        /* it is new, and makes the audit fail */

    const struct pattern *pattern;
    struct str_list component_ops;
    struct classification class; /* where it is asked for */
    struct str label;            /* "%12 (ttnn.add)": what others call it */
    struct shown_ops ttir, ttnn;
    struct drawing drawing; /* not copied by finding_add */
    struct notes notes;
    struct todo todo;
    uint64_t kind; /* of standalone_kind; 0: not known, or not asked for */
    struct price price;
    const struct device *device; /* that it is of */
    const struct proved *proof;  /* NULL: nothing was evaluated */
    struct str known_defect;     /* what the compiler's own pattern takes, too; or empty */
    struct str_list instead_of;  /* fused ops that take its ops */
    double more_us;              /* what it saves more than these together */
    double counts_us;            /* its part of the sum of the report; of an op of TTNN that is more_us, too */
    double gains_us;             /* what it saves at all its places, beside what others save there */
    bool left_out;               /* of the report, since its entry saves too little */
    uint32_t needless;           /* how many of its places save no more */
    uint32_t graph, ngraphs;     /* number and count in the input */
    uint32_t places;             /* that it stands for: others differ in names and locations only */
    uint32_t counted;            /* how many of these nothing else takes the ops of */
    uint32_t copies;             /* how often that graph was compiled */
    bool unpaired;               /* no TTIR ops are known that its TTNN ops descend from */

    uint64_t alike;                /* equal for places of an entry that differ in names and locations only */
    const struct finding *same_as; /* such a one before it in the report; or NULL. Set by report_sort */
    bool agrees;                   /* its proof says what that of the first one of its entry says. As above */
    uint64_t told;                 /* bits of its lines_told_once that an earlier place of its entry says. As above */
    uint32_t number;               /* in the list */
};

struct finding_list {
    struct finding **items; /* freed by the owner of the list; the findings are in an arena */
    uint32_t n, cap;
    struct shared_texts *shared; /* by them; in the arena */
};

/* Adds a copy, which is returned; of a list always in the same arena. */
struct finding *finding_add(struct finding_list *l, const struct finding *f, struct arena *a);
/* A line of notes: its part of the text, behind "KEY: ", or from the begin of the line where the key is empty. */
struct note_line {
    const char *key;
    size_t at, n;
};

/* Lines, and the text that they make. A zeroed struct is empty. */
struct note_lines {
    struct buf text;
    struct note_line *items;
    uint32_t n, cap;
};
void note_lines_free(struct note_lines *l);

/* Lines that an entry says once: what the fused op demands, what the pattern remarks, what is outside of the claim.
 * Returns how many there are. */
enum { MOST_TOLD_ONCE = 64 };
uint32_t lines_told_once(const struct finding *f, struct str out[MOST_TOLD_ONCE]);
/* Equal for lines that differ in names, numbers and shapes only. */
uint64_t line_hash(struct str line);

/* What an entry says at its first place, beside what is of the finding. */
struct notes_of_entry {
    struct str all_ops, version, action; /* or empty */
    bool first;
    uint32_t agreeing, places; /* of it: of how many the proof says what that of the first one says */
    bool details;              /* all figures */
};

/* What the notes of a report say, in a fixed order: what collapses to what, remarks of the pattern, verdict, what is
 * saved, place in the model, source, torch ops, locations, what is to be done, the compiler's version, graph, layout of
 * the segment. A line without content is left out. Replaces what is in `out`, and returns its text. */
struct str finding_notes(const struct finding *f, const struct notes_of_entry *e, struct note_lines *out);
/* The first line of the notes, and that behind `model location:`. */
struct str finding_sentence(const struct finding *f);
/* "12 to 18": of the dump, where they are all that tells the place; or empty. In `a`. */
struct str finding_lines(const struct finding *f, struct arena *a);
#define PLACE_NOT_STATED "not stated in the input (no parameter name nearby)"
struct str finding_place(const struct finding *f);

#endif
