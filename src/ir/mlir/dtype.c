/* Formats of 16 bits and less as the device has them: tt-metal's bfloat16 and blockfloat_common.cpp; tf32 is what the
 * matrix unit makes of f32. */
#include "ir/mlir/dtype.h"

#include <stddef.h>

#define TILE(element)            "!ttcore.tile<32x32, " element ">"
#define INTEGER(bits, is_signed) bits, 53, is_signed, 0, 0
const struct dtype_info dtype_table[DT_OTHER + 1] = {
    [DT_NONE] = {"none", NULL, 0, 53, 0, 0, 0},
    [DT_F64] = {"f64", "f64", 64, 53, 0, 0, 0},
    [DT_F32] = {"f32", "f32", 32, 24, 0, -126, 127},
    [DT_TF32] = {"tf32", "tf32", 32, 11, 0, -126, 127},
    [DT_F16] = {"f16", "f16", 16, 11, 0, -14, 15},
    [DT_BF16] = {"bf16", "bf16", 16, 8, 0, -126, 127},
    [DT_BFP8] = {"bfp8", TILE("bfp_bf8"), 8, 7, 0, -126, 127},
    [DT_BFP4] = {"bfp4", TILE("bfp_bf4"), 4, 3, 0, -126, 127},
    [DT_BFP2] = {"bfp2", TILE("bfp_bf2"), 2, 1, 0, -126, 127},
    [DT_I64] = {"i64", "si64", INTEGER(64, true)},
    [DT_I32] = {"i32", "si32", INTEGER(32, true)},
    [DT_I16] = {"i16", "si16", INTEGER(16, true)},
    [DT_I8] = {"i8", "si8", INTEGER(8, true)},
    [DT_I4] = {"i4", "si4", INTEGER(4, true)},
    [DT_I1] = {"i1", "i1", INTEGER(1, false)},
    [DT_U64] = {"u64", "ui64", INTEGER(64, false)},
    [DT_U32] = {"u32", "ui32", INTEGER(32, false)},
    [DT_U16] = {"u16", "ui16", INTEGER(16, false)},
    [DT_U8] = {"u8", "ui8", INTEGER(8, false)},
    [DT_INDEX] = {"index", "index", INTEGER(64, true)},
    [DT_OTHER] = {"other", NULL, 0, 53, 0, 0, 0},
};
