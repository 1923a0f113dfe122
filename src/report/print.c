/* The report as a document, in YAML or JSON; in JSON with some keys more, for programs (fusion-todo(5)). */
#include "base/writer.h"
#include "report/report.h"

static void put_drawn_op(struct writer *w, const struct drawn_op *op) {
    static const char *const parts[] = {"matched", "through", "outside"};
    write_map(w);
    write_pair(w, "part", str_of(parts[op->part]), TEXT_NAME);
    write_pair_if_any(w, "op", op->op, TEXT_NAME);
    write_pair_if_any(w, "value", op->value, TEXT_NAME);
    write_pair_if_any(w, "type", op->type, TEXT_NAME);
    if (op->line)
        write_pair_number(w, "line", op->line);
    if (op->operands.n)
        write_names(w, "operands", op->operands);
    write_close(w);
}

static void put_drawing(struct writer *w, const struct drawing *d) {
    if (!d->nops)
        return;
    write_list_at(w, "ops");
    for (uint32_t i = 0; i < d->nops; i++)
        put_drawn_op(w, &d->ops[i]);
    write_close(w);
    write_map_at(w, "takes");
    for (uint32_t i = 0; i < d->names.n; i++) {
        write_key(w, d->names.items[i]);
        write_text(w, d->values.items[i], TEXT_NAME);
    }
    write_close(w);
}

/* What the notes say, each by its own key. */
static void put_facts(struct writer *w, const struct finding *f) {
    struct arena a = {0};
    struct buf action = {0};
    char fingerprint[FINGERPRINT_TEXT];
    write_pair_if_any(w, "summary", finding_sentence(f), TEXT_QUOTED);
    write_names(w, "preconditions", f->notes.preconditions);
    if (f->notes.remarks.n)
        write_names(w, "remarks", f->notes.remarks);
    if (f->notes.outside.n)
        write_names(w, "outside", f->notes.outside);
    write_pair_if_any(w, "verdict", f->proof ? verdict_line(f->proof, &a) : STR(""), TEXT_QUOTED);
    write_pair_if_any(w, "saves", f->device ? price_line(&f->price, f->device, STR(""), &a) : STR(""), TEXT_QUOTED);
    todo_text(&f->todo, &action);
    write_pair_if_any(w, "action", buf_str(&action), TEXT_QUOTED);
    write_pair(w, "action_kind", str_of(todo_word(f->todo.kind)), TEXT_NAME);
    if (f->todo.kind == TODO_OPTION)
        write_names(w, "options",
                    (struct str_list){(struct str[]){f->todo.what, f->todo.then}, f->todo.then.n ? 2 : 1});
    if (f->same_as)
        write_pair(w, "alike", str_of(fingerprint_text(&f->same_as->fingerprint, fingerprint)), TEXT_NAME);
    buf_free(&action);
    arena_free(&a);
}

static void put_for_programs(struct writer *w, const struct finding *f) {
    char fingerprint[FINGERPRINT_TEXT];
    if (f->pattern)
        write_pair(w, "pattern", f->pattern->name, TEXT_NAME);
    write_pair_real(w, "saved_us", f->saved_us);
    write_pair_real(w, "counted_us", f->counts_us);
    if (f->instead_of.n)
        write_names(w, "instead_of", f->instead_of);
    if (f->fingerprint.count)
        write_pair(w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)), TEXT_NAME);
    write_pair_if_any(w, "known", f->known, TEXT_QUOTED);
    write_pair_if_any(w, "place", f->place, TEXT_QUOTED);
    write_pair_if_any(w, "source", f->notes.source, TEXT_QUOTED);
    if (f->notes.locations.n)
        write_names(w, "locations", f->notes.locations);
    write_pair_if_any(w, "layer", f->layer, TEXT_NAME);
    write_pair_number(w, "graph", f->graph);
    put_facts(w, f);
    if (!f->same_as)
        put_drawing(w, &f->drawing);
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
                        struct note_lines *notes) {
    bool json = w->markup == MARKUP_JSON;
    write_map(w);
    write_pair_if_any(w, "ir_loc", f->ir_loc, TEXT_QUOTED);
    write_pair_if_any(w, "ttir_segment", f->ttir.text, TEXT_BLOCK);
    write_pair_if_any(w, "ttnn_segment", f->ttnn.text, TEXT_BLOCK);
    write_pair(w, "notes", report_notes(r, e, f, notes), TEXT_BLOCK);
    if (r->details || json) {
        write_pair_if_any(w, "ttir_lines", f->ttir.lines, TEXT_QUOTED);
        write_pair_if_any(w, "ttnn_lines", f->ttnn.lines, TEXT_QUOTED);
        put_figures(w, f);
    }
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
               {"existing_pattern", c->existing_pattern},
               {"source_file", c->source_file}};
    for (size_t i = 0; c->given && i < sizeof all / sizeof *all; i++)
        write_pair_or_null(w, all[i].key, all[i].value, TEXT_NAME);
}

