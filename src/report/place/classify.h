/* The state of the compiler with respect to a fusion: which pass makes it, and why it did not here. */
#ifndef FA_CLASSIFY_H
#define FA_CLASSIFY_H

#include "search/match/match.h"

/* Keys that --classify adds to an entry; an empty text is printed as null. */
struct classification {
    bool given; /* --classify was given */
    struct str dialect_level, pass_status, owning_pass, existing_pattern, source_file;
};

/* Whether passes that can be switched off ran: fused ops tell that they did, what they missed that they did not. */
enum fusing { FUSING_UNKNOWN, FUSING_OFF, FUSING_ON };

/* What is known where a pass of the compiler is spoken of. */
struct claim {
    const struct pattern_set *set;
    const struct pattern *pattern;
    struct str_list fails, undecided; /* as of struct match_detail, of the ops that the pass sees, as far as they are
                                         known: preconditions that fail, what decides whether the pass fires */
    uint64_t refusal;                 /* which of these two hold */
    struct str signature;             /* of a kernel that TTNN lacks: "(x: 32x64xbf16, eps = 1e-05) -> 32x64xbf16"; or
                                         empty */
    struct str undone;                /* how the compiler had fused it and decomposed it again; or empty */
    bool before;                      /* the ops are TTIR from before the compiler's passes */
    bool lowered;                     /* the pass works on TTIR, but the lists are of the TTNN ops */
    enum fusing fusing;               /* of passes that can be switched off, in this graph */
    bool ran;                         /* the pass did run: it made some of these ops */
};

struct classification classify(const struct claim *c);
/* A pass that runs unless it is switched off would have made this fusion, which would still be there. `located`: the
 * ops have several locations, which those of a fused op that was taken apart have not. */
bool claim_is_sure(const struct claim *c, bool located);

/* What to do about a place. */
enum todo_kind {
    TODO_NOTHING,
    TODO_OPTION,  /* set an option of the compiler */
    TODO_EXTEND,  /* a pattern of the compiler refuses, and says why */
    TODO_LOOK,    /* that pattern did not fire; why is open */
    TODO_WRITE,   /* no pass makes it */
    TODO_DIALECT, /* TTNN's library has the kernel; its dialect lacks the op or a part of it */
    TODO_KERNEL,  /* there is none: request it */
    TODO_WAIT,    /* the pass has yet to run */
    TODO_LEAVE,   /* the fused op is slower */
};

struct todo {
    enum todo_kind kind;
    struct str what;  /* "optimization-level=1"; the pattern or pass; "TTIR"; or empty */
    struct str then;  /* of TODO_OPTION: another one that it takes beside that; or empty */
    struct str needs; /* of TODO_OPTION: what the last of them asks of the compiler; or empty */
    struct str why; /* of TODO_EXTEND and TODO_LOOK, of TODO_OPTION what it also hangs on, the signature of TODO_KERNEL;
                       or empty */
};

struct todo todo_of(const struct claim *c, struct arena *a);
static inline bool same_todo(const struct todo *a, const struct todo *b) {
    return a->kind == b->kind && str_eq(a->what, b->what) && str_eq(a->then, b->then);
}
/* Whether a pass that makes the fusion of a match also made one of its ops, of which TTIR has none there. */
bool pass_made_part(const struct pattern_set *set, const struct match *m, const struct match *origin);
const char *todo_word(enum todo_kind k); /* "set", "extend": for programs */
/* "set optimization-level=1", "extend SDPAFusingPattern: it wants tensors of rank 4": what, then why. */
void todo_name(const struct todo *t, struct buf *out);
void todo_reason(const struct todo *t, struct buf *out);
void todo_text(const struct todo *t, struct buf *out);

/* The text behind `compiler:` in the notes: whether the compiler's own pattern fires, or why it does not. Empty when
 * the pattern says nothing of the compiler. */
struct str classification_note(const struct claim *c, struct arena *a);
/* The file of the compiler's source that has that pattern, or where a new one would stand; or empty. */
struct str claim_file(const struct claim *c);
/* The version of the compiler that it was taken from; or empty. */
struct str claim_version(const struct claim *c);

#endif
