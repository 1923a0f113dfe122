/* The report in Markdown, for a comment on a change: a table of what is new, its places folded, then what a baseline
 * knows as a folded table. What is beyond MOST_BYTES is counted. The first line, which is not shown, says which
 * comments are of this program and of this compile. */
#include "base/markdown.h"
#include "base/utf8.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 28000, ROOM_FOR_COUNTS = 200, MOST_OPS = 6 /* by name in a cell */ };

struct markdown {
    const struct report *report;
    FILE *out;
    size_t left; /* bytes that may still be printed */
};

/* What may be printed of it, if all of it fits. */
static bool print_part(struct markdown *m, struct buf *part) {
    struct buf scratch = {0};
    struct str clean = utf8_clean(buf_str(part), "\n\t", &scratch);
    bool fits = clean.n <= m->left;
    if (fits && clean.n) {
        fwrite(clean.p, 1, clean.n, m->out);
        m->left -= clean.n;
    }
    buf_free(&scratch);
    buf_free(part);
    return fits;
}

static void print_count(struct markdown *m, uint32_t n, const char *what) {
    if (n)
        fprintf(m->out, "\n%u more %s%s in the report.\n", n, what, n == 1 ? " is" : "s are");
}

/* Lines as they are, in a fence that is longer than any in them. */
static void add_code(struct buf *out, struct str s) {
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < s.n; i++) {
        run = s.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int end = 0; end < 2; end++) {
        for (size_t i = 0; i <= longest; i++)
            buf_addc(out, '`');
        buf_add(out, end ? STR("\n") : STR("mlir\n"));
        if (!end)
            buf_add(out, s);
    }
}

static bool print_row(struct markdown *m, const struct report_entry *e, bool known) {
    struct entry_share x = entry_share(e, known);
    const struct finding *first = e->findings[0];
    struct buf row = {0};
    buf_add(&row, STR("| "));
    if (x.saved > 0)
        report_add_time(&row, x.saved);
    else
        buf_add(&row, STR("–")); /* another row counts it */
    buf_printf(&row, " | %u%s | ", x.n, m->report->compared && x.n && !x.fails && !known ? " (no failure)" : "");
    add_markdown(&row, first->fused_op);
    buf_add(&row, STR(" | "));
    if (first->component_ops.n > MOST_OPS)
        buf_printf(&row, "%u ops", first->component_ops.n);
    for (uint32_t i = 0; i < first->component_ops.n && first->component_ops.n <= MOST_OPS; i++) {
        if (i)
            buf_add(&row, STR(", "));
        add_markdown(&row, first->component_ops.items[i]);
    }
    buf_add(&row, STR(" | "));
    add_markdown(&row, first->action);
    buf_add(&row, STR(" |\n"));
    return print_part(m, &row);
}

static void print_rows(struct markdown *m, bool known) {
    const struct report *r = m->report;
    struct buf head = {0};
    uint32_t left = 0;
    buf_add(&head, STR("\n| saves | places | fused op | instead of | what to do |\n|---:|---:|---|---|---|\n"));
    print_part(m, &head);
    for (uint32_t i = 0; i < r->nentries; i++) {
        uint32_t n = entry_share(&r->entries[i], known).n;
        left += n && (left || !print_row(m, &r->entries[i], known));
    }
    print_count(m, left, "fused op");
}

static void add_alike(struct buf *out, const struct finding *f) {
    buf_add(out, STR("The same ops as at "));
    add_markdown(out, f->label);
    buf_add(out, STR(".\n"));
}

/* What has to hold, or does not: the lines of the notes without which nobody should do what the table says. */
static void add_conditions(struct buf *out, const struct finding *f) {
    static const char *const keys[] = {"precondition", "blocked", "known defect", "outside of the claim"};
    const struct notes_of_entry all = {.first = true, .places = 1};
    struct note_lines lines = {.n = 0};
    (void)finding_notes(f, &all, &lines);
    for (uint32_t i = 0; i < lines.n; i++) {
        const struct note_line *line = &lines.items[i];
        struct str text = {lines.text.p + line->at, line->n};
        bool told = !*line->key && str_starts(text, STR("precondition"));
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            told |= strcmp(line->key, keys[k]) == 0;
        if (!told)
            continue;
        buf_printf(out, "<br>%s%s", line->key, *line->key ? ": " : "");
        add_markdown(out, text);
    }
    note_lines_free(&lines);
}

