/* Cuts a file into blocks of IR in one pass over its lines. Each process that writes into the log is a stream with at
 * most one open block; each line continues this block, ends it, begins another one, or is foreign: a log line in
 * between.
 *
 * Regions are counted by lines: the MLIR printer opens one only at the end of a line and closes one only at the
 * beginning. Braces of attributes that stay open behind a line are counted beside them. */
#include "base/hash.h"
#include "input/log/scan.h"
#include "input/log/shape.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LOC = 1 << 22 };

/* What one process has written so far. */
struct stream {
    struct str key; /* of struct line */
    UT_hash_handle hh;
    struct header header; /* of a module that is still to come; HEADER_NONE: none */
    /* the open block, while `open` */
    bool open;
    struct header block_header;
    struct range_list text;
    struct source_range tail; /* its last line, without the newline */
    uint64_t first_line, last_line;
    uint32_t depth;                  /* open regions */
    uint32_t braces;                 /* of attributes, open behind the last line */
    bool generic;                    /* the op of the last line has its name in quotes */
    bool has_ops;                    /* a module, function or op has begun */
    bool in_module;                  /* the outermost region is that of a module */
    bool module_closed, body_closed; /* a module, any outermost region has ended */
    bool in_trailer;                 /* in file-level metadata, {-# ... #-} */
    bool glued;                      /* a log line has cut the last line short: its rest comes later */
    uint32_t dropped, joined;
    uint64_t error_line; /* of the first error since the block began */
    uint32_t pending;    /* log lines since the last line of IR: dropped ones if IR follows */
    struct dialects dialects;
    uint32_t last;            /* 1-based index of its last block, in the list of found ones; 0: none */
    uint32_t *locs, locs_cap; /* by number of a "#locN" alias, 1-based: `stamp` if this block has defined it */
    uint32_t stamp;           /* of the open block */
};

