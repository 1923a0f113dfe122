/* Reads a log line by line, without terminal colours and the prefixes of tools, and recognises headers of modules.
 * Private to the folder. */
#ifndef FA_LOG_LINE_READER_H
#define FA_LOG_LINE_READER_H

#include "input/log/log.h"
#include "input/log/prefix.h"

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
    uint64_t number;         /* 1-based */
    struct str text;  /* without colours, prefix and line end; a view of the source or of a buffer of the reader */
    uint64_t process; /* which wrote it; 0: it has no prefix */
    uint32_t nranges;
    struct source_range *ranges; /* where `text` comes from; valid until the next line is read */
};

struct line_reader {
    const struct source *s;
    size_t at;
    uint64_t number;
    struct prefixes prefixes;
    size_t no_escape, no_zero; /* none of these bytes lies between the line at hand and here: see has_byte */
    struct buf scratch;
    struct range_list ranges;
};

/* Learns the prefixes of the source first, from all of its lines. */
void line_reader_open(struct line_reader *r, const struct source *s);
void line_reader_close(struct line_reader *r);
/* False at the end of the source. */
bool line_reader_next(struct line_reader *r, struct line *line);

enum header_kind { HEADER_NONE, HEADER_XLA, HEADER_DUMP, HEADER_FORGE, HEADER_TORCH, HEADER_END };

struct header {
    enum header_kind kind;
    enum log_stage stage;
    struct str label, thread; /* arena */
    bool fusing;              /* a dump before or after the pass ttir-fusing */
    bool failed;              /* a dump of what a pass left that failed */
};

/* headers.c: the regular expressions that recognise lines. Each is compiled when it is first needed. */
struct rules;
struct rules *rules_open(struct arena *a);
void rules_close(struct rules *r);
/* Whether the compiler reports an error in it. */
bool line_is_error(struct rules *r, struct str text);
/* Whether the line announces or ends a module. */
bool line_header(struct rules *r, struct str text, struct header *h);

#endif
