/* The proofs of an audit: a verdict for each match, each distinct one evaluated once.
 *
 * Matches are alike when what they are made of is: pattern, ops, attributes, constants, element types, and the extents
 * or, where they can be made smaller, the relations between them. A constant that is no single number is an argument
 * first; what it holds (held.h) is asked for where that decides, or where it is small. */
#ifndef FA_PROVE_PROOFS_H
#define FA_PROVE_PROOFS_H

#include "prove/prove.h"
#include "reduce/mutate.h"

struct proofs; /* may be asked from several threads; the answers do not depend on how many there are */

struct proofs *proofs_new(const struct pattern_set *set);
void proofs_free(struct proofs *p); /* NULL is fine */
/* `blackhole`: the chip that figures of the device are for, else Wormhole. The text of the verdict lives as long as the
 * proofs. */
struct proved proofs_ask(struct proofs *p, const struct match *m, bool blackhole);
/* The line of the notes: "validated: same function (f64, 2 shapes), device PCC ...", "not validated: REASON". */
struct str verdict_line(const struct proved *v, struct arena *a);
/* The same for programs: lines of `key: value`. */
struct str verdict_details(const struct proved *v, struct arena *a);
/* It computes something else, whatever holds. */
static inline bool verdict_refutes(const struct proved *v) {
    return v->kind == VERDICT_DIFFERENT;
}
/* The module's system description names this chip. */
bool is_for_blackhole(const struct mlir *m);
/* A match in other extents (extents_shrink), other element types, with something changed and on other numbers. */
enum variation_types { TYPES_KEPT, TYPES_SWAPPED, TYPES_F16, TYPES_COUNT }; /* swapped: bf16 and f32 */
struct variation {
    uint32_t which;
    enum variation_types types;
    enum change change;
    uint64_t seed;
};
/* VERDICT_NONE where there is no such variation, or it cannot be evaluated. Its text lives in `a`. */
struct proved prove_variation(const struct pattern_set *set, const struct match *m, const struct variation *v,
                              struct arena *a);
/* Neighbouring seeds are far apart. */
static inline uint64_t seed_of(uint64_t seed, uint64_t i) {
    uint64_t x = (seed + i * 0x632be59bd9b4e019u + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 27) >> 8;
}
/* Distinct matches that were evaluated so far. */
uint32_t proofs_count(const struct proofs *p);

#endif
