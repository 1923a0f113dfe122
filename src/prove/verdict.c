/* Prints verdicts. The words are part of the report format. */
#include "prove/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *chip_name(bool blackhole) {
    return blackhole ? "blackhole" : "wormhole_b0";
}

/* Appends which preconditions are needed and which are not. */
static struct str with_preconditions(const struct proved *v, struct str line, struct arena *a) {
    if (v->needed)
        line = arena_printf(a, "%.*s; differs without %s", (int)line.n, line.p,
                            v->needed == 1 && !v->needless.n ? "its precondition"
                            : v->needed == 1                 ? "one precondition"
                                                             : "any one of its preconditions");
    if (v->needless.n)
        line = arena_printf(a, "%.*s; same without the precondition of %.*s", (int)line.n, line.p, (int)v->needless.n,
                            v->needless.p);
    if (v->same_outside)
        line = arena_printf(a, "%.*s; same outside of the claim, too", (int)line.n, line.p);
    return line;
}

/* Of the fused op, as a multiple of that of the unfused ops, to one digit: more is not a property of the place. */
static double error_ratio(const struct device_error *e) {
    char digit[32];
    snprintf(digit, sizeof digit, "%.0e", e->relative_l2[1] / e->relative_l2[0]);
    return strtod(digit, NULL);
}

bool device_errors_agree(const struct device_error *x, const struct device_error *y) {
    return x->known && y->known && x->relative_l2[0] > 0 && y->relative_l2[0] > 0 && error_ratio(x) == error_ratio(y);
}

struct str verdict_line(const struct proved *v, struct arena *a) {
    const struct device_error *e = &v->device;
    if (v->kind != VERDICT_SAME)
        return arena_printf(a, "not validated: %.*s", (int)v->text.n, v->text.p);
    struct str within = v->bound > 0 ? arena_printf(a, " within %g", v->bound) : STR("");
    struct str line = arena_printf(a, "validated: same function%s%.*s (f64, %u shape%s)",
                                   v->for_constants ? " for what its constants hold" : "", (int)within.n, within.p,
                                   v->shapes, v->shapes == 1 ? "" : "s");
    if (!e->known)
        return with_preconditions(v, line, a);
    line = arena_printf(a, "%.*s, emulated PCC %.5f", (int)line.n, line.p,
                        floor(e->pcc[1] * 1e5) / 1e5); /* rounded down: 1.00000 is exact */
    if (e->steady && e->relative_l2[0] > 0)
        line = arena_printf(a, "%.*s, error %gx that of the unfused ops", (int)line.n, line.p, error_ratio(e));
    line = arena_printf(a, "%.*s (%s, %s)", (int)line.n, line.p, dtype_name(e->type), chip_name(e->blackhole));
    return with_preconditions(v, line, a);
}

static void put_number(struct buf *out, const char *key, double x) {
    if (isfinite(x))
        buf_printf(out, "%s: %.6g\n", key, x);
}

struct str verdict_details(const struct proved *v, struct arena *a) {
    static const char *const keys[2][3] = {{"pcc_unfused", "relative_l2_unfused", "ulp_unfused"},
                                           {"pcc_fused", "relative_l2_fused", "ulp_fused"}};
    struct buf out = {0};
    if (v->kind != VERDICT_SAME) {
        buf_printf(&out, "verdict: not_validated\nreason: %.*s\n", (int)v->text.n, v->text.p);
    } else {
        buf_printf(&out, "verdict: same_function\narithmetic: f64\nshapes: %u\n", v->shapes);
        if (v->for_constants)
            buf_add(&out, STR("constants: as_held\n"));
        if (v->bound > 0)
            put_number(&out, "within", v->bound);
        if (v->needed)
            buf_printf(&out, "preconditions_needed: %u\n", v->needed);
        if (v->needless.n)
            buf_printf(&out, "preconditions_needless: %.*s\n", (int)v->needless.n, v->needless.p);
        if (v->same_outside)
            buf_printf(&out, "same_outside_of_the_claim: true\n");
        if (v->device.known)
            buf_printf(&out, "chip: %s\ndtype: %s\n", chip_name(v->device.blackhole), dtype_name(v->device.type));
        for (int i = 0; i < 2 && v->device.known; i++) {
            put_number(&out, keys[i][0], v->device.pcc[i]);
            put_number(&out, keys[i][1], v->device.relative_l2[i]);
            put_number(&out, keys[i][2], v->device.ulp[i]);
        }
    }
    return buf_take(&out, a);
}

/* The system description is an attribute alias before the first op. */
bool is_for_blackhole(const struct mlir *m) {
    struct str head = {m->text.p, m->nops ? m->ops[m->nfuncs ? m->funcs[0].op : 0].text.begin : 0};
    return str_find(head, STR("arch = <blackhole>")) || str_find(head, STR("#ttcore.arch<blackhole>"));
}
