/* Convolutions and pools as nodes: folds over views of the padded input. */
#ifndef FA_LAZY_WINDOW_H
#define FA_LAZY_WINDOW_H

#include "proof/value/lazy.h"

evaluator lazy_convolution, lazy_max_pool, lazy_avg_pool, lazy_pooling;

#endif
