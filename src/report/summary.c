/* The table of what was found, for people, and what an entry says is to be done. */
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/locale.h"
#include "base/units.h"
#include "base/utf8.h"
#include "fusion_audit.h"
#include "report/report.h"

enum { MOST_ROWS = 20, MOST_LINES = 3 /* of a row */, SAVES_WIDTH = 8, PLACES_WIDTH = 6, DIFFERENT_WIDTH = 11 };

/* ---- what to do about an entry ---- */

/* No entry before asks for the same option. */
static bool is_first_to_ask(const struct report *r, uint32_t entry) {
    for (uint32_t i = 0; i < entry; i++)
        if (same_todo(entry_todo(&r->entries[i]), entry_todo(&r->entries[entry])))
            return false;
    return true;
}

const struct todo *report_setting(const struct report *r, size_t i) {
    for (uint32_t k = 0; k < r->nentries; k++)
        if (entry_todo(&r->entries[k])->kind == TODO_OPTION && is_first_to_ask(r, k) && i-- == 0)
            return entry_todo(&r->entries[k]);
    return NULL;
}

struct str report_notes(const struct report *r, const struct report_entry *e, const struct finding *f,
                        struct note_lines *out) {
    struct buf action = {0}, version = {0}, all_ops = {0};
    struct arena a = {0};
    bool first = f == e->findings[0];
    if (first && e == r->entries && r->total_us > 0) {
        add_total_time(&all_ops, r->total_us);
        buf_printf(&all_ops, " (%.*s)", (int)r->device.n, r->device.p);
    }
    if (first && e == r->entries && r->version.n)
        buf_printf(&version, "%.*s.", (int)r->version.n, r->version.p);
    if (first)
        buf_add(&action, f->action);
    if (action.n && f->notes.claim.set)
        buf_add(&action, claim_behind(&f->notes.claim, &a));
    struct notes_of_entry of = {.all_ops = buf_str(&all_ops),
                                .version = buf_str(&version),
                                .action = buf_str(&action),
                                .first = first,
                                .agreeing = e->agreeing,
                                .places = e->nfindings,
                                .details = r->details};
    struct str text = finding_notes(f, &of, out);
    buf_free(&action);
    buf_free(&version);
    buf_free(&all_ops);
    arena_free(&a);
    return text;
}

/* ---- rows ---- */

struct row {
    struct str *ops;                  /* fused ops, each once */
    const struct report_entry *entry; /* the first that it was made of */
    double saved;
    uint32_t nops, cap, nplaces, ndifferent, order;
};

struct summary {
    struct row *rows;
    uint32_t nrows, cap;
    struct row kernels; /* those that are to be requested */
    uint32_t width, places_width;
    bool colour;
    FILE *out;
};

static bool same_row(const struct report_entry *x, const struct report_entry *y) {
    const struct todo *a = entry_todo(x), *b = entry_todo(y);
    return same_todo(a, b) && (a->kind == TODO_OPTION ||
                               (str_eq(x->findings[0]->fused_op, y->findings[0]->fused_op) && str_eq(a->why, b->why)));
}

static void row_add(struct row *row, const struct report_entry *e) {
    struct str op = e->findings[0]->fused_op;
    uint32_t i = 0;
    while (i < row->nops && !str_eq(row->ops[i], op))
        i++;
    if (i == row->nops) {
        row->ops = grow(row->ops, &row->cap, i + 1, sizeof *row->ops);
        row->ops[row->nops++] = op;
    }
    row->saved += entry_todo(e)->kind == TODO_LEAVE ? e->alone : e->saved;
    row->nplaces += e->nplaces;
    row->ndifferent += e->ndifferent;
}

static void table_make(struct summary *table, const struct report *r) {
    for (uint32_t i = 0; i < r->nentries; i++) {
        const struct report_entry *e = &r->entries[i];
        uint32_t at = 0;
        if (entry_todo(e)->kind == TODO_KERNEL)
            row_add(&table->kernels, e);
        if (entry_todo(e)->kind == TODO_KERNEL || entry_todo(e)->kind == TODO_NOTHING)
            continue;
        while (at < table->nrows && !same_row(table->rows[at].entry, e))
            at++;
        if (at == table->nrows) {
            table->rows = grow(table->rows, &table->cap, table->nrows + 1, sizeof *table->rows);
            table->rows[table->nrows++] = (struct row){.entry = e, .order = at};
        }
        row_add(&table->rows[at], e);
    }
}

