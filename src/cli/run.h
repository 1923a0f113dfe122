/* The program behind main. */
#ifndef FA_CLI_RUN_H
#define FA_CLI_RUN_H

/* Runs the command line; returns the exit status (enum fa_status). Reorders argv. */
int cli_run(int argc, char **argv);

#endif
