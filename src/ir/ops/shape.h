/* Shapes of tensors. */
#ifndef FA_SHAPE_H
#define FA_SHAPE_H

#include "base/base.h"

enum { MAX_RANK = 12 };

struct shape {
    uint32_t rank;
    int64_t dim[MAX_RANK];
};

bool shape_eq(const struct shape *a, const struct shape *b);
int64_t shape_count(const struct shape *s); /* product of the dimensions; -1 where it overflows or one is negative */
/* "2x3x4"; "scalar". */
struct str shape_text(struct arena *a, const struct shape *s);

#endif
