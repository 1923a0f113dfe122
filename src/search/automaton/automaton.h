/* What the subformulas of all patterns (library/net.h) find at each value of a function, and so which patterns an op
 * may be the root of: known before any index map is computed.
 *
 * This is a bottom-up tree automaton (Hoffmann and O'Donnell, Pattern matching in trees, 1982). The state of a value is
 * the set of subformulas that the ops before it have the form of: kinds, attributes, numbers of operands, constants, as
 * deep as they go, operands of commutative ops either way round, movement looked through. It follows from the op and
 * the states of its operands, so an op costs one look-up, however many patterns there are. States and transitions are
 * made when they are first met (as Ertl, Casey and Gregg do for instruction selection, Fast and flexible instruction
 * selection with on-demand tree-parsing automata, 2006) and kept for the graphs after.
 *
 * Names, axes and conditions are not asked about: a state never lacks what the search would find. */
#ifndef FA_AUTOMATON_H
#define FA_AUTOMATON_H

#include "patterns/library/pattern.h"

/* Of a set of patterns, which outlives it; used by one thread at a time. */
struct automaton *automaton_new(const struct pattern_set *set);
void automaton_free(struct automaton *a); /* NULL is fine */

/* What it finds in a graph. */
struct automaton_run *automaton_run_new(struct automaton *a, const struct graph *g);
void automaton_run_free(struct automaton_run *r); /* NULL is fine */
/* Reads the ops from first to before end. */
void automaton_run(struct automaton_run *r, uint32_t first, uint32_t end);

/* False: the subformula (NULL: anything) cannot match at the value. */
bool automaton_finds(const struct automaton_run *r, const struct subformula *s, uint32_t value);
/* The same for the op itself, with nothing looked through. */
bool automaton_finds_root(const struct automaton_run *r, const struct subformula *s, uint32_t op);
/* The op is known to have nothing folded into it (graph_plain). */
bool automaton_plain(const struct automaton_run *r, uint32_t op);
/* Of the patterns that begin with an op of this kind (pattern_set.rooted), those that may have their root at it: a bit
 * each. NULL: nothing is known. */
const uint64_t *automaton_roots(const struct automaton_run *r, uint32_t op);

#endif
