/* Where the bundled patterns are: beside an installed program, in the source tree of a built one. */
#ifndef FA_PATTERN_PLACE_H
#define FA_PATTERN_PLACE_H

#include "base/base.h"

struct str pattern_directory(struct arena *a);

#endif
