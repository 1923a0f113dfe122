/* Expectations: how often an op has to be in a model, by parsed ops (fusion-audit(1), --expect). */
#ifndef FA_EXPECT_H
#define FA_EXPECT_H

#include "fusion_audit.h"
#include "patterns/library/pattern.h"
#include "report/compare/findings.h"

enum scope { SCOPE_MODEL, SCOPE_FUNCTION, SCOPE_LOCATION };

struct expectation {
    enum scope scope;
    struct str where;     /* glob over functions or names of locations */
    struct str op;        /* glob over op names */
    bool fused;           /* only those in a form that shows fusing count */
    struct str wanted;    /* ">= 48" */
    uint64_t least, most; /* that are wanted */
    uint64_t found;
    uint64_t line;
    uint32_t column;
};

struct expectations {
    const char *path;
    struct expectation *items; /* freed by expectations_free; texts in the arena */
    uint32_t n, cap;
};

/* False with diagnostics: a file that is wrong is not used at all. */
bool expectations_read(struct expectations *e, const char *path, struct arena *a, struct diags *d);
/* Adds the ops of a graph that run at each call. */
void expectations_count(struct expectations *e, const struct pattern_set *set, const struct graph *g);
/* An error for each that fails, with the findings that say what stands there instead, else with what comes nearest in
 * the files of the options. Returns how many. */
uint32_t expectations_check(const struct expectations *e, const struct finding_list *l,
                            const struct fa_audit_options *o, struct diags *d);
void expectations_free(struct expectations *e);

/* How often an op is in graphs in a form that shows fusing. */
struct fused_count {
    struct str op;
    uint64_t n;
};

struct fused_counts {
    struct fused_count *items; /* freed by the caller, names in the arena */
    uint32_t n, cap;
};

void fused_count_add(struct fused_counts *c, const struct pattern_set *set, const struct graph *g, struct arena *a);
/* As a file of expectations: `fused op: >= n` for each. */
bool fused_counts_print(const struct fused_counts *c, FILE *out);

#endif