/* As the report: the rows of one order stay as their entries stand. */
static int by_saving(const void *pa, const void *pb) {
    const struct row *a = pa, *b = pb;
    bool last = entry_todo(a->entry)->kind == TODO_LEAVE, other_last = entry_todo(b->entry)->kind == TODO_LEAVE;
    if (last != other_last)
        return last ? 1 : -1;
    return a->saved < b->saved || (a->saved == b->saved && a->order > b->order) ? 1 : -1;
}

/* ---- printing ---- */

static void print_wrapped(struct str text, const char *indent, uint32_t width, FILE *out) {
    for (bool first = true; text.n; first = false) {
        struct str line = next_line(&text, width - (first ? 0 : strlen(indent)), true);
        fprintf(out, "%s%.*s\n", first ? "" : indent, (int)line.n, line.p);
    }
}

void report_add_time(struct buf *out, double us) {
    char text[FA_TIME_TEXT];
    buf_add(out, str_of(fa_format_time(us, text)));
}

static void add_places(struct buf *out, const struct row *row) {
    buf_printf(out, "%u", row->nplaces);
    if (row->ndifferent < row->nplaces)
        buf_printf(out, " (%u)", row->ndifferent);
}

/* What begins at `what` is coloured. */
static void print_part(const struct summary *t, struct str line, const char *what) {
    size_t plain = line.p >= what ? 0 : (size_t)(what - line.p) < line.n ? (size_t)(what - line.p) : line.n;
    bool colour = t->colour && plain < line.n;
    fprintf(t->out, "%.*s%s%.*s%s", (int)plain, line.p, colour ? "\033[36m" : "", (int)(line.n - plain), line.p + plain,
            colour ? "\033[0m" : "");
}

/* The text goes on below with a blank or two before it. */
static void print_row(const struct summary *t, struct str saves, struct str places, struct str text, size_t ops) {
    uint32_t rest = t->width - SAVES_WIDTH - t->places_width - 4;
    const char *what = text.p + ops;
    for (uint32_t i = 0; saves.n || places.n || text.n; i++) {
        bool last = i == MOST_LINES - 1;
        struct str first = next_line(&saves, SAVES_WIDTH, true), second = next_line(&places, t->places_width, true);
        struct str line = next_line(&text, rest - (i ? 2 : 0) - (last ? 4 : 0), true);
        fprintf(t->out, "%*.*s  %*.*s%s", SAVES_WIDTH, (int)first.n, first.p, (int)t->places_width, (int)second.n,
                second.p,
                !line.n ? ""
                : i     ? "    "
                        : "  ");
        print_part(t, line, what);
        fputs(last && text.n ? " ...\n" : "\n", t->out);
        if (last)
            text.n = 0;
    }
}

/* Of the place that saves most: "; at modeling_qwen3.py:188 (forward), ..." */
static void add_source(struct buf *out, const struct row *row) {
    struct str rest = row->entry->findings[0]->notes.source, line = str_part(&rest, ',');
    if (line.n)
        buf_printf(out, "; at %.*s%s", (int)line.n, line.p, row->nplaces > 1 ? ", ..." : "");
}

static void print_item(const struct summary *t, const struct row *row) {
    const struct todo *todo = entry_todo(row->entry);
    struct buf saves = {0}, places = {0}, text = {0}, clean = {0};
    if (row->saved != 0)
        report_add_time(&saves, row->saved);
    else
        buf_add(&saves, STR("-"));
    add_places(&places, row);
    for (uint32_t i = 0; i < row->nops; i++)
        buf_printf(&text, "%s%.*s", i ? ", " : "", (int)row->ops[i].n, row->ops[i].p);
    buf_add(&text, STR(": "));
    size_t ops = text.n;
    todo_name(todo, &text);
    if (todo->kind != TODO_OPTION)
        todo_reason(todo, &text);
    add_source(&text, row);
    print_row(t, buf_str(&saves), buf_str(&places), utf8_clean(buf_str(&text), "", &clean), ops);
    buf_free(&clean);
    buf_free(&saves);
    buf_free(&places);
    buf_free(&text);
}

