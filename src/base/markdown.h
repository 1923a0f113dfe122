/* Text of an input in Markdown. */
#ifndef FA_MARKDOWN_H
#define FA_MARKDOWN_H

#include "base/base.h"

/* It cannot become markup, a link, a mention or an end of a line. */
void add_markdown(struct buf *out, struct str s);

#endif
