#include "report/emit.h"

#include <errno.h>
#include <limits.h>

#include "base/utf8.h"
#include "report/text.h"

/* `made`: the result of yaml_*_event_initialize. libyaml owns the event afterwards. */
static void put(struct emitter *e, yaml_event_t *event, int made) {
    e->ok = e->ok && made && yaml_emitter_emit(&e->yaml, event);
}

void emit_scalar(struct emitter *e, struct str s, yaml_scalar_style_t style) {
    yaml_event_t event;
    s = utf8_repair(s, &e->utf8);
    if (!e->ok || s.n > INT_MAX) {
        e->ok = false;
        return;
    }
    const yaml_char_t *value = (const yaml_char_t *)(s.n > 0 ? s.p : "");
    put(e, &event, yaml_scalar_event_initialize(&event, NULL, NULL, value, (int)s.n, 1, 1, style));
}

/* In the style that the repaired text asks for. */
static void emit_styled(struct emitter *e, struct str s, yaml_scalar_style_t (*style)(struct str)) {
    struct buf utf8 = {0};
    s = utf8_repair(s, &utf8);
    emit_scalar(e, s, style(s));
    buf_free(&utf8);
}

void emit_name(struct emitter *e, struct str s) {
    emit_styled(e, s, text_name_style);
}

void emit_key(struct emitter *e, const char *key) {
    emit_scalar(e, str_of(key), YAML_PLAIN_SCALAR_STYLE);
}

void emit_block(struct emitter *e, const char *key, struct str s) {
    emit_key(e, key);
    emit_styled(e, s, text_block_style);
}

void emit_pair(struct emitter *e, const char *key, struct str name) {
    emit_key(e, key);
    emit_name(e, name);
}

void emit_mapping(struct emitter *e) {
    yaml_event_t event;
    if (e->ok)
        put(e, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

void emit_end_mapping(struct emitter *e) {
    yaml_event_t event;
    if (e->ok)
        put(e, &event, yaml_mapping_end_event_initialize(&event));
}

void emit_list(struct emitter *e, const char *key) {
    yaml_event_t event;
    emit_key(e, key);
    if (e->ok)
        put(e, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
}

void emit_end_list(struct emitter *e) {
    yaml_event_t event;
    if (e->ok)
        put(e, &event, yaml_sequence_end_event_initialize(&event));
}

/* What libyaml hands over ends between characters. */
static int write_clean(void *out, unsigned char *bytes, size_t n) {
    print_clean((struct str){(const char *)bytes, n}, "\n", out);
    return !ferror((FILE *)out);
}

void emit_begin(struct emitter *e, FILE *out) {
    yaml_event_t event;
    *e = (struct emitter){.ok = true};
    if (!yaml_emitter_initialize(&e->yaml))
        out_of_memory();
    yaml_emitter_set_output(&e->yaml, write_clean, out);
    yaml_emitter_set_unicode(&e->yaml, 1);
    yaml_emitter_set_width(&e->yaml, -1);
    put(e, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    if (e->ok)
        put(e, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
}

bool emit_end(struct emitter *e) {
    yaml_event_t event;
    if (e->ok)
        put(e, &event, yaml_document_end_event_initialize(&event, 1));
    if (e->ok)
        put(e, &event, yaml_stream_end_event_initialize(&event));
    int reason = e->yaml.error == YAML_MEMORY_ERROR ? ENOMEM : errno;
    yaml_emitter_delete(&e->yaml);
    buf_free(&e->utf8);
    errno = reason;
    return e->ok;
}
