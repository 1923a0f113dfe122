#!/usr/bin/env python3
"""Graphs made at random with fusions planted in them, and with decoys: a planted one with one thing changed, so that it is another function.

usage: plant_test.py AUDITS [--first=SEED] [--graphs=N] [--keep=DIRECTORY]
Every planted fusion has to be found at its root op, and nothing else may be, theoretical fusions aside.
"""
import argparse
import math
import os
import random
import sys
import tempfile

from audits import Audits

from plant_ir import Function, prod

WIDTH = 64
ELEMENTS = 2 * 32 * WIDTH  # of every value that goes from one plant to the next


class Garden(Function):
    """A function that is written at random: constants, movement and the order of operands in many spellings."""

    def __init__(self, level, rng):
        super().__init__(level, rng.choice(("f32", "bf16")))
        self.rng, self.expected, self.pool = rng, [], []
        self.allowed = False  # small parts of a decoy are found, and rightly

    def chance(self, probability):
        return self.rng.random() < probability

    def expect(self, fused_op, root):
        self.expected.append((fused_op, root.name.split("#")[0]))

    # values from before
    def input(self, *shape):
        self.began = self.from_before(*shape), len(self.lines)
        return self.began[0]

    def from_before(self, *shape):
        """What an earlier plant made, moved and changed by an op that no fusion takes; or an argument."""
        if self.pool and prod(shape) == ELEMENTS and self.chance(0.6):
            value = self.unary(self.rng.choice(("sin", "cos", "abs", "floor")), self.rng.choice(self.pool))
            if self.chance(0.3):
                value = self.add(value, self.argument(value.shape))
            return value if value.shape == shape else self.reshape(value, *shape)
        return self.argument(shape)

    # one value in several spellings
    def const(self, value, rank=1):
        ones = (1,) * self.rng.randint(1, rank)
        spelling = self.rng.randrange(7)
        if spelling == 0:
            return self.dense(value, ones)
        if spelling == 1:
            return self.op("add", [self.op("zeros", [], self.shape_attribute(ones), ones), self.full(value, ones)], "", ones)
        if spelling == 2:
            return self.reshape(self.dense(value, (1,)), *ones)
        if spelling == 3 and value == 1:
            return self.op("ones", [], self.shape_attribute(ones), ones)
        if spelling == 4 and value == int(value):
            return self.cast(self.dense(str(int(value)), ones, "si32"), self.dtype)
        if spelling == 5:
            return self.cast(self.full(value, ones, "f32"), self.dtype) if self.dtype != "f32" else self.full(value, ones)
        return self.full(value, ones)

    def shape_attribute(self, shape):
        return "shape = array<i32: %s>" % ", ".join(map(str, shape)) if self.level == "ttir" else "shape = #ttnn.shape<%s>" % "x".join(map(str, shape))

    def same(self, v):
        """The value, or casts and movement that yield it."""
        what = self.rng.randrange(10)
        if what == 0:
            return self.cast(self.cast(v, "f32" if v.dtype == "bf16" else "bf16"), v.dtype)
        if what == 1 and len(v.shape) > 1:
            order = list(range(len(v.shape)))
            self.rng.shuffle(order)
            back = [order.index(i) for i in range(len(order))]
            return self.permute(self.permute(v, *order), *back)
        if what == 2:
            return self.reshape(self.reshape(v, prod(v.shape)), *v.shape)
        if what == 3:
            name = self.rng.choice(("to_layout", "to_memory_config"))
            return self.op(name, [v], "", v.shape) if self.level == "ttnn" else self.reshape(v, *v.shape)
        if what == 4:  # a dropout that is off
            return self.div(v, self.const(1.0, 1)) if self.chance(0.3) else self.times(v, self.const(1.0, 1))
        return v

    def both(self, name, a, b):
        """A commutative op, its operands in either order."""
        return self.binary(name, b, a) if self.chance(0.5) else self.binary(name, a, b)

    def plus(self, a, b): return self.both("add", a, b)
    def times(self, a, b): return self.both("multiply", a, b)

    def times_number(self, a, value):
        rank = len(a.shape)
        if self.chance(0.4):
            return self.div(a, self.const(1 / value, rank))
        return self.times(a, self.const(value, rank))

    def squared(self, v):
        return self.pow(v, 2.0) if self.chance(0.3) else self.mul(v, self.same(v))

    def dim(self, d, rank):
        return d % rank if self.chance(0.5) else d % rank - rank

    def fold(self, name, a, d):
        """A reduction along one dimension that stays with one element, and perhaps is spread again."""
        d %= len(a.shape)
        kept = tuple(1 if i == d else n for i, n in enumerate(a.shape))
        if self.chance(0.5):
            out = self.reduce(name, a, [self.dim(d, len(a.shape))], True)
        else:
            out = self.reshape(self.reduce(name, a, [self.dim(d, len(a.shape))], False), *kept)
        return out

    def spread(self, v, shape):
        return self.broadcast(v, *shape) if self.chance(0.3) and len(v.shape) == len(shape) and v.shape != tuple(shape) else v

    def mean(self, a, d, count=None):
        n = count or a.shape[d]
        if count is None and self.chance(0.4):
            return self.fold("mean", a, d)
        total = self.fold("sum", a, d)
        return self.div(total, self.const(n, len(a.shape))) if self.chance(0.5) else self.times(total, self.const(1 / n, len(a.shape)))

    def vector(self, n, rank, at=-1):
        """A parameter along one dimension of a tensor of that rank."""
        shape = [1] * rank
        shape[at] = n
        if at in (-1, rank - 1) and self.chance(0.5):
            return self.parameter((n,))
        if self.chance(0.3):
            return self.reshape(self.parameter((n,)), *shape)
        return self.parameter(shape)

    def weight(self, rows, columns):
        """A matrix for the right of a product: value and whether the product transposes it."""
        if self.chance(0.3):
            return self.parameter((columns, rows)), True
        if self.chance(0.3):
            return self.permute(self.parameter((columns, rows)), 1, 0), False
        return self.parameter((rows, columns)), False

    def product(self, x, columns):
        w, turned = self.weight(x.shape[-1], columns)
        return self.matmul(x, w, tb=turned)


