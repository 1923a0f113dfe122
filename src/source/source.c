/* Opens an input: regular files are mapped, everything else is read to the end; gzip and zstd are undone.
 *
 * Callers get one immutable buffer or one diagnostic, never both. */
#include "source/source.h"

#include "source/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The buffer without const, to unmap or free it. */
static char *writable(const char *p) {
    char *q;
    memcpy(&q, &p, sizeof q);
    return q;
}

static bool refuse(struct diags *d, const char *path, const char *hint, const char *what) {
    diag_add(d, SEV_ERROR, (struct source_location){.file = path}, hint, "%s", what);
    return false;
}

static bool read_all(struct source *s, int fd) {
    size_t cap = (size_t)1 << 16;
    char *data = xrealloc(NULL, cap);
    size_t n = 0;
    for (;;) {
        if (n == cap)
            data = xrealloc(data, cap *= 2);
        ssize_t got = read(fd, data + n, cap - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(data);
            return false;
        }
        if (got == 0)
            break;
        n += (size_t)got;
    }
    s->data = data;
    s->size = n;
    return true;
}

static bool map_file(struct source *s, int fd, off_t size) {
    if (size <= 0 || (uintmax_t)size > SIZE_MAX)
        return false;
    void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return false;
    madvise(p, (size_t)size, MADV_SEQUENTIAL);
    s->data = p;
    s->size = (size_t)size;
    s->mapped = true;
    return true;
}

static bool accept_text(struct source *s) {
    if (!is_utf16((struct str){s->data, s->size}))
        return true;
    size_t size;
    char *text = utf8_of_utf16((struct str){s->data, s->size}, &size);
    source_close(s);
    s->data = text;
    s->size = size;
    return true;
}

/* The bytes of `s` become those that they unpack to. */
static bool unpack_source(struct source *s, enum packing kind, struct diags *d) {
    struct unpacked u;
    bool ok = unpack(kind, (struct str){s->data, s->size}, unpack_limit(), &u);
    source_close(s);
    if (!ok)
        return refuse(d, s->path, NULL, u.error);
    s->data = u.data;
    s->size = u.size;
    s->mapped = u.data != NULL;
    s->unpacked = true;
    if (s->size == 0)
        return refuse(d, s->path, NULL, "the file is empty once it is unpacked");
    if (packing_of((struct str){s->data, s->size}) == PACK_NONE)
        return accept_text(s);
    source_close(s);
    return refuse(d, s->path, "unpack it once: zcat FILE | fusion-audit -", "the file is compressed twice");
}

static bool check_content(struct source *s, struct diags *d) {
    if (s->size == 0) {
        source_close(s);
        return refuse(d, s->path, NULL, "the file is empty");
    }
    enum packing kind = packing_of((struct str){s->data, s->size});
    if (kind == PACK_GZIP || kind == PACK_ZSTD)
        return unpack_source(s, kind, d);
    if (kind == PACK_NONE)
        return accept_text(s);
    source_close(s);
    return refuse(d, s->path, kind == PACK_XZ ? "xz -dc FILE | fusion-audit -" : "bzip2 -dc FILE | fusion-audit -",
                  kind == PACK_XZ ? "the file is compressed with xz" : "the file is compressed with bzip2");
}

bool source_open(struct source *s, const char *path, struct diags *d) {
    *s = (struct source){.path = path, .line_cache_line = 1};
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse(d, path, NULL, strerror(errno));
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    if (ok && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        ok = false;
    }
    /* A redirected standard input may already be partly read: only named files are mapped. */
    if (ok && !(S_ISREG(st.st_mode) && !is_stdin && map_file(s, fd, st.st_size)))
        ok = read_all(s, fd);
    int error = errno;
    if (!is_stdin)
        close(fd);
    return ok ? check_content(s, d) : refuse(d, path, NULL, strerror(error));
}

void source_close(struct source *s) {
    char *data = writable(s->data);
    if (s->mapped)
        munmap(data, s->size);
    else
        free(data);
    s->data = NULL;
    s->size = 0;
    s->mapped = s->unpacked = false;
    s->line_cache_offset = 0;
    s->line_cache_line = 1;
}

static uint64_t count_lines(const char *p, const char *end) {
    uint64_t n = 0;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL)
        n++, p++;
    return n;
}

/* The last place asked for, from where lines are counted on: 10,000 places of a module of 50 MB would else be counted
 * from its begin each time. Threads that search functions of one module share it: offset and line are read and written
 * together. */
static pthread_mutex_t line_cache_lock = PTHREAD_MUTEX_INITIALIZER;

static void line_cache_read(const struct source *s, size_t *offset, uint64_t *line) {
    pthread_mutex_lock(&line_cache_lock);
    *offset = s->line_cache_line ? s->line_cache_offset : 0;
    *line = s->line_cache_line ? s->line_cache_line : 1;
    pthread_mutex_unlock(&line_cache_lock);
}

static void line_cache_write(struct source *s, size_t offset, uint64_t line) {
    pthread_mutex_lock(&line_cache_lock);
    s->line_cache_offset = offset;
    s->line_cache_line = line;
    pthread_mutex_unlock(&line_cache_lock);
}

struct source_location source_place(struct source *s, size_t offset) {
    size_t from;
    uint64_t line;
    if (offset > s->size)
        offset = s->size;
    line_cache_read(s, &from, &line);
    if (from > s->size || offset < from / 2)
        line = 1, from = 0;
    if (offset >= from)
        line += count_lines(s->data + from, s->data + offset);
    else
        line -= count_lines(s->data + offset, s->data + from);
    line_cache_write(s, offset, line);
    const char *newline = offset ? memrchr(s->data, '\n', offset) : NULL;
    size_t column = newline ? offset - (size_t)(newline - s->data) : offset + 1;
    return (struct source_location){s->path, line, column > UINT32_MAX ? UINT32_MAX : (uint32_t)column};
}

void source_release(const struct source *s, const char *p, size_t n) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!s->mapped || s->unpacked || p < s->data || n > s->size || (size_t)(p - s->data) > s->size - n)
        return;
    /* whole pages only: the bytes beside may still be in use */
    size_t from = ((size_t)(p - s->data) + page - 1) / page * page, to = ((size_t)(p - s->data) + n) / page * page;
    if (from < to)
        madvise(writable(s->data) + from, to - from, MADV_DONTNEED);
}

void source_release_behind(const struct source *s, const char *p, size_t from, size_t to) {
    enum { STEP = 1 << 22 };
    if (from / STEP != to / STEP)
        source_release(s, p, to);
}
