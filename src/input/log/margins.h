/* What stands in front of every line of a file that was copied out of an editor or a diff, and lines that a terminal
 * has broken. Private to the folder. */
#ifndef FA_LOG_MARGINS_H
#define FA_LOG_MARGINS_H

#include "base/base.h"

enum { MAX_QUOTE = 8 };

enum margin_kind {
    MARGIN_NONE,
    MARGIN_NUMBERS, /* of lines: of grep -n, an editor, a pager */
    MARGIN_MARKS,   /* '+' or '-', of a file that is new or gone */
    MARGIN_DIFF,    /* of a unified diff with context: the lines as they are now */
    MARGIN_QUOTE    /* of a mail, a table or a comment: "> ", "| ", "// " */
};

struct margins {
    enum margin_kind kind;
    bool spaced;           /* each number has ": " behind it */
    char quote[MAX_QUOTE]; /* the marks and the blanks between them */
    uint8_t nquote;
    size_t width; /* lines that are as long go on in the next one; 0: none do */
};

/* From the first lines of a file. A margin is one that all of them have, or numbers that count most of them. */
void margins_sample(struct margins *m, struct str head);
/* Length of the margin of a line. */
size_t margin_of(const struct margins *m, struct str t);
/* Whether a broken line goes on in `next`: `last` is its last piece, `joined` all so far. */
bool margins_join(const struct margins *m, struct str last, struct str joined, struct str next);

#endif
