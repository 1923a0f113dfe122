#include "report/lines.h"

bool next_pair(struct str *lines, struct str *key, struct str *value) {
    const char *end = lines->n ? memchr(lines->p, '\n', lines->n) : NULL;
    const char *colon = lines->n ? memchr(lines->p, ':', lines->n) : NULL;
    if (!end || !colon || colon > end)
        return false;
    *key = (struct str){lines->p, (size_t)(colon - lines->p)};
    *value = str_trim((struct str){colon + 1, (size_t)(end - colon - 1)});
    *lines = (struct str){end + 1, lines->n - (size_t)(end + 1 - lines->p)};
    return true;
}

struct str notes_line(struct str notes, const char *key) {
    size_t n = strlen(key);
    while (notes.n) {
        const char *end = memchr(notes.p, '\n', notes.n);
        struct str line = {notes.p, end ? (size_t)(end - notes.p) : notes.n};
        if (str_starts(line, str_of(key)))
            return str_trim((struct str){line.p + n, line.n - n});
        size_t used = line.n + (end != NULL);
        notes = (struct str){notes.p + used, notes.n - used};
    }
    return STR("");
}
