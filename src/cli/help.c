/* The texts of --help: what stands before and after the options of a command, which option_table.c has. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/option_table.h"

static const struct text {
    enum command command;
    const char *before, *after;
} texts[] = {
    {CMD_AUDIT,
     "Usage: fusion-audit [options] FILE...\n"
     "       fusion-audit COMMAND [options] ...      each has a --help of its own\n"
     "\n"
     "Finds op fusions that a Tenstorrent compile missed. Give the TTIR and the TTNN\n"
     "of one model, as .mlir files in either order or as one log that holds both;\n"
     "'-' is standard input. Missed fusions are written to fusion_todo.yml. When\n"
     "nothing is missed, nothing is written and nothing is printed.\n",
     "Exit status: 0 nothing missed; 1 missed fusions reported; 2 wrong usage or bad\n"
     "pattern; 3 input unreadable, not what was asked for, or partly skipped with\n"
     "nothing found.\n"
     "\n"
     "Examples:\n"
     "  fusion-audit model.ttir.mlir model.ttnn.mlir\n"
     "  fusion-audit -o - --only='ttnn.linear' run.log\n"
     "\n"
     "See fusion-audit(1), fusion-todo(5), fusion-patterns(5).\n"},
    {CMD_INSPECT,
     "Usage: fusion-audit inspect [--json] FILE...\n"
     "\n"
     "Says what was understood of each file: its blocks of IR, their functions and\n"
     "ops, what could not be read, and how many TTNN ops were paired with TTIR ops.\n"
     "Takes any number of files, at any levels; '-' is standard input.\n",
     "Exit status: 0 all was read; 2 wrong usage; 3 something could not be read.\n"},
    {CMD_EXPLAIN,
     "Usage: fusion-audit explain [options] FILE...\n"
     "\n"
     "Says where patterns nearly match and what is different there. The files are\n"
     "those of an audit.\n",
     "Exit status: 0 whatever was found; 2 wrong usage or bad pattern; 3 an error\n"
     "in the input, or nothing is at PLACE.\n"
     "\n"
     "Example:\n"
     "  fusion-audit explain --at=add.174 --only=linear --ttnn-only model.ttnn.mlir\n"},
    {CMD_DIFF,
     "Usage: fusion-audit diff [options] OLD NEW\n"
     "       fusion-audit diff [options] OLD.ttir OLD.ttnn NEW.ttir NEW.ttnn\n"
     "\n"
     "Says which fused ops the compile NEW has lost, partly lost, gained or changed\n"
     "against OLD, each with its place, and which findings are new or gone. OLD and\n"
     "NEW are each a log or a TTNN file, or both are reports; /dev/null is a report\n"
     "without findings.\n",
     "Exit status: 0; 1 a fused op was lost, or a finding is new; 2 wrong usage; 3 an\n"
     "input that cannot be read.\n"},
    {CMD_SUMMARY,
     "Usage: fusion-audit summary REPORT...\n"
     "\n"
     "Prints a table over many reports, in YAML or JSON, the worst first.\n",
     "Exit status: 0; 2 wrong usage; 3 a report that cannot be read.\n"
     "\n"
     "Example:\n"
     "  fusion-audit summary reports/*.yml\n"},
    {CMD_LOWER,
     "Usage: fusion-audit lower [-P DIR|FILE] [--no-default-patterns] [OP]...\n"
     "\n"
     "Says what each fused op computes, as formulas over simpler ops, and the source\n"
     "of that. Without OP it lists the fused ops of which this is known.\n",
     "Exit status: 0; 2 wrong usage, a bad pattern file, or an OP that is not known.\n"
     "\n"
     "Example:\n"
     "  fusion-audit lower ttnn.rms_norm\n"},
    {CMD_PATTERNS,
     "Usage: fusion-audit patterns list [NAME]...    name, fused op, source, summary\n"
     "       fusion-audit patterns show NAME...      as written, and what is searched\n"
     "       fusion-audit patterns check FILE...     mistakes; silent without any\n"
     "       fusion-audit patterns test [NAME]...    run the examples of the patterns\n"
     "       fusion-audit patterns new --from=FILE --ops=%14,%17\n"
     "                                               draft a pattern of these ops\n"
     "       fusion-audit patterns conditions        what a pattern may ask of a match\n"
     "\n"
     "NAME is a glob over names and fused ops, FILE a pattern file or a directory.\n",
     "Exit status: 0; 1 an example fails; 2 wrong usage or bad pattern; 3 FILE of\n"
     "--from unreadable, or its ops make no pattern.\n"
     "\n"
     "See fusion-patterns(5).\n"},
    {CMD_VERIFY,
     "Usage: fusion-audit verify [options] BEFORE AFTER\n"
     "       fusion-audit verify [options] LOG\n"
     "\n"
     "Says whether two modules of one compile compute the same: TTIR and TTNN, or two\n"
     "stages of one of them. Regions between values that both modules have are\n"
     "evaluated on numbers. Of a log each stage is compared with the one before. What\n"
     "differs is written to fusion_check.yml, with the inputs that show it. When\n"
     "nothing differs, nothing is written and nothing is printed.\n",
     "Exit status: 0 nothing differs; 1 something does; 2 wrong usage; 3 unreadable,\n"
     "no pair, or too little compared.\n"
     "\n"
     "Examples:\n"
     "  fusion-audit verify model.ttir.mlir model.ttnn.mlir\n"
     "  fusion-audit verify --only='*.mean' -o - passes.log\n"
     "  fusion-audit verify --precision model.ttir.mlir model.ttnn.mlir\n"},
    {CMD_COMPLETION,
     "Usage: fusion-audit completion bash|zsh|fish\n"
     "\n"
     "Prints what makes the shell complete commands and options.\n",
     "Exit status: 0; 2 wrong usage.\n"
     "\n"
     "Example:\n"
     "  eval \"$(fusion-audit completion bash)\"\n"},
};

/* One option: its names in a column, its text beside them. */
static void print_option(const struct option_spec *s, FILE *out) {
    enum { COLUMN = 29 };
    char names[80];
    char letter[8] = "    ";
    if (s->letter)
        snprintf(letter, sizeof letter, "-%c, ", s->letter);
    int n = snprintf(names, sizeof names, "  %s--%s%s%s", letter, s->name, s->argument ? "=" : "",
                     s->argument ? s->argument : "");
    fputs(names, out);
    for (const char *line = s->help; *line; n = 0) {
        size_t length = strcspn(line, "\n");
        if (n >= COLUMN) {
            fputc('\n', out);
            n = 0;
        }
        fprintf(out, "%*s%.*s\n", COLUMN - n, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void print_help(const struct options *o, FILE *out) {
    const struct text *t = texts;
    while (t->command != o->command)
        t++;
    fprintf(out, "%s\n", t->before);
    for (int i = 0; i < command_nspecs && o->command == CMD_AUDIT; i++)
        fprintf(out, "  %-27s%s\n", command_specs[i].name, command_specs[i].help);
    if (o->command == CMD_AUDIT)
        fputc('\n', out);
    for (int i = 0; i < option_nspecs; i++)
        if (option_specs[i].commands & (int)o->command)
            print_option(&option_specs[i], out);
    fprintf(out, "\n%s", t->after);
}
