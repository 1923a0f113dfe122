#include "base/lines.h"

#include <string.h>

#include "base/utf8.h"
#include "fusion_audit.h"

enum { LEAST_WIDTH = 40, FURTHER = 4 };

/* As much as fits, up to a blank; a longer word is a line. */
static struct str next_line(struct str *rest, size_t width) {
    struct str words = *rest;
    size_t n = rest->n;
    if (n > width)
        for (n = width; n > 0 && rest->p[n] != ' '; n--)
            ;
    if (!n && rest->n)
        n = str_part(&words, ' ').n;
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

/* Where the last column begins, behind two blanks in the first part of the width; 0: there is none. */
static size_t last_column(struct str line, size_t indent, size_t width) {
    size_t last = 0;
    for (size_t i = indent; i < line.n && i + blanks_at(line, i) <= width / 2; i += blanks_at(line, i) + 1)
        if (blanks_at(line, i) >= 2)
            last = i + blanks_at(line, i);
    return last;
}

static void print_broken(struct str line, size_t width, FILE *out) {
    size_t indent = blanks_at(line, 0), last = last_column(line, indent, width), hang = last ? last : indent + FURTHER;
    for (line = str_trim(line); line.n; indent = hang) {
        struct str part = next_line(&line, width > indent ? width - indent : 0);
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
