/* Files that nothing is left of, whatever ends the process. */
#ifndef FA_TEMPORARY_H
#define FA_TEMPORARY_H

#include <signal.h>

/* Opens a file without a name in this directory, for reading and writing; where the file system has such files it can
 * be given a name by linkat. -1 with errno. */
int unnamed_file(const char *directory);

/* While a temporary file has a name, no signal ends the process: returns the mask as it was, to be set again. */
sigset_t hold_signals(void);
void release_signals(const sigset_t *as_they_were);

#endif
