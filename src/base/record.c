#include "base/record.h"

enum { MOST_KEYS = 64 };

bool record_error(struct record_reader *r, const struct tree *at, const char *hint, const char *what, struct str word) {
    struct source_location place = {r->file, at ? at->line : 0, at ? at->column : 0};
    diag_add(r->diags, SEV_ERROR, place, hint, "%s%.*s", what, (int)word.n, word.n ? word.p : "");
    r->failed = true;
    return false;
}

static bool is_one_of(struct str key, const char *const *keys, size_t n) {
    for (size_t i = 0; i < n && key.n; i++)
        if (*key.p == *keys[i] && str_is(key, keys[i]))
            return true;
    return false;
}

/* "the keys are name, grid" */
static const char *list_of(const struct record_reader *r, const char *const *keys, size_t n) {
    struct str list = STR("the keys are ");
    for (size_t i = 0; i < n; i++)
        list = arena_printf(r->arena, "%s%s%s", list.p, i ? ", " : "", keys[i]);
    return list.p;
}

static bool check_key(struct record_reader *r, const struct tree *map, const struct tree *key, const char *const *keys,
                      size_t n, const char *example) {
    if (key->kind != TREE_SCALAR)
        return record_error(r, key, example, "a key is a text", STR(""));
    if (!is_one_of(key->text, keys, n)) {
        const char *nearest = str_nearest(key->text, keys, n);
        const char *hint = nearest ? arena_printf(r->arena, "did you mean %s?", nearest).p : example;
        struct str text = {key->text.p, key->text.n < 80 ? key->text.n : 80};
        return record_error(r, key, hint ? hint : list_of(r, keys, n), "unknown key: ", text);
    }
    for (const struct tree *earlier = map->first; earlier != key; earlier = earlier->next)
        if (str_eq(earlier->text, key->text))
            return record_error(r, key, NULL, "the key stands there twice: ", key->text);
    return true;
}

bool record_check_keys(struct record_reader *r, const struct tree *map, const char *const *keys, size_t n,
                       const char *example) {
    if (map->kind != TREE_MAPPING)
        return record_error(r, map, example, "keys and their values are meant", STR(""));
    for (const struct tree *k = map->first; k && !r->failed; k = k->next)
        check_key(r, map, k, keys, n, example);
    return !r->failed;
}

static bool read_flag(struct str text, bool *to) {
    *to = str_is(text, "true");
    return *to || str_is(text, "false");
}

static bool takes(const struct field *f, const struct tree *value, void *to) {
    bool text = value->kind == TREE_SCALAR;
    switch (f->kind) {
    case FIELD_TREE:
    case FIELD_SCALAR:
    case FIELD_NESTED:
        *(const struct tree **)to = value;
        return f->kind == FIELD_TREE || text == (f->kind == FIELD_SCALAR);
    case FIELD_TEXT:
        *(struct str *)to = value->text;
        return text;
    case FIELD_FLAG:
        return text && read_flag(value->text, to);
    case FIELD_VALUE:
        return text && f->read(value->text, to);
    }
    return false;
}

static bool read_field(struct record_reader *r, const struct field *f, const struct tree *value, const char *example,
                       void *to) {
    if (takes(f, value, to))
        return true;
    if (f->takes)
        return record_error(r, value, example, arena_printf(r->arena, "%s takes ", f->key).p, str_of(f->takes));
    if (value->kind != TREE_SCALAR)
        return record_error(r, value, NULL, "text expected", STR(""));
    return record_error(r, value, f->kind == FIELD_FLAG ? "true or false" : example, "not a value of ", str_of(f->key));
}

bool record_read(struct record_reader *r, const struct tree *map, const struct field *fields, size_t n,
                 const char *example, void *out) {
    const char *keys[MOST_KEYS] = {NULL};
    for (size_t i = 0; i < n; i++)
        keys[i] = fields[i].key;
    if (!record_check_keys(r, map, keys, n, example))
        return false;
    for (size_t i = 0; i < n && !r->failed; i++) {
        const struct tree *value = tree_lookup(map, fields[i].key);
        if (value)
            read_field(r, &fields[i], value, example, (char *)out + fields[i].to);
    }
    for (size_t i = 0; i < n && !r->failed && !r->partial; i++)
        if (fields[i].required && !tree_lookup(map, fields[i].key))
            record_error(r, map, example, "lacks the key ", str_of(fields[i].key));
    return !r->failed;
}
