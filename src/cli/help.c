/* --help: what a command does, its options and its exit status. */
#include <string.h>

#include "cli/options.h"

/* One option: its names in a column, its text beside them. */
static void print_option(const struct option_row *row, FILE *out) {
    enum { COLUMN = 29 };
    char names[80];
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    int n = snprintf(names, sizeof names, "  %s--%s%s%s", letter, row->name, row->argument ? "=" : "",
                     row->argument ? row->argument : "");
    fputs(names, out);
    for (const char *line = row->help; *line; n = 0) {
        size_t length = strcspn(line, "\n");
        if (n >= COLUMN) {
            fputc('\n', out);
            n = 0;
        }
        fprintf(out, "%*s%.*s\n", COLUMN - n, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void print_help(const struct command *c, FILE *out) {
    const struct option_row *row;
    fprintf(out, "%s\n", c->usage);
    for (size_t i = 1; i < ncommands && !*c->name; i++)
        if (!strchr(commands[i]->name, ' '))
            fprintf(out, "  %-27s%s\n", commands[i]->name, commands[i]->help);
    if (!*c->name)
        fputc('\n', out);
    for (size_t i = 0; (row = option_row(c, i)); i++)
        print_option(row, out);
    fprintf(out, "\n%s", c->after);
}