# ---- what is planted: each takes the garden and what to change (None: nothing), returns the values to keep ----

def linear(g, wrong):
    shape = g.rng.choice(((64, 64), (2, 32, 64), (1, 1, 64, 64)))
    x = g.input(*shape)
    y = g.product(x, 64)
    p = y
    if wrong == "bias along the rows":
        bias = g.parameter((shape[-2], 1))
    elif wrong == "a residual":
        bias = g.argument(y.shape)
    elif wrong == "a weight for each batch":
        y = p = g.matmul(g.input(2, 32, 64), g.parameter((2, 64, 64)))
        bias = g.vector(64, 3)
    else:
        bias = g.spread(g.vector(64, len(shape)), shape)
        y = g.same(y)
    out = g.plus(y, bias)
    if wrong is None:
        g.expect("ttnn.linear", out)
    return [out, g.unary("sin", p)] if wrong == "the product is used elsewhere" else [out]


def softmax_of(g, x, d, wrong=None):
    shift = wrong != "largest" and g.chance(0.7)
    z = g.sub(x, g.spread(g.fold("max", x, d), x.shape)) if shift else x
    e = g.unary("exp", z)
    of = g.unary("exp", g.unary("sin", z)) if wrong == "the sum of others" else e
    if wrong == "the sum of another axis":  # square: the shapes do not tell
        kept = tuple(1 if i == d else n for i, n in enumerate(x.shape))
        total = g.reshape(g.reduce("sum", of, [d - 1], False), *kept)
    else:
        total = g.fold("sum", of, d)
    if wrong == "one more in the sum":
        total = g.plus(total, g.const(1.0))
    total = g.spread(g.same(total), x.shape)
    top = g.unary("sin", e) if wrong == "other exponentials" else e
    if g.chance(0.3):
        out = g.times(top, g.unary("reciprocal", total))
    else:
        out = g.div(g.same(top), total)
    return out, e


def softmax(g, wrong):
    shape = g.rng.choice(((64, 64), (16, 16, 16), (1, 1, 64, 64), (4, 32, 32), (1, 4, 32, 32)))
    out, e = softmax_of(g, g.input(*shape), len(shape) - 1 if wrong else g.rng.randrange(len(shape)), wrong)
    if wrong is None:
        g.expect("ttnn.softmax", out)
    return [out, e] if wrong == "the exponentials are used elsewhere" else [out]


def root_of(g, v, eps, wrong):
    if wrong == "epsilon outside of the root":
        return g.plus(g.unary("sqrt", v), eps)
    return g.unary("sqrt", g.plus(v, eps))


def over_root(g, x, v, eps, wrong=None):
    """x divided by the root of v + eps, in one of the ways that are written."""
    if wrong == "epsilon outside of the root" or g.chance(0.3):
        return g.div(x, g.spread(g.same(root_of(g, v, eps, wrong)), x.shape))
    if g.chance(0.3):
        r = g.unary("reciprocal", root_of(g, v, eps, wrong))
        if wrong:
            g.expect("ttnn.rsqrt", r)
        return g.times(x, r)
    v = g.plus(v, eps)
    r = g.pow(v, -0.5) if g.chance(0.3) else g.unary("rsqrt", v)
    return g.times(x, g.spread(g.same(r), x.shape))


def affine(g, y, weight, bias):
    if weight:
        y = g.times(g.same(y), weight)
    return g.plus(y, bias) if bias else y


