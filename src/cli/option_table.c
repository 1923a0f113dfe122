#include "cli/option_table.h"

const struct command_spec command_specs[] = {
    {"inspect", CMD_INSPECT, "what was understood of a file"},
    {"explain", CMD_EXPLAIN, "what nearly matches, and what differs"},
    {"patterns", CMD_PATTERNS, "list, show, check, test, draft patterns"},
    {"lower", CMD_LOWER, "what a fused op computes"},
    {"verify", CMD_VERIFY, "whether what the compiler did fuse is right"},
    {"completion", CMD_COMPLETION, "completion for bash, zsh, fish"},
};
const int command_nspecs = sizeof command_specs / sizeof *command_specs;

/* In the order of --help. */
const struct option_spec option_specs[] = {
    {"output", 'o', TEXT, offsetof(struct options, output), CMD_AUDIT | CMD_VERIFY, "FILE",
     "write the report to FILE, '-' for standard output"},
    {"ttir-only", 0, FLAG, offsetof(struct options, ttir_only), CMD_AUDIT | CMD_EXPLAIN, NULL, "take TTIR alone"},
    {"ttnn-only", 0, FLAG, offsetof(struct options, ttnn_only), CMD_AUDIT | CMD_EXPLAIN, NULL, "take TTNN alone"},
    {"unpaired", 0, FLAG, offsetof(struct options, unpaired), CMD_AUDIT | CMD_EXPLAIN | CMD_INSPECT, NULL,
     "do not ask whether the two are of one model"},
    {"patterns", 'P', LIST, offsetof(struct options, patterns), CMD_READ, "DIR|FILE", "add patterns; may be repeated"},
    {"no-default-patterns", 0, FLAG, offsetof(struct options, no_default_patterns), CMD_READ, NULL,
     "do without the bundled patterns"},
    {"only", 0, TEXT, offsetof(struct options, only), CMD_SEARCH, "GLOBS",
     "only these patterns or fused ops, comma-separated"},
    {"only", 0, TEXT, offsetof(struct options, only), CMD_VERIFY, "GLOBS", "only these fused ops, comma-separated"},
    {"skip", 0, TEXT, offsetof(struct options, skip), CMD_SEARCH, "GLOBS", "all but these"},
    {"source", 0, TEXT, offsetof(struct options, sources), CMD_AUDIT, "LIST",
     "only findings of ttnn, torch, triton, cuda"},
    {"include", 0, TEXT, offsetof(struct options, include), CMD_AUDIT | CMD_EXPLAIN, "LIST",
     "also what is hidden: blocked, decomposed,\n"
     "elementwise, elementwise-reduction"},
    {"device", 0, TEXT, offsetof(struct options, device), CMD_AUDIT, "NAME",
     "price for n150, n300, p100, p150 or p150-fw18"},
    {"perf", 0, TEXT, offsetof(struct options, perf), CMD_AUDIT, "FILE",
     "take times from a profile, ops_perf_results*.csv"},
    {"suppress", 0, TEXT, offsetof(struct options, suppress), CMD_AUDIT, "FILE", "places that are not wanted, and why"},
    {"sort", 0, TEXT, offsetof(struct options, sort), CMD_AUDIT, "saving|count|name", "order of the report (saving)"},
    {"classify", 0, FLAG, offsetof(struct options, classify), CMD_AUDIT, NULL,
     "say how far the compiler is with each fusion"},
    {"details", 0, FLAG, offsetof(struct options, details), CMD_AUDIT, NULL, "all figures of proofs and prices"},
    {"details", 0, FLAG, offsetof(struct options, details), CMD_VERIFY, NULL, "report what was not compared, too"},
    {"min-compared", 0, TEXT, offsetof(struct options, min_compared), CMD_VERIFY, "SHARE",
     "fail where less of the compute ops was (0.9)"},
    {"jobs", 'j', TEXT, offsetof(struct options, jobs), CMD_AUDIT | CMD_VERIFY, "N",
     "threads; one for each processor by default"},
    {"dry-run", 'n', FLAG, offsetof(struct options, dry_run), CMD_AUDIT, NULL, "write nothing, count only"},
    {"no-validate", 0, FLAG, offsetof(struct options, no_validate), CMD_AUDIT, NULL, "do without proofs"},
    {"at", 0, TEXT, offsetof(struct options, at), CMD_EXPLAIN, "PLACE",
     "only there, one for each pattern, matches too:\n"
     "a value (%12, ttir:%12), a line (812, FILE:812), an\n"
     "op and its line (ttnn.add 812), a location\n"
     "(add.174), an alias (#loc12)"},
    {"from", 0, TEXT, offsetof(struct options, from), CMD_PATTERNS, "FILE", "new: take the ops from this file"},
    {"ops", 0, TEXT, offsetof(struct options, ops), CMD_PATTERNS, "RESULTS",
     "new: the ops with these results, %14,%17"},
    {"ttir-only", 0, FLAG, offsetof(struct options, ttir_only), CMD_PATTERNS, NULL,
     "new: take the ops from the TTIR of FILE"},
    {"ttnn-only", 0, FLAG, offsetof(struct options, ttnn_only), CMD_PATTERNS, NULL,
     "new: take them from its TTNN, as by default"},
    {"seed", 0, TEXT, offsetof(struct options, seed), CMD_PATTERNS, "N",
     "test: other numbers, shapes and element types (0)"},
    {"limit", 0, TEXT, offsetof(struct options, limit), CMD_AUDIT, "NAME=N",
     "limits: steps (20000), diagnostics (100), input MB"},
    {"limit", 0, TEXT, offsetof(struct options, limit), CMD_PATTERNS, "NAME=N",
     "limits: steps (20000), diagnostics (100)"},
    {"limit", 0, TEXT, offsetof(struct options, limit), CMD_INSPECT, "NAME=N",
     "limits: input, MB for a file (half of the memory)"},
    {"limit", 0, TEXT, offsetof(struct options, limit), CMD_VERIFY, "NAME=N",
     "limits: input, MB for a file (half of the memory)"},
    {"limit", 0, TEXT, offsetof(struct options, limit), CMD_EXPLAIN, "NAME=N",
     "limits: places (10), steps (20000),\n"
     "diagnostics (100), input (MB for a file)"},
    {"json", 0, FLAG, offsetof(struct options, json), CMD_INSPECT | CMD_EXPLAIN, NULL,
     "print one JSON document instead"},
    {"quiet", 'q', FLAG, offsetof(struct options, quiet), CMD_AUDIT | CMD_VERIFY, NULL, "no summary on standard error"},
    {"quiet", 'q', FLAG, offsetof(struct options, quiet), CMD_PATTERNS, NULL, "test: do not print the counts"},
    {"verbose", 'v', FLAG, offsetof(struct options, verbose), CMD_AUDIT, NULL,
     "say what was audited, and what was refuted"},
    {"verbose", 'v', FLAG, offsetof(struct options, verbose), CMD_VERIFY, NULL, "say how many ops were compared"},
    {"verbose", 'v', FLAG, offsetof(struct options, verbose), CMD_PATTERNS, NULL,
     "test: what was not compared, and why; what\n"
     "`explains` of each miss could say"},
    {"help", 'h', FLAG, offsetof(struct options, help), CMD_ANY, NULL, "print this help, and exit"},
    {"version", 'V', FLAG, offsetof(struct options, version), CMD_ANY, NULL, "print the version, and exit"},
};
const int option_nspecs = sizeof option_specs / sizeof *option_specs;
_Static_assert(sizeof option_specs / sizeof *option_specs <= OPTIONS_MOST, "getopt's table is too small");
