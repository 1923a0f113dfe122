/* The formula language: idioms, one to a paragraph; after a line `---` a formula; after another one conditions, one
 * to a line. Each text is a copy of its own with a NUL after it, as the pattern reader makes it. */
#include "fuzz.h"
#include "patterns/lang/formula.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXTS = 64 };

struct copies {
    char *p[MAX_TEXTS];
    uint32_t n;
};

static struct str keep(struct copies *c, struct str s) {
    char *p = xrealloc(NULL, s.n + 1);
    memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    c->p[c->n++] = p;
    return (struct str){p, s.n};
}

/* Cuts off everything before the next `separator`. */
static struct str next(struct str *text, const char *separator) {
    const char *at = str_find(*text, str_of(separator));
    struct str head = {text->p, at ? (size_t)(at - text->p) : text->n};
    size_t gone = head.n + (at ? strlen(separator) : 0);
    *text = (struct str){text->p + gone, text->n - gone};
    return head;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str idiom_texts = {(const char *)data, size};
    struct str formula_text = fuzz_cut(&idiom_texts), conditions = fuzz_cut(&formula_text);
    struct text_origin origin = {&(struct text_file){"input"}, 1, 1};
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct idioms idioms = {0};
    struct copies copies = {.n = 0};
    struct formula formula;
    struct condition_parts parts = {0};
    struct idiom idiom;
    while (idiom_texts.n && copies.n < MAX_TEXTS / 2)
        if (definition_read(&idiom, &arena, keep(&copies, next(&idiom_texts, "\n\n")), origin, &diags))
            idiom_add(&idioms, &arena, idiom, &diags);
    uint32_t errors = diags.errors;
    bool good = formula_parse(&formula, &arena, &idioms, keep(&copies, formula_text), origin, &diags);
    FUZZ_PROMISE(good || diags.errors > errors);
    FUZZ_PROMISE(!good || (formula.root && formula.nslots <= MAX_SLOTS));
    while (good && conditions.n && copies.n < MAX_TEXTS) {
        const struct number *number;
        condition_parse(&number, &formula, &arena, keep(&copies, next(&conditions, "\n")), origin, &parts, &diags);
    }
    regexes_free(&parts.regexes);
    diags_free(&diags);
    arena_free(&arena);
    for (uint32_t i = 0; i < copies.n; i++)
        free(copies.p[i]);
    return 0;
}
