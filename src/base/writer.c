/* libyaml itself avoids the literal style for tabs, blanks before a line break or at the end, control characters, the
 * byte order mark and everything beyond U+FFFF. This file adds what libyaml does not check: line separators that YAML
 * 1.1 and 1.2 treat differently, what has to be escaped for a terminal, and plain words that resolve to a boolean or
 * null (YAML 1.1, section 10). */
#include "base/writer.h"

#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <strings.h>

/* ---- styles of YAML ---- */

static bool is_name_char(char c) {
    return isalnum((unsigned char)c) || (c && strchr("._-/+", c));
}

static bool is_plain_name(struct str s) {
    /* The words that YAML 1.1 readers take for booleans and null; numbers and dates start with no letter. */
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"};
    bool relative = str_starts(s, STR("./")) || str_starts(s, STR("../"));
    if (s.n == 0 || !(relative || isalpha((unsigned char)s.p[0]) || s.p[0] == '/' || s.p[0] == '_'))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_name_char(s.p[i]))
            return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (s.n == strlen(words[i]) && strncasecmp(s.p, words[i], s.n) == 0)
            return false;
    return true;
}

bool is_literal_text(struct str s) {
    /* Two line breaks at the end would make libyaml keep the document open with a "..." line. */
    return s.n > 0 && !str_is(s, "\n") && !str_ends(s, STR("\n\n")) && utf8_clean_end(s, 0, "\n") == s.n;
}

static yaml_scalar_style_t yaml_style(struct str s, enum text_style style) {
    if (style == TEXT_NAME && is_plain_name(s))
        return YAML_PLAIN_SCALAR_STYLE;
    return style == TEXT_BLOCK && is_literal_text(s) ? YAML_LITERAL_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
}

/* ---- YAML ---- */

/* `made`: the result of yaml_*_event_initialize. libyaml owns the event afterwards. */
static void emit(struct writer *w, yaml_event_t *event, int made) {
    w->ok = w->ok && made && yaml_emitter_emit(&w->yaml, event);
}

static void emit_scalar(struct writer *w, struct str s, yaml_scalar_style_t style) {
    yaml_event_t event;
    w->ok = w->ok && s.n <= INT_MAX;
    if (w->ok)
        emit(w, &event,
             yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)(s.n ? s.p : ""), (int)s.n, 1, 1,
                                          style));
}

/* What libyaml hands over ends between characters. */
static int write_clean(void *out, unsigned char *bytes, size_t n) {
    print_clean((struct str){(const char *)bytes, n}, "\n", out);
    return !ferror((FILE *)out);
}

