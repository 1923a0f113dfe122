/* fusion-audit: finds op fusions that a Tenstorrent compile missed.
 *
 * The public C API. Each call takes one struct of options, of which a zeroed one but for `inputs` is a good one, and
 * makes an object that is read with the functions below it and freed once. It is never NULL. Pointers must not be NULL,
 * and indices not beyond the counts, except where it says so.
 *
 * Errors. What is wrong with input, options or pattern files is a status, and a diagnostic in the object. Functions
 * print only to the FILE that they are given (fa_write_report and its like: to the file or standard output that they
 * are asked for); a failed write to a FILE is left to the caller, with ferror. The exception is memory: where it ends,
 * the library prints one line on standard error and ends the process with status 3.
 *
 * Ownership. Options, and all that they point to, are borrowed until the call returns; a library until the objects that
 * were made with it are freed. Strings that a function returns belong to the object and live as long.
 *
 * Threads. Objects share nothing but a library, which none of them changes: two may be used in two threads, one by one
 * thread at a time. Threads that a call starts have ended when it returns. Numbers are read and written as in the
 * locale "C", whatever that of the process is; a function that is passed in is called in it. */
#ifndef FUSION_AUDIT_H
#define FUSION_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library exports these alone */

/* Also the exit status of the program. */
enum fa_status {
    FA_CLEAN = 0,  /* all was read and nothing is missed */
    FA_MISSED = 1, /* missed fusions were found, or expectations failed */
    FA_USAGE = 2,  /* wrong usage, or a pattern file that is wrong */
    FA_INPUT = 3   /* input unreadable, not what was asked for, or partly skipped with nothing found */
};

/* FA_ANY_LEVEL: both where there are both, else TTNN. */
enum fa_levels { FA_BOTH_LEVELS, FA_TTIR_ONLY, FA_TTNN_ONLY, FA_ANY_LEVEL };

/* Any bytes, as a file has them: text, or packed. */
struct fa_bytes {
    const char *data;
    size_t size;
};

/* What is read. */
struct fa_inputs {
    const char *const *files; /* "-" is standard input, which is read to its end */
    size_t nfiles;
    const struct fa_bytes *contents; /* of each, what is in it: with `data` it is not read, and called by its name all
                                        the same. NULL: all are read */
    enum fa_levels levels;
    bool unpaired;      /* TTIR need not be of the model that TTNN is of */
    unsigned max_input; /* MB of memory for each file, as it is read and unpacked; 0: half of the memory */
};

struct fa_library; /* patterns that were read */
struct fa_diagnostics;

/* Which patterns are searched, and what of them is wanted. */
struct fa_patterns {
    const char *const *files; /* further pattern files or directories, read in order after the bundled ones */
    size_t nfiles;
    bool no_bundled;
    const char *data;        /* directory with the bundled patterns/ and devices/; NULL: beside the program or the
                                library, or as installed */
    const char *only, *skip; /* comma-separated globs over pattern names and fused ops; NULL: all, none */
    const char *sources;     /* comma-separated: findings of these sources only; NULL: all */
    const char *include;     /* comma-separated: "blocked", "decomposed", "slower": findings that are hidden otherwise;
                                "elementwise", "elementwise-reduction": ops that one generated kernel could run; NULL:
                                none */
    const struct fa_library *library; /* its patterns instead, for several calls, also side by side; or NULL */
};

/* Reads the patterns once, for any number of calls. To be freed with fa_library_free; what else it can do is at the
 * end. After FA_USAGE it lacks some of the patterns. */
struct fa_library *fa_library_read(const struct fa_patterns *patterns, unsigned max_diagnostics);
enum fa_status fa_library_status(const struct fa_library *l); /* of reading: FA_CLEAN or FA_USAGE */
const struct fa_diagnostics *fa_library_diagnostics(const struct fa_library *l);
void fa_library_free(struct fa_library *l); /* NULL is fine, here and in all that free */

struct fa_diagnostic {
    const char *severity; /* "error", "warning", "note" */
    const char *file;     /* or empty: about the options */
    uint64_t line;        /* 0: the whole file */
    uint32_t column;      /* 0: the whole line */
    const char *message;
    const char *hint; /* or NULL */
};

