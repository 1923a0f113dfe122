/* What all folders use: string views, arena, growable arrays, diagnostics.
 *
 * Memory: an arena owns everything that lives as long as one audit and is freed
 * at once. Out of memory is not an error that callers handle: the process says so
 * and exits with status 3 (the one place where the library ends the program). */
#ifndef FA_BASE_H
#define FA_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NONE UINT32_MAX /* "no id" in every 32-bit id space */

/* A view of bytes that somebody else owns; not NUL-terminated. */
struct str {
    const char *p;
    size_t n;
};

struct str_list {
    const struct str *items;
    uint32_t n;
};

/* What programs read of a proof or a price: "launches: 2", "device: n150". */
struct figure {
    struct str key, value;
    bool is_number;
};

struct figures {
    struct figure *items;
    uint32_t n;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

/* The functions below are inline so that comparing with a literal compiles to a few word comparisons. */
/* View of a C string; NULL gives the empty view. */
static inline struct str str_of(const char *cstr) {
    return (struct str){cstr, cstr ? strlen(cstr) : 0};
}
/* Same bytes. */
static inline bool str_eq(struct str a, struct str b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
/* Same bytes as a C string. */
static inline bool str_is(struct str a, const char *cstr) {
    return str_eq(a, str_of(cstr));
}
static inline bool str_starts(struct str s, struct str prefix) {
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}
static inline bool str_ends(struct str s, struct str suffix) {
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}
static inline bool str_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
/* What stands before the first `end`, which *rest no longer has. */
struct str str_part(struct str *rest, char end);
static inline struct str str_line(struct str *rest) {
    return str_part(rest, '\n');
}
/* Without blanks at both ends. */
static inline struct str str_trim(struct str s) {
    while (s.n > 0 && str_blank(s.p[0]))
        s.p++, s.n--;
    while (s.n > 0 && str_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}
/* The next item of a list with commas, without blanks around it. */
static inline struct str str_item(struct str *rest) {
    return str_trim(str_part(rest, ','));
}
bool str_matches(struct str s, struct str glob);     /* as a whole, as fnmatch(3) does */
int str_cmp(struct str a, struct str b);             /* bytewise order, shorter first among equals */
const char *str_find(struct str s, struct str what); /* first occurrence or NULL */
/* The same, of a whole word: one of letters, digits and '_'. */
const char *str_find_word(struct str s, struct str word);
uint64_t str_hash(struct str s);
static inline uint64_t hash_mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 31;
}
/* A NaN equals itself in them, and 0.0 is not -0.0. */
static inline uint64_t bits_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
unsigned str_distance(struct str a, struct str b); /* edits from one to the other (Levenshtein); 48 for long ones */
/* The word that a misspelt one is close to, or NULL. */
const char *str_nearest(struct str misspelt, const char *const *words, size_t n);

/* Bump allocator. A zeroed struct is an empty arena. */
struct arena {
    struct arena_chunk *chunks;
    char *at, *end;
    size_t total; /* bytes asked of malloc so far */
};

void *arena_alloc(struct arena *a, size_t size);   /* 16-byte aligned, zeroed, never NULL */
char *arena_strdup(struct arena *a, struct str s); /* NUL-terminated copy */
struct str arena_str(struct arena *a,
                     struct str s); /* copy as a view (also NUL-terminated); one "" for all empty ones */
struct str arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(struct arena *a); /* empty again; the chunk allocated last stays for what comes next */
void arena_merge(struct arena *into, struct arena *from); /* `into` owns what `from` held; `from` is empty */
void arena_free(struct arena *a);                         /* frees all chunks; the arena is empty again */

/* Makes room for at least `need` elements of `size` bytes; doubles *cap; never fails. */
void *grow(void *data, uint32_t *cap, uint32_t need, size_t size);
/* The same in an arena, which keeps what was outgrown. */
void *arena_grow(struct arena *a, void *data, uint32_t *cap, uint32_t need, size_t size);
/* Ascending: ids of ops so stand in textual order. */
void sort_ids(uint32_t *ids, uint32_t n);
static inline bool has_id(const uint32_t *ids, uint32_t n, uint32_t id) {
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}
/* Disjoint sets of ids: first[i] leads to the first one of the set of i, and is i to begin with. */
uint32_t set_first(uint32_t *first, uint32_t i);
void sets_join(uint32_t *first, uint32_t a, uint32_t b);
/* Where an id is among ascending ones, or NONE. */
uint32_t find_id(const uint32_t *ids, uint32_t n, uint32_t id);
void *xrealloc(void *p, size_t n);    /* never NULL for n > 0 */
void *xcalloc(size_t n, size_t size); /* zeroed, never NULL */
/* Says so and ends the process: also for other libraries, where they report that they could not allocate. */
_Noreturn void out_of_memory(void);
/* Nothing, unless an errno says that a function of the C library could not allocate. */
void check_memory(int error);
void *made(void *p); /* p; NULL means that another library could not make it */

/* A growable byte string. A zeroed struct is empty; free with buf_free. */
struct buf {
    char *p;
    size_t n, cap;
};

void buf_add(struct buf *b, struct str s);
char *buf_more(struct buf *b, size_t n); /* room for n more bytes, which the caller fills */
void buf_addc(struct buf *b, char c);
void buf_int(struct buf *b, int64_t n); /* in decimal */
/* As few digits as are read as this number again, of a number of f32 as that one of f32; at most ten. */
void buf_number(struct buf *b, double x);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
struct str buf_str(const struct buf *b);
struct str buf_take(struct buf *b, struct arena *a); /* a copy of it in the arena; the buffer is freed */
void buf_free(struct buf *b);

enum severity { SEV_NOTE, SEV_WARNING, SEV_ERROR };

struct diag {
    enum severity severity;
    const char *file; /* owned by the arena of the list */
    uint64_t line;    /* 1-based; 0: the whole file */
    uint32_t column;  /* 1-based, in bytes; 0: the whole line */
    const char *message;
    const char *hint; /* or NULL */
};

/* Diagnostics in the order they were found. Keeps the first `limit` (0: 100) and counts the rest. */
struct diags {
    struct arena *arena;
    struct diag *items;
    uint32_t n, cap, limit;
    uint32_t dropped; /* found beyond the limit */
    uint32_t errors;  /* all with SEV_ERROR, dropped ones too */
};

struct source_location {
    const char *file;
    uint64_t line;
    uint32_t column;
};

/* Counts one that there is no room for; false: there is room, and nothing was counted. For callers that find out places
 * only then: each costs time in the length of its line. */
bool diag_drop(struct diags *d, enum severity sev);
void diag_add(struct diags *d, enum severity sev, struct source_location at, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Adds what another list says, what it dropped too. */
void diags_take(struct diags *to, const struct diags *from);
void diags_free(struct diags *d);
const char *severity_name(enum severity s);
struct fa_diagnostics;
const struct fa_diagnostics *diagnostics_of(const struct diags *d); /* as fusion_audit.h gives them to callers */

#endif
