/* The proofs of an audit: a verdict for each match, with equal matches proved once.
 *
 * Matches are equal where their subgraphs print as the same module: pattern, ops, attributes, constants, element types
 * and extents. */
#ifndef FA_PROOFS_H
#define FA_PROOFS_H

#include "proof/prove/verdict.h"
#include "search/match/match.h"

struct proofs; /* may be asked from several threads; verdicts do not depend on how many there are, or on the order */

/* `figures`: verdicts have those of the device. */
struct proofs *proofs_new(const struct pattern_set *set, bool figures);
void proofs_free(struct proofs *p); /* NULL is fine */
/* `blackhole`: the chip that device figures are for, else Wormhole. The texts of the verdict live as long as the
 * proofs. */
struct proved proofs_ask(struct proofs *p, const struct match *m, bool blackhole);
/* Distinct modules that were proved so far. */
uint32_t proofs_count(const struct proofs *p);

#endif
