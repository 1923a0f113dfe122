/* The table of what was found, for people, and what an entry says is to be done. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/writer.h"
#include "fusion_audit.h"
#include "report/report.h"

enum { MOST_ROWS = 20, MOST_KERNELS = 3 /* by name */ };

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

void report_add_time(struct buf *out, double us) {
    char text[FA_TIME_TEXT];
    buf_add(out, str_of(fa_format_time(us, text)));
}

/* "10 of 30 ms" */
static void write_part(struct writer *w, const char *key, double us, double all) {
    struct buf text = {0};
    add_time_part(&text, us, all);
    write_pair(w, key, buf_str(&text), TEXT_NAME);
    buf_free(&text);
}

static void write_names_of(struct writer *w, const char *key, const struct row *row, uint32_t most) {
    write_names(w, key, (struct str_list){row->ops, row->nops < most ? row->nops : most});
}

static void write_row(struct writer *w, const struct row *row) {
    const struct todo *todo = entry_todo(row->entry);
    const struct finding *worst = row->entry->findings[0];
    struct str rest = worst->notes.source;
    struct arena a = {0};
    struct buf text = {0};
    todo_name(todo, &text);
    if (todo->kind != TODO_OPTION)
        todo_reason(todo, &text);
    write_map(w);
    write_pair_real(w, "saved_us", row->saved);
    write_pair_number(w, "places", row->nplaces);
    if (row->ndifferent < row->nplaces)
        write_pair_number(w, "distinct", row->ndifferent);
    write_names_of(w, "fused_ops", row, UINT32_MAX);
    write_pair(w, "action", buf_str(&text), TEXT_QUOTED);
    write_pair_if_any(w, "source", str_part(&rest, ','), TEXT_QUOTED);
    write_pair_if_any(w, "lines", finding_lines(worst, &a), TEXT_QUOTED);
    if (row->nplaces > 1)
        write_pair_bool(w, "several", true);
    write_close(w);
    buf_free(&text);
    arena_free(&a);
}

static void write_rows(struct writer *w, const struct summary *t) {
    struct row rest = {.saved = 0};
    write_list_at(w, "rows");
    for (uint32_t i = 0; i < t->nrows && i < MOST_ROWS; i++)
        write_row(w, &t->rows[i]);
    write_close(w);
    for (uint32_t i = MOST_ROWS; i < t->nrows; i++) {
        rest.saved += t->rows[i].saved;
        rest.nplaces += t->rows[i].nplaces;
    }
    if (t->nrows > MOST_ROWS) {
        write_map_at(w, "more");
        write_pair_number(w, "rows", t->nrows - MOST_ROWS);
        write_pair_number(w, "places", rest.nplaces);
        write_pair_real(w, "saved_us", rest.saved);
        write_close(w);
    }
}

static void write_kernels(struct writer *w, const struct row *kernels) {
    write_map_at(w, "kernels");
    write_pair_number(w, "places", kernels->nplaces);
    write_pair_real(w, "saved_us", kernels->saved);
    write_names_of(w, "names", kernels, MOST_KERNELS);
    if (kernels->nops > MOST_KERNELS)
        write_pair_number(w, "more", kernels->nops - MOST_KERNELS);
    write_close(w);
}

/* Less is not told of what an option saves elsewhere. */
#define PART_SAID      0.05
#define LEAST_PROMISED 0.05 /* us: what is printed as 0.0 us is no promise */

static void write_promises(struct writer *w, const struct report *r) {
    uint32_t n, told = 0;
    struct promise *all = report_promises(r, &n);
    write_list_at(w, "promises");
    for (uint32_t i = 0; i < n; i++) {
        const struct promise *p = &all[i];
        if (p->saved < LEAST_PROMISED)
            continue;
        write_map(w);
        if (told++)
            write_pair_bool(w, "then", true);
        write_pair(w, p->spelled.n ? "spelled" : "option", p->spelled.n ? p->spelled : p->option, TEXT_NAME);
        write_pair_bool(w, "at_most", p->at_most);
        if (told == 1)
            write_part(w, "part", p->saved, r->total_us);
        write_pair_real(w, "saved_us", p->saved);
        write_pair_positive(w, "parts_us", p->parts > PART_SAID * p->saved ? p->parts : 0);
        write_pair_positive(w, "around_us", p->around > PART_SAID * p->saved && p->around <= p->saved ? p->around : 0);
        write_pair_if_any(w, "needs", p->needs, TEXT_NAME);
        write_close(w);
    }
    write_close(w);
    free(all);
}

/* What is needless is told where it is much of the time. */
#define NEEDLESS_SAID 0.1

static void write_needless(struct writer *w, const struct report *r) {
    double us = 0;
    for (uint32_t i = 0; i < r->times.needless.n; i++)
        us += r->times.needless.items[i].us;
    if (us <= NEEDLESS_SAID * r->total_us)
        return;
    write_map_at(w, "needless");
    write_part(w, "part", us, r->total_us);
    write_list_at(w, "kinds");
    for (uint32_t i = 0; i < r->times.needless.n; i++)
        write_text(w, str_of(r->times.needless.items[i].kind), TEXT_NAME);
    write_close(w);
    write_close(w);
}

