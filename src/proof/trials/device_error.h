/* How far a device is from f64, on both sides of a problem. */
#ifndef FA_DEVICE_ERROR_H
#define FA_DEVICE_ERROR_H

#include "proof/trials/problem.h"

/* How far elements of results of the device are from those of the program in f64, of the program [0] and of the other
 * side [1]: up to 192, at the shapes of the text. Inputs are rounded to their element types. */
struct device_error {
    double pcc[2], relative_l2[2], ulp[2]; /* compare.h, where NaN is not defined; ulp: the largest of all elements */
    enum dtype type;                       /* of the result */
    bool known;  /* not for results of unknown type, and where elements cost too much or the evaluation fails */
    bool steady; /* other numbers give the same ratio of errors to one digit */
    bool blackhole;
};

/* Of the first output on the first device, in the arithmetic that proof/value/tensor.h describes: results of the
 * program are stored by each op. The other side stores its result only; where it is part of the program, it is that
 * which has the products of the device, and [0] has what is lost by storing alone. `fixed`: as in struct effort. */
struct device_error device_error_of(const struct problem *p, bool blackhole, bool fixed);
/* The error of [1] as a multiple of that of [0], to one digit: more is not a property of the program. */
double device_error_ratio(const struct device_error *e);
/* The results are floats whose errors are numbers. */
bool device_error_tells(const struct device_error *e);
bool device_errors_agree(const struct device_error *x, const struct device_error *y);

#endif
