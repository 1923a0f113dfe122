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
    uint64_t kind;               /* a hash of what the key is told by, the names of known ops above all; 0: not told */
    struct str stored;           /* instance_text of it, where that is at hand; else empty */
};

/* An instance that was added: its text is in the spool. */
struct stored {
    uint64_t order, at;
};

/* The text of a stored instance; views into the buffer that it was read to. */
struct written {
    struct str ir_loc, ttir, ttnn, notes, validation;
};

struct entry {
    struct str fused_op, source;
    struct str *component_ops;
    uint32_t ncomponents;
    struct classification class;
    struct stored *instances;
    uint32_t ninstances, instances_cap;
};

enum { REPORT_LAST_BITS = 10, REPORT_LAST = 1 << REPORT_LAST_BITS };

struct report_kind {
    uint64_t kind; /* 0: none */
    uint32_t entry;
};

struct report {
    const char *ttir_path, *ttnn_path; /* NULL: level absent, key omitted */
    struct entry *entries;
    uint32_t nentries, entries_cap;
    struct arena arena; /* strings of the entries */
    struct spool spool;
    uint32_t jobs;                        /* threads that print; 0: one */
    bool count_only;                      /* nothing will be written: instances are counted, their text is dropped */
    struct report_index *index;           /* entries by key (uthash), private to the room */
    struct buf key, text;                 /* room for one, likewise */
    struct report_kind last[REPORT_LAST]; /* entries found last, by kind */
};

/* Adds an instance to the entry of (fused_op, source, component_ops), made when it is new.
 * A zeroed report is empty. Everything is copied: the modules may go once this returns. */
void report_add(struct report *r, struct str fused_op, struct str source, const struct str *components, uint32_t n,
                struct instance instance);
/* The same, to the entry that an instance of this kind was added to lately. False: not known. */
bool report_add_again(struct report *r, struct instance instance);
/* The texts of an instance as they are put aside, replacing what `out` holds: may be made by another thread than the
 * one that adds the instance. */
void instance_text(const struct instance *in, struct buf *out);
/* Entries by number of instances (most first), then fused op, source, components; instances by `order`. */
void report_sort(struct report *r);
/* Reads an instance back. False when the spool cannot be read. */
bool report_instance(struct report *r, const struct stored *s, struct buf *buffer, struct written *out);
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
