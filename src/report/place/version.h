/* What the input shows of the compile that printed it: when its compiler was made, by whom it was called, which passes
 * ran and which options were set. Each by the place that shows it. */
#ifndef FA_VERSION_H
#define FA_VERSION_H

#include "input/unpack/source.h"
#include "ir/graph/graph.h"
#include "patterns/library/pattern.h"

/* Something that a compiler prints from or up to a day. */
struct version_sign {
    struct str day;  /* "2026-06-02"; empty: nothing tells */
    struct str what; /* "dtype of ttnn.add" */
    uint32_t op;     /* the first that has it; NONE: it is no op */
    uint64_t line;   /* of it */
};

struct version {
    struct version_sign since, before;
};

/* Told by what a module prints, since modules do not say so. In `a`. */
void version_of(const struct compiler_facts *facts, const struct graph *g, struct arena *a, struct version *out);

enum frontend { FRONTEND_OTHER, FRONTEND_TORCH_XLA, FRONTEND_JAX };

/* A pass that a dump shows, or an option with the value that it has. */
struct seen_fact {
    const struct fact *fact;
    struct str value; /* of an option */
    uint64_t line;
    const char *path;
};

/* What the texts of all inputs show beside the modules. */
enum { MOST_SEEN = 32 };
struct seen_texts {
    enum frontend frontend;  /* by the names of modules, */
    bool called_by_it;       /* and by the log of tt-xla */
    struct version_sign day; /* the last one of a log's lines, and the day behind it */
    struct seen_fact facts[MOST_SEEN];
    uint32_t n;
};

void texts_see(struct seen_texts *t, const struct compiler_facts *facts, const struct source *s, struct arena *a);

/* The compile of one graph. */
struct seen_compile {
    const struct pattern_set *set;
    const struct seen_texts *texts;
    struct version version;
    struct day_span days;
    uint64_t *made_at; /* by fact: of an option the line of an op of TTNN that only this option makes; or 0 */
};

/* `ttir`, `ttnn`: or NULL. In `a`. */
void compile_see(const struct pattern_set *set, const struct seen_texts *t, const struct graph *ttir,
                 const struct graph *ttnn, struct arena *a, struct seen_compile *out);
/* The dump that shows a pass; NULL: none does. */
const struct seen_fact *pass_seen(const struct seen_compile *c, struct str pass);
/* "optimization-level=1" has this value. */
bool option_is_on(const struct seen_compile *c, struct str option);

#endif
