/* The command line, read by getopt_long from the table of options. Long options may be abbreviated, as in GNU
 * programs. */
#include "cli/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/option_table.h"
#include "cli/outputs.h"

#define DIFF_TAKES "diff takes OLD NEW, or OLD.ttir OLD.ttnn NEW.ttir NEW.ttnn"

enum { LONG = 256 /* what getopt_long returns for option_specs[0] */ };

/* The options of one command as getopt_long takes them. */
struct getopt_table {
    struct option longs[OPTIONS_MOST + 1];
    char shorts[2 * OPTIONS_MOST + 2];
};

static void getopt_table_make(struct getopt_table *t, enum command command) {
    size_t nlongs = 0, nshorts = 0;
    memset(t, 0, sizeof *t);
    t->shorts[nshorts++] = ':'; /* then getopt_long returns ":" for a missing argument and "?" for an unknown option */
    for (int i = 0; i < option_nspecs; i++) {
        const struct option_spec *s = &option_specs[i];
        int argument = s->kind == FLAG ? no_argument : required_argument;
        if (!(s->commands & command))
            continue;
        t->longs[nlongs++] = (struct option){s->name, argument, NULL, LONG + i};
        if (s->letter)
            t->shorts[nshorts++] = s->letter;
        if (s->letter && argument == required_argument)
            t->shorts[nshorts++] = ':';
    }
}

static const struct option_spec *spec_of(int returned) {
    if (returned >= LONG && returned < LONG + option_nspecs)
        return &option_specs[returned - LONG];
    for (int i = 0; i < option_nspecs; i++)
        if (option_specs[i].letter && option_specs[i].letter == returned)
            return &option_specs[i];
    return NULL;
}

bool wrong(struct options *o, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(o->error, sizeof o->error, format, args);
    va_end(args);
    return false;
}

static void apply(struct options *o, const struct option_spec *s) {
    char *member = (char *)o + s->member;
    const char *argument = optarg ? optarg : "";
    if (s->kind == FLAG) {
        *(bool *)(void *)member = true;
    } else if (s->kind == TEXT) {
        *(const char **)(void *)member = argument;
    } else {
        struct word_list *list = (struct word_list *)(void *)member;
        list->items[list->n++] = argument;
    }
}

static const char *name_of_command(int set) {
    for (int i = 0; i < command_nspecs; i++)
        if (command_specs[i].command & set)
            return command_specs[i].name;
    return "";
}

/* "inspect or explain": the commands that have an option. */
static const char *names_of_commands(int set, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < command_nspecs && n < size; i++)
        if (command_specs[i].command & set)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " or " : "", command_specs[i].name);
    return out;
}

/* Fails with a message, and returns true, if the option exists in another command. */
static bool wrong_command(struct options *o, const char *name, int length) {
    char list[64];
    for (int i = 0; i < option_nspecs; i++)
        if (strncmp(option_specs[i].name, name, (size_t)length) == 0 && option_specs[i].name[length] == '\0') {
            if (o->command != CMD_AUDIT)
                wrong(o, "%s has no option '--%s'", name_of_command(o->command), option_specs[i].name);
            else
                wrong(o, "option '--%s' is one of %s, which has to be the first argument", option_specs[i].name,
                      names_of_commands(option_specs[i].commands, list, sizeof list));
            return true;
        }
    return false;
}

