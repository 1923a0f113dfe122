/* The report as what CI systems show beside a change: annotations of GitHub's workflows (docs.github.com, "Workflow
 * commands"), a line each, and GitLab's code quality report (docs.gitlab.com, "Code Quality"). Of what is new, and of
 * alike places the first. */
#include "base/utf8.h"
#include "base/writer.h"
#include "report/report.h"

static bool is_told(const struct finding *f) {
    return !f->known.n && !(f->same_as && !f->same_as->known.n);
}

static const struct extent *where(const struct report *r, const struct finding *f) {
    return r->ttnn_path ? &f->ttnn.first : &f->ttir.first;
}

/* "ttnn.linear is missed at layer 3 (...), about 2.0 us: set enable-fusing-pass=true" */
static void add_message(const struct finding *f, struct buf *out) {
    struct buf action = {0};
    struct str place = finding_place(f);
    out->n = 0;
    buf_printf(out, "%.*s is missed, ", (int)f->fused_op.n, f->fused_op.p);
    report_add_time(out, f->saved_us);
    buf_printf(out, ": %.*s", (int)place.n, place.p);
    if (f->notes.source.n)
        buf_printf(out, ", %.*s", (int)f->notes.source.n, f->notes.source.p);
    todo_text(&f->todo, &action);
    if (action.n)
        buf_printf(out, ". What to do: %.*s", (int)action.n, action.p);
    buf_free(&action);
}

/* What ends a line or a property in percent. */
static void add_command(struct buf *out, struct str s, const char *special) {
    struct buf scratch = {0};
    s = utf8_clean(s, "", &scratch);
    for (size_t i = 0; i < s.n; i++) {
        if (strchr(special, s.p[i]))
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)s.p[i]);
        else
            buf_addc(out, s.p[i]);
    }
    buf_free(&scratch);
}

bool report_print_github(const struct report *r, FILE *out) {
    struct buf line = {0}, message = {0};
    struct str file = str_of(report_path(r));
    for (uint32_t i = 0; i < r->findings.n; i++) {
        const struct finding *f = r->findings.items[i];
        if (!is_told(f))
            continue;
        line.n = 0;
        buf_add(&line, f->fails ? STR("::error file=") : STR("::warning file="));
        add_command(&line, file, "%\r\n:,");
        buf_printf(&line, ",line=%llu,title=", (unsigned long long)where(r, f)->begin.line);
        add_command(&line, f->fused_op, "%\r\n:,");
        buf_add(&line, STR("::"));
        add_message(f, &message);
        add_command(&line, buf_str(&message), "%\r\n");
        fprintf(out, "%.*s\n", (int)line.n, line.p);
    }
    buf_free(&line);
    buf_free(&message);
    return !ferror(out);
}

bool report_print_gitlab(const struct report *r, FILE *out) {
    struct buf message = {0};
    char fingerprint[FINGERPRINT_TEXT];
    struct writer w;
    write_begin(&w, MARKUP_JSON, out);
    write_list(&w);
    for (uint32_t i = 0; i < r->findings.n; i++) {
        const struct finding *f = r->findings.items[i];
        if (!is_told(f))
            continue;
        add_message(f, &message);
        write_map(&w);
        write_pair(&w, "description", buf_str(&message), TEXT_QUOTED);
        write_pair(&w, "check_name", f->pattern ? f->pattern->name : f->fused_op, TEXT_NAME);
        write_pair(&w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)), TEXT_NAME);
        write_pair(&w, "severity", f->fails ? STR("major") : STR("info"), TEXT_NAME);
        write_map_at(&w, "location");
        write_pair(&w, "path", str_of(report_path(r)), TEXT_NAME);
        write_map_at(&w, "lines");
        write_pair_number(&w, "begin", where(r, f)->begin.line);
        write_close(&w);
        write_close(&w);
        write_close(&w);
    }
    write_close(&w);
    buf_free(&message);
    return write_end(&w);
}
