/* Prices as text: one line for people, figures for programs. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "device/price/price.h"

double us_as_said(double us) {
    char text[FA_TIME_TEXT];
    double said = price_line_us(str_of(fa_format_time(us < 0 ? -us : us, text)));
    return us < 0 ? -said : said;
}

struct saved price_saved(const struct price *x) {
    const struct counted *a = &x->without.counted, *b = &x->with.counted;
    return (struct saved){a->launches - b->launches, a->dram_read + a->dram_written - b->dram_read - b->dram_written,
                          a->l1_read + a->l1_written - b->l1_read - b->l1_written};
}

static const char *comma(const struct buf *out) {
    return out->n && !strchr("( ", out->p[out->n - 1]) ? ", " : "";
}

static void add_counted(struct buf *out, const struct price *x) {
    struct saved saved = price_saved(x);
    if (saved.launches > 0)
        buf_printf(out, "%" PRId64 " launch%s", saved.launches, saved.launches == 1 ? "" : "es");
    if (saved.dram_bytes > 0) {
        buf_printf(out, "%s", comma(out));
        add_bytes(out, saved.dram_bytes);
        buf_add(out, STR(" of DRAM traffic"));
    }
    if (saved.l1_bytes > 0) {
        buf_printf(out, "%s", comma(out));
        add_bytes(out, saved.l1_bytes);
        buf_add(out, STR(" of L1 traffic"));
    }
    if (*comma(out))
        buf_add(out, STR("; "));
}

struct str device_label(const struct device *d, struct arena *a) {
    struct str name = d->choice == CHIP_OF_MODULE ? d->chip.arch : d->chip.name;
    return arena_printf(a, "%.*s%s", (int)name.n, name.p, d->choice == CHIP_ASSUMED ? " assumed" : "");
}

#define SLOWER  STR("slower by about ")
#define NO_TIME STR("nothing ")

/* At the ops of the place. */
static void add_here(struct buf *out, const struct price *x) {
    add_time_part(out, price_saved_here_us(x), x->measured_us > 0 ? x->measured_us : x->without.estimated.us);
    if (x->measured_us > 0)
        buf_add(out, STR(" as measured"));
}

static void add_saved(struct buf *out, const struct price *x) {
    char around[FA_TIME_TEXT], with[FA_TIME_TEXT];
    double us = x->measured_us > 0 ? x->measured_us : x->without.estimated.us;
    if (price_is_slower(x)) {
        double more = -price_saved_us(x);
        buf_add(out, SLOWER);
        buf_printf(out, "%s: %s", fa_format_time(more, around), fa_format_time(us + more, with));
        buf_printf(out, " instead of %s", fa_format_time(us, around));
        return;
    }
    if (price_saved_us(x) < NO_TIME_US) {
        buf_add(out, NO_TIME);
        buf_printf(out, "of %s", fa_format_time(us, around));
        return;
    }
    buf_add(out, STR("about "));
    if (x->around_us > 0)
        buf_add(out, str_of(fa_format_time(price_saved_us(x), around)));
    else
        add_here(out, x);
}

/* What a pass that fuses and no more does not save. */
static void add_by_hand(struct buf *out, const struct price *x, double us, const char *how) {
    char text[FA_TIME_TEXT];
    double saved = price_saved_us(x);
    if (us > 0 && saved >= NO_TIME_US)
        buf_printf(out, "; %s of it %s", us < saved ? fa_format_time(us, text) : "all", how);
}

