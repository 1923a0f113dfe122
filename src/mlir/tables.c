/* Interned texts (uthash), and the numbers of location aliases. */
#include "mlir/tables.h"

#include <string.h>

static struct sym *find(const struct symtab *tab, struct str text, uint32_t hash) {
    struct sym *s = NULL;
    HASH_FIND_BYHASHVALUE(hh, tab->head, text.p, text.n, hash, s);
    return s;
}

uint32_t sym_find(const struct symtab *tab, struct str text) {
    struct sym *s = find(tab, text, (uint32_t)str_hash(text));
    return s ? s->id : NONE;
}

uint32_t sym_add(struct mlir_tables *t, struct symtab *tab, struct str text) {
    uint32_t hash = (uint32_t)str_hash(text);
    struct sym *s = find(tab, text, hash);
    if (s)
        return s->id;
    s = arena_alloc(&t->arena, sizeof *s);
    s->text = text;
    s->id = tab->n++;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, tab->head, s->text.p, s->text.n, hash, s);
    return s->id;
}

void sym_free(struct symtab *tab) {
    HASH_CLEAR(hh, tab->head);
    tab->n = 0;
}

bool loc_number(struct str alias, uint32_t *number) {
    if (alias.n < 5 || alias.n > 11 || memcmp(alias.p, "#loc", 4) != 0)
        return false;
    if (alias.p[4] == '0' && alias.n > 5)
        return false;
    uint32_t v = 0;
    for (size_t i = 4; i < alias.n; i++) {
        if (alias.p[i] < '0' || alias.p[i] > '9')
            return false;
        v = v * 10 + (uint32_t)(alias.p[i] - '0');
    }
    *number = v;
    return true;
}
