/* Writes and removes report files. A reader finds the old report or the new one, never half of one; nothing is left
 * beside it when writing fails. Only a file that has the structure of a report is ever removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "report/report.h"

static bool fail(char *error, size_t n, const char *path, int reason) {
    const char *why = reason ? strerror(reason) : "the text cannot be written as YAML";
    snprintf(error, n, "cannot write %s: %s", path, why);
    return false;
}

static bool print_and_close(struct report *r, FILE *out) {
    errno = 0;
    bool ok = report_print(r, out);
    int reason = errno;
    if (fclose(out) != 0 && ok)
        return false;
    errno = reason;
    return ok;
}

/* Opens a new file beside `target` and puts its name into `name`. Not mkstemp, which would ignore the umask. */
static int open_temporary(const char *target, struct buf *name) {
    const char *slash = strrchr(target, '/');
    int dir = slash ? (int)(slash - target) + 1 : 0;
    for (int i = 0; i < 1000; i++) {
        name->n = 0;
        buf_printf(name, "%.*s.fusion_todo.%ld-%d.tmp", dir, target, (long)getpid(), i);
        buf_addc(name, '\0');
        int fd = open(name->p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static bool replace(struct report *r, const char *target) {
    struct buf name = {0};
    int fd = open_temporary(target, &name);
    bool ok = false;
    if (fd >= 0) {
        FILE *out = fdopen(fd, "w");
        if (out) {
            ok = print_and_close(r, out) && rename(name.p, target) == 0;
        }
        int reason = errno;
        if (!out)
            close(fd);
        if (!ok)
            unlink(name.p);
        errno = reason;
    }
    int reason = errno;
    buf_free(&name);
    errno = reason;
    return ok;
}

static bool write_straight(struct report *r, const char *path) {
    FILE *out = fopen(path, "we");
    return out && print_and_close(r, out);
}

bool report_write(struct report *r, const char *path, char *error, size_t n) {
    struct stat st;
    if (strcmp(path, "-") == 0) {
        errno = 0;
        return report_print(r, stdout) || fail(error, n, "standard output", errno);
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        if (S_ISDIR(st.st_mode))
            return fail(error, n, path, EISDIR);
        return write_straight(r, path) || fail(error, n, path, errno);
    }
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
        return replace(r, path) || fail(error, n, path, errno);
    char *target = realpath(path, NULL);
    bool ok = target && replace(r, target);
    int reason = errno;
    free(target);
    return ok || fail(error, n, path, reason);
}

/* Bytes that are read to find the first key: a large file of something else is not read as a whole. */
#define HEAD_BYTES 65536

struct head {
    FILE *file;
    size_t left;
};

static int read_head(void *data, unsigned char *buffer, size_t size, size_t *size_read) {
    struct head *head = data;
    if (size > head->left)
        size = head->left;
    *size_read = fread(buffer, 1, size, head->file);
    head->left -= *size_read;
    return !ferror(head->file);
}

/* The type of the next event; YAML_NO_EVENT for an error. */
static yaml_event_type_t next(yaml_parser_t *parser) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event))
        return YAML_NO_EVENT;
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    return type;
}

/* Skips the rest of a collection after its start event. */
static bool skip(yaml_parser_t *parser) {
    for (size_t depth = 1; depth > 0;) {
        switch (next(parser)) {
        case YAML_MAPPING_START_EVENT:
        case YAML_SEQUENCE_START_EVENT:
            depth++;
            break;
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT:
            depth--;
            break;
        case YAML_NO_EVENT:
            return false;
        default:
            break;
        }
    }
    return true;
}

static const struct top_key {
    const char *name;
    yaml_event_type_t value;
} top_keys[] = {{"input", YAML_MAPPING_START_EVENT}, {"missed_fusions", YAML_SEQUENCE_START_EVENT}};

enum { TOP_KEYS = sizeof top_keys / sizeof *top_keys };

/* Which top-level key comes next: TOP_KEYS at the end of the mapping, -1 for anything that does not fit. */
static int next_key(yaml_parser_t *parser) {
    yaml_event_t event;
    int key = -1;
    if (!yaml_parser_parse(parser, &event))
        return -1;
    if (event.type == YAML_MAPPING_END_EVENT)
        key = TOP_KEYS;
    for (int i = 0; event.type == YAML_SCALAR_EVENT && i < TOP_KEYS; i++)
        if (strcmp((const char *)event.data.scalar.value, top_keys[i].name) == 0)
            key = i;
    yaml_event_delete(&event);
    return key;
}

static bool is_report(yaml_parser_t *parser, struct head *head) {
    static const yaml_event_type_t begin[] = {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT,
                                              YAML_MAPPING_START_EVENT};
    unsigned seen = 0;
    int key;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (next(parser) != begin[i])
            return false;
    while ((key = next_key(parser)) >= 0 && key < TOP_KEYS) {
        head->left = SIZE_MAX;
        if ((seen & 1u << key) || next(parser) != top_keys[key].value || !skip(parser))
            return false;
        seen |= 1u << key;
    }
    return key == TOP_KEYS && seen == (1u << TOP_KEYS) - 1 && next(parser) == YAML_DOCUMENT_END_EVENT &&
           next(parser) == YAML_STREAM_END_EVENT;
}

bool report_remove_stale(const char *path) {
    struct stat st;
    yaml_parser_t parser;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ours = false;
    struct head head = {file, HEAD_BYTES};
    if (yaml_parser_initialize(&parser)) {
        yaml_parser_set_input(&parser, read_head, &head);
        ours = is_report(&parser, &head);
        yaml_parser_delete(&parser);
    }
    fclose(file);
    return ours && unlink(path) == 0;
}
