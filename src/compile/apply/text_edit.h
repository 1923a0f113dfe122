/* Changes of a text that leave all its other bytes as they are. */
#ifndef FA_TEXT_EDIT_H
#define FA_TEXT_EDIT_H

#include "ir/mlir/mlir.h"

struct text_edit {
    struct span at; /* empty: `text` is put in before it */
    struct str text;
};

struct text_edits {
    struct text_edit *items;
    uint32_t n, cap;
};

void text_edits_add(struct text_edits *e, struct span at, struct str text);
/* The span with its whole lines, where nothing else stands on them. */
struct span whole_lines(struct str text, struct span s);
/* No two of them change the same bytes. Sorts them. */
bool text_edits_are_apart(struct text_edits *e);
/* The changed text, in `a`; without edits `text` itself. Sorts the edits, whose spans may touch, not overlap. */
struct str text_edited(struct str text, struct text_edits *e, struct arena *a);
/* Makes edits of a text those that do both: `then` is of what they make of it. */
void text_edits_join(struct text_edits *e, struct str text, struct text_edits *then, struct arena *a);
void text_edits_free(struct text_edits *e);

#endif
