/* What the compiler has had since which day, and until which: `compiler`, `had` and `prints` of pattern files, which
 * scripts/compiler-facts.py makes of its history. Days are texts, "2026-06-02", which compare as they are; empty: not
 * known. */
#ifndef FA_HISTORY_H
#define FA_HISTORY_H

#include "base/base.h"

/* A pass, a pattern or an option; the other two names are empty. */
struct fact {
    struct str pass, pattern, option;
    struct str since, until;          /* until: the day on which it was gone; empty: it is there */
    struct str dump;                  /* of a pass: what its dumps call it */
    struct str defaults, xla_default; /* of an option: "2025-05-05 false, 2025-07-29 true"; of tt-xla */
    struct str xla;                   /* its name in the compile options of tt-xla; or empty */
};

/* Ops of a dialect, or what such ops have: one of attributes, an operand or a number of results. */
struct print_fact {
    struct str since, until;
    struct str attributes, operand, results; /* names between blanks */
    struct str ttir, ttnn;
};

/* Days between which a compiler was made: from `since` on, before `before`; each may be empty. */
struct day_span {
    struct str since, before;
};

struct compiler_facts {
    struct fact *had;
    uint32_t nhad, had_cap;
    struct print_fact *prints;
    uint32_t nprints, prints_cap;
};

const struct fact *fact_of_pass(const struct compiler_facts *f, struct str name);
const struct fact *fact_of_pattern(const struct compiler_facts *f, struct str name);
/* Of "optimization-level=1" or "optimization-level". NULL: there is none. */
const struct fact *fact_of_option(const struct compiler_facts *f, struct str option);
/* It came on the last of these days, or behind. */
bool fact_is_younger(const struct fact *f, struct day_span s);
/* It is there whichever day of these it was. */
bool fact_is_there(const struct fact *f, struct day_span s);

/* Whether an option has a value by default. */
enum by_default { DEFAULT_OPEN, DEFAULT_NO, DEFAULT_YES };
enum by_default fact_default(const struct fact *f, struct str value, struct day_span s, bool xla);
/* The word is among the words of a list. */
bool word_among(struct str list, struct str word);

#endif
