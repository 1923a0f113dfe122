#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>

json *json_map(void) {
    return made(json_object_new_object());
}

json *json_list(void) {
    return made(json_object_new_array());
}

void json_append(json *list, json *item) {
    if (json_object_array_add(list, item) != 0)
        out_of_memory();
}

json *json_text(struct str s) {
    struct buf scratch = {0};
    struct str clean = utf8_repair(s, &scratch);
    json *j = made(json_object_new_string_len(clean.p ? clean.p : "", (int)clean.n));
    buf_free(&scratch);
    return j;
}

json *json_number(uint64_t n) {
    return made(json_object_new_int64((int64_t)n));
}

json *json_real(double x) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", isfinite(x) ? x : 0);
    return made(json_object_new_double_s(isfinite(x) ? x : 0, text));
}

void json_put(json *object, const char *key, json *value) {
    if (json_object_object_add(object, key, value) != 0)
        out_of_memory();
}

void json_put_text(json *object, const char *key, struct str s) {
    json_put(object, key, json_text(s));
}

void json_put_number(json *object, const char *key, uint64_t n) {
    json_put(object, key, json_number(n));
}

void json_put_bool(json *object, const char *key, bool b) {
    json_put(object, key, made(json_object_new_boolean(b)));
}

/* json-c leaves out of a text what there is no memory for, and does not say so. It keeps the memory that it has got: a
 * second text is longer then, unless there is still none. */
void json_print(json *document, FILE *out) {
    int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    size_t first = 0, n = 0;
    (void)json_object_to_json_string_length(document, flags, &first);
    free(xrealloc(NULL, 2 * first));
    const char *text = json_object_to_json_string_length(document, flags, &n);
    if (!text || n != first)
        out_of_memory();
    print_clean((struct str){text, n}, "\n", out); /* blanks between tokens apart, all text is in strings */
    fputc('\n', out);
    json_object_put(document);
}
