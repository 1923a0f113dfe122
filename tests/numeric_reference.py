#!/usr/bin/python3
"""Makes fixtures/numeric/*.json: ops with operands and the results that NumPy computes.

    /usr/bin/python3 tests/numeric_reference.py fixtures/numeric

The semantics are those of the TTIR and TTNN op definitions, written here with NumPy alone and without a look at the
interpreter, so that test_numeric_ops.c can compare the two. Each line is one op as it is printed in IR."""
import json
import math
import sys
from itertools import product
from pathlib import Path

import numpy as np

rng = np.random.default_rng(20261121)
files = {}


def rand(*shape, low=-2.0, high=2.0):
    return np.round(rng.uniform(low, high, shape), 3)


def ints(*shape, low=0, high=8):
    return rng.integers(low, high, shape).astype(float)


def number(x):
    x = float(x)
    return x if math.isfinite(x) else repr(x)


def tensor(x):
    if x is None:
        return None
    x, kind = x if isinstance(x, tuple) else (x, "f32")
    x = np.asarray(x, dtype=float)
    return {"type": "x".join([str(d) for d in x.shape] + [kind]), "data": [number(v) for v in x.ravel()]}


def case(file, op, attrs, operands, *results):
    files.setdefault(file, []).append(
        {"op": op, "attrs": attrs, "operands": [tensor(x) for x in operands], "results": [tensor(x) for x in results]})


def both(file, op, attrs, operands, *results):
    for dialect in ("ttir", "ttnn"):
        case(file, f"{dialect}.{op}", attrs, operands, *results)


# ---- elementwise ----

erf = np.vectorize(math.erf)
sigmoid = lambda x: 1 / (1 + np.exp(-x))
UNARY = {
    "abs": np.abs, "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos, "erf": erf, "erfc": np.vectorize(math.erfc),
    "exp": np.exp, "expm1": np.expm1, "floor": np.floor, "gelu": lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2))),
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6, "isfinite": lambda x: np.isfinite(x) * 1.0,
    "logical_not": lambda x: (x == 0) * 1.0, "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), "neg": np.negative,
    "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "sigmoid": sigmoid, "sign": np.sign,
    "silu": lambda x: x * sigmoid(x), "sin": np.sin, "square": np.square, "tanh": np.tanh, "asinh": np.arcsinh,
    "atan": np.arctan, "exp2": np.exp2, "frac": lambda x: x - np.trunc(x), "trunc": np.trunc, "tan": np.tan,
    "signbit": lambda x: np.signbit(x) * 1.0, "softsign": lambda x: x / (1 + np.abs(x)), "reciprocal": lambda x: 1 / x,
}
special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 7.5, -7.5, 1.0])
for name, f in UNARY.items():
    x = rand(2, 5, low=-7, high=7)
    case("elementwise", f"ttir.{name}", "", [x], f(x))
with np.errstate(all="ignore"):
    for name in ("isfinite", "logical_not", "sign", "relu", "abs", "signbit", "exp", "tanh", "sigmoid"):
        case("elementwise", f"ttir.{name}", "", [special], UNARY[name](special))
for name, f in {"sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "log": np.log, "log1p": np.log1p}.items():
    x = rand(7, low=0.01, high=9)
    both("elementwise", name, "", [x], f(x))
for name, f in {"acos": np.arccos, "asin": np.arcsin}.items():
    x = rand(6, low=-1, high=1)
    both("elementwise", name, "", [x], f(x))
x = rand(2, 4)
both("elementwise", "leaky_relu", "parameter = 2.500000e-01 : f32", [x], np.where(x > 0, x, 0.25 * x))
case("elementwise", "ttnn.unary_chain", 'activation = "silu"', [x], UNARY["silu"](x))
case("elementwise", "ttir.selu", "", [x],
     1.0507009873390197 * np.where(x > 0, x, 1.6732635498046875 * (np.exp(x) - 1)))
case("elementwise", "ttir.selu", "scale = 2.0 : f32, alpha = 0.5 : f32", [x],
     2 * np.where(x > 0, x, 0.5 * (np.exp(x) - 1)))
g = rand(2, 4)
step = 1e-5
for how, f in {"none": UNARY["gelu"],
               "tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))}.items():
    # the slope by Richardson's extrapolation of central differences, in extended precision
    e = np.longdouble(2e-3)
    if how == "none":
        continue
    xl = x.astype(np.longdouble)
    d = [(f(xl + h) - f(xl - h)) / (2 * h) for h in (e, e / 2, e / 4, e / 8)]
    while len(d) > 1:
        order = 4 ** (5 - len(d))
        d = [(order * b - a) / (order - 1) for a, b in zip(d, d[1:])]
    both("elementwise", "gelu_bw", f'approximate = "{how}"', [g, x], (g * d[0]).astype(float))
pdf = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
both("elementwise", "gelu_bw", 'approximate = "none"', [g, x], g * (0.5 * (1 + erf(x / np.sqrt(2))) + x * pdf))

BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "eq": np.equal, "ne": np.not_equal, "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "remainder": np.remainder, "atan2": np.arctan2,
}
for name, f in BINARY.items():
    a, b = np.round(rand(2, 1, 4)), np.round(rand(3, 1))
    b[b == 0] = 1 if name == "remainder" else 0
    both("elementwise", name, "", [a, b], f(a, b) * 1.0)
a, b = rand(2, 3), rand(3, low=0.5, high=3)
case("elementwise", "ttir.div", "", [a, b], a / b)
case("elementwise", "ttnn.divide", "", [a, b], a / b)
case("elementwise", "ttir.pow", "", [b, a], b ** a)
case("elementwise", "ttnn.pow_tensor", "", [b, a], b ** a)
case("elementwise", "ttnn.pow_scalar", "rhs = 3 : i32", [a], a ** 3)
case("elementwise", "ttnn.pow_scalar", "rhs = -5.000000e-01 : f32", [b], b ** -0.5)
p, q = ints(2, 4, low=0, high=200), ints(4, low=0, high=200)
for name, f in {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}.items():
    both("elementwise", name, "", [(p, "si32"), (q, "si32")], (f(p.astype(int), q.astype(int)), "si32"))
case("elementwise", "ttir.bitwise_not", "", [(p, "si32")], (~p.astype(int), "si32"))
case("elementwise", "ttir.bitwise_not", "", [(p, "ui32")], ((~p.astype(np.uint32)).astype(float), "ui32"))
n = ints(2, 4, low=0, high=9)
signed = p - 100
both("elementwise", "logical_left_shift", "", [(p, "si32"), (n, "si32")], (p * 2 ** n, "si32"))
both("elementwise", "logical_right_shift", "", [(signed, "si32"), (n, "si32")],
     ((signed.astype(np.int32).view(np.uint32) >> n.astype(np.uint32)).view(np.int32).astype(float), "si32"))
case("elementwise", "ttir.right_shift", "", [(signed, "si32"), (n, "si32")], (signed.astype(int) >> n.astype(int), "si32"))
case("elementwise", "ttir.div", "", [(signed, "si32"), (n + 1, "si32")], (np.trunc(signed / (n + 1)), "si32"))
big = np.array([2.0 ** 31 - 1, -2.0 ** 31, 5.0])
case("elementwise", "ttir.add", "", [(big, "si32"), (np.array([1.0, -1.0, 2.0]), "si32")],
     (np.array([-2.0 ** 31, 2.0 ** 31 - 1, 7.0]), "si32"))
c, a, b = ints(2, 3, high=2), rand(3), rand(2, 1)
both("elementwise", "where", "", [c, a, b], np.where(c != 0, a, b))
x, low, high = rand(2, 3), rand(3, low=-1, high=0), rand(2, 1, low=0, high=1)
both("elementwise", "clamp_tensor", "", [x, low, high], np.clip(x, low, high))
both("elementwise", "clamp_scalar", "max = 7.500000e-01 : f32, min = -2.500000e-01 : f32", [x], np.clip(x, -0.25, 0.75))
x = rand(2, 4, low=-300, high=300)
both("elementwise", "typecast", "", [x], x)
both("elementwise", "typecast", "", [x], (np.trunc(x), "si32"))
both("elementwise", "typecast", "", [np.round(x / 200)], (np.round(x / 200) != 0, "i1"))
case("elementwise", "ttnn.to_layout", "", [x], x)

# ---- reductions ----

x = rand(2, 3, 4)
REDUCE = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}
for name, f in REDUCE.items():
    both("reductions", name, "dim_arg = [-1 : i32], keep_dim = true", [x], f(x, axis=-1, keepdims=True))
    both("reductions", name, "dim_arg = [0 : i32, 2 : i32], keep_dim = false", [x], f(x, axis=(0, 2)))
    both("reductions", name, "keep_dim = false", [x], f(x))
    both("reductions", name, "keep_dim = true", [x], f(x, keepdims=True))
