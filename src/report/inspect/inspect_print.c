/* Inspection as one document, which is JSON for programs (every key is described in fusion-audit(1)) or text. */
#include <stdlib.h>

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

static void put_sizes(struct writer *w, const struct func_facts *f) {
    write_pair_number(w, "ops", f->nops);
    write_pair_number(w, "values", f->nvalues);
    write_pair_number(w, "edges", f->nedges);
}

static void put_function(struct writer *w, const struct func_facts *f, bool outside) {
    write_map(w);
    if (!outside) {
        put_text(w, "name", f->name);
        put_text(w, "kind", str_of(inspect_func_kind(f->kind)));
        write_pair_bool(w, "complete", f->complete);
        write_pair_number(w, "arguments", f->nargs);
    }
    put_sizes(w, f);
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

static void put_sign(struct writer *w, const char *key, const struct version_sign *s) {
    if (!s->day.n)
        return;
    write_key(w, str_of(key));
    write_map(w);
    put_text(w, "day", s->day);
    put_text(w, "sign", s->what);
    write_pair_number(w, "line", s->line);
    write_close(w);
}

/* What the functions of one kind have together. */
static void put_kind(struct writer *w, const struct module_facts *m, enum func_kind kind) {
    struct func_facts sum = {.kind = kind};
    uint32_t n = 0, incomplete = 0;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct func_facts *f = &m->funcs[i];
        if (f->kind != kind)
            continue;
        sum.name = n++ ? sum.name : f->name;
        incomplete += !f->complete;
        sum.nargs += f->nargs;
        sum.nops += f->nops;
        sum.nvalues += f->nvalues;
        sum.nedges += f->nedges;
    }
    if (n == 0)
        return;
    write_map(w);
    put_text(w, "kind", str_of(inspect_func_kind(kind)));
    write_pair_number(w, "functions", n);
    put_text(w, "first", sum.name);
    write_pair_number(w, "incomplete", incomplete);
    write_pair_number(w, "arguments", sum.nargs);
    put_sizes(w, &sum);
    write_close(w);
}

