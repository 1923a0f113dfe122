/* Prints the report as a stream of libyaml events: UTF-8 unescaped, no line width, no document marks, block mappings
 * and block sequences. Text that is no valid UTF-8 is repaired first, so that a report can always be read; what drives
 * a terminal is escaped, for which text.h has it double quoted. One instance is in memory at a time; after an error
 * nothing more is emitted. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <yaml.h>

#include "base/utf8.h"
#include "report/report.h"
#include "report/text.h"

struct printer {
    yaml_emitter_t emitter;
    bool ok;
    struct report *report;
    struct buf instance, notes, utf8; /* scratch */
};

/* `made`: the result of yaml_*_event_initialize. libyaml owns the event afterwards. */
static void put(struct printer *p, yaml_event_t *event, int made) {
    p->ok = p->ok && made && yaml_emitter_emit(&p->emitter, event);
}

static void put_scalar(struct printer *p, struct str s, yaml_scalar_style_t style) {
    yaml_event_t event;
    if (!p->ok || s.n > INT_MAX) {
        p->ok = false;
        return;
    }
    const yaml_char_t *value = (const yaml_char_t *)(s.n > 0 ? s.p : "");
    put(p, &event, yaml_scalar_event_initialize(&event, NULL, NULL, value, (int)s.n, 1, 1, style));
}

static void put_name(struct printer *p, struct str s) {
    s = utf8_repair(s, &p->utf8);
    put_scalar(p, s, text_name_style(s));
}

/* Numbers are printed as such, without quotes. */
static void put_value(struct printer *p, struct str s) {
    double x;
    if (mlir_float(s, &x))
        put_scalar(p, s, YAML_PLAIN_SCALAR_STYLE);
    else
        put_name(p, s);
}

static void put_key(struct printer *p, const char *key) {
    put_scalar(p, str_of(key), YAML_PLAIN_SCALAR_STYLE);
}

static void put_block(struct printer *p, const char *key, struct str s) {
    put_key(p, key);
    s = utf8_repair(s, &p->utf8);
    put_scalar(p, s, text_block_style(s));
}

