/* The command line, read by getopt_long from the rows of a command. Long options may be abbreviated, as in GNU
 * programs. */
#include "cli/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/say.h"

enum { OPTIONS_MOST = 64, WORDS_MOST = 16, LONG = 256 /* what getopt_long returns for the first row */ };

#define MEMBER(name) offsetof(struct args, name)
#define ROWS(table)                                                                                                    \
    { table, sizeof(table) / sizeof *(table) }

static const struct option_row level_rows[] = {
    {"ttir-only", 0, LEVEL, MEMBER(options.inputs.levels), NULL, .help = "take TTIR alone", .least = FA_TTIR_ONLY},
    {"ttnn-only", 0, LEVEL, MEMBER(options.inputs.levels), NULL, .help = "take TTNN alone", .least = FA_TTNN_ONLY},
};
static const struct option_row unpaired_rows[] = {
    {"unpaired", 0, FLAG, MEMBER(options.inputs.unpaired), NULL,
     .help = "do not check that the two are of one compile"},
};
static const struct option_row pattern_rows[] = {
    {"patterns", 'P', LIST, MEMBER(patterns), "DIR|FILE", .help = "add patterns; may be repeated"},
    {"no-default-patterns", 0, FLAG, MEMBER(options.patterns.no_bundled), NULL,
     .help = "do not use the bundled patterns"},
};
static const struct option_row choice_rows[] = {
    {"only", 0, TEXT, MEMBER(options.patterns.only), "GLOBS",
     .help = "only these patterns or fused ops, comma-separated"},
    {"skip", 0, TEXT, MEMBER(options.patterns.skip), "GLOBS", .help = "all but these"},
};
static const struct option_row jobs_rows[] = {
    {"jobs", 'j', COUNT, MEMBER(options.jobs), "N", .help = "threads; one for each processor by default", .least = 1,
     .most = 1024},
};
static const struct option_row price_rows[] = {
    {"source", 0, TEXT, MEMBER(options.patterns.sources), "LIST", .help = "only findings of ttnn, torch, triton, cuda",
     .words = "ttnn|ttnn:dialect|ttnn:operand|ttnn:library|torch|triton|cuda"},
    {"device", 0, TEXT, MEMBER(options.device), "NAME", .help = "price for n150, n300, p100, p150 or p150-fw18",
     .words = "n150|n300|p100|p150|p150-fw18"},
    {"no-validate", 0, FLAG, MEMBER(options.no_validate), NULL, .help = "do not prove findings on numbers"},
};
static const struct option_row gate_rows[] = {
    {"min-saving", 0, TEXT, MEMBER(options.min_saving), "TIME|PERCENT",
     .help = "leave out fused ops that save less: 10us, or 1% of\nall; by default those that save too little"},
    {"fail-on", 0, TEXT, MEMBER(options.fail_on), "LIST",
     .help = "exit 1 for findings of these sources; by default\nall, or in diff and with --baseline ttnn:dialect",
     .words = "ttnn|ttnn:dialect|ttnn:operand|ttnn:library|torch|triton|cuda"},
};
static const struct option_row fused_rows[] = {
    {"at", 0, TEXT, MEMBER(options.at), "PLACE", .help = "only what is found there, as in explain"},
    {"assume", 0, TEXT, MEMBER(assume), "GLOBS",
     .help = "take preconditions of these patterns and fused\n"
             "ops to hold, comma-separated, or all"},
    {"value", 0, LIST, MEMBER(values), "NAME=NUMBER",
     .help = "what an argument holds, by its name or that in\n"
             "formulas: --value=eps=1e-05"},
};
static const struct option_row common_rows[] = {
    {"help", 'h', FLAG, MEMBER(help), NULL, .help = "print this help, and exit"},
    {"version", 'V', FLAG, MEMBER(version), NULL, .help = "print the version, and exit"},
};

const struct option_rows level_options = ROWS(level_rows), unpaired_options = ROWS(unpaired_rows),
                         pattern_options = ROWS(pattern_rows), choice_options = ROWS(choice_rows),
                         jobs_options = ROWS(jobs_rows), price_options = ROWS(price_rows),
                         fused_options = ROWS(fused_rows), gate_options = ROWS(gate_rows);
static const struct option_rows common_options = ROWS(common_rows);

