/* The commands and their options. Each command has a struct of its own that its options fill, and one table of rows for
 * them: the command line is read by it, and --help, completion and the hints at mistakes are made from it. */
#ifndef FA_CLI_OPTIONS_H
#define FA_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/text.h"
#include "fusion_audit.h"

struct word_list {
    const char **items;
    size_t n;
};

enum option_kind {
    FLAG,  /* bool */
    TEXT,  /* const char * */
    WORD,  /* const char *, one of `words` */
    LIST,  /* struct word_list; may be repeated */
    COUNT, /* unsigned, from `least` to `most` */
    SHARE, /* double, from 0 to 1 */
    LEVEL  /* enum fa_levels: becomes `least` */
};

struct option_row {
    const char *name;
    char letter; /* or 0 */
    enum option_kind kind;
    size_t member;        /* of the struct of the command, or of struct args */
    const char *argument; /* what --help calls it: FILE and DIR for paths; NULL: a flag */
    const char *help;     /* lines */
    const char *words;    /* that it may be or have, "a|b"; or NULL */
    unsigned least, most;
};

struct option_rows {
    const struct option_row *rows;
    size_t n;
};

/* Options that several commands share. */
extern const struct option_rows level_options, unpaired_options, pattern_options, choice_options, jobs_options,
    price_options, fused_options, gate_options;

enum { GROUPS_MOST = 8, NUMBER_MOST = 1000000000 /* of counts and seeds */ };

/* What each command is given; the first member of its struct. */
struct args {
    const struct command *command;
    struct fa_audit_options options; /* its inputs are the words that are no options */
    struct word_list patterns;       /* of `options` */
    const char *assume;              /* of what is written with the fused op, as in struct fa_apply_options; or NULL */
    struct word_list values;         /* the same */
    bool help, version;              /* given; nothing after it was read */
    bool quiet;
    bool lines;           /* what it printed is for people */
    struct keeping *kept; /* text.h */
    const char *error;    /* why nothing was done; or NULL */
    enum fa_status refused;
};

struct command {
    const char *name; /* the first words of the command line; "" of the audit */
    const char *help; /* one line */
    const char *usage, *after;
    struct option_rows own;
    const struct option_rows *shared[GROUPS_MOST];       /* up to the first NULL */
    size_t size;                                         /* of its struct */
    const void *defaults;                                /* such a struct; NULL: zeroes */
    size_t least, most;                                  /* words that are no options */
    const char *takes;                                   /* says so */
    bool (*check)(struct args *args);                    /* false with `error`; or NULL */
    enum fa_status (*run)(struct args *args, FILE *out); /* NULL: a word that other commands begin with */
    enum fa_status (*ask)(struct fa_library *l, struct args *args, FILE *out); /* of a library that `run` reads */
    bool prints;                                                               /* all of its text goes to `out` */
};

extern const struct command *const commands[];
extern const size_t ncommands;

/* A row of a command, by number; NULL beyond the last. */
const struct option_row *option_row(const struct command *c, size_t i);
const struct option_row *find_option(const struct command *c, const char *name, size_t n);
const struct option_row *find_letter(const struct command *c, int letter);
/* The command that words begin with, and how many of them are its name. */
const struct command *find_command(const char *const *words, size_t n, size_t *length);

/* Sets the error, which is said at the end: for wrong usage, false; the status, for what else keeps a command from its
 * work. */
bool wrong(struct args *args, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum fa_status fails(struct args *args, enum fa_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of a word that is none of those of an option. */
bool no_such_word(struct args *args, const struct option_row *row, const char *more);
/* The struct of the command that the command line names, to be freed with args_free; with `error` for wrong usage.
 * Reorders argv as getopt_long does. */
struct args *args_read(int argc, char **argv);
void args_free(struct args *args);
/* --help of a command. */
void print_help(const struct command *c, FILE *out);

#endif
