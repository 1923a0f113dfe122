/* Cuts a file into blocks of IR. One pass over the lines; each process that writes into the log (told
 * by its prefix) is a stream with a block of its own.
 *
 * The depth of brackets is kept by lines: what the compiler prints opens a region only with the last
 * byte of a line and closes it only with the first. */
#include "log/log.h"
#include "log/scan.h"
#include "log/shape.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_MAX = 64, RELEASE_STEP = 1 << 24, MAX_LOC = 1 << 22 };

struct stream {
    struct str key;
    struct header header; /* waits for its IR; kind HEADER_NONE: none */
    bool open;            /* a block is being read */
    struct header block_header;
    struct keep_list text; /* of the open block */
    struct keep tail;      /* its last line, without the newline */
    uint64_t first_line, last_line;
    uint32_t depth;
    bool has_ops, in_module, module_closed, body_closed, in_trailer;
    bool glued;                        /* the last line was cut in the middle: the next one is its other half */
    uint32_t dropped, joined, waiting; /* waiting: foreign lines that count when IR follows */
    struct dialects dialects;
    uint32_t *locs, locs_cap; /* "#locN" defined in this block: stamp */
    uint32_t stamp;
};

struct scan {
    struct source *s;
    struct arena *arena;
    struct lines *lines;
    struct rules *rules;
    struct found_list found;
    struct stream *streams;
    uint32_t nstreams, streams_cap, last; /* last: the stream of the line before */
    bool is_log;
    uint32_t bare_headers;
};

/* First bytes that IR can have; almost every line of a log is turned down here. */
static bool may_start_ir(char c) {
    static const bool first[256] = {['#'] = 1, ['!'] = 1, ['m'] = 1, ['b'] = 1, ['f'] = 1, ['l'] = 1,
                                    ['"'] = 1, ['%'] = 1, ['t'] = 1, [' '] = 1, ['\t'] = 1};
    return first[(unsigned char)c];
}

static bool starts_ir(const struct scan *sc, const struct stream *st, struct str t) {
    if (t.n == 0 || !may_start_ir(t.p[0]))
        return false;
    bool anywhere = !sc->is_log || st->header.kind != HEADER_NONE;
    if (!anywhere && (t.p[0] == ' ' || t.p[0] == '\t'))
        return false;
    struct str in = skip_blanks(t);
    if (alias_name(t) || is_module(t) || is_func(t))
        return true;
    return anywhere && (is_module(in) || is_func(in) || is_op(in));
}

static void add_segment(struct stream *st, size_t begin, size_t end) {
    struct keep_list *l = &st->text;
    if (l->n && l->v[l->n - 1].end == begin) {
        l->v[l->n - 1].end = end;
        return;
    }
    l->v = grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (struct keep){begin, end};
}

static size_t segments_size(const struct keep_list *l) {
    size_t n = 0;
    for (uint32_t i = 0; i < l->n; i++)
        n += l->v[i].end - l->v[i].begin;
    return n;
}

