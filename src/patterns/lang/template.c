#include "patterns/lang/template.h"

#include <string.h>

/* "x" of "word(x)"; false for other texts. */
static bool argument_of(const char *word, struct str text, struct str *inner) {
    size_t n = strlen(word);
    if (text.n < n + 3 || memcmp(text.p, word, n) != 0 || text.p[n] != '(' || text.p[text.n - 1] != ')')
        return false;
    *inner = (struct str){text.p + n + 1, text.n - n - 2};
    return true;
}

static enum braced_kind kind_of(struct str inner, struct str *name) {
    *name = inner;
    if (argument_of("op", inner, name))
        return BRACED_OP;
    if (argument_of("activation", inner, name))
        return BRACED_ACTIVATION;
    if (!argument_of("type", inner, name))
        return BRACED_NAME;
    return argument_of("source", *name, name)    ? BRACED_SOURCE
           : argument_of("printed", *name, name) ? BRACED_PRINTED
                                                 : BRACED_TYPE;
}

struct braced braced_read(const struct formula *f, struct str inner, struct arena *a) {
    struct str name;
    struct braced out = {.kind = kind_of(inner, &name)};
    struct diags quiet = {.arena = a};
    out.slot = formula_slot(f, name);
    if (out.slot != NONE) {
        out.names.slots[out.slot / 64] |= 1ull << out.slot % 64;
        return out;
    }
    bool number = condition_parse(&out.number, f, a, inner, (struct text_origin){NULL, 0, 0}, NULL, &quiet);
    diags_free(&quiet);
    out.kind = number ? BRACED_NUMBER : BRACED_TEXT;
    if (number)
        out.names = number_names(out.number);
    return out;
}

bool next_braced(struct str *rest, struct str *before, struct str *inner) {
    const char *open = rest->n ? memchr(rest->p, '{', rest->n) : NULL, *end = rest->p + rest->n;
    const char *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
    *before = close ? (struct str){rest->p, (size_t)(open - rest->p)} : *rest;
    if (!close)
        return false;
    *inner = (struct str){open + 1, (size_t)(close - open) - 1};
    *rest = (struct str){close + 1, (size_t)(end - close) - 1};
    return true;
}
