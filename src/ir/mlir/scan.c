/* The scanning primitives of the folder: one table of character classes drives all of them. */
#include "ir/mlir/scan.h"

#include <string.h>

#define B CH_BLANK
#define I CH_IDENT
#define D (CH_IDENT | CH_DIGIT)
#define A (CH_IDENT | CH_ALPHA)
#define M CH_MARK
#define C CH_COMMA
/* clang-format off */
const uint8_t scan_class[256] = {
    ['\t'] = B, ['\r'] = B, [' '] = B, ['\n'] = B | M, ['\v'] = B, ['\f'] = B,
    ['0'] = D, ['1'] = D, ['2'] = D, ['3'] = D, ['4'] = D, ['5'] = D, ['6'] = D, ['7'] = D, ['8'] = D, ['9'] = D,
    ['a'] = A, ['b'] = A, ['c'] = A, ['d'] = A, ['e'] = A, ['f'] = A, ['g'] = A, ['h'] = A, ['i'] = A, ['j'] = A,
    ['k'] = A, ['l'] = A, ['m'] = A, ['n'] = A, ['o'] = A, ['p'] = A, ['q'] = A, ['r'] = A, ['s'] = A, ['t'] = A,
    ['u'] = A, ['v'] = A, ['w'] = A, ['x'] = A, ['y'] = A, ['z'] = A,
    ['A'] = A, ['B'] = A, ['C'] = A, ['D'] = A, ['E'] = A, ['F'] = A, ['G'] = A, ['H'] = A, ['I'] = A, ['J'] = A,
    ['K'] = A, ['L'] = A, ['M'] = A, ['N'] = A, ['O'] = A, ['P'] = A, ['Q'] = A, ['R'] = A, ['S'] = A, ['T'] = A,
    ['U'] = A, ['V'] = A, ['W'] = A, ['X'] = A, ['Y'] = A, ['Z'] = A,
    ['_'] = A, ['$'] = I, ['.'] = I, ['-'] = 0,
    ['('] = M, [')'] = M, ['['] = M, [']'] = M, ['{'] = M, ['}'] = M, ['<'] = M, ['>'] = M, ['"'] = M, ['/'] = M,
    [','] = C,
};
/* clang-format on */
#undef B
#undef I
#undef D
#undef A
#undef M
#undef C

const char *scan_string(const char *p, const char *end) {
    const char *quote = p; /* the first one that may end it, or `end` */
    for (p++; p < end;) {
        if (quote < p) {
            quote = memchr(p, '"', (size_t)(end - p));
            quote = quote ? quote : end;
        }
        const char *escape = memchr(p, '\\', (size_t)(quote - p));
        if (memchr(p, '\n', (size_t)((escape ? escape : quote) - p)))
            return NULL;
        if (!escape)
            return quote < end ? quote + 1 : NULL;
        p = escape + 2;
    }
    return NULL;
}

static const char *line_end(const char *p, const char *end) {
    const char *q = memchr(p, '\n', (size_t)(end - p));
    return q ? q : end;
}

const char *scan_blanks(const char *p, const char *end) {
    for (;;) {
        while (p < end && scan_is(*p, CH_BLANK))
            p++;
        if (p + 1 >= end || p[0] != '/' || p[1] != '/')
            return p;
        p = line_end(p, end);
    }
}

/* A line inside brackets that starts an operation tells that a bracket was never closed:
 * without this test every broken op would be scanned to the end of the text. */
bool scan_starts_op(const char *p, const char *end) {
    while (p < end && scan_is(*p, CH_BLANK) && *p != '\n') /* the next line is asked for by itself */
        p++;
    if (p >= end)
        return false;
    if (*p == '"') {
        const char *q = scan_string(p, end);
        while (q && q < end && *q == ' ')
            q++;
        return q && q + 1 < end && q[0] == '(' && (q[1] == '%' || q[1] == ')');
    }
    if (*p != '%')
        return false;
    const char *q = p + 1;
    while (q < end && (scan_is(*q, CH_IDENT) || strchr("-:,% ", *q)))
        q++;
    return q < end && *q == '=';
}

/* Names without a dot that start an op: those of the default dialects of functions and modules. */
static const char *const op_words[] = {
    "return", "call", "func", "module", "constant", "yield", "unrealized_conversion_cast"};

