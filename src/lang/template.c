/* Words of templates. */
#include "lang/template.h"

uint32_t template_typed_slot(const struct formula *f, struct str inner) {
    struct str name = {inner.p + 5, inner.n - 6};
    bool typed = inner.n > 6 && memcmp(inner.p, "type(", 5) == 0 && inner.p[inner.n - 1] == ')';
    return typed ? formula_slot(f, name) : NONE;
}

bool template_word(const struct formula *f, struct str inner) {
    return str_is(inner, "found") || template_typed_slot(f, inner) != NONE;
}
