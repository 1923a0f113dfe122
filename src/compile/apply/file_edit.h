/* Edits of the module that was audited as edits of the file that it is in. */
#ifndef FA_FILE_EDIT_H
#define FA_FILE_EDIT_H

#include "compile/apply/text_edit.h"
#include "input/log/inputs.h"
#include "ir/graph/level.h"

/* The text of which the edits are: the whole file, where it has this module and nothing else, with the ends of its
 * lines; or `text`, the module in a log. Texts in `a`. */
struct str edits_of_file(const struct inputs *in, const struct level_text *module, struct str text,
                         struct text_edits *edits, struct arena *a);

#endif
