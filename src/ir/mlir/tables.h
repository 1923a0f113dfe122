/* Symbol tables of one module: interned texts, aliases, functions by name. Private to the folder. */
#ifndef FA_MLIR_TABLES_H
#define FA_MLIR_TABLES_H

#include "ir/mlir/mlir.h"

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

struct alias {
    struct str value;
    bool bad; /* see mlir_unresolved */
};

struct mlir_tables {
    struct arena arena;
    struct buf text;  /* of a block in pieces, whose log prefixes had to be cut out */
    struct buf built; /* of a module with functions that were built: its text, then theirs */
    struct symtab names, types, values;
    struct symtab alias_names; /* "#locN" are in locs */
    struct alias *aliases;     /* by id */
    uint32_t aliases_cap;
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

struct mlir_tables *tables_new(void);
/* Id of the name of an op or of a symbol, in mlir.names. */
uint32_t name_add(struct mlir *m, struct str text);

/* Number of "#loc12"; false for any other alias. */
bool loc_number(struct str alias, uint32_t *number);

/* Id of the value. */
uint32_t value_add(struct mlir *m, struct mlir_value v);
/* All functions can be found by their names: one with a body rather than a declaration of the same name, else the
 * first.
 */
void name_functions(struct mlir *m);

/* trace.c, host.c */
void look_through_traces(struct mlir *m);
void look_through_host(struct mlir *m);

/* Type of a text, read at its first sight. */
uint32_t type_add(struct mlir *m, struct str text);
/* Types by aliases that were not defined yet when they were met. */
void types_resolve(struct mlir *m);

#endif
