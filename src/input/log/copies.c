/* Finds graphs that a log holds more than once: the later ones are no longer chosen and name the first one. Only
 * modules of the same name are compared, first by a hash of their text without locations and then, since hashes may
 * collide by chance or on purpose, byte by byte. */
#include "input/log/ir_line.h"
#include "input/log/scan.h"

#include <stdlib.h>
#include <string.h>

struct candidate {
    uint64_t name, ttir, ttnn;
    uint32_t graph;
};

/* From "loc(" to one past the parenthesis that closes it; `end` when that is not on the line. */
static const char *skip_loc(const char *p, const char *end) {
    bool string = false;
    int depth = 0;
    for (; p < end; p++) {
        if (string && *p == '\\')
            p++;
        else if (*p == '"')
            string = !string;
        else if (!string && *p == '(')
            depth++;
        else if (!string && *p == ')' && --depth <= 0)
            return p + 1;
    }
    return end;
}

/* Takes what of a text is compared: pieces of lines without blanks at their ends, without locations and "#loc" lines.
 */
static bool next_piece(struct str *rest, struct str *piece) {
    while (rest->n) {
        const char *end = rest->p + rest->n;
        struct str line = str_line(rest);
        if (str_starts(line, STR("#loc")) && alias_name(line))
            continue;
        const char *loc = str_find(line, STR("loc("));
        *piece = str_trim((struct str){line.p, loc ? (size_t)(loc - line.p) : line.n});
        if (loc) {
            const char *behind = skip_loc(loc, line.p + line.n);
            *rest = (struct str){behind, (size_t)(end - behind)};
        }
        if (piece->n)
            return true;
    }
    return false;
}

static uint64_t hash_of(struct str text) {
    struct str piece;
    uint64_t h = 1;
    while (next_piece(&text, &piece))
        h = (h ^ str_hash(piece)) * 0x9e3779b97f4a7c15u + (h >> 29);
    return h ? h : 1;
}

static bool same_text(struct str a, struct str b) {
    struct str x, y;
    for (;;) {
        bool more = next_piece(&a, &x), other = next_piece(&b, &y);
        if (!more || !other)
            return more == other;
        if (!str_eq(x, y))
            return false;
    }
}

static bool same_block(const struct source *s, const struct found_list *list, uint32_t a, uint32_t b) {
    if (a == NONE || b == NONE)
        return a == b;
    struct buf x = {0}, y = {0};
    bool same = same_text(found_text(s, &list->v[a], &x), found_text(s, &list->v[b], &y));
    buf_free(&x);
    buf_free(&y);
    return same;
}

static int by_name(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->graph > y->graph) - (x->graph < y->graph);
}

static int by_hash(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->ttir != y->ttir)
        return x->ttir < y->ttir ? -1 : 1;
    if (x->ttnn != y->ttnn)
        return x->ttnn < y->ttnn ? -1 : 1;
    return (x->graph > y->graph) - (x->graph < y->graph);
}

struct copies {
    const struct source *s;
    struct found_list *list;
    const uint32_t *ttir, *ttnn;
    struct buf text;
};

static uint64_t hash_block(struct copies *c, uint32_t block) {
    if (block == NONE)
        return 0;
    struct found_block *f = &c->list->v[block];
    f->block.hash = hash_of(found_text(c->s, f, &c->text));
    return f->block.hash;
}

static void mark(struct copies *c, uint32_t first, uint32_t copy) {
    const uint32_t of_first[] = {c->ttir[first], c->ttnn[first]}, of_copy[] = {c->ttir[copy], c->ttnn[copy]};
    for (int i = 0; i < 2; i++) {
        if (of_first[i] == NONE)
            continue;
        c->list->v[of_first[i]].block.copies++;
        c->list->v[of_copy[i]].block.chosen = false;
        c->list->v[of_copy[i]].block.copies = 0;
    }
}

/* Graphs whose modules have one name. */
static void compare(struct copies *c, struct candidate *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        v[i].ttir = hash_block(c, c->ttir[v[i].graph]);
        v[i].ttnn = hash_block(c, c->ttnn[v[i].graph]);
    }
    qsort(v, n, sizeof *v, by_hash);
    for (uint32_t i = 0, first = 0; i < n; i++) {
        if (i == first || v[i].ttir != v[first].ttir || v[i].ttnn != v[first].ttnn)
            first = i;
        else if (same_block(c->s, c->list, c->ttir[v[first].graph], c->ttir[v[i].graph]) &&
                 same_block(c->s, c->list, c->ttnn[v[first].graph], c->ttnn[v[i].graph]))
            mark(c, v[first].graph, v[i].graph);
    }
}

void block_copies(const struct source *s, struct found_list *list, const uint32_t *ttir, const uint32_t *ttnn,
                  uint32_t n) {
    struct copies c = {.s = s, .list = list, .ttir = ttir, .ttnn = ttnn};
    struct candidate *v = xrealloc(NULL, (n + 1) * sizeof *v);
    uint32_t count = 0;
    for (uint32_t id = 1; id <= n; id++) {
        uint32_t block = ttir[id] != NONE ? ttir[id] : ttnn[id];
        if (block != NONE)
            v[count++] = (struct candidate){.name = str_hash(list->v[block].block.module), .graph = id};
    }
    qsort(v, count, sizeof *v, by_name);
    for (uint32_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && v[k].name == v[i].name;)
            k++;
        if (k - i > 1)
            compare(&c, v + i, k - i);
    }
    buf_free(&c.text);
    free(v);
}
