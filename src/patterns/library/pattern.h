/* Patterns in memory: what pattern files say (fusion-patterns(5)), with formulas and conditions parsed. Everything is
 * owned by the set, most of it by its arena. */
#ifndef FA_PATTERN_H
#define FA_PATTERN_H

#include "patterns/lang/net.h"
#include "patterns/lang/number.h"
#include "patterns/library/history.h"

/* Inputs for which the fused op may give another result, so that a proof leaves them out: rows that a mask hides
 * completely, equal elements in a sort, numbers so small that an epsilon decides. */
enum outside { OUTSIDE_NOTHING, OUTSIDE_MASKED_ROWS, OUTSIDE_TIES, OUTSIDE_SMALL };

/* A text for the notes and the condition under which it is said. */
struct note_rule {
    const struct number *when; /* NULL: always */
    struct str say;            /* with {…} as in fusion-patterns(5) */
    enum outside what;         /* of a rule of `outside` */
    const uint32_t *moves;     /* of a demand: slots of what is moved around the fused op then */
    uint32_t nmoves;
    bool unmade; /* of a demand: the compiler does not meet it */
};

/* The formula of `fused` or `holds`, which may use lowerings as idioms (lowering.h). */
struct form {
    struct str text;
    struct text_origin origin;
    bool own; /* it is the formula of the pattern itself */
    const struct formula *formula;
};

/* An assumption on a value: the result of this formula for some value, as in {m: m + transposed(m)} for a symmetric m.
 * A proof makes such values with it. */
struct holding {
    uint32_t slot;
    struct form *form; /* over the name of the slot */
};

/* An argument of an example. */
struct example_arg {
    struct str name;       /* without '%' */
    struct str type;       /* input, parameter or constant */
    struct str model_name; /* ttir.name, or empty */
};

/* A test of a pattern: IR that it has to match (hit), or must not. */
struct example {
    bool hit;
    struct str text;           /* ops, or a whole function */
    struct text_origin origin; /* of the text */
    uint64_t line;             /* of the example */
    struct str name;           /* or empty */
    const char *one_of_two;    /* the dialect of an example that is two by `level: both`; else NULL */
    struct str because;        /* or empty: of a miss, why it is none; for readers only */
    struct str explains;       /* or empty: of a miss, text that the output of `explain` has to contain */
    struct str says;           /* or empty: of a hit, text that the notes have to contain */
    struct example_arg *args;
    uint32_t nargs;
};

/* Where the compiler itself makes this fusion; each may be empty. */
struct pattern_status {
    struct str level;         /* ttir or ttnn; library: no dialect has it yet, TTNN's library does */
    struct str lacks;         /* library: the dialect has the op, without this operand or attribute */
    struct str pass, pattern; /* names in the compiler */
    struct str gated;         /* the option without which it is off */
    struct str off;           /* the flag that switches it off, where it is not that of the pass */
    struct str keeps;         /* the option with which `undone` does not happen */
    struct str file;          /* of the compiler's source, where it is not that of the pass */
    struct str earlier;       /* the pattern that made it before the compiler had this one, */
    struct str earlier_gated; /* and the option without which that is off */
};

/* What fused ops want of their operands. */
struct demand {
    struct str_list of;       /* the fused ops */
    struct str_list operands; /* what `it` stands for in the texts, one after the other; or none */
    struct idiom when;        /* it is not met as things stand; over names of formulas */
    struct str say;           /* what meets it, or why nothing does */
    struct str_list moves;    /* names of what is moved to meet it, operands or results */
    bool theoretical;         /* nothing does: the finding is none of TTNN */
    bool unmade;              /* the compiler makes no such fused op, whatever is set */
    bool gridded;             /* its kernel cuts rows and columns of tiles along the sides of the grid of cores */
    bool used;                /* some pattern has its names */
};

/* A pass of the compiler. */
struct compiler_pass {
    struct str name, version; /* version: of the compiler that claims on it were taken from; empty: that of the facts */
    struct str off;           /* the flag that switches it off; empty: it ran before there was TTIR */
    struct str level;         /* of new patterns that stand in it, or library: of new ops; or empty */
    struct str file;          /* in the source */
};

/* An option of its pipeline that a pattern names under `status`, and what it asks of the compiler. */
struct compiler_option {
    struct str name, needs;
};

/* What a pattern of the compiler takes although it is another function. */
enum { MOST_REPLACED = 4 };
struct unchecked {
    struct str pass, pattern, accepts;
    enum op_kind makes, of[MOST_REPLACED]; /* the fused op; ops that are among those replaced */
    uint32_t nof;
};

enum { MOST_NAMES = 8 }; /* of a list of names */

/* A part of a condition that all of it needs, which is decided as soon as its own names are bound. */
struct conjunct {
    const struct number *part, *condition;
    struct asked_names of_part, of_condition;
};

