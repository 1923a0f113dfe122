/* The attributes of an op, each read once: what its text says as a number, a list, or entries inside of it. Knows
 * neither the text's grammar (ir/mlir/attributes.h reads it) nor a graph. */
#ifndef FA_ATTRIBUTES_H
#define FA_ATTRIBUTES_H

#include "base/base.h"

struct attrs {
    const struct attr *at;
    uint32_t n;
    /* What the table does not have: attributes that are computed when they are asked for. May be NULL. */
    const struct attr *(*computed)(const void *self, const char *key);
    const void *self;
};

struct attr {
    struct str key, text; /* as printed, aliases resolved; a unit attribute has no text */
    bool is_number;       /* "1.0e-5 : f32", "0x7FC0 : bf16", "3 : i32", "true"; */
    bool is_whole;        /* the last two */
    double number;        /* a unit attribute is 1, as true is */
    int64_t whole;        /* where it is one */
    int32_t n;            /* of the list: "[0 : i32, 2 : i32]", "array<i64: 0, 2>", a whole number; -1: it is none */
    const int64_t *list;
    struct attrs inside; /* "key = value" of "#dialect.name<...>" and "{...}" */
};

/* NULL: there is none. No attributes may be NULL, too. */
const struct attr *attrs_find(const struct attrs *a, const char *key);
/* False where the attribute is absent or says false; a unit attribute is true. */
bool attrs_flag(const struct attrs *a, const char *key);
/* A whole number; `otherwise` where there is none. */
int64_t attrs_int(const struct attrs *a, const char *key, int64_t otherwise);
double attrs_number(const struct attrs *a, const char *key, double otherwise);
/* Whole numbers; how many, -1 where there is no such list. */
int32_t attrs_list(const struct attrs *a, const char *key, const int64_t **list);

/* Gives attributes with names of older compilers those of today, of an op ("ttnn.conv2d"): fillValue is fill_value, and
 * stride_height and stride_width are stride. */
void attrs_rename(struct attr *at, uint32_t n, struct str op, struct arena *a);

/* One number, or a list of them, as an attribute without a text. */
const struct attr *attr_of_number(double x, struct arena *a);
const struct attr *attr_of_numbers(const double *x, uint32_t n, struct arena *a);

/* Passes of the matrix unit that a compute_config asks for, from 1 (LoFi) to 4 (HiFi4); 0: it does not say. */
unsigned math_fidelity(const struct attr *config);

#endif
