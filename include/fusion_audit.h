/* fusion-audit: finds op fusions that a Tenstorrent compile missed.
 *
 * The public C API. One call audits; the result is read with the functions below and freed once.
 * Nothing here prints, exits or keeps state: two audits can run in two threads.
 * Strings of options are borrowed until the call returns; strings of a result live until fa_free. */
#ifndef FUSION_AUDIT_H
#define FUSION_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Also the exit status of the program. */
enum fa_status {
    FA_CLEAN = 0,  /* all was read and nothing is missed */
    FA_MISSED = 1, /* missed fusions were found */
    FA_USAGE = 2,  /* wrong usage, or a pattern file that is wrong */
    FA_INPUT = 3   /* input unreadable, not what was asked for, or partly skipped with nothing found */
};

enum fa_levels { FA_BOTH_LEVELS, FA_TTIR_ONLY, FA_TTNN_ONLY };

struct fa_options {
    const char *const *files; /* "-" is standard input */
    size_t nfiles;
    enum fa_levels levels;
    const char *const *patterns; /* further pattern files or directories, in order */
    size_t npatterns;
    bool no_default_patterns;
    const char
        *default_patterns;    /* directory of the bundled patterns; NULL: found next to the program or as installed */
    const char *only, *skip;  /* comma-separated globs over pattern names and fused ops; NULL: all, none */
    const char *sources;      /* comma-separated: report findings of these sources only; NULL: all */
    const char *include;      /* comma-separated: "blocked", "decomposed": report what is hidden else; NULL: neither */
    bool classify;            /* entries say how far the compiler is with their fusion */
    bool details;             /* instances have the figures of their proof as keys */
    unsigned jobs;            /* threads; 0: one for each processor. The result does not depend on it */
    bool dry_run;             /* count only: fa_write_report has nothing to write */
    bool no_validate;         /* do without the numeric proof */
    bool say_unproved;        /* of patterns that are tested: a note for each example that cannot be compared */
    unsigned long seed;       /* of the numbers and variations that patterns are tested on */
    unsigned max_diagnostics; /* kept; 0: 100 */
    unsigned long max_steps;  /* of the search for one pattern at one op; 0: 20000 */
};

struct fa_diagnostic {
    const char *severity; /* "error", "warning", "note" */
    const char *file;
    uint64_t line;   /* 0: the whole file */
    uint32_t column; /* 0: the whole line */
    const char *message;
    const char *hint; /* or NULL */
};

struct fa_audit; /* a finished audit */

/* Audits. Never NULL. */
struct fa_audit *fa_audit(const struct fa_options *options);
enum fa_status fa_get_status(const struct fa_audit *a);
size_t fa_fused_ops(const struct fa_audit *a);           /* entries of the report */
size_t fa_places(const struct fa_audit *a);              /* instances over all entries */
size_t fa_diagnostics(const struct fa_audit *a);         /* how many are kept */
size_t fa_diagnostics_dropped(const struct fa_audit *a); /* found beyond the limit */
struct fa_diagnostic fa_get_diagnostic(const struct fa_audit *a, size_t i);
/* For --verbose, a line each: of every graph what was audited ("graph 1: 146 TTIR ops, 122 TTNN ops, 118 paired"), of
 * what was matched and refuted the counterexample, and how many proofs were evaluated. */
size_t fa_remarks(const struct fa_audit *a);
const char *fa_get_remark(const struct fa_audit *a, size_t i);

/* Writes the report as YAML: to a temporary file beside `path` and renamed, or to standard output for "-".
 * False with the reason in `error` (at most `n` bytes). */
bool fa_write_report(struct fa_audit *a, const char *path, char *error, size_t n);
void fa_free(struct fa_audit *a);

/* Removes `path` if it is a report of this tool (its top level is exactly `input` and `missed_fusions`).
 * True when it was removed. */
bool fa_remove_stale_report(const char *path);

/* Says what was understood of the files (blocks, stages, functions, ops by kind, values, edges, unresolved things). */
enum fa_status fa_inspect(const struct fa_options *options, bool json, FILE *out);

/* Where patterns nearly match, and what is different there. */
struct fa_explanation;

/* Searches the level that an audit would decide by. `at`: only places that have this in them: a location ("add.174"),
 * an alias ("#loc12"), a value ("%12"), a line ("812", "file:812"); NULL: everywhere. At most `most` places, 0: 10,
 * best first. Never NULL. */
struct fa_explanation *fa_explain(const struct fa_options *options, const char *at, size_t most);
/* FA_CLEAN, whatever was found; FA_USAGE; FA_INPUT. */
enum fa_status fa_explanation_status(const struct fa_explanation *e);
size_t fa_explanation_diagnostics(const struct fa_explanation *e);
size_t fa_explanation_diagnostics_dropped(const struct fa_explanation *e);
struct fa_diagnostic fa_explanation_diagnostic(const struct fa_explanation *e, size_t i);
void fa_explanation_print(const struct fa_explanation *e, bool json, FILE *out);
void fa_explanation_free(struct fa_explanation *e);

/* The patterns themselves, without an input: bundled ones and those of `patterns`, as far as `only` and `skip` allow.
 */
struct fa_library;

struct fa_test_counts {
    size_t patterns, without; /* looked at; those of them that have no tests */
    size_t tests, failed;
    size_t proved, unproved; /* matches whose fused form was compared on numbers, and could not be */
    size_t varied;           /* other shapes and element types that matches were compared in */
    size_t formless;         /* those of `unproved` whose pattern has no fused form */
};

/* Reads the patterns. Never NULL. */
struct fa_library *fa_library_read(const struct fa_options *options);
enum fa_status fa_library_status(const struct fa_library *l); /* FA_CLEAN or FA_USAGE */
size_t fa_library_diagnostics(const struct fa_library *l);
size_t fa_library_diagnostics_dropped(const struct fa_library *l);
struct fa_diagnostic fa_library_diagnostic(const struct fa_library *l, size_t i);
/* One line a pattern: name, fused op, source, summary; in the order of reading. */
void fa_library_list(const struct fa_library *l, FILE *out);
/* Each pattern as it is written, and its formula with the idioms expanded. */
void fa_library_show(const struct fa_library *l, FILE *out);
/* Reads more files or directories and says what is wrong with them (FA_USAGE) or looks like a mistake. All are read,
 * whatever is wrong with some. */
enum fa_status fa_library_check(struct fa_library *l, const char *const *files, size_t n);
/* Runs the tests of the patterns. FA_MISSED when one fails: the diagnostics say which and how, and as notes
 * what could not be compared. */
enum fa_status fa_library_test(struct fa_library *l, struct fa_test_counts *counts);
/* Writes the first draft of a pattern, made from ops of a file: "%14,%17" or "%14,%17,@func". Of a file with both
 * levels TTNN is meant, unless `levels` says otherwise. The draft matches its own example. FA_INPUT with diagnostics
 * when there is no such thing. */
enum fa_status fa_library_new(struct fa_library *l, const char *file, const char *ops, enum fa_levels levels,
                              FILE *out);
/* What fused ops compute, as formulas over simpler ops, with the source that each follows: of the ops named ("linear",
 * "ttnn.linear"), or one line for each when none is. FA_USAGE with diagnostics when one has no such definition. */
enum fa_status fa_library_lower(struct fa_library *l, const char *const *ops, size_t n, FILE *out);
void fa_library_free(struct fa_library *l);

const char *fa_version(void);

#ifdef __cplusplus
}
#endif

#endif
