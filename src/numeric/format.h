/* Number formats: what is left of a number once it is stored in an element type.
 *
 * All numbers are doubles; a number "in a format" is a double that the format can hold. F64, index and types that
 * nothing is known of hold every double.
 *
 * Sources: the Tenstorrent ISA documentation (UNPACR_Regular.md, SrcASrcB.md, MVMUL.md, Packers/FormatConversion.md),
 * tt-metal's blockfloat_common.cpp and bfloat16 of the host (round to nearest even since PR 27171). */
#ifndef FA_FORMAT_H
#define FA_FORMAT_H

#include "mlir/mlir.h"

enum rounding {
    ROUND_PACKER,  /* what an op stores: through f32 and, to 16 bits and less, to nearest with ties away from zero;
                    * denormals and -0 become +0, a bf16 NaN becomes an infinity */
    ROUND_EVEN,    /* what the host stores: IEEE, to nearest with ties to even; denormals are kept. Block floats: the
                    * mantissa is cut when it is aligned, then rounded to even, and saturates */
    ROUND_TRUNCATE /* late conversions and SFPSTORE: bits are cut off; denormals become +0 */
};

enum { BLOCK = 16 }; /* elements along a row of a tile face that share an exponent */

bool format_is_block(enum dtype t);   /* bfp8, bfp4, bfp2 */
bool format_is_integer(enum dtype t); /* i1 and index among them */

/* The number that is stored for x. A block float is taken as a block of its own. Integers drop the fraction and
 * saturate, NaN becomes 0; of i1 everything but 0 is 1. Integers beyond 2^53 are not exact. */
double format_round(double x, enum dtype t, enum rounding r);
/* The same for up to BLOCK neighbours at x, which share an exponent where the format is a block float. */
void format_round_row(double *x, size_t n, enum dtype t, enum rounding r);
/* Distance of neighbours in the format at x, for a block float in a block whose largest element is x; that of the
 * smallest normal number below it. 1 for integers. NaN where x has none, and for formats without limit. */
double format_ulp(double x, enum dtype t);

/* What of a stored number reaches the matrix unit's source registers: f32 and tf32 are cut to tf32 (10 bits after the
 * point), all others to bf16 (7 bits), toward zero; denormals become +0. */
double format_unpack(double x, enum dtype t);

/* A source register is multiplied in parts: the part that is used in a phase (0 to 3). `a` is SrcA, the weights; the
 * other is SrcB. LoFi runs phase 0, HiFi2 phases 0 and 1, HiFi3 0 to 2, HiFi4 all. */
double format_phase_part(double x, bool a, unsigned phase);

#endif