/* What is wrong with input, options or pattern files, in the order in which it was found. Lives as long as the object
 * that was asked for it. */
size_t fa_count(const struct fa_diagnostics *d);
size_t fa_dropped(const struct fa_diagnostics *d); /* beyond max_diagnostics, which is 100 where it is 0 */
struct fa_diagnostic fa_get_diagnostic(const struct fa_diagnostics *d, size_t i);
/* Prints each as "file:line:column: error: message" with its hint, which stands once behind neighbours that share it,
 * and how many were dropped, as fa_print_clean does. */
void fa_print_diagnostics(const struct fa_diagnostics *d, FILE *out);
/* Prints text of an input or a file name so that nothing in it drives a terminal or ends a line: escaped as JSON has
 * it, but for the characters in `keep`, such as "\t\n". */
void fa_print_clean(const char *text, size_t n, const char *keep, FILE *out);
/* Prints lines of text for people, escaped likewise. One longer than `width` columns is broken at blanks. */
void fa_print_lines(const char *text, size_t n, unsigned width, FILE *out);

/* A stream whose bytes go to a function, piece by piece, for callers that have no FILE to print to; for memory there is
 * open_memstream(3). A function that returns false is asked no more. NULL: never. */
typedef bool fa_write(void *context, const char *bytes, size_t n);
FILE *fa_open_stream(fa_write *write, void *context);
/* False: some of what was printed did not arrive. */
bool fa_close_stream(FILE *stream);

/* Writes a text as fa_write_report does. */
bool fa_write_text(const char *text, size_t n, const char *path, char *error, size_t nerror);

/* ---- audit ---- */

struct fa_audit_options {
    struct fa_inputs inputs;
    struct fa_patterns patterns;
    const char *device;     /* what is saved is priced for this one; NULL: that of the module */
    const char *perf;       /* measured times, ops_perf_results*.csv; or NULL */
    const char *baseline;   /* a file of known findings, which do not count for the status; or NULL */
    bool strict_baseline;   /* what of it has expired or is gone counts */
    const char *min_saving; /* fused ops are left out that save less: "10us", "1%" of all; NULL: nothing, or too little
                               for the work that they take; not so under `baseline` and `inventory` */
    const char *fail_on;    /* sources whose findings, with a baseline the new ones, count for the status; NULL: with a
                               baseline "ttnn:dialect", else all */
    const char *expect;     /* a file that says how often ops have to be there; or NULL */
    bool no_validate;       /* do without the numeric proof */
    bool count_only;        /* findings are counted for fa_print_summary and its like: none can be got, and there is
                               no report. Of no effect with baseline and expect, which look at each */
    bool classify;          /* entries of the report say how far the compiler is with their fusion */
    bool details;           /* instances have the figures of proofs and prices as keys of their own, and those of an
                               emulated device are computed */
    bool times;             /* ops are listed with their times, for the format "time", JSON and pages */
    bool inventory;         /* fused ops are collected, for the format "expectations" and fa_diff */
    bool modules;           /* findings have modules of their own, */
    const char *tried;      /* a file that fa_keep_tried made, which need not be there; or NULL */
    const char *at;         /* only findings with an op there, as fa_explain takes it; or NULL */
    unsigned jobs;          /* threads; 0: one for each processor. The result does not depend on it */
    unsigned max_diagnostics; /* that are kept, all others are counted; 0: 100 */
};

struct fa_audit; /* a finished audit */

/* Reads the files, searches, proves. To be freed with fa_free. */
struct fa_audit *fa_run_audit(const struct fa_audit_options *options);
void fa_free(struct fa_audit *a);
enum fa_status fa_get_status(const struct fa_audit *a);
size_t fa_fused_ops(const struct fa_audit *a); /* entries of the report */
size_t fa_places(const struct fa_audit *a);    /* instances over all entries */
size_t fa_known(const struct fa_audit *a);     /* of these, that the baseline has */
size_t fa_expectations_failed(const struct fa_audit *a);
const struct fa_diagnostics *fa_diagnostics(const struct fa_audit *a);
/* Lines of --verbose: for each graph what was audited and paired, the counterexample of each match that was refuted,
 * and how many proofs were evaluated. */