const struct option_row *option_row(const struct command *c, size_t i) {
    const struct option_rows *rows = &c->own;
    size_t group = 0;
    while (i >= rows->n) {
        i -= rows->n;
        if (rows == &common_options)
            return NULL;
        rows = group < GROUPS_MOST && c->shared[group] ? c->shared[group++] : &common_options;
    }
    return &rows->rows[i];
}

const struct option_row *find_option(const struct command *c, const char *name, size_t n) {
    const struct option_row *row;
    for (size_t i = 0; (row = option_row(c, i)); i++)
        if (strlen(row->name) == n && memcmp(row->name, name, n) == 0)
            return row;
    return NULL;
}

const struct option_row *find_letter(const struct command *c, int letter) {
    const struct option_row *row;
    for (size_t i = 0; (row = option_row(c, i)); i++)
        if (letter && row->letter == letter)
            return row;
    return NULL;
}

/* The words of the name of a command, as far as they are there. */
static size_t words_of_name(const char *name, const char *const *words, size_t n) {
    size_t count = 0;
    for (size_t length; *name; name += length + (name[length] == ' ')) {
        length = strcspn(name, " ");
        if (count == n || strlen(words[count]) != length || memcmp(words[count], name, length) != 0)
            return 0;
        count++;
    }
    return count;
}

const struct command *find_command(const char *const *words, size_t n, size_t *length) {
    const struct command *best = commands[0];
    *length = 0;
    for (size_t i = 0; i < ncommands; i++) {
        size_t count = words_of_name(commands[i]->name, words, n);
        if (count > *length) {
            best = commands[i];
            *length = count;
        }
    }
    return best;
}

bool wrong(struct args *args, const char *format, ...) {
    va_list list;
    va_start(list, format);
    args->error = text_of_list(args, format, list);
    va_end(list);
    args->refused = FA_USAGE;
    return false;
}

enum fa_status fails(struct args *args, enum fa_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    args->error = text_of_list(args, format, list);
    va_end(list);
    return args->refused = status;
}

/* ---- what getopt_long returns ---- */

/* The options of one command as getopt_long takes them. */
struct getopt_table {
    struct option longs[OPTIONS_MOST + 1];
    char shorts[2 * OPTIONS_MOST + 2];
};

static void getopt_table_make(struct getopt_table *t, const struct command *c) {
    const struct option_row *row;
    size_t nlongs = 0, nshorts = 0;
    memset(t, 0, sizeof *t);
    t->shorts[nshorts++] = ':'; /* then getopt_long returns ":" for a missing argument and "?" for an unknown option */
    for (size_t i = 0; (row = option_row(c, i)) && nlongs < OPTIONS_MOST; i++) {
        t->longs[nlongs++] =
            (struct option){row->name, row->argument ? required_argument : no_argument, NULL, LONG + (int)i};
        if (row->letter)
            t->shorts[nshorts++] = row->letter;
        if (row->letter && row->argument)
            t->shorts[nshorts++] = ':';
    }
}

static const struct option_row *row_of(const struct command *c, int returned) {
    return returned >= LONG ? option_row(c, (size_t)(returned - LONG)) : find_letter(c, returned);
}

/* Of an option that the command has not, but others have. */
static bool option_of_others(struct args *args, const char *option, const char *const *others, size_t n) {
    if (*args->command->name)
        return wrong(args, "%s has no option '%s'", args->command->name, option);
    return wrong(args, "option '%s' is one of %s, which has to be the first argument", option,
                 join(args, others, n, " or "));
}

/* Of an option that the command has not. */
static bool unknown_option(struct args *args, const struct getopt_table *t, const char *word) {
    const char *option = text(args, "%.*s", (int)strcspn(word, "="), word),
               *name = begins(option, "--") ? option + 2 : "";
    const char *names[OPTIONS_MOST + 1], *meant, *alike[OPTIONS_MOST];
    const char **others = kept(args, ncommands * sizeof *others);
    size_t nnames = 0, nalike = 0, nothers = 0;
    for (const struct option *l = t->longs; l->name; l++) {
        names[nnames++] = l->name;
        if (*name && begins(l->name, name))
            alike[nalike++] = text(args, "--%s", l->name);
    }
    if (nalike > 1)
        return wrong(args, "ambiguous option '%s': %s", option, join(args, alike, nalike, ", "));
    for (size_t i = 0; i < ncommands; i++)
        if (find_option(commands[i], name, strlen(name)))
            others[nothers++] = commands[i]->name;
    if (nothers)
        return option_of_others(args, option, others, nothers);
    meant = strlen(name) > 1 ? fa_nearest(name, names, nnames) : NULL;
    return meant ? wrong(args, "unknown option '%s': did you mean --%s?", option, meant)
                 : wrong(args, "unknown option '%s'", option);
}