static void begin_mapping(struct printer *p) {
    yaml_event_t event;
    if (p->ok)
        put(p, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

static void end_mapping(struct printer *p) {
    yaml_event_t event;
    if (p->ok)
        put(p, &event, yaml_mapping_end_event_initialize(&event));
}

static void begin_list(struct printer *p, const char *key) {
    yaml_event_t event;
    put_key(p, key);
    if (p->ok)
        put(p, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
}

static void end_list(struct printer *p) {
    yaml_event_t event;
    if (p->ok)
        put(p, &event, yaml_sequence_end_event_initialize(&event));
}

/* A mapping from lines of `key: value`. */
static void put_lines(struct printer *p, const char *key, struct str lines) {
    char name[64];
    put_key(p, key);
    begin_mapping(p);
    while (lines.n > 0) {
        const char *end = memchr(lines.p, '\n', lines.n), *colon = memchr(lines.p, ':', lines.n);
        if (!end || !colon || colon > end || (size_t)(colon - lines.p) >= sizeof name)
            break;
        memcpy(name, lines.p, (size_t)(colon - lines.p));
        name[colon - lines.p] = '\0';
        put_key(p, name);
        put_value(p, str_trim((struct str){colon + 1, (size_t)(end - colon - 1)}));
        lines.n -= (size_t)(end + 1 - lines.p);
        lines.p = end + 1;
    }
    end_mapping(p);
}

static void put_lines_of(struct printer *p, const char *key, struct str lines) {
    if (lines.n) {
        put_key(p, key);
        put_scalar(p, lines, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    }
}

static void put_instance(struct printer *p, const struct report_entry *e, const struct stored_instance *stored) {
    struct instance_text text;
    if (!p->ok || !report_instance(p->report, stored, &p->instance, &text)) {
        p->ok = false;
        return;
    }
    begin_mapping(p);
    if (text.ir_loc.n > 0) {
        put_key(p, "ir_loc");
        put_scalar(p, utf8_repair(text.ir_loc, &p->utf8), YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    }
    if (text.ttir.n > 0)
        put_block(p, "ttir_segment", text.ttir);
    if (text.ttnn.n > 0)
        put_block(p, "ttnn_segment", text.ttnn);
    put_block(p, "notes", report_notes(p->report, e, stored, &text, &p->notes));
    put_lines_of(p, "ttir_lines", text.ttir_lines);
    put_lines_of(p, "ttnn_lines", text.ttnn_lines);
    if (text.validation.n > 0)
        put_lines(p, "validation", text.validation);
    if (text.cost.n > 0)
        put_lines(p, "cost", text.cost);
    end_mapping(p);
}

static void put_class(struct printer *p, const struct classification *c) {
    const struct {
        const char *key;
        struct str value;
    } all[] = {{"dialect_level", c->dialect_level},
               {"pass_status", c->pass_status},
               {"owning_pass", c->owning_pass},
               {"existing_pattern", c->existing_pattern}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        put_key(p, all[i].key);
        if (all[i].value.n)
            put_name(p, all[i].value);
        else
            put_scalar(p, STR("null"), YAML_PLAIN_SCALAR_STYLE);
    }
}

static void put_path(struct printer *p, const char *key, const char *path) {
    if (path) {
        put_key(p, key);
        put_name(p, str_of(path));
    }
}

static void put_input(struct printer *p, const struct report *r) {
    put_key(p, "input");
    begin_mapping(p);
    put_path(p, "ttir", r->ttir_path);
    put_path(p, "ttnn", r->ttnn_path);
    end_mapping(p);
}

static void put_entry(struct printer *p, const struct report_entry *e) {
    begin_mapping(p);
    put_key(p, "fused_op");
    put_name(p, e->key.fused_op);
    put_key(p, "source");
    put_name(p, e->key.source);
    begin_list(p, "component_ops");
    for (uint32_t i = 0; i < e->key.component_ops.n; i++)
        put_name(p, e->key.component_ops.items[i]);
    end_list(p);
    if (e->key.class.given)
        put_class(p, &e->key.class);
    if (p->report->details && e->ntodos) {
        p->notes.n = 0;
        report_action(p->report, e, &p->notes);
        put_key(p, "action");
        put_scalar(p, utf8_repair(buf_str(&p->notes), &p->utf8), YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    }
    begin_list(p, "instances");
    for (uint32_t i = 0; p->ok && i < e->ninstances; i++)
        put_instance(p, e, &e->instances[i]);
    end_list(p);
    end_mapping(p);
}

/* What libyaml hands over ends between characters. */
static int write_clean(void *out, unsigned char *bytes, size_t n) {
    print_clean((struct str){(const char *)bytes, n}, "\n", out);
    return !ferror((FILE *)out);
}

static void put_document(struct printer *p) {
    const struct report *r = p->report;
    begin_mapping(p);
    put_input(p, r);
    begin_list(p, "missed_fusions");
    for (uint32_t i = 0; p->ok && i < r->nentries; i++)
        put_entry(p, &r->entries[i]);
    end_list(p);
    end_mapping(p);
}

bool report_print(struct report *r, FILE *out) {
    yaml_event_t event;
    struct printer p = {.ok = true, .report = r};
    if (!yaml_emitter_initialize(&p.emitter))
        return false;
    yaml_emitter_set_output(&p.emitter, write_clean, out);
    yaml_emitter_set_unicode(&p.emitter, 1);
    yaml_emitter_set_width(&p.emitter, -1);
    put(&p, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    if (p.ok)
        put(&p, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    put_document(&p);
    if (p.ok)
        put(&p, &event, yaml_document_end_event_initialize(&event, 1));
    if (p.ok)
        put(&p, &event, yaml_stream_end_event_initialize(&event));
    int reason = p.emitter.error == YAML_MEMORY_ERROR ? ENOMEM : errno;
    yaml_emitter_delete(&p.emitter);
    buf_free(&p.instance);
    buf_free(&p.notes);
    buf_free(&p.utf8);
    errno = reason;
    return p.ok && fflush(out) == 0 && !ferror(out);
}
