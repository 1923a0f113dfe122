/* Idioms: read, and found by name. */
#include <stdlib.h>

#include "lang/expr.h"

static uint32_t bucket_of(struct str name) {
    uint32_t h = (uint32_t)name.n;
    for (size_t i = 0; i < name.n && i < 8; i++)
        h = h * 31 + (unsigned char)name.p[i];
    return h % 64;
}

bool idiom_add(struct idioms *all, struct arena *a, struct str text, struct text_origin origin, struct diags *d) {
    struct formula_parser p = {.arena = a, .diags = d, .text = text, .origin = origin, .lexer = {text, 0, 0}};
    struct idiom idiom = {.text = text, .origin = origin};
    const char *body = formula_idiom_head(&p, &idiom);
    if (!body)
        return false;
    idiom.body = (struct str){body, (size_t)(text.p + text.n - body)};
    struct formula_parser q = {.arena = a, .diags = d, .text = text, .origin = origin, .lexer = {idiom.body, 0, 0}};
    idiom.lines = formula_lines(&q, &idiom.nlines);
    if (q.failed)
        return false;
    uint32_t *last = &all->last[bucket_of(idiom.name)];
    idiom.before = *last;
    all->items = grow(all->items, &all->cap, all->n + 1, sizeof *all->items);
    all->items[all->n++] = idiom;
    *last = all->n;
    return true;
}

const struct idiom *idiom_find(const struct idioms *all, struct str name) {
    uint32_t bucket = bucket_of(name);
    for (; all; all = all->others)
        for (uint32_t i = all->last[bucket]; i > 0; i = all->items[i - 1].before)
            if (str_eq(all->items[i - 1].name, name))
                return &all->items[i - 1];
    return NULL;
}

void idioms_free(struct idioms *all) {
    free(all->items);
    *all = (struct idioms){0};
}
