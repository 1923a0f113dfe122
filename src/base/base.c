/* Strings, texts in arenas, growable arrays and diagnostics for all folders. */
#include "base/base.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion_audit.h"

int str_cmp(struct str a, struct str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c != 0)
        return c;
    return (a.n > b.n) - (a.n < b.n);
}

struct str str_part(struct str *rest, char end) {
    const char *at = rest->n > 0 ? memchr(rest->p, end, rest->n) : NULL;
    struct str part = {rest->p, at ? (size_t)(at - rest->p) : rest->n};
    size_t used = at ? part.n + 1 : part.n;
    *rest = (struct str){rest->n ? rest->p + used : rest->p, rest->n - used};
    return part;
}

bool str_matches(struct str s, struct str glob) {
    static const char special[] = "*?[\\";
    char small[256];
    size_t n = s.n + glob.n + 2, same = 0;
    while (same < s.n && same < glob.n && s.p[same] == glob.p[same] && !strchr(special, glob.p[same]))
        same++;
    if (same < glob.n && !strchr(special, glob.p[same])) /* most differ in a letter */
        return false;
    char *both = n <= sizeof small ? small : xrealloc(NULL, n);
    memset(both, 0, n);
    memcpy(both, glob.n ? glob.p : "", glob.n);
    memcpy(both + glob.n + 1, s.n ? s.p : "", s.n);
    bool matches = fnmatch(both, both + glob.n + 1, 0) == 0;
    if (both != small)
        free(both);
    return matches;
}

const char *str_find(struct str s, struct str what) {
    if (what.n == 0)
        return s.p;
    return s.n < what.n ? NULL : memmem(s.p, s.n, what.p, what.n);
}

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const char *str_find_word(struct str s, struct str word) {
    const char *begin = s.p, *end = s.n ? s.p + s.n : s.p, *at;
    while (s.n && (at = str_find(s, word))) {
        const char *behind = at + word.n;
        if ((at == begin || !is_word_byte(at[-1])) && (behind == end || !is_word_byte(*behind)))
            return at;
        s = (struct str){at + 1, (size_t)(end - at - 1)};
    }
    return NULL;
}

unsigned str_distance(struct str a, struct str b) {
    enum { MAX = 48 };
    unsigned row[MAX + 1];
    if (a.n >= MAX || b.n >= MAX)
        return MAX;
    for (size_t j = 0; j <= b.n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned best = diagonal + (a.p[i - 1] != b.p[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b.n];
}

/* The shortest word that begins so; NULL: none does, or it says too little. */
static const char *begins_with(struct str begin, const char *const *words, size_t n) {
    const char *best = NULL;
    for (size_t i = 0; i < n && begin.n > 2; i++)
        if (str_starts(str_of(words[i]), begin) && (!best || strlen(words[i]) < strlen(best)))
            best = words[i];
    return best;
}

const char *str_nearest(struct str misspelt, const char *const *words, size_t n) {
    const char *best = NULL, *longer = begins_with(misspelt, words, n);
    unsigned least = longer ? 2 : (unsigned)(misspelt.n / 3 + 2);
    for (size_t i = 0; i < n; i++) {
        unsigned d = str_distance(misspelt, str_of(words[i]));
        bool same_first = best && best[0] != misspelt.p[0] && words[i][0] == misspelt.p[0];
        if (d < least || (d == least && same_first)) {
            least = d;
            best = words[i];
        }
    }
    best = best ? best : longer;
    for (struct str rest = misspelt; !best && rest.n;)
        best = begins_with(str_part(&rest, '_'), words, n);
    return best;
}

const char *fa_nearest(const char *misspelt, const char *const *words, size_t n) {
    return str_nearest(str_of(misspelt), words, n);
}

/* Eight bytes a step: xor, multiply by an odd constant, fold the high half into the low one. */
uint64_t str_hash(struct str s) {
    const uint64_t k1 = 0x9e3779b97f4a7c15u, k2 = 0xd6e8feb86659fd93u;
    uint64_t h = (uint64_t)s.n * k2 ^ k1, w;
    const char *p = s.p;
    size_t n = s.n;
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&w, p, 8);
        h = (h ^ w) * k1;
        h ^= h >> 32;
    }
    if (n > 0) {
        w = 0;
        memcpy(&w, p, n);
        h = (h ^ w) * k1;
        h ^= h >> 32;
    }
    h *= k2;
    return h ^ h >> 29;
}

