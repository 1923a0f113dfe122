/* Searches a function for the places that a formula describes.
 *
 * Between two operators of a formula, casts, layout changes and data movement are looked through.
 * Index maps (graph/index.h) make that exact: two occurrences of a name must be the same element of
 * the same value at every index, whatever reshapes and broadcasts lie between. */
#ifndef FA_MATCH_H
#define FA_MATCH_H

#include "graph/index.h"
#include "library/pattern.h"

struct binding {
    uint32_t value; /* NONE: an optional part that is absent */
    uint32_t op;    /* of a named value: the op that it is; else NONE */
    const struct imap *map;
    const struct axes *axes; /* the formula's axes there; a contraction's own */
    uint32_t line;           /* of the formula: 0 the root's, then the further ones in turn */
};

struct match {
    const struct pattern *pattern;
    const struct graph *graph;
    const uint32_t *ops;     /* in the formula's order, each once; the last one is `root` */
    const uint32_t *through; /* looked through, textual order */
    uint32_t func, root, nops, nthrough;
    uint64_t names; /* a number of the names of its ops, the same in all graphs */
};

/* What the report says of a match beyond its ops. */
struct match_detail {
    const uint32_t *values; /* per slot of the formula; NONE: an optional part that is absent */
    const struct str *preconditions;
    uint32_t npreconditions;
    const struct str *remarks; /* notes of the pattern that apply here, filled in */
    uint32_t nremarks;
    const struct str *outside; /* what is no part of the claim */
    uint32_t noutside;
    const struct str *blocked; /* why it is known to be unsafe */
    uint32_t nblocked;
    const struct str *compiler; /* preconditions of the compiler's own pattern that fail here */
    uint32_t ncompiler;
    bool decomposed;  /* taken apart on purpose */
    struct str torch; /* filled in */
};

enum { MAX_STEPS = 20000 }; /* goals for one anchor and pattern, unless asked for more */

/* A value that a pattern ties to a number: a constant, which is that but for its rounding, or an argument, which is
 * stated to hold it. NaN: any one number. */
struct tie {
    uint32_t value;
    double number;
    bool stated;
};

struct match_list {
    struct match *items;
    uint32_t n, cap;
    uint64_t steps;   /* goals tried */
    uint32_t gave_up; /* anchors left at the step limit */
};

/* What searches for the same patterns remember of places, from graph to graph (alike.h). For one thread. */
struct match_cache *match_cache_new(void);
void match_cache_free(struct match_cache *memory); /* NULL is fine */

/* Searches functions of one graph, one after the other: what was seen of one helps with the next. `memory` may be
 * NULL. */
struct matcher *match_searcher_new(const struct graph *g, struct match_cache *memory, struct arena *a);
void match_search(struct matcher *searcher, const struct pattern_set *set, uint32_t func, struct match_list *out);

/* All matches in one function, one for each root op and pattern; overlaps are not settled yet. */
void match_function(const struct pattern_set *set, const struct graph *g, uint32_t func, struct arena *a,
                    struct match_list *out);
/* Searches the place of a match again and says what it binds. Matches are many and most are not reported: this is
 * asked for those that are. */
void match_details(const struct match *m, struct arena *a, struct match_detail *out);
/* The same for many matches of one graph: what the searches have in common is made once, in `a`. */
struct matcher *binding_query_new(const struct graph *g, struct arena *a);
void binding_query_run(struct matcher *query, const struct match *m, struct arena *a, struct match_detail *out);
void binding_query_free(struct matcher *query); /* NULL is fine */
/* An axis of its own, of which the formula has a part. */
bool match_axis_is_cut(const struct imap *axis);
/* What a match binds, by slot of its formula, and what it ties to numbers: copies in `a`. False when its place is not
 * found again. */
struct match_bound {
    const struct binding *slots;
    uint32_t nslots;
    const struct tie *ties;
    uint32_t nties;
};
bool match_bindings(const struct match *m, struct arena *a, struct match_bound *out);

/* Expressions in templates, read once; by where they stand. */
struct templates {
    struct arena *arena;
    struct {
        const char *text;
        const struct number *number; /* NULL: it is none */
    } slots[64];
};

/* Keeps, for each source, the matches that cover most; a match of another source than ttnn stays only where it covers
 * ops that no ttnn match does. Sorts by root op. */
void match_resolve(struct match_list *list);

/* Fused ops of the matches of the other kind, direct or theoretical, that share ops with a match. */
struct conflicts {
    const struct str *names;
    uint32_t n;
};
/* Of each match of a settled list; NULL when none has any. */
struct conflicts *match_conflicts(const struct match_list *list, struct arena *a);

/* What conditions on the locations of the ops told: they differ where all else is alike. */
enum { MAX_TOLD = 6 };
struct told {
    uint32_t n;
    const struct number *condition[MAX_TOLD];
    bool holds[MAX_TOLD];
};

/* Number or truth of a condition over a match. `nan` when it has none. */
struct evaluation {
    const struct graph *graph;
    const struct formula *formula;
    const struct binding *bindings;
    const struct axes *axes; /* for extent(-1) */
    const uint32_t *ops;
    uint32_t nops;
    const struct looked_through *looked_through; /* looked through; like the ops only of a whole match */
    uint32_t nlooked_through;
    uint32_t *found; /* the op that a condition found; or NULL */
    struct arena *arena;
    struct str *preconditions; /* collected here */
    uint32_t *npreconditions;
    uint32_t max_preconditions;
    struct tie *ties; /* collected here; NULL where nobody asks */
    uint32_t *nties, max_ties;
    double (*number_of)(const void *self,
                        uint32_t value); /* that a value which is no constant holds, or NaN; or NULL */
    const void *self;
    bool *far;                   /* set where a condition looks beyond what is bound */
    struct told *told;           /* or NULL */
    struct templates *templates; /* or NULL */
    struct slice_memo *slices;   /* or NULL */
    bool brief;                  /* nobody reads the preconditions: the name of what they speak of stands for each */
    const pcre2_code *regex;     /* of the condition at hand */
    const struct number *number; /* the condition at hand */
};
double evaluate(const struct evaluation *e, const struct number *n);
void evaluation_tie(const struct evaluation *e, uint32_t value, double number, bool stated);

/* The value is stored with the formula's last axis innermost. */
bool last_axis_innermost(const struct imap *map, const struct axes *axes);
/* "%arg3 (encoder.layer.0.norm.weight)" for people. */
struct str value_label(const struct graph *g, uint32_t value, struct arena *a);
/* The same for a precondition; only the name where they are not read. */
struct str precondition_label(const struct evaluation *e, uint32_t argument);
/* Template text with {name}, {extent(x, -1)} filled in. */
struct str fill_in(const struct evaluation *e, struct str text);

#endif