struct str price_line(const struct price *x, const struct device *d, struct str beside, struct arena *a) {
    char around[FA_TIME_TEXT];
    struct buf out = {0};
    if (!x->known)
        return STR("");
    bool slower = price_is_slower(x);
    const struct cost *ruling = slower ? &x->with : &x->without;
    add_saved(&out, x);
    if (beside.n)
        buf_printf(&out, ", %.*s", (int)beside.n, beside.p);
    buf_add(&out, STR(" ("));
    if (x->around_us > 0 && !slower) {
        add_here(&out, x);
        buf_printf(&out, " here, %s in casts and copies beside it; ", fa_format_time(x->around_us, around));
    }
    add_counted(&out, x);
    buf_printf(&out, "%s-bound", bound_name(cost_bound(&ruling->estimated)));
    if (slower)
        buf_printf(&out, " on %" PRId64 " core%s", x->with.estimated.cores, x->with.estimated.cores == 1 ? "" : "s");
    if (d) {
        buf_add(&out, STR(", "));
        buf_add(&out, device_label(d, a));
    }
    buf_addc(&out, ')');
    if (x->apart.bias || x->apart.activation)
        buf_printf(&out, "; TTNN runs %s of its own",
                   !x->apart.bias         ? "the activation as an op"
                   : !x->apart.activation ? "the bias as an op"
                                          : "bias and activation as ops");
    add_by_hand(&out, x, x->sharding_us, "once its columns are sharded, which no option does");
    add_by_hand(&out, x, x->casts_us, "without the casts, which the compiler keeps where it pads heads");
    return buf_take(&out, a);
}

double price_line_us(struct str line) {
    const struct {
        struct str name;
        double us;
    } units[] = {{STR(" us"), 1}, {STR(" ms"), 1e3}, {STR(" s"), 1e6}};
    struct str rest = line;
    char number[FA_TIME_TEXT];
    if (str_starts(line, NO_TIME))
        return 0;
    while (rest.n && (*rest.p < '0' || *rest.p > '9'))
        rest = (struct str){rest.p + 1, rest.n - 1};
    snprintf(number, sizeof number, "%.*s", (int)rest.n, rest.p);
    double us = strtod(number, NULL);
    for (; rest.n; rest = (struct str){rest.p + 1, rest.n - 1}) /* the first unit is of the first time, or of both */
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (str_starts(rest, units[i].name) &&
                (rest.n == units[i].name.n || strchr(" ,:", rest.p[units[i].name.n])))
                return (str_starts(line, SLOWER) ? -us : us) * units[i].us;
    return 0;
}

__attribute__((format(printf, 5, 6))) static void add_figure(struct figures *f, struct arena *a, const char *key,
                                                             const char *suffix, const char *format, ...) {
    char text[64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    f->items[f->n++] = (struct figure){arena_printf(a, "%s%s", key, suffix), arena_str(a, str_of(text)), true};
}

static void add_word(struct figures *f, struct arena *a, const char *key, const char *suffix, struct str value) {
    f->items[f->n++] = (struct figure){arena_printf(a, "%s%s", key, suffix), value, false};
}

static void add_cost(struct figures *f, const struct cost *c, const char *suffix, struct arena *a) {
    const struct counted *n = &c->counted;
    const struct estimated *e = &c->estimated;
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {
        {"launches", n->launches},     {"dram_read_bytes", n->dram_read},   {"dram_written_bytes", n->dram_written},
        {"l1_read_bytes", n->l1_read}, {"l1_written_bytes", n->l1_written}, {"held_bytes", n->held}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        add_figure(f, a, counts[i].key, suffix, "%" PRId64, counts[i].value);
    add_figure(f, a, "estimated_us", suffix, "%.2f", e->us);
    add_figure(f, a, "matrix_cycles", suffix, "%.0f", e->matrix_cycles);
    add_figure(f, a, "vector_cycles", suffix, "%.0f", e->vector_cycles);
    add_figure(f, a, "cores", suffix, "%" PRId64, e->cores);
    add_word(f, a, "bound", suffix, str_of(bound_name(cost_bound(e))));
}

struct figures price_figures(const struct price *x, const struct device *d, struct arena *a) {
    enum { MOST = 32 };
    struct figures f = {NULL, 0};
    if (!x->known)
        return f;
    f.items = arena_alloc(a, MOST * sizeof *f.items);
    add_word(&f, a, "device", "", d->chip.name);
    add_cost(&f, &x->without, "", a);
    add_cost(&f, &x->with, "_fused", a);
    if (x->measured_us > 0)
        add_figure(&f, a, "measured_us", "", "%.2f", x->measured_us);
    return f;
}
