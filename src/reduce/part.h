/* The part of a graph that a match is: its ops, and what they take from outside. */
#ifndef FA_PROVE_PART_H
#define FA_PROVE_PART_H

#include "match/match.h"

enum { MAX_PART = 256, MAX_OUTER = 96 };

struct part {
    const struct graph *graph;
    uint32_t ops[MAX_PART]; /* matched or looked through; textual order */
    uint32_t nops;
    uint32_t outer[MAX_OUTER]; /* values that they use and do not make, constants among them; by first use */
    uint32_t nouter;
};

/* False with a reason where the part is too large or a shape is not static. */
bool part_of_match(const struct match *m, struct part *out, struct str *why);
/* An operand that counts: absent ones and scratch space that is no tensor do not. */
bool part_takes(const struct graph *g, uint32_t value);
/* The number that a value holds; of an operand that is absent, none. */
struct constant part_constant(const struct graph *g, uint32_t value);
/* Some op of the part takes the value. */
bool part_uses(const struct part *p, uint32_t value);
bool part_has(const struct part *p, uint32_t op);

/* Its result is another function on either side of some operand. */
bool part_compares(enum op_kind k);
/* Some op does with a number that is neither a truth value nor as good as infinite: positions are told apart by it. */
bool part_has_limits(const struct part *p);

#endif
