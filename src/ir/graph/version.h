/* Of which time the compiler is that printed a module: told by what it prints, since modules do not say so. */
#ifndef FA_VERSION_H
#define FA_VERSION_H

#include "ir/graph/graph.h"

/* Something that a compiler prints from or up to a day. */
struct version_sign {
    const char *day;  /* "2026-06-02"; NULL: nothing tells */
    const char *what; /* "destination operands" */
    uint32_t op;      /* the first that has it */
};

struct version {
    struct version_sign since, before;
};

void version_of(const struct graph *g, struct version *out);

#endif
