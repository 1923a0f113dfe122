/* The texts of --help. A change of an option is a change here, in src/cli/options.c and in man/fusion-audit.1. */
#include "cli/help.h"

static const char audit[] = "Usage: fusion-audit [options] FILE...\n"
                            "       fusion-audit inspect [--json] FILE... | lower [OP]...\n"
                            "       fusion-audit explain [--at=LOC|LINE] [--only=GLOBS] FILE...\n"
                            "       fusion-audit patterns list|show|check|test [NAME|FILE]...\n"
                            "       fusion-audit patterns new --from=FILE --ops=%14,%17\n"
                            "\n"
                            "Finds op fusions that a Tenstorrent compile missed. Give the TTIR and the TTNN\n"
                            "of one model, as .mlir files in either order or as one log that holds both;\n"
                            "'-' is standard input. Missed fusions are written to fusion_todo.yml. When\n"
                            "nothing is missed, nothing is written and nothing is printed.\n"
                            "\n"
                            "  -o, --output=FILE          write the report to FILE, '-' for standard output\n"
                            "      --ttir-only            audit TTIR alone; --ttnn-only: TTNN alone\n"
                            "      --unpaired             do not ask whether the two are of one model\n"
                            "  -P, --patterns=DIR|FILE    add patterns; may be repeated\n"
                            "      --no-default-patterns  do without the bundled patterns\n"
                            "      --only=GLOBS           only these patterns or fused ops, comma-separated\n"
                            "      --skip=GLOBS           all but these\n"
                            "      --source=LIST          only findings of ttnn, torch, triton, cuda\n"
                            "      --include=LIST         also what is hidden: blocked, decomposed\n"
                            "      --device=NAME          price for n150, n300, p100, p150 or p150-fw18\n"
                            "      --sort=ORDER           saving (default), count, name; --perf=CSV: measured\n"
                            "      --classify             how far the compiler is; --details: all figures\n"
                            "  -j, --jobs=N               threads; one for each processor by default\n"
                            "  -n, --dry-run              write nothing; --no-validate: without proofs\n"
                            "      --limit=NAME=N         limits: steps (20000), diagnostics (100), input MB\n"
                            "  -q, --quiet                no summary on standard error\n"
                            "  -v, --verbose              say what was audited, and what was refuted\n"
                            "  -h, --help; -V, --version  print this help or the version, and exit\n"
                            "\n"
                            "inspect says what was understood, explain what nearly matches and what differs;\n"
                            "both with --json. lower says what a fused op computes. patterns lists, shows,\n"
                            "checks and tests patterns, or drafts a new one. Each has a --help of its own.\n"
                            "\n"
                            "Exit status: 0 nothing missed; 1 missed fusions reported; 2 wrong usage or bad\n"
                            "pattern; 3 input unreadable, not what was asked for, or partly skipped with\n"
                            "nothing found.\n"
                            "\n"
                            "Examples:\n"
                            "  fusion-audit model.ttir.mlir model.ttnn.mlir\n"
                            "  fusion-audit -o - --only='ttnn.linear' run.log\n"
                            "\n"
                            "See fusion-audit(1), fusion-todo(5), fusion-patterns(5).\n";

static const char inspect[] = "Usage: fusion-audit inspect [--json] FILE...\n"
                              "\n"
                              "Says what was understood of each file: its blocks of IR, their functions and\n"
                              "ops, what could not be read, and how many TTNN ops were paired with TTIR ops.\n"
                              "Takes any number of files, at any levels; '-' is standard input.\n"
                              "\n"
                              "      --json                 print one JSON document instead of tables\n"
                              "      --limit=input=N        MB of memory for a file (half of the memory)\n"
                              "      --unpaired             do not ask whether two files are of one model\n"
                              "\n"
                              "Exit status: 0 all was read; 2 wrong usage; 3 something could not be read.\n";