def layer_norm(g, wrong):
    shape = g.rng.choice(((64, 64), (2, 32, 64), (64, 8, 8), (4, 4, 16, 16)))
    x, d, rank = g.input(*shape), len(shape) - 1, len(shape)
    m = g.fold("mean", x, d) if wrong else g.mean(x, d)
    c = g.sub(x, g.spread(m, shape))
    square = g.squared(c)
    if wrong == "the variance of another axis":
        v = g.reshape(g.reduce("mean", square, [d - 1], False), *(shape[:-1] + (1,))) if shape[-1] == shape[-2] else g.reduce("mean", square, [d - 1])
    elif wrong == "n - 1":
        v = g.mean(square, d, shape[d] - 1)
    else:
        v = g.fold("mean", square, d) if wrong else g.mean(square, d)
    if wrong == "another value over the root":
        c = g.argument(shape)
    y = over_root(g, c, v, g.const(1e-5, rank), wrong)
    weight = g.vector(shape[-1], rank) if g.chance(0.7) else None
    bias = g.vector(shape[-1], rank) if g.chance(0.7) else None
    out = affine(g, y, weight, bias)
    if wrong is None:
        g.expect("ttnn.layer_norm", out)
    return [out, v] if wrong == "the variance is used elsewhere" else [out]


def rms_norm(g, wrong):
    shape = g.rng.choice(((64, 64), (64, 8, 8), (4, 4, 16, 16), (2, 32, 64)))
    if wrong == "the mean of another axis":  # square: the shapes do not tell
        shape = (64, 64)
    x, d, rank = g.input(*shape), len(shape) - 1, len(shape)
    square = g.mul(g.mul(x, x), x) if wrong == "cubes" else g.squared(g.same(x))
    if wrong == "n + 1":
        v = g.mean(square, d, shape[d] + 1)
    elif wrong == "the mean of another axis":
        v = g.reshape(g.reduce("mean", square, [d - 1], False), *(shape[:-1] + (1,)))
    else:
        v = g.fold("mean", square, d) if wrong else g.mean(square, d)
    of = g.argument(shape) if wrong == "another value over the root" else x
    y = over_root(g, of, v, g.const(1e-6, rank), wrong)
    weight = g.vector(shape[-1], rank)
    if g.chance(0.3) and not wrong:
        weight = g.plus(weight, g.const(1.0))
    out = affine(g, y, weight, None)
    if wrong is None:
        g.expect("ttnn.rms_norm", out)
    return [out, v] if wrong == "the mean is used elsewhere" else [out]


def expanded(g, x, times):
    """The heads of a group: each one serves neighbours."""
    b, h, s, n = x.shape
    way = g.rng.randrange(3)
    if way == 0:
        return g.interleave(x, times, g.dim(1, 4))
    if way == 1 and h == 1:
        return g.concat([x] * times, g.dim(1, 4))
    return g.reshape(g.broadcast(g.reshape(x, b, h, 1, s, n), b, h, times, s, n), b, h * times, s, n)


def masked(g, scores):
    s, t = scores.shape[-2:]
    shape = g.rng.choice(((1, 1, s, t), (1, 1, 1, t), (s, t)))
    way = g.rng.randrange(4)
    if way == 0:
        return scores
    if way == 1:
        return g.plus(scores, g.argument(shape))
    low = g.full(g.rng.choice((float("-inf"), -3.4028235e38, -1e9, -65504.0)), (1,) * len(shape))
    keep = g.argument(shape, dtype="i1")
    return g.where(keep, scores, low) if way == 2 else g.where(keep, low, scores)


