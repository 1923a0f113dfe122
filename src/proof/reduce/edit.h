/* One change of a subgraph as it is made in other extents (resize.h): its rank, its element types, or one op more or
 * less. Whether a pattern still matches the result is left to the search. */
#ifndef FA_EDIT_H
#define FA_EDIT_H

#include "proof/reduce/subgraph.h"

enum change {
    CHANGE_NONE,
    CHANGE_BATCH,   /* one more leading dimension, of two elements */
    CHANGE_ROWS,    /* the same of rows of data, not of weights */
    CHANGE_RANK,    /* one more leading dimension, of one element */
    CHANGE_NO_LEAD, /* one leading dimension of one element less */
    CHANGE_DROP,    /* one matched op less: its users take an operand of it */
    CHANGE_INSERT,  /* one more op before or behind a matched one */
    CHANGES
};

enum edit_types { TYPES_KEPT, TYPES_SWAPPED, TYPES_F16, TYPES_COUNT }; /* swapped: bf16 and f32 */

/* The second operand of an inserted binary op: of the first one's shape, of its last dimension only, a single element,
 * or a constant of a single element. */
enum second_operand { SECOND_FULL, SECOND_ROW, SECOND_ONE, SECOND_CONSTANT, SECOND_OPERANDS };

struct edit {
    enum edit_types types;
    int64_t *leads; /* by value of the graph: the extent of a leading dimension more, 0: it has none; NULL: none has */
    bool less;      /* these values have that dimension, and lose it */

    uint32_t dropped;  /* an op of the graph; NONE: none */
    uint32_t stand_in; /* the operand that replaces its result */

    uint32_t at;       /* the value of the graph whose users take the new op's result instead; NONE: none */
    struct str insert; /* spelling of the new op */
    bool unary;
    enum second_operand second;
    bool parameter; /* the second operand is a parameter of the model */
    uint32_t added; /* out: the new op in the module; NONE: there is none */
};

/* No change but of the types. */
static inline struct edit edit_none(enum edit_types types) {
    return (struct edit){.types = types, .dropped = NONE, .at = NONE, .added = NONE};
}
/* Chooses, by the seed, what is changed. False where no such change exists. */
bool edit_choose(struct edit *out, enum change change, uint64_t seed, const struct subgraph *s, const struct match *m,
                 struct arena *a);
/* What was changed, for messages: "with one more leading dimension". */
const char *change_name(enum change c);

#endif
