/* What `try --why` learned of places with the user's own compiler: a file of one answer a line, "KIND <tab> DAY <tab>
 * COMPILER <tab> ANSWER". */
#ifndef FA_TRIED_H
#define FA_TRIED_H

#include "base/base.h"

/* Of the places of a kind: those whose ops make the same module (standalone_kind). */
struct tried_answer {
    uint64_t kind;
    struct str day, compiler; /* when, and with which */
    struct str answer;        /* "fuses once its types are f32" */
};

struct tried {
    struct tried_answer *items; /* freed by tried_free, texts in the arena */
    uint32_t n, cap;
};

/* A warning for a file that cannot be read, and for lines that are no answers, which are left out. */
void tried_read(struct tried *t, const char *path, struct arena *a, struct diags *d);
/* The last one; NULL: nothing was tried. */
const struct tried_answer *tried_of(const struct tried *t, uint64_t kind);
/* In place of what the same compiler answered before. False: no line has room for it. */
bool tried_add(struct tried *t, const struct tried_answer *x);
void tried_print(const struct tried *t, struct buf *out);
void tried_free(struct tried *t);

#endif
