#include "base/json.h"
#include "base/utf8.h"

json *json_text(struct str s) {
    struct buf scratch = {0};
    struct str clean = utf8_repair(s, &scratch);
    json *j = json_object_new_string_len(clean.p ? clean.p : "", (int)clean.n);
    buf_free(&scratch);
    return j;
}

json *json_number(uint64_t n) {
    return json_object_new_int64((int64_t)n);
}

void json_put(json *object, const char *key, json *value) {
    json_object_object_add(object, key, value);
}

void json_put_text(json *object, const char *key, struct str s) {
    json_put(object, key, json_text(s));
}

void json_put_number(json *object, const char *key, uint64_t n) {
    json_put(object, key, json_number(n));
}

void json_put_bool(json *object, const char *key, bool b) {
    json_put(object, key, json_object_new_boolean(b));
}

void json_print(json *document, FILE *out) {
    size_t n = 0;
    const char *text = json_object_to_json_string_length(
        document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    if (text)
        print_clean((struct str){text, n}, "\n", out); /* blanks between tokens apart, all text is in strings */
    fputc('\n', out);
    json_object_put(document);
}
