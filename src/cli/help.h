/* The text of --help: one screen, the same facts as fusion-audit(1). */
#ifndef FA_CLI_HELP_H
#define FA_CLI_HELP_H

extern const char help_text[];

#endif
