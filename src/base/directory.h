/* Where the bundled patterns and the facts of the devices are. */
#ifndef FA_DIRECTORY_H
#define FA_DIRECTORY_H

#include "base/base.h"

/* The directory `name` of the program's data: in `data`; NULL: in share/ beside the program or the library, or where
 * they were installed. NUL-terminated. */
struct str data_directory(const char *data, const char *name, struct arena *a);

#endif
