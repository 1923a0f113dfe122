/* The lit test of a pattern: the place, with what has to be there afterwards, and one that must not fuse. */
#ifndef FA_PASS_TEST_H
#define FA_PASS_TEST_H

#include "compile/pass/writer.h"

/* `module`: the place, whose arguments' attributes are cut; `pass`: that the pattern belongs to. In the arena of `w`.
 */
struct str pass_test(const struct pass_writer *w, const struct pattern_set *set, struct module_text *module,
                     struct str pass);

#endif
