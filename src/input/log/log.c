/* Cuts a file into blocks of IR. Each process that writes into the log is a stream with at most one open block; each
 * line continues this block, ends it, begins another one, or is foreign: it looks like no IR. A block begins at a
 * module, function, op or alias, and ends where its braces balance and what follows begins anew. */
#include "base/hash.h"
#include "input/log/ir_line.h"
#include "input/log/scan.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LOC = 1 << 22, MOST_SHARED = 64, UNKNOWN = INT32_MIN };

/* An alias that a block without a header defines: other modules of the file may use it. */
struct shared_alias {
    struct str name;
    struct source_range lines;
    uint32_t stamp; /* of the block that defined it last */
    bool needed;    /* by the block that is closed */
};

/* What one process has written so far. */
struct stream {
    uint64_t process; /* of struct line */
    UT_hash_handle hh;
    struct header header; /* of a module that is still to come; HEADER_NONE: none */
    /* the open block, while `open` */
    bool open;
    struct header block_header;
    struct range_list text;
    struct source_range tail; /* its last line, without the newline */
    uint64_t first_line, last_line;
    uint32_t depth;                  /* open braces */
    bool has_ops;                    /* a module, function or op has begun */
    bool in_module;                  /* the outermost braces are those of a module */
    bool module_closed, body_closed; /* a module, anything in braces has ended */
    bool in_trailer;                 /* in file-level metadata, {-# ... #-} */
    uint32_t dropped;
    uint64_t error_line; /* of the first error since the block began */
    uint32_t pending;    /* log lines since the last line of IR: dropped ones if IR follows */
    struct dialects dialects;
    uint32_t last;            /* 1-based index of its last block, in the list of found ones; 0: none */
    uint32_t *locs, locs_cap; /* by number of a "#locN" alias, 1-based: `stamp` if this block has defined it */
    uint32_t stamp;           /* of the open block */
    struct shared_alias *shared;
    uint32_t nshared, shared_cap;
    struct shared_alias *in_alias; /* its definition may go on in the next line */
    int64_t open_brackets;         /* of that definition, or else of the last line; UNKNOWN: not counted yet */
};

struct scan {
    const struct source *s;
    struct arena *arena;
    struct line_reader reader;
    struct rules *rules;
    struct found_list found;
    struct stream *streams; /* by key, in the order of their first lines */
    struct stream *last;    /* of the line before */
    bool is_log;
    uint32_t bare_headers;
};

/* First bytes of lines that may begin a block: rules almost every line of a log out. */
static bool may_start_ir(char c) {
    static const bool first[256] = {['#'] = 1, ['!'] = 1, ['m'] = 1, ['b'] = 1, ['f'] = 1, ['l'] = 1,
                                    ['"'] = 1, ['%'] = 1, ['t'] = 1, [' '] = 1, ['\t'] = 1};
    return first[(unsigned char)c];
}

static bool starts_ir(const struct scan *sc, const struct stream *st, struct str t) {
    if (t.n == 0 || !may_start_ir(t.p[0]))
        return false;
    bool anywhere = !sc->is_log || st->header.kind != HEADER_NONE;
    return alias_name(t) || is_module(t) || is_func(t) || (anywhere && is_op(t));
}

static void add_segment(struct stream *st, size_t begin, size_t end) {
    struct range_list *l = &st->text;
    if (l->n && l->v[l->n - 1].end == begin) {
        l->v[l->n - 1].end = end;
        return;
    }
    l->v = grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (struct source_range){begin, end};
}

static struct shared_alias *shared_of(struct stream *st, struct str name) {
    for (uint32_t i = 0; i < st->nshared; i++)
        if (str_eq(st->shared[i].name, name))
            return &st->shared[i];
    if (st->nshared == MOST_SHARED)
        return NULL;
    st->shared = grow(st->shared, &st->shared_cap, st->nshared + 1, sizeof *st->shared);
    return &st->shared[st->nshared++];
}

