/* Text for people in lines of a width, broken at blanks: the one place that does it. */
#ifndef FA_LINES_H
#define FA_LINES_H

#include <stdio.h>

#include "base/base.h"

/* Prints lines as they are, but longer ones broken. What is left of one is indented as far as the last column
 * that begins behind two blanks in the first half of the width, else by four more than it is. */
void print_lines(struct str text, size_t width, FILE *out);

#endif
