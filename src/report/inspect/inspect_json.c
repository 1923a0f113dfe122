/* Inspection as one JSON document, for programs; every key is described in fusion-audit(1). */
#include "base/writer.h"
#include "report/inspect/inspect.h"

static void put_text(struct writer *w, const char *key, struct str text) {
    write_pair(w, key, text, TEXT_QUOTED);
}

static void put_op_counts(struct writer *w, const char *key, const struct op_count *counts, uint32_t n) {
    write_list_at(w, key);
    for (uint32_t i = 0; i < n; i++) {
        bool known = counts[i].kind != NO_OPERATOR;
        write_map(w);
        put_text(w, "name", counts[i].name);
        write_pair_or_null(w, "operator", known ? str_of(op_table[counts[i].kind].name) : STR(""), TEXT_QUOTED);
        write_pair_number(w, "count", counts[i].n);
        write_close(w);
    }
    write_close(w);
}

static void put_function(struct writer *w, const struct func_facts *f, bool outside) {
    write_map(w);
    if (!outside) {
        put_text(w, "name", f->name);
        put_text(w, "kind", str_of(inspect_func_kind(f->kind)));
        write_pair_bool(w, "complete", f->complete);
        write_pair_number(w, "arguments", f->nargs);
    }
    write_pair_number(w, "ops", f->nops);
    write_pair_number(w, "values", f->nvalues);
    write_pair_number(w, "edges", f->nedges);
    put_op_counts(w, "op_counts", f->counts, f->ncounts);
    write_close(w);
}

static void put_numbers(struct writer *w, const char *key, const int64_t *n, uint32_t count) {
    write_list_at(w, key);
    for (uint32_t i = 0; i < count; i++)
        write_number(w, (uint64_t)n[i]);
    write_close(w);
}

/* Null where there are none. */
static void put_some_numbers(struct writer *w, const char *key, const int64_t *n, uint32_t count) {
    if (count)
        put_numbers(w, key, n, count);
    else
        write_pair_null(w, key);
}

static void put_chip(struct writer *w, const struct device_facts *f) {
    const struct chip *c = &f->device.chip;
    if (!f->known) {
        write_pair_null(w, "device");
        return;
    }
    write_map_at(w, "device");
    put_text(w, "chip", c->name);
    put_text(w, "arch", c->arch);
    put_numbers(w, "grid", (const int64_t[]){c->rows, c->columns}, 2);
    write_pair_number(w, "l1_bytes", (uint64_t)chip_l1(c));
    write_pair_number(w, "dram_channels", (uint64_t)c->dram_channels);
    write_close(w);
}

static void put_layout(struct writer *w, const struct layout_count *c) {
    const struct layout *l = &c->layout;
    write_map(w);
    write_pair_number(w, "values", c->n);
    put_text(w, "memory", str_of(memory_name(l->memory)));
    put_text(w, "sharding", str_of(sharding_name(l->sharding)));
    put_numbers(w, "grid", l->grid, l->rank);
    put_some_numbers(w, "tile", (const int64_t[]){l->tile_height, l->tile_width}, l->tile_height ? 2 : 0);
    put_text(w, "element", str_of(dtype_table[l->dtype].name));
    write_pair_number(w, "bytes", (uint64_t)c->bytes);
    write_close(w);
}

static void put_device(struct writer *w, const struct device_facts *f) {
    put_chip(w, f);
    put_some_numbers(w, "worker_grid", f->grid.extents, f->grid.rank);
    put_some_numbers(w, "mesh", f->grid.mesh, f->grid.mesh_rank);
    write_list_at(w, "layouts");
    for (uint32_t i = 0; i < f->nlayouts; i++)
        put_layout(w, &f->layouts[i]);
    write_close(w);
    write_pair_number(w, "unread_layouts", f->unread);
    write_pair_number(w, "inconsistent_layouts", f->inconsistent);
}

static void put_sign(struct writer *w, const char *key, const struct version_sign *s, uint64_t line) {
    if (!s->day)
        return;
    write_key(w, str_of(key));
    write_map(w);
    put_text(w, "day", str_of(s->day));
    put_text(w, "sign", str_of(s->what));
    write_pair_number(w, "line", line);
    write_close(w);
}