/* A definition that the line begins or goes on with. Those of locations are of one module. */
static void note_alias(const struct scan *sc, struct stream *st, const struct line *line, struct str in) {
    struct str name = {in.p, alias_name(in)};
    bool plain = line->nranges == 1 && line->ranges[0].begin == line->begin;
    if (name.n == 0 && st->in_alias && plain && in.n && !is_module(in) && !is_func(in) && !is_op(in)) {
        st->in_alias->lines.end = line->next;
        st->open_brackets += brackets_left_open(in);
        return;
    }
    st->in_alias = NULL;
    st->open_brackets = UNKNOWN;
    if (name.n == 0 || st->depth > 0 || st->block_header.kind != HEADER_NONE || line->nranges != 1 ||
        str_starts(name, STR("#loc")))
        return;
    name.p = sc->s->data + line->ranges[0].begin + (in.p - line->text.p); /* the line may be in a buffer */
    st->in_alias = shared_of(st, name);
    if (!st->in_alias)
        return;
    *st->in_alias = (struct shared_alias){name, {line->ranges[0].begin, line->next}, st->stamp, false};
    st->open_brackets = brackets_left_open(in);
}

static bool mentions(const struct scan *sc, const struct source_range *ranges, uint32_t n, struct str name) {
    for (uint32_t i = 0; i < n; i++)
        if (str_find((struct str){sc->s->data + ranges[i].begin, ranges[i].end - ranges[i].begin}, name))
            return true;
    return false;
}

/* Whether the block, or an alias that it needs, mentions one that it does not define. */
static bool needs_alias(const struct scan *sc, const struct stream *st, uint32_t alias) {
    const struct shared_alias *a = &st->shared[alias];
    if (a->stamp == st->stamp)
        return false;
    for (uint32_t i = alias + 1; i < st->nshared; i++)
        if (st->shared[i].needed && mentions(sc, &st->shared[i].lines, 1, a->name))
            return true;
    return mentions(sc, st->text.v, st->text.n, a->name);
}

/* Puts aliases of other modules in front of one that is printed without a header: MLIR reads a file as a whole. */
static void prepend_shared(const struct scan *sc, struct stream *st) {
    bool any = false;
    if (st->block_header.kind != HEADER_NONE || !st->has_ops)
        return;
    for (uint32_t i = st->nshared; i-- > 0;)
        any |= st->shared[i].needed = needs_alias(sc, st, i);
    if (!any)
        return;
    struct range_list own = st->text;
    st->text = (struct range_list){0};
    for (uint32_t i = 0; i < st->nshared; i++)
        if (st->shared[i].needed)
            add_segment(st, st->shared[i].lines.begin, st->shared[i].lines.end);
    for (uint32_t i = 0; i < own.n; i++)
        add_segment(st, own.v[i].begin, own.v[i].end);
    free(own.v);
}

static size_t segments_size(const struct range_list *l) {
    size_t n = 0;
    for (uint32_t i = 0; i < l->n; i++)
        n += l->v[i].end - l->v[i].begin;
    return n;
}

/* Offsets in a block have 32 bits: a longer text is cut. True when it was. */
static bool limit_size(struct range_list *l) {
    size_t left = UINT32_MAX - 1;
    for (uint32_t i = 0; i < l->n; i++) {
        size_t n = l->v[i].end - l->v[i].begin;
        if (n > left) {
            l->v[i].end = l->v[i].begin + left;
            l->n = i + 1;
            return true;
        }
        left -= n;
    }
    return false;
}

/* A text of one range is a view of the source. The ranges of another one go to the block, since it is not known yet
 * whether the block is chosen. */
static void take_text(struct scan *sc, struct stream *st, struct found_block *f) {
    struct log_block *b = &f->block;
    b->text = (struct str){NULL, segments_size(&st->text)};
    if (st->text.n == 1) {
        b->text.p = sc->s->data + st->text.v[0].begin;
    } else {
        f->text = st->text;
        f->text.v = xrealloc(f->text.v, f->text.n * sizeof *f->text.v);
        f->text.cap = f->text.n;
        st->text = (struct range_list){0};
    }
    st->text.n = 0;
}