size_t fa_remarks(const struct fa_audit *a);
const char *fa_get_remark(const struct fa_audit *a, size_t i);

/* A place where a fusion is missed; fusion-todo(5) says more of what is a key of the report, too. Strings are empty
 * where there is nothing to say; lists have one item a line. */
struct fa_finding {
    /* what it has in common with other places of its entry of the report */
    size_t entry;                          /* the number of that */
    const char *fused_op, *source, *lacks; /* lacks: what the dialect of TTNN lacks of the op, "activations" */
    const char *component_ops;             /* a list */
    const char *dialect_level, *pass_status, *pass, *existing_pattern, *source_file; /* how far the compiler is */
    const char *action;                                                              /* what to do about all of them */
    /* where it is */
    const char *pattern;
    const char *location;                  /* of the IR */
    const char *place, *layer;             /* in the model: "decoder layer 3 (fed by ...)"; "layer 3" */
    const char *names;                     /* in the model, that tell it: a list */
    const char *torch;                     /* the op of PyTorch */
    const char *ttir, *ttnn;               /* its ops, as the input has them */
    const char *ttir_lines, *ttnn_lines;   /* "12-14, 20" */
    const char *ttir_module, *ttnn_module; /* fa_audit_options.modules: its ops alone as modules */
    const char *kind; /* with `modules` or `tried`: equal for places with the same module of TTIR, names aside */
    /* what is said of it */
    const char *verdict;     /* of its proof */
    const char *todo;        /* what to do about it */
    const char *action_kind; /* "set", "extend", "wait" and the like, as JSON has it */
    const char *notes;       /* all lines of them */
    /* what fusing saves, estimated; 0 where sizes are not known */
    double us, saved_us; /* of its ops as they are; saved_us: of the measured time where there is one, and below 0
                            where fusing is slower */
    int64_t launches, dram_bytes, l1_bytes;
    bool known;    /* the baseline has it */
    bool repeated; /* one before it differs in names and locations only */
};
/* Finding i, in the order of the report. False beyond the last, and of a report that was read. */
bool fa_get_finding(struct fa_audit *a, size_t i, struct fa_finding *out);

/* One of the notes of a finding: "model location", or empty of a sentence by itself, and what is said of it. */
struct fa_note {
    const char *key, *text;
};
/* Note i of a finding. False beyond the last. */
bool fa_get_note(struct fa_audit *a, size_t finding, size_t i, struct fa_note *out);

/* Prints the report in a format: "yaml", "json", "markdown", "sarif", "github", "gitlab" or "html"; "time", a table of
 * where the time goes; or all findings as a "baseline", where those that `baseline` has keep its reasons and dates; or
 * how often the fused ops of the model are in it as "expectations". False: there is no such format or no report, or the
 * stream failed. */
bool fa_print_report(const struct fa_audit *a, const char *format, FILE *out);
/* Writes what fa_print_report prints: to a file that takes the place of `path` and keeps its mode, owner and links,
 * straight into it where it is no regular file, or to standard output for "-". False with the reason in `error`, at
 * most n bytes with their NUL, and in errno; a regular file is as it was then, unless it has other names or an owner
 * that could be kept only by overwriting it, and that failed. After wrong usage nothing is written. */
bool fa_write_report(const struct fa_audit *a, const char *format, const char *path, char *error, size_t n);
/* The name of the file where a format of the report goes by default; NULL: there is no such format. */
const char *fa_default_file(const char *format);
/* Prints what was found and what to do about it as a table, in lines of `width` columns as fa_print_lines does. `name`
 * is what the first line calls the report. Without findings nothing is printed. */
void fa_print_summary(const struct fa_audit *a, const char *name, unsigned width, FILE *out);
/* The estimated time of all ops, in us; known where something was found, and with `times`, `inventory`
 * or a baseline. */
