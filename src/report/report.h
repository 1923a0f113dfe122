/* The report, fusion_todo.yml: entries with their findings. The schema is that of fusion-todo(5), keys and nesting
 * verbatim. */
#ifndef FA_REPORT_H
#define FA_REPORT_H

#include <stdio.h>

#include "base/base.h"
#include "report/finding.h"
#include "report/time/times.h"

/* Findings of one fused op, source, list of component ops, class and action, whose reason is that of the first one. */
struct report_entry {
    struct finding **findings; /* some of the report's; what saves most comes first */
    uint32_t nfindings, nplaces, ndifferent;
    double saved;      /* by those that count: its part of that of the report */
    double undone;     /* the part of it that the first of two options saves alone */
    double by_pass;    /* of it, what a pass saves that fuses and no more */
    double around;     /* what they save around their places */
    double alone;      /* by all of them, if each had its ops for itself */
    uint32_t agreeing; /* findings whose proofs say what that of the first one says */
};

/* Of the compiler: where its options are set. */
#define REPORT_PIPELINE "ttir-to-ttnn-backend-pipeline"

/* What an option saves, once those before it are set. */
struct promise {
    struct str option, needs; /* needs: of the compiler; or empty */
    struct str spelled;       /* how who called the compiler sets it alone, as of struct todo; or empty */
    double saved;
    double parts;             /* some of it, at parts of places that take more than options */
    double around;            /* some of it, around the places */
    const struct finding *of; /* that it is a part of; or NULL */
    bool at_most;             /* it is a bound: some of it hangs on what is not known */
    bool second;              /* of a pair, or it needs something of the compiler */
};

/* What fusing has to save at all places of an entry together; not given: a launch, or time as it is said. */
struct least_saving {
    bool given;
    bool by_effort;   /* it is not, and what has to be made first has to save a part of the time of all ops */
    double us, share; /* share: of the time of all ops */
};

/* What the ops of one layer take. */
struct layer_time {
    struct str name;     /* "layer 3"; empty: of none */
    double us, saved_us; /* saved_us: its part of that of the report */
    uint32_t graph;
};

struct report {
    const char *ttir_path, *ttnn_path; /* NULL: level absent, key omitted */
    struct finding_list findings;
    struct report_entry *entries; /* by report_sort, none of them empty */
    uint32_t nentries, entries_cap;
    struct arena arena;        /* owns the findings */
    struct str version;        /* when the compiler of the module was made, as of which passes are spoken of */
    struct str device;         /* that was priced: "n150 assumed" where the module states none */
    struct layer_time *layers; /* of each graph, as its ops come; none where no name tells layers */
    uint32_t nlayers, layers_cap;
    struct op_times times; /* of ops; rows where fa_audit_options.times asks for them */
    struct promise
        *parts; /* at parts of places that take more; `option`, `spelled`, `saved`, `of` and `at_most` only */
    uint32_t nparts, parts_cap;
    double total_us, saved_us;   /* the model as it is, and what its time falls by if all that counts is done */
    uint32_t npaired, nunpaired; /* compute ops of TTNN, by whether their TTIR is known */
    struct least_saving least;   /* --min-saving */
    uint32_t nslower;            /* places that are not reported since fusing them is estimated to save nothing */
    uint32_t nsmall;             /* places that are not reported since fusing them saves too little */
    bool compared;               /* with a baseline: those that it does not know are new */
    struct finding_list gone;    /* of the baseline: fused op, place and fingerprint alone are known */
    double before_us;            /* total_us when that was written; 0: not known */
    bool details;                /* --details */
    bool counted;                /* a finding may stand for several places, and has no texts: for a summary */
    bool partial;                /* not all patterns were searched for */
};

/* Adds a copy, which is returned: the modules may be freed, the pattern and the device may not. */
struct finding *report_add(struct report *r, const struct finding *f);
/* In us. */
double report_least_us(const struct report *r);
/* Leaves out entries that save too little, and sorts the others: direct fusions, then theoretical ones, each by what
 * all their findings save; those that are slower last. Among equals by number of findings, most first, then by fused
 * op, source, components. Findings by what they save, else in the order in which they were added. */
void report_sort(struct report *r);
/* The notes of a finding as they are printed: the first of an entry says what is to be done. */
struct str report_notes(const struct report *r, const struct report_entry *e, const struct finding *f,
                        struct note_lines *out);
/* How many places its findings stand for, and how many of them a baseline knows. */
uint32_t report_places(const struct report *r);
uint32_t report_known(const struct report *r);
/* How many fused ops they have, of all or of those that are new; several entries may have one. */
uint32_t report_fused_ops(const struct report *r, bool new_only);
static inline const struct todo *entry_todo(const struct report_entry *e) {
    return &e->findings[0]->todo;
}
/* The part of an entry that a baseline knows, or does not. */
struct entry_share {
    uint32_t n;
    double saved;
    bool fails; /* one of it does */
};
struct entry_share entry_share(const struct report_entry *e, bool known);
/* Of the different options that entries ask for, number i; NULL beyond the last. */
const struct todo *report_setting(const struct report *r, size_t i);
/* What options save, in the order in which they are best set. To be freed. */
struct promise *report_promises(const struct report *r, uint32_t *n);
/* The file that decides, from the working directory if it lies below it. */
const char *report_path(const struct report *r);
/* A path as part of a URI. */
void add_uri(struct buf *out, struct str path);
/* Of that file, a URI in `out`. False: it is relative. */
bool report_uri(const struct report *r, struct buf *out);
/* "1.2 ms", "9.5 us". */
void report_add_time(struct buf *out, double us);
/* Prints what was found as a table, its lines at most `width` columns wide: in the order of the entries, what asks for
 * the same option in one row, requests for kernels in a line below. `name`: of the report. */
void report_summary(const struct report *r, const char *name, uint32_t width, FILE *out);
/* Prints to an open stream. False when libyaml or the stream fails; errno tells why, 0 for libyaml. The caller flushes
 * the stream. */
bool report_print(const struct report *r, FILE *out);
bool report_print_json(const struct report *r, FILE *out);
bool report_print_markdown(const struct report *r, FILE *out);
bool report_print_sarif(const struct report *r, FILE *out);
bool report_print_github(const struct report *r, FILE *out);
bool report_print_gitlab(const struct report *r, FILE *out);
/* Where the time goes, as text, which begins so. */
#define TIMES_BEGIN "Time of all ops: "
bool report_print_times(const struct report *r, FILE *out);
/* The same as keys of a document. */
void report_write_times(struct writer *w, const struct report *r);
extern const struct report_format {
    const char *name, *file; /* where it goes by default */
    const char *begins;      /* what such a file begins with */
    bool (*print)(const struct report *r, FILE *out);
} report_formats[]; /* up to one without a name */
/* NULL: there is none of that name. */
const struct report_format *report_format_named(const char *name);
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
