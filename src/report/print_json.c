/* The report in JSON: the keys of the YAML, and some for programs (fusion-todo(5), JSON). */
#include "base/json.h"
#include "report/lines.h"
#include "report/report.h"

struct json_printer {
    json *entries, *instances;
};

static void put_some(json *to, const char *key, struct str text) {
    if (text.n)
        json_put_text(to, key, text);
}

static json *value_of(struct str s) {
    double x;
    return mlir_float(s, &x) ? json_real(x) : json_text(s);
}

static void put_lines(json *to, const char *key, struct str lines, struct arena *a) {
    struct str name, value;
    json *map = lines.n ? json_map() : NULL;
    while (next_pair(&lines, &name, &value))
        json_put(map, arena_strdup(a, name), value_of(value));
    if (map)
        json_put(to, key, map);
}

static void add_instance(void *context, const struct report_entry *e, const struct stored_instance *s,
                         const struct instance_text *text) {
    struct json_printer *p = context;
    struct arena keys = {0};
    char fingerprint[FINGERPRINT_TEXT];
    json *to = json_map();
    (void)e;
    put_some(to, "ir_loc", text->ir_loc);
    put_some(to, "ttir_segment", text->ttir);
    put_some(to, "ttnn_segment", text->ttnn);
    json_put_text(to, "notes", text->notes);
    put_some(to, "ttir_lines", text->ttir_lines);
    put_some(to, "ttnn_lines", text->ttnn_lines);
    put_lines(to, "validation", text->validation, &keys);
    put_lines(to, "cost", text->cost, &keys);
    if (s->rule)
        json_put_text(to, "pattern", s->rule->name);
    json_put(to, "saved_us", json_real(s->saved));
    if (s->fingerprint.count)
        json_put_text(to, "fingerprint", str_of(fingerprint_text(&s->fingerprint, fingerprint)));
    if (s->known)
        json_put_text(to, "known", str_of(s->known));
    json_append(p->instances, to);
    arena_free(&keys);
}

static void add_entry(void *context, const struct report_entry *e) {
    struct json_printer *p = context;
    json *to = json_map(), *components = json_list();
    const struct classification *c = &e->key.class;
    const struct {
        const char *key;
        struct str value;
    } class[] = {{"dialect_level", c->dialect_level},
                 {"pass_status", c->pass_status},
                 {"owning_pass", c->owning_pass},
                 {"existing_pattern", c->existing_pattern}};
    json_put_text(to, "fused_op", e->key.fused_op);
    json_put_text(to, "source", e->key.source);
    for (uint32_t i = 0; i < e->key.component_ops.n; i++)
        json_append(components, json_text(e->key.component_ops.items[i]));
    json_put(to, "component_ops", components);
    for (size_t i = 0; c->given && i < sizeof class / sizeof *class; i++)
        json_put(to, class[i].key, class[i].value.n ? json_text(class[i].value) : NULL);
    p->instances = json_list();
    json_put(to, "instances", p->instances);
    json_append(p->entries, to);
}

bool report_print_json(struct report *r, FILE *out) {
    static const struct report_visitor visitor = {add_entry, add_instance, NULL};
    struct json_printer p = {.entries = json_list()};
    json *document = json_map(), *input = json_map();
    json_put_text(document, "version", STR(FA_VERSION));
    if (r->ttir_path)
        json_put_text(input, "ttir", str_of(r->ttir_path));
    if (r->ttnn_path)
        json_put_text(input, "ttnn", str_of(r->ttnn_path));
    json_put(document, "input", input);
    json_put(document, "missed_fusions", p.entries);
    bool whole = report_walk(r, &visitor, &p);
    if (whole)
        json_print(document, out);
    else
        json_object_put(document);
    return whole;
}