double fa_time(const struct fa_audit *a);
/* "1.2 ms", "9.5 us": a time as reports say it; `out`. */
enum { FA_TIME_TEXT = 32 };
const char *fa_format_time(double us, char out[FA_TIME_TEXT]);

/* Options of the compiler that findings ask for: one, or two that help together only. */
struct fa_setting {
    const char *options[2]; /* "enable-fusing-pass=true"; the second may be NULL */
    const char *needs;      /* what the last of them asks of the compiler: "a compiler with OpModel"; or empty */
};
/* Setting i, in the order of the report. False beyond the last. */
bool fa_get_setting(struct fa_audit *a, size_t i, struct fa_setting *out);

/* Removes `path` after an audit with status FA_CLEAN if it is an older report on the same input: a regular file of YAML
 * whose top level has exactly the keys `input`, with the paths of this audit, and `missed_fusions`. Never after an
 * audit with less than all patterns (`only`, `skip`, `sources`, `no_bundled`). True when it was removed. */
bool fa_remove_stale_report(const struct fa_audit *a, const char *path);

/* The audit was refused since an archive has files of more than one compile: fa_find_pairs tells them apart. */
bool fa_is_several(const struct fa_audit *a);

/* ---- many inputs ---- */

struct fa_pairs; /* which of many files belong together */

/* What one audit reads: the TTIR and the TTNN of a compile, or one file with both. */
struct fa_pair {
    const char *ttir; /* or NULL */
    const char *ttnn;
};

struct fa_pairs_options {
    struct fa_inputs inputs;
    unsigned max_diagnostics;
};

/* Looks into files, directories and archives. To be freed with fa_pairs_free. */
struct fa_pairs *fa_find_pairs(const struct fa_pairs_options *options);
bool fa_pairs_failed(const struct fa_pairs *p); /* something could not be read, or belongs to nothing */
size_t fa_pairs_count(const struct fa_pairs *p);
struct fa_pair fa_get_pair(const struct fa_pairs *p, size_t i);
const struct fa_diagnostics *fa_pairs_diagnostics(const struct fa_pairs *p);
void fa_pairs_free(struct fa_pairs *p);

/* ---- reports and compiles, compared ---- */

/* Reads a report in YAML or JSON as the audit that it is of: for fa_diff and fa_print_table. FA_CLEAN also with
 * findings; FA_INPUT with diagnostics. */
struct fa_audit *fa_read_report(const char *path);
struct fa_diff_options {
    const char *format;               /* "text", "json" or "html", a page */
    const char *min_saving, *fail_on; /* as in fa_audit_options, against a baseline */
};

/* Prints which fused ops were lost, gained and changed, and which findings are new and gone: of two audits with
 * `inventory`, or of two reports, which know their findings only. FA_MISSED where a fused op was lost or a new finding
 * fails; FA_USAGE where an option is none of what it takes. */
enum fa_status fa_diff(const struct fa_audit *before, const struct fa_audit *now, const struct fa_diff_options *options,
                       FILE *out);
/* One row of a table: an audit or a report, and what it is called. */
struct fa_table_row {
    const struct fa_audit *audit; /* NULL: there is none any more */
    const char *name;
    const char *page;              /* a link to it as a page; or NULL */
    const struct fa_audit *before; /* an earlier one of the same, so that the row has what is new and gone; or NULL */
    const char *run;               /* of several in order, that the audit is of; or NULL */
};
/* Prints a table over audits or reports, the worst first, as "text", "markdown", a comment on a change, "json" or
 * "html", a page. Of rows with runs, which stand together, the models over these, as "text", "csv", "json" or "html".
 * False: it is another format, or the stream failed. */
bool fa_print_table(const struct fa_table_row *rows, size_t n, const char *format, FILE *out);

/* ---- inspect ---- */

struct fa_inspect_options {
    struct fa_inputs inputs;
    const char *data; /* as that of struct fa_patterns */
    bool json;        /* one JSON document, else text */
};

/* Prints what was understood of the files: blocks, stages, functions, ops by kind, what could not be read, and why.
 * FA_CLEAN or FA_INPUT. */
