/* Makes the process safe to work in, then does what the command line says.
 * A standard stream that is closed is opened on /dev/null the wrong way round, so that no other file
 * takes its number and using it is an error; writing to a closed pipe or beyond the limit of a file's size is an error
 * too, not a signal. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "cli/run.h"
#include "fusion_audit.h"

/* Proofs and comparisons of modules take memory and give it back thousands of times. glibc would return it to the
 * system as often, where more than a third of the time of a comparison goes. */
static void keep_memory(void) {
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

int main(int argc, char **argv) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return FA_INPUT;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    keep_memory();
    return cli_run(argc, argv);
}