static void close_block(struct scan *sc, struct stream *st) {
    if (!st->open)
        return;
    size_t begin = st->text.v[0].begin;
    prepend_shared(sc, st);
    bool cut = limit_size(&st->text);
    const struct dialects *d = &st->dialects;
    struct found_block f = {.header = st->block_header, .process = st->process};
    f.cpu_only = d->cpu && !d->ttnn && !d->device_ttir;
    f.block = (struct log_block){.stage = st->block_header.kind == HEADER_NONE ? LOG_PLAIN : st->block_header.stage,
                                 .label = st->block_header.label,
                                 .module = d->module,
                                 .source_offset = begin,
                                 .first_line = st->first_line,
                                 .last_line = st->last_line,
                                 .dropped_lines = st->dropped,
                                 .error_line = st->error_line,
                                 .failed = st->block_header.failed,
                                 .complete = st->depth == 0 && !cut,
                                 .has_ops = st->has_ops,
                                 .has_ttnn = d->ttnn,
                                 .has_ttir = d->ttnn || d->cpu ? d->device_ttir : d->ttir};
    take_text(sc, st, &f);
    sc->found.v = grow(sc->found.v, &sc->found.cap, sc->found.n + 1, sizeof *sc->found.v);
    sc->found.v[sc->found.n++] = f;
    st->last = sc->found.n;
    st->open = false;
}

static void open_block(struct stream *st, const struct line *line) {
    st->open = true;
    st->block_header = st->header;
    st->header.kind = HEADER_NONE;
    st->first_line = line->number;
    st->error_line = 0;
    st->depth = st->dropped = st->pending = 0;
    st->has_ops = st->in_module = st->module_closed = st->body_closed = st->in_trailer = false;
    st->dialects = (struct dialects){0};
    st->stamp++;
    st->in_alias = NULL;
}

/* "    ^~~~": below a line of source that a message of the compiler quotes. */
static bool is_caret(struct str in) {
    in = str_trim(in);
    size_t n = in.n && in.p[0] == '^';
    while (n > 0 && n < in.n && in.p[n] == '~')
        n++;
    return n > 0 && n == in.n;
}

/* What has begun with the line before is no block: a message quotes that line. */
static void drop_block(struct stream *st) {
    st->open = false;
    st->header = st->block_header;
    st->text.n = 0;
}

/* Notes a definition of "#locN", n as from loc_alias_number. True when the block has defined it before. */
static bool loc_again(struct stream *st, uint32_t n) {
    if (n > MAX_LOC)
        return false;
    if (n >= st->locs_cap) {
        uint32_t old = st->locs_cap;
        st->locs = grow(st->locs, &st->locs_cap, n + 1, sizeof *st->locs);
        memset(st->locs + old, 0, (st->locs_cap - old) * sizeof *st->locs);
    }
    bool again = st->locs[n] == st->stamp;
    st->locs[n] = st->stamp;
    return again;
}

/* Takes the braces of a line into account. */
static void track_depth(struct stream *st, struct str in) {
    bool any;
    int32_t braces = open_braces(in, &any);
    if (!any)
        return;
    if (st->depth == 0)
        st->in_module = is_module(in) || str_starts(in, STR("ttcore.")) || str_starts(in, STR("tt."));
    st->depth = braces < 0 && st->depth < (uint32_t)-braces ? 0 : st->depth + (uint32_t)braces;
    if (st->depth == 0 && st->has_ops && !alias_name(in)) {
        st->body_closed = true;
        st->module_closed |= st->in_module;
    }
}

static void add_text(const struct scan *sc, struct stream *st, const struct line *line) {
    st->tail = (struct source_range){line->begin, line->begin};
    for (uint32_t i = 0; i < line->nranges; i++)
        if (line->ranges[i].end > line->ranges[i].begin) {
            add_segment(st, line->ranges[i].begin, line->ranges[i].end);
            st->tail = line->ranges[i];
        }
    if (line->next > line->end && sc->s->data[line->next - 1] == '\n')
        add_segment(st, line->next - 1, line->next);
    st->last_line = line->number;
}

