#include "report/lines.h"

bool next_pair(struct str *lines, struct str *key, struct str *value) {
    struct str line = str_line(lines);
    const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
    if (!colon)
        return false;
    *key = (struct str){line.p, (size_t)(colon - line.p)};
    *value = str_trim((struct str){colon + 1, line.n - key->n - 1});
    return true;
}

struct str notes_line(struct str notes, const char *key) {
    size_t n = strlen(key);
    while (notes.n) {
        struct str line = str_line(&notes);
        if (str_starts(line, str_of(key)))
            return str_trim((struct str){line.p + n, line.n - n});
    }
    return STR("");
}
