/* One line of a log at a time: stripped of colours and prefixes, and told apart. Private to the room.
 *
 * The tests of first and last bytes come before any regular expression: most lines of a log end there. */
#ifndef FA_LOG_LINES_H
#define FA_LOG_LINES_H

#include "log/log.h"

struct keep {
    size_t begin, end; /* in the source */
};

struct line {
    size_t begin, end, next; /* in the source: without the newline; of the following line */
    uint64_t number;
    struct str text; /* without colours and prefixes, CR and newline */
    struct str key;  /* tag of the process that wrote it ("[1,0]<stderr>"), or empty */
    bool prefixed;
    bool has_bar; /* a '|' stands in it: most loggers print one */
    uint32_t nkeep;
    struct keep *keep; /* where `text` is in the source; good until the next line */
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
/* The line ends after the first `n` bytes of its text, without a newline. */
void line_cut(struct line *line, size_t n);

/* headers.c: the patterns that tell lines apart. Compiled when the first candidate comes along. */
struct rules;
struct rules *rules_open(struct arena *a);
void rules_close(struct rules *r);
/* Length of the prefix that a tool put before the line, or 0. Sets *key when it names a process. */
size_t prefix_length(struct rules *r, struct str text, struct str *key);
/* Is it the line of a logger (or a compiler diagnostic)? */
bool line_is_preamble(struct rules *r, const struct line *line);
/* Where a logger's line begins in the middle of this line, because another thread wrote it before the
 * newline of the IR came; 0: nowhere. */
size_t line_glued(struct rules *r, const struct line *line);
bool line_header(struct rules *r, const struct line *line, struct header *h);
struct rules *lines_rules(struct lines *l);

/* cells.c: IR in the cells of a CSV file, where every quote is doubled. */
bool cells_likely(struct str head);
/* Narrows a line to its longest quoted cell and undoubles the quotes: appends to *text and to the list
 * of what is kept. *open: the cell goes on in the next line. False: no quoted cell, nothing is changed. */
struct keep_list {
    struct keep *v;
    uint32_t n, cap;
};
bool cells_read(const char *data, size_t begin, size_t end, bool *open, struct buf *text, struct keep_list *keeps);

#endif
