/* Cuts a file into blocks of IR. One pass over the lines; each process that writes into the log (told
 * by its prefix) is a stream with a block of its own.
 *
 * The depth of brackets is kept by lines: what the compiler prints opens a region only with the last
 * byte of a line and closes it only with the first. */
#include "log/log.h"
#include "log/scan.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_MAX = 64 };

struct segment_list {
    struct keep *v;
    uint32_t n, cap;
};

struct stream {
    struct str key;
    struct header header; /* waits for its IR; kind HEADER_NONE: none */
    bool open;            /* a block is being read */
    struct header block_header;
    struct segment_list text; /* of the open block */
    uint64_t first_line, last_line;
    uint32_t depth;
    bool has_ops, in_module, module_closed, body_closed, in_trailer;
    uint32_t dropped, joined, waiting; /* waiting: foreign lines that count when IR follows */
    uint32_t *locs, locs_cap;          /* "#locN" defined in this block: stamp */
    uint32_t stamp;
};

struct scan {
    struct source *s;
    struct arena *arena;
    struct lines *lines;
    struct found_list found;
    struct stream *streams;
    uint32_t nstreams, streams_cap;
    bool is_log;
    uint32_t bare_headers;
};

static struct str skip_blanks(struct str t) {
    while (t.n && (t.p[0] == ' ' || t.p[0] == '\t'))
        t.p++, t.n--;
    return t;
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.' || c == '-';
}

/* "#name = " or "!name = "; the length of the name, or 0. */
static size_t alias_name(struct str t) {
    size_t i = 1;
    if (t.n < 5 || (t.p[0] != '#' && t.p[0] != '!'))
        return 0;
    while (i < t.n && is_word(t.p[i]))
        i++;
    return i > 1 && t.n - i > 2 && memcmp(t.p + i, " = ", 3) == 0 ? i : 0;
}

static bool has_word(struct str t, struct str word) {
    return str_starts(t, word) && (t.n == word.n || !is_word(t.p[word.n]));
}

static bool is_module(struct str t) {
    static const struct str words[] = {{"module", 6}, {"builtin.module", 14}};
    for (int i = 0; i < 2; i++) {
        if (!has_word(t, words[i]))
            continue;
        struct str rest = skip_blanks((struct str){t.p + words[i].n, t.n - words[i].n});
        return rest.n == 0 || rest.p[0] == '{' || rest.p[0] == '@' || str_starts(rest, STR("attributes"));
    }
    return str_starts(t, STR("\"builtin.module\"("));
}

static bool is_func(struct str t) {
    return has_word(t, STR("func.func")) || str_starts(t, STR("\"func.func\"(")) || has_word(t, STR("llvm.func"));
}

/* An op with results, or in generic form. */
static bool is_op(struct str t) {
    size_t i = 1;
    if (t.n < 5)
        return false;
    if (t.p[0] == '"') {
        while (i < t.n && is_word(t.p[i]))
            i++;
        return i > 3 && t.n - i > 2 && t.p[i] == '"' && t.p[i + 1] == '(';
    }
    if (t.p[0] != '%')
        return str_starts(t, STR("ttcore.")) || str_starts(t, STR("tt.device_module"));
    while (i < t.n && (is_word(t.p[i]) || t.p[i] == ':' || t.p[i] == ',' || t.p[i] == '%' || t.p[i] == ' '))
        i++;
    return i < t.n && t.p[i] == '=';
}

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
    struct segment_list *l = &st->text;
    if (l->n && l->v[l->n - 1].end == begin) {
        l->v[l->n - 1].end = end;
        return;
    }
    l->v = grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (struct keep){begin, end};
}

static size_t segments_size(const struct segment_list *l) {
    size_t n = 0;
    for (uint32_t i = 0; i < l->n; i++)
        n += l->v[i].end - l->v[i].begin;
    return n;
}

/* The cleaned copy and the map back. */
static void copy_text(struct scan *sc, const struct segment_list *l, struct log_block *b) {
    size_t size = segments_size(l), at = 0;
    char *text = arena_alloc(sc->arena, size + 1);
    struct log_piece *pieces = arena_alloc(sc->arena, l->n * sizeof *pieces);
    for (uint32_t i = 0; i < l->n; i++) {
        size_t n = l->v[i].end - l->v[i].begin;
        memcpy(text + at, sc->s->data + l->v[i].begin, n);
        pieces[i] = (struct log_piece){(uint32_t)at, l->v[i].begin};
        at += n;
    }
    b->text = (struct str){text, size};
    b->pieces = pieces;
    b->npieces = l->n;
}

