/* Prices as text: one line for people, lines of `key: value` for programs. */
#include <inttypes.h>
#include <math.h>

#include "price/price.h"

static void add_bytes(struct buf *out, int64_t n) {
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double x = (double)n;
    int unit = -1;
    for (; x >= 999.95 && unit < 3; unit++)
        x /= 1000;
    if (unit < 0)
        buf_printf(out, "%" PRId64 " bytes", n);
    else
        buf_printf(out, "%.1f %s", x, units[unit]);
}

static void add_us(struct buf *out, double us) {
    buf_printf(out, us < 9.95 ? "%.1f" : "%.0f", us);
}

static int64_t dram_of(const struct cost *c) {
    return c->counted.dram_read + c->counted.dram_written;
}

static int64_t l1_of(const struct cost *c) {
    return c->counted.l1_read + c->counted.l1_written;
}

static const char *comma(const struct buf *out) {
    return out->n ? ", " : "";
}

static void add_counted(struct buf *out, const struct price *x) {
    int64_t launches = x->without.counted.launches - x->with.counted.launches;
    int64_t dram = dram_of(&x->without) - dram_of(&x->with), l1 = l1_of(&x->without) - l1_of(&x->with);
    if (launches > 0)
        buf_printf(out, "%" PRId64 " launch%s", launches, launches == 1 ? "" : "es");
    if (dram > 0) {
        buf_printf(out, "%s", comma(out));
        add_bytes(out, dram);
        buf_add(out, STR(" of DRAM traffic"));
    }
    if (l1 > 0) {
        buf_printf(out, "%s", comma(out));
        add_bytes(out, l1);
        buf_add(out, STR(" of L1 traffic"));
    }
    if (!out->n)
        buf_add(out, STR("no launch and no traffic"));
}

struct str device_label(const struct device *d, struct arena *a) {
    struct str name = d->choice == CHIP_OF_MODULE ? d->chip.arch : d->chip.name;
    return arena_printf(a, "%.*s%s", (int)name.n, name.p, d->choice == CHIP_ASSUMED ? " assumed" : "");
}

struct str price_line(const struct price *x, const struct device *d, struct arena *a) {
    struct buf out = {0};
    double us = x->without.estimated.us, saved = us - x->with.estimated.us;
    if (!x->known)
        return STR("");
    add_counted(&out, x);
    if (saved < -0.05) {
        buf_add(&out, STR("; slower by about "));
        add_us(&out, -saved);
        buf_add(&out, STR(" us than "));
    } else {
        buf_add(&out, STR("; about "));
        add_us(&out, fmax(saved, 0));
        buf_add(&out, STR(" of "));
    }
    add_us(&out, us);
    buf_add(&out, STR(" us ("));
    buf_add(&out, device_label(d, a));
    const struct cost *ruling = saved < -0.05 ? &x->with : &x->without;
    buf_printf(&out, ", %s-bound", bound_name(cost_bound(&ruling->estimated)));
    if (saved < -0.05)
        buf_printf(&out, " on %" PRId64 " core%s", x->with.estimated.cores, x->with.estimated.cores == 1 ? "" : "s");
    buf_addc(&out, ')');
    if (x->measured_us > 0) {
        buf_add(&out, STR("; measured "));
        add_us(&out, x->measured_us);
        buf_add(&out, STR(" us"));
    }
    if (x->apart)
        buf_printf(&out, "; TTNN runs %s as %s of its own", x->apart, strstr(x->apart, " and ") ? "ops" : "an op");
    return buf_take(&out, a);
}

struct str price_precondition(const struct price *x, const struct device *d, struct arena *a) {
    struct buf out = {0};
    if (!x->known || x->l1_bytes <= chip_l1(&d->chip))
        return STR("");
    buf_add(&out, STR("the fused op fits into L1: it holds about "));
    add_bytes(&out, x->l1_bytes);
    buf_add(&out, STR(" in each core, of "));
    add_bytes(&out, chip_l1(&d->chip));
    struct str text = arena_printf(a, "%.*s (%.*s).", (int)out.n, out.p, (int)d->chip.name.n, d->chip.name.p);
    buf_free(&out);
    return text;
}

static void add_cost(struct buf *out, const struct cost *c, const char *suffix) {
    const struct counted *n = &c->counted;
    const struct estimated *e = &c->estimated;
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {
        {"launches", n->launches},     {"dram_read_bytes", n->dram_read},   {"dram_written_bytes", n->dram_written},
        {"l1_read_bytes", n->l1_read}, {"l1_written_bytes", n->l1_written}, {"held_bytes", n->held}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        buf_printf(out, "%s%s: %" PRId64 "\n", counts[i].key, suffix, counts[i].value);
    buf_printf(
        out, "estimated_us%s: %.2f\nmatrix_cycles%s: %.0f\nvector_cycles%s: %.0f\ncores%s: %" PRId64 "\nbound%s: %s\n",
        suffix, e->us, suffix, e->matrix_cycles, suffix, e->vector_cycles, suffix, e->cores, suffix,
        bound_name(cost_bound(e)));
}

struct str price_details(const struct price *x, const struct device *d, struct arena *a) {
    struct buf out = {0};
    if (!x->known)
        return STR("");
    buf_printf(&out, "device: %.*s\n", (int)d->chip.name.n, d->chip.name.p);
    add_cost(&out, &x->without, "");
    add_cost(&out, &x->with, "_fused");
    if (x->measured_us > 0)
        buf_printf(&out, "measured_us: %.2f\n", x->measured_us);
    buf_printf(&out, "l1_bytes_fused: %" PRId64 "\n", x->l1_bytes);
    return buf_take(&out, a);
}
