/* The findings of a report as a list: of one that was just made, or of a file. */
#ifndef FA_FINDINGS_H
#define FA_FINDINGS_H

#include "base/tree.h"
#include "gate/compare.h"
#include "report/report.h"

struct gate_finding {
    struct str fused_op, source, place, ir_loc;
    struct fingerprint fingerprint;
    double saved_us;                /* as the notes say it; below 0: fusing is slower */
    bool known;                     /* a baseline has it */
    struct stored_instance *stored; /* of a report that was just made */
};

struct finding_list {
    struct gate_finding *items; /* freed by the caller; texts in the arena */
    uint32_t n, cap;
};

/* In the order of the report. False when the spool cannot be read. */
bool findings_of_report(struct report *r, struct arena *a, struct finding_list *out);
/* Of a report in YAML or JSON; an empty file is one without findings. False with a diagnostic. */
bool findings_read(const char *path, struct arena *a, struct diags *d, struct finding_list *out);
struct fingerprints finding_fingerprints(const struct finding_list *l);

/* Reads a file whole into the arena. False with a diagnostic. */
bool read_whole(const char *path, struct arena *a, struct diags *d, struct str *out);
/* Reads a YAML file: its one document, NULL where it has none. False with a diagnostic. */
bool read_yaml(const char *path, struct arena *a, struct diags *d, const struct tree **document);

#endif
