/* Sets of the elements of a tensor, by flat index, that number their members: those of a tensor whose elements are
 * computed on demand. */
#ifndef FA_INDICES_H
#define FA_INDICES_H

#include <stdbool.h>
#include <stdint.h>

/* 64 neighbours, of which some are members. */
struct index_word {
    uint64_t bits;
    uint32_t number; /* of the first of them, divided by 64 */
    uint32_t before; /* members before these; once the set is counted */
};

struct indices {
    uint32_t **word_of;       /* by page of words, per 64 indices: 1 + its word; 0: no member. NULL: none on the page */
    struct index_word *words; /* ascending, once the set is counted */
    uint32_t nwords, cap;
    int64_t numel; /* of the tensor */
    uint32_t n;    /* members; once the set is counted */
    bool unsorted;
};

/* The largest tensor whose elements may be asked for. */
#define MAX_INDEXED   ((int64_t)1 << 36)
#define WORDS_OF_PAGE 512

/* Zeroed it is empty, but for `numel`. */
void indices_add(struct indices *s, int64_t from, int64_t n);
/* Numbers the members; nothing is added behind it. */
void indices_count(struct indices *s);
void indices_free(struct indices *s);

/* The number of a member among all, ascending. */
static inline int64_t indices_rank(const struct indices *s, int64_t i) {
    const struct index_word *w = &s->words[s->word_of[i / 64 / WORDS_OF_PAGE][i / 64 % WORDS_OF_PAGE] - 1];
    return w->before + __builtin_popcountll(w->bits & (((uint64_t)1 << i % 64) - 1));
}

/* Where a walk through the members is; zeroed, at the first one. */
struct index_cursor {
    uint32_t word;
    int64_t at; /* members before it are behind the walk */
};
/* The next run of members, of at most `most`; false: there is none. The walk goes on where `at` says. */
bool indices_next(const struct indices *s, struct index_cursor *c, int64_t most, int64_t *from, int64_t *n);

#endif