static void print_rows(const struct summary *t) {
    struct row rest = {.saved = 0};
    for (uint32_t i = 0; i < t->nrows; i++) {
        if (i < MOST_ROWS) {
            print_item(t, &t->rows[i]);
            continue;
        }
        rest.saved += t->rows[i].saved;
        rest.nplaces += t->rows[i].nplaces;
    }
    if (t->nrows <= MOST_ROWS)
        return;
    struct buf line = {0};
    report_add_time(&line, rest.saved);
    fprintf(t->out, "%*.*s  %*u  in %u more rows, which the report has\n", SAVES_WIDTH, (int)line.n, line.p,
            (int)t->places_width, rest.nplaces, t->nrows - MOST_ROWS);
    buf_free(&line);
}

/* In one line: as many names as fit. */
static void print_kernels(const struct summary *t) {
    struct buf line = {0};
    uint32_t n = t->kernels.nops, i = 0;
    if (!n)
        return;
    buf_printf(&line, "kernels to request (%u place%s, ", t->kernels.nplaces, t->kernels.nplaces == 1 ? "" : "s");
    if (t->kernels.saved > 0)
        report_add_time(&line, t->kernels.saved);
    else
        buf_add(&line, STR("nothing beside the rows above"));
    buf_add(&line, STR("):"));
    for (; i < n; i++) {
        struct str name = t->kernels.ops[i];
        size_t more = i + 1 < n ? strlen(", and 99 more") : 0;
        if (i && line.n + name.n + 2 + more > t->width)
            break;
        buf_printf(&line, "%s%.*s", i ? ", " : " ", (int)name.n, name.p);
    }
    if (i < n)
        buf_printf(&line, ", and %u more", n - i);
    print_wrapped(buf_str(&line), "  ", t->width, t->out);
    buf_free(&line);
}

/* Less is not told of what an option saves elsewhere. */
#define PART_SAID      0.05
#define LEAST_PROMISED 0.05 /* us: what is printed as 0.0 us is no promise */

static void add_elsewhere(struct buf *line, double us, const struct promise *p, const char *where) {
    if (us > PART_SAID * p->saved) {
        buf_add(line, STR(" ("));
        report_add_time(line, us);
        buf_printf(line, " of it %s", where);
    }
}

/* "saves 2.9 of 10 ms", "2.9 ms more" */
static void add_promise(struct buf *line, double total, const struct promise *p) {
    const char *most = p->at_most ? "up to " : "";
    if (line->n > 0 && total > 0) {
        buf_printf(line, "saves %s", most);
        add_time_part(line, p->saved, "of", total);
    } else {
        buf_add(line, str_of(most));
        report_add_time(line, p->saved);
        buf_add(line, STR(" more"));
    }
}

/* "set enable-fusing-pass=true: saves 2.9 of 10 ms; then optimization-level=1: up to 2.9 ms more" */
static void print_promises(const struct summary *t, const struct report *r) {
    struct buf line = {0};
    uint32_t n;
    struct promise *all = report_promises(r, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct promise *p = &all[i];
        if (p->saved < LEAST_PROMISED)
            continue;
        bool first = !line.n;
        struct str set = p->spelled.n ? p->spelled : p->option;
        buf_printf(&line, "%s%.*s: ", !first ? "; then " : p->spelled.n ? "" : "set ", (int)set.n, set.p);
        add_promise(&line, first ? r->total_us : 0, p);
        add_elsewhere(&line, p->parts, p, "inside of what other rows ask for)");
        add_elsewhere(&line, p->around, p, "in casts and copies beside the fused ops)");
        if (p->needs.n)
            buf_printf(&line, " (needs %.*s)", (int)p->needs.n, p->needs.p);
    }
    print_wrapped(buf_str(&line), "  ", t->width, t->out);
    buf_free(&line);
    free(all);
}

/* What is needless is told where it is much of the time. */
#define NEEDLESS_SAID 0.1

static void print_needless(const struct report *r, uint32_t width, FILE *out) {
    struct buf line = {0};
    double us = 0;
    for (uint32_t i = 0; i < r->times.nneedless; i++) {
        us += r->times.needless[i].us;
        buf_printf(&line, "%s%s", i ? ", " : " is needless (", r->times.needless[i].kind);
    }
    struct buf all = {0};
    add_time_part(&all, us, "of", r->total_us);
    buf_add(&all, buf_str(&line));
    buf_add(&all, STR("), and no fused op mends it: --time lists it"));
    if (us > NEEDLESS_SAID * r->total_us)
        print_wrapped(buf_str(&all), "  ", width, out);
    buf_free(&all);
    buf_free(&line);
}

