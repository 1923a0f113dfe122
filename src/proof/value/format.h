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

/* Numbers as they are in a source register, SrcA (that of the right operand) or else SrcB, in the parts of their bits
 * that multipliers take: LoFi high x high, HiFi2 also high x low of SrcB and SrcA, HiFi3 low x high, HiFi4 all.
 * `stored`: the packer stored them first, which rounds them, where the unpacker alone truncates. */
void format_source_row(const double *x, size_t n, enum dtype t, bool stored, bool a, double *high, double *low);

#endif
