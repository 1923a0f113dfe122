/* Number formats: rounding of doubles to what an element type can hold.
 *
 * F64 and unknown types hold every double: nothing is rounded.
 *
 * Sources: the Tenstorrent ISA documentation (UNPACR_Regular.md, SrcASrcB.md, MVMUL.md, Packers/FormatConversion.md),
 * tt-metal's blockfloat_common.cpp and bfloat16 of the host (round to nearest even since PR 27171). */
#ifndef FA_FORMAT_H
#define FA_FORMAT_H

#include "ir/mlir/mlir.h"
#include "ir/ops/scalar.h"

enum rounding {
    ROUND_PACKER,  /* results of ops: to f32 first, then to formats of 16 bits and less to nearest, ties away from zero;
                    * denormals and -0 become +0, a NaN in bf16 becomes an infinity */
    ROUND_EVEN,    /* the host: IEEE, to nearest, ties to even; denormals are kept. Block floats: the mantissa is
                    * truncated to 24 bits when it is aligned, then rounded to even, and saturates */
    ROUND_TRUNCATE /* late conversions of the packer and SFPSTORE: toward zero; denormals become +0 */
};

enum { BLOCK = 16 }; /* elements of a row of a tile face, which share an exponent in a block float */

/* x rounded to t. A block float is rounded as a block of one element. Integers: the fraction is dropped, values beyond
 * the range saturate, a NaN becomes 0, and i1 is 1 for all but 0; beyond 2^53 they are not exact. */
double format_round(double x, enum dtype t, enum rounding r);
/* The same for up to BLOCK neighbours at x, which share an exponent where the format is a block float. */
void format_round_row(double *x, size_t n, enum dtype t, enum rounding r);
/* x * y, or of integers that a double may not hold the product of as many bits of it as the type has, or more. */
binary_function *format_product(enum dtype t);
/* Unit in the last place of t at x: the distance to the next number; for a block float, in a block whose largest
 * element is x. Below the smallest normal number it is that of the smallest normal number. 1 for integers. NaN for
 * infinities, NaN, and formats that hold every double. */
double format_ulp(double x, enum dtype t);

/* A stored number as the unpacker puts it into a source register of the matrix unit: f32 and tf32 are truncated to tf32
 * (10 bits of fraction), all others to bf16 (7 bits); denormals become +0. */
double format_unpack(double x, enum dtype t);

/* The multipliers take some bits of each source register in each phase (0 to 3): the part of x that they take, where
 * `a` is SrcA (the right operand), else SrcB. LoFi runs phase 0, HiFi2 phases 0 and 1, HiFi3 0 to 2, HiFi4 all. */
double format_phase_part(double x, bool a, unsigned phase);

#endif