case("reductions", "ttir.prod", "dim_arg = [1 : i32], keep_dim = false", [x], x.prod(axis=1))
case("reductions", "ttnn.prod", "dim_arg = 1 : si64, keep_dim = true", [x], x.prod(axis=1, keepdims=True))
bits = ints(2, 3, 4, high=2)
case("reductions", "ttir.reduce_or", "dim_arg = [2 : i32], keep_dim = false", [bits], bits.any(axis=2) * 1.0)
case("reductions", "ttir.reduce_and", "dim_arg = [2 : i32], keep_dim = false", [bits], bits.all(axis=2) * 1.0)
t = np.round(x)
case("reductions", "ttir.argmax", "dim_arg = [1 : i32], keep_dim = false", [t], (t.argmax(axis=1), "si32"))
case("reductions", "ttir.argmax", "dim_arg = [2 : i32, 0 : i32], keep_dim = false", [t],
     (t.transpose(1, 2, 0).reshape(3, 8).argmax(axis=1), "si32"))
case("reductions", "ttir.argmax", "keep_dim = false", [t], (np.asarray(t.argmax()), "si32"))
case("reductions", "ttnn.argmax", "dim = -1 : si32, keep_dim = true", [t], (t.argmax(axis=-1)[..., None], "si32"))
both("reductions", "cumsum", "dim = 1 : si32", [x], x.cumsum(axis=1))
both("reductions", "cumprod", "dim = -1 : si32", [x], x.cumprod(axis=-1))
case("reductions", "ttnn.moreh_cumsum", "dim = 0 : i64", [x], x.cumsum(axis=0))
img = rand(2, 3, 4, 5)
both("reductions", "global_avg_pool2d", "", [img], img.mean(axis=(1, 2), keepdims=True))

# ---- products ----

a, b = rand(2, 1, 3, 4), rand(5, 4, 2)
both("products", "matmul", "transpose_a = false, transpose_b = false", [a, b], a @ b)
both("products", "matmul", "transpose_a = true, transpose_b = true", [a.swapaxes(-1, -2), b.swapaxes(-1, -2)], a @ b)
both("products", "matmul", "", [rand(4) * 0 + 1, b], np.ones(4) @ b)
v = rand(4)
both("products", "matmul", "", [v, v], v @ v)
both("products", "matmul", "", [a, v], a @ v)
both("products", "matmul", "transpose_b = true", [v, b.swapaxes(-1, -2)], v @ b)
case("products", "ttnn.matmul", 'activation = "relu"', [a, b], np.maximum(a @ b, 0))
case("products", "ttnn.matmul",
     "matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_program_config<in0_block_w = 2, "
     "fused_activation = <op_type = gelu>>", [a, b], UNARY["gelu"](a @ b))
a, b, bias = rand(3, 4), rand(4, 5), rand(5)
both("products", "linear", "", [a, b, bias], a @ b + bias)
both("products", "linear", "", [a, b], a @ b)
case("products", "ttnn.linear", 'activation = "silu", transpose_b = true', [a, b.T, bias], UNARY["silu"](a @ b + bias))
a, b = rand(2, 3, 4, 5), rand(5, 2, 6, 4)
case("products", "ttir.dot_general",
     "batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 1>, contract_dims_lhs = array<i64: 3, 2>, "
     "contract_dims_rhs = array<i64: 0, 3>", [a, b], np.einsum("bmkl,lbnk->bmn", a, b))
a, b = rand(3, 4), rand(4, 2, 5)
case("products", "ttir.dot_general",
     "batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, "
     "contract_dims_rhs = array<i64: 0>", [a, b], np.einsum("mk,knp->mnp", a, b))
case("products", "ttir.dot_general", "batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, "
     "contract_dims_lhs = array<i64>, contract_dims_rhs = array<i64>", [v, v], np.outer(v, v))

# ---- norms ----


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


x = rand(2, 3, 4, low=-9, high=9)
both("norms", "softmax", "dimension = -1 : si32, numericStable = true", [x], softmax(x, -1))
both("norms", "softmax", "dimension = 1 : si32, numericStable = false", [x], softmax(x, 1))
both("norms", "softmax", "dimension = 2 : si32, numericStable = true", [x * 100], softmax(x * 100, 2))
masked = x.copy()
masked[0, 1, 2:] = -np.inf
both("norms", "softmax", "dimension = 2 : si32, numericStable = true", [masked], softmax(masked, 2))


