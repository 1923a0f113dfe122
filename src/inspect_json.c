/* Inspection as one JSON document, for programs; every key is described in fusion-audit(1). Texts that are no valid
 * UTF-8 are repaired on their way, since JSON cannot carry them. */
#include "inspect.h"
#include "report/text.h"

#include <json-c/json.h>

typedef struct json_object json;

static json *text(struct str s) {
    struct buf scratch = {0};
    struct str clean = text_utf8(s, &scratch);
    json *j = json_object_new_string_len(clean.p ? clean.p : "", (int)clean.n);
    buf_free(&scratch);
    return j;
}

static void put(json *object, const char *key, json *value) {
    json_object_object_add(object, key, value);
}

static void put_text(json *object, const char *key, struct str s) {
    put(object, key, text(s));
}

static void put_number(json *object, const char *key, uint64_t n) {
    put(object, key, json_object_new_int64((int64_t)n));
}

static void put_bool(json *object, const char *key, bool b) {
    put(object, key, json_object_new_boolean(b));
}

static json *op_counts(const struct op_count *counts, uint32_t n) {
    json *list = json_object_new_array();
    for (uint32_t i = 0; i < n; i++) {
        json *o = json_object_new_object();
        put_text(o, "name", counts[i].name);
        bool known = counts[i].kind != K_UNKNOWN;
        put(o, "operator", known ? text(str_of(op_table[counts[i].kind].name)) : NULL);
        put_number(o, "count", counts[i].n);
        json_object_array_add(list, o);
    }
    return list;
}

static json *function(const struct func_facts *f, bool outside) {
    json *o = json_object_new_object();
    if (!outside) {
        put_text(o, "name", f->name);
        put_text(o, "kind", str_of(inspect_func_kind(f->kind)));
        put_bool(o, "complete", f->complete);
        put_number(o, "arguments", f->nargs);
    }
    put_number(o, "ops", f->nops);
    put_number(o, "values", f->nvalues);
    put_number(o, "edges", f->nedges);
    put(o, "op_counts", op_counts(f->counts, f->ncounts));
    return o;
}

static json *module(const struct module_facts *m) {
    json *o = json_object_new_object(), *functions = json_object_new_array(), *aliases = json_object_new_array();
    put_text(o, "level", m->is_ttnn ? STR("ttnn") : STR("ttir"));
    put_number(o, "ops", m->nops);
    put_number(o, "values", m->nvalues);
    put_number(o, "edges", m->nedges);
    put_number(o, "destination_operands", m->ndestinations);
    put_number(o, "skipped_ops", m->bad_ops);
    put_number(o, "undefined_values", m->undefined_values);
    put_number(o, "custom_ops", m->custom_ops);
    put(o, "unknown_ops", op_counts(m->unknown, m->nunknown));
    for (uint32_t i = 0; i < m->nunresolved; i++)
        json_object_array_add(aliases, text(m->unresolved[i]));
    put(o, "unresolved_aliases", aliases);
    put_number(o, "unresolved_alias_uses", m->unresolved_uses);
    for (uint32_t i = 0; i < m->nfuncs; i++)
        json_object_array_add(functions, function(&m->funcs[i], false));
    put(o, "functions", functions);
    put(o, "outside", function(&m->outside, true));
    return o;
}

static json *block(const struct log_block *b, const struct module_facts *m) {
    json *o = json_object_new_object(), *dialects = json_object_new_array();
    put_text(o, "stage", str_of(log_stage_name(b->stage)));
    put_text(o, "label", b->label);
    put_number(o, "graph", b->graph);
    put_bool(o, "chosen", b->chosen);
    put_number(o, "first_line", b->first_line);
    put_number(o, "last_line", b->last_line);
    put_bool(o, "complete", b->complete);
    put_number(o, "dropped_lines", b->dropped_lines);
    put_number(o, "joined_lines", b->joined_lines);
    if (b->has_ttir)
        json_object_array_add(dialects, text(STR("ttir")));
    if (b->has_ttnn)
        json_object_array_add(dialects, text(STR("ttnn")));
    put(o, "dialects", dialects);
    put(o, "module", m ? module(m) : NULL);
    return o;
}

static json *file(const char *path, const struct file_facts *f) {
    json *o = json_object_new_object(), *blocks = json_object_new_array();
    put_text(o, "path", str_of(path));
    put_bool(o, "readable", f->opened);
    put_bool(o, "log", f->scan.is_log);
    put_number(o, "graphs", f->scan.ngraphs);
    put_number(o, "bare_headers", f->scan.bare_headers);
    for (uint32_t i = 0; i < f->scan.nblocks; i++)
        json_object_array_add(blocks, block(&f->scan.blocks[i], f->modules[i]));
    put(o, "blocks", blocks);
    return o;
}

static json *pair(const struct pair_facts *p) {
    json *o = json_object_new_object();
    put_number(o, "graph", p->graph);
    put_text(o, "ttir", str_of(p->ttir_path));
    put_text(o, "ttnn", str_of(p->ttnn_path));
    put_number(o, "by_location", p->by_location);
    put_number(o, "by_dataflow", p->by_dataflow);
    put_number(o, "not_paired", p->unpaired);
    return o;
}

static json *diagnostic(const struct diag *d) {
    static const char *const severities[] = {"note", "warning", "error"};
    json *o = json_object_new_object();
    put_text(o, "severity", str_of(severities[d->severity]));
    put_text(o, "file", str_of(d->file));
    put_number(o, "line", d->line);
    put_number(o, "column", d->column);
    put_text(o, "message", str_of(d->message));
    put(o, "hint", d->hint ? text(str_of(d->hint)) : NULL);
    return o;
}

void inspect_print_json(const struct inspection *in, FILE *out) {
    json *root = json_object_new_object(), *files = json_object_new_array();
    json *pairs = json_object_new_array(), *diagnostics = json_object_new_array();
    put_text(root, "version", str_of(fa_version()));
    put_number(root, "status", (uint64_t)in->status);
    for (size_t i = 0; i < in->nfiles; i++)
        json_object_array_add(files, file(in->paths[i], &in->files[i]));
    put(root, "files", files);
    for (uint32_t i = 0; i < in->npairs; i++)
        json_object_array_add(pairs, pair(&in->pairs[i]));
    put(root, "pairs", pairs);
    for (uint32_t i = 0; i < in->diags.n; i++)
        json_object_array_add(diagnostics, diagnostic(&in->diags.items[i]));
    put(root, "diagnostics", diagnostics);
    put_number(root, "diagnostics_dropped", in->diags.dropped);
    size_t n = 0;
    const char *document = json_object_to_json_string_length(
        root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    if (document)
        fwrite(document, 1, n, out);
    fputc('\n', out);
    json_object_put(root);
}
