/* The element types of tensors: how they are written, and which numbers they hold. */
#ifndef FA_DTYPE_H
#define FA_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

enum dtype {
    DT_NONE,
    DT_F64,
    DT_F32,
    DT_TF32,
    DT_F16,
    DT_BF16,
    DT_BFP8,
    DT_BFP4,
    DT_BFP2,
    DT_I64,
    DT_I32,
    DT_I16,
    DT_I8,
    DT_I4,
    DT_I1,
    DT_U64,
    DT_U32,
    DT_U16,
    DT_U8,
    DT_INDEX,
    DT_OTHER
};

struct dtype_info {
    const char *name;     /* "bf16", "bfp8", "i32", "u32" */
    const char *spelling; /* in the type of a tensor; NULL: none, a tensor of it cannot be written */
    uint8_t bits;         /* of an element */
    uint8_t precision;    /* significant bits, of a float with the implicit one; 53: all that a double has */
    bool is_signed;       /* of integers */
    int16_t emin, emax;   /* of floats below f64, normal numbers: 2^emin and up to below 2^(emax + 1) */
};
extern const struct dtype_info dtype_table[DT_OTHER + 1];

/* bfp8, bfp4, bfp2: elements are mantissas, whose bits are the precision, under an exponent that a block shares. */
static inline bool format_is_block(enum dtype t) {
    return t >= DT_BFP8 && t <= DT_BFP2;
}
static inline bool format_is_float(enum dtype t) {
    return t >= DT_F64 && t <= DT_BFP2;
}
/* i1 and index among them. */
static inline bool format_is_integer(enum dtype t) {
    return t >= DT_I64 && t <= DT_INDEX;
}

#endif
