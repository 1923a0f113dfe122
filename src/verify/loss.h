/* How far the arithmetic of a device is from exact arithmetic, for a region. */
#ifndef FA_VERIFY_LOSS_H
#define FA_VERIFY_LOSS_H

#include "library/pattern.h"

/* Beside BEFORE in f64 on the same random inputs, which are rounded to their types: AFTER in the device's arithmetic
 * (numeric/tensor.h), and BEFORE with each result rounded to its type. Errors are relative, in L2. */
struct loss {
    bool known;
    double on_device, pcc, by_types;
};

/* Of a miter in its own types. Extents of reductions are kept where that is cheap enough. */
struct loss miter_loss(struct str text, const struct pattern_set *lowerings, bool blackhole);

#endif