/* Ops of main functions and outside of functions, without modules and other structure. */
static void put_audited_ops(struct writer *w, const struct module_facts *m) {
    struct op_count *all = NULL;
    uint32_t cap = 0, total = 0;
    for (uint32_t i = 0; i <= m->nfuncs; i++) {
        const struct func_facts *f = i < m->nfuncs ? &m->funcs[i] : &m->outside;
        for (uint32_t k = 0; k < f->ncounts && (f == &m->outside || f->kind == FUNC_MAIN); k++) {
            if (f == &m->outside && op_table[f->counts[k].kind].class == OP_STRUCTURE)
                continue;
            all = grow(all, &cap, total + 1, sizeof *all);
            all[total++] = f->counts[k];
        }
    }
    put_op_counts(w, "audited_ops", all, inspect_merge(all, total));
    free(all);
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
    put_sign(w, "compiler_since", &m->version.since);
    put_sign(w, "compiler_before", &m->version.before);
    put_device(w, &m->device);
    put_audited_ops(w, m);
    write_list_at(w, "kinds");
    for (int kind = 0; kind < FUNC_KINDS; kind++)
        put_kind(w, m, (enum func_kind)kind);
    write_close(w);
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
    uint32_t chosen = 0;
    write_map(w);
    put_text(w, "path", str_of(f->source.path));
    write_pair_bool(w, "readable", f->source.data);
    write_pair_bool(w, "log", f->scan.is_log);
    write_pair_number(w, "graphs", f->scan.ngraphs);
    write_pair_number(w, "bare_headers", f->scan.bare_headers);
    write_list_at(w, "blocks");
    for (uint32_t i = 0; i < f->scan.nblocks; i++) {
        put_block(w, &f->scan.blocks[i], f->modules[i]);
        chosen += f->scan.blocks[i].chosen;
    }
    write_close(w);
    write_pair_number(w, "others", f->scan.nblocks - chosen);
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

static void put_inspection(struct writer *w, const struct inspection *in) {
    write_pair_number(w, "status", (uint64_t)in->status);
    write_list_at(w, "files");
    for (size_t i = 0; i < in->nfiles; i++)
        put_file(w, &in->files[i]);
    write_close(w);
    write_list_at(w, "pairs");
    for (uint32_t i = 0; i < in->npairs; i++)
        put_pair(w, &in->pairs[i]);
    write_close(w);
    write_list_at(w, "diagnostics");
    for (uint32_t i = 0; i < in->diags.n; i++)
        put_diagnostic(w, &in->diags.items[i]);
    write_close(w);
    write_pair_number(w, "diagnostics_dropped", in->diags.dropped);
    write_close(w);
}

/* ---- as text ---- */

static const struct column block_columns[] = {
    {"graph", "{graph}"},
    {"block", "{label?{label}|{stage}}"},
    {"lines", "{first_line}-{last_line}"},
    {"dialects", "{dialects*{}}"},
    {"", "{complete?|incomplete }{dropped_lines?{dropped_lines line} dropped }"
         "{joined_lines?{joined_lines line} joined}"},
    {NULL, NULL},
};

static const struct column kind_columns[] = {
    {"kind", "{kind}"},
    {"functions", "{functions}"},
    {"args", "{arguments}"},
    {"ops", "{ops}"},
    {"values", "{values}"},
    {"edges", "{edges}"},
    {"first", "@{first}"},
    {"incomplete", "{incomplete?{incomplete}|}"},
    {NULL, NULL},
};

static const struct column layout_columns[] = {
    {"values", "{values}"}, {"memory", "{memory}"},   {"sharding", "{sharding}"}, {"grid", "{grid:x}"},
    {"tile", "{tile:x}"},   {"element", "{element}"}, {"size", "{bytes:bytes}"},  {NULL, NULL},
};

static const struct template module_text[] = {
    {.of = "kinds", .columns = kind_columns, .indent = 4},
    {.text =
         "{audited_ops?    ops at each call: {audited_ops*{count} {name}}\n|}"
         "{compiler_since?    compiler: {compiler_since.day} or later ({compiler_since.sign}: line "
         "{compiler_since.line})\n|}"
         "{compiler_before?    compiler: before {compiler_before.day} ({compiler_before.sign}: line "
         "{compiler_before.line})\n|}"
         "{device?    device: {device.chip} ({device.arch}), {device.grid:x} cores of {device.l1_bytes} bytes of L1, "
         "{device.dram_channels} DRAM channels\n|}"
         "{worker_grid?    worker grid: {worker_grid:x}\n|}"
         "{mesh?    mesh: {mesh:x}\n|}"},
    {.of = "layouts", .columns = layout_columns, .indent = 4},
    {.text = "{skipped_ops?    skipped: {skipped_ops op} that could not be read\n|}"
             "{undefined_values?    undefined: {undefined_values value}\n|}"
             "{custom_ops?    custom assembly read by the general rule: {custom_ops op}\n|}"
             "{unknown_ops?    not in the operator table: {unknown_ops*{count} {name}}\n|}"
             "{unresolved_aliases?    aliases without a definition: {unresolved_aliases*{}} "
             "({unresolved_alias_uses use})\n|}"
             "{unread_layouts?    layouts that are not understood: {unread_layouts}\n|}"
             "{inconsistent_layouts?    values whose shape does not fit their layout: {inconsistent_layouts}\n|}"},
    {.text = NULL},
};

static const struct template file_text[] = {
    {.of = "blocks", .where = "chosen", .columns = block_columns, .indent = 2},
    {.text = "{others?  and {others more block}\n|}"},
    {.of = "blocks.module",
     .text = "\n  graph {^graph}, {level}: {ops op}, {values value}, {edges edge}"
             "{destination_operands?, {destination_operands destination operand} left out|}\n",
     .below = module_text},
    {.text = NULL},
};

static const struct column pair_columns[] = {
    {"graph", "{graph}"},
    {"by location", "{by_location}"},
    {"by dataflow", "{by_dataflow}"},
    {"not paired", "{not_paired}"},
    {"TTIR", "{ttir}"},
    {"TTNN", "{ttnn}"},
    {NULL, NULL},
};

static const struct template inspection_text[] = {
    {.of = "files",
     .apart = true,
     .text = "{path}: {readable?{blocks?{log?log|MLIR}, {blocks block}, {graphs graph}|no IR}"
             "{bare_headers?, {bare_headers header} without a module|}|not read}\n",
     .below = file_text},
    {.text = "{pairs?\nTTNN ops paired with TTIR ops\n|}"},
    {.of = "pairs", .columns = pair_columns, .indent = 2},
    {.text = "{diagnostics?\ndiagnostics\n|}"},
    {.of = "diagnostics",
     .text = "  {file}{line?:{line}{column?:{column}|}|}: {severity}: {message}\n{hint?    hint: {hint}\n|}"},
    {.text = "{diagnostics_dropped?  and {diagnostics_dropped} more\n|}"},
    {.text = NULL},
};

void inspect_print(const struct inspection *in, bool json, FILE *out) {
    struct writer w;
    if (json)
        write_document(&w, MARKUP_JSON, out);
    else
        write_as_text(&w, inspection_text, out);
    put_inspection(&w, in);
    write_end(&w);
}
