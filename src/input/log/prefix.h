/* What a tool writes in front of each line that passes through it: docker, kubectl, mpirun, torchrun, pytest, CI, grep,
 * a mail. No tool is known by name: a prefix is what stands before IR in many lines. Private to the folder. */
#ifndef FA_PREFIX_H
#define FA_PREFIX_H

#include "base/base.h"

struct prefix;

/* The prefixes of a file. A zeroed struct has none. */
struct prefixes {
    struct prefix *items; /* once they are chosen: the longest first */
    uint32_t n, cap;
    uint32_t lines;  /* in which something looks like IR */
    bool bare_heads; /* a module or function stands in a line without a prefix */
    bool bare;       /* and any IR */
    size_t indent;   /* blanks before all of it */
};

/* Takes a line into account, without colours. */
void prefixes_note(struct prefixes *of, struct str line);
/* When all lines were noted: leaves those that are prefixes. */
void prefixes_choose(struct prefixes *of);
/* Length of the prefix of a line, or 0. *process tells those apart that write into one log: 0 for a line without
 * prefix. */
size_t prefix_of(const struct prefixes *of, struct str line, uint64_t *process);
void prefixes_free(struct prefixes *of);

#endif