/* Says why getopt_long returned '?' (unknown, ambiguous, argument not wanted) or ':' (argument missing). */
static bool wrong_option(struct options *o, const struct getopt_table *t, int returned, const char *word) {
    const struct option_spec *s = spec_of(optopt);
    int length = (int)strcspn(word, "=");
    int candidates = 0, n = 0;
    char list[256];
    if (returned == ':')
        return s && optopt < LONG ? wrong(o, "option '-%c' needs an argument", optopt)
                                  : wrong(o, "option '--%s' needs an argument", s ? s->name : word);
    if (optopt >= LONG && s)
        return wrong(o, "option '--%s' takes no argument", s->name);
    if (optopt != 0)
        return s ? wrong(o, "%s has no option '-%c'", name_of_command(o->command), optopt)
                 : wrong(o, "unknown option '-%c'", optopt);
    for (const struct option *l = t->longs; l->name; l++)
        if (length > 2 && strncmp(l->name, word + 2, (size_t)length - 2) == 0 && n < (int)sizeof list)
            n += snprintf(list + n, sizeof list - (size_t)n, "%s--%s", candidates++ ? ", " : "", l->name);
    if (candidates > 1)
        return wrong(o, "ambiguous option '%.*s': %s", length, word, list);
    if (length > 2 && wrong_command(o, word + 2, length - 2))
        return false;
    const char *names[OPTIONS_MOST + 1], *nearest = NULL;
    size_t nnames = 0;
    for (const struct option *l = t->longs; l->name; l++)
        names[nnames++] = l->name;
    if (length > 3)
        nearest = str_nearest((struct str){word + 2, (size_t)length - 2}, names, nnames);
    return nearest ? wrong(o, "unknown option '%.*s': did you mean --%s?", length, word, nearest)
                   : wrong(o, "unknown option '%.*s'", length, word);
}

/* "name=N", comma-separated. */
static bool check_limits(struct options *o) {
    const struct {
        const char *name;
        unsigned long *value;
        int commands;
    } limits[] = {{"steps=", &o->max_steps, CMD_SEARCH},
                  {"diagnostics=", &o->max_diagnostics, CMD_SEARCH},
                  {"input=", &o->max_input, CMD_AUDIT | CMD_DIFF | CMD_EXPLAIN | CMD_INSPECT | CMD_VERIFY},
                  {"places=", &o->max_places, CMD_EXPLAIN}};
    enum { N = sizeof limits / sizeof *limits };
    for (const char *p = o->limit; p && *p;) {
        int i = 0;
        while (i < N && (!(limits[i].commands & o->command) || strncmp(p, limits[i].name, strlen(limits[i].name)) != 0))
            i++;
        const char *digits = i < N ? p + strlen(limits[i].name) : "";
        char *end = NULL;
        if (*digits < '0' || *digits > '9')
            return wrong(o, "--limit takes %s",
                         o->command == CMD_EXPLAIN    ? "steps=N, diagnostics=N, input=N or places=N"
                         : o->command == CMD_AUDIT    ? "steps=N, diagnostics=N or input=N"
                         : o->command == CMD_PATTERNS ? "steps=N or diagnostics=N"
                                                      : "input=N");
        unsigned long n = strtoul(digits, &end, 10);
        if ((*end && *end != ',') || n == 0 || n > 1000000000)
            return wrong(o, "--limit takes a number from 1 to 1000000000");
        *limits[i].value = n;
        p = end + (*end == ',');
    }
    return true;
}

static bool check_jobs(struct options *o) {
    char *end = NULL;
    if (!o->jobs)
        return true;
    o->njobs = strtoul(o->jobs, &end, 10);
    return o->jobs[0] >= '0' && o->jobs[0] <= '9' && *end == '\0' && o->njobs > 0 && o->njobs <= 1024
               ? true
               : wrong(o, "--jobs takes a number from 1 to 1024");
}

static bool check_share(struct options *o) {
    char *end = NULL;
    o->least_compared = 0.9;
    if (!o->min_compared)
        return true;
    o->least_compared = strtod(o->min_compared, &end);
    return end != o->min_compared && *end == '\0' && o->least_compared >= 0 && o->least_compared <= 1
               ? true
               : wrong(o, "--min-compared takes a number from 0 to 1");
}

static bool check_choice(struct options *o) {
    const struct {
        const char *name, *list;
    } lists[] = {{"--only", o->only}, {"--skip", o->skip}, {"--source", o->sources}, {"--include", o->include}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].list && !*lists[i].list)
            return wrong(o, "the list of %s is empty", lists[i].name);
    for (size_t i = 0; i < o->patterns.n; i++)
        if (!*o->patterns.items[i])
            return wrong(o, "the name of a pattern file is empty");
    if (o->no_default_patterns && o->patterns.n == 0)
        return wrong(o, "--no-default-patterns leaves no pattern to search: give some with -P");
    return true;
}

