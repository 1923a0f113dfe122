#include "report/place/tried.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIND = 16, DAY = 10, MOST_TEXT = 400, MOST_BYTES = 16 << 20, CHUNK = 1 << 14 };

static bool is_plain(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return false;
    return s.n > 0 && s.n <= MOST_TEXT;
}

static bool is_day(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (i == 4 || i == 7 ? s.p[i] != '-' : s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n == DAY;
}

static bool holds(const struct tried_answer *x) {
    return is_day(x->day) && is_plain(x->compiler) && is_plain(x->answer);
}

static bool read_kind(struct str s, uint64_t *kind) {
    *kind = 0;
    for (size_t i = 0; i < s.n; i++) {
        const char *digits = "0123456789abcdef", *at = memchr(digits, s.p[i], KIND);
        if (!at)
            return false;
        *kind = *kind << 4 | (uint64_t)(at - digits);
    }
    return s.n == KIND;
}

static bool read_line(struct tried *t, struct str line) {
    struct tried_answer x = {.kind = 0};
    struct str kind = str_part(&line, '\t');
    x.day = str_part(&line, '\t');
    x.compiler = str_part(&line, '\t');
    x.answer = line;
    return read_kind(kind, &x.kind) && tried_add(t, &x);
}

/* False with errno. */
static bool read_file(const char *path, struct buf *out) {
    static const size_t most = MOST_BYTES;
    char chunk[CHUNK];
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = -1;
    if (file >= 0 && fstat(file, &info) == 0) {
        errno = EINVAL;
        if (S_ISREG(info.st_mode) && info.st_size <= MOST_BYTES)
            do {
                n = read(file, chunk, sizeof chunk);
                buf_add(out, (struct str){chunk, n > 0 ? (size_t)n : 0});
            } while (n > 0 && out->n <= most);
    }
    if (file >= 0)
        close(file);
    return n == 0;
}

void tried_read(struct tried *t, const char *path, struct arena *a, struct diags *d) {
    struct source_location at = {path, 0, 0};
    struct buf all = {0};
    uint32_t wrong = 0;
    if (!read_file(path, &all) && errno != ENOENT && errno != ENOTDIR)
        diag_add(d, SEV_WARNING, at, NULL, "what `try --why` learned is not known: %s", strerror(errno));
    else
        for (struct str rest = buf_str(&all); rest.n;) {
            struct str line = str_line(&rest);
            wrong += line.n && !read_line(t, arena_str(a, line));
        }
    if (wrong)
        diag_add(d, SEV_WARNING, at, "remove it, and `try --why` begins a new one",
                 "%u line%s no answer%s of `try --why`", wrong, wrong == 1 ? " is" : "s are", wrong == 1 ? "" : "s");
    buf_free(&all);
}

const struct tried_answer *tried_of(const struct tried *t, uint64_t kind) {
    const struct tried_answer *last = NULL;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind == kind && (!last || str_cmp(t->items[i].day, last->day) >= 0))
            last = &t->items[i];
    return last;
}

bool tried_add(struct tried *t, const struct tried_answer *x) {
    uint32_t i = 0;
    if (!holds(x))
        return false;
    while (i < t->n && !(t->items[i].kind == x->kind && str_eq(t->items[i].compiler, x->compiler)))
        i++;
    if (i == t->n) {
        t->items = grow(t->items, &t->cap, t->n + 1, sizeof *t->items);
        t->n++;
    }
    t->items[i] = *x;
    return true;
}

void tried_print(const struct tried *t, struct buf *out) {
    for (uint32_t i = 0; i < t->n; i++) {
        const struct tried_answer *x = &t->items[i];
        buf_printf(out, "%016" PRIx64 "\t%.*s\t%.*s\t%.*s\n", x->kind, (int)x->day.n, x->day.p, (int)x->compiler.n,
                   x->compiler.p, (int)x->answer.n, x->answer.p);
    }
}

void tried_free(struct tried *t) {
    free(t->items);
    *t = (struct tried){.n = 0};
}
