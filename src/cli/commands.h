/* The commands. Those that print do it to `out`; all else goes to standard error. */
#ifndef FA_CLI_COMMANDS_H
#define FA_CLI_COMMANDS_H

#include "cli/options.h"

extern const struct command audit_command, inspect_command, explain_command, patterns_command, diff_command,
    summary_command, lower_command, verify_command, apply_command, repro_command, pass_command, try_command,
    completion_command, patterns_list_command, patterns_show_command, patterns_check_command, patterns_test_command,
    patterns_new_command, patterns_conditions_command;

#endif
