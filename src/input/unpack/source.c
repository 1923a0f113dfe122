/* Reads an input into memory. It is not mapped: when another process cuts a mapped file off, reading it ends in SIGBUS,
 * and a handler for that would belong to the whole process. */
#include "input/unpack/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A file that another one replaces loses its name, which changes its ctime. */
static bool is_unchanged(const struct stat *a, const struct stat *b) {
    return a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

/* A page fault for each 2 MB and not for each 4 kB, where the system has such pages. */
static void use_huge_pages(const struct buf *b) {
    enum { HUGE_PAGE = 1 << 21 };
    size_t skip = HUGE_PAGE - (uintptr_t)b->p % HUGE_PAGE;
    if (b->cap > (size_t)2 * HUGE_PAGE)
        madvise(b->p + skip, b->cap - skip, MADV_HUGEPAGE);
}

/* To the end, or one byte beyond what is left. False with errno. */
static bool read_bytes(struct opening *o, int fd, size_t expected, struct buf *b) {
    enum { STEP = 1 << 16 };
    buf_more(b, (expected < o->left ? expected : o->left) + 1);
    b->n = 0;
    use_huge_pages(b);
    while (b->n <= o->left) {
        if (b->n == b->cap) {
            buf_more(b, STEP);
            b->n -= STEP;
        }
        ssize_t got = read(fd, b->p + b->n, b->cap - b->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        b->n += (size_t)got;
    }
    return true;
}

static bool read_file(struct opening *o, const char *path, int fd, struct buf *b) {
    struct stat before, after;
    if (fstat(fd, &before) != 0)
        return refuse(o, path, NULL, "%s", strerror(errno));
    bool regular = S_ISREG(before.st_mode);
    if (!read_bytes(o, fd, regular && before.st_size > 0 ? (size_t)before.st_size : 0, b))
        return refuse(o, path, NULL, "%s", strerror(errno));
    if (regular && (fstat(fd, &after) != 0 || !is_unchanged(&before, &after)))
        return refuse(o, path, "audit it when it is written, or a copy of it", "the file changed while it was read");
    return charge_bytes(o, path, b->n);
}

/* The file, or the archive that "run.tar:a.mlir" names a file of. -1 with errno. */
static int open_path(struct opening *o, const char *path, const char **file) {
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *file = path;
    for (const char *p = path; fd < 0 && errno == ENOENT && (p = strchr(p, ':')) != NULL; p++) {
        *file = arena_strdup(o->diags->arena, (struct str){path, (size_t)(p - path)});
        o->only = path;
        fd = open(*file, O_RDONLY | O_CLOEXEC);
    }
    return fd;
}

/* `file`: that the bytes are of. */
static bool open_and_read(struct opening *o, const char *path, const char **file, struct buf *b) {
    int fd = open_path(o, path, file);
    if (fd < 0)
        return refuse(o, path, NULL, "%s", strerror(errno));
    bool ok = read_file(o, *file, fd, b);
    if (fd != STDIN_FILENO)
        close(fd);
    return ok;
}

static bool copy_bytes(struct opening *o, const char *path, struct fa_bytes bytes, struct buf *b) {
    if (!charge_bytes(o, path, bytes.size))
        return false;
    buf_add(b, (struct str){bytes.data, bytes.size});
    return true;
}

/* Half of the memory. */
static size_t default_limit(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page / 2 : SIZE_MAX / 4;
}

bool source_read(struct source_list *list, const struct fa_inputs *inputs, size_t i, struct diags *d) {
    size_t most = inputs->max_input ? (size_t)inputs->max_input << 20 : default_limit();
    struct opening o = {.list = list, .diags = d, .limit = most, .left = most};
    uint32_t before = list->n;
    const char *path = arena_strdup(d->arena, str_of(inputs->files[i])), *file = path;
    struct buf b = {0};
    bool given = inputs->contents && inputs->contents[i].data;
    bool ok = given ? copy_bytes(&o, path, inputs->contents[i], &b) : open_and_read(&o, path, &file, &b);
    bool empty = ok && b.n == 0;
    if (ok)
        ok = unpack(&o, file, &b, 0);
    else
        buf_free(&b);
    if (ok && list->n == before)
        ok = refuse(&o, path, NULL,
                    empty    ? "the file is empty"
                    : o.only ? "no such file in the archive"
                             : "is empty once it is unpacked");
    while (!ok && list->n > before)
        source_close(&list->items[--list->n]);
    return ok;
}

bool source_read_one(struct source *s, const struct fa_inputs *inputs, struct diags *d) {
    struct source_list list = {0};
    bool ok = source_read(&list, inputs, 0, d);
    if (ok && list.n > 1) {
        char hint[512];
        snprintf(hint, sizeof hint, "name one of them, such as %s", list.items[0].path);
        diag_add(d, SEV_ERROR, (struct source_location){.file = inputs->files[0]}, hint, "an archive of %u files",
                 list.n);
        ok = false;
    }
    for (uint32_t i = ok; i < list.n; i++)
        source_close(&list.items[i]);
    if (ok)
        *s = list.items[0];
    free(list.items);
    return ok;
}

bool source_open(struct source *s, const char *path, struct diags *d) {
    return source_read_one(s, &(struct fa_inputs){.files = &path, .nfiles = 1}, d);
}

void source_close(struct source *s) {
    char *data;
    memcpy(&data, &s->data, sizeof data); /* without const */
    free(data);
    *s = (struct source){0};
}

struct source_location source_place(const struct source *s, size_t offset) {
    offset = offset < s->size ? offset : s->size;
    size_t step = s->lines ? offset / SOURCE_STEP : 0;
    struct line_begin line = s->lines ? s->lines[step] : (struct line_begin){0};
    const char *end;
    for (size_t at = step * SOURCE_STEP; at < offset && (end = memchr(s->data + at, '\n', offset - at)); at = line.at)
        line = (struct line_begin){line.before + 1, (size_t)(end - s->data) + 1};
    size_t column = offset - line.at + 1;
    return (struct source_location){s->path, line.before + 1, column > UINT32_MAX ? UINT32_MAX : (uint32_t)column};
}
