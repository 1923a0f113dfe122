/* Searches a function for the places that a formula describes.
 *
 * Between two operators of a formula, casts, layout changes and data movement are looked through.
 * Index maps (ir/graph/index.h) make that exact: two occurrences of a name must be the same element of
 * the same value at every index, whatever reshapes and broadcasts lie between. */
#ifndef FA_MATCH_H
#define FA_MATCH_H

#include "ir/graph/index.h"
#include "patterns/library/pattern.h"

/* What a name of a formula stands for. */
struct binding {
    uint32_t value; /* NONE: an optional part that is absent, or */
    bool is_number; /* a number of an attribute, */
    double number;  /* this one */
    uint32_t op;    /* of a named value: the op that it is; else NONE */
    const struct imap *map;
    const struct imap *needed; /* the map without axes along which the value is the same: of a slice of it */
    const struct axes *axes;   /* the formula's axes there; a contraction has its own */
    uint32_t line;             /* of the formula where it was bound: 0 the root's, then those of the secondary roots */
};
/* The one number that the name stands for. */
static inline struct constant binding_constant(const struct graph *g, const struct binding *b) {
    struct constant c = {b->is_number, b->number, 53};
    if (b->value != NONE)
        c = graph_constant(g, b->value);
    return c;
}

struct match {
    const struct pattern *pattern;
    const struct graph *graph;
    const uint32_t *ops;     /* in the formula's order, each once; the last one is `root` */
    const uint32_t *through; /* ops that were looked through, in textual order */
    uint32_t func, root, nops, nthrough;
    bool by_values; /* a function of it is known by its values alone */
    uint32_t nruns; /* of its ops those that run each time, not those of parameters alone; match_resolve sets it */
};
/* The first op of its function, of which places in functions that are alike count theirs. */
static inline uint32_t match_first_op(const struct match *m) {
    return m->func == NONE ? 0 : m->graph->m->funcs[m->func].first_op;
}

/* A value that a pattern takes for a number: a constant, which holds it up to rounding, or an argument, which is
 * assumed to hold it (`stated`). NaN: any one number in all elements. */
struct assumed_constant {
    uint32_t value;
    double number;
    bool stated;
};

/* What a match binds, what is known of the compiler there, and what else the report says of it. */
struct match_detail {
    const struct binding *slots; /* by slot of the formula */
    uint32_t nslots;
    const struct assumed_constant *constants;
    uint32_t nconstants;
    const uint32_t *moved; /* values that demands of the fused op move, each once */
    uint32_t nmoved;
    struct str_list undone;          /* how the compiler had fused it and decomposed it again */
    bool unmade;                     /* the compiler makes no such fused op, whatever is set */
    uint32_t nassumed;               /* preconditions, by what its search assumed */
    bool named;                      /* all of this may depend on names and other functions, too, */
    const struct op_answer *answers; /* and on locations: ops count from the first one of the function */
    uint32_t nanswers;
    /* the rest is by binding_query_say */
    struct str_list preconditions;
    struct str_list remarks; /* notes of the pattern that apply here, filled in */
    struct str_list slices;  /* what the fused op takes a slice of */
    struct str_list outside; /* what the claim leaves out */
    struct str_list blocked; /* why the fusion is known to be unsafe */
    bool decomposed;         /* the compiler took it apart for a reason of the op */
    struct str torch;        /* the op of PyTorch, filled in */
    struct str_list call;    /* the arguments of the fused op as it is called in Python */
};

/* Goals for one root and pattern; asked 0: the default. */
static inline uint64_t search_steps(uint64_t asked) {
    return asked ? asked : 20000;
}

struct match_list {
    struct match *items;
    uint32_t n, cap;
    uint32_t gave_up;      /* roots where the search hit its step limit */
    const uint64_t *alike; /* by function: equal where all but names and locations is; 0: not known. Of match_graph */
};

/* All matches in one function, one for each root op and pattern; overlaps are not resolved. What they point to lives
 * in `a`; the caller frees out->items. */
void match_function(const struct pattern_set *set, const struct graph *g, uint32_t func, struct arena *a,
                    struct match_list *out);

/* Searches the root of a match again and tells what the match binds: matches are many, and only those that are
 * reported or proved are asked. A query serves the matches of one graph, one after another. `prefix`: what names of its
 * values begin with in texts, where another graph may have the same. */
struct matcher *binding_query_new(const struct graph *g, const char *prefix);
void binding_query_free(struct matcher *query); /* NULL is fine */
/* What `out` points to lives in `a`. False, and nothing in `out`, when the match is not found again: another one
 * may have the root. */
bool binding_query_run(struct matcher *query, const struct match *m, struct arena *a, struct match_detail *out);
/* What else is said of the match that the query found last. */
void binding_query_say(struct matcher *query, struct match_detail *out);
/* All of it, with a query of its own. */
bool match_details(const struct match *m, struct arena *a, struct match_detail *out);

/* An axis that exists only below a slice or a concatenation, of which the formula sees a part. */
bool match_axis_is_cut(const struct imap *axis);
/* An axis that exists only below a reduction, under a root that does not have it. */
bool match_axis_is_reduced(const struct imap *axis);

void match_list_add(struct match_list *list, const struct match *m);
/* Two matches exclude each other where they share an op, or one looks through the root of the other. By op, zeroed at
 * first: what the matches that were marked have. */
void match_mark(const struct match *m, uint8_t *marks);
bool match_excluded(const struct match *m, const uint8_t *marks);

/* What the fused op of a match saves; below 0, or 0 where that is not known: nothing. */
struct saving {
    double us, most_us; /* as estimated; and at best, within the error of the estimate */
    int64_t launches;
};
struct savings {
    struct saving (*saving)(void *context, const struct match *m);
    void *context;
};
/* Resolves overlaps among the matches of one graph: of those of one source that exclude each other it keeps the set
 * that saves most (in groups of more than 16 the one that saves most first), among equals, and everywhere where `by` is
 * NULL, those with most ops that compute each time. A match whose ops another one has too gives way to that, unless it
 * and others like it save more than that may at best. A match of another source than the dialect of TTNN stays only
 * where it covers ops that no match of that does, or, of its library, all that these have, and saves more time and
 * launches. Sorts by root. The others go to `gave_way`, unless that is NULL. */
void match_resolve(struct match_list *list, const struct savings *by, struct match_list *gave_way);

#endif
