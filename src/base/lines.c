#include "base/lines.h"

#include <string.h>

#include "base/utf8.h"
#include "fusion_audit.h"

enum { LEAST_WIDTH = 40, FURTHER = 4 };

/* Where a word is best cut: behind a dot; else behind the like of it, or before the next word of a CamelCase. */
static bool cuts_well(const char *p, bool dot) {
    return dot ? p[-1] == '.' : strchr("_=-/", p[-1]) || (p[-1] >= 'a' && p[-1] <= 'z' && p[0] >= 'A' && p[0] <= 'Z');
}

static size_t cut_of(struct str word, size_t width) {
    size_t n = 0;
    for (int dot = 1; dot >= 0 && !n; dot--)
        for (size_t i = width; i > width / 3 && !n; i--)
            n = cuts_well(word.p + i, dot) ? i : 0;
    if (!n)
        for (n = width; n > 1 && ((unsigned char)word.p[n] & 0xC0) == 0x80; n--)
            ;
    return n;
}

struct str next_line(struct str *rest, size_t width, bool cuts) {
    struct str words = *rest;
    size_t n = rest->n;
    if (n > width)
        for (n = width; n > 0 && rest->p[n] != ' '; n--)
            ;
    if (!n && rest->n)
        n = cuts ? cut_of(*rest, width) : str_part(&words, ' ').n;
    struct str line = str_trim((struct str){rest->p, n});
    *rest = str_trim((struct str){rest->p + n, rest->n - n});
    return line;
}

static size_t blanks_at(struct str line, size_t i) {
    size_t n = 0;
    while (i + n < line.n && line.p[i + n] == ' ')
        n++;
    return n;
}

static size_t second_column(struct str line, size_t indent) {
    const char *gap = str_find((struct str){line.p + indent, line.n - indent}, STR("  "));
    size_t at = gap ? (size_t)(gap - line.p) : line.n;
    return at + blanks_at(line, at);
}

static void print_broken(struct str line, size_t width, FILE *out) {
    size_t indent = blanks_at(line, 0), second = second_column(line, indent);
    size_t hang = second <= width / 4 ? second : indent + FURTHER;
    for (line = str_trim(line); line.n; indent = hang) {
        struct str part = next_line(&line, width > indent ? width - indent : 0, false);
        fprintf(out, "%*s%.*s\n", (int)indent, "", (int)part.n, part.p);
    }
}

void print_lines(struct str text, size_t width, FILE *out) {
    while (text.n) {
        struct str line = str_line(&text);
        if (line.n > width)
            print_broken(line, width, out);
        else
            fprintf(out, "%.*s\n", (int)line.n, line.p);
    }
}

void fa_print_lines(const char *text, size_t n, unsigned width, FILE *out) {
    struct buf scratch = {0};
    struct str clean = utf8_clean((struct str){text, n}, "\t\n", &scratch);
    print_lines(clean, width < LEAST_WIDTH ? LEAST_WIDTH : width, out);
    buf_free(&scratch);
}