static const char explain[] = "Usage: fusion-audit explain [options] FILE...\n"
                              "\n"
                              "Says where patterns nearly match and what is different there. The files are\n"
                              "those of an audit.\n"
                              "\n"
                              "      --at=PLACE             only there, one for each pattern, matches too:\n"
                              "                             a location (add.174), an alias (#loc12), a result\n"
                              "                             (%12), a line (812) or FILE:LINE\n"
                              "      --only=GLOBS           only these patterns or fused ops, comma-separated\n"
                              "      --skip=GLOBS           all but these\n"
                              "      --include=LIST         also what is hidden: blocked, decomposed\n"
                              "  -P, --patterns=DIR|FILE    add patterns; may be repeated\n"
                              "      --no-default-patterns  do without the bundled patterns\n"
                              "      --ttir-only            look at TTIR, without TTNN\n"
                              "      --ttnn-only            look at TTNN, without TTIR\n"
                              "      --unpaired             do not ask whether the two are of one model\n"
                              "      --limit=NAME=N         set a limit: places (10), steps (20000),\n"
                              "                             diagnostics (100), input (MB for a file)\n"
                              "      --json                 print one JSON document instead\n"
                              "\n"
                              "Exit status: 0 whatever was found; 2 wrong usage or bad pattern; 3 an error\n"
                              "in the input, or nothing is at PLACE.\n"
                              "\n"
                              "Example:\n"
                              "  fusion-audit explain --at=add.174 --only=linear --ttnn-only model.ttnn.mlir\n";

static const char lower[] = "Usage: fusion-audit lower [-P DIR|FILE] [--no-default-patterns] [OP]...\n"
                            "\n"
                            "Says what each fused op computes, as formulas over simpler ops, and the source\n"
                            "of that. Without OP it lists the fused ops of which this is known.\n"
                            "\n"
                            "Exit status: 0; 2 wrong usage, a bad pattern file, or an OP that is not known.\n"
                            "\n"
                            "Example:\n"
                            "  fusion-audit lower ttnn.rms_norm\n";

static const char patterns[] = "Usage: fusion-audit patterns list [NAME]...    name, fused op, source, summary\n"
                               "       fusion-audit patterns show NAME...      as written, and what is searched\n"
                               "       fusion-audit patterns check FILE...     mistakes; silent without any\n"
                               "       fusion-audit patterns test [NAME]...    run the examples of the patterns\n"
                               "       fusion-audit patterns new --from=FILE --ops=%14,%17\n"
                               "                                               draft a pattern of these ops\n"
                               "       fusion-audit patterns conditions        what a pattern may ask of a match\n"
                               "\n"
                               "NAME is a glob over names and fused ops, FILE a pattern file or a directory.\n"
                               "\n"
                               "  -P, --patterns=DIR|FILE    add patterns; may be repeated\n"
                               "      --no-default-patterns  do without the bundled patterns\n"
                               "      --only=GLOBS           only these, comma-separated, instead of NAME\n"
                               "      --skip=GLOBS           all but these\n"
                               "      --limit=NAME=N         set a limit: steps (20000), diagnostics (100)\n"
                               "  -q, --quiet                test: do not print the counts\n"
                               "  -v, --verbose              test: what was not compared, and why; what\n"
                               "                             `explains` of each miss could say\n"
                               "      --seed=N               test: other numbers, shapes and element types (0)\n"
                               "      --ttir-only            new: take the ops from the TTIR of FILE\n"
                               "      --ttnn-only            new: take them from its TTNN, as by default\n"
                               "\n"
                               "Exit status: 0; 1 an example fails; 2 wrong usage or bad pattern; 3 FILE of\n"
                               "--from unreadable, or its ops make no pattern.\n"
                               "\n"
                               "See fusion-patterns(5).\n";

const char *help_of(const struct options *o) {
    switch (o->command) {
    case CMD_INSPECT:
        return inspect;
    case CMD_EXPLAIN:
        return explain;
    case CMD_LOWER:
        return lower;
    case CMD_PATTERNS:
        return patterns;
    case CMD_AUDIT:
        break;
    }
    return audit;
}