static void add_finding(struct buf *out, const struct finding *f) {
    bool alike = f->same_as && !f->same_as->known.n;
    struct arena a = {0};
    buf_add(out, STR("\n**"));
    add_markdown(out, finding_place(f));
    buf_add(out, STR("** "));
    add_markdown(out, f->label);
    buf_addc(out, ' ');
    add_markdown(out, f->ir_loc.n ? f->ir_loc : f->ttnn.lines.n ? f->ttnn.lines : f->ttir.lines);
    if (f->notes.source.n) {
        buf_add(out, STR("<br>source: "));
        add_markdown(out, f->notes.source);
    }
    buf_add(out, STR("<br>saves: "));
    add_markdown(out, f->device ? price_line(&f->price, f->device, STR(""), &a) : STR(""));
    if (!alike)
        add_conditions(out, f);
    buf_add(out, STR("\n\n"));
    if (alike)
        add_alike(out, f->same_as);
    else
        add_code(out, f->ttnn.text.n ? f->ttnn.text : f->ttir.text);
    arena_free(&a);
}

/* Its new places in a fold, if one of them fits; returns how many do not. */
static uint32_t print_places(struct markdown *m, const struct report_entry *e) {
    const struct str end = STR("\n</details>\n");
    uint32_t n = entry_share(e, false).n, printed = 0;
    if (m->left < end.n)
        return n;
    m->left -= end.n;
    for (uint32_t i = 0; i < e->nfindings; i++) {
        struct buf part = {0};
        if (e->findings[i]->known.n)
            continue;
        if (!printed) {
            buf_add(&part, STR("\n<details><summary>"));
            add_markdown(&part, e->findings[0]->fused_op);
            buf_printf(&part, ": %u place%s</summary>\n", n, n == 1 ? "" : "s");
        }
        add_finding(&part, e->findings[i]);
        if (!print_part(m, &part))
            break;
        printed++;
    }
    if (printed)
        fwrite(end.p, 1, end.n, m->out);
    else
        m->left += end.n;
    return n - printed;
}

static void add_number(struct buf *out, uint32_t n, const char *what) {
    if (n)
        buf_printf(out, ", %u %s", n, what);
}

/* "2 new places where 1 fused op could stand, 14 known" */
static void print_head(struct markdown *m, uint32_t known) {
    const struct report *r = m->report;
    struct buf head = {0}, uri = {0};
    uint32_t n = r->findings.n - known, ops = report_fused_ops(r, true);
    report_uri(r, &uri);
    buf_printf(&head, "<!-- fusion-audit: %.*s -->\n**fusion-audit**: ", (int)uri.n, uri.p);
    if (n)
        buf_printf(&head, "%u %splace%s where %u fused op%s could stand", n, r->compared ? "new " : "",
                   n == 1 ? "" : "s", ops, ops == 1 ? "" : "s");
    else
        buf_add(&head, known        ? STR("nothing new")
                       : r->partial ? STR("none of the patterns that were asked for is found")
                                    : STR("no fusion is missed"));
    add_number(&head, known, "known");
    add_number(&head, r->gone.n, "gone");
    if (r->before_us > 0 && r->total_us > 0) {
        buf_add(&head, STR("; all ops: "));
        report_add_time(&head, r->before_us);
        buf_add(&head, STR(" → "));
        report_add_time(&head, r->total_us);
    }
    buf_add(&head, STR("\n"));
    print_part(m, &head);
    buf_free(&uri);
}

static void print_gone(struct markdown *m) {
    const struct finding_list *gone = &m->report->gone;
    struct buf part = {0};
    uint32_t i = 0;
    if (!gone->n)
        return;
    buf_printf(&part, "\n<details><summary>%u gone</summary>\n\n", gone->n);
    while (print_part(m, &part) && i < gone->n) {
        const struct finding *f = gone->items[i++];
        buf_add(&part, STR("- "));
        add_markdown(&part, f->fused_op);
        buf_add(&part, STR(", "));
        add_markdown(&part, finding_place(f));
        buf_addc(&part, '\n');
    }
    print_count(m, gone->n - i, "place");
    fputs("\n</details>\n", m->out);
}

bool report_print_markdown(const struct report *r, FILE *out) {
    struct markdown m = {r, out, MOST_BYTES - ROOM_FOR_COUNTS};
    uint32_t known = report_known(r), left_out = 0;
    print_head(&m, known);
    if (known < r->findings.n)
        print_rows(&m, false);
    for (uint32_t i = 0; i < r->nentries; i++)
        left_out += print_places(&m, &r->entries[i]);
    print_count(&m, left_out, "place");
    print_gone(&m);
    if (known) {
        fprintf(out, "\n<details><summary>%u known</summary>\n", known);
        print_rows(&m, true);
        fputs("\n</details>\n", out);
    }
    return !ferror(out);
}
