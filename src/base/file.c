/* Writes reports and other files of a run. A reader finds the old report or the new one, never half of one; nothing is
 * left beside it when writing fails. A new report is printed to a file without a name, which is then given one and
 * renamed, so that the old one is as it was until then. Mode, owner and links of the old one are kept. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary.h"
#include "fusion_audit.h"

/* Functions that write return 0 or the errno, and this where libyaml fails. */
enum { NO_YAML = -1 };

/* Copies a draft from its begin, and waits until it is on disk. */
static int copy(int draft, off_t size, int to) {
    for (off_t at = 0; at < size;) {
        ssize_t n = sendfile(to, draft, &at, (size_t)(size - at));
        if (n <= 0)
            return n == 0 ? EIO : errno;
    }
    return fsync(to) == 0 ? 0 : errno;
}

/* Gives a draft a name beside `target`. *fd is the file that has it: the draft itself, or a copy where it cannot be
 * linked, since /proc is not there or the draft is on another file system or unlinked. */
static int name_draft(int draft, off_t size, const char *target, struct buf *name, int *fd) {
    const char *slash = strrchr(target, '/');
    int directory = slash ? (int)(slash - target) + 1 : 0, error = EEXIST;
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", draft);
    for (int i = 0; i < 1000 && error == EEXIST; i++) {
        name->n = 0;
        buf_printf(name, "%.*s.fusion_todo.%ld-%d.tmp", directory, target, (long)getpid(), i);
        *fd = draft;
        if (linkat(AT_FDCWD, self, AT_FDCWD, name->p, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        *fd = open(name->p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = *fd >= 0 ? copy(draft, size, *fd) : errno;
        if (*fd >= 0 && error) {
            close(*fd);
            unlink(name->p);
        }
    }
    return error;
}

/* The draft takes the place of `target`, with the mode and the owner of the old report if there is one; with an owner
 * of its own where the old report may not be written anyway. */
static int rename_draft(int draft, off_t size, const char *target, const struct stat *old, bool writable) {
    struct buf name = {0};
    int fd, error = name_draft(draft, size, target, &name, &fd);
    if (!error) {
        bool owned = !old || fchown(fd, old->st_uid, old->st_gid) == 0 || !writable;
        bool alike = owned && (!old || fchmod(fd, old->st_mode & 07777) == 0);
        if (!alike || rename(name.p, target) != 0) {
            error = errno;
            unlink(name.p);
        }
        if (fd != draft)
            close(fd);
    }
    buf_free(&name);
    return error;
}

/* Copies the draft into the old report. Its room is reserved first: a full disk leaves the report whole. */
static int overwrite(int draft, off_t size, const char *target) {
    int fd = open(target, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size) == 0 || errno == EOPNOTSUPP ? 0 : errno;
    if (!error)
        error = copy(draft, size, fd);
    if (!error && ftruncate(fd, size) != 0)
        error = errno;
    close(fd);
    return error;
}

/* A file may be writable where its directory takes no other, or be one that nothing can take the place of: of another
 * owner, a mount point. */
static bool only_overwriting_helps(int error) {
    return error == EACCES || error == EPERM || error == EROFS || error == EBUSY;
}

static int put_in_place(int draft, const char *target, const struct stat *old) {
    struct stat st;
    if (fsync(draft) != 0 || fstat(draft, &st) != 0)
        return errno;
    bool writable = old && faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) == 0;
    bool shared = writable && old->st_nlink > 1; /* a name that is renamed leaves the others behind */
    sigset_t signals = hold_signals();
    int error = shared ? 0 : rename_draft(draft, st.st_size, target, old, writable);
    if (shared || (writable && only_overwriting_helps(error)))
        error = overwrite(draft, st.st_size, target);
    release_signals(&signals);
    return error;
}

static int print(const struct printing *p, FILE *out) {
    errno = 0;
    bool whole = p->print(p->what, out) && fflush(out) == 0 && !ferror(out);
    return whole ? 0 : errno ? errno : NO_YAML;
}

int fa_make_directory(const char *path) {
    char *part = made(strdup(path));
    int error = 0;
    struct stat st;
    for (char *slash = *part ? part : NULL; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST && !error)
            error = errno;
        if (slash)
            *slash = '/';
    }
    free(part);
    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    return error ? error : errno;
}

static int make_directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *directory = slash && slash > path ? made(strndup(path, (size_t)(slash - path))) : NULL;
    int error = directory ? fa_make_directory(directory) : 0;
    free(directory);
    return error;
}

