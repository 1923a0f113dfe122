#include "input/unpack/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "input/unpack/source.h"

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

bool yaml_record(const struct yaml *y, const struct tree *map, const struct field *fields, size_t n, void *out) {
    struct record_reader r = {.file = y->path, .arena = y->arena, .diags = y->diags, .partial = y->partial};
    return record_read(&r, map, fields, n, y->form, out);
}