bool scan_op_word(const char *p, const char *end) {
    const char *q = scan_ident(p, end);
    if (q == p || !scan_is(*p, CH_ALPHA))
        return false;
    if (memchr(p, '.', (size_t)(q - p)))
        return q[-1] != '.' && (q >= end || *q != '<');
    for (size_t i = 0; i < sizeof op_words / sizeof *op_words; i++)
        if (str_is((struct str){p, (size_t)(q - p)}, op_words[i]))
            return true;
    return false;
}

static char closing_of(char open) {
    return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
}

/* To the next byte of a class in `mask`. */
static const char *next_of(const char *p, const char *end, int mask) {
    while (p < end && !scan_is(*p, mask))
        p++;
    return p;
}

struct nest {
    char open[SCAN_DEPTH]; /* the closing brackets that are due */
    unsigned depth;
};

enum nesting { NEST_ON, NEST_DONE, NEST_BAD };

static inline enum nesting take_bracket(struct nest *n, const char *p, const char *end) {
    switch (*p) {
    case '<':
        if (p + 1 < end && p[1] == '=')
            return NEST_ON;
        /* fall through */
    case '(':
    case '[':
    case '{':
        if (n->depth == SCAN_DEPTH)
            return NEST_BAD;
        n->open[n->depth++] = closing_of(*p);
        return NEST_ON;
    case '>':
        if (n->depth && (p[-1] == '-' || n->open[n->depth - 1] != '>'))
            return NEST_ON; /* an arrow or a comparison */
        /* fall through */
    default:
        if (n->depth == 0 || n->open[n->depth - 1] != *p)
            return NEST_BAD;
        return --n->depth == 0 ? NEST_DONE : NEST_ON;
    }
}

const char *scan_balanced(const char *p, const char *end) {
    struct nest n;
    n.depth = 0;
    while ((p = next_of(p, end, CH_MARK)) < end) {
        if (*p == '"') {
            if (!(p = scan_string(p, end)))
                return NULL;
        } else if (*p == '/') {
            p = end - p > 1 && p[1] == '/' ? line_end(p, end) : p + 1;
        } else if (*p == '\n') {
            if (scan_starts_op(p + 1, end))
                return NULL;
            p++;
        } else {
            enum nesting step = take_bracket(&n, p, end);
            if (step != NEST_ON)
                return step == NEST_DONE ? p + 1 : NULL;
            p++;
        }
    }
    return NULL;
}

static const char *function_type(const char *p, const char *end) {
    const char *q = scan_balanced(p, end);
    if (!q)
        return p;
    const char *arrow = scan_space(q, end);
    if (arrow + 1 >= end || arrow[0] != '-' || arrow[1] != '>')
        return q;
    const char *result = scan_space(arrow + 2, end);
    const char *stop = result < end && *result == '(' ? scan_balanced(result, end) : scan_type(result, end);
    return stop ? stop : p;
}

const char *scan_type(const char *p, const char *end) {
    const char *start = p;
    if (p >= end)
        return p;
    if (*p == '(')
        return function_type(p, end);
    if (*p == '!')
        p++;
    if (p >= end || !scan_is(*p, CH_ALPHA))
        return start;
    p = scan_ident(p, end);
    if (p >= end || *p != '<')
        return p;
    p = scan_balanced(p, end);
    return p ? p : start;
}

/* To the next `stop` or byte that matters to balance. */
static inline const char *next_stop(const char *p, const char *end, char stop) {
    if (stop == ',')
        return next_of(p, end, CH_MARK | CH_COMMA);
    while (p < end && *p != stop && !scan_is(*p, CH_MARK))
        p++;
    return p;
}

const char *scan_until(const char *p, const char *end, char stop) {
    for (; (p = next_stop(p, end, stop)) < end; p++) {
        if (*p == stop)
            return p;
        switch (*p) {
        case '<':
        case '(':
        case '[':
        case '{': {
            const char *q = scan_balanced(p, end);
            if (!q)
                return end;
            p = q - 1;
            break;
        }
        case '"': {
            const char *q = scan_string(p, end);
            if (!q)
                return end;
            p = q - 1;
            break;
        }
        case ')':
        case ']':
        case '}':
            return p;
        default:
            break;
        }
    }
    return end;
}

bool scan_item(const char **p, const char *end, struct str *item) {
    const char *from = scan_space(*p, end);
    if (from >= end)
        return false;
    const char *to = scan_until(from, end, ',');
    *item = str_trim((struct str){from, (size_t)(to - from)});
    *p = to < end ? to + 1 : end;
    return true;
}
