/* What the readers of pattern files share: nodes of YAML, their text and their places. Private to the room. */
#ifndef FA_LOADER_H
#define FA_LOADER_H

#include <yaml.h>

#include "library/pattern.h"

struct loader {
    struct pattern_set *set;
    struct diags *diags;
    const char *file;
    struct str text;    /* of the file */
    const char **lines; /* where its lines begin, and where the last one ends; NULL until loader_begin */
    uint32_t nlines;
    yaml_document_t doc;
    bool failed;
};

/* The text is there, to be read once. */
void loader_begin(struct loader *l);
void loader_end(struct loader *l);
/* Where a line of the file begins, counted from 1; the end of the text behind the last one. */
const char *line_begin(const struct loader *l, uint64_t line);
/* One error at a node (NULL: the whole file): `what` and `word`. Nothing of the file is loaded. */
void error_at(struct loader *l, const yaml_node_t *n, const char *hint, const char *what, struct str word);
void warn_at(struct loader *l, const yaml_node_t *n, const char *hint, const char *what, struct str word);
struct str scalar_text(const yaml_node_t *n);
struct str kept_text(struct loader *l, const yaml_node_t *n); /* a copy that lives as long as the set */
/* Where the text of a scalar starts in the file: a block scalar starts on the next line. */
struct text_origin origin_of(const struct loader *l, const yaml_node_t *n);
bool is_scalar(struct loader *l, const yaml_node_t *n);                               /* false with an error */
const yaml_node_t *lookup(struct loader *l, const yaml_node_t *map, const char *key); /* or NULL */

/* An error unless the key is one of these. The nearest one is the hint, else `hint`. */
void check_key(struct loader *l, const yaml_node_t *key, const char *const *keys, size_t n, const char *hint);

/* signs.c: the list `fused_ops`. */
void load_signs(struct loader *l, const yaml_node_t *list);
/* lowering.c: the list `lowering`, and what a set keeps of it. */
void load_lowerings(struct loader *l, const yaml_node_t *list);
void lowerings_free(struct pattern_set *set);
/* pattern.c: a condition over the names of a formula, or a list of them. */
void load_conditions(struct loader *l, const struct formula *f, const yaml_node_t *n, const struct number ***out,
                     uint32_t *count);
/* load_claim.c: the keys `outside` and `holds`. */
void load_outside(struct loader *l, struct pattern *p, const yaml_node_t *n);
void load_holds(struct loader *l, struct pattern *p, const yaml_node_t *n);
/* load_status.c: the key `status`. */
void load_status(struct loader *l, struct pattern *p, const yaml_node_t *n);
/* load_examples.c: the key `tests`. */
void load_examples(struct loader *l, struct pattern *p, const yaml_node_t *n);

#endif
