/* What makes one number of a group of elements; of two operands of theirs, pair by pair. */
#ifndef FA_FOLD_H
#define FA_FOLD_H

#include "proof/value/lazy.h"

fold_function fold_sum, fold_mean, fold_max, fold_min, fold_prod, fold_or, fold_and, fold_dot, fold_argmax;
/* The element at place y[0] of all in order, or its index; equal elements as they are, or the last one first. */
fold_function fold_ascending, fold_descending, fold_ascending_index, fold_descending_index,
    fold_ascending_index_of_last, fold_descending_index_of_last;

/* The last element of y at which x is not 0; 0: there is none. That at which x is largest, or no number. */
fold_function fold_last, fold_at_max;
/* The element at place y[0] of a block, as a block float holds it. */
fold_function fold_bfp8, fold_bfp4, fold_bfp2;

#endif