/* False when the first word is no file, and close to the name of a command. */
static bool check_first_word(struct options *o) {
    const char *names[16], *nearest;
    struct stat st;
    for (int i = 0; i < command_nspecs; i++)
        names[i] = command_specs[i].name;
    if (o->command != CMD_AUDIT || stat(o->files[0], &st) == 0 || strpbrk(o->files[0], "./"))
        return true;
    nearest = strcmp(o->files[0], "help") == 0 ? "--help" : str_nearest(str_of(o->files[0]), names, command_nspecs);
    return !nearest || wrong(o, "no file and no command is called '%s': did you mean %s?", o->files[0], nearest);
}

static bool check(struct options *o) {
    size_t standard_inputs = 0;
    for (size_t i = 0; i < o->nfiles; i++)
        standard_inputs += strcmp(o->files[i], "-") == 0;
    if (o->nfiles == 0)
        return wrong(o, "no input file");
    if (!check_first_word(o))
        return false;
    if (standard_inputs > 1)
        return wrong(o, "standard input ('-') can be read only once");
    if (o->ttir_only && o->ttnn_only)
        return wrong(o, "--ttir-only and --ttnn-only exclude each other");
    if (o->at && !*o->at)
        return wrong(o, "the place of --at is empty");
    return check_choice(o) && check_jobs(o) && check_share(o) && check_limits(o) &&
           (!(o->command & (CMD_AUDIT | CMD_VERIFY)) || outputs_check(o));
}

/* Makes the names after the action the list of --only. */
static bool join_names(struct options *o) {
    size_t n = 1, at = 0;
    for (size_t i = 0; i < o->nfiles; i++)
        n += strlen(o->files[i]) + 1;
    if (o->nfiles == 0)
        return true;
    if (o->only)
        return wrong(o, "names and --only exclude each other");
    o->names = xcalloc(n, 1);
    for (size_t i = 0; i < o->nfiles; i++)
        at += (size_t)snprintf(o->names + at, n - at, "%s%s", i ? "," : "", o->files[i]);
    o->only = o->names;
    return true;
}

/* The actions of `patterns`, and the words that follow them. */
static const struct {
    const char *name;
    bool names;         /* they are names of patterns, as for --only */
    const char *needed; /* message when there are none, or NULL */
} actions[] = {
    [ACTION_LIST] = {"list", true, NULL},
    [ACTION_SHOW] = {"show", false, "patterns show needs the name of a pattern"},
    [ACTION_CHECK] = {"check", false, "patterns check needs a file or a directory"},
    [ACTION_TEST] = {"test", true, NULL},
    [ACTION_NEW] = {"new", false, NULL},
    [ACTION_CONDITIONS] = {"conditions", false, NULL},
};

enum { NACTIONS = sizeof actions / sizeof *actions };

static bool find_action(struct options *o) {
    for (int i = 0; i < NACTIONS && o->nfiles > 0; i++)
        if (strcmp(o->files[0], actions[i].name) == 0) {
            o->action = (enum action)i;
            o->files++;
            o->nfiles--;
            return true;
        }
    return wrong(o, "patterns is followed by list, show, check, test, new or conditions");
}

static bool check_seed(struct options *o) {
    char *end = NULL;
    if (!o->seed)
        return true;
    if (o->action != ACTION_TEST)
        return wrong(o, "patterns %s takes no --seed", actions[o->action].name);
    o->seed_number = strtoul(o->seed, &end, 10);
    return (*o->seed >= '0' && *o->seed <= '9' && !*end && o->seed_number <= 1000000000) ||
           wrong(o, "--seed takes a number from 0 to 1000000000");
}

