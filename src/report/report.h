/* The report, fusion_todo.yml: entries with their instances, printed as YAML. The schema is that of fusion-todo(5),
 * keys and nesting verbatim. */
#ifndef FA_REPORT_H
#define FA_REPORT_H

#include <stdio.h>

#include "base/base.h"
#include "place/fingerprint.h"
#include "place/notes.h"
#include "place/segment.h"
#include "report/spool.h"
#include "report/suppress.h"

/* One place where a fusion is missed. */
struct instance {
    const struct pattern *pattern;
    struct str ir_loc; /* "#loc12, #loc15", or location text where there is no alias; may be empty */
    struct segment ttir, ttnn;
    struct str notes;            /* lines, the last one newline-terminated */
    struct note_marks marks;     /* in them */
    struct str validation, cost; /* lines of `key: value`; empty: not printed */
    struct str label;            /* "%12 (ttnn.add)": what others call it */
    double saved;                /* us; below 0: fusing is slower */
    uint64_t order;              /* sort key within the entry: graph number, then op */
    struct fingerprint fingerprint;
    uint64_t alike;  /* hash of all but names and locations; 0: like no other */
    uint64_t reason; /* hash of why, without names and numbers */
};

/* An instance that was added: its text is in the spool, at offset `at`. */
struct stored_instance {
    uint64_t order, at;
    double saved;
    struct instance_group *group; /* of those that are alike; or NULL */
    struct fingerprint fingerprint;
    const struct report_rule *rule; /* NULL: the pattern is not known */
    const char *known;              /* why it is no news; NULL: it is */
};

/* A place that is no instance: suppressed, or known and gone. */
struct left_out {
    struct str rule;                           /* the pattern; or empty */
    struct str fused_op, label, place, reason; /* copies; label and place may be empty */
    struct fingerprint fingerprint;            /* of what is gone */
    uint64_t line;                             /* in the level that decides; 0: nowhere */
    bool gone;
};

/* A pattern that found something. */
struct report_rule {
    struct str name, summary, match, fused_op, source;
    uint32_t number;
    struct report_rule *next;
};

/* The text of a stored instance: views of the buffer that it was read into. */
struct instance_text {
    struct str ir_loc, ttir, ttnn, notes, validation, cost, label;
    struct str ttir_lines, ttnn_lines; /* "12-14, 20" */
    struct span verdict, compiler;     /* in the notes */
};

/* What all instances of an entry have in common. */
struct entry_key {
    struct str fused_op, source;
    struct str_list component_ops;
    struct classification class; /* where it is given */
};

/* What is to be done about some instances of an entry. */
struct entry_todo {
    struct todo todo; /* as of the instance that saves most */
    double saved;     /* by all of them */
    double most;      /* by one */
    uint32_t nplaces, ndifferent;
    uint64_t reason; /* of the first */
    bool reasons_differ;
};

struct report_entry {
    struct entry_key key;
    struct entry_todo *todos;
    uint32_t ntodos, todos_cap;
    struct stored_instance *instances;
    uint32_t ninstances, instances_cap;
    double saved; /* by all of them */
};

/* SORT_SAVING: direct fusions, then theoretical ones, each by what all their instances save; those that are slower
 * last. Among equals, and by SORT_COUNT, by number of instances (most first), then, and by SORT_NAME, by fused op,
 * source, components. Instances by what they save, else by `order`. */
enum report_order { SORT_SAVING, SORT_COUNT, SORT_NAME };