static void add_line(struct scan *sc, struct stream *st, const struct line *line) {
    struct str in = skip_blanks(line->text);
    st->dropped += st->pending;
    st->pending = 0;
    add_text(sc, st, line);
    if (!st->has_ops)
        st->has_ops = is_module(in) || is_func(in) || is_op(in);
    dialects_line(&st->dialects, sc->arena, in);
    note_alias(sc, st, line, in);
    if (st->in_trailer || str_starts(in, STR("{-#")))
        st->in_trailer = !str_find(in, STR("#-}"));
    else
        track_depth(st, in);
}

enum line_class { INSIDE, NEW_BLOCK, ENDS, FOREIGN };

/* Whether a line that does not look like IR goes on with the one before it, or with the alias that it belongs to. */
static bool goes_on(const struct scan *sc, struct stream *st, struct str in) {
    if (st->open_brackets == UNKNOWN)
        st->open_brackets =
            brackets_left_open((struct str){sc->s->data + st->tail.begin, st->tail.end - st->tail.begin});
    return st->open_brackets > 0 && !looks_logged(in);
}

/* What a line means to the open block. */
static enum line_class classify_line(const struct scan *sc, struct stream *st, struct str t, struct str in) {
    if (st->in_trailer || in.n == 0)
        return INSIDE;
    if (str_eq(str_trim(t), STR("// -----")))
        return ENDS;
    if (st->depth > 0) { /* these never stand at column 0 inside of a module: it was cut off */
        bool begins = alias_name(t) || (has_word(t, STR("module")) && is_module(t));
        bool inside = !sc->is_log || looks_like_ir(in) || goes_on(sc, st, in);
        return begins ? NEW_BLOCK : inside ? INSIDE : FOREIGN;
    }
    if (alias_name(in)) {
        bool again = loc_again(st, loc_alias_number(in));
        bool loc = str_starts(in, STR("#loc"));
        return st->module_closed && (!loc || again) ? NEW_BLOCK : INSIDE;
    }
    if (st->module_closed && (is_module(in) || is_func(in) || is_op(in)))
        return NEW_BLOCK;
    if (looks_like_ir(in) || (!st->body_closed && !sc->is_log) || goes_on(sc, st, in))
        return INSIDE;
    return st->body_closed && !looks_logged(in) ? ENDS : FOREIGN;
}

static void take_header(struct scan *sc, struct stream *st, const struct header *h) {
    sc->is_log = true;
    close_block(sc, st);
    if (st->header.kind != HEADER_NONE)
        sc->bare_headers++;
    st->header = *h;
    if (h->kind == HEADER_END)
        st->header.kind = HEADER_NONE;
}

/* Of a line that is no IR. */
static void note_error(struct scan *sc, struct stream *st, const struct line *line) {
    uint64_t *to = st->open ? &st->error_line : st->last ? &sc->found.v[st->last - 1].block.error_line : NULL;
    if (to && !*to && line_is_error(sc->rules, line->text))
        *to = line->number;
}

static void take_outside(struct scan *sc, struct stream *st, const struct line *line) {
    if (!starts_ir(sc, st, line->text)) {
        sc->is_log = sc->is_log || (looks_logged(line->text) && !looks_like_ir(skip_blanks(line->text)));
        note_error(sc, st, line);
        return;
    }
    open_block(st, line);
    (void)loc_again(st, loc_alias_number(skip_blanks(line->text)));
    add_line(sc, st, line);
}

/* A log line outside of all regions ends the block, unless the module is still to come or its location aliases may go
 * on: then what follows decides. */
static void take_foreign(struct scan *sc, struct stream *st) {
    sc->is_log = true;
    bool expects_more = st->depth > 0 || (st->block_header.kind != HEADER_NONE && !st->has_ops) || st->module_closed;
    if (expects_more)
        st->pending++;
    else
        close_block(sc, st);
}

