/* The file is made when the buffer is full for the first time. What is added together lies in one of them. */
#include "report/spool.h"

#include "report/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { IN_MEMORY = 1 << 20 };

const char *spool_directory(const struct spool *s) {
    return s->directory ? s->directory : P_tmpdir;
}

static FILE *open_file(const struct spool *s) {
    int fd = unnamed_file(spool_directory(s));
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

static void flush_memory(struct spool *s) {
    errno = 0;
    if (!s->file)
        s->file = open_file(s);
    if (!s->file || fseeko(s->file, (off_t)s->on_file, SEEK_SET) != 0 ||
        fwrite(s->memory.p, 1, s->memory.n, s->file) != s->memory.n || fflush(s->file) != 0) {
        s->error = errno ? errno : EIO;
        s->memory.n = 0;
        return;
    }
    s->on_file += s->memory.n;
    s->memory.n = 0;
}

uint64_t spool_add(struct spool *s, struct str bytes) {
    uint64_t at = s->on_file + s->memory.n;
    if (s->error)
        return at;
    buf_add(&s->memory, bytes);
    if (s->memory.n > IN_MEMORY)
        flush_memory(s);
    return at;
}

static bool read_file(struct spool *s, uint64_t at, size_t n, struct buf *out) {
    char *to = buf_more(out, n);
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fileno(s->file), to + done, n - done, (off_t)(at + done));
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            s->error = got < 0 ? errno : EIO;
            return false;
        }
        done += got < 0 ? 0 : (size_t)got;
    }
    return true;
}

bool spool_read(struct spool *s, uint64_t at, size_t n, struct buf *out) {
    out->n = 0;
    bool there = !s->error && at + n <= s->on_file + s->memory.n;
    if (there && at >= s->on_file)
        buf_add(out, (struct str){s->memory.p + (at - s->on_file), n});
    else if (!there || !read_file(s, at, n, out)) {
        errno = s->error;
        return false;
    }
    return true;
}

void spool_free(struct spool *s) {
    if (s->file)
        fclose(s->file);
    buf_free(&s->memory);
    *s = (struct spool){0};
}
