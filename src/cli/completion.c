/* Completion of the command line. The shell gets a function that asks the program, with the words so far, for what the
 * last of them may become: a line each, with what it means behind a tab. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

static const struct {
    const char *name, *function;
} shells[] = {
    {"bash", "_fusion_audit() {\n"
             "    local IFS=$'\\n'\n"
             "    COMPREPLY=($(fusion-audit completion bash -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" | cut -f1))\n"
             "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
             "}\n"
             "complete -o default -F _fusion_audit fusion-audit\n"},
    {"zsh",
     "#compdef fusion-audit\n"
     "_fusion_audit() {\n"
     "    local -a lines\n"
     "    local word\n"
     "    lines=(${(f)\"$(fusion-audit completion zsh -- \"${(@)words[2,CURRENT]}\")\"})\n"
     "    (( $#lines )) || { _files; return }\n"
     "    for word in ${lines%%$'\\t'*}; do\n"
     "        [[ $word == *= ]] && compadd -S '' -- $word || compadd -- $word\n"
     "    done\n"
     "}\n"
     "if [[ $funcstack[1] == _fusion_audit ]]; then _fusion_audit; else compdef _fusion_audit fusion-audit; fi\n"},
    {"fish", "function __fusion_audit\n"
             "    set -l words (commandline -opc) (commandline -ct)\n"
             "    set -l found (fusion-audit completion fish -- $words[2..-1])\n"
             "    set -q found[1]; and printf '%s\\n' $found; or __fish_complete_path (commandline -ct)\n"
             "end\n"
             "complete -c fusion-audit -f -a '(__fusion_audit)'\n"},
};

/* The word to complete: what stands, what may become something else, and the option whose argument it is. */
struct last_word {
    const char *before, *word;       /* `before` ends where `word` begins */
    const struct option_row *option; /* or NULL */
};

/* `n` bytes of `word`, and what it means. */
static void print_candidate(const struct last_word *t, const char *word, size_t n, const char *end, const char *means,
                            FILE *out) {
    size_t given = strlen(t->word);
    if (n >= given && memcmp(word, t->word, given) == 0)
        fprintf(out, "%.*s%.*s%s\t%.*s\n", (int)(t->word - t->before), t->before, (int)n, word, end,
                (int)strcspn(means, "\n"), means);
}

/* Commands, or what may follow the first word of some. */
static void print_commands(const struct last_word *t, const char *first, FILE *out) {
    for (size_t i = 1; i < ncommands; i++) {
        const char *name = commands[i]->name, *second = strchr(name, ' ');
        bool follows = first && second && strlen(first) == (size_t)(second - name) && begins(name, first);
        if (first ? follows : !second)
            print_candidate(t, first ? second + 1 : name, strlen(first ? second + 1 : name), "",
                            first ? "" : commands[i]->help, out);
    }
}

static void print_options(const struct last_word *t, const struct command *c, FILE *out) {
    const struct option_row *row;
    for (size_t i = 0; (row = option_row(c, i)); i++) {
        char name[64];
        size_t n = (size_t)snprintf(name, sizeof name, "--%s", row->name);
        print_candidate(t, name, n, row->argument ? "=" : "", row->help, out);
    }
}

/* The words of a column of lines that are not indented, each once. */
static void print_column(const struct last_word *t, const char *lines, int column, FILE *out) {
    const char **words = NULL;
    size_t n = 0, all = 1;
    for (const char *at = lines; *at; at++)
        all += *at == '\n';
    words = calloc(all, sizeof *words);
    for (const char *line = lines; words && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *word = line;
        for (int i = 0; i < column; i++)
            word += strcspn(word, " \n"), word += strspn(word, " ");
        size_t length = strcspn(word, " \n"), k = 0;
        while (k < n && *line != ' ' && (strncmp(words[k], word, length) != 0 || strcspn(words[k], " \n") != length))
            k++;
        if (k == n && *line != ' ') {
            words[n++] = word;
            print_candidate(t, word, length, "", "", out);
        }
    }
    free(words);
}

