/* What the files of this folder share while they write a pattern, as C++ or as PDLL. Private to the folder.
 *
 * A formula is written from its leaves up: a line of it, and what an idiom names, becomes a member before the first one
 * that uses it. What the language cannot say ends a part with an empty text; `why` is then the first reason. */
#ifndef FA_REWRITE_CPP_H
#define FA_REWRITE_CPP_H

#include "patterns/library/pattern.h"

struct cpp {
    struct arena *arena;
    const struct pattern_set *set;
    const struct pattern *pattern;
    const struct formula *formula; /* the one that is written: of the match, or of the fused form */
    const struct formula *match;   /* whose names are bound */
    struct buf *out;
    struct str why;
    struct cpp_part *parts;          /* of the formula of the match */
    struct str line_name[MAX_SLOTS]; /* of slots that are lines, once they are written */
    uint32_t nparts;
    uint32_t line_of[MAX_SLOTS]; /* their parts, plus 1 */
    uint32_t uses[MAX_SLOTS];    /* of what idioms name */
    bool is_variable[MAX_SLOTS]; /* that the formula has */
    bool written[MAX_SLOTS];     /* lines of the fused form that have their variable */
    bool by_values;              /* a spelling is left out that its values alone show */
    bool searches_on;            /* where a condition does not hold, another match is looked for */
    bool in_condition;           /* numbers are asked of a whole match: there are no axes at hand */
    struct pdll_way *way;        /* what of the formula is written as PDLL now; NULL: it is C++ */
};

