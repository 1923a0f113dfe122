/* Texts of an input may hold any bytes; JSON and YAML carry valid UTF-8 only, and a terminal obeys some of them. */
#ifndef FA_UTF8_H
#define FA_UTF8_H

#include <stdio.h>

#include "base/base.h"

/* `s` itself when it is valid UTF-8; else a copy in `scratch` in which each byte that is not part of
 * a valid sequence is U+FFFD. */
struct str utf8_repair(struct str s, struct buf *scratch);
/* Text in which nothing drives a terminal: `s` itself, or a copy in `scratch`. What does is escaped as JSON and YAML
 * have it: a control character of ASCII, unless it is in `keep`, and a byte that is no UTF-8 as \xNN; other control
 * characters (DEL, C1), line separators and the bidirectional controls of Unicode as \uNNNN. */
struct str utf8_clean(struct str s, const char *keep, struct buf *scratch);
void print_clean(struct str s, const char *keep, FILE *out); /* the same, printed */
/* Where the first byte that is escaped is at or behind `i`. */
size_t utf8_clean_end(struct str s, size_t i, const char *keep);

#endif
