/* Prices as text: one line for people, figures for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "device/price/price.h"

static void add_us(struct buf *out, double us) {
    buf_printf(out, us < 9.95 ? "%.1f" : "%.0f", us);
}

double us_as_said(double us) {
    struct buf text = {0};
    add_us(&text, us);
    buf_addc(&text, '\0');
    us = strtod(text.p, NULL);
    buf_free(&text);
    return us;
}

struct saved price_saved(const struct price *x) {
    const struct counted *a = &x->without.counted, *b = &x->with.counted;
    return (struct saved){a->launches - b->launches, a->dram_read + a->dram_written - b->dram_read - b->dram_written,
                          a->l1_read + a->l1_written - b->l1_read - b->l1_written};
}

static const char *comma(const struct buf *out) {
    return out->n ? ", " : "";
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
    if (!out->n)
        buf_add(out, STR("no launch and no traffic"));
}

struct str device_label(const struct device *d, struct arena *a) {
    struct str name = d->choice == CHIP_OF_MODULE ? d->chip.arch : d->chip.name;
    return arena_printf(a, "%.*s%s", (int)name.n, name.p, d->choice == CHIP_ASSUMED ? " assumed" : "");
}

/* What stands before the numbers of a line. */
#define ABOUT    STR("; about ")
#define OF       STR(" of ")
#define SLOWER   STR("; slower by about ")
#define THAN     STR(" us than ")
#define MEASURED STR("; measured ")

struct str price_line(const struct price *x, const struct device *d, struct arena *a) {
    struct buf out = {0};
    double us = x->without.estimated.us, saved = us - x->with.estimated.us;
    if (!x->known)
        return STR("");
    add_counted(&out, x);
    bool slower = price_is_slower(x);
    if (slower) {
        buf_add(&out, SLOWER);
        add_us(&out, -saved);
        buf_add(&out, THAN);
    } else {
        buf_add(&out, ABOUT);
        add_us(&out, fmax(saved, 0));
        buf_add(&out, OF);
    }
    add_us(&out, us);
    buf_add(&out, STR(" us ("));
    buf_add(&out, device_label(d, a));
    const struct cost *ruling = slower ? &x->with : &x->without;
    buf_printf(&out, ", %s-bound", bound_name(cost_bound(&ruling->estimated)));
    if (slower)
        buf_printf(&out, " on %" PRId64 " core%s", x->with.estimated.cores, x->with.estimated.cores == 1 ? "" : "s");
    buf_addc(&out, ')');
    if (x->measured_us > 0) {
        buf_add(&out, MEASURED);
        add_us(&out, x->measured_us);
        buf_add(&out, STR(" us"));
    }
    if (x->apart.bias || x->apart.activation)
        buf_printf(&out, "; TTNN runs %s of its own",
                   !x->apart.bias         ? "the activation as an op"
                   : !x->apart.activation ? "the bias as an op"
                                          : "bias and activation as ops");
    return buf_take(&out, a);
}

/* Takes the line up to a text and the number behind that; false where it is not there. */
static bool number_behind(struct str *line, struct str text, double *x) {
    const char *at = str_find(*line, text);
    if (at) {
        *line = (struct str){at + text.n, line->n - (size_t)(at - line->p) - text.n};
        *x = strtod(line->p, NULL);
    }
    return at;
}

double price_line_us(struct str line) {
    double saved = 0, all = 0, measured = 0;
    if (number_behind(&line, ABOUT, &saved)) {
        number_behind(&line, OF, &all);
    } else if (number_behind(&line, SLOWER, &saved)) {
        number_behind(&line, THAN, &all);
        saved = -saved;
    }
    return number_behind(&line, MEASURED, &measured) && all > 0 ? saved / all * measured : saved;
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
