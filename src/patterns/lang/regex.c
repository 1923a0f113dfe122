/* Regular expressions run on names and locations of untrusted input: matching is bounded by a number of steps. They are
 * not compiled to machine code: that takes longer than an audit gains by it. */
#include "patterns/lang/regex.h"

void regexes_free(struct regexes *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        pcre2_code_free(all->items[i]->code);
        all->items[i]->code = NULL;
    }
}

void regexes_compile(struct regexes *all, struct arena *a) {
    const char *message;
    for (uint32_t i = 0; i < all->n; i++)
        all->items[i]->code = regex_compile(all->items[i]->text, a, &message);
}

pcre2_code *regex_compile(struct str text, struct arena *a, const char **message) {
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR wrong[128] = "";
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)text.p, text.n, 0, &code, &at, NULL);
    if (!re && code == PCRE2_ERROR_HEAP_FAILED)
        out_of_memory();
    if (!re)
        pcre2_get_error_message(code, wrong, sizeof wrong);
    *message = re ? NULL : arena_strdup(a, str_of((const char *)wrong));
    return re;
}

const struct regex *regexes_add(struct regexes *all, struct str text, struct arena *a, const char **message) {
    for (uint32_t i = 0; i < all->n; i++)
        if (str_eq(all->items[i]->text, text))
            return all->items[i];
    pcre2_code *code = regex_compile(text, a, message);
    if (!code)
        return NULL;
    struct regex *re = arena_alloc(a, sizeof *re);
    *re = (struct regex){text, code};
    all->items = arena_grow(a, all->items, &all->cap, all->n + 1, sizeof(struct regex *));
    return all->items[all->n++] = re;
}

enum { MATCH_LIMIT = 100000 };

bool regex_finds(const struct regex *re, struct str s) {
    if (!re)
        return false;
    pcre2_match_data *data = made(pcre2_match_data_create(1, NULL));
    pcre2_match_context *limits = made(pcre2_match_context_create(NULL));
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    pcre2_set_depth_limit(limits, MATCH_LIMIT);
    int found = pcre2_match(re->code, (PCRE2_SPTR)s.p, s.n, 0, 0, data, limits);
    if (found == PCRE2_ERROR_NOMEMORY)
        out_of_memory();
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    return found >= 0;
}
