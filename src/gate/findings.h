/* Findings that a report in a file has. */
#ifndef FA_FINDINGS_H
#define FA_FINDINGS_H

#include "base/tree.h"
#include "gate/compare.h"
#include "report/finding.h"

/* Of a report in YAML or JSON; an empty file is one without findings. Texts are in `a`. False with a diagnostic. */
bool findings_read(const char *path, struct arena *a, struct diags *d, struct finding_list *out);
/* In `a`. */
struct fingerprints finding_fingerprints(const struct finding_list *l, struct arena *a);

/* Reads a file whole into the arena, as inputs are read: unpacked, "-" is standard input. False with a diagnostic. */
bool read_whole(const char *path, struct arena *a, struct diags *d, struct str *out);
/* Reads a YAML file: its one document, NULL where it has none. False with a diagnostic. */
bool read_yaml(const char *path, struct arena *a, struct diags *d, const struct tree **document);

#endif
