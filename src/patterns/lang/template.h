/* Texts of patterns may have names, numbers and the words here between braces. */
#ifndef FA_TEMPLATE_H
#define FA_TEMPLATE_H

#include "patterns/lang/number.h"

enum braced_kind {
    BRACED_TEXT,       /* neither a name of the formula nor a number: it stays as it is */
    BRACED_NAME,       /* x */
    BRACED_TYPE,       /* type(x): "4x32xbf16" */
    BRACED_SOURCE,     /* type(source(x)): the type of what casts and movement made x of, */
    BRACED_PRINTED,    /* type(printed(x)): or make of it */
    BRACED_OP,         /* op(x): the neutral name of the op that makes x, "silu" */
    BRACED_ACTIVATION, /* activation(x): the same as ttnn takes it in Python, with its numbers */
    BRACED_NUMBER
};

/* What stands between braces. */
struct braced {
    enum braced_kind kind;
    uint32_t slot;               /* of x; NONE: it is a number or a text */
    const struct number *number; /* in the arena */
    struct asked_names names;    /* that it speaks of */
};
struct braced braced_read(const struct formula *f, struct str inner, struct arena *a);

/* The next {…} of a text, without its braces, and the text before it. False at the end: `before` is the rest. */
bool next_braced(struct str *rest, struct str *before, struct str *inner);

#endif
