/* C++ as the compiler writes it: names of classes and accessors of its dialects, lines of 80 columns. */
#ifndef FA_PASS_CPP_H
#define FA_PASS_CPP_H

#include "ir/graph/graph.h"

/* "RMSNormOp" of "ttir.rms_norm"; empty: the op has no class of its own. */
struct str cpp_class(struct str op, struct arena *a);
/* "rmsNorm" of "rms_norm", "RmsNorm" with `upper`. */
struct str cpp_camel(struct str name, bool upper, struct arena *a);
/* "getLhs()", "->getOperand(3)" where the role has no name of its own; with the sign before it. */
struct str cpp_operand(enum op_kind k, uint32_t i, struct arena *a);
/* "input_mask" of the second operand of a group norm. */
const char *cpp_operand_name(enum op_kind k, uint32_t i);
/* Names of operands and attributes of an op in the order of its builder, by spaces; NULL: operands, then attributes as
 * they are printed. */
const char *cpp_builder(enum op_kind k);
/* The type of an attribute in the operator table: "i64s"; empty: it is not there. */
struct str cpp_attribute_type(enum op_kind k, struct str key);
/* The shortest text that is this number, with a point. */
struct str cpp_number(double x, struct arena *a);
struct str cpp_float(double x, struct arena *a);

/* A statement with its indent, broken where a line is too long. */
void cpp_put(struct buf *b, uint32_t indent, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A comment of whole lines. */
void cpp_comment(struct buf *b, uint32_t indent, struct str text);

#endif
