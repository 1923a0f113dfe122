/* uthash, which would end the process in its own way where memory ends: it allocates as all code here does. */
#ifndef FA_HASH_H
#define FA_HASH_H

#include "base/base.h"

#define uthash_malloc(size)         xrealloc(NULL, size)
#define HASH_FUNCTION(key, n, hash) ((hash) = (unsigned)str_hash((struct str){(const void *)(key), (n)}))
#include <uthash.h>

#endif
