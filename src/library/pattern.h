/* Patterns as data: files of patterns/ read into memory, with their formulas parsed. */
#ifndef FA_PATTERN_H
#define FA_PATTERN_H

#include "lang/formula.h"

/* Inputs of which the fused op may make something else. */
enum outside { OUTSIDE_NOTHING, OUTSIDE_MASKED_ROWS, OUTSIDE_TIES, OUTSIDE_SMALL };

struct note_rule {
    const struct number *when; /* NULL: always */
    struct str say;            /* text; {…} as in fusion-patterns(5) */
    enum outside what;         /* of `outside`: what is no part of the claim */
};

/* What a value has to be, or the fused op computes something else: a formula that makes such a value of any. */
struct holding {
    uint32_t slot;
    struct str formula; /* as written; over the name itself */
};

/* What is known of an argument of an example. */
struct example_arg {
    struct str name, type; /* without '%'; input, parameter, constant */
    struct str model_name; /* or empty */
};

/* A piece of IR that the pattern has to match, or must not. */
struct example {
    bool hit;
    struct str text;
    struct text_origin origin; /* of the text */
    uint64_t line;             /* of the example */
    struct str name, because;  /* or empty; why it is none, for people */
    struct str explains;       /* or empty: of a miss, text that `explain` has to say */
    struct str says;           /* or empty: of a hit, text that the notes have to say */
    struct example_arg *args;
    uint32_t nargs;
};

/* Where the compiler makes this fusion; each may be empty. */
struct pattern_status {
    struct str level;         /* ttir or ttnn */
    struct str pass, pattern; /* of the compiler */
    struct str gated;         /* the flag without which it is off */
};

struct pattern {
    struct str name, summary, fused_op, source;
    struct str match, fused; /* as written */
    struct str file;
    uint64_t line;      /* of its name */
    struct str text;    /* the document in the file */
    uint64_t text_line; /* where that begins */
    struct pattern_status status;
    double approximate; /* relative L2 by which the fused op may differ; 0: not at all */
    struct formula formula;
    const struct number **where; /* all must hold, else the search goes on */
    uint32_t nwhere;
    const struct number **require; /* all must hold of the first match, else there is none */
    uint32_t nrequire;
    const struct number **unless; /* none may hold of the first match */
    uint32_t nunless;
    uint32_t order; /* of loading: settles ties */
    uint32_t nnotes, ntorch, ncompiler, nblock, noutside, ndecomposed, nexamples;
    struct note_rule *notes;
    struct note_rule *torch;          /* the first that holds is told */
    struct note_rule *compiler;       /* preconditions of the compiler's own pattern that a place fails */
    struct note_rule *block;          /* known to be unsafe or disabled: hidden where one holds */
    struct note_rule *outside;        /* of the claim, where one holds: notes and proof share it */
    const struct number **decomposed; /* taken apart on purpose: hidden where one holds */
    struct example *examples;
    uint32_t locate[8]; /* slots that tell where in the model the match is, best first */
    uint32_t nlocate;
    uint32_t escapes[8]; /* slots of ops whose results may be used outside of the match */
    uint32_t nescapes;
    uint32_t positive[8]; /* slots of values that have to be positive, as the notes say */
    uint32_t npositive;
    uint32_t replicated[8]; /* slots of values that are the same on each device, as the notes say */
    uint32_t nreplicated;
    struct holding holds[8]; /* of variables; the notes say so */
    uint32_t nholds;
    struct str contains[8]; /* names of patterns whose matches are reported although they lie inside of this one's */
    uint32_t ncontains;
    bool show_blocked, show_decomposed; /* --include */
    bool selected;                      /* by --only and --skip */
    bool replaced;                      /* by a later one of the same name, or switched off */
    bool is_variant;                    /* searched for with the pattern that it is like */
    struct pattern *variant;            /* the next one that shares this formula (`like`) */
    struct pattern *variant_of;
    struct pattern *replaces; /* the earlier one, or NULL */
};

/* How a parameter's name is read: a piece that says nothing is stripped, a match says something. */
struct location_rule {
    pcre2_code *regex;
    bool strip;
    struct str say; /* with $1 for the first group */
};

/* An op that a module has only where something was fused. */
struct fusing_sign {
    struct str op;     /* a glob */
    uint32_t operands; /* at least */
};

struct pattern_set {
    uint64_t max_steps; /* of the search for one pattern at one op; 0: MAX_STEPS */
    bool no_examples;   /* `tests` are not read */
    bool forget;        /* search places that are alike again (alike.h): slower, for tests */
    struct arena arena;
    struct idioms idioms;
    struct regexes regexes;
    struct pattern **items;
    uint32_t n, cap;
    struct pattern **rooted;            /* those with a formula of their own, by the operator of their root */
    uint32_t first_rooted[K_COUNT + 1]; /* operator k: from first_rooted[k] to before first_rooted[k + 1] */
    uint32_t nread;                     /* patterns that were no replacement */
    struct location_rule *locations;
    uint32_t nlocations, locations_cap;
    struct fusing_sign *signs;
    uint32_t nsigns, signs_cap;
    struct lowering *lowerings; /* what fused ops compute (lowering.h) */
    uint32_t nlowerings, lowerings_cap;
    struct idioms lowered; /* fused ops that are no op of a dialect */
};

/* What `source` may be; the first is the direct one. */
enum { PATTERN_SOURCES = 4 };
extern const char *const pattern_sources[PATTERN_SOURCES];

/* Reads one file, or all *.yml of a directory in order of name, idioms first. A pattern replaces an earlier one of
 * the same name; one that others are like stays in the list for them, marked. False with diagnostics; then nothing of
 * the wrong file is loaded. */
bool patterns_load(struct pattern_set *set, const char *path, struct diags *d);
/* Reads the text of one pattern, which is called `name` in diagnostics. NULL with diagnostics. */
const struct pattern *patterns_load_text(struct pattern_set *set, const char *name, struct str text, struct diags *d);
/* Applies --only and --skip (comma-separated globs over names and fused ops; NULL: no limit). False with the glob
 * that matches nothing in `bad`. */
bool patterns_select(struct pattern_set *set, const char *only, const char *skip, struct str *bad);
/* Sorts the selected patterns by the operators of their roots, for match_function. What loads and selects does it; a
 * set that was put together otherwise needs it, and then `free(set->rooted)`. */
void patterns_index(struct pattern_set *set);
void patterns_free(struct pattern_set *set);

#endif
