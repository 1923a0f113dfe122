/* Which finding is which, in two dumps of a model or in dumps of two compiles. */
#ifndef FA_FINGERPRINT_H
#define FA_FINGERPRINT_H

#include "report/place/segment.h"
#include "search/match/match.h"

/* No name of a value, position or number of a location is part of it. Written as `structure.place.rank.count` in
 * hexadecimal and decimal numbers: "5f0c2b9d03a1e7c4.1a2b3c4d.3.24". The hashes are part of files that users keep. */
struct fingerprint {
    uint64_t structure;   /* pattern, ops, their attributes and shapes, how they feed one another */
    uint32_t place;       /* names in the model; 0: there are none */
    uint32_t rank, count; /* of the root among the ops of the function with its type: in the TTIR where that is known,
                             which is the same whatever was fused; else in the TTNN */
};

/* For each op its rank among its like, and how many there are: made once for a graph. */
struct ranks;
struct ranks *ranks_new(const struct graph *g);
void ranks_free(struct ranks *r); /* NULL is fine */
void ranks_of(const struct ranks *r, uint32_t op, struct fingerprint *f);

/* Hash of ops of a graph, in textual order, that stand under a name; operands that come from another of them through
 * movement or casts are told from those from outside. */
uint64_t structure_hash(const struct graph *g, struct str name, const uint32_t *ops, uint32_t n, struct arena *a);
/* Attributes of the op itself, with a hash of name and text each: not those that a frontend hung on it (with a dot in
 * their name), nor layouts, memory and program configurations, which are the choice of a compile. Returns how many; the
 * names are views into the module. */
enum { OWN_ATTRIBUTES = 32 };
struct attribute_hash {
    struct str name;
    uint64_t hash;
};
uint32_t own_attributes(const struct mlir *m, uint32_t op, struct attribute_hash out[OWN_ATTRIBUTES]);
/* Hash of names in the model, in any order; 0: none. */
uint32_t place_hash(const struct str_list *names);

enum { FINGERPRINT_TEXT = 64 }; /* bytes, NUL included */
const char *fingerprint_text(const struct fingerprint *f, char out[FINGERPRINT_TEXT]);
/* False when the text is none. */
bool fingerprint_read(struct str text, struct fingerprint *out);

#endif
