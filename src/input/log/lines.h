/* Reads a log line by line, without terminal colours and the prefixes of tools, and recognises lines of loggers and
 * headers of modules. Private to the folder. */
#ifndef FA_LOG_LINES_H
#define FA_LOG_LINES_H

#include "input/log/log.h"

/* Byte offsets into the source. */
struct source_range {
    size_t begin, end;
};
struct range_list {
    struct source_range *v;
    uint32_t n, cap;
};

struct line {
    size_t begin, end, next; /* offsets of the line, of its CR or newline, and of the line after it */
    uint64_t number, last;   /* 1-based; `last` of the line that a broken one ends in */
    struct str text; /* without colours, prefixes and line end; a view of the source or of a buffer of the reader */
    struct str key;  /* tag of the process that wrote it ("[1,0]<stderr>"), or empty */
    bool prefixed;   /* something at its front was taken off */
    bool has_bar;    /* contains '|', which most loggers print */
    uint32_t nranges;
    struct source_range *ranges; /* where `text` comes from; valid until the next line is read */
};

enum header_kind { HEADER_NONE, HEADER_XLA, HEADER_DUMP, HEADER_FORGE, HEADER_TORCH, HEADER_END };

struct header {
    enum header_kind kind;
    enum log_stage stage;
    struct str label, thread; /* arena */
    bool fusing;              /* a dump before or after the pass ttir-fusing */
    bool failed;              /* a dump of what a pass left that failed */
};

struct lines;
struct lines *lines_open(const struct source *s, struct arena *a);
void lines_close(struct lines *l);
/* False at the end of the source. */
bool lines_next(struct lines *l, struct line *line);
/* Cuts a line off after the first `n` bytes of its text; what is left has no newline. */
void line_cut(struct line *line, size_t n);

/* headers.c: the regular expressions that recognise lines. Each is compiled when it is first needed. */
struct rules;
struct rules *rules_open(struct arena *a);
void rules_close(struct rules *r);
/* Length of the prefix that a tool (mpirun, pytest-xdist, docker, CI) put before the line, or 0. Sets *key when it
 * names a process. */
size_t prefix_length(struct rules *r, struct str text, struct str *key);
/* Whether the line comes from a logger, or is a compiler diagnostic. */
bool line_is_preamble(struct rules *r, const struct line *line);
/* Whether the compiler reports an error in it. */
bool line_is_error(struct rules *r, const struct line *line);
/* The offset in the text at which a logger's line begins because another thread wrote it in the middle of a line of IR;
 * 0: nowhere. */
size_t line_glued(struct rules *r, const struct line *line);
/* Whether the line announces or ends a module. */
bool line_header(struct rules *r, const struct line *line, struct header *h);
struct rules *lines_rules(struct lines *l);

/* cells.c: IR in the cells of a CSV file, where every quote is doubled. Whether the head of a file looks like it. */
bool cells_likely(struct str head);
/* Appends the longest quoted cell of the line [begin, end) with single quotes to *text, and where it comes from to
 * *ranges. *open: a cell goes on from the line before; set when one goes on in the next line. False: there is no quoted
 * cell. */
bool cells_read(const char *data, size_t begin, size_t end, bool *open, struct buf *text, struct range_list *ranges);

#endif
