/* Symbol tables of one module: interned texts, aliases, functions by name. Private to the room. */
#ifndef FA_MLIR_TABLES_H
#define FA_MLIR_TABLES_H

#include "mlir/mlir.h"

#include <pthread.h>
#include <string.h>

/* uthash would end the process by itself: allocation goes through the base room. */
#define uthash_malloc(n)  xrealloc(NULL, (n))
#define HASH_NONFATAL_OOM 0
#include <uthash.h>

enum { CACHE_BITS = 10, CACHE_SIZE = 1 << CACHE_BITS };

struct sym {
    struct str text;
    uint32_t id;
    UT_hash_handle hh;
};

/* Text -> id. The cache in front answers the common repetitions without a walk of the buckets. */
struct symtab {
    struct sym *head;
    struct sym *cache[CACHE_SIZE];
    uint32_t n;
};

/* Texts seen lately, by their first bytes. A text that ends in a closing bracket or quote and stands at
 * some place is what a scan from there would find: comparing it is cheaper than scanning and hashing. */
enum { RECENT_BITS = 9, RECENT_SIZE = 1 << RECENT_BITS, RECENT_KEY = 24 };

struct recent {
    const char *p;
    uint32_t n, id;
};

/* Dictionaries of attributes as well: those that are equal are read where the first of them stands, which is near and
 * warm when ops are looked at again. Beyond some length it is not worth a comparison. */
enum { RECENT_DICT = 48, LONG_DICT_TEXT = 1 << 12 };

/* The same for "(types) -> type" after an op of some name. */
enum { SIGNATURE_BITS = 10, SIGNATURE_TYPES = 5 };

struct signature {
    const char *p;
    uint32_t n, ntypes; /* the last one is that of the result */
    uint32_t types[SIGNATURE_TYPES];
};

struct loc_slot {
    uint32_t begin, end; /* text after '=' of "#locN = " */
};

struct mlir_tables {
    struct arena arena;
    struct buf text; /* of a block that had to be cleaned */
    struct symtab names, types, values;
    struct recent recent_types[RECENT_SIZE], recent_names[RECENT_SIZE]; /* names with their quotes */
    struct recent recent_dicts[RECENT_SIZE];
    struct signature signatures[1 << SIGNATURE_BITS];
    struct symtab aliases; /* id indexes alias_values; "#locN" are in locs */
    struct str *alias_values;
    uint32_t alias_cap;
    struct loc_slot *locs;
    uint32_t nlocs, locs_cap;
    uint32_t *func_of_name; /* by names id; NONE when it names no function */
    uint32_t nfunc_of_name;
    pthread_mutex_t files_lock;
    struct symtab files; /* id indexes file_names: "file:line:col" made for "\"file\":line:col" */
    struct str *file_names;
    uint32_t file_names_cap;
};

/* Id of a text, a new one (== tab->n before the call) when it was not known. */
uint32_t sym_add(struct mlir_tables *t, struct symtab *tab, struct str text);
/* The same for texts that are wanted long after the pages of the source have gone: `*text` becomes the table's own. */
uint32_t sym_copy(struct mlir_tables *t, struct symtab *tab, struct str *text);
uint32_t sym_find(const struct symtab *tab, struct str text);
void sym_free(struct symtab *tab);

static inline struct recent *recent_slot(struct recent *table, uint64_t key) {
    return &table[key * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];
}

/* Of RECENT_KEY bytes: shapes differ late. */
static inline uint64_t recent_type_key(const char *p) {
    uint64_t w[3];
    memcpy(w, p, sizeof w);
    return w[0] ^ (w[1] << 23 | w[1] >> 41) ^ (w[2] << 47 | w[2] >> 17);
}

/* Of "ttir.add"(% the bytes that tell ops apart and not the operands. */
static inline uint64_t recent_name_key(const char *p) {
    uint64_t w;
    memcpy(&w, p + 4, sizeof w);
    return w;
}

/* Of the first type and the op that has it: what follows is mostly told by these. */
static inline struct signature *signature_slot(struct mlir_tables *t, const char *p, uint32_t name) {
    uint64_t key = recent_type_key(p) ^ (uint64_t)name << 32;
    return &t->signatures[key * 0x9e3779b97f4a7c15u >> (64 - SIGNATURE_BITS)];
}

/* Of RECENT_DICT bytes and the op's name: lists of numbers differ late. */
static inline uint64_t recent_dict_key(const char *p, uint32_t name) {
    uint64_t w[RECENT_DICT / 8], key = (uint64_t)name << 32;
    memcpy(w, p, sizeof w);
    for (int i = 0; i < RECENT_DICT / 8; i++)
        key = (key << 11 | key >> 53) ^ w[i];
    return key;
}

static inline bool recent_is(const struct recent *r, const char *p, const char *end) {
    return r->n > 0 && (size_t)(end - p) >= r->n && memcmp(r->p, p, r->n) == 0;
}

/* Number of "#loc12"; false for any other alias. */
bool loc_number(struct str alias, uint32_t *number);

/* Type of a text, read at its first sight. */
uint32_t type_add(struct mlir *m, struct str text);
/* Types by aliases that were not defined yet when they were met. */
void types_resolve(struct mlir *m);

#endif
