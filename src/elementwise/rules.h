/* The rules for elementwise regions, as devices/regions/d2m.yml states them: which ops one generated kernel may hold,
 * of which types, its limits, and the passes that make it. */
#ifndef FA_REGION_RULES_H
#define FA_REGION_RULES_H

#include "fusion_audit.h"
#include "patterns/library/pattern.h"

/* What a region ends in; also the words of --include. */
enum region_kind { REGION_ELEMENTWISE, REGION_REDUCTION, REGION_KINDS };

/* An op of TTNN that a kernel may hold. */
struct region_op {
    struct str name; /* "ttnn.add" */
    enum region_kind kind;
    uint64_t types; /* a bit for each enum dtype that its tensors may have */
};

struct region_rules {
    struct region_op *ops;
    uint32_t nops, ops_cap;
    int64_t circular_buffers, wide_inputs, registers, wide_registers, other_users;
    struct pattern claims[REGION_KINDS]; /* what reports say of a region: name, summary, fused op, status */
};

/* Which regions --include, --source, --only and --skip ask for, those of the kinds before among them; REGION_KINDS:
 * none. */
enum region_kind region_kind_wanted(const struct pattern_set *set, const struct fa_patterns *o);
/* The directory of the devices, in `a`. */
const char *devices_directory(const struct fa_patterns *o, struct arena *a);
/* Reads regions/d2m.yml in a directory of devices. Texts are in `a`; free with region_rules_free. False with a
 * diagnostic. */
bool region_rules_load(struct region_rules *r, const char *devices, struct arena *a, struct diags *d);
/* Reads the text of such a file, which `file` names in diagnostics. */
bool region_rules_load_text(struct region_rules *r, const char *file, struct str text, struct arena *a,
                            struct diags *d);
void region_rules_free(struct region_rules *r);

#endif
