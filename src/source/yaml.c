#include "source/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "source/source.h"

bool yaml_wrong(const struct yaml *y, const struct tree *at, const char *hint, const char *format, ...) {
    va_list args;
    char message[256];
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_add(y->diags, SEV_ERROR, (struct source_location){y->path, at ? at->line : 0, at ? at->column : 0},
             hint ? hint : y->form, "%s", message);
    return false;
}

/* What is empty is no input, but a text. */
static bool is_empty(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode));
}

bool yaml_text(const struct yaml *y, struct str *out) {
    struct source s;
    *out = STR("");
    if (is_empty(y->path))
        return true;
    if (!source_open(&s, y->path, y->diags))
        return false;
    *out = arena_str(y->arena, (struct str){s.data, s.size});
    source_close(&s);
    return true;
}

bool yaml_read(struct yaml *y, struct str text) {
    struct tree_file file = tree_read(text, y->arena);
    struct tree at = {.line = file.line, .column = file.column};
    y->documents = file.documents;
    return !file.wrong || yaml_wrong(y, &at, NULL, "not YAML: %s", file.wrong);
}

bool yaml_open(struct yaml *y) {
    struct str text;
    return yaml_text(y, &text) && yaml_read(y, text);
}

bool yaml_word(struct str text, void *member) {
    *(struct str *)member = text;
    return text.n > 0;
}

/* "name, grid, clock_mhz": for the hint. */
static const char *keys_of(const struct yaml *y, const struct yaml_field *fields, size_t n) {
    struct buf keys = {0};
    for (size_t i = 0; i < n; i++)
        buf_printf(&keys, "%s%s", i ? ", " : "the keys are ", fields[i].key);
    return buf_take(&keys, y->arena).p;
}

static bool read_field(const struct yaml *y, const struct tree *value, const struct yaml_field *f, void *out) {
    void *member = (char *)out + f->member;
    if (f->read ? value->kind == TREE_SCALAR && f->read(value->text, member) : value->kind != TREE_SCALAR) {
        if (!f->read)
            *(const struct tree **)member = value;
        return true;
    }
    return yaml_wrong(y, value, NULL, "%s takes %s", f->key, f->takes);
}

bool yaml_record(const struct yaml *y, const struct tree *map, const struct yaml_field *fields, size_t n, void *out) {
    uint64_t given = 0;
    if (map->kind != TREE_MAPPING)
        return yaml_wrong(y, map, keys_of(y, fields, n), "a mapping is expected");
    for (const struct tree *key = map->first; key; key = key->next) {
        size_t i = 0;
        while (i < n && !(key->kind == TREE_SCALAR && str_is(key->text, fields[i].key)))
            i++;
        if (i == n)
            return yaml_wrong(y, key, keys_of(y, fields, n), "unknown key: %.*s",
                              (int)(key->text.n < 80 ? key->text.n : 80), key->text.n ? key->text.p : "");
        if (given >> i & 1)
            return yaml_wrong(y, key, NULL, "%s is there twice", fields[i].key);
        if (!read_field(y, key->value, &fields[i], out))
            return false;
        given |= UINT64_C(1) << i;
    }
    for (size_t i = 0; i < n && !y->partial; i++)
        if (fields[i].needed && !(given >> i & 1))
            return yaml_wrong(y, map, NULL, "a key is missing: %s", fields[i].key);
    return true;
}