char *arena_strdup(struct arena *a, struct str s) {
    char *p = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

struct str arena_str(struct arena *a, struct str s) {
    if (!s.n)
        return STR("");
    return (struct str){arena_strdup(a, s), s.n};
}

/* A short text is formatted once. */
struct str arena_printf(struct arena *a, const char *fmt, ...) {
    char few[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(few, sizeof few, fmt, ap);
    va_end(ap);
    if (n < 0)
        return arena_str(a, STR(""));
    char *p = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof few) {
        memcpy(p, few, (size_t)n);
    } else {
        va_start(ap, fmt);
        vsnprintf(p, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    return (struct str){p, (size_t)n};
}

/* Room for `need` elements: for twice as many as before. */
static uint32_t grown(uint32_t cap, uint32_t need, size_t size) {
    uint32_t n = cap < 8 ? 8 : cap > UINT32_MAX / 2 ? UINT32_MAX : cap * 2;
    if (n < need)
        n = need;
    if (size && n > SIZE_MAX / size)
        out_of_memory();
    return n;
}

void *grow(void *data, uint32_t *cap, uint32_t need, size_t size) {
    if (need <= *cap)
        return data;
    *cap = grown(*cap, need, size);
    return xrealloc(data, *cap * size);
}

void *arena_grow(struct arena *a, void *data, uint32_t *cap, uint32_t need, size_t size) {
    if (need <= *cap)
        return data;
    uint32_t before = *cap;
    *cap = grown(before, need, size);
    void *more = arena_alloc(a, *cap * size);
    if (before)
        memcpy(more, data, before * size);
    return more;
}

static int by_id(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

void sort_ids(uint32_t *ids, uint32_t n) {
    qsort(ids, n, sizeof *ids, by_id);
}

uint32_t set_first(uint32_t *first, uint32_t i) {
    while (first[i] != i)
        i = first[i] = first[first[i]];
    return i;
}

void sets_join(uint32_t *first, uint32_t a, uint32_t b) {
    uint32_t x = set_first(first, a), y = set_first(first, b);
    first[x > y ? x : y] = x > y ? y : x;
}

uint32_t find_id(const uint32_t *ids, uint32_t n, uint32_t id) {
    const uint32_t *found = n ? bsearch(&id, ids, n, sizeof *ids, by_id) : NULL;
    return found ? (uint32_t)(found - ids) : NONE;
}

static void buf_room(struct buf *b, size_t more) {
    if (more > SIZE_MAX / 2 - b->n)
        out_of_memory();
    size_t need = b->n + more;
    if (need <= b->cap)
        return;
    size_t cap = b->cap < 64 ? 64 : b->cap * 2;
    b->cap = cap < need ? need : cap;
    b->p = xrealloc(b->p, b->cap);
}

void buf_add(struct buf *b, struct str s) {
    buf_room(b, s.n);
    if (s.n)
        memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
}

char *buf_more(struct buf *b, size_t n) {
    buf_room(b, n);
    b->n += n;
    return b->p + (b->n - n);
}

void buf_addc(struct buf *b, char c) {
    buf_room(b, 1);
    b->p[b->n++] = c;
}

void buf_int(struct buf *b, int64_t n) {
    char digits[20];
    size_t at = sizeof digits;
    uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (n < 0)
        digits[--at] = '-';
    buf_add(b, (struct str){digits + at, sizeof digits - at});
}

void buf_number(struct buf *b, double x) {
    char text[32];
    double read = NAN;
    bool single = (double)(float)x == x;
    for (int digits = x == rint(x) ? 10 : 1; digits <= 10 && read != x; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        read = single ? (double)strtof(text, NULL) : strtod(text, NULL);
    }
    buf_add(b, str_of(text));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(b->p ? b->p + b->n : NULL, b->cap - b->n, fmt, args);
    if (n > 0 && (size_t)n >= b->cap - b->n) { /* it did not fit */
        buf_room(b, (size_t)n + 1);
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    b->n += n > 0 ? (size_t)n : 0;
}

void buf_printf(struct buf *b, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vprintf(b, fmt, args);
    va_end(args);
}

struct str buf_str(const struct buf *b) {
    return (struct str){b->p, b->n};
}

void buf_free(struct buf *b) {
    free(b->p);
    *b = (struct buf){0};
}

struct str buf_take(struct buf *b, struct arena *a) {
    struct str s = arena_str(a, buf_str(b));
    buf_free(b);
    return s;
}