static void put_module(struct writer *w, const struct log_block *b, const struct module_facts *m) {
    write_map(w);
    put_text(w, "level", m->is_ttnn ? STR("ttnn") : log_is_ttir(b) ? STR("ttir") : STR("other"));
    write_pair_number(w, "ops", m->nops);
    write_pair_number(w, "values", m->nvalues);
    write_pair_number(w, "edges", m->nedges);
    write_pair_number(w, "destination_operands", m->ndestinations);
    write_pair_number(w, "skipped_ops", m->bad_ops);
    write_pair_number(w, "undefined_values", m->undefined_values);
    write_pair_number(w, "custom_ops", m->custom_ops);
    put_op_counts(w, "unknown_ops", m->unknown, m->nunknown);
    write_list_at(w, "unresolved_aliases");
    for (uint32_t i = 0; i < m->nunresolved; i++)
        write_text(w, m->unresolved[i], TEXT_QUOTED);
    write_close(w);
    write_pair_number(w, "unresolved_alias_uses", m->unresolved_uses);
    put_sign(w, "compiler_since", &m->version.since, m->since_line);
    put_sign(w, "compiler_before", &m->version.before, m->before_line);
    put_device(w, &m->device);
    write_list_at(w, "functions");
    for (uint32_t i = 0; i < m->nfuncs; i++)
        put_function(w, &m->funcs[i], false);
    write_close(w);
    write_key(w, STR("outside"));
    put_function(w, &m->outside, true);
    write_close(w);
}

static void put_block(struct writer *w, const struct log_block *b, const struct module_facts *m) {
    write_map(w);
    put_text(w, "stage", str_of(log_stage_name(b->stage)));
    put_text(w, "label", b->label);
    write_pair_number(w, "graph", b->graph);
    write_pair_bool(w, "chosen", b->chosen);
    write_pair_number(w, "first_line", b->first_line);
    write_pair_number(w, "last_line", b->last_line);
    write_pair_bool(w, "complete", b->complete);
    write_pair_number(w, "dropped_lines", b->dropped_lines);
    write_pair_number(w, "joined_lines", b->joined_lines);
    write_list_at(w, "dialects");
    if (b->has_ttir)
        write_text(w, STR("ttir"), TEXT_QUOTED);
    if (b->has_ttnn)
        write_text(w, STR("ttnn"), TEXT_QUOTED);
    write_close(w);
    write_key(w, STR("module"));
    if (m)
        put_module(w, b, m);
    else
        write_null(w);
    write_close(w);
}

static void put_file(struct writer *w, const struct file_facts *f) {
    write_map(w);
    put_text(w, "path", str_of(f->source.path));
    write_pair_bool(w, "readable", f->source.data);
    write_pair_bool(w, "log", f->scan.is_log);
    write_pair_number(w, "graphs", f->scan.ngraphs);
    write_pair_number(w, "bare_headers", f->scan.bare_headers);
    write_list_at(w, "blocks");
    for (uint32_t i = 0; i < f->scan.nblocks; i++)
        put_block(w, &f->scan.blocks[i], f->modules[i]);
    write_close(w);
    write_close(w);
}

static void put_pair(struct writer *w, const struct pair_facts *p) {
    write_map(w);
    write_pair_number(w, "graph", p->graph);
    put_text(w, "ttir", str_of(p->ttir_path));
    put_text(w, "ttnn", str_of(p->ttnn_path));
    write_pair_number(w, "by_location", p->by_location);
    write_pair_number(w, "by_dataflow", p->by_dataflow);
    write_pair_number(w, "not_paired", p->unpaired);
    write_close(w);
}

static void put_diagnostic(struct writer *w, const struct diag *d) {
    write_map(w);
    put_text(w, "severity", str_of(severity_name(d->severity)));
    put_text(w, "file", str_of(d->file));
    write_pair_number(w, "line", d->line);
    write_pair_number(w, "column", d->column);
    put_text(w, "message", str_of(d->message));
    write_pair_or_null(w, "hint", str_of(d->hint), TEXT_QUOTED);
    write_close(w);
}

void inspect_print_json(const struct inspection *in, FILE *out) {
    struct writer w;
    write_document(&w, MARKUP_JSON, out);
    write_pair_number(&w, "status", (uint64_t)in->status);
    write_list_at(&w, "files");
    for (size_t i = 0; i < in->nfiles; i++)
        put_file(&w, &in->files[i]);
    write_close(&w);
    write_list_at(&w, "pairs");
    for (uint32_t i = 0; i < in->npairs; i++)
        put_pair(&w, &in->pairs[i]);
    write_close(&w);
    write_list_at(&w, "diagnostics");
    for (uint32_t i = 0; i < in->diags.n; i++)
        put_diagnostic(&w, &in->diags.items[i]);
    write_close(&w);
    write_pair_number(&w, "diagnostics_dropped", in->diags.dropped);
    write_close(&w);
    write_end(&w);
}