def layer_norm(x, axes, eps, w=1.0, b=0.0):
    c = x - x.mean(axis=axes, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=axes, keepdims=True) + eps) * w + b


def rms_norm(x, axes, eps, w=1.0, b=0.0):
    return x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + eps) * w + b


def f32(x):
    """What the text of an attribute of this type means."""
    return float(np.float32(x))


SEG3 = "operandSegmentSizes = array<i32: 1, 1, 1>"
w2, b2, w1, b1 = rand(3, 4), rand(3, 4), rand(4), rand(4)
for name, f in {"layer_norm": layer_norm, "rms_norm": rms_norm}.items():
    case("norms", f"ttir.{name}", f"epsilon = 1.0e-02 : f32, normalized_shape = array<i64: 3, 4>, {SEG3}", [x, w2, b2],
         f(x, (1, 2), f32(0.01), w2, b2))
    case("norms", f"ttir.{name}", "normalized_shape = array<i64: 4>, operandSegmentSizes = array<i32: 1, 0, 0>",
         [x * 0.01, None, None], f(x * 0.01, 2, 1e-5))
    case("norms", f"ttnn.{name}", f"epsilon = 1.0e-02 : f32, {SEG3}", [x, w1, b1], f(x, 2, f32(0.01), w1, b1))
    case("norms", f"ttnn.{name}", "operandSegmentSizes = array<i32: 1, 0, 1>", [x * 1e-3, None, b1],
         f(x * 1e-3, 2, 1e-12, 1.0, b1))
r = rand(2, 3, 4)
case("norms", "ttir.distributed_rms_norm",
     "cluster_axis = 1 : ui32, epsilon = 1.0e-03 : f32, operandSegmentSizes = array<i32: 1, 1, 1>", [x, w1, r],
     rms_norm(x + r, 2, f32(1e-3), w1))
case("norms", "ttir.distributed_layer_norm",
     "cluster_axis = 1 : ui32, epsilon = 1.0e-03 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1>", [x, w1, b1, r],
     layer_norm(x + r, 2, f32(1e-3), w1, b1))
case("norms", "ttnn.distributed_rms_norm",
     "cluster_axis = 1 : ui32, epsilon = 1.0e-03 : f32, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>",
     [x, w1.reshape(2, 2), None, None, None], rms_norm(x, 2, f32(1e-3), w1))
case("norms", "ttnn.dit_rms_norm_unary_fused",
     'activation = "silu", epsilon = 1.0e-03 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1>', [x, w1, b1, r],
     UNARY["silu"](rms_norm(x + r, 2, f32(1e-3), w1, b1)))
img = rand(2, 6, 3, 2)
scale, shift = rand(6), rand(6)
t = img.reshape(2, 3, 2, 3, 2)
t = layer_norm(t, (2, 3, 4), f32(1e-5)).reshape(img.shape) * scale[:, None, None] + shift[:, None, None]
SEG4 = "operandSegmentSizes = array<i32: 1, 0, 1, 1>"
case("norms", "ttir.group_norm", f"channel_dim = 1 : i64, epsilon = 1.0e-05 : f32, num_groups = 3 : i64, {SEG4}",
     [img, None, scale, shift], t)
flat = img.transpose(0, 2, 3, 1).reshape(2, 1, 6, 6)
case("norms", "ttnn.group_norm", f"epsilon = 1.0e-05 : f32, num_groups = 3 : i64, {SEG4}",
     [flat, None, scale.reshape(1, 1, 1, 6), shift.reshape(1, 1, 1, 6)], t.transpose(0, 2, 3, 1).reshape(2, 1, 6, 6))
mean, var = rand(6), rand(6, low=0.1, high=2)
cols = lambda v: v.reshape(1, 6, 1, 1)
t = (img - cols(mean)) / np.sqrt(cols(var) + f32(1e-3)) * cols(scale) + cols(shift)
case("norms", "ttir.batch_norm_inference", "dimension = 1 : i32, epsilon = 1.0e-03 : f32",
     [img, scale, shift, mean, var], t)
last = lambda v: v.transpose(0, 2, 3, 1)
case("norms", "ttir.batch_norm_inference", "dimension = 3 : i32, epsilon = 1.0e-03 : f32",
     [last(img), scale, shift, mean, var], last(t))
case("norms", "ttnn.batch_norm_inference",
     "epsilon = 1.0e-03 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>",
     [img, cols(mean), cols(var), cols(scale), cols(shift)], t)
case("norms", "ttnn.batch_norm_inference",
     "epsilon = 1.0e-03 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>",
     [img, cols(mean), cols(var), cols(shift)], (img - cols(mean)) / np.sqrt(cols(var) + f32(1e-3)) + cols(shift))

# ---- movement ----

x = rand(2, 3, 4)
both("movement", "reshape", "shape = [4 : i32, 6 : i32]", [x], x.reshape(4, 6))
case("movement", "ttir.squeeze", "dim = 1 : si32", [x[:, None]], x)
case("movement", "ttir.unsqueeze", "dim = 0 : si32", [x], x[None])
both("movement", "permute", "permutation = array<i64: 2, 0, 1>", [x], x.transpose(2, 0, 1))
both("movement", "transpose", "dim0 = -1 : si32, dim1 = 0 : si32", [x], x.swapaxes(-1, 0))
case("movement", "ttir.broadcast", "broadcast_dimensions = array<i64: 1, 5, 1>", [x[:, :1]],
     np.broadcast_to(x[:, :1], (2, 5, 4)))
case("movement", "ttir.repeat", "repeat_dimensions = array<i64: 2, 1, 3>", [x], np.tile(x, (2, 1, 3)))
case("movement", "ttnn.repeat", "repeat_dims = #ttnn.shape<2x1x3>", [x], np.tile(x, (2, 1, 3)))
case("movement", "ttnn.repeat", "repeat_dims = #ttnn.shape<5x1x2x1>", [x], np.tile(x, (5, 1, 2, 1)))
both("movement", "repeat_interleave", "dim = 1 : si32, repeats = 3 : ui32", [x], np.repeat(x, 3, axis=1))
both("movement", "repeat_interleave", "dim = -1 : si32, repeats = 2 : ui32", [x], np.repeat(x, 2, axis=-1))
y = rand(2, 2, 4)
both("movement", "concat", "dim = -2 : si32", [x, y, x], np.concatenate([x, y, x], axis=1))
s = rand(4, 6, 5)
both("movement", "slice_static", "begins = [1 : i32, -5 : i32, 0 : i32], ends = [4 : i32, 6 : i32, -1 : i32], "
     "step = [2 : i32, 1 : i32, 3 : i32]", [s], s[1:4:2, -5:6, 0:-1:3])
