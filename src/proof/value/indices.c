#include "proof/value/indices.h"

#include "base/base.h"

#include <stdlib.h>

static struct index_word *word_at(struct indices *s, int64_t number) {
    if (!s->word_of)
        s->word_of = xcalloc((size_t)(s->numel / 64 / WORDS_OF_PAGE + 1), sizeof *s->word_of);
    uint32_t **page = &s->word_of[number / WORDS_OF_PAGE];
    if (!*page)
        *page = xcalloc(WORDS_OF_PAGE, sizeof **page);
    uint32_t *word = &(*page)[number % WORDS_OF_PAGE];
    if (!*word) {
        s->words = grow(s->words, &s->cap, s->nwords + 1, sizeof *s->words);
        s->unsorted |= s->nwords && s->words[s->nwords - 1].number > number;
        s->words[s->nwords] = (struct index_word){.number = (uint32_t)number};
        *word = ++s->nwords;
    }
    return &s->words[*word - 1];
}

void indices_add(struct indices *s, int64_t from, int64_t n) {
    while (n > 0) {
        int64_t bit = from % 64, here = 64 - bit < n ? 64 - bit : n;
        word_at(s, from / 64)->bits |= (here == 64 ? ~(uint64_t)0 : (((uint64_t)1 << here) - 1)) << bit;
        from += here;
        n -= here;
    }
}

static int by_number(const void *p, const void *q) {
    const struct index_word *a = p, *b = q;
    return (a->number > b->number) - (a->number < b->number);
}

void indices_count(struct indices *s) {
    if (s->unsorted)
        qsort(s->words, s->nwords, sizeof *s->words, by_number);
    s->n = 0;
    for (uint32_t i = 0; i < s->nwords; i++) {
        s->word_of[s->words[i].number / WORDS_OF_PAGE][s->words[i].number % WORDS_OF_PAGE] = i + 1;
        s->words[i].before = s->n;
        s->n += (uint32_t)__builtin_popcountll(s->words[i].bits);
    }
}

void indices_free(struct indices *s) {
    for (int64_t i = 0; s->word_of && i <= s->numel / 64 / WORDS_OF_PAGE; i++)
        free(s->word_of[i]);
    free(s->word_of);
    free(s->words);
    *s = (struct indices){.numel = s->numel};
}

bool indices_next(const struct indices *s, struct index_cursor *c, int64_t most, int64_t *from, int64_t *n) {
    uint64_t bits = 0;
    for (; c->word < s->nwords && !bits; c->word += !bits) {
        int64_t begin = (int64_t)s->words[c->word].number * 64, skip = c->at - begin;
        bits = skip >= 64 ? 0 : skip > 0 ? s->words[c->word].bits & ~(uint64_t)0 << skip : s->words[c->word].bits;
    }
    if (!bits)
        return false;
    uint32_t word = c->word;
    int64_t at = (int64_t)s->words[word].number * 64 + __builtin_ctzll(bits);
    *from = at;
    while (word < s->nwords && s->words[word].number == at / 64 && at - *from < most) {
        uint64_t clear = ~(s->words[word++].bits >> at % 64);
        int64_t left = 64 - at % 64, run = clear ? __builtin_ctzll(clear) : 64;
        at += run < left ? run : left;
        if (run < left)
            break;
    }
    *n = at - *from < most ? at - *from : most;
    return true;
}
