/* O_TMPFILE where the file system has it, else a file that is unlinked at once. */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

sigset_t hold_signals(void) {
    sigset_t all, as_they_were;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &as_they_were);
    return as_they_were;
}

void release_signals(const sigset_t *as_they_were) {
    pthread_sigmask(SIG_SETMASK, as_they_were, NULL);
}

static int unlinked_file(const char *directory) {
    struct buf name = {0};
    buf_printf(&name, "%s/.fusion_todo.XXXXXX", directory);
    sigset_t signals = hold_signals();
    int fd = mkostemp(name.p, O_CLOEXEC);
    int reason = errno;
    if (fd >= 0)
        unlink(name.p);
    release_signals(&signals);
    buf_free(&name);
    errno = reason;
    return fd;
}

int unnamed_file(const char *directory) {
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    bool unknown = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR); /* to the file system; to an old kernel */
    return unknown ? unlinked_file(directory) : fd;
}
