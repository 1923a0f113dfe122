/* What changed between two compiles, in words and as JSON. */
#include "base/hash.h"
#include "fusion_audit.h"
#include "report/compare/diff.h"
#include "report/report.h"

/* A change. Many whose lines differ in numbers only, as those of like layers do, are told by the first and the last. */
struct change_row {
    struct str key, line, locations, place;
    double us;
    struct change_row *next, *last; /* that are like it; last: of the first one */
    UT_hash_handle hh;
};

enum { MANY = 4 };

static struct str without_numbers(struct str s, struct arena *a) {
    char *to = arena_strdup(a, s);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            to[n++] = s.p[i];
        else if (n == 0 || to[n - 1] != '#')
            to[n++] = '#';
    return (struct str){to, n};
}

static void add_row(struct change_row **rows, struct change_row x, struct arena *a) {
    struct change_row *added = arena_alloc(a, sizeof *added), *first;
    *added = x;
    added->key = without_numbers(x.line, a);
    HASH_FIND(hh, *rows, added->key.p, (unsigned)added->key.n, first);
    if (!first) {
        HASH_ADD_KEYPTR(hh, *rows, added->key.p, (unsigned)added->key.n, added);
        added->last = added;
        return;
    }
    first->last = first->last->next = added;
}

static void print_str(struct str s, FILE *out) {
    fprintf(out, "%.*s", (int)s.n, s.n ? s.p : "");
}

static void print_time(double us, const char *after, FILE *out) {
    char text[FA_TIME_TEXT];
    if (us >= 0.05)
        fprintf(out, ", about %s%s", fa_format_time(us, text), after);
    fputc('\n', out);
}

static void print_row(const struct change_row *r, FILE *out) {
    fputs("  ", out);
    print_str(r->line, out);
    print_str(r->locations, out);
    print_time(r->us, "", out);
}

static void print_alike(const struct change_row *first, FILE *out) {
    uint32_t n = 0;
    double us = 0;
    for (const struct change_row *r = first; r; r = r->next, n++)
        us += r->us;
    for (const struct change_row *r = first; r && (n < MANY || r == first); r = r->next)
        print_row(r, out);
    if (n < MANY)
        return;
    fprintf(out, "    and %u more, to ", n - 1);
    print_str(first->last->place, out);
    print_time(us, " in all", out);
}

/* Empties the rows. */
static void print_rows(struct change_row **rows, FILE *out) {
    for (const struct change_row *r = *rows; r; r = r->hh.next)
        print_alike(r, out);
    HASH_CLEAR(hh, *rows);
}

static double change_us(const struct change *c) {
    return c->finding ? c->finding->saved_us : 0;
}

static struct change_row row_of_change(const struct change *c, struct arena *a) {
    static const char *const words[] = {"lost", "partly lost", "gained", "changed"};
    struct str place = c->place.n ? c->place : STR("at a place without a name");
    struct buf line = {0};
    buf_printf(&line, "%s: %.*s", words[c->kind], (int)place.n, place.p);
    if (c->now.n)
        buf_printf(&line, ", now %.*s", (int)c->now.n, c->now.p);
    if (c->how.n)
        buf_printf(&line, ", %.*s", (int)c->how.n, c->how.p);
    return (struct change_row){.line = buf_take(&line, a), .place = place, .us = change_us(c)};
}

static void print_op(const struct diff *d, const struct op_changes *x, FILE *out) {
    print_str(x->op, out);
    fprintf(out, ": %u before, %u now%s\n", x->before, x->now,
            x->lost && x->gained ? ", lost and gained"
            : x->lost && !x->now ? ", lost"
            : x->lost            ? ", partly lost"
            : x->gained          ? ", gained"
                                 : "");
    struct arena a = {0};
    struct change_row *rows = NULL;
    for (uint32_t i = 0; i < x->n; i++)
        add_row(&rows, row_of_change(&d->changes[x->first + i], &a), &a);
    print_rows(&rows, out);
    arena_free(&a);
}

static const char *const finding_words[] = {"new", "changed", "gone"};

static struct change_row row_of_finding(const struct changed_finding *x, struct arena *a) {
    const struct finding *f = x->finding;
    struct str place = finding_place(f);
    return (struct change_row){.line = arena_printf(a, "%s: %.*s, %.*s", finding_words[x->kind], (int)f->fused_op.n,
                                                    f->fused_op.p, (int)place.n, place.p),
                               .locations =
                                   f->ir_loc.n ? arena_printf(a, " [%.*s]", (int)f->ir_loc.n, f->ir_loc.p) : STR(""),
                               .place = place,
                               .us = f->saved_us};
}

static void add_totals(struct buf *line, const char *what, double before, double now) {
    buf_printf(line, "%s%s: about ", line->n ? "; " : "", what);
    report_add_time(line, before);
    buf_add(line, STR(" before, "));
    report_add_time(line, now);
    buf_add(line, STR(" now"));
}

