/* The room that evaluates: number formats, tensors, ops, formulas.
 *
 * - format.h        what an element type keeps of a number
 * - tensor.h        tensors, views, and the bench that owns them
 * - interpret.h     one op on tensors
 * - formula_value.h formulas, and fused ops by their lowering (library/lowering.h)
 *
 * Shapes. A tensor is dense and row-major, of rank 12 at most; a scalar has rank 0. Operands broadcast from the right.
 * A shape that the text tells of a result and the evaluation does not yield is an error.
 *
 * Numbers are doubles. In EXACT arithmetic they stay so: only results of integer type drop their fraction and wrap or
 * saturate, and constants are what their type holds. In DEVICE arithmetic each result is rounded to its element type as
 * the packer rounds, and a matrix product runs by the math fidelity and accumulator that are printed on the op, or else
 * by TTNN's defaults; what happens inside of other ops is exact. Formulas and lowerings are exact inside; the caller
 * rounds what comes out.
 *
 * Collectives. A bench with a mesh is that of one device of several, and what they exchange comes from the mesh;
 * without one they have no evaluator.
 *
 * Ownership. All tensors live in the arena of the bench; nothing is freed one by one. Tensors that are given are not
 * changed and may be shared with results. Nothing here is global: two benches may work in two threads.
 *
 * Errors. A function that fails returns false or NULL and leaves the first reason in `bench.error`: an op without
 * evaluator, a missing operand or attribute, shapes that do not fit, an integer divided by 0, an index out of range,
 * more than max_elements or max_steps. A float divided by 0 is an infinity or a NaN: whoever compares decides.
 *
 * Sources. Ops: the TTIR and TTNN op definitions of tt-mlir (August 2026) and the golden functions of its builder.
 * Formats: the Tenstorrent ISA documentation and tt-metal's blockfloat_common.cpp. Each lowering names its own. */
#ifndef FA_NUMERIC_H
#define FA_NUMERIC_H

#include "numeric/format.h"
#include "numeric/formula_value.h"
#include "numeric/interpret.h"
#include "numeric/tensor.h"

#endif
