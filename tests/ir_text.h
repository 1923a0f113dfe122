/* IR snippets as modules with a graph, for the tests of the folders from graph on. */
#ifndef FA_TEST_IR_TEXT_H
#define FA_TEST_IR_TEXT_H

#include "ir/graph/graph.h"

struct ir {
    char *text;
    struct arena arena;
    struct diags diags;
    struct source source;
    struct log_block block;
    struct mlir m;
    struct graph g;
};

/* Reads a module; what cannot be parsed or is used undefined fails the test. */
void ir_read(struct ir *ir, const char *text);
/* The same for the body of `func.func @main(args)`; the text names its own return if it needs one. */
void ir_main(struct ir *ir, const char *args, const char *body);
/* The same of IR in short (patterns/library/shorthand.h), f32 where no element type is written: "func main ARGS" and
 * the ops, behind which there may be more functions. */
void ir_short(struct ir *ir, const char *args, const char *ops);
/* The same for text that is wrong on purpose. */
void ir_read_bad(struct ir *ir, const char *text);
void ir_free(struct ir *ir);

/* The value of that name ("%5", "%5#1"), the first one in the text; fails the test when there is none. */
uint32_t ir_value(const struct ir *ir, const char *name);
uint32_t ir_op(const struct ir *ir, const char *result);                 /* the op that makes it */
uint32_t ir_op_named(const struct ir *ir, const char *name, uint32_t n); /* the n-th op of that spelling */
uint32_t ir_func(const struct ir *ir, const char *name);
enum op_kind ir_kind(const struct ir *ir, const char *result);

#endif
