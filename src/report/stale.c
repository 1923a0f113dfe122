/* Removes the report of an earlier run on the same input, when nothing is missed any more. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tree.h"
#include "base/utf8.h"
#include "report/report.h"

/* Bytes that are read to find the first key: a large file of something else is not read as a whole. */
enum { HEAD_BYTES = 65536 };

/* A mapping of exactly the paths of this run. */
static bool is_own_input(const struct tree *input, const struct report_head *h) {
    uint32_t there = 0;
    bool same = input->kind == TREE_MAPPING;
    for (int i = 0; i < 2 && same; i++) {
        struct buf scratch = {0};
        const struct tree *path = tree_lookup(input, h->input[i]);
        same = path && h->paths[i]
                   ? path->kind == TREE_SCALAR && str_eq(path->text, utf8_repair(str_of(h->paths[i]), &scratch))
                   : !path && !h->paths[i];
        there += path != NULL;
        buf_free(&scratch);
    }
    return same && input->n == there;
}

static bool is_own_report(const struct tree_file *file, const struct report_head *h) {
    const struct tree *document = file->documents;
    if (file->wrong || !document || document->next || document->n != (uint32_t)h->nkeys)
        return false;
    for (int i = 0; i < h->nkeys; i++) {
        const struct tree *t = tree_lookup(document, h->keys[i]);
        if (!t || (i == 0 ? !is_own_input(t, h) : t->kind == TREE_SCALAR))
            return false;
    }
    return true;
}

/* The first key is at the begin of a line. */
static bool may_be_report(struct str head, const char *key) {
    bool found = false;
    while (head.n && !found) {
        struct str line = str_line(&head);
        found = str_is(str_part(&line, ':'), key);
    }
    return found;
}

static bool read_own_report(FILE *file, const struct report_head *h) {
    struct arena a = {0};
    struct buf text = {0};
    struct tree_file read = {.documents = NULL};
    size_t n = fread(buf_more(&text, HEAD_BYTES), 1, HEAD_BYTES, file);
    text.n = n;
    if (may_be_report(buf_str(&text), h->keys[0])) {
        for (; n; text.n -= HEAD_BYTES - n)
            n = fread(buf_more(&text, HEAD_BYTES), 1, HEAD_BYTES, file);
        read = tree_read(buf_str(&text), &a);
    }
    bool own = !ferror(file) && is_own_report(&read, h);
    buf_free(&text);
    arena_free(&a);
    return own;
}

bool remove_stale(const struct report_head *h, const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ours = read_own_report(file, h);
    fclose(file);
    return ours && unlink(path) == 0;
}

bool report_remove_stale(const struct report *r, const char *path) {
    const struct report_head head = {.keys = {"input", "missed_fusions"},
                                     .nkeys = 2,
                                     .input = {"ttir", "ttnn"},
                                     .paths = {r->ttir_path, r->ttnn_path}};
    return remove_stale(&head, path);
}
