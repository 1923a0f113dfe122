/* What changed between two compiles, in words and as JSON. */
#include "gate/diff.h"
#include "report/report.h"

static void print_str(struct str s, FILE *out) {
    fprintf(out, "%.*s", (int)s.n, s.n ? s.p : "");
}

static void print_time(double us, FILE *out) {
    if (us >= 0.05)
        fprintf(out, us < 9.95 ? ", about %.1f us" : ", about %.0f us", us);
}

static void print_change(const struct change *c, FILE *out) {
    static const char *const words[] = {"lost", "partly lost", "gained", "changed"};
    fprintf(out, "  %s: ", words[c->kind]);
    print_str(c->place.n ? c->place : STR("at a place without a name"), out);
    if (c->now.n) {
        fputs(", now ", out);
        print_str(c->now, out);
    }
    if (c->how.n) {
        fputs(", ", out);
        print_str(c->how, out);
    }
    print_time(c->us, out);
    fputc('\n', out);
}

static void print_op(const struct diff *d, const struct op_changes *x, FILE *out) {
    print_str(x->op, out);
    fprintf(out, ": %u before, %u now%s\n", x->before, x->now,
            x->lost && x->gained ? ", lost and gained"
            : x->lost && !x->now ? ", lost"
            : x->lost            ? ", partly lost"
            : x->gained          ? ", gained"
                                 : "");
    for (uint32_t i = 0; i < x->n; i++)
        print_change(&d->changes[x->first + i], out);
}

static const char *const finding_words[] = {"new", "changed", "gone"};

static void print_finding(const struct changed_finding *x, FILE *out) {
    const struct finding *f = x->finding;
    fprintf(out, "  %s: ", finding_words[x->kind]);
    print_str(f->fused_op, out);
    fputs(", ", out);
    print_str(finding_place(f), out);
    if (f->ir_loc.n) {
        fputs(" [", out);
        print_str(f->ir_loc, out);
        fputc(']', out);
    }
    print_time(f->saved_us, out);
    fputc('\n', out);
}

static void print_totals(const struct diff *d, FILE *out) {
    struct buf line = {0};
    buf_add(&line, STR("all ops: about "));
    report_add_time(&line, d->before.us);
    buf_add(&line, STR(" before, "));
    report_add_time(&line, d->now.us);
    fprintf(out, "%.*s now\n", (int)line.n, line.p);
    buf_free(&line);
}

bool diff_print(const struct diff *d, FILE *out) {
    for (uint32_t i = 0; i < d->nops; i++)
        print_op(d, &d->ops[i], out);
    if (d->nfindings)
        fprintf(out, "findings: %u before, %u now, %u new, %u gone, %u changed\n", d->before.findings, d->now.findings,
                d->counts[FINDING_NEW], d->counts[FINDING_GONE], d->counts[FINDING_CHANGED]);
    for (uint32_t i = 0; i < d->nfindings; i++)
        print_finding(&d->findings[i], out);
    if ((d->nops || d->nfindings) && d->before.us > 0 && d->now.us > 0)
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
    write_us(w, "us", c->us);
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

static void write_finding(struct writer *w, const struct changed_finding *x) {
    const struct finding *f = x->finding;
    char fingerprint[FINGERPRINT_TEXT];
    write_map(w);
    write_pair(w, "change", str_of(finding_words[x->kind]), TEXT_NAME);
    write_pair(w, "fused_op", f->fused_op, TEXT_NAME);
    write_pair_if_any(w, "place", f->place, TEXT_QUOTED);
    write_pair_if_any(w, "ir_loc", f->ir_loc, TEXT_QUOTED);
    write_us(w, "saved_us", f->saved_us);
    write_pair_if_any(w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)), TEXT_QUOTED);
    write_close(w);
}

static void write_side(struct writer *w, const char *key, uint32_t findings, double us) {
    write_map_at(w, key);
    write_pair_number(w, "findings", findings);
    write_us(w, "total_us", us);
    write_close(w);
}

bool diff_print_json(const struct diff *d, FILE *out) {
    struct writer w;
    write_begin(&w, MARKUP_JSON, out);
    write_map(&w);
    write_pair(&w, "version", STR(FA_VERSION), TEXT_NAME);
    write_side(&w, "before", d->before.findings, d->before.us);
    write_side(&w, "now", d->now.findings, d->now.us);
    write_list_at(&w, "fused_ops");
    for (uint32_t i = 0; i < d->nops; i++)
        write_op(&w, d, &d->ops[i]);
    write_close(&w);
    write_list_at(&w, "findings");
    for (uint32_t i = 0; i < d->nfindings; i++)
        write_finding(&w, &d->findings[i]);
    write_close(&w);
    write_close(&w);
    return write_end(&w);
}