static void print_totals(const struct diff *d, FILE *out) {
    const struct compile_summary *b = d->before, *n = d->now;
    struct buf line = {0};
    if (b->total_us > 0 && n->total_us > 0)
        add_totals(&line, "all ops", b->total_us, n->total_us);
    if (b->saved_us > 0 || n->saved_us > 0)
        add_totals(&line, "to save", b->saved_us, n->saved_us);
    if (line.n)
        fprintf(out, "%.*s\n", (int)line.n, line.p);
    buf_free(&line);
}

static void print_findings(const struct diff *d, FILE *out) {
    static const char *const where[] = {"were lost", "changed", "were gained"};
    fprintf(out, "findings: %u before, %u now, %u new, %u gone, %u changed\n", d->before->missed->n, d->now->missed->n,
            d->counts[FINDING_NEW], d->counts[FINDING_GONE], d->counts[FINDING_CHANGED]);
    for (uint32_t i = 0; i < FINDING_CHANGES; i++)
        if (d->of_ops[i])
            fprintf(out, "  %s: %u where fused ops %s\n", finding_words[i], d->of_ops[i], where[i]);
    struct arena a = {0};
    struct change_row *rows = NULL;
    for (uint32_t i = 0; i < d->nfindings; i++)
        if (!d->findings[i].of_op)
            add_row(&rows, row_of_finding(&d->findings[i], &a), &a);
    print_rows(&rows, out);
    arena_free(&a);
}

bool diff_print(const struct diff *d, FILE *out) {
    for (uint32_t i = 0; i < d->nops; i++)
        print_op(d, &d->ops[i], out);
    if (d->nfindings)
        print_findings(d, out);
    if (d->nops || d->nfindings)
        print_totals(d, out);
    return !ferror(out);
}

/* ---- JSON ---- */

static void write_us(struct writer *w, const char *key, double us) {
    if (us > 0) {
        write_key(w, str_of(key));
        write_real(w, us);
    }
}

static void write_change(struct writer *w, const struct change *c) {
    static const char *const words[] = {"lost", "partly_lost", "gained", "changed"};
    write_map(w);
    write_pair(w, "change", str_of(words[c->kind]), TEXT_NAME);
    write_pair_if_any(w, "place", c->place, TEXT_QUOTED);
    write_pair_if_any(w, "now", c->now, TEXT_QUOTED);
    write_pair_if_any(w, "how", c->how, TEXT_QUOTED);
    write_us(w, "us", change_us(c));
    write_close(w);
}

static void write_op(struct writer *w, const struct diff *d, const struct op_changes *x) {
    write_map(w);
    write_pair(w, "fused_op", x->op, TEXT_NAME);
    write_pair_number(w, "before", x->before);
    write_pair_number(w, "now", x->now);
    write_list_at(w, "changes");
    for (uint32_t i = 0; i < x->n; i++)
        write_change(w, &d->changes[x->first + i]);
    write_close(w);
    write_close(w);
}

void diff_write_finding(struct writer *w, const struct changed_finding *x) {
    const struct finding *f = x->finding;
    char fingerprint[FINGERPRINT_TEXT];
    write_map(w);
    write_pair(w, "change", str_of(finding_words[x->kind]), TEXT_NAME);
    write_pair(w, "fused_op", f->fused_op, TEXT_NAME);
    write_pair_if_any(w, "place", f->place, TEXT_QUOTED);
    write_pair_if_any(w, "ir_loc", f->ir_loc, TEXT_QUOTED);
    write_us(w, "saved_us", f->saved_us);
    if (x->of_op)
        write_pair_bool(w, "of_op", true);
    write_pair_if_any(w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)), TEXT_QUOTED);
    write_close(w);
}

static void write_side(struct writer *w, const char *key, const struct compile_summary *c) {
    write_map_at(w, key);
    write_list_at(w, "files");
    for (size_t i = 0; i < 2; i++)
        if (c->files[i] && (i == 0 || !str_eq(str_of(c->files[1]), str_of(c->files[0])))) /* a log has both levels */
            write_text(w, str_of(c->files[i]), TEXT_NAME);
    write_close(w);
    write_pair_number(w, "findings", c->missed->n);
    write_us(w, "total_us", c->total_us);
    write_us(w, "saved_us", c->saved_us);
    write_close(w);
}

bool diff_print_json(const struct diff *d, FILE *out) {
    struct writer w;
    write_document(&w, MARKUP_JSON, out);
    write_side(&w, "before", d->before);
    write_side(&w, "now", d->now);
    write_list_at(&w, "fused_ops");
    for (uint32_t i = 0; i < d->nops; i++)
        write_op(&w, d, &d->ops[i]);
    write_close(&w);
    write_list_at(&w, "findings");
    for (uint32_t i = 0; i < d->nfindings; i++)
        diff_write_finding(&w, &d->findings[i]);
    write_close(&w);
    write_close(&w);
    return write_end(&w);
}