/* Offsets in a block are 32 bits: what is beyond is cut off. */
static bool limit_size(struct segment_list *l) {
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

static void close_block(struct scan *sc, struct stream *st) {
    if (!st->open)
        return;
    bool cut = limit_size(&st->text);
    struct found f = {.header = st->block_header};
    struct log_block *b = &f.block;
    *b = (struct log_block){.stage = st->block_header.kind == HEADER_NONE ? LOG_PLAIN : st->block_header.stage,
                            .label = st->block_header.label,
                            .source_offset = st->text.v[0].begin,
                            .first_line = st->first_line,
                            .last_line = st->last_line,
                            .dropped_lines = st->dropped,
                            .joined_lines = st->joined,
                            .complete = st->depth == 0 && !cut,
                            .has_ops = st->has_ops};
    if (st->text.n == 1)
        b->text = (struct str){sc->s->data + st->text.v[0].begin, st->text.v[0].end - st->text.v[0].begin};
    else
        copy_text(sc, &st->text, b);
    block_dialects(&f);
    sc->found.v = grow(sc->found.v, &sc->found.cap, sc->found.n + 1, sizeof *sc->found.v);
    sc->found.v[sc->found.n++] = f;
    st->open = false;
    st->text.n = 0;
}

static void open_block(struct stream *st, const struct line *line) {
    st->open = true;
    st->block_header = st->header;
    st->header.kind = HEADER_NONE;
    st->first_line = line->number;
    st->depth = st->dropped = st->joined = st->waiting = 0;
    st->has_ops = st->in_module = st->module_closed = st->body_closed = st->in_trailer = false;
    st->stamp++;
}

/* Marks "#locN" as defined. True when the block has defined it before. */
static bool loc_again(struct stream *st, struct str t, size_t name) {
    uint32_t n = 0;
    if (name > 12 || !str_starts(t, STR("#loc")))
        return false;
    for (size_t i = 4; i < name; i++) {
        if (t.p[i] < '0' || t.p[i] > '9')
            return false;
        n = n * 10 + (uint32_t)(t.p[i] - '0');
    }
    n += name > 4; /* 0 is "#loc" itself */
    if (n > 1u << 22)
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

/* Open brackets and strings at the end of a line, those of regions aside. */
static bool is_unfinished(struct str t) {
    uint32_t depth = 0;
    bool string = false;
    while (t.n && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\r' || t.p[t.n - 1] == '\n'))
        t.n--;
    if (t.n && t.p[t.n - 1] == '{')
        return false;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.p[i];
        if (string) {
            i += c == '\\';
            string = c != '"';
        } else if (c == '"') {
            string = true;
        } else if (c == '(' || c == '[' || c == '{' || c == '<') {
            depth++;
        } else if ((c == ')' || c == ']' || c == '}' || (c == '>' && i && t.p[i - 1] != '-')) && depth) {
            depth--;
        }
    }
    return string || depth > 0;
}

/* A line of IR starts with blanks or with one of the things that start an op, a block or an alias. */
static bool starts_afresh(struct str t) {
    return t.n == 0 || strchr(" \t}^%#!{/", t.p[0]) || is_op(t) || is_module(t) || is_func(t) ||
           has_word(t, STR("return"));
}

/* After foreign lines: does this line go on with the one before them? Then its newline goes. */
static void join_split(const struct scan *sc, struct stream *st, const struct line *line) {
    struct keep *last = &st->text.v[st->text.n - 1];
    const char *data = sc->s->data, *end = data + last->end, *begin = data + last->begin;
    if (end == begin || end[-1] != '\n')
        return;
    const char *newline = memrchr(begin, '\n', (size_t)(end - begin - 1));
    const char *from = newline ? newline + 1 : begin;
    struct str before = {from, (size_t)(end - from)};
    bool open = is_unfinished(before);
    if (!open && (st->depth == 0 || starts_afresh(line->text)))
        return;
    if (open && is_op(skip_blanks(line->text)))
        return; /* the other half is lost */
    last->end--;
    if (last->end > last->begin && data[last->end - 1] == '\r')
        last->end--;
    st->joined++;
}

static void track_depth(struct stream *st, struct str in) {
    if (in.n == 0)
        return;
    if (in.p[0] == '}' && st->depth > 0) {
        st->depth--;
        if (st->depth == 0) {
            st->body_closed = true;
            st->module_closed |= st->in_module;
        }
    }
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

static void add_line(struct scan *sc, struct stream *st, const struct line *line, struct str in) {
    if (st->waiting) {
        join_split(sc, st, line);
        st->dropped += st->waiting;
        st->waiting = 0;
    }
    for (uint32_t i = 0; i < line->nkeep; i++)
        if (line->keep[i].end > line->keep[i].begin)
            add_segment(st, line->keep[i].begin, line->keep[i].end);
    if (line->next > line->end)
        add_segment(st, line->next - 1, line->next);
    st->last_line = line->number;
    if (!st->has_ops)
        st->has_ops = is_module(in) || is_func(in) || is_op(in);
    if (st->in_trailer || str_starts(in, STR("{-#")))
        st->in_trailer = !str_find(in, STR("#-}"));
    else
        track_depth(st, in);
}

enum verdict { INSIDE, NEW_BLOCK, ENDS, FOREIGN };

/* What a line is to the open block. */
static enum verdict judge(struct scan *sc, struct stream *st, const struct line *line, struct str in) {
    struct str t = line->text;
    if (st->in_trailer || in.n == 0)
        return INSIDE;
    if (line_is_preamble(sc->lines, line))
        return FOREIGN;
    if (t.n >= 8 && str_eq(str_trim(t), STR("// -----")))
        return ENDS;
    size_t name = alias_name(t);
    if (st->depth > 0) /* at column 0 these never stand inside a module: it was cut */
        return name || has_word(t, STR("module")) ? NEW_BLOCK : INSIDE;
    if (name) {
        bool again = loc_again(st, t, name);
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

static void take_outside(struct scan *sc, struct stream *st, const struct line *line) {
    if (line->prefixed)
        sc->is_log = true;
    if (!starts_ir(sc, st, line->text)) {
        if (!sc->is_log && line_is_preamble(sc->lines, line))
            sc->is_log = true;
        return;
    }
    struct str in = skip_blanks(line->text);
    open_block(st, line);
    size_t name = alias_name(line->text);
    if (name)
        (void)loc_again(st, line->text, name);
    add_line(sc, st, line, in);
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

static void take_line(struct scan *sc, struct stream *st, const struct line *line) {
    struct header h;
    if (line_header(sc->lines, line, &h)) {
        take_header(sc, st, &h);
        return;
    }
    if (!st->open) {
        take_outside(sc, st, line);
        return;
    }
    struct str in = skip_blanks(line->text);
    enum verdict v = judge(sc, st, line, in);
    if (v == FOREIGN) {
        take_foreign(sc, st);
        return;
    }
    /* after a closed module and foreign lines only more location aliases belong to it */
    if (v == INSIDE && st->waiting && st->depth == 0 && st->module_closed && !alias_name(line->text))
        v = in.n ? ENDS : FOREIGN;
    if (v == INSIDE) {
        add_line(sc, st, line, in);
    } else if (v != FOREIGN) {
        close_block(sc, st);
        if (v == NEW_BLOCK)
            take_outside(sc, st, line);
    }
}

static struct stream *stream_of(struct scan *sc, struct str key) {
    for (uint32_t i = 0; i < sc->nstreams; i++)
        if (str_eq(sc->streams[i].key, key))
            return &sc->streams[i];
    if (sc->nstreams == STREAM_MAX)
        return &sc->streams[0];
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
    out->ngraphs = block_graphs(&sc->found);
    out->blocks = arena_alloc(sc->arena, sc->found.n * sizeof *out->blocks);
    for (uint32_t i = 0; i < sc->found.n; i++)
        out->blocks[i] = sc->found.v[i].block;
    free(sc->found.v);
}

void log_scan(struct source *s, struct arena *a, struct diags *d, struct log_scan *out) {
    struct scan sc = {.s = s, .arena = a, .lines = lines_open(s, a)};
    struct line line;
    (void)d;
    while (lines_next(sc.lines, &line))
        take_line(&sc, stream_of(&sc, line.key), &line);
    finish(&sc, out);
    lines_close(sc.lines);
}

struct place log_place(struct source *s, const struct log_block *block, size_t text_offset) {
    if (!block->pieces)
        return source_place(s, block->source_offset + text_offset);
    uint32_t low = 0, high = block->npieces;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (block->pieces[middle].text_offset <= text_offset)
            low = middle;
        else
            high = middle;
    }
    return source_place(s, block->pieces[low].source_offset + (text_offset - block->pieces[low].text_offset));
}

const char *log_stage_name(enum log_stage stage) {
    static const char *const names[] = {[LOG_PLAIN] = "plain",
                                        [LOG_TTIR] = "ttir",
                                        [LOG_TTNN] = "ttnn",
                                        [LOG_TTNN_RUNTIME] = "ttnn_runtime",
                                        [LOG_PASS_BEFORE] = "before pass",
                                        [LOG_PASS_AFTER] = "after pass",
                                        [LOG_OTHER] = "other"};
    return (unsigned)stage <= LOG_OTHER ? names[stage] : "unknown";
}
