/* fusion_todo.yml: entries, instances, and how they are written (libyaml).
 * The schema is that of fusion-todo(5), keys and nesting verbatim. */
#ifndef FA_REPORT_H
#define FA_REPORT_H

#include <stdio.h>

#include "base/base.h"
#include "place/classify.h"
#include "place/segment.h"
#include "report/spool.h"

struct instance {
    struct str ir_loc; /* "#loc12, #loc15", or location text where there is no alias; may be empty */
    struct segment ttir, ttnn;
    struct str notes;            /* lines, the last one newline-terminated */
    struct str validation;       /* lines of `key: value`; empty: the key is left out */
    struct classification class; /* part of the entry's key, where it is given */
    uint64_t order;              /* instances of an entry are written in this order */
};

/* An instance that was added: its text is in the spool. */
struct stored_instance {
    uint64_t order, at;
};

/* The text of a stored instance; views into the buffer that it was read to. */
struct instance_text {
    struct str ir_loc, ttir, ttnn, notes, validation;
};

struct report_entry {
    struct str fused_op, source;
    struct str *component_ops;
    uint32_t ncomponents;
    struct classification class;
    struct stored_instance *instances;
    uint32_t ninstances, instances_cap;
};

struct report {
    const char *ttir_path, *ttnn_path; /* NULL: level absent, key omitted */
    struct report_entry *entries;
    uint32_t nentries, entries_cap;
    struct arena arena; /* strings of the entries */
    struct spool spool;
    bool count_only;            /* nothing will be written: instances are counted, their text is dropped */
    struct report_index *index; /* entries by key (uthash), private to the room */
    struct buf key, text;       /* room for one, likewise */
};

/* Adds an instance to the entry of (fused_op, source, component_ops), made when it is new.
 * A zeroed report is empty. Everything is copied: the modules may go once this returns. */
void report_add(struct report *r, struct str fused_op, struct str source, const struct str *components, uint32_t n,
                struct instance instance);
/* Entries by number of instances (most first), then fused op, source, components; instances by `order`. */
void report_sort(struct report *r);
/* Reads an instance back. False when the spool cannot be read. */
bool report_instance(struct report *r, const struct stored_instance *s, struct buf *buffer, struct instance_text *out);
/* Writes YAML to an open stream. False when libyaml or the stream fails. */
bool report_print(struct report *r, FILE *out);
/* Writes to a temporary file beside `path` and renames it; "-" is standard output. A symbolic link stays: its
 * target is replaced. What is no regular file (/dev/stdout, a FIFO) is written straight.
 * False with the reason in `error`; `path` is then as it was. */
bool report_write(struct report *r, const char *path, char *error, size_t n);
/* Removes `path` when it is a regular file (no link) and a report of this tool: one YAML document, a mapping whose
 * keys are exactly `input`, a mapping, and `missed_fusions`, a list. True when it was removed. */
bool report_remove_stale(const char *path);
void report_free(struct report *r);

#endif
