/* What the files of this folder share while they write a pattern as C++. Private to the folder.
 *
 * A formula is written from its leaves up: a line of it, and what an idiom names, becomes a member before the first one
 * that uses it. What C++ cannot say ends a part with an empty text; `why` is then the first reason. */
#ifndef FA_REWRITE_CPP_H
#define FA_REWRITE_CPP_H

#include "library/pattern.h"

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
    bool in_condition;           /* numbers are asked of a whole match: there are no axes at hand */
};

/* The part cannot be written, for this reason: an empty text. */
struct str cpp_cannot(struct cpp *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The class of an op of TTIR: "ScaledDotProductAttentionOp"; empty: TTIR has none. */
struct str cpp_class(struct cpp *c, enum op_kind k);
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
/* A text between quotes. */
struct str cpp_quoted(struct cpp *c, struct str text);

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
