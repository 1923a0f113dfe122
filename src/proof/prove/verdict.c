/* Prints verdicts. The words are part of the report format. */
#include "proof/prove/verdict.h"

#include <math.h>

static const char *chip_name(bool blackhole) {
    return blackhole ? "blackhole" : "wormhole_b0";
}

struct str verdict_line(const struct proved *v, struct arena *a) {
    const struct device_error *e = &v->device;
    if (v->kind != VERDICT_SAME)
        return arena_printf(a, "not validated: %.*s", (int)v->text.n, v->text.p);
    struct str within = v->bound > 0 ? arena_printf(a, " within %g", v->bound) : STR("");
    struct str line = v->evaluated ? arena_printf(a, "validated: same function%.*s (f64)", (int)within.n, within.p)
                                   : STR("the same ops in one kernel");
    if (e->known)
        line = arena_printf(a, "%.*s, emulated PCC %.5f", (int)line.n, line.p,
                            floor(e->pcc[1] * 1e5) / 1e5); /* rounded down: 1.00000 is exact */
    if (e->known && e->steady && e->relative_l2[0] > 0)
        line = arena_printf(a, "%.*s, error %gx that of the unfused ops", (int)line.n, line.p, device_error_ratio(e));
    if (e->known)
        line =
            arena_printf(a, "%.*s (%s, %s)", (int)line.n, line.p, dtype_table[e->type].name, chip_name(e->blackhole));
    return v->same_outside ? arena_printf(a, "%.*s; same outside of the claim, too", (int)line.n, line.p) : line;
}

struct str verdict_in_short(const struct proved *v, struct arena *a) {
    if (v->kind != VERDICT_SAME)
        return arena_printf(a, "not validated: %.*s", (int)v->text.n, v->text.p);
    struct str within = v->bound > 0 ? arena_printf(a, " within %g", v->bound) : STR("");
    return arena_printf(a, "%s%.*s%s", v->evaluated ? "validated: same function" : "the same ops in one kernel",
                        (int)within.n, within.p, v->same_outside ? "; same outside of the claim, too" : "");
}

static void add_word(struct figures *f, const char *key, struct str value) {
    f->items[f->n++] = (struct figure){str_of(key), value, false};
}

static void add_number(struct figures *f, const char *key, double x, struct arena *a) {
    if (isfinite(x))
        f->items[f->n++] = (struct figure){str_of(key), arena_printf(a, "%.6g", x), true};
}

static void add_error(struct figures *f, const struct device_error *e, struct arena *a) {
    static const char *const keys[2][3] = {{"pcc_unfused", "relative_l2_unfused", "ulp_unfused"},
                                           {"pcc_fused", "relative_l2_fused", "ulp_fused"}};
    add_word(f, "chip", str_of(chip_name(e->blackhole)));
    add_word(f, "dtype", str_of(dtype_table[e->type].name));
    for (int i = 0; i < 2; i++) {
        add_number(f, keys[i][0], e->pcc[i], a);
        add_number(f, keys[i][1], e->relative_l2[i], a);
        add_number(f, keys[i][2], e->ulp[i], a);
    }
}

struct figures verdict_figures(const struct proved *v, struct arena *a) {
    enum { MOST = 16 };
    struct figures f = {arena_alloc(a, MOST * sizeof *f.items), 0};
    if (v->kind != VERDICT_SAME) {
        add_word(&f, "verdict", STR("not_validated"));
        add_word(&f, "reason", v->text);
        return f;
    }
    add_word(&f, "verdict", v->evaluated ? STR("same_function") : STR("same_ops"));
    if (v->evaluated)
        add_word(&f, "arithmetic", STR("f64"));
    if (v->bound > 0)
        add_number(&f, "within", v->bound, a);
    if (v->same_outside)
        add_word(&f, "same_outside_of_the_claim", STR("true"));
    if (v->device.known)
        add_error(&f, &v->device, a);
    return f;
}

/* The system description is an attribute alias before the first op. */
bool is_for_blackhole(const struct mlir *m) {
    struct str head = {m->text.p, m->nops ? m->ops[m->nfuncs ? m->funcs[0].op : 0].text.begin : 0};
    return str_find(head, STR("arch = <blackhole>")) || str_find(head, STR("#ttcore.arch<blackhole>"));
}