static bool check_patterns(struct options *o) {
    if (!find_action(o))
        return false;
    if (actions[o->action].needed && o->nfiles == 0)
        return wrong(o, "%s", actions[o->action].needed);
    bool is_new = o->action == ACTION_NEW;
    if (is_new && (!o->from || !*o->from || !o->ops || !*o->ops || o->nfiles > 0))
        return wrong(o, "patterns new takes --from=FILE and --ops=%%14,%%17");
    if (!is_new && (o->from || o->ops || o->ttir_only || o->ttnn_only))
        return wrong(o, "patterns %s takes no --from, --ops, --ttir-only or --ttnn-only", actions[o->action].name);
    if (o->ttir_only && o->ttnn_only)
        return wrong(o, "--ttir-only and --ttnn-only exclude each other");
    if (!check_seed(o))
        return false;
    if (!actions[o->action].names)
        return check_limits(o);
    return join_names(o) && check_choice(o) && check_limits(o);
}

bool options_parse(struct options *o, int argc, char **argv) {
    struct getopt_table table;
    int returned;
    *o = (struct options){.command = CMD_AUDIT};
    o->patterns.items = xcalloc((size_t)argc + 1, sizeof *o->patterns.items);
    o->formats.items = xcalloc((size_t)argc + 1, sizeof *o->formats.items);
    for (int i = 0; i < command_nspecs && argc > 1 && o->command == CMD_AUDIT; i++)
        if (strcmp(argv[1], command_specs[i].name) == 0) {
            o->command = command_specs[i].command;
            if (o->command == CMD_VERIFY)
                o->output = "fusion_check.yml";
            argv++;
            argc--;
        }
    getopt_table_make(&table, o->command);
    opterr = 0;
    optind = 0; /* glibc: starts again, after an earlier call */
    while ((returned = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
        const struct option_spec *s = spec_of(returned);
        if (!s || returned == '?' || returned == ':')
            return wrong_option(o, &table, returned, argv[optind - 1]);
        apply(o, s);
        if (o->help || o->version)
            return true;
    }
    o->files = (const char *const *)(void *)(argv + optind);
    o->nfiles = (size_t)(argc - optind);
    return o->command == CMD_PATTERNS     ? check_patterns(o)
           : o->command == CMD_LOWER      ? check_choice(o)
           : o->command == CMD_DIFF       ? o->nfiles == 2 || o->nfiles == 4 || wrong(o, DIFF_TAKES)
           : o->command == CMD_SUMMARY    ? o->nfiles > 0 || wrong(o, "summary needs a report")
           : o->command == CMD_COMPLETION ? o->nfiles == 1 || wrong(o, "completion is followed by bash, zsh or fish")
                                          : check(o);
}

void options_free(struct options *o) {
    free(o->patterns.items);
    free(o->formats.items);
    free(o->names);
    o->patterns.items = o->formats.items = NULL;
    o->names = NULL;
}

struct fa_options options_audit(const struct options *o) {
    return (struct fa_options){
        .files = o->files,
        .nfiles = o->nfiles,
        .levels = o->ttir_only   ? FA_TTIR_ONLY
                  : o->ttnn_only ? FA_TTNN_ONLY
                                 : FA_BOTH_LEVELS,
        .patterns = o->patterns.items,
        .npatterns = o->patterns.n,
        .no_default_patterns = o->no_default_patterns,
        .only = o->only,
        .skip = o->skip,
        .sources = o->sources,
        .include = o->include,
        .device = o->device,
        .perf = o->perf,
        .suppress = o->suppress,
        .sort = o->sort,
        .classify = o->classify,
        .details = o->details,
        .jobs = (unsigned)o->njobs,
        .dry_run = o->dry_run,
        .baseline = o->baseline,
        .strict_baseline = o->strict_baseline,
        .expect = o->expect,
        .inventory = o->write_baseline || o->write_expect,
        .no_validate = o->no_validate,
        .unpaired = o->unpaired,
        .say_unproved = o->verbose,
        .seed = o->seed_number,
        .max_diagnostics = (unsigned)o->max_diagnostics,
        .max_steps = o->max_steps,
        .max_input = o->max_input,
    };
}
