/* YAML files that people write beside patterns: each is read whole, and each mapping of a fixed form by a table of its
 * fields. */
#ifndef FA_YAML_H
#define FA_YAML_H

#include "base/record.h"

struct yaml {
    const char *path;
    const char *form; /* what such a file is like: said with each error that has no hint; or NULL */
    struct arena *arena;
    struct diags *diags;
    const struct tree *documents; /* linked by `next` */
    bool partial;                 /* no key is missed in a record */
};

/* The bytes of a file, as inputs are read: unpacked, "-" is standard input. An empty one is a text. False with a
 * diagnostic. */
bool yaml_text(const struct yaml *y, struct str *out);
/* The trees of a file, or of a text that it holds. False with a diagnostic. */
bool yaml_open(struct yaml *y);
bool yaml_read(struct yaml *y, struct str text);
/* An error at a node (NULL: of the file). False. */
bool yaml_wrong(const struct yaml *y, const struct tree *at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads a mapping. False with a diagnostic. */
bool yaml_record(const struct yaml *y, const struct tree *map, const struct field *fields, size_t n, void *out);
/* For struct str: any text that is not empty. */
bool yaml_word(struct str text, void *member);

#endif
