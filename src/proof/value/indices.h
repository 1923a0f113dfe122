/* Sets of the elements of a tensor, by flat index, that number their members: those of a tensor whose elements are
 * computed on demand. */
#ifndef FA_INDICES_H
#define FA_INDICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORDS_OF_PAGE = 64, INDICES_OF_PAGE = 64 * WORDS_OF_PAGE, PAGES_OF_BOOK = 512 };

/* Neighbours, of which some are members. */
struct index_page {
    uint64_t there;                 /* a bit for each word that has members */
    uint64_t bits[WORDS_OF_PAGE];   /* of those words; nothing is in others */
    uint32_t before[WORDS_OF_PAGE]; /* members before them; once the set is counted */
};

struct index_book {
    uint64_t there[PAGES_OF_BOOK / 64]; /* a bit for each page that has members */
    struct index_page *pages[];         /* of the tensor, at most PAGES_OF_BOOK; NULL: no member is on it */
};

struct indices {
    struct index_book **books; /* NULL: no member is in it, or in any */
    int64_t numel;             /* of the tensor */
    int64_t first, end;        /* pages that have members are among these */
    uint32_t n;                /* members; once the set is counted */
};

/* The largest tensor whose elements may be asked for. */
#define MAX_INDEXED ((int64_t)1 << 36)

/* Zeroed it is empty, but for `numel`. `n` members from `from` on, so far apart as `step`, above 0. */
void indices_add(struct indices *s, int64_t from, int64_t step, int64_t n);
/* The members of a set of a tensor as large, too. */
void indices_join(struct indices *s, const struct indices *of);
/* Numbers the members; nothing is added behind it. */
void indices_count(struct indices *s);
void indices_free(struct indices *s);

/* Where the processor need not have an instruction for it, __builtin_popcountll is a call. */
static inline uint32_t count_bits(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

/* Of a page that is among those with members; or NULL. */
static inline struct index_page *indices_page(const struct indices *s, int64_t number) {
    const struct index_book *b = s->books[number / PAGES_OF_BOOK];
    return b ? b->pages[number % PAGES_OF_BOOK] : NULL;
}

/* The number of a member among all, ascending. */
static inline int64_t indices_rank(const struct indices *s, int64_t i) {
    const struct index_page *p = indices_page(s, i / INDICES_OF_PAGE);
    int64_t word = i / 64 % WORDS_OF_PAGE;
    return p->before[word] + count_bits(p->bits[word] & (((uint64_t)1 << i % 64) - 1));
}

/* Members of equal distance, and no others between them. */
struct index_run {
    int64_t from, step, n;
    int64_t next; /* the member behind them, or -1 */
};

/* Up to `most` members from `*from` on, which is behind them then; how many. */
int64_t indices_list(const struct indices *s, int64_t *from, int64_t *out, int64_t most);
/* Before the first run. */
void indices_begin(const struct indices *s, struct index_run *r);
/* The first member behind a run, with the distance of the next one from it; false: there is none. */
bool indices_next(const struct indices *s, struct index_run *r);
/* All members behind it that have that distance, up to `most`. */
void indices_extend(const struct indices *s, struct index_run *r, int64_t most);

#endif
