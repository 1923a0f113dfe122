/* Writes one YAML document as a stream of libyaml events: UTF-8 unescaped, no line width, no document marks, block
 * mappings and block sequences. Text that is no valid UTF-8 is repaired first, so that it can always be read; what
 * drives a terminal is escaped, for which text.h has it double quoted. After an error nothing more is emitted. */
#ifndef FA_EMIT_H
#define FA_EMIT_H

#include <stdio.h>
#include <yaml.h>

#include "base/base.h"

struct emitter {
    yaml_emitter_t yaml;
    bool ok;
    struct buf utf8; /* scratch */
};

void emit_begin(struct emitter *e, FILE *out);
/* Ends the document and frees the emitter. False when libyaml fails, or the stream as it writes; errno tells
 * why, 0 for libyaml. */
bool emit_end(struct emitter *e);
void emit_mapping(struct emitter *e);
void emit_end_mapping(struct emitter *e);
/* A key and the list behind it. */
void emit_list(struct emitter *e, const char *key);
void emit_end_list(struct emitter *e);
void emit_key(struct emitter *e, const char *key);
/* A name or a path: plain where that is safe. */
void emit_name(struct emitter *e, struct str s);
void emit_pair(struct emitter *e, const char *key, struct str name);
/* In this style whatever it is. */
void emit_scalar(struct emitter *e, struct str s, yaml_scalar_style_t style);
void emit_block(struct emitter *e, const char *key, struct str s);

#endif
