/* A YAML file as trees of nodes in an arena, one for each document. */
#ifndef FA_TREE_H
#define FA_TREE_H

#include "base/base.h"

enum tree_kind { TREE_SCALAR, TREE_SEQUENCE, TREE_MAPPING };

struct tree {
    enum tree_kind kind;
    bool block;                      /* TREE_SCALAR: its text begins on the next line */
    uint32_t column;                 /* from 1, in characters */
    uint64_t line;                   /* from 1 */
    struct str text;                 /* TREE_SCALAR, ends with a NUL */
    uint32_t n;                      /* children */
    const struct tree *first, *next; /* children: the keys of a mapping */
    const struct tree *value;        /* of a key */
};

/* A file that has been read. Where it is no YAML there is a message, and its place. */
struct tree_file {
    const struct tree *documents; /* linked by `next` */
    const char *wrong;
    uint64_t line;
    uint32_t column;
};

/* Nodes and texts are in the arena. */
struct tree_file tree_read(struct str text, struct arena *a);
/* The value of a key of a mapping, or NULL. */
const struct tree *tree_lookup(const struct tree *map, const char *key);
const struct tree *tree_lookup_str(const struct tree *map, struct str key);

#endif