struct report {
    const char *ttir_path, *ttnn_path; /* NULL: level absent, key omitted */
    struct report_entry *entries;
    uint32_t nentries, entries_cap;
    struct arena arena; /* owns the strings of the entries */
    struct spool spool;
    struct str version;            /* of the compiler, where the notes speak of its passes */
    struct str device;             /* that was priced, where the module does not state it */
    double total_us, saved_us;     /* the model as it is; what all instances save that do not exclude one another */
    uint32_t npaired, nunpaired;   /* compute ops of TTNN, by whether their TTIR is known */
    struct suppressions *suppress; /* --suppress, which counts them; or NULL */
    struct left_out *left_out;
    uint32_t nleft_out, left_out_cap, nsuppressed;
    bool details;                  /* --details */
    enum report_order sorted;      /* by report_sort */
    bool compared;                 /* with a baseline: those that it does not know are new */
    struct report_rule *rules;     /* the last one first */
    bool count_only;               /* nothing will be printed: instances are counted, their text is dropped */
    struct report_index *index;    /* private: entries by key */
    struct instance_group *groups; /* private: by hash */
    struct buf key, text;          /* private: scratch */
};

/* Adds an instance to the entry with this key, which is made when it is new. A zeroed report is empty. Everything is
 * copied: the modules may be freed once this returns. */
void report_add(struct report *r, const struct entry_key *key, const struct instance *instance);
/* Keeps a place that is left out, for the formats that say so. Its texts are copied. */
void report_leave_out(struct report *r, const struct left_out *x);
/* Sorts as --sort says. */
void report_sort(struct report *r, enum report_order by);
/* Reads an instance back. False when the spool could not be written or read. */
bool report_instance(struct report *r, const struct stored_instance *s, struct buf *buffer, struct instance_text *out);
/* The notes of an instance that was read back, as they are printed: where an earlier one is alike, its proof and what
 * the compiler did are one line that names that one; the first of an entry says what is to be done. */
struct str report_notes(struct report *r, const struct report_entry *e, const struct stored_instance *s,
                        const struct instance_text *text, struct buf *buffer);
/* What is to be done about an entry, in one line. */
void report_action(const struct report *r, const struct report_entry *e, struct buf *out);
/* "1.2 ms", "9.5 us". */
void report_add_time(struct buf *out, double us);
/* Prints what was found as a table, its lines at most `width` columns wide: in the order of the entries, what asks for
 * the same option in one row, requests for kernels in a line below. `name`: of the report. */
void report_summary(const struct report *r, const char *name, uint32_t width, bool colour, FILE *out);
/* What a format prints: report_walk calls these, those that are not NULL, in this order. Texts are views that the next
 * call changes. */
struct report_visitor {
    void (*entry)(void *context, const struct report_entry *e);
    void (*instance)(void *context, const struct report_entry *e, const struct stored_instance *s,
                     const struct instance_text *text); /* its notes as they are printed */
    void (*end_entry)(void *context, const struct report_entry *e);
};

/* Goes over all findings in the order of the report. False when the spool cannot be read. */
bool report_walk(struct report *r, const struct report_visitor *visitor, void *context);
/* Prints to an open stream. False when the spool or libyaml fails; errno tells why, 0 for libyaml. The
 * caller flushes the stream. */
bool report_print(struct report *r, FILE *out);
bool report_print_json(struct report *r, FILE *out);
bool report_print_markdown(struct report *r, FILE *out);
bool report_print_sarif(struct report *r, FILE *out);
/* By its name: "yaml", "json", "markdown", "sarif"; NULL: there is none. */
const struct report_format *report_format_named(const char *name);
extern const struct report_format {
    const char *name, *file; /* where it goes by default */
    bool (*print)(struct report *r, FILE *out);
} report_formats[];
enum { REPORT_FORMATS = 4 };
/* Writes it to a file (file.h). */
bool report_write(struct report *r, const struct report_format *format, const char *path, char *error, size_t n);
/* What reports on one input begin with. */
struct report_head {
    const char *keys[3]; /* of the document: `input`, and those of collections */
    int nkeys;
    const char *input[2]; /* keys of `input` */
    const char *paths[2]; /* what they say; NULL: the key is not there */
};
/* Removes an old report on the same input. `path` must be a regular file (no link) with one YAML document, a mapping
 * of exactly these keys. True when it was removed. */
bool remove_stale(const struct report_head *h, const char *path);
/* The same where `r` has no findings. */
bool report_remove_stale(const struct report *r, const char *path);
void report_free(struct report *r);

#endif
