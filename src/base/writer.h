/* One document in YAML or JSON, written piece by piece to a stream, or in text. Text that is no valid UTF-8 is repaired
 * on its way, what drives a terminal is escaped (utf8.h). The bytes of a YAML text are kept for every reader: its style
 * is chosen so that YAML 1.1 and 1.2 read the same. */
#ifndef FA_WRITER_H
#define FA_WRITER_H

#include <stdio.h>
#include <yaml.h>

#include "base/template.h"

enum markup { MARKUP_YAML, MARKUP_JSON, MARKUP_TEXT };
/* In YAML. TEXT_NAME: a name or a path, plain where it is safe. TEXT_BLOCK: lines, a literal block where that keeps
 * them. */
enum text_style { TEXT_QUOTED, TEXT_NAME, TEXT_BLOCK };

enum { WRITER_DEPTH = 16 /* that documents nest at most */ };

struct writer {
    enum markup markup;
    FILE *out;
    bool ok;
    yaml_emitter_t yaml;
    struct buf scratch;
    uint32_t depth; /* open maps and lists */
    bool is_list[WRITER_DEPTH], is_begun[WRITER_DEPTH];
    bool after_key; /* not in YAML */
    /* of a text */
    const struct template *templates;
    struct arena arena;
    struct tree *root, *open[WRITER_DEPTH], *last[WRITER_DEPTH]; /* last: child of an open one */
};

void write_begin(struct writer *w, enum markup markup, FILE *out);
/* Begins one that is a map, in JSON with the version of what writes it. */
void write_document(struct writer *w, enum markup markup, FILE *out);
/* The same of one that is printed as text at its end: what the templates make of its tree, in which null is an empty
 * text. */
void write_as_text(struct writer *w, const struct template *templates, FILE *out);
/* Ends the document and frees the writer. False when libyaml fails, or the stream as it writes; errno tells why, 0 for
 * libyaml. */
bool write_end(struct writer *w);
void write_map(struct writer *w);
void write_list(struct writer *w);
/* Ends the map or list that was begun last. */
void write_close(struct writer *w);
void write_key(struct writer *w, struct str key);
void write_text(struct writer *w, struct str s, enum text_style style);
/* A number as it is written: digits, a point, an exponent. */
void write_figure(struct writer *w, struct str digits);
void write_number(struct writer *w, uint64_t n);
void write_real(struct writer *w, double x); /* 0 where it is no number */
void write_bool(struct writer *w, bool b);
void write_null(struct writer *w);

/* A key and what is behind it. */
void write_pair(struct writer *w, const char *key, struct str s, enum text_style style);
void write_pair_number(struct writer *w, const char *key, uint64_t n);
void write_pair_bool(struct writer *w, const char *key, bool b);
void write_pair_real(struct writer *w, const char *key, double x);
void write_pair_positive(struct writer *w, const char *key, double x); /* nothing where it is not above 0 */
void write_pair_null(struct writer *w, const char *key);
void write_map_at(struct writer *w, const char *key);
void write_list_at(struct writer *w, const char *key);
/* Nothing where the text is empty. */
void write_pair_if_any(struct writer *w, const char *key, struct str s, enum text_style style);
/* A list of names. */
void write_names(struct writer *w, const char *key, struct str_list names);
/* Null where the text is empty. */
void write_pair_or_null(struct writer *w, const char *key, struct str s, enum text_style style);
void write_figures(struct writer *w, const char *key, struct figures f); /* a map; nothing where there are none */

/* A literal block keeps its bytes. */
bool is_literal_text(struct str s);

#endif