both("movement", "slice_dynamic", "step = [1 : i32, 2 : i32, 1 : i32]",
     [s, (np.array([0.0, 1, 2]), "si32"), (np.array([2.0, 6, 4]), "si32")], s[0:2, 1:6:2, 2:4])
both("movement", "slice_dynamic", "step = [1 : i32, 2 : i32, 1 : i32]",  # bounds that do not fit the result
     [s, (np.array([3.0, 9, 2]), "si32"), (np.array([9.0, -6, 4]), "si32")], s[2:4, 1:6:2, 2:4])
case("movement", "ttir.index", "begin = 1 : i32, dim = 1 : i32, end = 6 : i32, step = 2 : i32", [s], s[:, 1:6:2])
case("movement", "ttir.index_select", "begin = 1 : si32, dim = 1 : si32, length = 2 : si32, stride = 3 : si32", [s],
     s[:, [1, 2, 4, 5]])
case("movement", "ttir.index_select", "begin = 2 : si32, dim = 2 : si32, length = 2 : si32, stride = 0 : si32", [s],
     s[:, :, 2:4])
case("movement", "ttir.select", "begin = 0 : si32, dim = 0 : si32, length = 1 : si32, stride = 3 : si32", [s], s[[0, 3]])
both("movement", "pad", "padding = array<i32: 0, 1, 2, 0, 0, 0>, value = -3.0 : f32", [x],
     np.pad(x, ((0, 1), (2, 0), (0, 0)), constant_values=-3))
case("movement", "ttir.reverse", "dimensions = array<i64: 0, 2>", [x], x[::-1, :, ::-1])
both("movement", "full", "fill_value = -1.250000e+00 : f32, shape = array<i32: 2, 2>", [], np.full((2, 2), -1.25))
both("movement", "full", "fill_value = 0xFF800000 : f32, shape = array<i32: 2>", [], np.full(2, -np.inf))
both("movement", "full", "fill_value = 3 : i32, shape = array<i32: 2>", [], (np.full(2, 3.0), "si32"))
case("movement", "ttir.zeros", "shape = array<i32: 2, 3>", [], np.zeros((2, 3)))
case("movement", "ttnn.ones", "shape = #ttnn.shape<2x3>", [], np.ones((2, 3)))
case("movement", "ttir.arange", "arange_dimension = 1 : i64, end = 9 : si64, start = 1 : si64, step = 2 : si64", [],
     np.broadcast_to(np.arange(1, 9, 2)[None, :, None], (2, 4, 3)))
case("movement", "ttnn.arange", "end = 0 : si64, start = 5 : si64, step = -2 : si64", [], np.arange(5, 0, -2.0))
case("movement", "ttir.constant", "value = dense<[[1.5, -2.0], [0.25, 3.0]]> : tensor<2x2xf32>", [],
     np.array([[1.5, -2], [0.25, 3]]))
case("movement", "ttir.constant", "value = dense<2.5> : tensor<3xf32>", [], np.full(3, 2.5))
third = np.array([1 / 3, -0.1], dtype=np.float32)
case("movement", "ttir.constant", f'value = dense<"0x{third.tobytes().hex().upper()}"> : tensor<2xf32>', [], third)
case("movement", "ttir.constant", 'value = dense<"0x0D"> : tensor<6xi1>', [], (np.array([1.0, 0, 1, 1, 0, 0]), "i1"))
case("movement", "ttir.constant", "value = dense<[0.1, 0x7F80]> : tensor<2xbf16>", [],
     (np.array([0.10009765625, np.inf]), "bf16"))
case("movement", "ttir.constant", "value = dense<[true, false]> : tensor<2xi1>", [], (np.array([1.0, 0]), "i1"))
case("movement", "ttir.get_dimension_size", "dimension = 1 : i32", [x], (np.array([3.0]), "ui32"))

# ---- by index and in order ----

table = rand(7, 3)
index = ints(2, 4, high=7)
both("selection", "embedding", "", [(index, "ui32"), table], table[index.astype(int)])
both("selection", "embedding", "", [(index, "bf16"), table[None, None]], table[index.astype(int)])
x, at = rand(3, 5), ints(3, 2, high=5)
both("selection", "gather", "dim = 1 : i32", [x, (at, "ui32")], np.take_along_axis(x, at.astype(int), 1))
at = np.array([[0.0, 2, 4], [1, 1, 0]])
src = rand(2, 3)
t = x.copy()
np.put_along_axis(t[:2], at.astype(int), src, 1)
both("selection", "scatter", "dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>", [x, (at, "ui32"), src],
     t)
t = x.copy()
for i, j in product(range(2), range(3)):
    t[i, int(at[i, j])] += src[i, j]
both("selection", "scatter", "dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>", [x, (at, "ui32"), src], t)
x = np.round(rand(2, 6, 3))
up = np.argsort(x, axis=1, kind="stable")
down = np.argsort(-x, axis=1, kind="stable")
take = np.take_along_axis
both("selection", "sort", "descending = false, dim = 1 : si32, stable = true", [x], take(x, up, 1), (up, "si32"))
both("selection", "sort", "descending = true, dim = -2 : si32, stable = true", [x], take(x, down, 1), (down, "si32"))
x = rand(3, 6)
up, down = np.argsort(x, axis=-1), np.argsort(-x, axis=-1)
both("selection", "topk", "dim = -1 : i32, k = 2 : i32, largest = true, sorted = true", [x], take(x, down[:, :2], 1),
     (down[:, :2], "si32"))
both("selection", "topk", "dim = 1 : i32, k = 4 : i32, largest = false, sorted = true", [x], take(x, up[:, :4], 1),
     (up[:, :4], "si32"))

q = np.array([[-128.0, -90, -31, -5, -1], [0, 4, 62, 101, 127]])
for op in ("quantize", "dequantize"):
    x = np.round(q / 7, 3) if op == "quantize" else (q, "si8")
    y = np.clip(np.rint(x / 0.25) + 3, -128, 127) if op == "quantize" else (q - 3) * 0.25
    for name in (op, op + "_unrolled"):
        case("selection", f"ttir.{name}", "", [x, np.array([0.25]), (np.array([3.0]), "si32")],
             (y, "si8") if op == "quantize" else y)