enum fa_status fa_inspect(const struct fa_inspect_options *options, FILE *out);

/* ---- verify ---- */

struct fa_verify_options {
    struct fa_inputs inputs; /* two modules of one compile, the earlier first; or one log of several stages */
    const char *data;        /* as that of struct fa_patterns */
    const char *only;        /* globs of fused ops, comma-separated; NULL: all */
    bool details;            /* report what was not compared, too */
    unsigned seed;           /* of random numbers */
    bool modules;            /* entries have modules of their own */
    bool strict;             /* FA_INPUT for any op that was not compared */
    const char *at;          /* say what was found there, as fa_explain takes it, in place of a report; or NULL */
    unsigned jobs;           /* threads; 0: one for each processor */
    double min_compared;     /* share of compute ops below which the status is FA_INPUT */
};

struct fa_verification; /* what two modules of one compile were found to compute */

/* Compares the modules. To be freed with fa_verification_free. */
struct fa_verification *fa_verify(const struct fa_verify_options *options);
/* FA_MISSED where something differs; else FA_USAGE, FA_INPUT (unreadable, no pair, too little compared) or FA_CLEAN.
 * With `at` FA_CLEAN whatever is there, FA_INPUT where nothing is. */
enum fa_status fa_verification_status(const struct fa_verification *v);
const struct fa_diagnostics *fa_verification_diagnostics(const struct fa_verification *v);
size_t fa_verification_differences(const struct fa_verification *v);
/* Compute ops of one module, each in one of the three answers. */
struct fa_compared {
    unsigned ops, proved, different, not_compared;
};
struct fa_compared fa_verification_compared(const struct fa_verification *v, bool after);
/* What was found of some ops of both modules; fusion-audit(1) says what each member is, by its key in the report.
 * Strings are empty where there is nothing to say. */
struct fa_check {
    const char *kind; /* "wrong_fusion", "wrong_lowering", "use_after_deallocate", "not_compared", "proved" */
    const char *fused_op, *pass, *location;
    const char *unchecked, *matters_for, *on_device, *counterexample;
    const char *reason, *needs;               /* of "not_compared" */
    const char *before, *after;               /* the ops as they are written */
    const char *before_module, *after_module; /* fa_verify_options.modules: these alone as modules */
};
/* Entry i of the report. False beyond the last. */
bool fa_get_check(struct fa_verification *v, size_t i, struct fa_check *out);
/* Of `at` the entries of that place; or empty. */
const char *fa_verification_text(const struct fa_verification *v);
/* Prints the report as "yaml", nothing where it is empty, or as "json" or "html", a page. False: it is another
 * format, or the stream failed. */
bool fa_verification_print(const struct fa_verification *v, const char *format, FILE *out);
/* Writes the report as fa_write_report does; no YAML where it is empty. */
bool fa_verification_write(const struct fa_verification *v, const char *format, const char *path, char *error,
                           size_t n);
/* Removes a report that an earlier run on the same files left there, where nothing differs any more, as
 * fa_remove_stale_report does. True when it was removed. */
bool fa_verification_remove_stale(const struct fa_verification *v, const char *path);
void fa_verification_free(struct fa_verification *v);

/* ---- apply ---- */

struct fa_apply_options {
    struct fa_inputs inputs; /* `levels` does not count */
    struct fa_patterns patterns;
    unsigned graph; /* of several that have TTIR, by its number, as fa_inspect tells it; 0: there is one */
    const char
        *assume; /* patterns and fused ops, comma-separated globs, whose preconditions are taken to hold; "all" */
    const char *const *values; /* "NAME=NUMBER": what an argument, or a name of formulas, is taken to hold */
    size_t nvalues;
    const char *at; /* only what is found there, as fa_explain takes it; or NULL */
    bool partial;   /* also where ops could not be read, and without the findings that are not proved */
    bool assumed; /* the text is the module as it was, with constants in place of arguments that are taken to hold one:
                     what compiles of the rewritten module are to be compared with */
    unsigned max_diagnostics;
};

struct fa_application; /* a TTIR module with fused ops in it */