static int open_draft(const char *target, bool there) {
    const char *slash = strrchr(target, '/');
    struct buf beside = {0};
    buf_printf(&beside, "%.*s.", slash ? (int)(slash - target) + 1 : 0, target);
    int fd = unnamed_file(beside.p);
    if (fd < 0 && there && only_overwriting_helps(errno))
        fd = unnamed_file(P_tmpdir);
    buf_free(&beside);
    return fd;
}

/* `old`: the regular file that `target` is; NULL: there is none. */
static int replace(const struct printing *p, const char *target, const struct stat *old) {
    int fd = open_draft(target, old != NULL);
    if (fd < 0)
        return errno;
    FILE *out = fdopen(fd, "w+");
    int error = out ? print(p, out) : errno;
    if (!error)
        error = put_in_place(fd, target, old);
    if (out)
        fclose(out);
    else
        close(fd);
    return error;
}

/* The name where the symbolic links end that begin at `path`, whether or not a file has it. */
static int follow_links(const char *path, struct buf *name) {
    enum { MOST = 40 }; /* links that the kernel follows */
    char link[PATH_MAX];
    struct buf next = {0};
    int error = ELOOP;
    buf_printf(name, "%s", path);
    for (int i = 0; i <= MOST; i++) {
        ssize_t n = readlink(name->p, link, sizeof link);
        if (n < 0) {
            error = errno == EINVAL || errno == ENOENT ? 0 : errno; /* no link; nothing there */
            break;
        }
        const char *slash = link[0] == '/' ? NULL : strrchr(name->p, '/');
        next.n = 0;
        buf_printf(&next, "%.*s%.*s", slash ? (int)(slash - name->p) + 1 : 0, name->p, (int)n, link);
        struct buf swap = *name;
        *name = next;
        next = swap;
    }
    buf_free(&next);
    return error;
}

static int write_straight(const struct printing *p, const char *path) {
    FILE *out = fopen(path, "we");
    int error = out ? print(p, out) : errno;
    return out && fclose(out) != 0 && !error ? errno : error;
}

static int write_file(const struct printing *p, const char *path) {
    struct stat st;
    struct buf target = {0};
    bool there = stat(path, &st) == 0;
    if (!there && errno != ENOENT)
        return errno;
    if (there && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? EISDIR : write_straight(p, path);
    int error = follow_links(path, &target);
    if (!error && !there)
        error = make_directory_of(target.p);
    if (!error)
        error = replace(p, target.p, there ? &st : NULL);
    buf_free(&target);
    return error;
}

/* "-", or another name of it such as /dev/stdout: a file that it is may hold more than the report. */
static bool is_standard_output(const char *path) {
    struct stat a, b;
    return strcmp(path, "-") == 0 ||
           (stat(path, &a) == 0 && fstat(STDOUT_FILENO, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

bool file_write(const struct printing *p, const char *path, char *error, size_t n) {
    bool standard = is_standard_output(path);
    int reason = standard ? print(p, stdout) : write_file(p, path);
    if (reason)
        snprintf(error, n, "cannot write %s: %s", standard ? "standard output" : path,
                 reason == NO_YAML ? "the text cannot be written as YAML" : strerror(reason));
    errno = reason == NO_YAML ? 0 : reason;
    return reason == 0;
}

static bool print_text(void *what, FILE *out) {
    const struct str *text = what;
    return fwrite(text->p, 1, text->n, out) == text->n;
}

bool file_write_text(struct str text, const char *path, char *error, size_t n) {
    struct printing p = {print_text, &text};
    return file_write(&p, path, error, n);
}

bool fa_write_text(const char *text, size_t n, const char *path, char *error, size_t nerror) {
    return file_write_text((struct str){text, n}, path, error, nerror);
}
