/* The directory of the bundled patterns. */
#ifndef FA_PATTERN_DIRECTORY_H
#define FA_PATTERN_DIRECTORY_H

#include "base/base.h"

/* Beside the program once it is installed, in the source tree when it runs from the build directory; NUL-terminated, in
 * the arena or static. */
struct str pattern_directory(struct arena *a);

#endif
