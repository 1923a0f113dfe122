/* Mappings of YAML files that people write, read by tables of their keys. A key that is unknown, stands there twice or
 * is missing, and a value that is none are errors at their places. */
#ifndef FA_RECORD_H
#define FA_RECORD_H

#include <stddef.h>

#include "base/tree.h"

/* What reads a file. After an error `failed` is set, and readers return at once. */
struct record_reader {
    const char *file;
    struct arena *arena;
    struct diags *diags;
    bool failed;
    bool partial; /* no key is missed */
};

enum field_kind {
    FIELD_TEXT,   /* struct str */
    FIELD_SCALAR, /* const struct tree *, which is a text */
    FIELD_TREE,   /* const struct tree * */
    FIELD_NESTED, /* const struct tree *, which is a list or a mapping */
    FIELD_FLAG,   /* bool: true or false */
    FIELD_VALUE   /* what `read` makes of a text; false: it is no such value */
};

struct field {
    const char *key;
    enum field_kind kind;
    bool required;
    size_t to; /* where it goes in the struct that is read */
    bool (*read)(struct str text, void *to);
    const char *takes; /* "a date such as 2027-01-31", for what is none; or NULL */
};

/* An error at a node (NULL: the whole file): `what` followed by `word`. False. */
bool record_error(struct record_reader *r, const struct tree *at, const char *hint, const char *what, struct str word);
/* An error where it is no mapping, or a key of it is none of these or stands there twice. The nearest one is the hint,
 * else `example`. */
bool record_check_keys(struct record_reader *r, const struct tree *map, const char *const *keys, size_t n,
                       const char *example);
/* Reads the fields that are there into `out`. `example` is a hint at mistakes; NULL: the keys are. */
bool record_read(struct record_reader *r, const struct tree *map, const struct field *fields, size_t n,
                 const char *example, void *out);

#endif
