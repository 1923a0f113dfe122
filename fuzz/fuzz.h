/* What the fuzz targets share: an input in memory as a source, and a file in memory for what is read by name. */
#ifndef FA_FUZZ_H
#define FA_FUZZ_H

#include "input/unpack/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A view of the input's own bytes, so that a sanitizer sees every byte read beyond them. */
struct source fuzz_source(const uint8_t *data, size_t size);

enum { FUZZ_FILES = 2 };
/* Makes file number `i` hold these bytes. Its name stays valid, and is that of no regular path: it lives in memory. */
const char *fuzz_file(int i, struct str bytes);

/* Cuts `text` at the first line that is exactly `---`; the rest, or the empty view. */
struct str fuzz_cut(struct str *text);

/* Reads every byte of a view: a sanitizer speaks up when it is no view of living memory. */
void fuzz_touch(struct str s);

/* Ends the process with a message: something that a folder promises does not hold. */
#define FUZZ_PROMISE(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))
void fuzz_broken(const char *condition, const char *file, int line);

#endif