/* Against a baseline: what is new, and whether it makes the audit fail. */
static void write_new(struct writer *w, const struct report *r) {
    write_list_at(w, "new");
    for (uint32_t i = 0; i < r->nentries && r->compared; i++) {
        const struct report_entry *e = &r->entries[i];
        struct entry_share new = entry_share(e, false);
        uint32_t first = 0;
        if (!new.n)
            continue;
        while (e->findings[first]->known.n)
            first++;
        write_map(w);
        write_pair_bool(w, "fails", new.fails);
        write_pair(w, "fused_op", e->findings[first]->fused_op, TEXT_NAME);
        write_pair_number(w, "places", new.n);
        if (new.n > 1)
            write_pair_bool(w, "several", true);
        write_pair_positive(w, "saved_us", new.saved);
        write_pair(w, "place", finding_place(e->findings[first]), TEXT_QUOTED);
        write_close(w);
    }
    write_close(w);
}

static void write_head(struct writer *w, const struct report *r, const char *name) {
    uint32_t places = report_places(r), known = report_known(r);
    write_pair(w, "name", str_of(name), TEXT_NAME);
    write_pair_number(w, "places", places);
    write_pair_number(w, "fused_ops", report_fused_ops(r, false));
    write_pair_number(w, "slower", r->nslower);
    write_pair_number(w, "small", r->nsmall);
    write_pair_bool(w, "least", r->least.given);
    if (r->compared) {
        write_map_at(w, "compared");
        write_pair_number(w, "known", known);
        write_pair_number(w, "new", places - known);
        write_pair_number(w, "gone", r->gone.n);
        write_close(w);
    }
    write_pair_number(w, "paired", r->npaired);
    if (r->nunpaired)
        write_pair_number(w, "ops", r->npaired + r->nunpaired);
    if (r->saved_us > 0)
        write_part(w, "to_save", r->saved_us, r->total_us);
    write_pair_if_any(w, "device", r->device, TEXT_NAME);
    write_pair_positive(w, "before_us", r->total_us > 0 ? r->before_us : 0);
    write_pair_real(w, "total_us", r->total_us);
}

static const struct column columns[] = {
    {"saves", "{saved_us?{saved_us:us}|-}"},
    {"places", "{places}"},
    {"distinct", "{distinct}"},
    {"fused op: what to do",
     "{fused_ops*{}}: {action}{source?; at {source}{several?, ...|}|{lines?; at lines {lines}{several?, ...|}|}}"},
    {NULL, NULL}};
static const struct template summary_text[] = {
    {.text = "{name}: {places place}, {fused_ops fused op}{slower?, {slower} left out as no faster|}"
             "{small?, {small}{slower?| left out} as saving {least?less|too little}|}"
             "{compared?; {compared.known} known, {compared.new} new, {compared.gone} gone|}"
             "{ops?; {paired} of {ops} TTNN ops paired|{paired?; all {paired} TTNN ops paired|}}"
             "{to_save?; about {to_save} to save{device? ({device})|}|}"
             "{before_us?; all ops: {before_us:us} before, {total_us:us} now|}\n"},
    {.of = "new",
     .text = "new{fails?|, which does not fail}: {fused_op} at {places place}{saved_us?, {saved_us:us}|}: {place}"
             "{several?, ...|}\n"},
    {.of = "rows", .columns = columns},
    {.of = "more", .text = "{saved_us:us} at {places place} in {rows} more rows, which the report has\n"},
    {.of = "promises",
     .text =
         "{then?then |}{spelled?{spelled}|set {option}}: {part?saves |}{at_most?up to |}"
         "{part?{part}|{saved_us:us} more}{parts_us? ({parts_us:us} of it inside of what other rows ask for)|}"
         "{around_us? ({around_us:us} of it in casts and copies beside the fused ops)|}{needs? (needs {needs})|}\n"},
    {.of = "kernels",
     .where = "places",
     .text = "kernels to request ({places place}, {saved_us?{saved_us:us}|nothing beside the rows above}): {names*{}}"
             "{more?, and {more} more|}\n"},
    {.of = "needless", .text = "{part} is needless ({kinds*{}}), and no fused op mends it: --time lists it\n"},
    {.text = NULL}};

void report_summary(const struct report *r, const char *name, uint32_t width, FILE *out) {
    struct summary t = {.nrows = 0};
    struct writer w;
    char *text = NULL;
    size_t n = 0;
    FILE *lines = open_memstream(&text, &n);
    table_make(&t, r);
    if (t.nrows)
        qsort(t.rows, t.nrows, sizeof *t.rows, by_saving);
    write_as_text(&w, summary_text, lines);
    write_head(&w, r, name);
    write_new(&w, r);
    write_rows(&w, &t);
    write_promises(&w, r);
    write_kernels(&w, &t.kernels);
    write_needless(&w, r);
    write_close(&w);
    if (write_end(&w) && fclose(lines) == 0)
        fa_print_lines(text, n, width, out);
    free(text);
    for (uint32_t i = 0; i < t.nrows; i++)
        free(t.rows[i].ops);
    free(t.kernels.ops);
    free(t.rows);
}