struct pattern {
    struct str name, summary, fused_op, source;
    struct str says;     /* the summary, without what is added to it of what the ops collapse to */
    struct str sentence; /* the summary with the names on which parts of it hang: next_summary_part */
    enum op_kind makes;  /* its fused op; NO_OPERATOR: of no dialect */
    struct str match;    /* text of the formula */
    struct form *fused;  /* NULL: it has none */
    const struct text_file *file;
    uint64_t line;      /* where its mapping begins */
    struct str text;    /* the YAML document */
    uint64_t text_line; /* where that begins */
    struct str shared;  /* the document with its `defaults` and `rules`, or empty */
    struct pattern_status status;
    double approximate; /* relative L2 error that the fused form may have; 0: none beyond rounding */
    struct formula formula;
    const struct number **where; /* all must hold; where one fails the search backtracks */
    uint32_t nwhere;
    const struct conjunct *conjuncts; /* of these; unless is_variant */
    uint32_t nconjuncts;
    const struct number **require; /* all must hold for the first match found, else there is no match */
    uint32_t nrequire;
    const struct number **unless; /* none may hold for the first match found */
    uint32_t nunless;
    uint32_t order; /* of loading: decides between equal candidates */
    uint32_t nnotes, ntorch, ncall, nundone, nblock, noutside, ndecomposed, nexamples;
    struct note_rule *notes;
    struct note_rule *torch;   /* the torch op in the model's source: the first that holds */
    struct note_rule *call;    /* the arguments of the fused op as it is called in Python */
    struct note_rule *undone;  /* the compiler had fused it and decomposed it again, which an option prevents */
    struct note_rule *block;   /* reasons not to fuse (unsafe, disabled); where one holds the match is hidden */
    struct note_rule *outside; /* inputs for which the fused op may differ; in the notes and left out of the proof */
    const struct number *
        *decomposed; /* the compiler took the op apart for a reason of the op; where one holds the match is hidden */
    struct example *examples;
    uint32_t locate[MOST_NAMES]; /* slots whose locations and names tell where in the model the match is, best first */
    uint32_t nlocate;
    uint32_t escapes[MOST_NAMES]; /* slots whose results may be used outside of the match */
    uint32_t nescapes;
    uint32_t beside[MOST_NAMES]; /* slots that other fused ops may take, too: then they run beside this one */
    uint32_t nbeside;
    uint32_t positive[MOST_NAMES]; /* slots whose values are assumed to be positive; stated in the notes */
    uint32_t npositive;
    uint32_t
        replicated[MOST_NAMES]; /* slots whose values are assumed to be the same on each device; stated in the notes */
    uint32_t nreplicated;
    struct holding holds[8]; /* further assumptions on variables; stated in the notes */
    uint32_t nholds;
    bool gridded;                       /* its kernel cuts rows and columns of tiles along the sides of the grid */
    bool show_blocked, show_decomposed; /* --include */
    bool selected;                      /* by --only and --skip */
    bool tests_read;                    /* the file of tests beside its own */
    bool replaced;                      /* by a later one of the same name, or switched off */
    bool is_variant;                    /* has the formula of another pattern (`like`) and is searched with it */
    struct pattern *variant;            /* the next variant of the same formula */
    struct pattern *variant_of;         /* the pattern whose formula it is; NULL unless is_variant */
    struct pattern *replaces;           /* the earlier one of the same name, or NULL */
    struct pattern *next_retired;
};

/* How a model location is read out of a parameter's name: what matches is removed (strip), or gives a text. */
struct location_rule {
    const struct regex *regex;
    bool strip;
    struct str say; /* $1 stands for the first group */
};

/* An op that a module has only where something was fused. */
struct fusing_sign {
    struct str op;     /* a glob over op names */
    uint32_t operands; /* at least */
};

struct pattern_set {
    uint64_t max_steps; /* of the search for one pattern at one op; 0: the default */
    bool no_examples;   /* `tests` are skipped */
    struct arena arena;
    void *image; /* of the bundled ones (image.h), which this set owns; or NULL */
    size_t image_size;
    struct idioms idioms;
    struct condition_parts conditions;
    struct pattern **items;
    uint32_t n, cap;
    struct pattern *retired;              /* those that were replaced or switched off, by next_retired */
    struct pattern **rooted;              /* those with a formula of their own, by the operator of their root */
    uint32_t first_rooted[OPERATORS + 1]; /* operator k: from first_rooted[k] to before first_rooted[k + 1] */
    struct net net;                       /* of all formulas */
    uint32_t nread;                       /* patterns read that replaced none: the next `order` */
    struct location_rule *locations;
    uint32_t nlocations, locations_cap;
    struct str library; /* ops of TTNN's library: names without "ttnn.", between blanks */
    struct fusing_sign *signs;
    uint32_t nsigns, signs_cap;
    struct demand *demands;
    uint32_t ndemands, demands_cap;
    struct compiler_pass *passes;
    uint32_t npasses, passes_cap;
    struct compiler_option *options;
    uint32_t noptions, options_cap;
    struct compiler_facts facts;
    struct str version; /* of the compiler that they were taken from: "tt-mlir 19c86fca45ae (2026-08-21)" */
    struct unchecked *unchecked;
    uint32_t nunchecked, unchecked_cap;
    struct lowering *lowerings; /* what fused ops compute (lowering.h) */
    uint32_t nlowerings, lowerings_cap;
    struct pattern beside[2]; /* what --only and --skip name and is found otherwise: regions (choose.h) */
    uint32_t nbeside;
    struct idioms lowered; /* lowerings of fused ops that are no op of a dialect: in formulas they are idioms */
};

