/* Interned texts (uthash), and the numbers of location aliases. */
#include "ir/mlir/tables.h"

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

struct mlir_tables *tables_new(void) {
    struct mlir_tables *t = xcalloc(1, sizeof *t);
    pthread_mutex_init(&t->files_lock, NULL);
    return t;
}

uint32_t name_add(struct mlir *m, struct str text) {
    uint32_t id = sym_add(m->tables, &m->tables->names, text);
    if (id == m->nnames) {
        m->names = grow(m->names, &m->names_cap, id + 1, sizeof *m->names);
        m->names[m->nnames++] = text;
    }
    return id;
}

uint32_t value_add(struct mlir *m, struct mlir_value v) {
    m->values = grow(m->values, &m->values_cap, m->nvalues + 1, sizeof *m->values);
    m->values[m->nvalues] = v;
    return m->nvalues++;
}

void name_functions(struct mlir *m) {
    struct mlir_tables *t = m->tables;
    t->nfunc_of_name = m->nnames;
    t->func_of_name = xrealloc(t->func_of_name, (m->nnames + (size_t)1) * sizeof *t->func_of_name);
    memset(t->func_of_name, 0xff, (m->nnames + (size_t)1) * sizeof *t->func_of_name);
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        uint32_t *known = &t->func_of_name[m->funcs[f].name];
        if (*known == NONE || (m->funcs[*known].declaration && !m->funcs[f].declaration))
            *known = f;
    }
}

uint32_t mlir_find_func(const struct mlir *m, uint32_t name) {
    return name < m->tables->nfunc_of_name ? m->tables->func_of_name[name] : NONE;
}

uint32_t mlir_func_named(const struct mlir *m, struct str name) {
    return mlir_find_func(m, sym_find(&m->tables->names, name));
}

bool loc_number(struct str alias, uint32_t *number) {
    if (alias.n < 5 || alias.n > 11 || memcmp(alias.p, "#loc", 4) != 0)
        return false;
    if (alias.p[4] == '0' && alias.n > 5)
        return false;
    uint32_t v = 0;
    for (size_t i = 4; i < alias.n; i++) {
        uint32_t digit = (uint32_t)(alias.p[i] - '0');
        if (digit > 9)
            return false;
        v = v * 10 + digit;
    }
    *number = v;
    return true;
}
