#include "proof/value/indices.h"

#include "base/base.h"

#include <stdlib.h>

static struct index_page *page_at(struct indices *s, int64_t number) {
    if (!s->pages) {
        s->pages = xcalloc((size_t)((s->numel - 1) / INDICES_OF_PAGE + 1), sizeof *s->pages);
        s->first = number;
    }
    struct index_page **page = &s->pages[number];
    if (!*page) {
        *page = xcalloc(1, sizeof **page);
        s->first = number < s->first ? number : s->first;
        s->end = number < s->end ? s->end : number + 1;
    }
    return *page;
}

/* Members of one page, from `at` within it on. */
static void add_range(struct index_page *p, int64_t at, int64_t n) {
    for (int64_t here; n > 0; at += here, n -= here) {
        here = 64 - at % 64 < n ? 64 - at % 64 : n;
        p->bits[at / 64] |= (here == 64 ? ~(uint64_t)0 : ((uint64_t)1 << here) - 1) << at % 64;
    }
}

void indices_add(struct indices *s, int64_t from, int64_t step, int64_t n) {
    for (int64_t here; n > 0; from += here * step, n -= here) {
        struct index_page *p = page_at(s, from / INDICES_OF_PAGE);
        int64_t at = from % INDICES_OF_PAGE, fit = (INDICES_OF_PAGE - 1 - at) / step + 1;
        here = fit < n ? fit : n;
        if (step == 1)
            add_range(p, at, here);
        for (int64_t i = 0; step != 1 && i < here; i++, at += step)
            p->bits[at / 64] |= (uint64_t)1 << at % 64;
    }
}

void indices_join(struct indices *s, const struct indices *of) {
    for (int64_t i = of->first; i < of->end; i++) {
        struct index_page *p = of->pages[i] ? page_at(s, i) : NULL;
        for (int64_t k = 0; p && k < WORDS_OF_PAGE; k++)
            p->bits[k] |= of->pages[i]->bits[k];
    }
}

void indices_count(struct indices *s) {
    s->n = 0;
    for (int64_t i = s->first; i < s->end; i++)
        for (uint32_t k = 0; s->pages[i] && k < WORDS_OF_PAGE; k++) {
            s->pages[i]->before[k] = s->n;
            s->n += count_bits(s->pages[i]->bits[k]);
        }
}

void indices_free(struct indices *s) {
    for (int64_t i = s->first; i < s->end; i++)
        free(s->pages[i]);
    free(s->pages);
    *s = (struct indices){.numel = s->numel};
}

/* The first member from `at` on, or -1. */
static int64_t member_from(const struct indices *s, int64_t at) {
    uint64_t i = (uint64_t)at, end = (uint64_t)s->end * INDICES_OF_PAGE;
    while (i < end) {
        const struct index_page *p = s->pages[i / INDICES_OF_PAGE];
        uint64_t word = i / 64 % WORDS_OF_PAGE, members = p ? p->bits[word] >> i % 64 : 0;
        if (members)
            return (int64_t)i + __builtin_ctzll(members);
        while (p && ++word < WORDS_OF_PAGE)
            if (p->bits[word])
                return (int64_t)(i / INDICES_OF_PAGE * INDICES_OF_PAGE + word * 64) + __builtin_ctzll(p->bits[word]);
        i = (i / INDICES_OF_PAGE + 1) * INDICES_OF_PAGE;
    }
    return -1;
}

void indices_begin(const struct indices *s, struct index_run *r) {
    r->next = member_from(s, s->first * INDICES_OF_PAGE);
}

bool indices_next(const struct indices *s, struct index_run *r) {
    if (r->next < 0)
        return false;
    *r = (struct index_run){.from = r->next, .step = 1, .n = 1, .next = member_from(s, r->next + 1)};
    if (r->next >= 0)
        r->step = r->next - r->from;
    return true;
}

/* How many are side by side from this one on, in its word. */
static int64_t members_beside(const struct indices *s, int64_t at) {
    uint64_t others = ~s->pages[at / INDICES_OF_PAGE]->bits[at / 64 % WORDS_OF_PAGE] >> at % 64;
    int64_t n = others ? __builtin_ctzll(others) : 64;
    return n < 64 - at % 64 ? n : 64 - at % 64;
}

void indices_extend(const struct indices *s, struct index_run *r, int64_t most) {
    for (int64_t n; r->n < most && r->next == r->from + r->n * r->step; r->n += n) {
        n = r->step == 1 ? members_beside(s, r->next) : 1;
        n = n < most - r->n ? n : most - r->n;
        r->next = member_from(s, r->next + n);
    }
}
