/* A library of patterns (fusion_audit.h) as an audit takes it. */
#ifndef FA_CATALOGUE_H
#define FA_CATALOGUE_H

#include "fusion_audit.h"
#include "library/pattern.h"

const struct pattern_set *library_patterns(const struct fa_library *l);
/* It was read with less than all patterns. NULL is not. */
bool library_is_narrowed(const struct fa_library *l);

#endif
