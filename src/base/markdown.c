#include "base/markdown.h"

#include <ctype.h>

#include "base/utf8.h"

static bool is_word(struct str s, size_t i) {
    return i < s.n && isalnum((unsigned char)s.p[i]);
}

/* Inside of a line: within words an underscore is none, before a space a colon is none (of a URL, of :emoji:), nor is
 * what is no number behind a hash (#12 is an issue). */
static bool is_markup(struct str s, size_t i) {
    switch (s.p[i]) {
    case '_':
        return i == 0 || !is_word(s, i - 1) || !is_word(s, i + 1);
    case ':':
        return i + 1 < s.n && s.p[i + 1] != ' ';
    case '#':
        return i + 1 == s.n || isdigit((unsigned char)s.p[i + 1]);
    default:
        return strchr("<&@`|\\*[]~$", s.p[i]) != NULL;
    }
}

void add_markdown(struct buf *out, struct str s) {
    struct buf scratch = {0};
    s = utf8_repair(s, &scratch);
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < ' ' || c == 0x7f)
            buf_addc(out, ' ');
        else if (is_markup(s, i))
            buf_printf(out, "&#%u;", (unsigned)c);
        else
            buf_addc(out, (char)c);
    }
    buf_free(&scratch);
}
