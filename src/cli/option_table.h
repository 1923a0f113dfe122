/* The options of all commands. The command line is read by this table, and --help and the completion of shells are
 * printed from it; the test `manual` holds fusion-audit(1) against it. */
#ifndef FA_CLI_OPTION_TABLE_H
#define FA_CLI_OPTION_TABLE_H

#include "cli/options.h"

enum {
    CMD_ANY = CMD_AUDIT | CMD_INSPECT | CMD_PATTERNS | CMD_EXPLAIN | CMD_LOWER | CMD_COMPLETION | CMD_DIFF |
              CMD_SUMMARY | CMD_VERIFY,
    CMD_SEARCH = CMD_AUDIT | CMD_PATTERNS | CMD_EXPLAIN | CMD_DIFF, /* those that work with patterns */
    CMD_READ = CMD_SEARCH | CMD_LOWER                               /* those that read pattern files */
};

enum option_kind { FLAG, TEXT, LIST /* struct word_list */ };

/* An option of some commands. One that means something else in another command has two rows. */
struct option_spec {
    const char *name;
    char letter; /* or 0 */
    enum option_kind kind;
    size_t member;        /* of struct options */
    int commands;         /* a set of enum command */
    const char *argument; /* what --help calls it; a name or NAME=N, "FILE", "DIR" or "DIR|FILE" for paths, or a list of
                             words "a|b"; NULL: a flag */
    const char *help;     /* lines */
};

enum { OPTIONS_MOST = 64 };
extern const struct option_spec option_specs[];
extern const int option_nspecs;

struct command_spec {
    const char *name;
    enum command command;
    const char *help;
};

/* The commands that are named by the first argument. */
extern const struct command_spec command_specs[];
extern const int command_nspecs;

#endif