static void begin_yaml(struct writer *w) {
    yaml_event_t event;
    if (!yaml_emitter_initialize(&w->yaml))
        out_of_memory();
    yaml_emitter_set_output(&w->yaml, write_clean, w->out);
    yaml_emitter_set_unicode(&w->yaml, 1);
    yaml_emitter_set_width(&w->yaml, -1);
    emit(w, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    if (w->ok)
        emit(w, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
}

static bool end_yaml(struct writer *w) {
    yaml_event_t event;
    if (w->ok)
        emit(w, &event, yaml_document_end_event_initialize(&event, 1));
    if (w->ok)
        emit(w, &event, yaml_stream_end_event_initialize(&event));
    int reason = w->yaml.error == YAML_MEMORY_ERROR ? ENOMEM : errno;
    yaml_emitter_delete(&w->yaml);
    errno = reason;
    return w->ok;
}

/* ---- JSON ---- */

static void new_line(struct writer *w) {
    fprintf(w->out, "\n%*s", 2 * (int)w->depth, "");
}

/* Before a value or a key. */
static void begin_item(struct writer *w) {
    if (w->after_key || w->depth == 0) {
        w->after_key = false;
        return;
    }
    if (w->is_begun[w->depth - 1])
        fputc(',', w->out);
    w->is_begun[w->depth - 1] = true;
    new_line(w);
}

static void put_json_text(struct writer *w, struct str s) {
    static const char plain[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    fputc('"', w->out);
    for (size_t begin = 0, i = 0; i <= s.n; i++) {
        if (i < s.n && (unsigned char)s.p[i] >= ' ' && s.p[i] != '"' && s.p[i] != '\\')
            continue;
        if (i > begin)
            print_clean((struct str){s.p + begin, i - begin}, "", w->out);
        begin = i + 1;
        const char *at = i < s.n && s.p[i] ? strchr(plain, s.p[i]) : NULL;
        if (at)
            fprintf(w->out, "\\%c", letters[at - plain]);
        else if (i < s.n)
            fprintf(w->out, "\\u%04x", (unsigned)s.p[i]);
    }
    fputc('"', w->out);
}

/* ---- trees ---- */

/* Adds a node: a key, an item, or what belongs to the key before it. */
static void add_node(struct writer *w, enum tree_kind kind, struct str text) {
    struct tree *t = arena_alloc(&w->arena, sizeof *t), *in = w->depth ? w->open[w->depth - 1] : NULL;
    *t = (struct tree){.kind = kind, .text = text.n ? arena_str(&w->arena, text) : STR("")};
    if (!in) {
        w->root = t;
    } else if (w->after_key) {
        w->last[w->depth - 1]->value = t;
    } else {
        if (in->n++)
            w->last[w->depth - 1]->next = t;
        else
            in->first = t;
        w->last[w->depth - 1] = t;
    }
    w->after_key = false;
    if (kind != TREE_SCALAR)
        w->open[w->depth] = t;
}

/* ---- all ---- */

void write_begin(struct writer *w, enum markup markup, FILE *out) {
    *w = (struct writer){.markup = markup, .out = out, .ok = true};
    if (markup == MARKUP_YAML)
        begin_yaml(w);
}

void write_document(struct writer *w, enum markup markup, FILE *out) {
    write_begin(w, markup, out);
    write_map(w);
    if (markup == MARKUP_JSON)
        write_pair(w, "version", STR(FA_VERSION), TEXT_NAME);
}

void write_as_text(struct writer *w, const struct template *templates, FILE *out) {
    write_begin(w, MARKUP_TEXT, out);
    w->templates = templates;
    write_map(w);
}

bool write_end(struct writer *w) {
    buf_free(&w->scratch);
    if (w->markup == MARKUP_YAML)
        return end_yaml(w);
    if (w->markup == MARKUP_TEXT)
        template_print(w->templates, w->root, w->out);
    else
        fputc('\n', w->out);
    arena_free(&w->arena);
    return w->ok && !ferror(w->out);
}

static void open_collection(struct writer *w, bool list) {
    if (w->markup == MARKUP_JSON) {
        begin_item(w);
        fputc(list ? '[' : '{', w->out);
    }
    if (w->markup == MARKUP_TEXT)
        add_node(w, list ? TREE_SEQUENCE : TREE_MAPPING, STR(""));
    w->is_list[w->depth] = list;
    w->is_begun[w->depth++] = false;
}

void write_map(struct writer *w) {
    yaml_event_t event;
    open_collection(w, false);
    if (w->markup == MARKUP_YAML && w->ok)
        emit(w, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

void write_list(struct writer *w) {
    yaml_event_t event;
    open_collection(w, true);
    if (w->markup == MARKUP_YAML && w->ok)
        emit(w, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
}

void write_close(struct writer *w) {
    yaml_event_t event;
    bool list = w->is_list[--w->depth];
    if (w->markup == MARKUP_JSON) {
        if (w->is_begun[w->depth])
            new_line(w);
        fputc(list ? ']' : '}', w->out);
    } else if (w->markup == MARKUP_YAML && w->ok) {
        emit(w, &event, list ? yaml_sequence_end_event_initialize(&event) : yaml_mapping_end_event_initialize(&event));
    }
}

void write_key(struct writer *w, struct str key) {
    if (w->markup == MARKUP_YAML) {
        emit_scalar(w, key, YAML_PLAIN_SCALAR_STYLE);
        return;
    }
    if (w->markup == MARKUP_TEXT) {
        add_node(w, TREE_SCALAR, key);
    } else {
        begin_item(w);
        put_json_text(w, key);
        fputs(": ", w->out);
    }
    w->after_key = true;
}

void write_text(struct writer *w, struct str s, enum text_style style) {
    s = utf8_repair(s, &w->scratch);
    if (w->markup == MARKUP_YAML) {
        emit_scalar(w, s, yaml_style(s, style));
    } else if (w->markup == MARKUP_TEXT) {
        add_node(w, TREE_SCALAR, s);
    } else {
        begin_item(w);
        put_json_text(w, s);
    }
}

void write_figure(struct writer *w, struct str digits) {
    if (w->markup == MARKUP_YAML) {
        emit_scalar(w, digits, YAML_PLAIN_SCALAR_STYLE);
    } else if (w->markup == MARKUP_TEXT) {
        add_node(w, TREE_SCALAR, digits);
    } else {
        begin_item(w);
        fprintf(w->out, "%.*s", (int)digits.n, digits.p);
    }
}

void write_number(struct writer *w, uint64_t n) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, n);
    write_figure(w, str_of(text));
}

void write_real(struct writer *w, double x) {
    char text[32];
    snprintf(text, sizeof text, "%.9g", isfinite(x) ? x : 0);
    write_figure(w, str_of(text));
}

void write_bool(struct writer *w, bool b) {
    write_figure(w, b ? STR("true") : STR("false"));
}

void write_null(struct writer *w) {
    write_figure(w, w->markup == MARKUP_TEXT ? STR("") : STR("null"));
}

void write_pair(struct writer *w, const char *key, struct str s, enum text_style style) {
    write_key(w, str_of(key));
    write_text(w, s, style);
}

void write_pair_number(struct writer *w, const char *key, uint64_t n) {
    write_key(w, str_of(key));
    write_number(w, n);
}

void write_pair_bool(struct writer *w, const char *key, bool b) {
    write_key(w, str_of(key));
    write_bool(w, b);
}

void write_pair_real(struct writer *w, const char *key, double x) {
    write_key(w, str_of(key));
    write_real(w, x);
}

void write_pair_positive(struct writer *w, const char *key, double x) {
    if (x > 0)
        write_pair_real(w, key, x);
}

void write_pair_null(struct writer *w, const char *key) {
    write_key(w, str_of(key));
    write_null(w);
}

void write_pair_if_any(struct writer *w, const char *key, struct str s, enum text_style style) {
    if (s.n)
        write_pair(w, key, s, style);
}

void write_names(struct writer *w, const char *key, struct str_list names) {
    write_list_at(w, key);
    for (uint32_t i = 0; i < names.n; i++)
        write_text(w, names.items[i], TEXT_NAME);
    write_close(w);
}

void write_pair_or_null(struct writer *w, const char *key, struct str s, enum text_style style) {
    write_key(w, str_of(key));
    if (s.p && s.n)
        write_text(w, s, style);
    else
        write_null(w);
}

void write_map_at(struct writer *w, const char *key) {
    write_key(w, str_of(key));
    write_map(w);
}

void write_list_at(struct writer *w, const char *key) {
    write_key(w, str_of(key));
    write_list(w);
}

void write_figures(struct writer *w, const char *key, struct figures f) {
    if (!f.n)
        return;
    write_map_at(w, key);
    for (uint32_t i = 0; i < f.n; i++) {
        write_key(w, f.items[i].key);
        if (f.items[i].is_number)
            write_figure(w, f.items[i].value);
        else
            write_text(w, f.items[i].value, TEXT_NAME);
    }
    write_close(w);
}
