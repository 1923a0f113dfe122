/* The report as a document, in YAML or JSON; in JSON with some keys more, for programs (fusion-todo(5)). */
#include "base/writer.h"
#include "report/report.h"

static void put_some(struct writer *w, const char *key, struct str text, enum text_style style) {
    if (text.n)
        write_pair(w, key, text, style);
}

static void put_for_programs(struct writer *w, const struct finding *f) {
    char fingerprint[FINGERPRINT_TEXT];
    if (f->pattern)
        write_pair(w, "pattern", f->pattern->name, TEXT_NAME);
    write_key(w, STR("saved_us"));
    write_real(w, f->saved_us);
    if (f->fingerprint.count)
        write_pair(w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)), TEXT_NAME);
    put_some(w, "known", f->known, TEXT_QUOTED);
}

static void put_figures(struct writer *w, const struct finding *f) {
    struct arena a = {0};
    if (f->proof)
        write_figures(w, "validation", verdict_figures(f->proof, &a));
    if (f->device)
        write_figures(w, "cost", price_figures(&f->price, f->device, &a));
    arena_free(&a);
}

static void put_finding(struct writer *w, const struct report *r, const struct report_entry *e, const struct finding *f,
                        struct buf *notes) {
    bool json = w->markup == MARKUP_JSON;
    write_map(w);
    put_some(w, "ir_loc", f->ir_loc, TEXT_QUOTED);
    put_some(w, "ttir_segment", f->ttir.text, TEXT_BLOCK);
    put_some(w, "ttnn_segment", f->ttnn.text, TEXT_BLOCK);
    write_pair(w, "notes", report_notes(r, e, f, notes), TEXT_BLOCK);
    if (r->details || json) {
        put_some(w, "ttir_lines", f->ttir.lines, TEXT_QUOTED);
        put_some(w, "ttnn_lines", f->ttnn.lines, TEXT_QUOTED);
    }
    if (r->details)
        put_figures(w, f);
    if (json)
        put_for_programs(w, f);
    write_close(w);
}

static void put_class(struct writer *w, const struct classification *c) {
    const struct {
        const char *key;
        struct str value;
    } all[] = {{"dialect_level", c->dialect_level},
               {"pass_status", c->pass_status},
               {"owning_pass", c->owning_pass},
               {"existing_pattern", c->existing_pattern}};
    for (size_t i = 0; c->given && i < sizeof all / sizeof *all; i++)
        write_pair_or_null(w, all[i].key, all[i].value, TEXT_NAME);
}

static void put_action(struct writer *w, const struct report *r, const struct report_entry *e) {
    struct buf action = {0};
    report_action(r, e, &action);
    put_some(w, "action", buf_str(&action), TEXT_QUOTED);
    buf_free(&action);
}

static void put_entry(struct writer *w, const struct report *r, const struct report_entry *e) {
    const struct finding *first = e->findings[0];
    struct buf notes = {0};
    write_map(w);
    write_pair(w, "fused_op", first->fused_op, TEXT_NAME);
    write_pair(w, "source", first->source, TEXT_NAME);
    put_some(w, "lacks", first->lacks, TEXT_NAME);
    write_list_at(w, "component_ops");
    for (uint32_t i = 0; i < first->component_ops.n; i++)
        write_text(w, first->component_ops.items[i], TEXT_NAME);
    write_close(w);
    put_class(w, &first->class);
    if (r->details)
        put_action(w, r, e);
    write_list_at(w, "instances");
    for (uint32_t i = 0; i < e->nfindings; i++)
        put_finding(w, r, e, e->findings[i], &notes);
    write_close(w);
    write_close(w);
    buf_free(&notes);
}

static bool print(const struct report *r, enum markup markup, FILE *out) {
    struct writer w;
    write_begin(&w, markup, out);
    write_map(&w);
    if (markup == MARKUP_JSON)
        write_pair(&w, "version", STR(FA_VERSION), TEXT_NAME);
    write_map_at(&w, "input");
    put_some(&w, "ttir", str_of(r->ttir_path), TEXT_NAME);
    put_some(&w, "ttnn", str_of(r->ttnn_path), TEXT_NAME);
    write_close(&w);
    write_list_at(&w, "missed_fusions");
    for (uint32_t i = 0; i < r->nentries; i++)
        put_entry(&w, r, &r->entries[i]);
    write_close(&w);
    write_close(&w);
    return write_end(&w);
}

bool report_print(const struct report *r, FILE *out) {
    return print(r, MARKUP_YAML, out);
}

bool report_print_json(const struct report *r, FILE *out) {
    return print(r, MARKUP_JSON, out);
}