/* Rewrites the TTIR module of the files. To be freed with fa_application_free. */
struct fa_application *fa_apply(const struct fa_apply_options *options);
/* FA_CLEAN, FA_USAGE, or FA_INPUT where nothing may be written. */
enum fa_status fa_application_status(const struct fa_application *a);
/* What was left, and why, is among the notes. */
const struct fa_diagnostics *fa_application_diagnostics(const struct fa_application *a);
size_t fa_application_found(const struct fa_application *a);   /* findings of TTNN's dialect that are selected */
size_t fa_application_applied(const struct fa_application *a); /* of these */
/* Why finding i of those that were found is left; NULL: it is applied. */
const char *fa_application_left(const struct fa_application *a, size_t i);
/* Prints the module. False: the stream failed. */
bool fa_application_print(const struct fa_application *a, FILE *out);
/* Writes the module as fa_write_report does. */
bool fa_application_write(const struct fa_application *a, const char *path, char *error, size_t n);
void fa_application_free(struct fa_application *a);

/* ---- pass ---- */

/* One place, as a rewrite pattern of the compiler. */
struct fa_pass_options {
    struct fa_apply_options writing; /* `inputs` do not count; `only` is the pattern of the finding */
    const char *module;              /* fa_finding.ttir_module; where that is empty ttnn_module */
    const char *says;                /* a comment at the top; or NULL */
    const char *pass;                /* that the test runs; NULL: ttir-fusing */
    unsigned number;                 /* of several of one pattern, from 1 on, for the names */
};

struct fa_pass;

/* To be freed with fa_pass_free. */
struct fa_pass *fa_make_pass(const struct fa_pass_options *options);
/* Why there is none; NULL: there is one, and strings of the functions below. */
const char *fa_pass_left(const struct fa_pass *p);
const char *fa_pass_note(const struct fa_pass *p);      /* what it does not do for this model; or empty */
const char *fa_pass_class(const struct fa_pass *p);     /* "LinearFusingPattern" */
const char *fa_pass_code(const struct fa_pass *p);      /* in C++ */
const char *fa_pass_test_file(const struct fa_pass *p); /* "linear_fusing.mlir" */
const char *fa_pass_test(const struct fa_pass *p);      /* for FileCheck */
void fa_pass_free(struct fa_pass *p);

/* ---- what the user's own compiler makes of a place ---- */

struct fa_variants; /* a module with one thing changed at a time */

/* The module is fa_finding.ttir_module; `only` of the patterns is fa_finding.pattern. To be freed with
 * fa_variants_free. */
struct fa_variants *fa_vary(const char *module, const struct fa_patterns *patterns);
struct fa_variant {
    const char *what; /* is changed: "once its types are f32", "with optimization-level=1" */
    const char *module;
    const char *option; /* of the compiler that it takes; or empty */
};
/* False beyond the last; there is none where the pattern does not match in the module. */
bool fa_get_variant(const struct fa_variants *v, size_t i, struct fa_variant *out);
void fa_variants_free(struct fa_variants *v);

/* An answer for places of one kind. */
struct fa_tried {
    const char *kind;     /* fa_finding.kind */
    const char *compiler; /* which one was asked, and its version */
    const char *answer;   /* "fuses once its types are f32" */
};
/* Adds answers of today to a file, in place of older ones of the same kind and compiler. Lines of it that are no
 * answers are not kept. False with the reason, as fa_write_report. */
bool fa_keep_tried(const char *path, const struct fa_tried *all, size_t n, char *error, size_t nerror);

/* ---- explain ---- */

struct fa_explain_options {
    struct fa_inputs inputs; /* the level that decides an audit is searched: TTNN where there is one */
    struct fa_patterns patterns;
    const char *at; /* only ops with this location ("add.174"), alias ("#loc12"), result ("%12") or line ("812",
                       "file:812"); NULL: all */
    unsigned most;  /* places that are kept, the best; 0: 10, and at `at` 5 */
    unsigned max_diagnostics;
};

struct fa_explanation; /* where patterns nearly match, and what is different there */

