#include "proof/value/indices.h"

#include "base/base.h"

#include <stdlib.h>

static int64_t count_pages(const struct indices *s) {
    return s->pages ? (s->numel - 1) / 64 / WORDS_OF_PAGE + 1 : 0;
}

static uint64_t *word_at(struct indices *s, int64_t number) {
    if (!s->pages)
        s->pages = xcalloc((size_t)((s->numel - 1) / 64 / WORDS_OF_PAGE + 1), sizeof *s->pages);
    struct index_page **page = &s->pages[number / WORDS_OF_PAGE];
    if (!*page)
        *page = xcalloc(1, sizeof **page);
    return &(*page)->bits[number % WORDS_OF_PAGE];
}

void indices_add(struct indices *s, int64_t from, int64_t n) {
    while (n > 0) {
        int64_t bit = from % 64, here = 64 - bit < n ? 64 - bit : n;
        *word_at(s, from / 64) |= (here == 64 ? ~(uint64_t)0 : (((uint64_t)1 << here) - 1)) << bit;
        from += here;
        n -= here;
    }
}

void indices_join(struct indices *s, const struct indices *of) {
    for (int64_t i = 0, npages = count_pages(of); i < npages; i++)
        for (int64_t k = 0; of->pages[i] && k < WORDS_OF_PAGE; k++)
            if (of->pages[i]->bits[k])
                *word_at(s, i * WORDS_OF_PAGE + k) |= of->pages[i]->bits[k];
}

void indices_count(struct indices *s) {
    s->n = 0;
    for (int64_t i = 0, npages = count_pages(s); i < npages; i++)
        for (uint32_t k = 0; s->pages[i] && k < WORDS_OF_PAGE; k++) {
            s->pages[i]->before[k] = s->n;
            s->n += (uint32_t)__builtin_popcountll(s->pages[i]->bits[k]);
        }
}

void indices_free(struct indices *s) {
    for (int64_t i = 0, npages = count_pages(s); i < npages; i++)
        free(s->pages[i]);
    free(s->pages);
    *s = (struct indices){.numel = s->numel};
}

/* The members of a word from `at` on. */
static uint64_t members_from(const struct indices *s, int64_t at) {
    const struct index_page *p = s->pages[at / 64 / WORDS_OF_PAGE];
    return p ? p->bits[at / 64 % WORDS_OF_PAGE] >> at % 64 : 0;
}

bool indices_next(const struct indices *s, int64_t *at, int64_t most, int64_t *from, int64_t *n) {
    int64_t end = s->pages ? s->numel : 0, page = (int64_t)64 * WORDS_OF_PAGE, i = *at;
    uint64_t members = 0;
    while (i < end && !(members = members_from(s, i)))
        i = s->pages[i / page] ? (i / 64 + 1) * 64 : (i / page + 1) * page;
    if (i >= end)
        return false;
    *from = i += __builtin_ctzll(members);
    while (i < end && i - *from < most && (members = members_from(s, i))) {
        int64_t run = ~members ? __builtin_ctzll(~members) : 64, left = 64 - i % 64;
        i += run < left ? run : left;
        if (run < left)
            break;
    }
    *n = i - *from < most ? i - *from : most;
    *at = *from + *n;
    return true;
}
