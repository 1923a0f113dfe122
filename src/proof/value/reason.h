/* Why something is not evaluated. */
#ifndef FA_REASON_H
#define FA_REASON_H

#include "base/base.h"

enum reason_kind {
    REASON_OTHER, /* of an evaluation: what it is given does not hold together */
    REASON_NO_BODY,
    REASON_NO_EVALUATOR,
    REASON_TOO_MANY,  /* ops, operands, relations */
    REASON_TOO_LARGE, /* shapes */
    REASON_COLLECTIVE,
    REASON_NOT_STATIC,
    REASON_FOREIGN_ARGUMENT
};

struct reason {
    struct str text;
    enum reason_kind kind;
};

#endif
