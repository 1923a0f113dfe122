/* Hashes of what a search from an op can see: two roots with one hash look the same to it, in whatever layer, function
 * or graph they are.
 *
 * The hash of a root covers the ops before it: HASH_DEPTH operators deep, with all movement between, and no further
 * apart in the text than HASH_SPAN. Of each it covers kind, attributes, shapes, element types, constants, who uses its
 * results, and how far apart in the text the ops stand, and so which of their operands are the same value. */
#ifndef FA_STRUCTURAL_HASH_H
#define FA_STRUCTURAL_HASH_H

#include "graph/graph.h"
#include "match/evaluate.h"

enum {
    HASH_SPAN = 1024, /* ops from the first to the last one covered, in the text */
    HASH_DEPTH = 16   /* operators from the root to the deepest one covered */
};

struct hashes;

/* Hashes of whole functions of earlier graphs: a function that is like one of them is not hashed in rounds again. A
 * module of 50 MB that repeats a function takes a tenth less time (bench/generate.py ttir 50). */
struct known_functions;
struct known_functions *known_functions_new(void);
void known_functions_free(struct known_functions *k);

/* `unique` tells the graph from all others that its hashes are compared with. `known` is the caller's. */
struct hashes *hashes_new(const struct graph *g, uint64_t unique, struct known_functions *known);
void hashes_free(struct hashes *h); /* NULL is fine */
/* Hashes the ops of a function: from first to before end. */
void hashes_function(struct hashes *h, uint32_t first, uint32_t end);
/* Of an op of that function. Never 0. */
uint64_t hash_of_root(const struct hashes *h, uint32_t op);
/* Of what a search from `root` looked at behind a value; 0: nothing is known of it. */
uint64_t hash_of_dependency(const struct hashes *h, struct dependency d, uint32_t root);
/* The hash of the op covers the users of its results. */
bool hash_covers_users(const struct graph *g, uint32_t op);

#endif
