/* What the program does: the only room that prints. */
#ifndef FA_CLI_RUN_H
#define FA_CLI_RUN_H

/* Runs the command line and returns the exit status (enum fa_status). */
int cli_run(int argc, char **argv);

#endif
