#include "compile/apply/text_edit.h"

#include <stdlib.h>

void text_edits_add(struct text_edits *e, struct span at, struct str text) {
    e->items = grow(e->items, &e->cap, e->n + 1, sizeof *e->items);
    e->items[e->n++] = (struct text_edit){at, text};
}

struct span whole_lines(struct str text, struct span s) {
    struct span wide = s;
    while (wide.begin > 0 && (text.p[wide.begin - 1] == ' ' || text.p[wide.begin - 1] == '\t'))
        wide.begin--;
    while (wide.end < text.n && (text.p[wide.end] == ' ' || text.p[wide.end] == '\t' || text.p[wide.end] == '\r'))
        wide.end++;
    bool begins = wide.begin == 0 || text.p[wide.begin - 1] == '\n';
    if (!begins || (wide.end < text.n && text.p[wide.end] != '\n'))
        return s;
    wide.end += wide.end < text.n;
    return wide;
}

static int by_place(const void *a, const void *b) {
    const struct text_edit *x = a, *y = b;
    if (x->at.begin != y->at.begin)
        return x->at.begin < y->at.begin ? -1 : 1;
    return (x->at.end > y->at.end) - (x->at.end < y->at.end);
}

static void sort_edits(struct text_edits *e) {
    if (e->n)
        qsort(e->items, e->n, sizeof *e->items, by_place);
}

bool text_edits_are_apart(struct text_edits *e) {
    sort_edits(e);
    for (uint32_t i = 1; i < e->n; i++)
        if (e->items[i].at.begin < e->items[i - 1].at.end)
            return false;
    return true;
}

static void append(char **to, struct str text) {
    if (text.n)
        memcpy(*to, text.p, text.n);
    *to += text.n;
}

struct str text_edited(struct str text, struct text_edits *e, struct arena *a) {
    size_t n = text.n;
    uint32_t at = 0;
    if (!e->n)
        return text;
    for (uint32_t i = 0; i < e->n; i++)
        n += e->items[i].text.n - (e->items[i].at.end - e->items[i].at.begin);
    char *out = arena_alloc(a, n + 1), *to = out;
    sort_edits(e);
    for (uint32_t i = 0; i < e->n; i++) {
        append(&to, (struct str){text.p + at, e->items[i].at.begin - at});
        append(&to, e->items[i].text);
        at = e->items[i].at.end;
    }
    append(&to, (struct str){text.p + at, text.n - at});
    return (struct str){out, n};
}

/* ---- two after one another ---- */

/* A text as pieces of another one and what stands between them. */
struct piece {
    struct str text;
    uint32_t at; /* in the other one; NONE: it is not of it */
};

struct pieces {
    struct piece *items;
    uint32_t n, cap;
};

static void push(struct pieces *p, struct piece x, uint32_t begin, uint32_t end) {
    if (begin >= end)
        return;
    p->items = grow(p->items, &p->cap, p->n + 1, sizeof *p->items);
    p->items[p->n++] = (struct piece){{x.text.p + begin, end - begin}, x.at == NONE ? NONE : x.at + begin};
}

static void push_text(struct pieces *p, struct str text) {
    push(p, (struct piece){text, NONE}, 0, (uint32_t)text.n);
}

/* The same with the edits of the whole. */
static void edit_pieces(struct pieces *p, struct text_edits *e) {
    struct pieces now = {0};
    uint32_t begin = 0, kept = 0, i = 0; /* of the piece; where what is kept goes on; the next edit */
    sort_edits(e);
    for (uint32_t k = 0; k < p->n; k++) {
        struct piece x = p->items[k];
        uint32_t end = begin + (uint32_t)x.text.n;
        kept = kept > begin ? kept : begin;
        for (; i < e->n && e->items[i].at.begin < end; i++) {
            push(&now, x, kept - begin, e->items[i].at.begin - begin);
            push_text(&now, e->items[i].text);
            kept = e->items[i].at.end;
        }
        if (kept < end)
            push(&now, x, kept - begin, end - begin);
        begin = end;
    }
    for (; i < e->n; i++)
        push_text(&now, e->items[i].text);
    free(p->items);
    *p = now;
}

void text_edits_join(struct text_edits *e, struct str text, struct text_edits *then, struct arena *a) {
    struct pieces p = {0};
    struct text_edits both = {0};
    struct buf put = {0};
    uint32_t at = 0;
    push(&p, (struct piece){text, 0}, 0, (uint32_t)text.n);
    edit_pieces(&p, e);
    edit_pieces(&p, then);
    push(&p, (struct piece){STR(" "), (uint32_t)text.n}, 0, 1); /* ends the last edit */
    for (uint32_t k = 0; k < p.n; k++) {
        struct piece x = p.items[k];
        if (x.at == NONE) {
            buf_add(&put, x.text);
        } else {
            if (x.at > at || put.n)
                text_edits_add(&both, (struct span){at, x.at}, buf_take(&put, a));
            at = x.at + (uint32_t)x.text.n;
        }
    }
    free(p.items);
    text_edits_free(e);
    *e = both;
}

void text_edits_free(struct text_edits *e) {
    free(e->items);
    *e = (struct text_edits){0};
}
