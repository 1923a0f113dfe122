/* What editors, pagers and diff put in front of every line, and where a terminal has broken lines: told from the first
 * lines of a file, since one line alone shows neither. */
#include "input/log/margins.h"

#include <string.h>

#include "input/log/shape.h"

enum { SAMPLE_LINES = 256, LEAST_WIDTH = 40, LEAST_BROKEN = 3, LONG_LINE = 1 << 14 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_date(struct str t) {
    return t.n > 7 && is_digit(t.p[3]) && t.p[4] == '-' && is_digit(t.p[5]) && t.p[7] == '-';
}

/* "12:", "12-", "  12 | ", "  12<TAB>", "  12 ": the number, and the length of what stands before the line. */
static size_t number_margin(struct str t, uint64_t *number) {
    size_t i = t.n - skip_blanks(t).n, begin = i;
    for (*number = 0; i < t.n && i < begin + 9 && is_digit(t.p[i]); i++)
        *number = *number * 10 + (uint64_t)(t.p[i] - '0');
    if (i == begin || is_date(t))
        return 0;
    size_t blanks = i;
    while (i < t.n && t.p[i] == ' ' && i < blanks + 2)
        i++;
    struct str rest = {t.p + i, t.n - i};
    size_t bar = str_starts(rest, STR("\xe2\x94\x82")) ? 3 : str_starts(rest, STR("|"));
    if (bar)
        return i + bar + (rest.n > bar && rest.p[bar] == ' ');
    if (rest.n && strchr(":-\t", rest.p[0]))
        return i + 1;
    return blanks == t.n ? t.n : blanks < i ? blanks + 1 : 0;
}

/* Lines of a unified diff, and of a commit before it, that are none of the file. */
static bool is_diff_header(struct str t) {
    static const struct str words[] = {{"@@ ", 3},       {"diff ", 5},     {"index ", 6},   {"--- ", 4},   {"+++ ", 4},
                                       {"\\ No", 4},     {"commit ", 7},   {"Author: ", 8}, {"Date: ", 6}, {"From ", 5},
                                       {"Subject: ", 9}, {"new file ", 9}, {"rename ", 7},  {"Merge: ", 7}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_starts(t, words[i]))
            return true;
    return false;
}

/* Whether a line may be the rest of the one before it. Within brackets only an op that stands indented begins anew. */
static bool continues(struct str before, struct str t) {
    struct str in = skip_blanks(t), front = str_trim(before);
    if (in.n == 0 || alias_name(t))
        return false;
    front.n -= str_ends(front, STR("{")); /* of a region, or of attributes */
    if (is_unfinished(front))
        return !begins_op(in) || t.n - in.n < 2;
    return str_ends(front, STR("=")) || (!begins_op(in) && in.p[0] != '}');
}

/* Length of the marks that a line begins with and of the blanks between them, where a blank or nothing is behind them:
 * "> > ", "// ". */
static size_t quote_of(struct str t) {
    size_t i = 0, n = 0;
    for (; i < t.n && i < MAX_QUOTE && strchr("> |/#", t.p[i]); i++)
        n = t.p[i] == ' ' ? n : i + 1;
    return n > 0 && (n == t.n || t.p[n] == ' ') && t.p[0] != ' ' ? n : 0;
}

static bool is_quoted(const struct margins *m, struct str t) {
    return t.n >= m->nquote && memcmp(t.p, m->quote, m->nquote) == 0 && (t.n == m->nquote || t.p[m->nquote] == ' ');
}

/* From the first quoted line on, nine of ten lines that are not empty are quoted. */
static bool are_quoted(struct margins *m, struct str head) {
    uint32_t quoted = 0, lines = 0;
    m->nquote = 0;
    while (head.n && lines < SAMPLE_LINES) {
        struct str t = without_return(str_line(&head));
        if (t.n && !m->nquote && (m->nquote = (uint8_t)quote_of(t)))
            memcpy(m->quote, t.p, m->nquote);
        lines += t.n > 0 && m->nquote;
        quoted += t.n > 0 && m->nquote && is_quoted(m, t);
    }
    return quoted > 2 && quoted * 10 >= lines * 9;
}

struct counts {
    uint32_t lines, numbered, steps; /* steps: the number is one more than that before */
    uint32_t spaced;                 /* numbers with ':' and a blank or nothing behind it */
    uint32_t plus, minus, context, hunks;
    size_t width; /* of the longest line */
};

static bool is_spaced(struct str t) {
    const char *colon = memchr(t.p, ':', t.n);
    return colon && (colon + 1 == t.p + t.n || colon[1] == ' ');
}

static void count(struct counts *n, struct str t, uint64_t *last) {
    uint64_t number;
    n->lines++;
    if (number_margin(t, &number)) {
        n->numbered++;
        n->spaced += is_spaced(t);
        n->steps += number == *last + 1;
        *last = number;
    }
    n->plus += t.p[0] == '+';
    n->minus += t.p[0] == '-';
    n->context += t.p[0] == ' ' || is_diff_header(t);
    n->hunks += str_starts(t, STR("@@ "));
    n->width = t.n > n->width ? t.n : n->width;
}

/* Whether the longest lines, of which there are several, go on in the next one, but for a few that are as long by
 * chance. */
static bool are_broken(struct str head, size_t width) {
    uint32_t broken = 0, whole = 0, lines = 0;
    struct str joined = {head.p, 0};
    while (head.n && lines++ < SAMPLE_LINES) {
        struct str t = without_return(str_line(&head)), after = head;
        joined.n = (size_t)(t.p + t.n - joined.p);
        bool goes_on = t.n == width && continues(joined, without_return(str_line(&after)));
        broken += goes_on;
        whole += t.n == width && !goes_on;
        joined.p = goes_on ? joined.p : head.p;
    }
    return width >= LEAST_WIDTH && broken >= LEAST_BROKEN && whole * 8 <= broken;
}

void margins_sample(struct margins *m, struct str head) {
    struct counts n = {.lines = 0};
    uint64_t last = 0;
    for (struct str rest = head; rest.n && n.lines < SAMPLE_LINES;) {
        struct str t = without_return(str_line(&rest));
        if (t.n)
            count(&n, t, &last);
    }
    bool marked = n.plus + n.minus + n.context >= n.lines; /* "---" counts twice */
    m->kind = MARGIN_NONE;
    if (n.lines < 2)
        return;
    m->spaced = n.spaced == n.numbered;
    if (n.numbered == n.lines || (n.numbered * 4 >= n.lines * 3 && n.steps * 4 >= n.numbered * 3))
        m->kind = MARGIN_NUMBERS;
    else if (n.plus == n.lines || n.minus == n.lines)
        m->kind = MARGIN_MARKS;
    else if (n.hunks && marked)
        m->kind = MARGIN_DIFF;
    else if (are_quoted(m, head))
        m->kind = MARGIN_QUOTE;
    else if (are_broken(head, n.width))
        m->width = n.width;
}

size_t margin_of(const struct margins *m, struct str t) {
    uint64_t number;
    switch (m->kind) {
    case MARGIN_NUMBERS: {
        size_t n = number_margin(t, &number);
        return n + (m->spaced && n > 0 && n < t.n && t.p[n - 1] == ':');
    }
    case MARGIN_MARKS:
        return t.n > 0 && (t.p[0] == '+' || t.p[0] == '-');
    case MARGIN_DIFF: /* of what was changed only what it is now */
        return t.n == 0 ? 0 : t.p[0] == '-' || is_diff_header(t) ? t.n : t.p[0] == '+' || t.p[0] == ' ';
    case MARGIN_QUOTE:
        return is_quoted(m, t) ? m->nquote + (size_t)(t.n > m->nquote) : 0;
    default:
        return 0;
    }
}

bool margins_join(const struct margins *m, struct str last, struct str joined, struct str next) {
    return m->width > 0 && last.n == m->width && (joined.n > LONG_LINE || continues(joined, next));
}
