/* The report in Markdown, for a comment on a change: a table of the fused ops, then their places, folded. Comments are
 * limited (GitHub: 65,536 characters): what is beyond MOST_BYTES is counted. */
#include "base/utf8.h"
#include "report/lines.h"
#include "report/report.h"

enum { MOST_BYTES = 60000 };

struct markdown_printer {
    struct buf places;
    uint32_t left_out;
};

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
    for (uint32_t i = 0; i < e->ninstances; i++)
        n += e->instances[i].known != NULL;
    return n;
}

static void add_places(struct buf *out, uint32_t n, uint32_t known) {
    buf_printf(out, "%u", n);
    if (known)
        buf_printf(out, " (%u known)", known);
}

static void add_row(struct buf *out, const struct report *r, const struct report_entry *e) {
    struct buf action = {0};
    buf_add(out, STR("| "));
    report_add_time(out, e->saved);
    buf_add(out, STR(" | "));
    add_places(out, e->ninstances, known_of(e));
    buf_add(out, STR(" | "));
    add_text(out, e->key.fused_op);
    buf_add(out, STR(" | "));
    for (uint32_t i = 0; i < e->key.component_ops.n; i++) {
        if (i)
            buf_add(out, STR(", "));
        add_text(out, e->key.component_ops.items[i]);
    }
    buf_add(out, STR(" | "));
    report_action(r, e, &action);
    add_text(out, buf_str(&action));
    buf_add(out, STR(" |\n"));
    buf_free(&action);
}

static void begin_entry(void *context, const struct report_entry *e) {
    struct markdown_printer *p = context;
    buf_add(&p->places, STR("\n<details><summary>"));
    add_text(&p->places, e->key.fused_op);
    buf_printf(&p->places, ": %u place%s</summary>\n", e->ninstances, e->ninstances == 1 ? "" : "s");
}

static void add_instance(void *context, const struct report_entry *e, const struct stored_instance *s,
                         const struct instance_text *text) {
    struct markdown_printer *p = context;
    struct buf one = {0}, *out = &one;
    char fingerprint[FINGERPRINT_TEXT];
    (void)e;
    buf_add(out, STR("\n**"));
    add_text(out, notes_line(text->notes, "model location:"));
    buf_add(out, STR("** "));
    add_text(out, text->ir_loc);
    if (s->known) {
        buf_add(out, STR(" — known: "));
        add_text(out, str_of(s->known));
    }
    buf_add(out, STR("<br>saves: "));
    add_text(out, notes_line(text->notes, "saves:"));
    if (s->fingerprint.count)
        buf_printf(out, "<br>fingerprint: %s", fingerprint_text(&s->fingerprint, fingerprint));
    buf_add(out, STR("\n\n"));
    add_code(out, text->ttnn.n ? text->ttnn : text->ttir);
    if (p->places.n + one.n < MOST_BYTES)
        buf_add(&p->places, buf_str(&one));
    else
        p->left_out++;
    buf_free(&one);
}

static void end_entry(void *context, const struct report_entry *e) {
    struct markdown_printer *p = context;
    (void)e;
    buf_add(&p->places, STR("\n</details>\n"));
}

bool report_print_markdown(struct report *r, FILE *out) {
    static const struct report_visitor visitor = {begin_entry, add_instance, end_entry};
    struct markdown_printer p = {.left_out = 0};
    struct buf head = {0};
    uint32_t places = 0, known = 0;
    for (uint32_t i = 0; i < r->nentries; i++) {
        places += r->entries[i].ninstances;
        known += known_of(&r->entries[i]);
    }
    if (r->nentries) {
        buf_add(&head, STR("**fusion-audit**: "));
        add_places(&head, places, known);
        buf_printf(
            &head,
            " place%s where %u fused op%s could stand\n\n| saves | places | fused op | instead of | what to do |\n",
            places == 1 ? "" : "s", r->nentries, r->nentries == 1 ? "" : "s");
        buf_add(&head, STR("|---:|---:|---|---|---|\n"));
    } else {
        buf_add(&head, STR("**fusion-audit**: no fusion is missed\n"));
    }
    for (uint32_t i = 0; i < r->nentries; i++)
        add_row(&head, r, &r->entries[i]);
    bool whole = report_walk(r, &visitor, &p);
    if (p.left_out)
        buf_printf(&p.places, "\n%u more place%s in the report.\n", p.left_out, p.left_out == 1 ? " is" : "s are");
    print_clean(buf_str(&head), "\n", out);
    print_clean(buf_str(&p.places), "\n\t", out);
    buf_free(&head);
    buf_free(&p.places);
    return whole;
}
