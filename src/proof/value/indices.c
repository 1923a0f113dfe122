#include "proof/value/indices.h"

#include "base/base.h"

#include <stdlib.h>

static struct index_page *page_at(struct indices *s, int64_t number) {
    int64_t npages = (s->numel - 1) / INDICES_OF_PAGE + 1;
    if (!s->books) {
        s->books = xcalloc((size_t)((npages - 1) / PAGES_OF_BOOK + 1), sizeof *s->books);
        s->first = number;
    }
    struct index_book **book = &s->books[number / PAGES_OF_BOOK];
    if (!*book)
        *book = xcalloc(1, sizeof **book + (size_t)(npages < PAGES_OF_BOOK ? npages : PAGES_OF_BOOK) * sizeof(void *));
    struct index_page **page = &(*book)->pages[number % PAGES_OF_BOOK];
    if (!*page) {
        *page = xrealloc(NULL, sizeof **page);
        (*page)->there = 0;
        (*book)->there[number / 64 % (PAGES_OF_BOOK / 64)] |= (uint64_t)1 << number % 64;
        s->first = number < s->first ? number : s->first;
        s->end = number < s->end ? s->end : number + 1;
    }
    return *page;
}

/* The first page from a number on that has members; `end`: there is none. */
static int64_t next_page(const struct indices *s, int64_t number) {
    while (number < s->end) {
        const struct index_book *book = s->books[number / PAGES_OF_BOOK];
        uint64_t there = book ? book->there[number / 64 % (PAGES_OF_BOOK / 64)] >> number % 64 : 0;
        if (there)
            return number + __builtin_ctzll(there);
        number = book ? (number / 64 + 1) * 64 : (number / PAGES_OF_BOOK + 1) * PAGES_OF_BOOK;
    }
    return s->end;
}

static void add_bits(struct index_page *p, int64_t word, uint64_t bits) {
    uint64_t there = (uint64_t)1 << word;
    p->bits[word] = p->there & there ? p->bits[word] | bits : bits;
    p->there |= there;
}

/* Members of one page, from `at` within it on. */
static void add_range(struct index_page *p, int64_t at, int64_t n) {
    for (int64_t here; n > 0; at += here, n -= here) {
        here = 64 - at % 64 < n ? 64 - at % 64 : n;
        add_bits(p, at / 64, (here == 64 ? ~(uint64_t)0 : ((uint64_t)1 << here) - 1) << at % 64);
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
            add_bits(p, at / 64, (uint64_t)1 << at % 64);
    }
}

void indices_join(struct indices *s, const struct indices *of) {
    for (int64_t i = of->first; i < of->end; i = next_page(of, i + 1)) {
        struct index_page *p = page_at(s, i);
        const struct index_page *more = indices_page(of, i);
        for (uint64_t left = more->there; left; left &= left - 1)
            add_bits(p, __builtin_ctzll(left), more->bits[__builtin_ctzll(left)]);
    }
}

void indices_count(struct indices *s) {
    s->n = 0;
    for (int64_t i = s->first; i < s->end; i = next_page(s, i + 1)) {
        struct index_page *p = indices_page(s, i);
        for (uint64_t left = p->there; left; left &= left - 1) {
            int k = __builtin_ctzll(left);
            p->before[k] = s->n;
            s->n += count_bits(p->bits[k]);
        }
    }
}

void indices_free(struct indices *s) {
    for (int64_t i = s->first; i < s->end; i = next_page(s, i + 1))
        free(indices_page(s, i));
    for (int64_t i = s->first / PAGES_OF_BOOK; i * PAGES_OF_BOOK < s->end; i++)
        free(s->books[i]);
    free(s->books);
    *s = (struct indices){.numel = s->numel};
}

/* The first member from `at` on, or -1. */
static int64_t member_from(const struct indices *s, int64_t at) {
    int64_t number = at / INDICES_OF_PAGE, word = at / 64 % WORDS_OF_PAGE, bit = at % 64;
    if (number < s->end && !indices_page(s, number)) {
        number = next_page(s, number);
        word = bit = 0;
    }
    for (; number < s->end; number = next_page(s, number + 1), word = bit = 0) {
        const struct index_page *p = indices_page(s, number);
        uint64_t behind = p->there & ~(uint64_t)1 << word;
        uint64_t members = p->there >> word & 1 ? p->bits[word] >> bit << bit : 0;
        if (!members && behind) {
            word = __builtin_ctzll(behind);
            members = p->bits[word];
        }
        if (members)
            return number * INDICES_OF_PAGE + word * 64 + __builtin_ctzll(members);
    }
    return -1;
}

int64_t indices_list(const struct indices *s, int64_t *from, int64_t *out, int64_t most) {
    int64_t n = 0, at = member_from(s, *from);
    while (n < most && at >= 0) {
        uint64_t members = indices_page(s, at / INDICES_OF_PAGE)->bits[at / 64 % WORDS_OF_PAGE] >> at % 64 << at % 64;
        for (; n < most && members; members &= members - 1)
            out[n++] = at / 64 * 64 + __builtin_ctzll(members);
        *from = out[n - 1] + 1;
        at = member_from(s, *from);
    }
    return n;
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
    uint64_t others = ~indices_page(s, at / INDICES_OF_PAGE)->bits[at / 64 % WORDS_OF_PAGE] >> at % 64;
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