/* Says why getopt_long returned '?' (unknown, ambiguous, argument not wanted) or ':' (argument missing). */
static bool wrong_option(struct args *args, const struct getopt_table *t, int returned, const char *word) {
    const struct option_row *row = row_of(args->command, optopt);
    if (returned == ':')
        return row && optopt < LONG ? wrong(args, "option '-%c' needs an argument", optopt)
                                    : wrong(args, "option '--%s' needs an argument", row ? row->name : word);
    if (optopt >= LONG && row)
        return wrong(args, "option '--%s' takes no argument", row->name);
    if (optopt == 0)
        return unknown_option(args, t, word);
    const char **others = kept(args, ncommands * sizeof *others);
    size_t nothers = 0;
    for (size_t i = 0; i < ncommands; i++)
        if (find_letter(commands[i], optopt))
            others[nothers++] = commands[i]->name;
    if (nothers)
        return option_of_others(args, text(args, "-%c", optopt), others, nothers);
    return wrong(args, "unknown option '-%c'", optopt);
}

/* ---- arguments ---- */

static bool read_count(struct args *args, const struct option_row *row, const char *digits) {
    unsigned n = 0;
    size_t i = 0;
    while (digits[i] >= '0' && digits[i] <= '9' && n <= NUMBER_MOST)
        n = n * 10 + (unsigned)(digits[i++] - '0');
    if (i == 0 || digits[i] || n < row->least || n > row->most)
        return wrong(args, "--%s takes a number from %u to %u", row->name, row->least, row->most);
    *(unsigned *)(void *)((char *)args + row->member) = n;
    return true;
}

bool no_such_word(struct args *args, const struct option_row *row, const char *more) {
    const char *words[WORDS_MOST];
    size_t n = 0;
    for (const char *rest = row->words; *rest && n < WORDS_MOST; rest += strspn(rest, "|")) {
        words[n++] = text(args, "%.*s", (int)strcspn(rest, "|"), rest);
        rest += strlen(words[n - 1]);
    }
    return wrong(args, "--%s takes %s%s", row->name, join(args, words, n, " or "), more);
}

static bool read_word(struct args *args, const struct option_row *row, const char *given) {
    size_t length = strlen(given);
    bool known = false;
    for (const char *at = row->words; !known && *at; at += strspn(at, "|")) {
        size_t n = strcspn(at, "|");
        known = n == length && memcmp(at, given, n) == 0;
        at += n;
    }
    *(const char **)(void *)((char *)args + row->member) = given;
    return known || no_such_word(args, row, "");
}

static bool read_share(struct args *args, const struct option_row *row, const char *given) {
    char *end = NULL;
    double share = strtod(given, &end);
    if (end == given || *end || !(share >= 0 && share <= 1))
        return wrong(args, "--%s takes a number from 0 to 1", row->name);
    *(double *)(void *)((char *)args + row->member) = share;
    return true;
}

static bool read_level(struct args *args, const struct option_row *row) {
    enum fa_levels *level = (enum fa_levels *)(void *)((char *)args + row->member);
    if (*level != FA_BOTH_LEVELS && *level != (enum fa_levels)row->least)
        return wrong(args, "--ttir-only and --ttnn-only exclude each other");
    *level = (enum fa_levels)row->least;
    return true;
}

static bool read_argument(struct args *args, const struct option_row *row, const char *given) {
    void *member = (char *)args + row->member;
    struct word_list *list = member;
    if (row->argument && !*given)
        return wrong(args, "option '--%s' needs an argument", row->name);
    switch (row->kind) {
    case FLAG:
        *(bool *)member = true;
        return true;
    case TEXT:
        *(const char **)member = given;
        return true;
    case WORD:
        return read_word(args, row, given);
    case LIST:
        list->items[list->n++] = given;
        return true;
    case COUNT:
        return read_count(args, row, given);
    case SHARE:
        return read_share(args, row, given);
    case LEVEL:
        return read_level(args, row);
    }
    return true;
}

