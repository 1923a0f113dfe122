#include "cli/commands.h"

struct inspect_args {
    struct args args;
    bool json;
};

static enum fa_status run(struct args *args, FILE *out) {
    bool json = ((struct inspect_args *)args)->json;
    args->lines = !json;
    return fa_inspect(&(struct fa_inspect_options){.inputs = args->options.inputs, .json = json}, out);
}

static const struct option_row rows[] = {
    {"json", 0, FLAG, offsetof(struct inspect_args, json), NULL, .help = "print one JSON document instead"},
};

const struct command inspect_command = {
    .name = "inspect",
    .help = "what was understood of a file",
    .usage = "Usage: fusion-audit inspect [options] FILE...\n"
             "\n"
             "Says what was understood of each file: its blocks of IR, their functions and\n"
             "ops, what could not be read, and how many TTNN ops were paired with TTIR ops.\n"
             "Takes any number of files, at any levels; '-' is standard input.\n",
    .after = "Exit status: 0 all was read; 2 wrong usage; 3 something could not be read.\n",
    .own = {rows, 1},
    .shared = {&unpaired_options},
    .size = sizeof(struct inspect_args),
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .run = run,
    .prints = true,
};
