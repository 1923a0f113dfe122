/* Inspection as one JSON document, for programs; every key is described in fusion-audit(1). */
#include "base/json.h"
#include "inspect/inspect.h"

static json *op_counts(const struct op_count *counts, uint32_t n) {
    json *list = json_list();
    for (uint32_t i = 0; i < n; i++) {
        json *o = json_map();
        json_put_text(o, "name", counts[i].name);
        bool known = counts[i].kind != K_UNKNOWN;
        json_put(o, "operator", known ? json_text(str_of(op_table[counts[i].kind].name)) : NULL);
        json_put_number(o, "count", counts[i].n);
        json_append(list, o);
    }
    return list;
}

static json *function(const struct func_facts *f, bool outside) {
    json *o = json_map();
    if (!outside) {
        json_put_text(o, "name", f->name);
        json_put_text(o, "kind", str_of(inspect_func_kind(f->kind)));
        json_put_bool(o, "complete", f->complete);
        json_put_number(o, "arguments", f->nargs);
    }
    json_put_number(o, "ops", f->nops);
    json_put_number(o, "values", f->nvalues);
    json_put_number(o, "edges", f->nedges);
    json_put(o, "op_counts", op_counts(f->counts, f->ncounts));
    return o;
}

static json *numbers(const int64_t *n, uint32_t count) {
    json *list = json_list();
    for (uint32_t i = 0; i < count; i++)
        json_append(list, json_number((uint64_t)n[i]));
    return list;
}

static json *device(const struct device_facts *f) {
    const struct chip *c = &f->device.chip;
    json *o = json_map();
    json_put_text(o, "chip", c->name);
    json_put_text(o, "arch", c->arch);
    json_put(o, "grid", numbers((const int64_t[]){c->rows, c->columns}, 2));
    json_put_number(o, "l1_bytes", (uint64_t)chip_l1(c));
    json_put_number(o, "dram_channels", (uint64_t)c->dram_channels);
    return o;
}

static json *layout_count(const struct layout_count *c) {
    const struct layout *l = &c->layout;
    json *o = json_map();
    json_put_number(o, "values", c->n);
    json_put_text(o, "memory", str_of(memory_name(l->memory)));
    json_put_text(o, "sharding", str_of(sharding_name(l->sharding)));
    json_put(o, "grid", numbers(l->grid, l->rank));
    json_put(o, "tile", l->tile_height ? numbers((const int64_t[]){l->tile_height, l->tile_width}, 2) : NULL);
    json_put_text(o, "element", str_of(dtype_name(l->dtype)));
    json_put_number(o, "bytes", (uint64_t)c->bytes);
    return o;
}

static void put_device(json *o, const struct device_facts *f) {
    json *layouts = json_list();
    json_put(o, "device", f->known ? device(f) : NULL);
    json_put(o, "worker_grid", f->grid.rank ? numbers(f->grid.extents, f->grid.rank) : NULL);
    json_put(o, "mesh", f->grid.mesh_rank ? numbers(f->grid.mesh, f->grid.mesh_rank) : NULL);
    for (uint32_t i = 0; i < f->nlayouts; i++)
        json_append(layouts, layout_count(&f->layouts[i]));
    json_put(o, "layouts", layouts);
    json_put_number(o, "unread_layouts", f->unread);
    json_put_number(o, "inconsistent_layouts", f->inconsistent);
}