struct scan {
    const struct source *s;
    struct arena *arena;
    struct lines *lines;
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
    if (!anywhere && (t.p[0] == ' ' || t.p[0] == '\t'))
        return false;
    struct str in = skip_blanks(t);
    if (alias_name(t) || is_module(t) || is_func(t))
        return true;
    return anywhere && (alias_name(in) || is_module(in) || is_func(in) || is_op(in));
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
    bool cut = limit_size(&st->text);
    const struct dialects *d = &st->dialects;
    struct found_block f = {.header = st->block_header, .key = st->key};
    f.cpu_only = d->cpu && !d->ttnn && !d->device_ttir;
    f.block = (struct log_block){.stage = st->block_header.kind == HEADER_NONE ? LOG_PLAIN : st->block_header.stage,
                                 .label = st->block_header.label,
                                 .module = d->module,
                                 .source_offset = st->text.v[0].begin,
                                 .first_line = st->first_line,
                                 .last_line = st->last_line,
                                 .dropped_lines = st->dropped,
                                 .joined_lines = st->joined,
                                 .error_line = st->error_line,
                                 .failed = st->block_header.failed,
                                 .complete = st->depth == 0 && !cut && !st->glued,
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
    st->depth = st->braces = st->dropped = st->joined = st->pending = 0;
    st->has_ops = st->in_module = st->module_closed = st->body_closed = st->in_trailer = st->glued = st->generic =
        false;
    st->dialects = (struct dialects){0};
    st->stamp++;
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

/* Whether a line after foreign ones is the rest of the line before them. */
static bool is_continuation(const struct scan *sc, const struct stream *st, struct str t, struct str in) {
    if (st->glued)
        return true;
    if (!st->pending || st->text.n == 0 || t.n == 0 || alias_name(t) || has_word(t, STR("module")))
        return false;
    if (is_unfinished((struct str){sc->s->data + st->tail.begin, st->tail.end - st->tail.begin}))
        return !is_op(in); /* another op begins: the rest was lost */
    return st->depth > 0 && !starts_afresh(t);
}

/* Removes the newline that a foreign line has put into the middle of a line. */
static void join_continuation(const struct scan *sc, struct stream *st) {
    struct source_range *last = &st->text.v[st->text.n - 1];
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

static void open_brace(struct stream *st, struct str in, size_t at) {
    bool last = skip_blanks((struct str){in.p + at + 1, in.n - at - 1}).n == 0;
    struct str front = str_trim((struct str){in.p, at});
    char before = front.n ? front.p[front.n - 1] : ' ';
    bool region = before == '(' || before == ',' || !st->generic; /* of a generic op: "({" or "}, {" */
    if (!last || before == '<' || !region) {
        st->braces++;
        return;
    }
    if (st->depth == 0)
        st->in_module = is_module(in) || str_starts(in, STR("ttcore.")) || str_starts(in, STR("tt."));
    st->depth++;
}

/* Whether the braces inside of the line are closed in it, which is seen without looking at each byte. */
static bool is_closed(struct str t) {
    const char *brace = memrchr(t.p, '{', t.n);
    return !brace || memchr(brace, '}', (size_t)(t.p + t.n - brace));
}

/* A brace that nothing on the line opens, behind an op: of a region, or of attributes whose beginning was lost. */
static bool closes_region(struct str behind) {
    behind = skip_blanks(behind);
    return behind.n == 0 || (behind.p[0] != '>' && behind.p[0] != ':');
}

/* `half`: the line is the rest of another one, so that its first byte does not close a region, and where strings begin
 * is not known. */
static void track_depth(struct stream *st, struct str in, bool half) {
    in = str_trim((struct str){in.p, without_comment(in)});
    if (half)
        st->braces = 0;
    if (in.n == 0)
        return;
    bool opens = in.p[in.n - 1] == '{';
    const char *close = memchr(in.p + 1, '}', in.n - 1), *open = close ? memchr(in.p, '{', in.n) : NULL;
    if (half || (!st->braces && (!close || (open && open < close)) && is_closed((struct str){in.p, in.n - opens}))) {
        if (in.p[0] == '}' && !half)
            close_brace(st);
        if (opens)
            open_brace(st, in, in.n - 1);
        return;
    }
    for (size_t i = 0; i < in.n; i++) {
        if (in.p[i] == '"')
            i = string_end(in, i);
        else if (in.p[i] == '{')
            open_brace(st, in, i);
        else if (in.p[i] == '}' && st->braces > 0)
            st->braces--;
        else if (in.p[i] == '}' && (i == 0 || closes_region((struct str){in.p + i + 1, in.n - i - 1})))
            close_brace(st);
    }
}

static void add_text(struct stream *st, const struct line *line) {
    st->tail = (struct source_range){line->begin, line->begin};
    for (uint32_t i = 0; i < line->nranges; i++)
        if (line->ranges[i].end > line->ranges[i].begin) {
            add_segment(st, line->ranges[i].begin, line->ranges[i].end);
            st->tail = line->ranges[i];
        }
    if (line->next > line->end)
        add_segment(st, line->next - 1, line->next);
    st->last_line = line->last;
}

static void add_line(struct scan *sc, struct stream *st, struct line *line) {
    struct str in = skip_blanks(line->text);
    bool half = is_continuation(sc, st, line->text, in);
    if (half)
        join_continuation(sc, st);
    if (begins_op(in)) { /* if the last one is open, its rest was lost */
        st->braces = 0;
        st->generic = is_generic(in);
    }
    st->dropped += st->pending;
    st->pending = 0;
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
        close_brace(st); /* the end of the line, which may open a region, is still to come */
    else if (!glue)
        track_depth(st, in, half);
}

enum line_class { INSIDE, NEW_BLOCK, ENDS, FOREIGN };

/* What a line means to the open block. */
static enum line_class classify_line(struct scan *sc, struct stream *st, const struct line *line, struct str in) {
    struct str t = line->text;
    if (st->in_trailer || in.n == 0)
        return INSIDE;
    if (line_is_preamble(sc->rules, line))
        return FOREIGN;
    if (is_continuation(sc, st, t, in))
        return INSIDE;
    if (t.n >= 8 && str_eq(str_trim(t), STR("// -----")))
        return ENDS;
    if (st->depth > 0) /* these never stand at column 0 inside of a module: it was cut off */
        return alias_name(t) || has_word(t, STR("module")) ? NEW_BLOCK : INSIDE;
    if (alias_name(in)) {
        bool again = loc_again(st, loc_alias_number(in));
        bool loc = str_starts(in, STR("#loc"));
        return st->module_closed && (!loc || again) ? NEW_BLOCK : INSIDE;
    }
    if (st->module_closed && (is_module(in) || is_func(in) || is_op(in)))
        return NEW_BLOCK;
    if (str_starts(in, STR("//")) || in.p[0] == '{' || in.p[0] == '}' || !st->body_closed ||
        !(sc->is_log || is_prose(in)))
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

/* Of a line that is no IR. */
static void note_error(struct scan *sc, struct stream *st, const struct line *line) {
    uint64_t *to = st->open ? &st->error_line : st->last ? &sc->found.v[st->last - 1].block.error_line : NULL;
    if (to && !*to && line_is_error(sc->rules, line))
        *to = line->number;
}

static void take_outside(struct scan *sc, struct stream *st, struct line *line) {
    if (line->prefixed)
        sc->is_log = true;
    if (!starts_ir(sc, st, line->text)) {
        if (!sc->is_log && line_is_preamble(sc->rules, line))
            sc->is_log = true;
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

static void take_line(struct scan *sc, struct stream *st, struct line *line) {
    struct header h;
    if (line_header(sc->rules, line, &h)) {
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
    enum line_class v = classify_line(sc, st, line, in);
    if (v == FOREIGN) {
        take_foreign(sc, st);
        note_error(sc, st, line);
        return;
    }
    /* after the end of a module and foreign lines only more location aliases belong to it */
    if (v == INSIDE && st->pending && st->depth == 0 && st->module_closed && !alias_name(in) &&
        !is_continuation(sc, st, line->text, in))
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

static struct stream *stream_of(struct scan *sc, struct str key) {
    struct stream *st = sc->last;
    if (!key.n)
        key = STR(""); /* the hash table compares no keys at a null pointer */
    if (st && str_eq(st->key, key))
        return st;
    HASH_FIND(hh, sc->streams, key.p, (unsigned)key.n, st);
    if (!st) {
        st = arena_alloc(sc->arena, sizeof *st);
        st->key = arena_str(sc->arena, key); /* it may be a view of the buffer of a cleaned line */
        HASH_ADD_KEYPTR(hh, sc->streams, st->key.p, (unsigned)st->key.n, st);
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
    struct scan sc = {.s = s, .arena = a, .lines = lines_open(s, a)};
    struct line line;
    sc.rules = lines_rules(sc.lines);
    while (lines_next(sc.lines, &line))
        take_line(&sc, stream_of(&sc, line.key), &line);
    finish(&sc, out);
    lines_close(sc.lines);
}