static void take_line(struct scan *sc, struct stream *st, const struct line *line) {
    struct header h;
    if (line_header(sc->rules, line->text, &h)) {
        take_header(sc, st, &h);
        return;
    }
    if (!st->open) {
        take_outside(sc, st, line);
        return;
    }
    if (st->first_line + 1 == line->number && is_caret(line->text)) {
        drop_block(st);
        return;
    }
    struct str in = skip_blanks(line->text);
    enum line_class v = classify_line(sc, st, line->text, in);
    if (v == FOREIGN) {
        take_foreign(sc, st);
        note_error(sc, st, line);
        return;
    }
    /* after the end of a module and foreign lines only more location aliases belong to it */
    if (v == INSIDE && st->pending && st->depth == 0 && st->module_closed && !alias_name(in))
        v = in.n ? ENDS : FOREIGN;
    if (v == INSIDE) {
        add_line(sc, st, line);
    } else if (v != FOREIGN) {
        close_block(sc, st);
        if (v == NEW_BLOCK)
            take_outside(sc, st, line);
        else
            note_error(sc, st, line);
    }
}

static struct stream *stream_of(struct scan *sc, uint64_t process) {
    struct stream *st = sc->last;
    if (st && st->process == process)
        return st;
    HASH_FIND(hh, sc->streams, (const char *)&process, sizeof process, st);
    if (!st) {
        st = arena_alloc(sc->arena, sizeof *st);
        st->process = process;
        HASH_ADD_KEYPTR(hh, sc->streams, (const char *)&st->process, sizeof st->process, st);
    }
    return sc->last = st;
}

static int by_offset(const void *a, const void *b) {
    const struct found_block *x = a, *y = b;
    size_t i = x->block.source_offset, k = y->block.source_offset;
    return (i > k) - (i < k);
}

/* Gives a block that is no view the map from its text to the source. */
static void take_pieces(struct arena *a, struct found_block *f) {
    struct log_block *b = &f->block;
    if (f->text.n) {
        struct log_piece *pieces = arena_alloc(a, f->text.n * sizeof *pieces);
        size_t at = 0;
        for (uint32_t i = 0; i < f->text.n; i++) {
            pieces[i] = (struct log_piece){(uint32_t)at, f->text.v[i].begin};
            at += f->text.v[i].end - f->text.v[i].begin;
        }
        b->pieces = pieces;
        b->npieces = f->text.n;
    }
    free(f->text.v);
}

static void finish(struct scan *sc, struct log_scan *out) {
    for (struct stream *st = sc->streams; st; st = st->hh.next) {
        close_block(sc, st);
        sc->bare_headers += st->header.kind != HEADER_NONE;
        free(st->text.v);
        free(st->locs);
        free(st->shared);
    }
    HASH_CLEAR(hh, sc->streams);
    if (sc->found.n)
        qsort(sc->found.v, sc->found.n, sizeof *sc->found.v, by_offset);
    *out = (struct log_scan){.nblocks = sc->found.n, .is_log = sc->is_log, .bare_headers = sc->bare_headers};
    out->ngraphs = block_graphs(sc->s, &sc->found);
    out->blocks = arena_alloc(sc->arena, sc->found.n * sizeof *out->blocks);
    for (uint32_t i = 0; i < sc->found.n; i++) {
        take_pieces(sc->arena, &sc->found.v[i]);
        out->blocks[i] = sc->found.v[i].block;
    }
    free(sc->found.v);
    if (out->nblocks == 0 && sc->is_log)
        out->executed_only = str_find((struct str){sc->s->data, sc->s->size}, STR("| Executing operation: ")) != NULL;
}

void log_scan(const struct source *s, struct arena *a, struct log_scan *out) {
    struct scan sc = {.s = s, .arena = a, .rules = rules_open(a)};
    struct line line;
    line_reader_open(&sc.reader, s);
    sc.is_log = sc.reader.prefixes.n > 0;
    while (line_reader_next(&sc.reader, &line))
        take_line(&sc, stream_of(&sc, line.process), &line);
    finish(&sc, out);
    line_reader_close(&sc.reader);
    rules_close(sc.rules);
}
