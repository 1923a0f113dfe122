#include "base/embedded.h"

#include <assert.h>

struct str embedded_text(const char *name) {
    const struct embedded *f = embedded_files;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    assert(f->name);
    return f->name ? (struct str){f->bytes, f->size} : STR("");
}

/* The blank that the text begins with, or NULL. */
static const struct blank *blank_at(struct str text, const struct blank *blanks, size_t n) {
    for (size_t i = 0; i < n && text.p[0] == '{'; i++)
        if (str_starts(text, blanks[i].key))
            return &blanks[i];
    return NULL;
}

static uint32_t times(struct str line, const struct blank *blanks, size_t n) {
    for (; line.n; line.p++, line.n--) {
        const struct blank *blank = blank_at(line, blanks, n);
        if (blank && blank->values.n != 1)
            return blank->values.n;
    }
    return 1;
}

static void fill_line(struct buf *b, struct str line, uint32_t which, const struct blank *blanks, size_t n) {
    for (size_t used; line.n; line.p += used, line.n -= used) {
        const struct blank *blank = blank_at(line, blanks, n);
        used = blank ? blank->key.n : 1;
        if (blank)
            buf_add(b, blank->values.items[blank->values.n == 1 ? 0 : which]);
        else
            buf_addc(b, line.p[0]);
    }
}

void fill_lines(struct buf *b, struct str text, const struct blank *blanks, size_t n) {
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        struct str line = {text.p, end ? (size_t)(end - text.p) + 1 : text.n};
        uint32_t count = times(line, blanks, n);
        for (uint32_t i = 0; i < count; i++)
            fill_line(b, line, i, blanks, n);
        text.p += line.n;
        text.n -= line.n;
    }
}