/* To be freed with fa_explanation_free. */
struct fa_explanation *fa_explain(const struct fa_explain_options *options);
/* FA_CLEAN whatever was found; FA_USAGE; FA_INPUT, also when nothing is at `at`, and where an error was said. */
enum fa_status fa_explanation_status(const struct fa_explanation *e);
const struct fa_diagnostics *fa_explanation_diagnostics(const struct fa_explanation *e);
/* A place where a pattern matches, or nearly. Strings are empty where there is nothing to say. */
struct fa_near_miss {
    const char *outcome; /* "matched": an audit reports it; "refuted" by its proof; "gives way";
                            "slower": left out, as `reason` says; "near" */
    const char *file, *op, *result;
    uint64_t line;
    const char *pattern, *fused_op;
    unsigned matched, total;                 /* ops of the pattern */
    const char *kind, *part, *reason, *hint; /* of what is different; `reason` of a match: what fusing saves or costs */
    const char *proof, *gives_way_to;        /* of what is not near; the pattern that is reported there */
    unsigned same;                           /* further places with the same difference */
};
/* Place i, the best first. False beyond the last. */
bool fa_get_near_miss(struct fa_explanation *e, size_t i, struct fa_near_miss *out);
/* Text, or one JSON document; nothing where input could not be read and nothing was found. */
void fa_explanation_print(const struct fa_explanation *e, bool json, FILE *out);
void fa_explanation_free(struct fa_explanation *e);

/* ---- patterns ---- */

struct fa_test_options {
    bool say_unproved; /* a note for each test that cannot be compared on numbers, or has no `explains` */
    unsigned seed;     /* of random numbers */
};

struct fa_test_counts {
    size_t patterns; /* selected */
    size_t without;  /* of those, without tests */
    size_t tests, failed;
    size_t proved;     /* matches whose fused form was compared on numbers */
    size_t by_formula; /* of those, whose fused form is the formula itself, not what is known of the fused op */
    size_t unproved;   /* matches that could not be compared */
};

/* Name, fused op and source of each pattern, and on a line of its own the summary; in the order of reading. */
void fa_library_list(const struct fa_library *l, FILE *out);
/* Each pattern of these names, or that globs match, as its file has it, and its formula with the idioms expanded; each
 * idiom of these names. FA_USAGE with a diagnostic for each name that is neither. */
enum fa_status fa_library_show(struct fa_library *l, const char *const *names, size_t n, FILE *out);
/* What patterns may ask of a match: one line a condition, by what they speak of. */
void fa_library_conditions(const struct fa_library *l, FILE *out);
/* Adds files or directories to the library. All are read, whatever is wrong with some; FA_USAGE with errors, else
 * FA_CLEAN with warnings about what looks like a mistake. */
enum fa_status fa_library_check(struct fa_library *l, const char *const *files, size_t n);
/* Runs the tests of the selected patterns. FA_MISSED when one fails, with an error for each; else FA_CLEAN. Afterwards
 * all patterns are selected. */
enum fa_status fa_library_test(struct fa_library *l, const struct fa_test_options *options,
                               struct fa_test_counts *counts);
/* Prints a draft of a pattern, made from ops of one file: "%14,%17" or "%14,%17,@func". A file with both levels is
 * searched TTNN first, unless `levels` names one. The draft matches its own example, and becomes a pattern of the
 * library. FA_INPUT with diagnostics when there are no such ops or no formula can say what they are; nothing is printed
 * then. */
enum fa_status fa_library_new(struct fa_library *l, const struct fa_inputs *file, const char *ops, FILE *out);
/* Prints what fused ops compute, as formulas over simpler ops, and the source of each: for the ops named ("linear",
 * "ttnn.linear"), or one line for each when n is 0. FA_USAGE with a diagnostic for each that has no such definition. */
enum fa_status fa_library_lower(struct fa_library *l, const char *const *ops, size_t n, FILE *out);

/* The word that a misspelt one is close to, or begins; or NULL. */
const char *fa_nearest(const char *misspelt, const char *const *words, size_t n);
/* Makes a directory, and those above it, where they are not there. 0 or the errno. */
int fa_make_directory(const char *path);

const char *fa_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
