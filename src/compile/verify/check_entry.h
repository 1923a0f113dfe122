/* One entry of fusion_check.yml: facts, which print_check.c writes. */
#ifndef FA_CHECK_ENTRY_H
#define FA_CHECK_ENTRY_H

#include "compile/verify/compare_modules.h"

enum check_kind {
    CHECK_WRONG_FUSION,
    CHECK_WRONG_LOWERING,
    CHECK_USE_AFTER_DEALLOCATE,
    CHECK_NOT_COMPARED,
    CHECK_PROVED,
    CHECK_COPY,           /* the verdict of another op stands for it */
    CHECK_LOOKED_THROUGH, /* it computes nothing */
};

extern const char *const check_kinds[];

/* Texts are in the arena of the pair; empty: nothing is known. */
struct check {
    enum check_kind kind;
    struct str fused_op, pass, ir_loc;
    struct str unchecked;   /* a condition of the fused op that nobody checked */
    struct str matters_for; /* which numbers show it */
    struct str on_device;   /* how much it is, beside what rounding makes */
    struct str counterexample;
    struct str reason, needs;  /* of CHECK_NOT_COMPARED */
    struct str because;        /* of an op without a region of its own */
    uint32_t shapes;           /* of CHECK_PROVED */
    double bound;              /* relative, which the rounding of constants explains; 0: none was needed */
    struct str segment[SIDES]; /* the ops as they are written */
    struct str lines[SIDES];   /* of the file that these begin on: "12-14, 20" */
    struct str module[SIDES];  /* these alone, where it is asked for; or empty */
};

struct check_list {
    struct check *items;
    uint32_t n, cap;
};

#endif
