/* Writes reports and other files of a run. A report is printed to a file beside the old one, which then takes its
 * place: a reader finds the old report or the new one, never half of one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fusion_audit.h"

/* Functions that write return 0 or the errno, and this where libyaml fails. */
enum { NO_YAML = -1 };

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

static int write_straight(const struct printing *p, const char *path) {
    FILE *out = fopen(path, "we");
    int error = out ? print(p, out) : errno;
    return out && fclose(out) != 0 && !error ? errno : error;
}

/* `old`: what is there, whose mode the new file gets; NULL: there is none. */
static int replace(const struct printing *p, const char *target, const struct stat *old) {
    struct buf name = {0};
    buf_printf(&name, "%s.%ld.tmp", target, (long)getpid());
    int fd = open(name.p, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = fd >= 0 && (!old || fchmod(fd, old->st_mode & 07777) == 0) ? fdopen(fd, "w") : NULL;
    int error = out ? print(p, out) : errno;
    if (!error && fsync(fd) != 0)
        error = errno;
    if (out ? fclose(out) != 0 && !error : fd >= 0 && close(fd) != 0)
        error = errno;
    if (!error && rename(name.p, target) != 0)
        error = errno;
    if (error && fd >= 0)
        unlink(name.p);
    buf_free(&name);
    return error;
}

static bool is_link(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* A new file in its place would not be what this one is to others: a pipe, a file with several names, one of another
 * owner. */
static bool is_to_stay(const char *path, const struct stat *st) {
    return (!S_ISREG(st->st_mode) || st->st_nlink > 1 || st->st_uid != geteuid() || is_link(path)) &&
           faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

static int write_file(const struct printing *p, const char *path) {
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (!there && errno != ENOENT)
        return errno;
    if (there && S_ISDIR(st.st_mode))
        return EISDIR;
    if (there ? is_to_stay(path, &st) : is_link(path))
        return write_straight(p, path);
    int error = there ? 0 : make_directory_of(path);
    error = error ? error : replace(p, path, there ? &st : NULL);
    return there && error == EACCES ? write_straight(p, path) : error; /* where the directory takes no other file */
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