static void print_head(const struct report *r, const char *name, uint32_t width, FILE *out) {
    struct buf line = {0};
    uint32_t places = report_places(r), known = report_known(r), ops = report_fused_ops(r, false);
    print_clean(str_of(name), "\t", out);
    buf_printf(&line, ": %u place%s, %u fused op%s", places, places == 1 ? "" : "s", ops, ops == 1 ? "" : "s");
    if (r->nslower)
        buf_printf(&line, ", %u left out as no faster", r->nslower);
    if (r->nsmall)
        buf_printf(&line, ", %u that save %s", r->nsmall, r->least.given ? "less" : "nothing");
    if (r->compared)
        buf_printf(&line, "; %u known, %u new, %u gone", known, places - known, r->gone.n);
    if (r->nunpaired)
        buf_printf(&line, "; %u of %u TTNN ops paired", r->npaired, r->npaired + r->nunpaired);
    else if (r->npaired)
        buf_printf(&line, "; all %u TTNN ops paired", r->npaired);
    if (r->saved_us > 0) {
        buf_add(&line, STR("; about "));
        add_time_part(&line, r->saved_us, "of", r->total_us);
        buf_add(&line, STR(" to save"));
        if (r->device.n)
            buf_printf(&line, " (%.*s)", (int)r->device.n, r->device.p);
    }
    if (r->before_us > 0 && r->total_us > 0) {
        buf_add(&line, STR("; all ops: "));
        report_add_time(&line, r->before_us);
        buf_add(&line, STR(" before, "));
        report_add_time(&line, r->total_us);
        buf_add(&line, STR(" now"));
    }
    size_t used = strlen(name) < width / 2 ? strlen(name) : 0;
    struct str rest = buf_str(&line), first = next_line(&rest, width - used, true);
    fprintf(out, "%.*s\n", (int)first.n, first.p);
    while (rest.n) {
        struct str next = next_line(&rest, width - 2, true);
        fprintf(out, "  %.*s\n", (int)next.n, next.p);
    }
    buf_free(&line);
}

/* Against a baseline: what is new, and whether it makes the audit fail. What is gone is told where the baseline has it.
 */
static void print_new(const struct report *r, uint32_t width, FILE *out) {
    for (uint32_t i = 0; i < r->nentries && r->compared; i++) {
        const struct report_entry *e = &r->entries[i];
        struct entry_share new = entry_share(e, false);
        struct buf line = {0}, clean = {0};
        uint32_t first = 0;
        if (!new.n)
            continue;
        while (e->findings[first]->known.n)
            first++;
        const struct finding *f = e->findings[first];
        buf_printf(&line, "new%s: %.*s at %u place%s%s", new.fails ? "" : ", which does not fail", (int)f->fused_op.n,
                   f->fused_op.p, new.n, new.n == 1 ? "" : "s", new.saved > 0 ? ", " : "");
        if (new.saved > 0)
            report_add_time(&line, new.saved);
        buf_printf(&line, ": %.*s%s", (int)finding_place(f).n, finding_place(f).p, new.n > 1 ? ", ..." : "");
        print_wrapped(utf8_clean(buf_str(&line), "", &clean), "  ", width, out);
        buf_free(&line);
        buf_free(&clean);
    }
}

void report_summary(const struct report *r, const char *name, uint32_t width, bool colour, FILE *out) {
    struct summary t = {.width = width < 60 ? 60 : width, .colour = colour, .out = out};
    struct str head = STR("fused op: what to do");
    bool alike = false;
    print_head(r, name, t.width, out);
    print_new(r, t.width, out);
    table_make(&t, r);
    if (t.nrows)
        qsort(t.rows, t.nrows, sizeof *t.rows, by_saving);
    for (uint32_t i = 0; i < t.nrows; i++)
        alike |= t.rows[i].ndifferent < t.rows[i].nplaces;
    t.places_width = alike ? DIFFERENT_WIDTH : PLACES_WIDTH;
    if (t.nrows) {
        print_row(&t, STR("saves"), alike ? STR("places (distinct)") : STR("places"), head, head.n);
        print_rows(&t);
        print_promises(&t, r);
    }
    print_kernels(&t);
    print_needless(r, t.width, out);
    for (uint32_t i = 0; i < t.nrows; i++)
        free(t.rows[i].ops);
    free(t.kernels.ops);
    free(t.rows);
}
