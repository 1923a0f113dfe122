/* Words of templates. */
#include "patterns/lang/template.h"

/* "x" of "word(x)"; false for other texts. */
static bool argument_of(const char *word, struct str text, struct str *inner) {
    size_t n = strlen(word);
    if (text.n < n + 3 || memcmp(text.p, word, n) != 0 || text.p[n] != '(' || text.p[text.n - 1] != ')')
        return false;
    *inner = (struct str){text.p + n + 1, text.n - n - 2};
    return true;
}

uint32_t template_typed_slot(const struct formula *f, struct str inner, struct str *view) {
    struct str name;
    if (!argument_of("type", inner, &name))
        return NONE;
    *view = STR("");
    if (argument_of("source", name, &name))
        *view = STR("source");
    else if (argument_of("printed", name, &name))
        *view = STR("printed");
    return formula_slot(f, name);
}

uint32_t template_op_slot(const struct formula *f, struct str inner, const char *word) {
    struct str name;
    return argument_of(word, inner, &name) ? formula_slot(f, name) : NONE;
}

bool template_word(const struct formula *f, struct str inner) {
    struct str view;
    return template_typed_slot(f, inner, &view) != NONE || template_op_slot(f, inner, "op") != NONE ||
           template_op_slot(f, inner, "activation") != NONE;
}
