/* The state of the compiler with respect to a fusion: which pass makes it, and why it did not here. */
#ifndef FA_CLASSIFY_H
#define FA_CLASSIFY_H

#include "match/match.h"

/* Keys that --classify adds to an entry; an empty text is printed as null. */
struct classification {
    bool given; /* --classify was given */
    struct str dialect_level, pass_status, owning_pass, existing_pattern;
};

struct classification classify(const struct pattern *p, bool undone);
/* What is known where a pass of the compiler is spoken of. */
struct claim {
    const struct pattern_set *set;
    const struct pattern *pattern;
    const struct match_detail *detail; /* of the ops that the pass sees, as far as they are known */
    bool before;                       /* the ops are TTIR from before the compiler's passes */
    bool lowered;                      /* the pass works on TTIR, but `detail` is of the TTNN ops */
};

/* What to do about a place. */
enum todo_kind {
    TODO_NOTHING,
    TODO_OPTION,  /* set an option of the compiler */
    TODO_EXTEND,  /* a pattern of the compiler refuses, and says why */
    TODO_LOOK,    /* that pattern did not fire; why is open */
    TODO_WRITE,   /* no pass makes it */
    TODO_DIALECT, /* TTNN's library has the kernel, its dialect has no op */
    TODO_KERNEL,  /* there is none: request it */
    TODO_WAIT,    /* the pass has yet to run */
    TODO_LEAVE,   /* the fused op is slower */
};

struct todo {
    enum todo_kind kind;
    struct str what; /* "optimization-level=1"; the pattern or pass; "TTIR"; or empty */
    struct str why;  /* of TODO_EXTEND and TODO_LOOK; or empty */
};

struct todo todo_of(const struct claim *c, bool undone, struct arena *a);
/* "set optimization-level=1", "extend SDPAFusingPattern: it wants tensors of rank 4". */
void todo_text(const struct todo *t, struct buf *out);

/* The text behind `compiler:` in the notes: whether the compiler's own pattern fires, or why it does not. Empty when
 * the pattern says nothing of the compiler. */
struct str classification_note(const struct claim *c, struct arena *a);
/* The version of the compiler that such claims were taken from; or empty. */
struct str version_of_claims(const struct pattern_set *set, const struct pattern *p);

#endif
