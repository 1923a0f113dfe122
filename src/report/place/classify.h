/* The state of the compiler with respect to a fusion: which pass makes it, and what is to be done. */
#ifndef FA_CLASSIFY_H
#define FA_CLASSIFY_H

#include "report/place/dumps.h"
#include "report/place/tried.h"
#include "report/place/version.h"
#include "search/match/match.h"

/* Keys that --classify adds to an entry; an empty text is printed as null. */
struct classification {
    bool given; /* --classify was given */
    struct str dialect_level, pass_status, owning_pass, existing_pattern, source_file;
};

/* Whether passes that can be switched off ran: fused ops tell that they did; FUSING_OFF: nothing tells it, and there is
 * no fused op. */
enum fusing { FUSING_UNKNOWN, FUSING_OFF, FUSING_ON };

/* What is known where a pass of the compiler is spoken of. */
struct claim {
    const struct pattern_set *set;
    const struct seen_compile *compile; /* NULL: nothing is known of it */
    const struct pattern *pattern;
    struct str signature; /* of a kernel that TTNN lacks: "(x: 32x64xbf16, eps = 1e-05) -> 32x64xbf16"; or empty */
    struct around around; /* what the dumps of its pass show of its ops */
    const struct tried_answer *tried; /* what the user's own compiler made of it; NULL: nobody asked */
    bool traced;                      /* its ops in TTIR are known, so that it can be asked */
    struct str undone;                /* how the compiler had fused it and decomposed it again; or empty */
    bool unmade;                      /* the compiler makes no such fused op, whatever is set */
    bool before;                      /* the ops are TTIR from before the compiler's passes */
    bool many;                        /* of FUSING_OFF: so much is missed that they seem to have been off */
    enum fusing fusing;               /* of passes that can be switched off, in this graph */
};

struct classification classify(const struct claim *c);
/* The pass that makes this fusion runs unless an option switches it off. */
bool claim_is_optional(const struct claim *c);

/* What to do about a place. */
enum todo_kind {
    TODO_NOTHING,
    TODO_OPTION,  /* set an option of the compiler */
    TODO_UPDATE,  /* the compiler is older than its pattern or option */
    TODO_LOOK,    /* the compiler's pattern left it; why is open */
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
    struct str
        spelled;      /* of TODO_OPTION: how it is set by who called the compiler; empty: as options of the pipeline */
    struct str why;   /* of TODO_OPTION on what it hangs, of TODO_UPDATE and TODO_LOOK the days, the signature of
                         TODO_KERNEL, the command of TODO_WRITE; or empty */
    struct str tried; /* what the user's own compiler made of it, when, and which one; or how to ask it; or empty */
    bool at_most;     /* of TODO_OPTION: what it saves is a bound, since it may not make the fusion */
    uint64_t line;    /* of TODO_LOOK and TODO_WAIT: of the dump that shows its pass; 0: none */
    struct around around; /* of TODO_LOOK, as of struct claim */
    bool ran;             /* of TODO_LOOK: the pattern is known to have run */
    bool undone;          /* of TODO_WRITE: one makes it as the device does not take it */
};

/* Part of what is said of TODO_DIALECT, and of no other. */
#define TODO_DIALECT_SAID "TTNN's library"

struct todo todo_of(const struct claim *c, struct arena *a);
static inline bool same_todo(const struct todo *a, const struct todo *b) {
    return a->kind == b->kind && str_eq(a->what, b->what) && str_eq(a->then, b->then) && str_eq(a->tried, b->tried) &&
           a->around.kind == b->around.kind && a->undone == b->undone;
}
/* Whether a pass that makes the fusion of a match also made one of its ops, of which TTIR has none there. */
bool pass_made_part(const struct pattern_set *set, const struct match *m, const struct match *origin);
const char *todo_word(enum todo_kind k); /* "set", "extend": for programs */
/* "set optimization-level=1", "request a kernel: (x: 32x64xbf16) -> 32x64xbf16": what, then why. */
void todo_name(const struct todo *t, struct buf *out);
void todo_reason(const struct todo *t, struct buf *out);
void todo_text(const struct todo *t, struct buf *out);

/* The pattern of the compiler that makes the fused op, for all that is known of its age, or else its pass; or empty. */
struct str claim_maker(const struct claim *c);
/* What stands behind the action in the notes: how the compiler had fused it and took it apart again, or the pass and
 * where it is seen; and the file of its source. */
struct str claim_behind(const struct claim *c, struct arena *a);
/* The file of the compiler's source that has that pattern, or where a new one would stand; or empty. */
struct str claim_file(const struct claim *c);
/* The version of the compiler that it was taken from; or empty. */
struct str claim_version(const struct claim *c);

#endif
