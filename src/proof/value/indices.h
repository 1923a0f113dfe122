/* Sets of the elements of a tensor, by flat index, that number their members: those of a tensor whose elements are
 * computed on demand. */
#ifndef FA_INDICES_H
#define FA_INDICES_H

#include <stdbool.h>
#include <stdint.h>

enum { WORDS_OF_PAGE = 64 };

/* Neighbours, of which some are members. */
struct index_page {
    uint64_t bits[WORDS_OF_PAGE];
    uint32_t before[WORDS_OF_PAGE]; /* members before those of the word; once the set is counted */
};

struct indices {
    struct index_page **pages; /* NULL: no member is on it, or on any */
    int64_t numel;             /* of the tensor */
    uint32_t n;                /* members; once the set is counted */
};

/* The largest tensor whose elements may be asked for. */
#define MAX_INDEXED ((int64_t)1 << 36)

/* Zeroed it is empty, but for `numel`. */
void indices_add(struct indices *s, int64_t from, int64_t n);
/* The members of a set of a tensor as large, too. */
void indices_join(struct indices *s, const struct indices *of);
/* Numbers the members; nothing is added behind it. */
void indices_count(struct indices *s);
void indices_free(struct indices *s);

/* The number of a member among all, ascending. */
static inline int64_t indices_rank(const struct indices *s, int64_t i) {
    const struct index_page *p = s->pages[i / 64 / WORDS_OF_PAGE];
    int64_t word = i / 64 % WORDS_OF_PAGE;
    return p->before[word] + __builtin_popcountll(p->bits[word] & (((uint64_t)1 << i % 64) - 1));
}

/* The next run of members from *at on, of at most `most`; false: there is none. *at is behind it then. */
bool indices_next(const struct indices *s, int64_t *at, int64_t most, int64_t *from, int64_t *n);

#endif
