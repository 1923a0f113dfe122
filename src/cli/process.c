/* A process group of its own, so that a wrapper's children end with it. While it runs, the signals that end this
 * program are waited for instead, together with SIGCHLD and the end of the time. */
#include "cli/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void add_signals(sigset_t *set) {
    static const int all[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaddset(set, all[i]);
}

/* 0 or the errno. */
static int start(const struct process *p, const sigset_t *mask, pid_t *pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, mask);
        error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!error)
            error = posix_spawn_file_actions_adddup2(&files, p->out, STDOUT_FILENO);
        if (!error)
            error = posix_spawn_file_actions_adddup2(&files, p->err, STDERR_FILENO);
        if (!error)
            error = posix_spawnp(pid, p->argv[0], &files, &attributes, p->argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* What is left of a time; not below 0. */
static struct timespec until(const struct timespec *end) {
    struct timespec now, left;
    clock_gettime(CLOCK_MONOTONIC, &now);
    left = (struct timespec){end->tv_sec - now.tv_sec, end->tv_nsec - now.tv_nsec};
    if (left.tv_nsec < 0) {
        left.tv_sec--;
        left.tv_nsec += 1000000000;
    }
    return left.tv_sec < 0 ? (struct timespec){0, 0} : left;
}

static bool has_ended(pid_t pid) {
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

/* Returns the signal that is to end this program, or 0. */
static int wait_for(pid_t pid, const sigset_t *signals, unsigned seconds, int *status, bool *late) {
    struct timespec end;
    int got = 0;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    while (!has_ended(pid) && !got && !*late) {
        struct timespec left = until(&end);
        int signal = sigtimedwait(signals, NULL, &left);
        *late = signal < 0 && errno == EAGAIN;
        got = signal > 0 && signal != SIGCHLD ? signal : 0;
    }
    kill(-pid, SIGKILL); /* what it has started and left behind, too: its group is there until it is waited for */
    waitpid(pid, status, 0);
    return got;
}

enum process_end process_run(const struct process *p) {
    sigset_t signals, mask;
    pid_t pid;
    int status = 0;
    bool late = false;
    add_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &mask);
    int error = start(p, &mask, &pid);
    int signal = error ? 0 : wait_for(pid, &signals, p->seconds, &status, &late);
    if (signal)
        raise(signal); /* when the mask is as it was */
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = error;
    return error                                           ? PROCESS_NOT_STARTED
           : late                                          ? PROCESS_LATE
           : WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PROCESS_DONE
                                                           : PROCESS_FAILED;
}
