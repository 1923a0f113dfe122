/* A prefix is what stands before the first thing in a line that looks like IR, its numbers left open, if enough lines
 * have it, and among them what begins a region and what ends one. Numbers that are no time, that go back and forth and
 * have few values say which process wrote the line. */
#include "input/log/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "input/log/ir_line.h"

enum { LONGEST = 256, MOST_PREFIXES = 256, MOST_NUMBERS = 16, MOST_PROCESSES = 256 };
enum { LEAST_LINES = 3, LEAST_SHARE = 20 /* one line of so many */, LINES_OF_A_PROCESS = 4 };

/* The values that one number of a prefix has had. */
struct prefix_number {
    uint64_t last, *values;
    uint32_t nvalues, cap;
    bool falls;   /* a value was less than the one before */
    bool is_time; /* it has too many values, or the form of a time */
};

struct prefix {
    struct str form; /* numbers are '0', blanks are one ' ', none at both ends; in `text` */
    char *text;
    size_t indent; /* blanks behind it: the least that a line of IR has */
    uint32_t lines;
    bool heads, ends; /* before a module or function; before a brace that closes a region */
    uint32_t nnumbers;
    struct prefix_number numbers[MOST_NUMBERS];
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Walks over the numbers and blanks of a text. */
struct form_step {
    char c;
    struct str text;
};

static struct form_step form_next(struct str *rest) {
    struct form_step step = {rest->p[0], {rest->p, 1}};
    if (is_digit(step.c) || step.c == ' ') {
        while (step.text.n < rest->n &&
               (is_digit(step.c) ? is_digit(rest->p[step.text.n]) : rest->p[step.text.n] == ' '))
            step.text.n++;
        step.c = is_digit(step.c) ? '0' : ' ';
    }
    rest->p += step.text.n;
    rest->n -= step.text.n;
    return step;
}

/* Where the first thing that looks like IR begins; NONE: nowhere. */
static size_t ir_begins(struct str t, bool *head, bool *end) {
    static const bool first[256] = {
        ['m'] = 1, ['b'] = 1, ['f'] = 1, ['l'] = 1, ['"'] = 1, ['}'] = 1, ['%'] = 1, ['#'] = 1, ['r'] = 1};
    static const char second[256] = {/* of a word */ ['m'] = 'o', ['b'] = 'u', ['f'] = 'u', ['l'] = 'l', ['r'] = 'e'};
    size_t most = t.n < LONGEST ? t.n : LONGEST, quotes = 0;
    for (size_t i = 0; i < most; i++) {
        if (!first[(unsigned char)t.p[i]])
            continue;
        char c = t.p[i], next = second[(unsigned char)c];
        if (next && (i + 1 == t.n || t.p[i + 1] != next))
            continue;
        bool inside = i > 0 && (is_letter(t.p[i - 1]) || is_digit(t.p[i - 1]) || strchr("_.$@#%", t.p[i - 1]));
        if (!inside && quotes % 2 == 0) {
            struct str in = {t.p + i, t.n - i};
            *head = is_func(in) || is_module(in);
            *end = closes_region(in);
            if (*head || *end || is_op_of_dialect(in) || defines_alias(in) || str_starts(in, STR("return %")))
                return i;
        }
        quotes += c == '"';
    }
    return NONE;
}

/* Writes the form of what stands before IR; its length. */
static size_t form_of(struct str front, char *form) {
    size_t n = 0;
    while (front.n)
        form[n++] = form_next(&front).c;
    return n;
}

static struct prefix *find_prefix(struct prefixes *of, struct str form, bool add) {
    for (uint32_t i = 0; i < of->n; i++)
        if (str_eq(of->items[i].form, form))
            return &of->items[i];
    if (!add || of->n == MOST_PREFIXES)
        return NULL;
    of->items = grow(of->items, &of->cap, of->n + 1, sizeof *of->items);
    struct prefix *p = &of->items[of->n++];
    *p = (struct prefix){.text = memcpy(xrealloc(NULL, form.n), form.p, form.n), .indent = SIZE_MAX};
    p->form = (struct str){p->text, form.n};
    return p;
}

static void note_value(struct prefix_number *of, uint64_t value) {
    bool known = of->nvalues && of->last == value;
    of->falls |= of->nvalues && value < of->last;
    of->last = value;
    for (uint32_t i = 0; i < of->nvalues && !known; i++)
        known = of->values[i] == value;
    if (known || of->is_time)
        return;
    of->is_time = of->nvalues == MOST_PROCESSES;
    of->values = grow(of->values, &of->cap, of->nvalues + 1, sizeof *of->values);
    of->values[of->nvalues++] = value;
}

static uint64_t value_of(struct str digits) {
    uint64_t value = 0;
    for (size_t i = 0; i < digits.n; i++)
        value = value * 10 + (uint64_t)(digits.p[i] - '0');
    return value;
}

/* Whether a digit is of numbers between more than one point. */
static bool is_address(struct str text, size_t at) {
    size_t points = 0;
    while (at > 0 && (is_digit(text.p[at - 1]) || text.p[at - 1] == '.'))
        at--;
    for (; at < text.n && (is_digit(text.p[at]) || text.p[at] == '.'); at++)
        points += text.p[at] == '.';
    return points > 1;
}

/* Whether digits in a text are of a time or a date: 12:30:01,250; 2026-03-14; 12.69; not of an address: 10.0.0.12. */
static bool is_time(struct str text, struct str digits) {
    size_t begin = (size_t)(digits.p - text.p), end = begin + digits.n;
    size_t after = end + 1, behind = 0; /* the digits behind one mark more */
    while (after + behind < text.n && is_digit(text.p[after + behind]))
        behind++;
    bool digit_before = begin > 1 && is_digit(text.p[begin - 2]);
    char before = digit_before ? text.p[begin - 1] : ' ', next = behind ? text.p[end] : ' ';
    if (before == ':' || next == ':')
        return true;
    if (before == '.' || next == '.')
        return (before == '.' ? digits.n : behind) > 1 && !is_address(text, begin);
    if (next == '-' && digits.n == 4 && behind == 2)
        return true;
    if (before == '-' && digits.n == 2 && begin > 2) /* -03-14 */
        return next == '-' || (begin > 4 && text.p[begin - 4] == '-') || is_digit(text.p[begin - 3]);
    return before == ',' && digits.n == 3 && begin > 3 && text.p[begin - 4] == ':';
}

/* The numbers of a line with this prefix. */
static void note_numbers(struct prefix *p, struct str front) {
    struct str rest = front;
    uint32_t n = 0;
    while (rest.n && n < MOST_NUMBERS) {
        struct form_step step = form_next(&rest);
        if (step.c != '0')
            continue;
        p->numbers[n].is_time |= is_time(front, step.text);
        note_value(&p->numbers[n++], value_of(step.text));
    }
    p->nnumbers = n;
}

void prefixes_note(struct prefixes *of, struct str line) {
    char form[LONGEST];
    bool head, end;
    size_t at = ir_begins(line, &head, &end);
    if (at == (size_t)NONE)
        return;
    of->lines += !end;
    struct str front = skip_blanks((struct str){line.p, at});
    while (front.n && front.p[front.n - 1] == ' ')
        front.n--;
    if (front.n == 0) {
        of->bare_heads |= head;
        of->indent = of->bare && of->indent < at ? of->indent : at;
        of->bare = true;
        return;
    }
    struct prefix *p = find_prefix(of, (struct str){form, form_of(front, form)}, !end);
    if (!p)
        return;
    size_t indent = at - (size_t)(front.p + front.n - line.p);
    p->indent = indent < p->indent ? indent : p->indent;
    p->lines++;
    p->heads |= head;
    p->ends |= end;
    note_numbers(p, front);
}

/* What MLIR takes for a comment, and marks of a mail or a diff: of a file that has IR outside of them, too, they are
 * what is commented out. */
static bool is_comment(struct str form) {
    for (size_t i = 0; i < form.n; i++)
        if (is_letter(form.p[i]) || is_digit(form.p[i]))
            return str_starts(form, STR("//"));
    return true;
}

static bool is_chosen(const struct prefixes *of, const struct prefix *p) {
    return p->heads && p->ends && p->lines >= LEAST_LINES && (uint64_t)p->lines * LEAST_SHARE >= of->lines &&
           !(of->bare_heads && is_comment(p->form));
}

static void free_prefix(struct prefix *p) {
    free(p->text);
    for (uint32_t i = 0; i < MOST_NUMBERS; i++)
        free(p->numbers[i].values);
}

static int longest_first(const void *a, const void *b) {
    const struct prefix *x = a, *y = b;
    return x->form.n != y->form.n ? (x->form.n < y->form.n ? 1 : -1) : str_cmp(x->form, y->form);
}

void prefixes_choose(struct prefixes *of) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        if (is_chosen(of, &of->items[i]))
            of->items[kept++] = of->items[i];
        else
            free_prefix(&of->items[i]);
    }
    of->n = kept;
    if (kept)
        qsort(of->items, kept, sizeof *of->items, longest_first);
}

