#include "apply/text_edit.h"

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

struct str text_edited(struct str text, struct text_edits *e, struct arena *a) {
    struct buf out = {0};
    uint32_t at = 0;
    if (e->n)
        qsort(e->items, e->n, sizeof *e->items, by_place);
    for (uint32_t i = 0; i < e->n; i++) {
        buf_add(&out, (struct str){text.p + at, e->items[i].at.begin - at});
        buf_add(&out, e->items[i].text);
        at = e->items[i].at.end;
    }
    buf_add(&out, (struct str){text.p + at, text.n - at});
    return buf_take(&out, a);
}

void text_edits_free(struct text_edits *e) {
    free(e->items);
}
