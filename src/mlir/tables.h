/* Symbol tables of one module: interned texts, aliases, functions by name. Private to the room. */
#ifndef FA_MLIR_TABLES_H
#define FA_MLIR_TABLES_H

#include "mlir/mlir.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"

struct sym {
    struct str text;
    uint32_t id;
    UT_hash_handle hh;
};

/* Text -> id, dense and in order of first sight. The texts are views of the module's text or of literals. */
struct symtab {
    struct sym *head;
    uint32_t n;
};

struct mlir_tables {
    struct arena arena;
    struct buf text; /* of a block in pieces, whose log prefixes had to be cut out */
    struct symtab names, types, values;
    struct symtab aliases; /* id indexes alias_values; "#locN" are in locs */
    struct str *alias_values;
    bool *alias_bad; /* by id too: see mlir_unresolved */
    uint32_t alias_cap, alias_bad_cap;
    struct span *locs; /* by N: the text after "#locN = "; end 0: not defined */
    uint32_t nlocs;
    uint32_t *func_of_name; /* by names id; NONE when it names no function */
    uint32_t nfunc_of_name;
    pthread_mutex_t files_lock; /* of the rest: threads that search functions of one module ask for locations */
    struct symtab files;        /* id indexes file_names: "file:line:col" made for "\"file\":line:col" */
    struct str *file_names;
    uint32_t file_names_cap;
};

/* Id of a text; a new one (tab->n before the call) when it was not known. sym_find: NONE then. */
uint32_t sym_add(struct mlir_tables *t, struct symtab *tab, struct str text);
uint32_t sym_find(const struct symtab *tab, struct str text);
void sym_free(struct symtab *tab);

/* Number of "#loc12"; false for any other alias. */
bool loc_number(struct str alias, uint32_t *number);

/* Type of a text, read at its first sight. */
uint32_t type_add(struct mlir *m, struct str text);
/* Types by aliases that were not defined yet when they were met. */
void types_resolve(struct mlir *m);

#endif
