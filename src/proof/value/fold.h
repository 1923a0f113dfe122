/* What makes one number of a group of elements; of two operands of theirs, pair by pair. */
#ifndef FA_FOLD_H
#define FA_FOLD_H

#include "proof/value/lazy.h"

fold_function fold_sum, fold_mean, fold_max, fold_min, fold_prod, fold_or, fold_and, fold_dot;

#endif
