/* Another program, run without a shell. */
#ifndef FA_CLI_PROCESS_H
#define FA_CLI_PROCESS_H

#include <stdbool.h>

struct process {
    char *const *argv; /* argv[0] is looked for in PATH, where it has no slash */
    int out, err;      /* descriptors that its output goes to */
    unsigned seconds;  /* after which it is killed, with what it has started */
};

enum process_end { PROCESS_DONE, PROCESS_FAILED, PROCESS_LATE, PROCESS_NOT_STARTED /* errno says why */ };

/* Waits for its end: PROCESS_DONE for exit status 0. A signal that ends this program ends the other one first. */
enum process_end process_run(const struct process *p);

#endif
