/* One line of a log at a time: stripped of colours and prefixes, and told apart. Private to the room.
 *
 * The tests of first and last bytes come before any regular expression: most lines of a log end there. */
#ifndef FA_LOG_LINES_H
#define FA_LOG_LINES_H

#include "log/log.h"

enum { KEEP_MAX = 64 }; /* stretches of one line between colour codes; more are glued to the last */

struct keep {
    size_t begin, end; /* in the source */
};

struct line {
    size_t begin, end, next; /* in the source: without the newline; of the following line */
    uint64_t number;
    struct str text; /* without colours and prefixes, CR and newline */
    struct str key;  /* tag of the process that wrote it ("[1,0]<stderr>"), or empty */
    bool prefixed;
    uint32_t nkeep;
    struct keep keep[KEEP_MAX]; /* where `text` is in the source */
};

enum header_kind { HEADER_NONE, HEADER_XLA, HEADER_DUMP, HEADER_FORGE, HEADER_TORCH, HEADER_END };

struct header {
    enum header_kind kind;
    enum log_stage stage;
    struct str label, thread; /* arena */
    bool fusing;              /* a dump around ttir-fusing */
};

struct lines;
struct lines *lines_open(const struct source *s, struct arena *a);
void lines_close(struct lines *l);
bool lines_next(struct lines *l, struct line *line);
/* Is it the line of a logger (or a compiler diagnostic)? */
bool line_is_preamble(struct lines *l, const struct line *line);
bool line_header(struct lines *l, const struct line *line, struct header *h);

#endif
