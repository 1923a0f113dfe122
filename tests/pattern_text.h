/* Patterns as text and what they find in a module, for the tests of the folders from pattern on: one set, one module.
 */
#ifndef FA_TEST_PATTERN_TEXT_H
#define FA_TEST_PATTERN_TEXT_H

#include "ir_text.h"
#include "search/match/match.h"

extern struct arena arena;
extern struct diags diags;
extern struct pattern_set set;
extern struct ir ir;
extern struct match_list list; /* what was found in `ir` */

/* Before and after each test: all of them are empty. */
void search_setup(void);
void search_teardown(void);
/* The module, and what was found in it. */
void forget_ir(void);

/* One pattern, or several documents; earlier ones are forgotten, and the module. What is wrong fails the test. */
void pattern_file(const char *yaml);
/* The same of "formula lines" and any other keys: pattern p, which is ttnn.p. */
void pattern(const char *match, const char *keys);
/* All places in all functions of another module (ir_short): their number. */
uint32_t search_all(const char *args, const char *ops);
uint32_t search_text(const char *text); /* the same of MLIR */

#endif