static json *module(const struct module_facts *m) {
    json *o = json_map(), *functions = json_list(), *aliases = json_list();
    json_put_text(o, "level", m->is_ttnn ? STR("ttnn") : STR("ttir"));
    json_put_number(o, "ops", m->nops);
    json_put_number(o, "values", m->nvalues);
    json_put_number(o, "edges", m->nedges);
    json_put_number(o, "destination_operands", m->ndestinations);
    json_put_number(o, "skipped_ops", m->bad_ops);
    json_put_number(o, "undefined_values", m->undefined_values);
    json_put_number(o, "custom_ops", m->custom_ops);
    json_put(o, "unknown_ops", op_counts(m->unknown, m->nunknown));
    for (uint32_t i = 0; i < m->nunresolved; i++)
        json_append(aliases, json_text(m->unresolved[i]));
    json_put(o, "unresolved_aliases", aliases);
    json_put_number(o, "unresolved_alias_uses", m->unresolved_uses);
    put_device(o, &m->device);
    for (uint32_t i = 0; i < m->nfuncs; i++)
        json_append(functions, function(&m->funcs[i], false));
    json_put(o, "functions", functions);
    json_put(o, "outside", function(&m->outside, true));
    return o;
}

static json *block(const struct log_block *b, const struct module_facts *m) {
    json *o = json_map(), *dialects = json_list();
    json_put_text(o, "stage", str_of(log_stage_name(b->stage)));
    json_put_text(o, "label", b->label);
    json_put_number(o, "graph", b->graph);
    json_put_bool(o, "chosen", b->chosen);
    json_put_number(o, "first_line", b->first_line);
    json_put_number(o, "last_line", b->last_line);
    json_put_bool(o, "complete", b->complete);
    json_put_number(o, "dropped_lines", b->dropped_lines);
    json_put_number(o, "joined_lines", b->joined_lines);
    if (b->has_ttir)
        json_append(dialects, json_text(STR("ttir")));
    if (b->has_ttnn)
        json_append(dialects, json_text(STR("ttnn")));
    json_put(o, "dialects", dialects);
    json_put(o, "module", m ? module(m) : NULL);
    return o;
}

static json *file(const struct file_facts *f) {
    json *o = json_map(), *blocks = json_list();
    json_put_text(o, "path", str_of(f->source.path));
    json_put_bool(o, "readable", f->source.data);
    json_put_bool(o, "log", f->scan.is_log);
    json_put_number(o, "graphs", f->scan.ngraphs);
    json_put_number(o, "bare_headers", f->scan.bare_headers);
    for (uint32_t i = 0; i < f->scan.nblocks; i++)
        json_append(blocks, block(&f->scan.blocks[i], f->modules[i]));
    json_put(o, "blocks", blocks);
    return o;
}

static json *pair(const struct pair_facts *p) {
    json *o = json_map();
    json_put_number(o, "graph", p->graph);
    json_put_text(o, "ttir", str_of(p->ttir_path));
    json_put_text(o, "ttnn", str_of(p->ttnn_path));
    json_put_number(o, "by_location", p->by_location);
    json_put_number(o, "by_dataflow", p->by_dataflow);
    json_put_number(o, "not_paired", p->unpaired);
    return o;
}

static json *diagnostic(const struct diag *d) {
    json *o = json_map();
    json_put_text(o, "severity", str_of(diagnostic_of(d).severity));
    json_put_text(o, "file", str_of(d->file));
    json_put_number(o, "line", d->line);
    json_put_number(o, "column", d->column);
    json_put_text(o, "message", str_of(d->message));
    json_put(o, "hint", d->hint ? json_text(str_of(d->hint)) : NULL);
    return o;
}

void inspect_print_json(const struct inspection *in, FILE *out) {
    json *root = json_map(), *files = json_list();
    json *pairs = json_list(), *diagnostics = json_list();
    json_put_text(root, "version", str_of(fa_version()));
    json_put_number(root, "status", (uint64_t)in->status);
    for (size_t i = 0; i < in->nfiles; i++)
        json_append(files, file(&in->files[i]));
    json_put(root, "files", files);
    for (uint32_t i = 0; i < in->npairs; i++)
        json_append(pairs, pair(&in->pairs[i]));
    json_put(root, "pairs", pairs);
    for (uint32_t i = 0; i < in->diags.n; i++)
        json_append(diagnostics, diagnostic(&in->diags.items[i]));
    json_put(root, "diagnostics", diagnostics);
    json_put_number(root, "diagnostics_dropped", in->diags.dropped);
    json_print(root, out);
}
