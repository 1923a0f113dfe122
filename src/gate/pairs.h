/* Of many files which belong together: TTIR and TTNN of one compile, told by what is in them, never by names. */
#ifndef FA_PAIRS_H
#define FA_PAIRS_H

#include "base/base.h"

/* The files of one audit. */
struct input_pair {
    const char *ttir, *ttnn; /* NULL: the other one holds both levels */
};

struct pair_list {
    struct input_pair *items; /* freed by the caller, paths in the arena */
    uint32_t n, cap;
    bool failed; /* something could not be read, or belongs to nothing: said in the diagnostics */
};

/* Looks into files, directories (all files below that are IR) and archives. A file with both levels is by itself. A
 * TTNN module goes with the TTIR whose functions and signatures agree and most of whose ops it descends from, each TTIR
 * with one; a further TTNN of the same TTIR is a pair, too, unless it has the same ops as the first: then it is the
 * same compile printed again, as after the rewrites of the runtime. In the order of the paths. */
void pairs_find(const char *const *files, size_t n, unsigned long limit, struct arena *a, struct diags *d,
                struct pair_list *out);

#endif
