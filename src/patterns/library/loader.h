/* Reading of pattern files: nodes of YAML, their positions, and the reader of each key. Private to the folder.
 *
 * Errors are added to the diagnostics at the node and set `failed`; readers return at once then. What is read is kept
 * in the arena of the set. */
#ifndef FA_LOADER_H
#define FA_LOADER_H

#include "base/record.h"
#include "patterns/library/pattern.h"

struct loader {
    struct record_reader in;
    struct pattern_set *set;
    struct text_file *file; /* NULL: loader_begin makes it */
    const char *tests_of;   /* the pattern file beside it, where it is a file of tests; else NULL */
    struct str text;        /* of the file */
    const char **lines;     /* where its lines begin, and where the last one ends */
    uint32_t nlines;
    struct tree_file trees;
    const struct tree *shared; /* the last document read with `defaults` or `rules`, or NULL */
};

/* Reads the text of a file and indexes its lines. */
void loader_begin(struct loader *l, const char *file, struct str text);
/* Where a line of the file begins, counted from 1; for lines behind the last one, the end of the text. */
const char *line_begin(const struct loader *l, uint64_t line);
/* An error or a warning at a node (NULL: the whole file): `what` followed by `word`. */
void error_at(struct loader *l, const struct tree *n, const char *hint, const char *what, struct str word);
void warn_at(struct loader *l, const struct tree *n, const char *hint, const char *what, struct str word);
/* Where the text of a scalar starts in the file: a block scalar starts on the next line. */
struct text_origin origin_of(const struct loader *l, const struct tree *n);
bool is_scalar(struct loader *l, const struct tree *n); /* false with an error */

/* The items of a list; what is no list is its own only item. */
const struct tree *items_of(const struct tree *n);
/* How many they are. */
uint32_t count_items(const struct tree *n);
/* A mapping into the struct `out`, whose fields are named as its keys. */
#define READ_RECORD(l, n, fields, example, out)                                                                        \
    record_read(&(l)->in, n, fields, sizeof(fields) / sizeof *(fields), example, out)

/* Adds an item to a list of a struct that grows in an arena: to->list, to->nlist, to->list_cap. */
#define APPEND(arena, to, list, ...)                                                                                   \
    ((to)->list = arena_grow(arena, (to)->list, &(to)->list##_cap, (to)->n##list + 1, sizeof *(to)->list),             \
     (to)->list[(to)->n##list++] = __VA_ARGS__)

/* ---- items of the sections of files ---- */
void load_definition(struct loader *l, const struct tree *n); /* load_sections.c: `define` */
void load_location(struct loader *l, const struct tree *n);   /* load_sections.c: `locations` */
void load_sign(struct loader *l, const struct tree *n);       /* signs.c: `fused_ops` */
void load_library(struct loader *l, const struct tree *n);    /* load_sections.c: `library` */
void load_demand(struct loader *l, const struct tree *n);     /* demands.c: `demands` */
void load_pass(struct loader *l, const struct tree *n);       /* load_sections.c: `passes` */
void load_option(struct loader *l, const struct tree *n);     /* load_sections.c: `options` */
void load_unchecked(struct loader *l, const struct tree *n);  /* load_sections.c: `unchecked` */
void load_fact(struct loader *l, const struct tree *n);       /* history.c: `had` */
void load_printed(struct loader *l, const struct tree *n);    /* history.c: `prints` */
void load_version(struct loader *l, const struct tree *n);    /* load_sections.c: `compiler` */

/* ---- patterns ---- */
/* load_pattern.c: a whole one, which is not yet part of the set. Incomplete after an error. */
struct pattern *load_pattern(struct loader *l, const struct tree *map);
/* family.c: how many patterns a document with the key `for` is (0 with an error), and the document of one of them. */
uint32_t family_size(struct loader *l, const struct tree *root);
const struct tree *family_member(const struct loader *l, const struct tree *root, uint32_t member);
/* load_pattern.c: `defaults` and `rules`, for the patterns that follow in the file. */
void load_shared(struct loader *l, const struct tree *root);
/* load_rules.c: a condition over the names of a formula or a list of them; texts, each with a condition or without, or
 * the names of such rules in `rules`; at most 8 names of the formula. */
void load_conditions(struct loader *l, const struct formula *f, const struct tree *n, const struct number ***out,
                     uint32_t *count);
/* One condition; NULL with an error. */
const struct number *load_condition(struct loader *l, const struct formula *f, const struct tree *n);
/* Two conditions, or what `op` makes of one. */
const struct number *joined(struct loader *l, enum number_op op, const struct number *a, const struct number *b);
void load_rules(struct loader *l, const struct formula *f, const struct tree *n, struct note_rule **rules,
                uint32_t *count);
void load_names(struct loader *l, const struct pattern *p, const struct tree *n, uint32_t *out, uint32_t *count);
/* lowering.c: what an op computes. */
void add_lowering(struct loader *l, const struct tree *n, const struct idiom *op, struct str source);
/* lowering.c: the keys `fused`, and each of `holds`. NULL with an error. */
struct form *load_form(struct loader *l, const struct pattern *p, const struct tree *n);
/* load_assumptions.c, load_status.c, load_examples.c: the keys `outside`, `holds`, `status` and `tests`. */
void load_outside(struct loader *l, struct pattern *p, const struct tree *n);
void load_holds(struct loader *l, struct pattern *p, const struct tree *n);
void load_status(struct loader *l, struct pattern *p, const struct tree *n);
void load_examples(struct loader *l, struct pattern *p, const struct tree *n);
/* demands.c: adds to a whole pattern what its fused op demands: notes, and conditions where nothing helps. */
void add_demands(struct loader *l, struct pattern *p);
/* load_examples.c: the tests of the patterns that were read from the file `patterns`, by their names. */
void load_test_document(struct loader *l, const char *patterns, const struct tree *map);

/* ---- pattern_set.c ---- */
/* The one that counts by this name, or NULL. */
struct pattern *find_pattern(const struct pattern_set *set, struct str name);
/* "did you mean X?" of the pattern with the nearest name; else `hint`. */
const char *nearest_pattern_name(struct pattern_set *set, struct str name, const char *hint);
/* Adds it in place of the one of the same name, if there is one. */
void add_pattern(struct pattern_set *set, struct pattern *p);
/* Takes a pattern out; `by` (or NULL) gets its place in the order. */
void retire_pattern(struct pattern_set *set, struct pattern *p, struct pattern *by);

#endif
