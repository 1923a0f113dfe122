/* The YAML scalar style in which a string of valid UTF-8 keeps its bytes for every reader. */
#ifndef FA_REPORT_TEXT_H
#define FA_REPORT_TEXT_H

#include <yaml.h>

#include "base/base.h"

/* For a name or a path: plain if YAML 1.1 and 1.2 both read it as that string, else double quoted. */
yaml_scalar_style_t text_name_style(struct str s);
/* For a segment or notes: literal, unless a literal block would change the bytes. */
yaml_scalar_style_t text_block_style(struct str s);

#endif