/* Names of patterns and fused ops, as `patterns list` begins its lines with them. */
static void print_patterns(const struct last_word *t, FILE *out) {
    struct fa_library *l = fa_library_read(&(struct fa_patterns){.nfiles = 0}, 0);
    char *lines = NULL;
    size_t n = 0;
    FILE *list = open_memstream(&lines, &n);
    if (list) {
        fa_library_list(l, list);
        fclose(list);
    }
    for (int column = 0; lines && column < 2; column++)
        print_column(t, lines, column, out);
    free(lines);
    fa_library_free(l);
}

static bool takes_names(const struct command *c) {
    return c == &patterns_list_command || c == &patterns_show_command || c == &patterns_test_command;
}

static bool takes_patterns(const struct option_row *row) {
    return row->argument && strcmp(row->argument, "GLOBS") == 0;
}

/* Leaves of a list with commas the last item. */
static void take_item(struct last_word *t) {
    const char *comma = strrchr(t->word, ',');
    t->word = comma ? comma + 1 : t->word;
}

static const struct option_row *option_of(const struct command *c, const char *word, size_t n) {
    if (n > 2 && strncmp(word, "--", 2) == 0)
        return find_option(c, word + 2, n - 2);
    return n == 2 && word[0] == '-' ? find_letter(c, word[1]) : NULL;
}

/* "--sort=na" is one word for some shells, and three for others. */
static struct last_word read_last_word(const struct command *c, const char *const *words, size_t n) {
    struct last_word t = {words[n - 1], words[n - 1], NULL};
    size_t name = strcspn(t.word, "=");
    if (strcmp(t.word, "=") == 0)
        t.before = t.word = t.word + 1;
    else if (t.word[name] && (t.option = option_of(c, t.word, name))) {
        t.word += name + 1;
        return t;
    }
    size_t at = n > 2 && strcmp(words[n - 2], "=") == 0 ? n - 3 : n - 2;
    if (n > 1)
        t.option = option_of(c, words[at], strlen(words[at]));
    if (t.option && !t.option->argument)
        t.option = NULL;
    return t;
}

static enum fa_status complete(const char *const *words, size_t n, FILE *out) {
    size_t length = 0;
    const struct command *c = find_command(words, n - 1, &length);
    struct last_word t = read_last_word(c, words, n);
    if (t.option) {
        take_item(&t);
        for (const char *choice = t.option->words; choice && *choice; choice += strspn(choice, "|")) {
            print_candidate(&t, choice, strcspn(choice, "|"), "", "", out);
            choice += strcspn(choice, "|");
        }
        if (takes_patterns(t.option))
            print_patterns(&t, out);
    } else if (*t.word == '-') {
        print_options(&t, c, out);
    } else if (n == 1 || (n == 2 && !c->run)) {
        print_commands(&t, n == 2 ? words[0] : NULL, out);
    } else if (takes_names(c)) {
        print_patterns(&t, out);
    }
    return FA_CLEAN;
}

static enum fa_status run(struct args *args, FILE *out) {
    const struct fa_audit_options *o = &args->options;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(o->inputs.files[0], shells[i].name) != 0)
            continue;
        if (o->inputs.nfiles > 1)
            return complete(o->inputs.files + 1, o->inputs.nfiles - 1, out);
        fputs(shells[i].function, out);
        return FA_CLEAN;
    }
    return fails(args, FA_USAGE, "%s", args->command->takes);
}

const struct command completion_command = {
    .name = "completion",
    .help = "completion for bash, zsh, fish",
    .usage = "Usage: fusion-audit completion bash|zsh|fish\n"
             "       fusion-audit completion SHELL -- WORD...\n"
             "\n"
             "Prints what makes the shell complete commands, options and what they take; with\n"
             "WORDs, what the last of them may become.\n",
    .after = "Exit status: 0; 2 wrong usage.\n"
             "\n"
             "Example:\n"
             "  eval \"$(fusion-audit completion bash)\"\n",
    .size = sizeof(struct args),
    .least = 1,
    .most = SIZE_MAX,
    .takes = "completion is followed by bash, zsh or fish",
    .run = run,
    .prints = true,
};
