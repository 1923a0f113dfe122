/* The directories of bundled data: patterns, devices. */
#ifndef FA_DIRECTORY_H
#define FA_DIRECTORY_H

#include "base/base.h"

/* Beside the program once it is installed, in the source tree when it runs from the build directory; NUL-terminated, in
 * the arena. */
struct str data_directory(const char *name, struct arena *a);

#endif