def attention(g, wrong):
    b, h, s, n = g.rng.choice(((1, 2, 32, 64), (2, 4, 16, 32), (1, 4, 16, 64), (1, 2, 64, 64), (1, 8, 32, 16)))
    times = g.rng.choice((1, 1, 2, h))
    q = g.input(b, h, s, n)
    k, v = [g.argument((b, h // times, s, n)) for _ in range(2)]
    if times > 1:
        k, v = expanded(g, k, times), expanded(g, v, times)
    scale = n ** -0.5
    way = g.rng.randrange(3) if wrong is None else 2
    if way == 0:
        q = g.times_number(q, scale)
    elif way == 1:
        q, k = g.times_number(q, scale ** 0.5), g.times_number(k, scale ** 0.5)
    turns = g.rng.randrange(3)
    if turns == 0:
        scores = g.matmul(q, k, tb=True)
    else:
        scores = g.matmul(q, g.permute(k, 0, 1, 3, 2) if turns == 1 else g.transpose(k, g.dim(2, 4), g.dim(3, 4)))
    if wrong == "a scale for each score":
        scores = g.times(scores, g.parameter((1, 1, s, s)))
    elif way == 2 and g.chance(0.8):
        scores = g.times_number(scores, scale)
    if wrong is None:
        scores = masked(g, scores)
    along = 2 if wrong == "along the queries" else 3
    island = g.dtype == "bf16" and g.chance(0.3)
    if island:
        scores = g.cast(scores, "f32")
    if wrong == "no softmax":
        p = g.unary("exp", scores)
    elif g.chance(0.5):
        p = g.softmax(scores, g.dim(along, 4))
    else:
        p, _ = softmax_of(g, scores, along)
        if wrong is not None:
            g.expect("ttnn.softmax", p)
    if island:
        p = g.cast(p, "bf16")
    kept = []
    if wrong == "the probabilities are used elsewhere":
        kept = [g.unary("sin", p)]
    if wrong == "a mask after the softmax":
        p = g.times(p, g.argument((1, 1, s, s)))
    out = g.matmul(p, v, ta=True) if wrong == "the probabilities turned" else g.matmul(g.same(p), v)
    if wrong is None:
        g.expect("ttnn.scaled_dot_product_attention", out)
    elif times > 1:
        g.allowed = True  # the expansion of the heads stands alone
    return [out] + kept


def silu(g, wrong):
    x = g.input(64, 64)
    of = g.unary("sin", x) if wrong == "of another value" else x
    if wrong == "the sigmoid is used elsewhere":
        s = g.unary("sigmoid", of)
        return [g.times(x, s), s]
    if wrong == "half a gate":
        return [g.times(x, g.unary("sigmoid", g.times(x, g.const(0.5, 2))))]
    if g.chance(0.4):
        d = g.plus(g.unary("exp", g.unary("neg", of)), g.const(2.0 if wrong == "two below" else 1.0, 2))
        out = g.div(x, d)
        if wrong == "of another value":
            return [x]
    elif wrong == "two below":
        return [x]
    else:
        out = g.times(g.same(x), g.same(g.unary("sigmoid", of)))
    if wrong is None:
        g.expect("ttnn.silu", out)
    return [out]


def gelu(g, wrong):
    x = g.input(64, 64)
    half = 0.25 if wrong == "a quarter" else 0.5
    if g.chance(0.5):
        root = 0.8 if wrong == "another root" else math.sqrt(0.5)
        inner = g.unary("erf", g.times_number(x, root))
    else:
        root = 0.9 if wrong == "another root" else math.sqrt(2 / math.pi)
        cube = g.pow(x, 3.0) if g.chance(0.5) else g.times(g.times(x, x), x)
        inner = g.unary("tanh", g.times(g.plus(x, g.times(cube, g.const(0.044715, 2))), g.const(root, 2)))
    one = -1.0 if wrong == "minus one" else 1.0
    twice = g.plus(inner, g.const(one, 2))
    y = g.argument((64, 64)) if wrong == "times another value" else x
    way = g.rng.randrange(3)
    if way == 0:
        out = g.times(g.times_number(y, half), twice)
    elif way == 1:
        out = g.times_number(g.times(y, twice), half)
    else:
        out = g.times(y, g.times_number(twice, half))
    if wrong is None:
        g.expect("ttnn.gelu", out)
    return [out]


def relu(g, wrong):
    x = g.input(64, 64)
    if wrong == "the smaller one":
        return [g.both("minimum", x, g.const(0.0, 2))]
    zero = g.const(0.5 if wrong == "another floor" else 0.0, 2)
    if wrong == "of another value":
        return [g.where(g.compare("gt", g.argument((64, 64)), zero), x, zero)]
    way = g.rng.randrange(3)
    if way == 0:
        out = g.both("maximum", x, zero)
    elif way == 1:
        out = g.where(g.compare(g.rng.choice(("gt", "ge")), x, zero), x, zero)
    else:
        out = g.where(g.compare(g.rng.choice(("lt", "le")), x, zero), zero, x)
    if wrong is None:
        g.expect("ttnn.relu", out)
    return [out]


def hardsigmoid(g, wrong):
    x = g.plus(g.input(64, 64), g.const(2.0 if wrong == "plus two" else 3.0, 2))
    low, high = 0.0, 6.0
    way = g.rng.randrange(3)
    if way == 0:
        y = g.clamp(x, low, high)
    elif way == 1:
        y = g.both("minimum", g.both("maximum", x, g.const(low, 2)), g.const(high, 2))
    else:
        y = g.both("minimum", g.unary("relu", x), g.const(high, 2))
    out = g.times_number(y, 1 / (5.0 if wrong == "by five" else 6.0))
    if wrong is None:
        g.expect("ttnn.hardsigmoid", out)
    else:
        g.expect("ttnn.relu6", y)
    return [out]


def mean(g, wrong):
    shape = g.rng.choice(((64, 64), (2, 32, 64), (4, 4, 16, 16), (1, 16, 16, 16)))
    x = g.input(*shape)
    dims = sorted(g.rng.sample(range(len(shape)), g.rng.randint(1, 2)))
    n = prod(shape[d] for d in dims)
    if n == 1:
        return [x]
    keep = g.chance(0.5)
    total = g.reduce("sum", x, [g.dim(d, len(shape)) for d in dims], keep)
    if keep and g.chance(0.3):
        total = g.reshape(total, *[m for i, m in enumerate(total.shape) if i not in dims] or [1])
    n = {"n + 1": n + 1, "n - 1": n - 1, "its root": math.sqrt(n), "twice": 2 * n}.get(wrong, n)
    rank = max(1, len(total.shape))
    if n == 0:
        return [total]
    out = g.div(total, g.const(n, rank)) if g.chance(0.5) else g.times(total, g.const(1 / n, rank))
    if wrong is None:
        g.expect("ttnn.mean", out)
    return [out]


def activation(g, wrong):
    p = g.product(g.input(64, 64), 64)
    name = g.rng.choice(("sigmoid", "silu", "gelu", "relu", "tanh"))
    if wrong == "something else between":
        return [g.unary(name, g.unary("sin", p))]
    bias = g.chance(0.5)
    y = g.plus(p, g.vector(64, 2)) if bias else p
    out = g.unary(name, y)
    if wrong == "the product is used elsewhere":
        if bias:
            g.expect("ttnn.linear", y)
        return [out, g.unary("sin", y)]
    g.expect("ttnn.linear" if bias else "ttnn.matmul", out)
    return [out]


def conv2d(g, x, w, channels):
    """A convolution that keeps the shape of x: one of TTNN yields rows of channels."""
    if g.level == "ttir":
        where = (0, channels, 1 + (channels == 1), 2 + (channels == 1))
        return g.op("conv2d", [x, w], "batch_dim = %d : i64, channel_dim = %d : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, height_dim = %d "
                    ": i64, padding = array<i32: 1, 1>, stride = array<i32: 1, 1>, width_dim = %d : i64" % where, x.shape)
    g.extra = True
    x = g.reshape(g.permute(x, 0, 2, 3, 1) if channels == 1 else x, 1, 1, 256, 16)
    g.extra = False
    c = g.op("conv2d", [x, w, g.device()], "batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, "
             "in_channels = 16 : i32, input_height = 16 : i32, input_width = 16 : i32, kernel_size = array<i32: 3, 3>, out_channels = 16 : i32, "
             "padding = array<i32: 1, 1>, stride = array<i32: 1, 1>", (1, 1, 256, 16))
    g.extra = True
    c = g.reshape(c, 1, 16, 16, 16)
    c = g.permute(c, 0, 3, 1, 2) if channels == 1 else c
    g.extra = False
    return c


def convolution(g, wrong):
    at = g.rng.choice((1, 3))
    c = conv2d(g, g.input(1, 16, 16, 16), g.parameter((16, 16, 3, 3)), at)
    if wrong == "another axis":
        return [g.plus(c, g.vector(16, 4, 2))]
    if wrong == "used elsewhere":
        return [g.plus(c, g.vector(16, 4, at)), g.unary("sin", c)]
    if wrong == "a residual":
        return [g.plus(c, g.argument((1, 16, 16, 16)))]
    out = g.plus(c, g.vector(16, 4, at))
    if g.chance(0.5):
        out = g.unary(g.rng.choice(("relu", "silu", "sigmoid", "relu6")), out)
    g.expect("ttnn.conv2d", out)
    return [out]


def rope(g, wrong):
    b, h, s, n = g.rng.choice(((1, 2, 32, 64), (2, 4, 16, 32), (1, 8, 32, 16)))
    x, cos, sin = g.input(b, h, s, n), g.argument((1, 1, s, n)), g.argument((1, 1, s, n))
    lo, hi = g.slice(x, 3, 0, n // 2), g.slice(x, 3, n // 2, n)
    if wrong == "a quarter":
        lo, hi = g.slice(x, 3, 0, n // 4), g.slice(x, 3, n // 4, n)
    if wrong == "of another value":
        hi = g.argument(hi.shape)
    minus = hi if wrong == "no sign" else g.unary("neg", hi) if g.chance(0.6) else g.times(hi, g.const(-1.0, 4))
    if wrong == "the halves stay":
        turned = g.concat([lo, minus], g.dim(3, 4))
    else:
        turned = g.concat([minus, lo], g.dim(3, 4))
    out = g.plus(g.times(g.same(x), cos), g.times(turned, sin))
    if wrong is None:
        g.expect("ttnn.rotary_embedding", out)
    return [out]


def merge_heads(g, wrong):
    x = g.input(2, 4, 16, 32)
    order = {"the heads last": (0, 2, 3, 1), "the rows last": (0, 3, 2, 1), "features before heads": (0, 3, 1, 2)}.get(wrong, (0, 2, 1, 3))
    y = g.permute(x, *order)
    out = g.reshape(y, *g.rng.choice(((2, 16, 128), (32, 128))))
    if wrong is None:
        g.expect("ttnn.concatenate_heads", out)
    return [out]


def topk(g, wrong):
    x = g.input(64, 64)
    k, d = g.rng.choice((1, 4, 8)), g.rng.randrange(2)
    values, positions = g.op("sort", [x], "descending = true, dim = %d : si32, stable = false" % g.dim(d, 2), [(64, 64), (64, 64)], [g.dtype, "si32"])
    first = 4 if wrong == "from the middle" else 0
    out = g.slice(values, 1 - d if wrong == "another axis" else d, first, first + k)
    if wrong is None:
        g.expect("ttnn.topk", out)
        return [out, g.slice(positions, d, 0, k)] if g.chance(0.5) else [out]
    return [out, values] if wrong == "all are used" else [out]


def expand_heads(g, wrong):
    x = g.input(1, 2, 32, 64)
    tiled = wrong == "tiled"
    shape, wide = ((1, 1, 2, 32, 64), (1, 4, 2, 32, 64)) if tiled else ((1, 2, 1, 32, 64), (1, 2, 4, 32, 64))
    out = g.reshape(g.broadcast(g.reshape(x, *shape), *wide), 1, 8, 32, 64)
    g.expect("ttnn.repeat" if tiled else "ttnn.repeat_interleave", out)
    return [out]


def sigmoid(g, wrong):
    x = g.input(64, 64)
    turned = x if wrong == "no sign" else g.unary("neg", x) if g.chance(0.5) else g.times(x, g.const(-1.0, 2))
    d = g.plus(g.unary("exp", turned), g.const(1.5 if wrong == "more than one" else 1.0, 2))
    out = g.unary("reciprocal", d) if wrong != "two above" and g.chance(0.5) else g.div(g.const(2.0 if wrong == "two above" else 1.0, 2), d)
    if wrong is None:
        g.expect("ttnn.sigmoid", out)
    return [out]


def leaky(g, wrong):
    x = g.input(64, 64)
    low = g.times(g.argument((64, 64)) if wrong == "of another value" else x, g.const(0.1, 2))
    zero = g.const(1.0 if wrong == "above one" else 0.0, 2)
    positive = g.compare(g.rng.choice(("gt", "ge")), x, zero)
    out = g.where(positive, low, x) if wrong == "upside down" else g.where(positive, x, low)
    if wrong is None:
        g.expect("ttnn.leaky_relu", out)
    return [out]


def batch_norm(g, wrong):
    x = g.input(1, 16, 16, 16)
    at = g.rng.choice((1, 3))
    average, variance, weight, bias = [g.vector(16, 4, at) for _ in range(4)]
    if wrong == "the variance of another axis":
        variance = g.vector(16, 4, 2)
    if wrong == "the variance of the batch":
        variance = g.argument((1, 1, 1, 16) if at == 3 else (1, 16, 1, 1))
    out = affine(g, over_root(g, g.sub(x, average), variance, g.const(1e-3, 4), wrong), weight, bias)
    if wrong is None:
        g.expect("ttnn.batch_norm_inference", out)
    return [out]


def modulated(g, wrong):
    """An op layer_norm without weight and bias, then (1 + scale) and shift."""
    rows = wrong == "for each row"
    x = g.input(1, 64, 64)
    n = g.op("layer_norm", [x], "epsilon = 1.0e-06 : f32, normalized_shape = array<i64: 64>, operandSegmentSizes = array<i32: 1, 0, 0>"
             if g.level == "ttir" else "epsilon = 1.0e-06 : f32, operandSegmentSizes = array<i32: 1, 0, 0>", x.shape)
    scale, shift = (g.argument((1, 64, 1)), g.argument((1, 64, 1))) if rows else (g.argument((1, 1, 64)), g.argument((1, 1, 64)))
    out = g.plus(g.times(n, g.plus(scale, g.const(1.0, 3))), shift)
    if wrong == "used elsewhere":
        return [out, n]
    if not rows:
        g.expect("ttnn.layer_norm", out)
    return [out]


def rope_complex(g, wrong):
    """As of complex numbers: halves, or neighbours that are taken apart and put together again."""
    b, h, s, n = g.rng.choice(((1, 2, 32, 64), (2, 4, 16, 32), (1, 8, 32, 16)))
    x, pairs = g.input(b, h, s, n), g.chance(0.5)
    cos, sin = g.argument((1, 1, s, n // 2)), g.argument((1, 1, s, n // 2))
    if pairs:
        y = g.reshape(x, b, h, s, n // 2, 2)
        lo, hi = [g.reshape(g.slice(y, g.dim(4, 5), i, i + 1), b, h, s, n // 2) for i in range(2)]
    else:
        lo, hi = g.slice(x, g.dim(3, 4), 0, n // 2), g.slice(x, g.dim(3, 4), n // 2, n)
    one, other = g.times(lo, cos), g.times(hi, g.argument((1, 1, s, n // 2)) if wrong == "another sine" else sin)
    first = g.plus(one, other) if wrong == "no sign" else g.sub(other, one) if wrong == "the sign of the other" else g.sub(one, other)
    second = g.plus(g.times(hi, cos), g.times(hi if wrong == "one half twice" else lo, sin))
    parts = [second, first] if wrong == "halves exchanged" else [first, second]
    if pairs:
        out = g.reshape(g.concat([g.reshape(p, b, h, s, n // 2, 1) for p in parts], g.dim(4, 5)), b, h, s, n)
        root = g.lines[-2][0]
    else:
        out = g.concat(parts, g.dim(3, 4))
        root = out.name
    if wrong is None:
        g.expected.append(("ttnn.rotary_embedding", root))
    return [out]


def group_norm(g, wrong):
    n, c, groups = 1, 16, g.rng.choice((2, 4, 8))
    x = g.input(n, c, 16, 16)
    rows = g.chance(0.5)
    shape = (n, groups, c // groups * 256) if rows else (n, groups, c // groups, 16, 16)
    y = g.reshape(x, *shape)
    dims = [g.dim(d, len(shape)) for d in range(2, len(shape))]
    m = g.reduce("mean", y, dims)
    z = g.sub(y, g.spread(m, shape))
    square = g.squared(z)
    if wrong == "the variance of fewer":
        v = g.reduce("mean", square, [2]) if not rows else g.plus(g.reduce("mean", square, dims), g.argument((n, groups, 1)))
    else:
        v = g.reduce("mean", square, dims)
    y = over_root(g, g.argument(shape) if wrong == "another value over the root" else z, v, g.const(1e-5, len(shape)), wrong)
    out = affine(g, g.reshape(y, n, c, 16, 16), g.vector(c, 4, 1), g.vector(c, 4, 1))
    if wrong is None:
        g.expect("ttnn.group_norm", out)
    return [out]


def unit_rms_norm(g, wrong):
    """x divided by its length, times the root of its number of elements."""
    shape = g.rng.choice(((64, 64), (2, 32, 64), (4, 4, 16, 16)))
    x, n = g.input(*shape), shape[-1]
    length = g.unary("sqrt", g.fold("sum", g.squared(x), len(shape) - 1))
    length = g.both("maximum", length, g.const(1e-6, len(shape)))
    unit = g.div(g.argument(shape) if wrong == "of another value" else x, g.spread(length, shape))
    factor = {"n": n, "the root of n + 1": math.sqrt(n + 1)}.get(wrong, math.sqrt(n))
    out = affine(g, g.times(unit, g.const(factor, len(shape))), g.vector(n, len(shape)), None)
    if wrong is None:
        g.expect("ttnn.rms_norm", out)
    return [out]


def mish(g, wrong):
    x = g.input(64, 64)
    of = g.unary("cos", x) if wrong == "of another value" else x
    soft = g.unary("exp", of)
    soft = g.unary("log1p", soft) if g.chance(0.5) else g.unary("log", g.plus(soft, g.const(2.0 if wrong == "two" else 1.0, 2)))
    if wrong == "two" and g.lines[-1][2].find("log1p") >= 0:
        return [soft]
    out = g.times(g.same(x), g.unary("tanh", soft))
    if wrong is None:
        g.expect("ttnn.mish", out)
    else:
        g.allowed = True  # log1p stands alone
    return [out]


PLANTS = {
    linear: ("bias along the rows", "a residual", "a weight for each batch", "the product is used elsewhere"),
    softmax: ("the sum of others", "the sum of another axis", "one more in the sum", "other exponentials", "the exponentials are used elsewhere"),
    layer_norm: ("the variance of another axis", "n - 1", "another value over the root", "the variance is used elsewhere",
                 "epsilon outside of the root"),
    rms_norm: ("cubes", "n + 1", "the mean of another axis", "another value over the root", "the mean is used elsewhere",
               "epsilon outside of the root"),
    attention: ("along the queries", "a scale for each score", "no softmax", "the probabilities are used elsewhere",
                "a mask after the softmax", "the probabilities turned"),
    silu: ("of another value", "the sigmoid is used elsewhere", "half a gate", "two below"),
    gelu: ("a quarter", "another root", "minus one", "times another value"),
    relu: ("the smaller one", "another floor", "of another value"),
    hardsigmoid: ("plus two", "by five"),
    mean: ("n + 1", "n - 1", "its root", "twice"),
    activation: ("something else between", "the product is used elsewhere"),
    convolution: ("another axis", "used elsewhere", "a residual"),
    rope: ("a quarter", "of another value", "no sign", "the halves stay"),
    merge_heads: ("the heads last", "the rows last", "features before heads"),
    topk: ("from the middle", "another axis", "all are used"),
    expand_heads: ("tiled",),
    sigmoid: ("no sign", "more than one", "two above"),
    leaky: ("of another value", "above one", "upside down"),
    batch_norm: ("the variance of another axis", "the variance of the batch", "epsilon outside of the root"),
    modulated: ("for each row", "used elsewhere"),
    rope_complex: ("another sine", "no sign", "the sign of the other", "one half twice", "halves exchanged"),
    group_norm: ("the variance of fewer", "another value over the root", "epsilon outside of the root"),
    unit_rms_norm: ("of another value", "n", "the root of n + 1"),
    mish: ("of another value", "two"),
}


UNARY = {silu: "silu", gelu: "gelu", relu: "relu", hardsigmoid: "hardsigmoid", sigmoid: "sigmoid", mish: "mish"}


def fuse(g, name, out):
    """What was planted last is taken for granted: the compiler has fused it, so that it is one op in TTNN."""
    x, line = g.began
    g.expected.pop()
    if g.level == "ttnn":
        g.lines[line:] = [(out.name, [x.name], '%s = "ttnn.%s"(%s) : (%s) -> %s' % (out.name, name, x.name, x.type(), out.type()))]


def grow(seed, level):
    rng = random.Random(seed)
    g = Garden(level, rng)
    returned, what = [], []
    for _ in range(rng.randint(6, 12)):
        plant = rng.choice(list(PLANTS))
        wrong = rng.choice(PLANTS[plant]) if rng.random() < 0.5 else None
        kept = plant(g, wrong)
        done = seed % 3 == 2 and wrong is None and plant in UNARY and g.chance(0.4)
        if done:
            fuse(g, UNARY[plant], kept[0])
        what.append("%s: %s (%s)" % (kept[0].name, plant.__name__, "fused" if done else wrong or "planted"))
        returned += kept
        g.pool += [v for v in kept[:1] if prod(v.shape) == ELEMENTS and v.dtype == g.dtype]
    return g, g.text(returned, rng if rng.random() < 0.7 else None, located=seed % 3 == 2 or rng.random() < 0.5), what


def found(audits, paths):
    """What an audit reports: the fused op and the results of the ops of the place, at each level."""
    _, said, report = audits.audit(paths[0][0] if len(paths) == 1 else "both", *(path for _, path in paths))
    out = []
    for entry in report or []:
        for place in entry["instances"] if entry["source"] == "ttnn" else []:
            there = []
            for level, _ in paths:
                lines = place.get(level + "_segment", "").strip().split("\n")
                there.append({line.split()[0].split(":")[0] for line in lines if line})
            out.append((entry["fused_op"], there))
    return out, "".join(said)


SMALL = ("ttnn.log1p", "ttnn.repeat", "ttnn.repeat_interleave")


def differences(expected, there):
    """What was planted and not found, and the other way round."""
    missed, more = [], list(there)
    for fused_op, root in expected:
        place = next((f for f in more if f[0] == fused_op and all(root in names for names in f[1])), None)
        if place:
            more.remove(place)
        else:
            missed.append((fused_op, root))
    return missed, [(fused_op, [sorted(names) for names in there]) for fused_op, there in more]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("audits")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--graphs", type=int, default=120)
    parser.add_argument("--keep")
    args = parser.parse_args()
    wrong = planted = 0
    audits = Audits(args.audits, "ttnn:dialect,torch,triton,cuda", "slower")
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(args.first, args.first + args.graphs):
            levels = (("ttir",), ("ttnn",), ("ttir", "ttnn"))[seed % 3]
            paths = []
            for level in levels:
                g, text, what = grow(seed, level)
                paths.append((level, os.path.join(args.keep or directory, "plant%d.%s.mlir" % (seed, level))))
                with open(paths[-1][1], "w") as f:
                    f.write(text)
            there, printed = found(audits, paths)
            planted += len(g.expected)
            missed, more = differences(g.expected, there)
            more = [place for place in more if not (g.allowed and place[0] in SMALL)]
            if missed or more or (printed and "fusing seems to be off" not in printed):
                wrong += 1
                print("graph %d (%s): missed %s, not planted %s %s\n    %s" % (
                    seed, " and ".join(levels), missed, more, printed, "\n    ".join(what)))
    audits.close()
    print("%d graphs, %d fusions planted, %d graphs with a difference" % (args.graphs, planted, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
