/* Text for people in lines of a width, broken at blanks: the one place that does it. */
#ifndef FA_LINES_H
#define FA_LINES_H

#include <stdio.h>

#include "base/base.h"

/* The next line of a text: as much as fits, up to a blank. A longer word is cut in `cuts`, else it is a line. */
struct str next_line(struct str *rest, size_t width, bool cuts);
/* Prints lines as they are, but longer ones broken. What is left of one is indented as far as its second column, which
 * begins behind two blanks in the first quarter of the width, else by four more than it is. */
void print_lines(struct str text, size_t width, FILE *out);

#endif