static void put_entry(struct writer *w, const struct report *r, const struct report_entry *e) {
    const struct finding *first = e->findings[0];
    struct note_lines notes = {0};
    write_map(w);
    write_pair(w, "fused_op", first->fused_op, TEXT_NAME);
    write_pair(w, "source", first->source, TEXT_NAME);
    if (w->markup == MARKUP_JSON)
        write_pair_if_any(w, "lacks", first->lacks, TEXT_NAME);
    write_names(w, "component_ops", first->component_ops);
    put_class(w, &first->class);
    if (w->markup == MARKUP_JSON)
        write_pair_if_any(w, "action", first->action, TEXT_QUOTED);
    if (w->markup == MARKUP_JSON)
        write_pair_real(w, "saved_us", e->saved);
    write_list_at(w, "instances");
    for (uint32_t i = 0; i < e->nfindings; i++)
        put_finding(w, r, e, e->findings[i], &notes);
    write_close(w);
    write_close(w);
    note_lines_free(&notes);
}

static void put_counts(struct writer *w, const struct report *r) {
    write_map_at(w, "totals");
    write_pair_number(w, "places", r->findings.n);
    write_pair_number(w, "known", report_known(r));
    write_pair_number(w, "slower", r->nslower);
    write_pair_number(w, "small", r->nsmall);
    write_pair_number(w, "paired_ops", r->npaired);
    write_pair_number(w, "unpaired_ops", r->nunpaired);
    write_close(w);
}

static void put_promises(struct writer *w, const struct report *r) {
    uint32_t n;
    struct promise *all = report_promises(r, &n);
    double us = r->total_us;
    if (n)
        write_list_at(w, "promises");
    for (uint32_t i = 0; i < n; i++) {
        write_map(w);
        write_pair(w, "option", all[i].option, TEXT_NAME);
        write_pair_if_any(w, "spelled", all[i].spelled, TEXT_QUOTED);
        write_pair(w, "pipeline", STR(REPORT_PIPELINE), TEXT_NAME);
        write_pair_real(w, "before_us", us);
        write_pair_real(w, "after_us", us -= all[i].saved);
        if (all[i].parts > 0)
            write_pair_real(w, "parts_us", all[i].parts);
        if (all[i].around > 0)
            write_pair_real(w, "around_us", all[i].around);
        if (all[i].at_most)
            write_pair_bool(w, "at_most", true);
        write_pair_if_any(w, "needs", all[i].needs, TEXT_QUOTED);
        write_close(w);
    }
    if (n)
        write_close(w);
    free(all);
}

/* Of the whole model. */
static void put_times(struct writer *w, const struct report *r) {
    write_pair_if_any(w, "device", r->device, TEXT_NAME);
    write_pair_if_any(w, "compiler", r->version, TEXT_QUOTED);
    write_pair_real(w, "total_us", r->total_us);
    write_pair_real(w, "saved_us", r->saved_us);
    put_counts(w, r);
    put_promises(w, r);
    report_write_times(w, r);
    if (!r->nlayers)
        return;
    write_list_at(w, "layers");
    for (uint32_t i = 0; i < r->nlayers; i++) {
        write_map(w);
        write_pair_if_any(w, "name", r->layers[i].name, TEXT_NAME);
        write_pair_number(w, "graph", r->layers[i].graph);
        write_pair_real(w, "us", r->layers[i].us);
        write_pair_real(w, "saved_us", r->layers[i].saved_us);
        write_close(w);
    }
    write_close(w);
}

static bool print(const struct report *r, enum markup markup, FILE *out) {
    struct writer w;
    write_document(&w, markup, out);
    write_map_at(&w, "input");
    write_pair_if_any(&w, "ttir", str_of(r->ttir_path), TEXT_NAME);
    write_pair_if_any(&w, "ttnn", str_of(r->ttnn_path), TEXT_NAME);
    write_close(&w);
    if (markup == MARKUP_JSON)
        put_times(&w, r);
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
