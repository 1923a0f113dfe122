/* The report in Markdown, for a comment on a change: a table of the fused ops, then their places, folded. Comments are
 * limited (GitHub: 65,536 characters): what is beyond MOST_BYTES is counted. */
#include "base/utf8.h"
#include "report/report.h"

#include <stdlib.h>

enum { MOST_BYTES = 60000, ROOM_FOR_COUNTS = 200 };

struct markdown {
    const struct report *report;
    FILE *out;
    size_t left; /* bytes that may still be printed */
};

/* What may be printed of it, if all of it fits. */
static bool print_part(struct markdown *m, struct buf *part) {
    char *clean = NULL;
    size_t n = 0;
    FILE *stream = made(open_memstream(&clean, &n));
    print_clean(buf_str(part), "\n\t", stream);
    fclose(stream);
    made(clean); /* the last allocation of a stream in memory is made here */
    bool fits = n <= m->left;
    if (fits) {
        fwrite(clean, 1, n, m->out);
        m->left -= n;
    }
    free(clean);
    buf_free(part);
    return fits;
}

static void print_count(struct markdown *m, uint32_t n, const char *what) {
    if (n)
        fprintf(m->out, "\n%u more %s%s in the report.\n", n, what, n == 1 ? " is" : "s are");
}

/* Text of an input, which cannot become markup, a link, a mention or an end of a line. */
static void add_text(struct buf *out, struct str s) {
    struct buf scratch = {0};
    s = utf8_repair(s, &scratch);
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < ' ' || c == 0x7f)
            buf_addc(out, ' ');
        else if (strchr("<>&@#\"'`|\\*_[]()~!$:{}", c))
            buf_printf(out, "&#%u;", (unsigned)c);
        else
            buf_addc(out, (char)c);
    }
    buf_free(&scratch);
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

static uint32_t known_of(const struct report_entry *e) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->nfindings; i++)
        n += e->findings[i]->known.n > 0;
    return n;
}

static void add_places(struct buf *out, uint32_t n, uint32_t known) {
    buf_printf(out, "%u", n);
    if (known)
        buf_printf(out, " (%u known)", known);
}

static bool print_row(struct markdown *m, const struct report_entry *e) {
    const struct finding *first = e->findings[0];
    struct buf action = {0}, row = {0};
    buf_add(&row, STR("| "));
    report_add_time(&row, e->saved);
    buf_add(&row, STR(" | "));
    add_places(&row, e->nfindings, known_of(e));
    buf_add(&row, STR(" | "));
    add_text(&row, first->fused_op);
    buf_add(&row, STR(" | "));
    for (uint32_t i = 0; i < first->component_ops.n; i++) {
        if (i)
            buf_add(&row, STR(", "));
        add_text(&row, first->component_ops.items[i]);
    }
    buf_add(&row, STR(" | "));
    report_action(m->report, e, &action);
    add_text(&row, buf_str(&action));
    buf_add(&row, STR(" |\n"));
    buf_free(&action);
    return print_part(m, &row);
}

static void add_finding(struct buf *out, const struct finding *f) {
    struct arena a = {0};
    char fingerprint[FINGERPRINT_TEXT];
    buf_add(out, STR("\n**"));
    add_text(out, finding_place(f));
    buf_add(out, STR("** "));
    add_text(out, f->ir_loc);
    if (f->known.n) {
        buf_add(out, STR(" — known: "));
        add_text(out, f->known);
    }
    buf_add(out, STR("<br>saves: "));
    add_text(out, f->device ? price_line(&f->price, f->device, &a) : STR(""));
    if (f->fingerprint.count)
        buf_printf(out, "<br>fingerprint: %s", fingerprint_text(&f->fingerprint, fingerprint));
    buf_add(out, STR("\n\n"));
    add_code(out, f->ttnn.text.n ? f->ttnn.text : f->ttir.text);
    arena_free(&a);
}

/* Its places in a fold, if one of them fits; returns how many do not. */
static uint32_t print_places(struct markdown *m, const struct report_entry *e) {
    const struct str end = STR("\n</details>\n");
    uint32_t printed = 0;
    if (m->left < end.n)
        return e->nfindings;
    m->left -= end.n;
    for (; printed < e->nfindings; printed++) {
        struct buf part = {0};
        if (!printed) {
            buf_add(&part, STR("\n<details><summary>"));
            add_text(&part, e->findings[0]->fused_op);
            buf_printf(&part, ": %u place%s</summary>\n", e->nfindings, e->nfindings == 1 ? "" : "s");
        }
        add_finding(&part, e->findings[printed]);
        if (!print_part(m, &part))
            break;
    }
    if (printed)
        fwrite(end.p, 1, end.n, m->out);
    else
        m->left += end.n;
    return e->nfindings - printed;
}

static void print_head(struct markdown *m) {
    const struct report *r = m->report;
    struct buf head = {0};
    uint32_t known = 0;
    for (uint32_t i = 0; i < r->nentries; i++)
        known += known_of(&r->entries[i]);
    buf_add(&head, STR("**fusion-audit**: "));
    if (r->nentries) {
        add_places(&head, r->findings.n, known);
        buf_printf(&head,
                   " place%s where %u fused op%s could stand\n\n| saves | places | fused op | instead of | what to do "
                   "|\n|---:|---:|---|---|---|\n",
                   r->findings.n == 1 ? "" : "s", r->nentries, r->nentries == 1 ? "" : "s");
    } else {
        buf_add(&head, STR("no fusion is missed\n"));
    }
    print_part(m, &head);
}

bool report_print_markdown(const struct report *r, FILE *out) {
    struct markdown m = {r, out, MOST_BYTES - ROOM_FOR_COUNTS};
    uint32_t rows = 0, left_out = 0;
    print_head(&m);
    while (rows < r->nentries && print_row(&m, &r->entries[rows]))
        rows++;
    print_count(&m, r->nentries - rows, "fused op");
    for (uint32_t i = 0; i < r->nentries; i++)
        left_out += print_places(&m, &r->entries[i]);
    print_count(&m, left_out, "place");
    return !ferror(out);
}