/* Demands on the fused op speak of an operand by its role, as `bias`, which the pattern calls otherwise, so that they
 * are not looked at: the first such role, and the name that the pattern has for it. */
bool demand_missed(const struct pattern_set *set, const struct pattern *p, struct str *role, struct str *name);
/* The last of this name, or NULL. */
const struct compiler_pass *find_pass(const struct pattern_set *set, struct str name);
/* Of the compiler that claims on a pass were taken from; or empty. */
struct str version_of_pass(const struct pattern_set *set, struct str name);

/* Values of the key `source`. */
enum { PATTERN_SOURCES = 4 };
extern const char *const pattern_sources[PATTERN_SOURCES];
/* TTNN has the fused op: the source is ttnn. Else the pattern is theoretical. */
static inline bool pattern_is_direct(const struct pattern *p) {
    return str_is(p->source, pattern_sources[0]);
}

/* A part of a sentence "softmax(scores[mask|penalty: + mask])": it stands only where the formula has bound one of
 * `names`, which bars separate; always where there are none. */
struct summary_part {
    struct str names, text;
};
struct summary_part next_summary_part(struct str *rest);

/* How near a direct fusion is: the dialect has the fused op, its op lacks an operand or attribute, or only the library
 * of TTNN has the op; elsewhere: it is none. */
enum pattern_reach { REACH_DIALECT, REACH_OPERAND, REACH_LIBRARY, REACH_ELSEWHERE };
static inline enum pattern_reach pattern_reach(const struct pattern *p) {
    return !pattern_is_direct(p)                 ? REACH_ELSEWHERE
           : !str_is(p->status.level, "library") ? REACH_DIALECT
           : p->status.lacks.n                   ? REACH_OPERAND
                                                 : REACH_LIBRARY;
}

/* What the dialect lacks of a direct fusion: "activations"; empty, where it lacks nothing. */
#define LACKS_OP STR("the op")
static inline struct str pattern_lacks(const struct pattern *p) {
    return pattern_reach(p) == REACH_OPERAND ? p->status.lacks : pattern_reach(p) == REACH_LIBRARY ? LACKS_OP : STR("");
}

/* Reads one file, or all *.yml of a directory in order of name, their shared sections first. A pattern replaces an
 * earlier one of the same name, which stays in the list, marked, where variants have its formula. False with
 * diagnostics; the patterns before the first error are in the set then. */
bool patterns_load(struct pattern_set *set, const char *path, struct diags *d);
/* The directory that goes with the program, of which there is an image (image.h). */
bool patterns_load_bundled(struct pattern_set *set, const char *directory, struct diags *d);
/* Of the names and the bytes of the files that it reads of a directory; 0: one cannot be read. */
uint64_t patterns_hash(const char *directory);
/* Reads the file of tests beside that of a pattern, once. False with diagnostics. */
bool patterns_load_tests(struct pattern_set *set, const struct pattern *of, struct diags *d);
/* Reads the text of one pattern; `name` stands for the file in diagnostics. NULL with diagnostics. */
const struct pattern *patterns_load_text(struct pattern_set *set, const char *name, struct str text, struct diags *d);
/* Whether it was another. What stays as it is in an image (image.h) takes no memory of its own. */
static inline bool set_flag(bool *flag, bool now) {
    bool other = *flag != now;
    if (other)
        *flag = now;
    return other;
}
/* Selects by --only and --skip: comma-separated globs over names and fused ops; NULL: all, none. False with the glob
 * that matches nothing in `bad`. */
bool patterns_select(struct pattern_set *set, const char *only, const char *skip, struct str *bad);
/* Sorts the selected patterns by the operators of their roots, for match_function. Loading and selecting see to it;
 * whoever fills `items` directly has to, and frees `rooted`. */
void patterns_index(struct pattern_set *set);
void patterns_free(struct pattern_set *set);

#endif