static bool names_process(const struct prefix *p, const struct prefix_number *number) {
    return !number->is_time && number->falls && number->nvalues > 1 && p->lines / LINES_OF_A_PROCESS >= number->nvalues;
}

/* Length of the prefix if the line has it, else 0. */
static size_t match(const struct prefix *p, struct str line, uint64_t *process) {
    struct str rest = skip_blanks(line);
    uint64_t key = str_hash(p->form);
    uint32_t n = 0;
    for (size_t i = 0; i < p->form.n; i++) {
        if (rest.n == 0)
            return 0;
        struct form_step step = form_next(&rest);
        if (step.c != p->form.p[i])
            return 0;
        if (step.c == '0' && n < p->nnumbers && names_process(p, &p->numbers[n++]))
            key = hash_mix(key, value_of(step.text));
    }
    size_t blanks = 0;
    while (blanks < rest.n && blanks < p->indent && rest.p[blanks] == ' ')
        blanks++;
    if (blanks < p->indent && blanks < rest.n && rest.p[blanks] != '\r')
        return 0;
    *process = key | 1;
    return (size_t)(rest.p - line.p) + blanks;
}

size_t prefix_of(const struct prefixes *of, struct str line, uint64_t *process) {
    *process = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        size_t n = match(&of->items[i], line, process);
        if (n)
            return n;
    }
    size_t blanks = line.n - skip_blanks(line).n;
    return blanks < of->indent ? blanks : of->indent;
}

void prefixes_free(struct prefixes *of) {
    for (uint32_t i = 0; i < of->n; i++)
        free_prefix(&of->items[i]);
    free(of->items);
}
