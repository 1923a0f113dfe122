/* The report in YAML. One instance is in memory at a time. */
#include <string.h>

#include "report/emit.h"
#include "report/lines.h"
#include "report/report.h"

struct yaml_printer {
    struct emitter yaml;
    struct report *report;
    struct buf action; /* scratch */
};

static void put_text(struct emitter *e, const char *key, struct str text) {
    if (text.n) {
        emit_key(e, key);
        emit_scalar(e, text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    }
}

/* Numbers are printed as such, without quotes. */
static void put_value(struct emitter *e, struct str s) {
    double x;
    if (mlir_float(s, &x))
        emit_scalar(e, s, YAML_PLAIN_SCALAR_STYLE);
    else
        emit_name(e, s);
}

/* A mapping from lines of `key: value`. */
static void put_lines(struct emitter *e, const char *key, struct str lines) {
    struct str name, value;
    if (!lines.n)
        return;
    emit_key(e, key);
    emit_mapping(e);
    while (next_pair(&lines, &name, &value)) {
        emit_name(e, name);
        put_value(e, value);
    }
    emit_end_mapping(e);
}

static void put_instance(void *context, const struct report_entry *entry, const struct stored_instance *s,
                         const struct instance_text *text) {
    struct yaml_printer *p = context;
    struct emitter *e = &p->yaml;
    (void)entry;
    (void)s;
    emit_mapping(e);
    put_text(e, "ir_loc", text->ir_loc);
    if (text->ttir.n > 0)
        emit_block(e, "ttir_segment", text->ttir);
    if (text->ttnn.n > 0)
        emit_block(e, "ttnn_segment", text->ttnn);
    emit_block(e, "notes", text->notes);
    if (p->report->details) {
        put_text(e, "ttir_lines", text->ttir_lines);
        put_text(e, "ttnn_lines", text->ttnn_lines);
    }
    put_lines(e, "validation", text->validation);
    put_lines(e, "cost", text->cost);
    emit_end_mapping(e);
}

static void put_class(struct emitter *e, const struct classification *c) {
    const struct {
        const char *key;
        struct str value;
    } all[] = {{"dialect_level", c->dialect_level},
               {"pass_status", c->pass_status},
               {"owning_pass", c->owning_pass},
               {"existing_pattern", c->existing_pattern}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        emit_key(e, all[i].key);
        if (all[i].value.n)
            emit_name(e, all[i].value);
        else
            emit_scalar(e, STR("null"), YAML_PLAIN_SCALAR_STYLE);
    }
}

static void put_path(struct emitter *e, const char *key, const char *path) {
    if (path)
        emit_pair(e, key, str_of(path));
}

static void begin_entry(void *context, const struct report_entry *entry) {
    struct yaml_printer *p = context;
    struct emitter *e = &p->yaml;
    emit_mapping(e);
    emit_pair(e, "fused_op", entry->key.fused_op);
    emit_pair(e, "source", entry->key.source);
    emit_list(e, "component_ops");
    for (uint32_t i = 0; i < entry->key.component_ops.n; i++)
        emit_name(e, entry->key.component_ops.items[i]);
    emit_end_list(e);
    if (entry->key.class.given)
        put_class(e, &entry->key.class);
    p->action.n = 0;
    if (p->report->details && entry->ntodos)
        report_action(p->report, entry, &p->action);
    put_text(e, "action", buf_str(&p->action));
    emit_list(e, "instances");
}

static void end_entry(void *context, const struct report_entry *entry) {
    struct yaml_printer *p = context;
    (void)entry;
    emit_end_list(&p->yaml);
    emit_end_mapping(&p->yaml);
}

bool report_print(struct report *r, FILE *out) {
    static const struct report_visitor visitor = {begin_entry, put_instance, end_entry};
    struct yaml_printer p = {.report = r};
    struct emitter *e = &p.yaml;
    emit_begin(e, out);
    emit_mapping(e);
    emit_key(e, "input");
    emit_mapping(e);
    put_path(e, "ttir", r->ttir_path);
    put_path(e, "ttnn", r->ttnn_path);
    emit_end_mapping(e);
    emit_list(e, "missed_fusions");
    e->ok = report_walk(r, &visitor, &p) && e->ok;
    emit_end_list(e);
    emit_end_mapping(e);
    buf_free(&p.action);
    return emit_end(e);
}
