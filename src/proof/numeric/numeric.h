/* All of the folder that evaluates: ops and formulas on tensors whose elements are computed on demand (proof/value).
 *
 * - call.h          one op: operands, attributes, declared results
 * - interpret.h     evaluates one op, a fused one by its lowering
 * - interpret_graph.h evaluates values of a graph
 * - formula_value.h evaluates formulas, and fused ops by their lowering (patterns/library/lowering.h)
 *
 * Shapes. A tensor has rank 12 at most; a scalar has rank 0. Operands broadcast from the right. Where the text declares
 * the shape of a result, an evaluation that yields another one is an error.
 *
 * Numbers are doubles. In exact arithmetic they stay so: only results of integer type are rounded (they drop the
 * fraction and wrap or saturate), and constants are what their type holds. In device arithmetic each result is rounded
 * to its element type as the packer rounds; a matrix product runs by the math fidelity and accumulator that the op
 * prints, or else by TTNN's defaults; all other arithmetic inside of an op is exact. Formulas and lowerings are exact
 * inside; the caller rounds the result.
 *
 * Collectives. A context with a mesh evaluates one device of several; the mesh supplies the operands of the others.
 * Without a mesh collectives have no evaluator.
 *
 * Ownership. All tensors live in the arena of the context. Operands are not changed; results may share elements with
 * them. There is no global state: two contexts may be used in two threads.
 *
 * Errors. Evaluators and formulas do not return from where they fail: interpret() and formula_value() do, with false
 * and the first reason in `context.error` (eval_attempt). Reasons are an op without evaluator, a missing operand or
 * attribute, shapes that do not fit, more than max_elements; of elements (proof/value/evaluate.h) an index out of
 * range. What is divided by 0 is an infinity or a NaN: whoever compares decides.
 *
 * Sources. Ops: the TTIR and TTNN op definitions of tt-mlir (August 2026) and the golden functions of its builder.
 * Formats: the Tenstorrent ISA documentation and tt-metal's blockfloat_common.cpp. Each lowering names its own. */
#ifndef FA_NUMERIC_H
#define FA_NUMERIC_H

#include "proof/numeric/formula_value.h"
#include "proof/numeric/interpret.h"
#include "proof/value/format.h"
#include "proof/value/tensor.h"

#endif