# ---- windows ----


def pad2(x, pt, pl, pb, pr, value=0.0):
    return np.pad(x, ((0, 0), (pt, pb), (pl, pr), (0, 0)), constant_values=value)


def conv2d(x, w, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), groups=1):
    """x NHWC, w (O, C/groups, kH, kW), pad top, left, bottom, right."""
    x = pad2(x, *pad)
    o, cg, kh, kw = w.shape
    oh = (x.shape[1] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (x.shape[2] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((x.shape[0], oh, ow, o))
    for g in range(groups):
        wg = w[g * o // groups:(g + 1) * o // groups]
        for i, j in product(range(kh), range(kw)):
            patch = x[:, i * dilation[0]:, j * dilation[1]:, g * cg:(g + 1) * cg]
            patch = patch[:, :(oh - 1) * stride[0] + 1:stride[0], :(ow - 1) * stride[1] + 1:stride[1]]
            out[..., g * o // groups:(g + 1) * o // groups] += patch @ wg[:, :, i, j].T
    return out


def conv_transpose2d(x, w, stride, pad, dilation, groups, extra):
    """The adjoint of a convolution: each input adds its multiple of the window; w (C, O/groups, kH, kW)."""
    n, h, wd, c = x.shape
    _, og, kh, kw = w.shape
    full = np.zeros((n, (h - 1) * stride[0] + dilation[0] * (kh - 1) + 1 + extra[0],
                     (wd - 1) * stride[1] + dilation[1] * (kw - 1) + 1 + extra[1], og * groups))
    for y, z, i, j, ch in product(range(h), range(wd), range(kh), range(kw), range(c)):
        g = ch // (c // groups)
        full[:, y * stride[0] + i * dilation[0], z * stride[1] + j * dilation[1], g * og:(g + 1) * og] += (
            x[:, y, z, ch, None] * w[ch, :, i, j])
    return full[:, pad[0]:full.shape[1] - pad[2], pad[1]:full.shape[2] - pad[3]]


x, w, bias = rand(2, 5, 6, 4), rand(6, 2, 3, 2), rand(1, 1, 1, 6)
t = conv2d(x, w, (2, 1), (1, 0, 2, 1), (1, 2), 2)
case("windows", "ttir.conv2d", "dilation = array<i32: 1, 2>, groups = 2 : i32, padding = array<i32: 1, 0, 2, 1>, "
     "stride = array<i32: 2, 1>", [x, w, bias], t + bias)
case("windows", "ttir.conv2d", "batch_dim = 0 : i64, channel_dim = 1 : i64, height_dim = 2 : i64, width_dim = 3 : i64, "
     "dilation = array<i32: 1, 2>, groups = 2 : i32, padding = array<i32: 1, 0, 2, 1>, stride = array<i32: 2, 1>",
     [x.transpose(0, 3, 1, 2), w, bias.reshape(1, 6, 1, 1)], (t + bias).transpose(0, 3, 1, 2))
sizes = ("batch_size = 2 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 6 : i32, "
         "kernel_size = array<i32: 3, 2>, out_channels = 6 : i32, ")
flat = x.reshape(1, 1, 60, 4)
out = (t + bias).reshape(1, 1, -1, 6)
case("windows", "ttnn.conv2d", sizes + "dilation = array<i32: 1, 2>, groups = 2 : i32, "
     "padding = array<i32: 1, 2, 0, 1>, stride = array<i32: 2, 1>", [flat, w, bias], out)
case("windows", "ttnn.conv2d", sizes + "conv2d_config = #ttnn.conv2d_config<weights_dtype = bf16, "
     "activation = <op_type = relu>>, dilation = array<i32: 1, 2>, groups = 2 : i32, "
     "padding = array<i32: 1, 2, 0, 1>, stride = array<i32: 2, 1>", [flat, w, bias], np.maximum(out, 0))
dense = rand(6, 4, 3, 2)
prepared = dense.transpose(2, 3, 1, 0).reshape(1, 1, 24, 6)
case("windows", "ttnn.conv2d", sizes + "dilation = array<i32: 1, 1>, groups = 1 : i32, "
     "padding = array<i32: 1, 1>, stride = array<i32: 1, 1>", [flat, prepared],
     conv2d(x, dense, pad=(1, 1, 1, 1)).reshape(1, 1, -1, 6))
case("windows", "ttir.conv2d", "dilation = 1 : i32, groups = 1 : i32, padding = 1 : i32, stride = 2 : i32, "
     "flattened_compat_info = #ttir.flattened_compat<batch_size = 2, input_height = 5, input_width = 6>", [flat, dense],
     conv2d(x, dense, (2, 2), (1, 1, 1, 1)).reshape(1, 1, -1, 6))
depthwise = rand(4, 1, 3, 3)
case("windows", "ttir.conv2d", "dilation = 1 : i32, groups = 4 : i32, padding = array<i32: 1, 1>, stride = 1 : i32",
     [x, depthwise], conv2d(x, depthwise, pad=(1, 1, 1, 1), groups=4))
generic = ("batch_group_count = 1 : i64, convolution_layout = #ttir<convolution_layout input_batch = {}, input_feature = {}, "
           "input_spatial_dimensions = {}, kernel_output_feature = {}, kernel_input_feature = {}, "
           "kernel_spatial_dimensions = {}, output_batch = {}, output_feature = {}, output_spatial_dimensions = {}>, "
           "window_reversal = array<i1: false, false>, ")
t = conv2d(x, w, (2, 1), (1, 0, 2, 1), (1, 2), 2)
case("windows", "ttir.convolution", generic.format(0, 1, "2x3", 0, 1, "2x3", 0, 1, "2x3") +
     "feature_group_count = 2 : i64, input_dilation = array<i64: 1, 1>, padding = array<i64: 1, 2, 0, 1>, "
     "weight_dilation = array<i64: 1, 2>, window_strides = array<i64: 2, 1>", [x.transpose(0, 3, 1, 2), w],
     t.transpose(0, 3, 1, 2))
case("windows", "ttir.convolution", generic.format(3, 2, "0x1", 3, 2, "0x1", 0, 3, "1x2") +
     "feature_group_count = 2 : i64, input_dilation = array<i64: 1, 1>, padding = array<i64: 1, 2, 0, 1>, "
     "weight_dilation = array<i64: 1, 2>, window_strides = array<i64: 2, 1>",
     [x.transpose(1, 2, 3, 0), w.transpose(2, 3, 1, 0)], t)
spread = np.zeros((2, 9, 16, 4))
spread[:, ::2, ::3] = x
case("windows", "ttir.convolution", generic.format(0, 3, "1x2", 0, 1, "2x3", 0, 3, "1x2") +
     "feature_group_count = 2 : i64, input_dilation = array<i64: 2, 3>, padding = array<i64: 1, 2, 0, 1>, "
     "weight_dilation = array<i64: 1, 1>, window_strides = array<i64: 1, 1>", [x, w],
     conv2d(spread, w, pad=(1, 0, 2, 1), groups=2))
wt = rand(4, 3, 3, 2)
args = ((2, 3), (1, 0, 2, 1), (1, 2), 2, (1, 0))
t = conv_transpose2d(x, wt, *args)
attrs = "dilation = array<i32: 1, 2>, groups = 2 : i32, output_padding = array<i32: 1, 0>, stride = array<i32: 2, 3>, "
case("windows", "ttir.conv_transpose2d", attrs + "padding = array<i32: 1, 0, 2, 1>", [x, wt, bias], t + bias)
case("windows", "ttnn.conv_transpose2d", sizes + attrs + "padding = array<i32: 1, 2, 0, 1>", [flat, wt, bias],
     (t + bias).reshape(1, 1, -1, 6))
x1, w1 = rand(2, 7, 4), rand(6, 2, 3)
b1 = rand(1, 1, 6)
t = conv2d(x1[:, :, None], w1[..., None], (2, 1), (2, 0, 1, 0), (1, 1), 2)[:, :, 0] + b1
case("windows", "ttir.conv1d", "dilation = array<i32: 1>, groups = 2 : i32, padding = array<i32: 2, 1>, "
     "stride = array<i32: 2>", [x1, w1, b1], t)
case("windows", "ttnn.conv1d", "batch_size = 2 : i32, in_channels = 4 : i32, input_length = 7 : i32, "
     "kernel_size = 3 : i32, out_channels = 6 : i32, dilation = 1 : i32, groups = 2 : i32, padding = array<i32: 2, 1>, "
     "stride = 2 : i32", [x1, w1[..., None], b1[None]], t)
x3, w3 = rand(1, 4, 3, 5, 2), rand(3, 2, 2, 2, 3)


def conv3d(x, w, stride, mode):
    x = np.pad(x, ((0, 0), (1, 1), (0, 0), (1, 1), (0, 0)), mode=mode)
    kd = w.shape[2]
    planes = range(0, x.shape[1] - kd + 1, stride[0])
    return np.stack([sum(conv2d(x[:, d + i], w[:, :, i], stride[1:]) for i in range(kd)) for d in planes], axis=1)


for mode, np_mode in {"zeros": "constant", "replicate": "edge"}.items():
    case("windows", "ttir.conv3d", f'groups = 1 : i32, padding = array<i32: 1, 0, 1>, padding_mode = "{mode}", '
         "stride = array<i32: 2, 1, 1>", [x3, w3], conv3d(x3, w3, (2, 1, 1), np_mode))


def pool(x, k, stride, pad, dilation, ceil, f):
    """f(values, count of places in the padded input, their indices in the plane) for each window and channel."""
    n, h, w, c = x.shape
    size = []
    for d, extent in enumerate((h, w)):
        room = extent + pad[d] + pad[d + 2] - dilation[d] * (k[d] - 1) - 1
        o = (-(-room // stride[d]) if ceil else room // stride[d]) + 1
        if ceil and (o - 1) * stride[d] >= extent + pad[d]:
            o -= 1
        size.append(o)
    out = np.zeros((n, *size, c))
    for b, i, j, ch in product(range(n), range(size[0]), range(size[1]), range(c)):
        rows = [i * stride[0] - pad[0] + a * dilation[0] for a in range(k[0])]
        cols = [j * stride[1] - pad[1] + a * dilation[1] for a in range(k[1])]
        inside = [(r, s) for r in rows for s in cols if 0 <= r < h and 0 <= s < w]
        padded = sum(r < h + pad[2] and s < w + pad[3] for r in rows for s in cols)
        out[b, i, j, ch] = f([x[b, r, s, ch] for r, s in inside], padded, [r * w + s for r, s in inside])
    return out


x = rand(1, 7, 6, 2)
flat = x.reshape(1, 1, 42, 2)
sizes = "batch_size = 1 : si32, channels = 2 : si32, input_height = 7 : si32, input_width = 6 : si32, "
for ceil in (False, True):
    flag = str(ceil).lower()
    geometry = ((3, 2), (2, 3), (1, 0, 0, 1), (1, 1), ceil)
    t = pool(x, *geometry, lambda v, n, at: max(v))
    ir = f"ceil_mode = {flag}, dilation = array<i32: 1, 1>, stride = array<i32: 2, 3>"
    case("windows", "ttir.max_pool2d", f"kernel = array<i32: 3, 2>, padding = array<i32: 1, 0, 0, 1>, {ir}", [x], t)
    case("windows", "ttnn.max_pool2d", f"kernel_size = array<i32: 3, 2>, padding = array<i32: 1, 0, 0, 1>, {sizes}{ir}",
         [flat], t.reshape(1, 1, -1, 2))
    where = pool(x, *geometry, lambda v, n, at: at[v.index(max(v))])
    case("windows", "ttir.max_pool2d_with_indices", f"kernel = array<i32: 3, 2>, padding = array<i32: 1, 0, 0, 1>, {ir}",
         [x], t, (where, "si32"))
    for count in (False, True):
        t = pool(x, *geometry, lambda v, n, at: sum(v) / (n if count else len(v)))
        extra = f"count_include_pad = {str(count).lower()}, "
        case("windows", "ttir.avg_pool2d", f"{extra}kernel = array<i32: 3, 2>, padding = array<i32: 1, 0, 0, 1>, {ir}",
             [x], t)
        case("windows", "ttnn.avg_pool2d",
             f"{extra}kernel_size = array<i32: 3, 2>, padding = array<i32: 1, 0, 0, 1>, {sizes}{ir}", [flat],
             t.reshape(1, 1, -1, 2))
case("windows", "ttir.max_pool2d", "ceil_mode = false, dilation = array<i32: 2, 2>, kernel = 2 : i32, padding = 0 : i32, "
     "stride = 1 : i32", [x], pool(x, (2, 2), (1, 1), (0, 0, 0, 0), (2, 2), False, lambda v, n, at: max(v)))
window = "window_dimensions = array<i64: 1, 1, 3, 2>, window_dilations = array<i64: 1, 1, 1, 1>, " \
         "base_dilations = array<i64: 1, 1, 1, 1>, window_strides = array<i64: 1, 1, 2, 3>, padding = array<i64: "
for method, padding, f in [("Max", (1, 0, 0, 1), lambda v, n, at: max(v)), ("Sum", (1, 0, 0, 1), lambda v, n, at: sum(v)),
                           ("Average", (0, 0, 0, 0), lambda v, n, at: sum(v) / len(v))]:
    pads = f"0, 0, 0, 0, {padding[0]}, {padding[2]}, {padding[1]}, {padding[3]}>"
    t = pool(x, (3, 2), (2, 3), padding, (1, 1), False, f).transpose(0, 3, 1, 2)
    case("windows", "ttir.pooling", f"pooling_method = #ttir<pooling_method {method}>, {window}{pads}",
         [x.transpose(0, 3, 1, 2)], t)
case("windows", "ttir.upsample2d", 'mode = "nearest", scale_factor = array<i32: 2, 3>', [x],
     x.repeat(2, axis=1).repeat(3, axis=2))


def lerp(t, axis, scale):
    """Between the centres of pixels, as torch.nn.functional.interpolate without align_corners."""
    n = t.shape[axis]
    x = np.maximum((np.arange(n * scale) + 0.5) / scale - 0.5, 0)
    lo = np.floor(x).astype(int)
    share = (x - lo).reshape([-1 if d == axis else 1 for d in range(t.ndim)])
    return t.take(lo, axis) * (1 - share) + t.take(np.minimum(lo + 1, n - 1), axis) * share


case("windows", "ttir.upsample2d", 'mode = "bilinear", scale_factor = array<i32: 2, 3>', [x], lerp(lerp(x, 1, 2), 2, 3))
case("windows", "ttnn.upsample", 'mode = "nearest", scale_factor = 2 : si32', [x], x.repeat(2, axis=1).repeat(2, axis=2))

# ---- attention ----


def sdpa(q, k, v, scale, mask=None, causal=False, window=None, sink=None):
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, axis=1), np.repeat(v, groups, axis=1)
    s = np.einsum("bhid,bhjd->bhij", q, k) * scale
    if mask is not None:
        s = s + mask
    i, j = np.arange(s.shape[2])[:, None], np.arange(s.shape[3])[None]
    if causal:
        s = np.where(j > i, -np.inf, s)
    if window and causal:
        s = np.where(i - j >= window, -np.inf, s)
    elif window:
        s = np.where(abs(i - j) > window // 2, -np.inf, s)
    if sink is not None:
        s = np.concatenate([s, np.broadcast_to(sink, s.shape[:3] + (1,))], axis=-1)
    p = softmax(s, -1)[..., :k.shape[2]]
    return np.einsum("bhij,bhjd->bhid", p, v)


def segments(*sizes):
    return "operandSegmentSizes = array<i32: " + ", ".join(map(str, sizes)) + ">"


q, k, v = rand(2, 4, 5, 3), rand(2, 2, 6, 3), rand(2, 2, 6, 3)
mask = np.where(rand(2, 1, 5, 6) > 1.2, -np.inf, rand(2, 1, 5, 6))
default = 1 / np.sqrt(3)
name = "scaled_dot_product_attention"
both("attention", name, f"is_causal = false, {segments(1, 1, 1, 0, 0)}", [q, k, v, None, None], sdpa(q, k, v, default))
both("attention", name, f"is_causal = false, scale = 5.000000e-01 : f32, {segments(1, 1, 1, 1, 0)}",
     [q, k, v, mask, None], sdpa(q, k, v, 0.5, mask))
both("attention", name, segments(1, 1, 1, 0, 0), [q, k, v, None, None], sdpa(q, k, v, default, causal=True))
both("attention", name, f"is_causal = true, scale = 5.000000e-01 : f32, sliding_window_size = 2 : ui32, "
     f"{segments(1, 1, 1, 0, 0)}", [q, k, v, None, None], sdpa(q, k, v, 0.5, causal=True, window=2))
both("attention", name, f"is_causal = false, sliding_window_size = 3 : ui32, {segments(1, 1, 1, 0, 0)}",
     [q, k, v, None, None], sdpa(q, k, v, default, window=3))
sink = rand(1, 4, 1, 1)
case("attention", f"ttir.{name}", f"is_causal = false, scale = 5.000000e-01 : f32, {segments(1, 1, 1, 0, 1)}",
     [q, k, v, None, sink], sdpa(q, k, v, 0.5, sink=sink))
case("attention", f"ttnn.{name}", f"is_causal = false, scale = 5.000000e-01 : f32, {segments(1, 1, 1, 0, 1)}",
     [q, k, v, None, sink], sdpa(q, k, v, 0.5, sink=0.5 * sink))
qd, kd, vd = rand(1, 3, 4, 2), rand(3, 2, 5, 2), rand(3, 2, 5, 2)
as_bh = qd.transpose(1, 2, 0, 3)
maskd = rand(3, 1, 4, 5)
per_head = maskd.transpose(0, 2, 1, 3)
back = lambda t: t.transpose(2, 0, 1, 3)
name += "_decode"
case("attention", f"ttir.{name}", f"is_causal = false, scale = 5.000000e-01 : f32, {segments(1, 1, 1, 1, 0, 0)}",
     [qd, kd, vd, maskd, None, None], back(sdpa(as_bh, kd, vd, 0.5, per_head)))
case("attention", f"ttnn.{name}", f"is_causal = false, scale = 5.000000e-01 : f32, {segments(1, 1, 1, 1, 0, 0)}",
     [qd, kd, vd, maskd, None, None], back(sdpa(as_bh, kd, vd, 0.5, 0.5 * per_head)))
at = np.array([0.0, 3, 4])
hidden = np.where(np.arange(5)[None] > at[:, None], -np.inf, 0)[:, None, None]
both("attention", name, f"is_causal = true, {segments(1, 1, 1, 0, 1, 0)}", [qd, kd, vd, None, (at, "si32"), None],
     back(sdpa(as_bh, kd, vd, 1 / np.sqrt(2), hidden)))


def rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


x, cos, sin = rand(1, 2, 5, 4), rand(1, 1, 8, 4), rand(1, 1, 8, 4)
case("attention", "ttnn.rotary_embedding", "", [x, cos, sin], x * cos[:, :, :5] + rotate_half(x) * sin[:, :, :5])
case("attention", "ttnn.rotary_embedding", "token_index = 6 : ui32", [x, cos, sin],
     x * cos[:, :, 6:7] + rotate_half(x) * sin[:, :, 6:7])
one = rand(2, 3, 1, 4)
padded = np.zeros((2, 3, 32, 4))
padded[:, :, :1] = one * cos[:, :, 3:4] + rotate_half(one) * sin[:, :, 3:4]
case("attention", "ttnn.rotary_embedding", "token_index = 3 : ui32", [one, cos, sin], padded)
trans = np.zeros((1, 1, 4, 4))
for i in (0, 2):
    trans[0, 0, i + 1, i], trans[0, 0, i, i + 1] = -1, 1
turned = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
case("attention", "ttnn.rotary_embedding_llama", "is_decode_mode = false", [x, cos[:, :, :5], sin[:, :, :5], trans],
     x * cos[:, :, :5] + turned * sin[:, :, :5])
x = rand(2, 3, 5, 4)
both("attention", "concatenate_heads", "", [x], x.transpose(0, 2, 1, 3).reshape(2, 5, 12))
case("attention", "ttnn.nlp_concat_heads", "", [x], x.transpose(0, 2, 1, 3).reshape(2, 1, 5, 12))
x = rand(1, 2, 5, 4)
case("attention", "ttnn.nlp_concat_heads_decode", "num_heads = 3 : ui32", [x], x[0, :, :3].reshape(1, 1, 2, 12))
x = rand(2, 3, 16)
split = lambda t, h: t.reshape(*t.shape[:-1], h, -1).swapaxes(1, 2)
both("attention", "split_query_key_value_and_split_heads", "num_heads = 4 : ui32, num_kv_heads = 2 : ui32, "
     "transpose_key = true", [x, None], split(x[..., :8], 4), split(x[..., 8:12], 2).swapaxes(-1, -2),
     split(x[..., 12:], 2))
kv = rand(2, 3, 16)
both("attention", "split_query_key_value_and_split_heads", "num_heads = 2 : ui32, num_kv_heads = 1 : ui32, "
     "transpose_key = false", [x, kv], split(x, 2), split(kv[..., :8], 1), split(kv[..., 8:], 1))
kv = np.concatenate([kv, x], axis=1)[:, :5, :8]
both("attention", "split_query_key_value_and_split_heads", "num_heads = 4 : ui32, num_kv_heads = 1 : ui32, "
     "transpose_key = true", [x, kv], split(x, 4), split(kv[..., :4], 1).swapaxes(-1, -2), split(kv[..., 4:], 1))
x = rand(1, 1, 3, 16)
case("attention", "ttnn.nlp_create_qkv_heads_decode", "num_heads = 4 : ui32, num_kv_heads = 2 : ui32", [x],
     x[..., :8].reshape(1, 3, 4, 2), x[..., 8:12].reshape(1, 3, 2, 2), x[..., 12:].reshape(1, 3, 2, 2))

# ---- measures ----

for shape in ((40,), (5, 7)):
    a, b = rand(*shape), rand(*shape)
    b = a + 0.1 * b
    files.setdefault("measures", []).append(
        {"x": tensor(a), "want": tensor(b), "pcc": float(np.corrcoef(a.ravel(), b.ravel())[0, 1]),
         "relative_l2": float(np.linalg.norm(a - b) / np.linalg.norm(b)),
         "ulp_f32": float((np.abs(a - b) / np.abs(np.spacing(b.astype(np.float32)).astype(float))).max())})

cache, new, at = rand(3, 2, 4, 5), rand(1, 2, 3, 5), ints(1, high=4)
t = cache.copy()
t[:, :, int(at[0])] = new[0].transpose(1, 0, 2)
both("selection", "update_cache", "batch_offset = 0 : i32", [cache, new, (at, "i32")], t)
at = np.array([3.0, 0, 2])
new = rand(1, 3, 2, 5)
t = cache.copy()
for u in range(3):
    t[u, :, int(at[u])] = new[0, u]
both("selection", "paged_update_cache", "share_cache = false", [cache, new, (at, "i32")], t)
at, pages = np.array([3.0, 6, 8]), np.array([[4.0, 1], [0, 5], [2, 3]])  # the last one is on none of its pages
cache = np.concatenate([cache, -cache])
t = cache.copy()
for u in range(2):
    t[int(pages[u, int(at[u]) // 4]), :, int(at[u]) % 4] = new[0, u]
both("selection", "paged_update_cache", "share_cache = false", [cache, new, (at, "i32"), (pages, "i32")], t)
cache, new = rand(2, 1, 7, 2), rand(1, 1, 3, 2)
t = cache.copy()
t[1, :, :3] = new[0]
both("selection", "fill_cache", "batch_offset = 1 : i32", [cache, new], t)

table, rows = rand(3, 5), ints(3, high=3)
SLICES = ("collapsed_slice_dims = array<i64: %d>, index_vector_dim = 1 : si64, indices_are_sorted = false, offset_dims = "
          "array<i64: %s>, operand_batching_dims = array<i64>, slice_sizes = array<i64: %s>, start_index_map = "
          "array<i64: %d>, start_indices_batching_dims = array<i64>")
case("selection", "ttir.gather", SLICES % (0, "1", "1, 5", 0), [table, (rows, "ui32")], table[rows.astype(int)])
table, rows = rand(2, 4, 3), ints(5, 1, high=4)
case("selection", "ttir.gather", SLICES % (1, "0, 2", "2, 1, 3", 1), [table, (rows, "si32")],
     table[:, rows[:, 0].astype(int)])

x, w, on = rand(2, 3, 4, 5), rand(1, 2, 5, 6), np.array([0, 1, 1, 0, 2, 1, -1, 0, 0, 1, 1, 1.0])
both("products", "sparse_matmul", "is_input_a_sparse = false, is_input_b_sparse = true, nnz = 0 : i64",
     [x, w, on.reshape(2, 3, 1, 2)], (x[:, :, None, None] @ w) * (on.reshape(2, 3, 1, 2, 1, 1) != 0))
x = rand(6, 2, 4, 5)
both("products", "sparse_matmul", "is_input_a_sparse = true, is_input_b_sparse = false",
     [x, w, on.reshape(1, 1, 6, 2)], (x @ w) * (on.reshape(6, 2, 1, 1) != 0))

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for file, cases in files.items():
    lines = ",\n".join(json.dumps(c) for c in cases)
    (out / f"{file}.json").write_text(f"[\n{lines}\n]\n")
