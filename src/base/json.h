/* JSON as `inspect` and `explain` print it. Texts that are no valid UTF-8 are repaired on their way, since JSON cannot
 * carry them; what drives a terminal is escaped (utf8.h). */
#ifndef FA_JSON_H
#define FA_JSON_H

#include <stdio.h>

#include <json-c/json.h>

#include "base/base.h"

typedef struct json_object json;

json *json_map(void);
json *json_list(void);
json *json_text(struct str s);
json *json_number(uint64_t n);
json *json_real(double x); /* 0 where it is no number */
void json_append(json *list, json *item);
/* NULL is null. */
void json_put(json *object, const char *key, json *value);
void json_put_text(json *object, const char *key, struct str s);
void json_put_number(json *object, const char *key, uint64_t n);
void json_put_bool(json *object, const char *key, bool b);
/* Prints a whole document and frees it. */
void json_print(json *document, FILE *out);

#endif