/* The part cannot be written, for this reason: an empty text. */
struct str cpp_cannot(struct cpp *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The class of an op of TTIR: "ScaledDotProductAttentionOp"; empty: TTIR has none. */
struct str cpp_class(struct cpp *c, enum op_kind k);
/* TTIR has it with numbers as attributes, too: clamp_scalar(x) {min, max}. That is what is written. */
static inline bool cpp_has_numbers(enum op_kind k) {
    return op_spelling(k, "ttir.", "_scalar").n > 0;
}
static inline struct str cpp_spelling(enum op_kind k) {
    return op_spelling(k, "ttir.", cpp_has_numbers(k) ? "_scalar" : "");
}
/* "RmsNorm" of rms_norm. */
struct str cpp_camel(struct arena *a, struct str name);
/* What a name of a formula is called in C++. */
struct str cpp_name(struct cpp *c, struct str name);
/* What a slot of the match is called; empty: it has no name, or not yet. */
struct str cpp_slot(struct cpp *c, uint32_t slot);
/* An expression behind `before`, on several lines where it is long. */
void cpp_put(struct buf *b, uint32_t indent, struct str before, struct str text);
/* The same as a text. */
struct str cpp_statement(struct arena *a, uint32_t indent, struct str text);
/* That a condition does not hold. */
struct str cpp_negated(struct cpp *c, struct str text);
/* Where the first item of a list ends: at the next comma outside of brackets and strings, or at what ends the list. */
size_t cpp_item_end(struct str list);
struct str_list cpp_append(struct str_list list, struct str one, struct arena *a);
/* False: it is there already. */
bool cpp_add_new(struct str_list *list, struct str one, struct arena *a);
/* A text between quotes. */
struct str cpp_quoted(struct cpp *c, struct str text);

/* ---- pdll.c: where PDLL says it otherwise ---- */

enum { MOST_CHOICES = 96, MOST_FRAMES = 16 };

/* A part that is an op, as a power: its value is its result. */
enum { PDLL_VALUE = 8, PDLL_OP };

/* A spelling that is known by its values alone. */
static inline bool cpp_is_by_values(const struct node *n) {
    return (n->kind == N_NAMED ? n->args[0] : n)->kind == N_FUNCTION;
}

/* In a test, before a letter: the value with the axes of this frame; around an expression. */
enum { PDLL_FRAME = 3, PDLL_ASKED };

/* An alternative of a node that PDLL cannot say, whatever is chosen elsewhere. */
struct unsaid {
    const struct node *of;
    uint32_t which;
    struct unsaid *before;
};

/* PDLL has no alternatives: each way to write a formula is a pattern, and which names it has is known. */
struct pdll_way {
    uint8_t taken[MOST_CHOICES], of[MOST_CHOICES]; /* of several, each time there is a choice */
    uint32_t nchoices, used;                       /* how many are as they are here; those behind them are 0 */
    uint32_t numbers, ops;                         /* so far */
    struct str tests;                              /* what is asked, a line each */
    struct str root, whole;                        /* the value that is replaced; a product that is as large */
    uint32_t root_part;
    struct str axis;                /* along which an op works */
    struct str frames[MOST_FRAMES]; /* values that have the axes of the root, or of an operand */
    uint32_t nframes, frame, frame_of[MAX_SLOTS];
    enum op_kind op, user[MAX_SLOTS]; /* whose operands are written; which has the slot as one */
    struct str unasked;               /* a condition that C++ asks and PDLL does not */
    bool never;                       /* a condition does not hold, whatever the values are */
    struct unsaid **unsaid;           /* so far, of all ways */
    uint32_t most_ops, owed; /* ops that it may have; that are still to be written behind what is written now */
    struct str window;       /* the operands of the convolution of the match */
    bool again;              /* an alternative was left out: what is taken now is another one */
    bool cut;                /* it would have more ops */
    bool more;               /* others have more ops */
};

/* So many ops a node has at least. */
uint32_t pdll_least_ops(const struct cpp *c, const struct node *n);
/* Whether a condition of the pattern forbids the name. */
bool pdll_forbids(const struct cpp *c, uint32_t slot);
/* Takes one of so many. */
uint32_t pdll_choose(struct cpp *c, uint32_t of);
/* An alternative that can be said; `nargs` where there is none, with a reason. */
uint32_t pdll_alternative(struct cpp *c, const struct node *n);
/* Notes that one cannot be. */
void pdll_leave_out(struct cpp *c, const struct node *n, uint32_t which);
/* Whether the way has the name. */
bool pdll_has(const struct cpp *c, uint32_t slot);
/* 1, 0: it holds, or does not, as the names tell; -1: it depends on values. */
int pdll_known(const struct cpp *c, const struct number *n);
/* That an expression of values holds: "Holds1(attr<"\"Less(ValueOf(eps), 1.0)\"">, eps)". */
struct str pdll_holds(struct cpp *c, struct str x);
/* The same as arguments, of what makes the fused form. */
struct str pdll_asked(struct cpp *c, struct str x);
/* The class of an op as an attribute. */
struct str pdll_op_name(struct cpp *c, enum op_kind k);
/* A value with the axes that a name has; empty: of the place that is written now. */
struct str pdll_frame(const struct cpp *c, uint32_t slot);
void pdll_test(struct cpp *c, struct str test);
/* Puts values into the tests in place of their marks, once they are known. */
void pdll_settle(struct cpp *c);
/* A value that is this number. */
struct str pdll_number(struct cpp *c, struct str number);
/* "op<ttir.exp>(x)". Empty with a reason. */
struct str pdll_op(struct cpp *c, const struct node *n, struct str args);
/* What its attributes have to be. */
void pdll_test_op(struct cpp *c, const struct node *n, struct str value);
/* Whether an operand has axes of its own. */
bool pdll_has_own_axes(enum op_kind k);

/* ---- cpp_number.c ---- */

/* A number or a condition over a match; conditions are of type bool. Empty with a reason. */
struct str cpp_number(struct cpp *c, const struct number *n);
/* That a condition does not hold. */
struct str cpp_not(struct cpp *c, const struct number *n);
/* A literal. */
struct str cpp_double(struct arena *a, double x);

/* ---- cpp_term.c ---- */

/* Writes a member for each line of the formula, and for what several lines use; names the one of the root. Empty with a
 * reason. */
struct str cpp_terms(struct cpp *c);

/* ---- cpp_form.c ---- */

/* Writes a variable for each line of the fused form, and yields its result. Empty with a reason. */
struct str cpp_form(struct cpp *c);
/* The names of the match in whose format it is computed, as a list. */
struct str cpp_form_names(struct cpp *c);

#endif
