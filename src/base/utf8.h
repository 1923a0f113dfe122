/* Texts of an input may hold any bytes; JSON and YAML carry valid UTF-8 only. */
#ifndef FA_UTF8_H
#define FA_UTF8_H

#include "base/base.h"

/* `s` itself when it is valid UTF-8; else a copy in `scratch` in which each byte that is not part of
 * a valid sequence is U+FFFD. */
struct str utf8_repair(struct str s, struct buf *scratch);
/* Where the first byte at or behind `i` is that is not ASCII. */
size_t utf8_ascii_end(struct str s, size_t i);

#endif
