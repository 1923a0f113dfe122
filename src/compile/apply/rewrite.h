/* A module with replacements in it: the text, of which all other bytes stay. */
#ifndef FA_REWRITE_H
#define FA_REWRITE_H

#include "compile/apply/replace.h"
#include "compile/apply/text_edit.h"

/* From its name to the end of its body, with the location behind it. */
struct span function_text(const struct mlir *m, uint32_t func);
/* With the replacements that are written, and without the ops that nothing uses any more. To be freed with
 * text_edits_free. */
struct text_edits rewrite_module(const struct graph *g, const struct replacement *all, uint32_t n, struct arena *a);

/* Ops that write in place have no result since tt-mlir 2026-07-29 (6c43aaa38f): what takes it takes what they write
 * into. To be freed with text_edits_free. */
struct text_edits results_in_place(const struct graph *g);

/* Arguments of a module that are taken to hold a number, each once. */
struct taken_numbers {
    struct taken_number *items;
    uint32_t n;
};

/* Of the replacements that are written. In `a`. */
struct taken_numbers take_numbers(const struct replacement *all, uint32_t n, struct arena *a);
/* Adds those of `more`, of the module `from`, as the arguments of `to` of the same functions and numbers. In `a`. */
void add_numbers(struct taken_numbers *t, const struct mlir *to, struct taken_numbers more, const struct mlir *from,
                 struct arena *a);
/* Constants in place of these arguments, and the module with them. To be freed with text_edits_free; texts in `a`. */
struct text_edits put_numbers(const struct mlir *m, struct taken_numbers taken, struct arena *a);
struct str with_numbers(const struct mlir *m, struct taken_numbers taken, struct arena *a);

#endif