/* ---- the whole ---- */

/* The first word is a command that has options before it, or nearly one. */
static bool is_late_command(struct args *args, const char *word) {
    const char *names[OPTIONS_MOST], *meant;
    size_t n = 0;
    struct stat st;
    for (size_t i = 1; i < ncommands; i++)
        if (!strchr(commands[i]->name, ' '))
            names[n++] = commands[i]->name;
    if (*args->command->name || stat(word, &st) == 0 || strpbrk(word, "./"))
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return !wrong(args, "the command has to be the first argument: fusion-audit %s ...", word);
    meant = strcmp(word, "help") == 0 ? "--help" : fa_nearest(word, names, n);
    return meant && !wrong(args, "no file and no command is called '%s': did you mean %s?", word, meant);
}

/* What may follow a word that is no command by itself. */
static bool wants_another_word(struct args *args) {
    const char *first = args->command->name;
    const char **words = kept(args, ncommands * sizeof *words);
    size_t length = strlen(first), n = 0;
    for (size_t i = 0; i < ncommands; i++)
        if (strncmp(commands[i]->name, first, length) == 0 && commands[i]->name[length] == ' ')
            words[n++] = commands[i]->name + length + 1;
    return wrong(args, "%s is followed by %s", first, join(args, words, n, " or "));
}

static bool check(struct args *args) {
    const struct command *c = args->command;
    const struct fa_audit_options *o = &args->options;
    size_t standard_inputs = 0;
    for (size_t i = 0; i < o->inputs.nfiles; i++)
        standard_inputs += strcmp(o->inputs.files[i], "-") == 0;
    if (!c->run)
        return wants_another_word(args);
    if (o->inputs.nfiles < c->least || o->inputs.nfiles > c->most)
        return wrong(args, "%s", c->takes);
    if (o->inputs.nfiles && is_late_command(args, o->inputs.files[0]))
        return false;
    if (standard_inputs > 1)
        return wrong(args, "standard input ('-') can be read only once");
    if (o->patterns.no_bundled && o->patterns.nfiles == 0 && find_option(c, "only", 4))
        return wrong(args, "--no-default-patterns leaves no pattern to search: give some with -P");
    return !c->check || c->check(args);
}

static struct args *args_begin(const struct command *c, int argc) {
    const struct option_row *row;
    struct args *args = calloc(1, c->size);
    if (!args)
        exit(complain(FA_INPUT, "out of memory"));
    if (c->defaults)
        memcpy(args, c->defaults, c->size);
    args->command = c;
    for (size_t i = 0; (row = option_row(c, i)); i++)
        if (row->kind == LIST) {
            struct word_list *list = (struct word_list *)(void *)((char *)args + row->member);
            list->items = kept(args, ((size_t)argc + 1) * sizeof *list->items);
        }
    return args;
}

struct args *args_read(int argc, char **argv) {
    size_t length = 0;
    const char *const *words = (const char *const *)(void *)argv;
    const struct command *c = argc > 0 ? find_command(words + 1, (size_t)argc - 1, &length) : commands[0];
    struct args *args = args_begin(c, argc);
    struct getopt_table table;
    int returned;
    argv += length;
    argc -= (int)length;
    getopt_table_make(&table, c);
    opterr = 0;
    optind = 0; /* glibc: starts again, after an earlier call */
    while ((returned = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
        const struct option_row *row = row_of(c, returned);
        bool good = row && returned != '?' && returned != ':' ? read_argument(args, row, optarg ? optarg : "")
                                                              : wrong_option(args, &table, returned, argv[optind - 1]);
        if (!good || args->help || args->version)
            return args;
    }
    args->options.inputs.files = (const char *const *)(void *)(argv + optind);
    args->options.inputs.nfiles = (size_t)(argc - optind);
    args->options.patterns.files = args->patterns.items;
    args->options.patterns.nfiles = args->patterns.n;
    (void)check(args);
    return args;
}

void args_free(struct args *args) {
    kept_free(args);
    free(args);
}
