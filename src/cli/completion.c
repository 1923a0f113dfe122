/* Completion of the command line, printed for a shell from the table of options. The names in the table have no
 * character that a shell would read; its texts have no single quote but in `'-'`, which is left out. */
#include "cli/commands.h"

#include <string.h>

#include "cli/option_table.h"
#include "cli/say.h"

static bool takes_path(const struct option_spec *s) {
    return s->argument && (strncmp(s->argument, "FILE", 4) == 0 || strncmp(s->argument, "DIR", 3) == 0);
}

/* A list of words to choose from. */
static bool takes_word(const struct option_spec *s) {
    return s->argument && !takes_path(s) && strchr(s->argument, '|');
}

/* The text of an option in one line, without what a shell would take for a quote. */
static void print_text(const struct option_spec *s, const char *without, FILE *out) {
    for (const char *p = s->help; *p; p++)
        if (!strchr(without, *p))
            fputc(*p == '\n' ? ' ' : *p, out);
}

static void print_words(const char *words, FILE *out) {
    for (const char *p = words; *p; p++)
        fputc(*p == '|' ? ' ' : *p, out);
}

static void print_command_names(const char *between, FILE *out) {
    for (int i = 0; i < command_nspecs; i++)
        fprintf(out, "%s%s", i ? between : "", command_specs[i].name);
}

static void print_bash_options(int command, FILE *out) {
    for (int i = 0; i < option_nspecs; i++)
        if (option_specs[i].commands & command)
            fprintf(out, " --%s%s", option_specs[i].name, option_specs[i].argument ? "=" : "");
}

static void print_bash(FILE *out) {
    fputs("_fusion_audit() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
          "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    [[ $cur == = ]] && cur=\n"
          "    case $prev in\n",
          out);
    for (int i = 0; i < option_nspecs; i++)
        if (takes_word(&option_specs[i])) {
            fprintf(out, "    --%s) COMPREPLY=($(compgen -W '", option_specs[i].name);
            print_words(option_specs[i].argument, out);
            fputs("' -- \"$cur\")); return ;;\n", out);
        }
    fputs("    esac\n    case ${COMP_WORDS[1]} in\n", out);
    for (int i = 0; i < command_nspecs; i++) {
        fprintf(out, "    %s) words='", command_specs[i].name);
        print_bash_options((int)command_specs[i].command, out);
        fputs("' ;;\n", out);
    }
    fputs("    *) words='", out);
    print_bash_options(CMD_AUDIT, out);
    fputs("' ;;\n    esac\n    [[ $COMP_CWORD == 1 ]] && words+=' ", out);
    print_command_names(" ", out);
    fputs("'\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
          "}\n"
          "complete -o default -F _fusion_audit fusion-audit\n",
          out);
}

static void print_zsh_options(int command, FILE *out) {
    for (int i = 0; i < option_nspecs; i++) {
        const struct option_spec *s = &option_specs[i];
        if (!(s->commands & command))
            continue;
        fprintf(out, "        '%s--%s%s[", s->kind == LIST ? "*" : "", s->name, s->argument ? "=" : "");
        print_text(s, "'[]", out);
        fputc(']', out);
        if (takes_path(s))
            fputs(":file:_files", out);
        else if (takes_word(s)) {
            fputs(":word:(", out);
            print_words(s->argument, out);
            fputc(')', out);
        } else if (s->argument)
            fputs(":value: ", out);
        fputs("'\n", out);
    }
}

static void print_zsh(FILE *out) {
    fputs("#compdef fusion-audit\n"
          "_fusion_audit() {\n"
          "    local -a options\n"
          "    case $words[2] in\n",
          out);
    for (int i = 0; i < command_nspecs; i++) {
        fprintf(out, "    %s) options=(\n", command_specs[i].name);
        print_zsh_options((int)command_specs[i].command, out);
        fputs("        ) ;;\n", out);
    }
    fputs("    *) options=(\n", out);
    print_zsh_options(CMD_AUDIT, out);
    fputs("        ) ;;\n    esac\n    if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n        compadd ", out);
    print_command_names(" ", out);
    fputs("\n        _files\n    else\n        _arguments $options '*:file:_files'\n    fi\n}\n"
          "if [[ $funcstack[1] == _fusion_audit ]]; then _fusion_audit; else compdef _fusion_audit fusion-audit; fi\n",
          out);
}

static void print_fish_options(const char *condition, int command, FILE *out) {
    for (int i = 0; i < option_nspecs; i++) {
        const struct option_spec *s = &option_specs[i];
        if (!(s->commands & command))
            continue;
        fprintf(out, "complete -c fusion-audit -n '%s' -l %s", condition, s->name);
        if (s->letter)
            fprintf(out, " -s %c", s->letter);
        if (s->argument)
            fputs(takes_path(s) ? " -r -F" : " -x", out);
        if (takes_word(s)) {
            fputs(" -a '", out);
            print_words(s->argument, out);
            fputc('\'', out);
        }
        fputs(" -d '", out);
        print_text(s, "'", out);
        fputs("'\n", out);
    }
}

static void print_fish(FILE *out) {
    char condition[256];
    int n = snprintf(condition, sizeof condition, "not __fish_seen_subcommand_from");
    for (int i = 0; i < command_nspecs; i++)
        n += snprintf(condition + n, sizeof condition - (size_t)n, " %s", command_specs[i].name);
    print_fish_options(condition, CMD_AUDIT, out);
    for (int i = 0; i < command_nspecs; i++) {
        fprintf(out, "complete -c fusion-audit -n __fish_is_first_arg -a %s -d '%s'\n", command_specs[i].name,
                command_specs[i].help);
        snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", command_specs[i].name);
        print_fish_options(condition, (int)command_specs[i].command, out);
    }
}

enum fa_status run_completion(const struct options *o, FILE *out) {
    static const struct {
        const char *name;
        void (*print)(FILE *);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(o->files[0], shells[i].name) == 0) {
            shells[i].print(out);
            return FA_CLEAN;
        }
    return complain(FA_USAGE, "completion is followed by bash, zsh or fish");
}