/* Offsets in a block are 32 bits: what is beyond is cut off. */
static bool limit_size(struct keep_list *l) {
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

/* A block of one piece is a view of the source; of others the pieces are kept until it is known
 * whether anybody wants them. */
static void take_text(struct scan *sc, struct stream *st, struct found *f) {
    struct log_block *b = &f->block;
    b->text = (struct str){NULL, segments_size(&st->text)};
    if (st->text.n == 1) {
        b->text.p = sc->s->data + st->text.v[0].begin;
    } else {
        f->text = st->text;
        f->text.v = xrealloc(f->text.v, f->text.n * sizeof *f->text.v);
        f->text.cap = f->text.n;
        st->text = (struct keep_list){0};
    }
    st->text.n = 0;
}

static void close_block(struct scan *sc, struct stream *st) {
    if (!st->open)
        return;
    bool cut = limit_size(&st->text);
    const struct dialects *d = &st->dialects;
    struct found f = {.header = st->block_header, .key = st->key, .module = d->module};
    f.block = (struct log_block){.stage = st->block_header.kind == HEADER_NONE ? LOG_PLAIN : st->block_header.stage,
                                 .label = st->block_header.label,
                                 .source_offset = st->text.v[0].begin,
                                 .first_line = st->first_line,
                                 .last_line = st->last_line,
                                 .dropped_lines = st->dropped,
                                 .joined_lines = st->joined,
                                 .complete = st->depth == 0 && !cut && !st->glued,
                                 .has_ops = st->has_ops,
                                 .has_ttnn = d->ttnn,
                                 .has_ttir = d->ttnn ? d->device_ttir : d->ttir};
    take_text(sc, st, &f);
    sc->found.v = grow(sc->found.v, &sc->found.cap, sc->found.n + 1, sizeof *sc->found.v);
    sc->found.v[sc->found.n++] = f;
    st->open = false;
}

static void open_block(struct stream *st, const struct line *line) {
    st->open = true;
    st->block_header = st->header;
    st->header.kind = HEADER_NONE;
    st->first_line = line->number;
    st->depth = st->dropped = st->joined = st->waiting = 0;
    st->has_ops = st->in_module = st->module_closed = st->body_closed = st->in_trailer = st->glued = false;
    st->dialects = (struct dialects){0};
    st->stamp++;
}

/* Marks "#locN" as defined. True when the block has defined it before. */
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

/* After foreign lines: is this line the other half of the one before them? */
static bool is_other_half(const struct scan *sc, const struct stream *st, struct str t, struct str in) {
    if (st->glued)
        return true;
    if (!st->waiting || st->text.n == 0 || t.n == 0 || alias_name(t) || has_word(t, STR("module")))
        return false;
    if (is_unfinished((struct str){sc->s->data + st->tail.begin, st->tail.end - st->tail.begin}))
        return !is_op(in); /* an op: the other half is lost */
    return st->depth > 0 && !starts_afresh(t);
}

/* Takes the newline away that a foreign line has put between two halves. */
static void join_split(const struct scan *sc, struct stream *st) {
    struct keep *last = &st->text.v[st->text.n - 1];
    const char *data = sc->s->data;
    if (!st->glued && last->end > last->begin && data[last->end - 1] == '\n') {
        last->end--;
        if (last->end > last->begin && data[last->end - 1] == '\r')
            last->end--;
    }
    st->glued = false;
    st->joined++;
}

static void close_brace(struct stream *st) {
    if (st->depth == 0)
        return;
    st->depth--;
    if (st->depth == 0) {
        st->body_closed = true;
        st->module_closed |= st->in_module;
    }
}

/* `half`: the line is the other half of one whose first bytes have been seen already. */
static void track_depth(struct stream *st, struct str in, bool half) {
    if (in.n == 0)
        return;
    if (in.p[0] == '}' && !half)
        close_brace(st);
    const char *note = memchr(in.p, '/', in.n) ? str_find(in, STR("{ //")) : NULL;
    size_t n = note ? (size_t)(note - in.p) + 1 : in.n;
    while (n && (in.p[n - 1] == ' ' || in.p[n - 1] == '\t'))
        n--;
    if (n && in.p[n - 1] == '{' && in.p[0] != '/') {
        if (st->depth == 0)
            st->in_module = is_module(in) || str_starts(in, STR("ttcore.")) || str_starts(in, STR("tt."));
        st->depth++;
    }
}

static void add_text(struct stream *st, const struct line *line) {
    st->tail = (struct keep){line->begin, line->begin};
    for (uint32_t i = 0; i < line->nkeep; i++)
        if (line->keep[i].end > line->keep[i].begin) {
            add_segment(st, line->keep[i].begin, line->keep[i].end);
            st->tail = line->keep[i];
        }
    if (line->next > line->end)
        add_segment(st, line->next - 1, line->next);
    st->last_line = line->number;
}

static void add_line(struct scan *sc, struct stream *st, struct line *line) {
    struct str in = skip_blanks(line->text);
    bool half = is_other_half(sc, st, line->text, in);
    if (half)
        join_split(sc, st);
    st->dropped += st->waiting;
    st->waiting = 0;
    size_t glue = line->has_bar || sc->is_log ? line_glued(sc->rules, line) : 0;
    if (glue) {
        line_cut(line, glue);
        in = skip_blanks(line->text);
        st->dropped++;
        sc->is_log = true;
    }
    add_text(st, line);
    st->glued = glue > 0;
    if (!st->has_ops)
        st->has_ops = is_module(in) || is_func(in) || is_op(in);
    dialects_line(&st->dialects, sc->arena, in);
    if (st->in_trailer || str_starts(in, STR("{-#")))
        st->in_trailer = !str_find(in, STR("#-}"));
    else if (glue && in.n && in.p[0] == '}' && !half)
        close_brace(st); /* what the line ends with is still to come */
    else if (!glue)
        track_depth(st, in, half);
}

enum line_class { INSIDE, NEW_BLOCK, ENDS, FOREIGN };

/* What a line is to the open block. */
static enum line_class judge(struct scan *sc, struct stream *st, const struct line *line, struct str in) {
    struct str t = line->text;
    if (st->in_trailer || in.n == 0)
        return INSIDE;
    if (line_is_preamble(sc->rules, line))
        return FOREIGN;
    if (is_other_half(sc, st, t, in))
        return INSIDE;
    if (t.n >= 8 && str_eq(str_trim(t), STR("// -----")))
        return ENDS;
    size_t name = alias_name(t);
    if (st->depth > 0) /* at column 0 these never stand inside a module: it was cut */
        return name || has_word(t, STR("module")) ? NEW_BLOCK : INSIDE;
    if (name) {
        bool again = loc_again(st, loc_alias_number(t));
        bool loc = str_starts(t, STR("#loc"));
        return st->module_closed && (!loc || again) ? NEW_BLOCK : INSIDE;
    }
    if (st->module_closed && (is_module(in) || is_func(in) || is_op(in)))
        return NEW_BLOCK;
    if (in.p[0] == '/' || in.p[0] == '{' || in.p[0] == '}' || !sc->is_log || !st->body_closed)
        return INSIDE;
    return is_module(in) || is_func(in) || is_op(in) ? INSIDE : ENDS;
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

static void take_outside(struct scan *sc, struct stream *st, struct line *line) {
    if (line->prefixed)
        sc->is_log = true;
    if (!starts_ir(sc, st, line->text)) {
        if (!sc->is_log && line_is_preamble(sc->rules, line))
            sc->is_log = true;
        return;
    }
    open_block(st, line);
    (void)loc_again(st, loc_alias_number(line->text));
    add_line(sc, st, line);
}

/* A logger's line at depth 0 ends the block, unless the module is still to come or its location
 * aliases go on after the line: only what follows can tell. */
static void take_foreign(struct scan *sc, struct stream *st) {
    sc->is_log = true;
    bool expects_more = st->depth > 0 || (st->block_header.kind != HEADER_NONE && !st->has_ops) || st->module_closed;
    if (expects_more)
        st->waiting++;
    else
        close_block(sc, st);
}

/* A line that stands by itself right after the text of the open block, and needs no cleaning. */
static bool is_plain(const struct stream *st, const struct line *line) {
    return st->open && line->text.n >= 8 && !st->waiting && !st->glued && !st->in_trailer && !line->has_bar &&
           !line->prefixed && line->next - line->begin == line->text.n + 1 && st->text.n > 0 &&
           st->text.v[st->text.n - 1].end == line->begin;
}

static void take_plain(struct stream *st, const struct line *line) {
    st->text.v[st->text.n - 1].end = line->next;
    st->tail = (struct keep){line->begin, line->end};
    st->last_line = line->number;
}

/* Most lines of a big module are ops. */
static bool read_op(struct stream *st, struct str t) {
    if (st->depth == 0 || t.n < 8 || t.p[0] != ' ')
        return false;
    char last = t.p[t.n - 1];
    if (last == '{' || last == ' ' || last == ':' || last == '/' || last == '-')
        return false;
    struct str in = skip_blanks(t);
    if (in.n == 0 || (in.p[0] != '%' && in.p[0] != '"') || (last == 'e' && str_ends(t, STR(" module"))))
        return false;
    dialects_op(&st->dialects, in);
    return true;
}

/* Most lines after it are "#locN = loc(...)". */
static bool read_loc(struct stream *st, struct str t) {
    uint32_t number = st->depth > 0 || t.n < 8 || t.p[t.n - 1] != ')' ? NONE : loc_alias_number(t);
    if (number == NONE || (memchr(t.p, '{', t.n) && str_find(t, STR("{ //"))))
        return false;
    return !loc_again(st, number) || !st->module_closed; /* of a new block */
}

static bool take_op(struct stream *st, const struct line *line) {
    if (!is_plain(st, line) || !read_op(st, line->text))
        return false;
    take_plain(st, line);
    return true;
}

static bool take_loc(struct scan *sc, struct stream *st, const struct line *line) {
    if (!is_plain(st, line) || (sc->is_log && line_glued(sc->rules, line)) || !read_loc(st, line->text))
        return false;
    take_plain(st, line);
    return true;
}

static void take_line(struct scan *sc, struct stream *st, struct line *line) {
    struct header h;
    if (take_op(st, line) || take_loc(sc, st, line))
        return;
    if (line_header(sc->rules, line, &h)) {
        take_header(sc, st, &h);
        return;
    }
    if (!st->open) {
        take_outside(sc, st, line);
        return;
    }
    struct str in = skip_blanks(line->text);
    enum line_class v = judge(sc, st, line, in);
    if (v == FOREIGN) {
        take_foreign(sc, st);
        return;
    }
    /* after a closed module and foreign lines only more location aliases belong to it */
    if (v == INSIDE && st->waiting && st->depth == 0 && st->module_closed && !alias_name(line->text) &&
        !is_other_half(sc, st, line->text, in))
        v = in.n ? ENDS : FOREIGN;
    if (v == INSIDE) {
        add_line(sc, st, line);
    } else if (v != FOREIGN) {
        close_block(sc, st);
        if (v == NEW_BLOCK)
            take_outside(sc, st, line);
    }
}

static struct stream *stream_of(struct scan *sc, struct str key) {
    if (sc->nstreams && str_eq(sc->streams[sc->last].key, key))
        return &sc->streams[sc->last];
    for (sc->last = 0; sc->last < sc->nstreams; sc->last++)
        if (str_eq(sc->streams[sc->last].key, key))
            return &sc->streams[sc->last];
    if (sc->nstreams == STREAM_MAX)
        return &sc->streams[sc->last = 0];
    sc->streams = grow(sc->streams, &sc->streams_cap, sc->nstreams + 1, sizeof *sc->streams);
    /* a key in the buffer of a cleaned line would not last */
    sc->streams[sc->nstreams] = (struct stream){.key = key.n ? arena_str(sc->arena, key) : key};
    return &sc->streams[sc->nstreams++];
}

static int by_offset(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    size_t i = x->block.source_offset, k = y->block.source_offset;
    return (i > k) - (i < k);
}

/* The map back to the source, for a block that is going to be read. */
static void take_pieces(struct arena *a, struct found *f) {
    struct log_block *b = &f->block;
    if (b->chosen && f->text.n) {
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
    for (uint32_t i = 0; i < sc->nstreams; i++) {
        close_block(sc, &sc->streams[i]);
        sc->bare_headers += sc->streams[i].header.kind != HEADER_NONE;
        free(sc->streams[i].text.v);
        free(sc->streams[i].locs);
    }
    free(sc->streams);
    if (sc->nstreams > 1 && sc->found.n)
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

void log_scan(struct source *s, struct arena *a, struct log_scan *out) {
    struct scan sc = {.s = s, .arena = a, .lines = lines_open(s, a)};
    struct line line;
    size_t released = 0;
    sc.rules = lines_rules(sc.lines);
    while (lines_next(sc.lines, &line)) {
        take_line(&sc, stream_of(&sc, line.key), &line);
        bool module = !sc.is_log && sc.streams[sc.last].open;   /* all of it is read again soon */
        if (line.begin - released >= RELEASE_STEP && !module) { /* however long the log, little of it is in memory */
            source_release(s, s->data + released, line.begin - released);
            released = line.begin;
        }
    }
    finish(&sc, out);
    lines_close(sc.lines);
}
