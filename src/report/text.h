/* What YAML can carry: valid UTF-8, and which strings keep their bytes in which scalar style.
 * Every string of a report passes through here on its way to libyaml. */
#ifndef FA_REPORT_TEXT_H
#define FA_REPORT_TEXT_H

#include <yaml.h>

#include "base/base.h"

/* Style of a name or a path: plain when every YAML reader takes it for that very string, else double quoted. */
yaml_scalar_style_t text_name_style(struct str s);
/* Style of a segment or of notes: literal unless a block scalar would not give the bytes back. */
yaml_scalar_style_t text_block_style(struct str s);

#endif
