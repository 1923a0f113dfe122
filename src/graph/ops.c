/* The operator table and its look-ups by name. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

const struct op_info op_table[K_COUNT] = {
    [K_UNKNOWN] = {"", OP_OPAQUE, 0, "*", "", "", ""},
#define OP(id, name, class, flags, roles, strict, attributes, spellings)                                               \
    [K_##id] = {name, OP_##class, flags, roles, strict, attributes, spellings},
#include "graph/ops.def"
#undef OP
};

enum op_kind op_kind_of_name(struct str neutral) {
    for (int k = 1; k < K_COUNT; k++)
        if (neutral.n && op_table[k].name[0] == neutral.p[0] && str_is(neutral, op_table[k].name))
            return (enum op_kind)k;
    return K_UNKNOWN;
}

static bool has_word(const char *words, struct str w) {
    for (const char *p = words; p; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, w.p, w.n) == 0 && (p[w.n] == ' ' || p[w.n] == '\0'))
            return true;
    }
    return false;
}

/* Most spellings are the neutral name in a dialect: that operator is asked first. */
enum op_kind op_kind_of_spelling(struct str spelling) {
    if (spelling.n == 0 || memchr(spelling.p, 0, spelling.n) || memchr(spelling.p, ' ', spelling.n))
        return K_UNKNOWN; /* no word has these */
    const char *dot = memrchr(spelling.p, '.', spelling.n), *from = dot ? dot + 1 : spelling.p;
    enum op_kind likely = op_kind_of_name((struct str){from, (size_t)(spelling.p + spelling.n - from)});
    if (likely != K_UNKNOWN && has_word(op_table[likely].spellings, spelling))
        return likely;
    for (int k = 1; k < K_COUNT; k++)
        if (has_word(op_table[k].spellings, spelling))
            return (enum op_kind)k;
    return K_UNKNOWN;
}

const char *op_nearest_name(struct str misspelt) {
    const char *best = NULL;
    unsigned least = (unsigned)(misspelt.n / 3 + 2);
    for (int k = 1; k < K_COUNT; k++) {
        unsigned d = str_distance(misspelt, str_of(op_table[k].name));
        if (d < least) {
            least = d;
            best = op_table[k].name;
        }
    }
    return best;
}
