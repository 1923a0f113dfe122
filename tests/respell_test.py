#!/usr/bin/env python3
"""Examples that a pattern has to match are found as well when they are respelt by random identities.

usage: respell_test.py FUSION_AUDIT AUDITS EXAMPLES PATTERNS [--steps=5] [--rounds=1] [--seed=0] [--only=PATTERN,...] [--least=PERCENT] [--verbose]
Takes the hits of the pattern files as modules (EXAMPLES print PATTERNS). Of each --rounds modules are made by --steps
identities, each at an op drawn at random; what is found and proved of the example, its fused op or what another pattern
makes of it, has to be found and proved of them, or its pattern is in KNOWN with a reason and as many are lost. By
default near misses are respelt, too: their pattern's fused op may be found of them with a proof only. The last lines have
the rates.
Exit status 1: a module does not hold together, another number of them is lost, such a near miss is found, or (of some, or
respelt in another way) fewer than --least percent are found.
"""
import collections
import random
import re
import subprocess
import sys

from audits import Audits

OPTIONS = dict((a[2:].split("=") + [""])[:2] for a in sys.argv[1:] if a.startswith("--"))
TYPE = r"tensor<[^<>]*(?:<[^<>]*>[^<>]*)*>"
OP = re.compile(r'(?<!, )(?P<result>%\w+) = "(?P<dialect>ttir|ttnn)\.(?P<name>\w+)"\((?P<operands>[^)]*)\)(?: <\{(?P<attributes>.*?)\}>)?'
                r'(?P<tail>(?: \{[^{}]*\})?) : \((?P<types>[^()]*)\) -> (?P<type>' + TYPE + r')(?! loc\()')
PLAIN = re.compile(r"tensor<((?:\d+x)*)(f32|bf16|i1)>")
FLIPPED = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}
OPPOSITE = {"gt": "le", "le": "gt", "ge": "lt", "lt": "ge", "eq": "ne", "ne": "eq"}
UNARY = ("relu exp neg sqrt rsqrt tanh sigmoid silu gelu erf log log1p abs square reciprocal typecast hardsigmoid relu6 expm1 "
         "erfc clamp_scalar leaky_relu").split()
BINARY = "add subtract multiply div maximum minimum".split()
PLAIN_OPS = "full constant reshape permute transpose typecast broadcast repeat unsqueeze squeeze".split()
NEUTRAL = {"add": 0, "subtract": 0, "multiply": 1, "div": 1}


# Pattern, how many of its examples are lost as they are respelt by default, why.
KNOWN = [
    ("divide_with_activations", 2, "a product with the reciprocal of a root that is a power takes two fused ops, which are found"),
    ("linear", 1, "a maximum with -inf that is spelled as a choice is not seen to change nothing"),
    ("update_cache_by_comparison", 1, "the cache is turned before one of its two uses, and counted along its own axes"),
    ("split_heads_of_pair", 1, "queries, keys and a part of theirs are moved in more steps each; one of the three less, and it is found"),
]


class Op:
    def __init__(self, result, name, operands, attributes, types, type_text, dialect, tail=""):
        self.result, self.name, self.operands, self.attributes = result, name, list(operands), attributes
        self.types, self.type, self.dialect, self.tail = list(types), type_text, dialect, tail

    def __str__(self):
        name = "divide" if self.dialect == "ttnn" and self.name == "div" else self.name
        return '%s = "%s.%s"(%s)%s%s : (%s) -> %s\n' % (
            self.result, self.dialect, name, ", ".join(self.operands), " <{%s}>" % self.attributes if self.attributes else "",
            self.tail, ", ".join(self.types), self.type)


def shape(type_text):
    m = PLAIN.fullmatch(type_text)
    return [int(d) for d in m[1].split("x") if d] if m else None


def element(type_text):
    return PLAIN.fullmatch(type_text)[2]


def tensor(dims, of):
    return "tensor<%s%s>" % ("".join("%dx" % d for d in dims), of)


def joint(a, b):
    a, b = shape(a), shape(b)
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + a, [1] * (n - len(b)) + b
    return [y if x == 1 else x for x, y in zip(a, b)]


class Module:
    """The text of a module in pieces: its ops of one result, and what stands between them."""

    def __init__(self, text, rng):
        self.rng, self.pieces, self.fresh, at = rng, [], 0, 0
        for m in OP.finditer(text):
            name = "div" if m["name"] == "divide" else m["name"]
            if len(re.findall(TYPE, m["types"])) != len(m["operands"].split(", ")) * bool(m["operands"]):
                continue
            self.pieces += [text[at:m.start()], Op(m["result"], name, m["operands"].split(", ") if m["operands"] else [],
                                                   m["attributes"] or "", re.findall(TYPE, m["types"]), m["type"], m["dialect"], m["tail"])]
            at = m.end()
        self.pieces.append(text[at:])

    def __str__(self):
        return "".join(map(str, self.pieces))

    def ops(self):
        return [p for p in self.pieces if isinstance(p, Op) and len(p.types) == len(p.operands) and all(map(shape_known, [p.type, *p.types]))]

    def maker(self, value):
        return next((p for p in self.pieces if isinstance(p, Op) and p.result == value), None)

    def uses(self, value):
        return len(re.findall(re.escape(value) + r"\b", str(self))) - 1

    def number(self, value):
        """The number that a value holds in each element, if an op says so."""
        op = self.maker(value)
        if op and op.name in ("reshape", "broadcast", "repeat"):
            return self.number(op.operands[0])
        m = op and op.name == "full" and re.search(r"fill_value = (-?[\d.]+(?:e[-+]?\d+)?) : f32", op.attributes)
        return float(m[1]) if m else None

    def drop_dead(self):
        """Ops whose results an identity has left without a use."""
        text, again = str(self), True
        while again:
            dead = [p for p in self.pieces if isinstance(p, Op) and len(re.findall(re.escape(p.result) + r"\b", text)) == 1]
            self.pieces, again = [p for p in self.pieces if p not in dead], bool(dead)
            text = str(self)

    # new ops
    def new(self, like, name, operands, type_text, attributes=""):
        self.fresh += 1
        return Op("%%z%d" % self.fresh, name, [o[0] for o in operands], attributes, [o[1] for o in operands], type_text, like.dialect)

    def full(self, like, number, type_text):
        dims = shape(type_text)
        listed = "#ttnn.shape<%s>" % "x".join(map(str, dims)) if like.dialect == "ttnn" else "array<i32: %s>" % ", ".join(map(str, dims))
        return self.new(like, "full", [], type_text, "fill_value = %.9e : f32, shape = %s" % (number, listed))

    def reshape(self, like, v, dims):
        return self.new(like, "reshape", [v], tensor(dims, element(v[1])), "shape = [%s]" % ", ".join("%d : i32" % d for d in dims))

    def permute(self, like, v, order):
        dims = shape(v[1])
        return self.new(like, "permute", [v], tensor([dims[i] for i in order], element(v[1])),
                        "permutation = array<i64: %s>" % ", ".join(map(str, order)))


def shape_known(type_text):
    return shape(type_text) is not None


def out(op):
    return op.result, op.type


def args(op):
    return list(zip(op.operands, op.types))


def floats(op):
    return element(op.type) != "i1" and all(element(t) != "i1" for t in op.types)


def end(op, *ops):
    """The ops in the place of op: the last one makes its result."""
    ops[-1].result = op.result
    return list(ops)


# Each takes a module and one of its ops, and gives the ops that stand in its place; None: it says nothing of such an op.

def swapped(m, op):
    if op.name in ("add", "multiply", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or"):
        return end(op, m.new(op, op.name, args(op)[::-1], op.type, op.attributes))


def flipped(m, op):
    if op.name in FLIPPED:
        return end(op, m.new(op, FLIPPED[op.name], args(op)[::-1], op.type))


def other_branch(m, op):
    condition = op.name == "where" and m.maker(op.operands[0])
    if condition and condition.name in OPPOSITE and len(condition.operands) == 2:
        c = m.new(op, OPPOSITE[condition.name], args(condition), condition.type)
        return end(op, c, m.new(op, "where", [out(c), args(op)[2], args(op)[1]], op.type))


def difference(m, op):
    if op.name == "subtract" and floats(op):
        a, b = args(op)
        if m.rng.random() < 0.5:
            n = m.new(op, "neg", [b], b[1])
            return end(op, n, m.new(op, "add", [a, out(n)], op.type))
        d = m.new(op, "subtract", [b, a], op.type)
        return end(op, d, m.new(op, "neg", [out(d)], op.type))
    if op.name == "add" and floats(op):
        for a, b in (args(op), args(op)[::-1]):
            negated = m.maker(b[0])
            if m.number(b[0]) is not None:
                c = m.full(op, -m.number(b[0]), b[1])
                return end(op, c, m.new(op, "subtract", [a, out(c)], op.type))
            if negated and negated.name == "neg":
                return end(op, m.new(op, "subtract", [a, args(negated)[0]], op.type))


def associated(m, op):
    if op.name not in ("add", "multiply") or not floats(op):
        return None
    pairs = [args(op), args(op)[::-1]]
    m.rng.shuffle(pairs)
    for a, b in pairs:
        inner = m.maker(a[0])
        if inner and inner.name == op.name and m.uses(a[0]) == 1 and all(map(shape_known, inner.types)):
            x, y = args(inner) if m.rng.random() < 0.5 else args(inner)[::-1]
            i = m.new(op, op.name, [y, b], tensor(joint(y[1], b[1]), element(op.type)))
            return end(op, i, m.new(op, op.name, [x, out(i)], op.type))


def negation(m, op):
    if op.name == "multiply" and floats(op):
        for a, b in (args(op), args(op)[::-1]):
            inner = m.maker(a[0])
            if inner and inner.name == "neg":
                p = m.new(op, "multiply", [args(inner)[0], b], op.type)
                return end(op, p, m.new(op, "neg", [out(p)], op.type))
    if op.name == "neg":
        inner = m.maker(op.operands[0])
        if inner and inner.name == "multiply":
            n = m.new(op, "neg", [args(inner)[0]], inner.types[0])
            return end(op, n, m.new(op, "multiply", [out(n), args(inner)[1]], op.type))
        c = m.full(op, -1, tensor([1] * len(shape(op.type)), element(op.type)))
        return end(op, c, m.new(op, "multiply", [args(op)[0], out(c)], op.type))


def quotient(m, op):
    if not floats(op):
        return None
    if op.name == "div":
        a, b = args(op)
        number = m.number(b[0])
        if number:
            c = m.full(op, 1 / number, b[1])
            return end(op, c, m.new(op, "multiply", [a, out(c)], op.type))
        if m.number(a[0]) == 1 and b[1] == op.type:
            return end(op, m.new(op, "reciprocal", [b], op.type))
        r = m.new(op, "reciprocal", [b], b[1])
        return end(op, r, m.new(op, "multiply", [a, out(r)], op.type))
    if op.name == "multiply":
        for a, b in (args(op), args(op)[::-1]):
            number, inner = m.number(b[0]), m.maker(b[0])
            if number:
                c = m.full(op, 1 / number, b[1])
                return end(op, c, m.new(op, "div", [a, out(c)], op.type))
            if inner and inner.name == "reciprocal":
                return end(op, m.new(op, "div", [a, args(inner)[0]], op.type))
            if inner and inner.name == "rsqrt":
                s = m.new(op, "sqrt", args(inner), inner.type)
                return end(op, s, m.new(op, "div", [a, out(s)], op.type))
    if op.name == "reciprocal":
        c = m.full(op, 1, tensor([1] * len(shape(op.type)), element(op.type)))
        return end(op, c, m.new(op, "div", [out(c), args(op)[0]], op.type))


def distributed(m, op):
    """(x + y) c and x c + y c, of a number c; x (1 + y) and x + x y."""
    if op.name in ("multiply", "div") and floats(op):
        a, b = args(op)
        if op.name == "multiply" and m.number(a[0]) is not None:
            a, b = b, a
        inner = m.maker(a[0])
        if inner and inner.name in ("add", "subtract") and m.number(b[0]) is not None and all(map(shape_known, inner.types)):
            parts = [m.new(op, op.name, [x, b], tensor(joint(x[1], b[1]), element(op.type))) for x in args(inner)]
            return end(op, *parts, m.new(op, inner.name, [out(p) for p in parts], op.type))
        for a, b in (args(op), args(op)[::-1]):
            inner = op.name == "multiply" and m.maker(b[0])
            if inner and inner.name == "add":
                for one, y in (args(inner), args(inner)[::-1]):
                    if m.number(one[0]) == 1 and a[1] == op.type:
                        p = m.new(op, "multiply", [a, y], op.type)
                        return end(op, p, m.new(op, "add", [a, out(p)], op.type))
    if op.name == "add" and floats(op):
        for a, b in (args(op), args(op)[::-1]):
            inner = m.maker(b[0])
            if inner and inner.name == "multiply" and a[0] in inner.operands and all(map(shape_known, inner.types)):
                y = args(inner)[1 - inner.operands.index(a[0])]
                c = m.full(op, 1, tensor([1] * len(shape(y[1])), element(y[1])))
                s = m.new(op, "add", [y, out(c)], y[1])
                return end(op, c, s, m.new(op, "multiply", [a, out(s)], op.type))


def power(m, op):
    if op.name == "multiply" and op.operands[0] == op.operands[1] and op.dialect == "ttir":
        c = m.full(op, 2, tensor([1] * len(shape(op.type)), element(op.type)))
        return end(op, c, m.new(op, "pow", [args(op)[0], out(c)], op.type))
    number = m.number(op.operands[1]) if op.name == "pow" and len(op.operands) == 2 else None
    x = args(op)[0] if op.operands else None
    if number in (2, 3) and x[1] == op.type:
        p = m.new(op, "multiply", [x, x], op.type)
        return end(op, p) if number == 2 else end(op, p, m.new(op, "multiply", [out(p), x], op.type))
    if op.name == "rsqrt":
        s = m.new(op, "sqrt", [x], op.type)
        return end(op, s, m.new(op, "reciprocal", [out(s)], op.type))
    if op.name == "sqrt" and op.dialect == "ttir":
        c = m.full(op, 0.5, tensor([1] * len(shape(op.type)), element(op.type)))
        return end(op, c, m.new(op, "pow", [x, out(c)], op.type))


def bounded(m, op):
    zero = lambda: m.full(op, 0, tensor([1] * len(shape(op.type)), element(op.type)))
    kind = m.rng.randrange(3)
    if op.name == "relu":
        z, x = zero(), args(op)[0]
        if kind == 0:
            return end(op, z, m.new(op, "maximum", [x, out(z)], op.type))
        c = m.new(op, "gt", [x, out(z)], op.type)
        return end(op, z, c, m.new(op, "where", [out(c), x, out(z)], op.type))
    if op.name in ("maximum", "minimum") and floats(op):
        a, b = args(op)
        if kind == 0:
            na, nb = m.new(op, "neg", [a], a[1]), m.new(op, "neg", [b], b[1])
            least = m.new(op, "minimum" if op.name == "maximum" else "maximum", [out(na), out(nb)], op.type)
            return end(op, na, nb, least, m.new(op, "neg", [out(least)], op.type))
        if kind == 1:
            c = m.new(op, "gt" if op.name == "maximum" else "lt", [a, b], op.type)
            return end(op, c, m.new(op, "where", [out(c), a, b], op.type))
        if op.name == "maximum" and m.number(b[0]) == 0 and a[1] == op.type:
            return end(op, m.new(op, "relu", [a], op.type))
    if op.name == "clamp_scalar":
        low, high = [re.search(k + r" = (-?[\d.]+(?:e[-+]?\d+)?) : f32", op.attributes) for k in ("min", "max")]
        if low and high:
            ones = tensor([1] * len(shape(op.type)), element(op.type))
            l, h = m.full(op, float(low[1]), ones), m.full(op, float(high[1]), ones)
            first, second, c, d = ("maximum", "minimum", l, h) if kind else ("minimum", "maximum", h, l)
            inner = m.new(op, first, [args(op)[0], out(c)], op.type)
            return end(op, l, h, inner, m.new(op, second, [out(inner), out(d)], op.type))


def spelled_out(m, op):
    """Functions by others."""
    ones = tensor([1] * len(shape(op.type)), element(op.type))
    x = args(op)[0] if op.operands else None
    if op.name == "sigmoid":
        c, n = m.full(op, 1, ones), m.new(op, "neg", [x], op.type)
        e = m.new(op, "exp", [out(n)], op.type)
        s = m.new(op, "add", [out(e), out(c)], op.type)
        return end(op, c, n, e, s, m.new(op, "reciprocal", [out(s)], op.type))
    if op.name == "silu":
        s = m.new(op, "sigmoid", [x], op.type)
        return end(op, s, m.new(op, "multiply", [x, out(s)], op.type))
    if op.name == "gelu" and not op.attributes:
        k, half, one = (m.full(op, n, ones) for n in (0.5 ** 0.5, 0.5, 1))
        p = m.new(op, "multiply", [x, out(k)], op.type)
        e = m.new(op, "erf", [out(p)], op.type)
        s = m.new(op, "add", [out(e), out(one)], op.type)
        h = m.new(op, "multiply", [x, out(half)], op.type)
        return end(op, k, half, one, p, e, s, h, m.new(op, "multiply", [out(h), out(s)], op.type))
    if op.name == "log1p":
        c = m.full(op, 1, ones)
        s = m.new(op, "add", [x, out(c)], op.type)
        return end(op, c, s, m.new(op, "log", [out(s)], op.type))
    if op.name == "softmax" and "numericStable" not in op.attributes:
        dim = int(re.search(r"dim(?:ension)? = (-?\d+)", op.attributes)[1])
        dims = shape(op.type)
        reduced = tensor([1 if i == dim % len(dims) else n for i, n in enumerate(dims)], element(op.type))
        how = "dim_arg = [%d : i32], keep_dim = true" % dim
        e = m.new(op, "exp", [x], op.type)
        s = m.new(op, "sum", [out(e)], reduced, how)
        return end(op, e, s, m.new(op, "div", [out(e), out(s)], op.type))


def reduced(m, op):
    """A mean as a sum, and what is left of the reduced dimensions."""
    if op.name not in ("mean", "sum", "max", "min") or "dim_arg" not in op.attributes:
        return None
    x, before, after = args(op)[0], shape(op.types[0]), shape(op.type)
    if op.name == "mean" and m.rng.random() < 0.5:
        n = 1
        for d in before:
            n *= d
        for d in after:
            n //= d
        s = m.new(op, "sum", [x], op.type, op.attributes)
        times, number = m.rng.choice((("div", n), ("multiply", 1 / n)))
        c = m.full(op, number, tensor([1] * max(len(after), 1), element(op.type)))
        return end(op, s, c, m.new(op, times, [out(s), out(c)], op.type)) if after else None
    if "keep_dim = true" in op.attributes:
        dims = [int(d) % len(before) for d in re.findall(r"(-?\d+)(?: : i32)?", re.search(r"dim_arg = \[([^]]*)\]", op.attributes)[1])
                if d != "32"] if "[" in op.attributes else []
        left = [n for i, n in enumerate(before) if i not in dims]
        if not dims or not left:
            return None
        r = m.new(op, op.name, [x], tensor(left, element(op.type)), op.attributes.replace("keep_dim = true", "keep_dim = false"))
        return end(op, r, m.reshape(op, out(r), after))


def there_and_back(m, op):
    """A result moved and moved back, or cast and cast back."""
    dims = shape(op.type)
    was = Op(op.result, op.name, op.operands, op.attributes, op.types, op.type, op.dialect, op.tail)
    m.fresh += 1
    was.result = "%%z%d" % m.fresh
    kind = m.rng.randrange(3)
    if kind == 0 and len(dims) > 1:
        order = list(range(len(dims)))
        m.rng.shuffle(order)
        p = m.permute(op, out(was), order)
        return end(op, was, p, m.permute(op, out(p), [order.index(i) for i in range(len(dims))]))
    if kind == 1 and dims:
        n = 1
        for d in dims:
            n *= d
        flat = m.reshape(op, out(was), m.rng.choice(([n], [1] + dims, dims + [1], [dims[0], n // dims[0]])))
        return end(op, was, flat, m.reshape(op, out(flat), dims))
    if element(op.type) == "bf16":
        c = m.new(op, "typecast", [out(was)], tensor(dims, "f32"))
        return end(op, was, c, m.new(op, "typecast", [out(c)], op.type))


def elsewhere(m, op):
    """An elementwise op on what is moved, and its result moved back."""
    if op.name not in UNARY + BINARY or any(t != op.type and shape(t) != shape(op.type) for t in op.types) or not shape(op.type):
        return None
    dims = shape(op.type)
    order = list(range(len(dims)))
    m.rng.shuffle(order)
    flat = m.rng.random() < 0.5
    n = 1
    for d in dims:
        n *= d
    moved = [m.reshape(op, v, [n]) if flat else m.permute(op, v, order) for v in args(op)]
    inner = m.new(op, op.name, [out(v) for v in moved], tensor(shape(moved[0].type), element(op.type)), op.attributes)
    back = m.reshape(op, out(inner), dims) if flat else m.permute(op, out(inner), [order.index(i) for i in range(len(dims))])
    return end(op, *moved, inner, back)


def moved_twice(m, op):
    """What moves data by two steps."""
    if op.name == "reshape" and shape(op.type):
        n = 1
        for d in shape(op.type):
            n *= d
        r = m.reshape(op, args(op)[0], [n])
        return end(op, r, m.reshape(op, out(r), shape(op.type)))
    if op.name == "permute":
        dims = shape(op.types[0])
        order = [int(i) for i in re.findall(r"-?\d+", re.search(r"permutation = (?:array<i64: )?\[?([-\d, ]*)", op.attributes)[1])]
        first = list(range(len(dims)))
        m.rng.shuffle(first)
        p = m.permute(op, args(op)[0], first)
        return end(op, p, m.permute(op, out(p), [first.index(i) for i in order]))


def product(m, op):
    """Products with an operand turned, of what is turned, and of folded rows."""
    if op.name not in ("matmul", "linear"):
        return None
    a, b = args(op)[:2]
    sa, sb, so = shape(a[1]), shape(b[1]), shape(op.type)
    flags = [bool(re.search("transpose_%s = true" % k, op.attributes)) for k in "ab"]
    if re.search("activation|program", op.attributes) or len(sa) < 2 or len(sb) < 2:
        return None
    say = lambda x, y: "transpose_a = %s, transpose_b = %s" % (str(x).lower(), str(y).lower())
    kind = m.rng.randrange(3)
    if op.name == "linear" and len(op.operands) == 3:
        p = m.new(op, "matmul", [a, b], op.type, say(*flags))
        return end(op, p, m.new(op, "add", [out(p), args(op)[2]], op.type)) if shape(args(op)[2][1]) else None
    if len(op.operands) != 2:
        return None
    last_two = lambda n: list(range(n - 2)) + [n - 1, n - 2]
    if kind == 0:
        t = m.permute(op, b, last_two(len(sb)))
        return end(op, t, m.new(op, op.name, [a, out(t)], op.type, say(flags[0], not flags[1])))
    if kind == 1 and len(so) >= 2:
        p = m.new(op, op.name, [b, a], tensor(so[:-2] + [so[-1], so[-2]], element(op.type)), say(not flags[1], not flags[0]))
        return end(op, p, m.permute(op, out(p), last_two(len(so))))
    if len(sb) == 2 and len(sa) > 2 and not flags[0]:
        rows = 1
        for d in sa[:-1]:
            rows *= d
        r = m.reshape(op, a, [rows, sa[-1]])
        p = m.new(op, op.name, [out(r), b], tensor([rows, so[-1]], element(op.type)), say(*flags))
        return end(op, r, p, m.reshape(op, out(p), so))


def neutral(m, op):
    if op.name not in UNARY + BINARY or not floats(op) or not shape(op.type):
        return None
    was = Op(op.result, op.name, op.operands, op.attributes, op.types, op.type, op.dialect, op.tail)
    m.fresh += 1
    was.result = "%%z%d" % m.fresh
    name, number = m.rng.choice((("multiply", 1), ("add", 0), ("subtract", 0), ("div", 1)))
    c = m.full(op, number, tensor([1] * len(shape(op.type)), element(op.type)))
    return end(op, was, c, m.new(op, name, [out(was), out(c)], op.type))


def number_spread(m, op):
    """A number of one element spread to all."""
    if op.name not in BINARY:
        return None
    for i, v in enumerate(op.operands):
        if m.number(v) is not None and shape(op.types[i]) != shape(op.type):
            c = m.full(op, m.number(v), tensor(shape(op.type), element(op.types[i])))
            operands = args(op)
            operands[i] = out(c)
            return end(op, c, m.new(op, op.name, operands, op.type))


IDENTITIES = [swapped, flipped, other_branch, difference, associated, negation, quotient, distributed, power, bounded, spelled_out,
              reduced, there_and_back, elsewhere, moved_twice, product, neutral, number_spread]


def respell(text, seed, steps):
    """The module and the names of the identities that made it."""
    rng = random.Random(seed)
    m, done = Module(text, rng), []
    for _ in range(steps * 40):
        ops = [op for op in m.ops() if op.name not in ("full", "constant", "arange")]
        if len(done) == steps or not ops:
            break
        op, identity = rng.choice(ops), rng.choice(IDENTITIES)
        made = identity(m, op)
        if made:
            i = m.pieces.index(op)
            m.pieces[i:i + 1] = made
            m.drop_dead()
            done.append("%s of %s" % (identity.__name__, op.name))
    return str(m), done


def examples(kind):
    """Pattern, place and text of each hit, or near miss."""
    text = subprocess.run([EXAMPLES, "print", PATTERNS], capture_output=True, text=True, check=True).stdout
    for part in text.split("// -----\n"):
        first, _, module = part.strip().partition("\n")
        m = re.match(r"// (\S+): (\w+), test \d+ \(%s\)" % kind, first)
        if m and "func.func" in module and m[2] in OPTIONS.get("only", m[2]).split(","):
            yield m[2], m[1], module


def places(audits, text):
    """Fused op, whether it is proved, and ops of each place that is found; None: the module does not hold together."""
    _, said, report = audits.audit_text("ttnn" if '"ttnn.' in text else "ttir", text)
    if any("error" in line or " is not " in line or "no op" in line for line in said):
        return None
    return [(entry["fused_op"], bool(re.search(r"^(validated: same function|alike: )", i["notes"], re.M)),
             i.get("ttnn_segment", "") + i.get("ttir_segment", "")) for entry in report or [] for i in entry["instances"]]


def found(audits, text):
    """The fused ops that are found and proved, each with its places' ops; None: the module does not hold together."""
    all_of, proved = places(audits, text), collections.defaultdict(list)
    for fused, is_proved, segment in all_of or []:
        if is_proved:
            proved[fused].append(segment)
    return None if all_of is None else proved


def spelled_first(module, text):
    """What is found of ops that were spelled out: once they are ops again the example is what it was."""
    names = [collections.Counter(m["name"] for m in OP.finditer(t)) for t in (module, text)]
    return {"ttnn." + name for name in names[0] - names[1]}


def computing(text):
    """The results of the ops that do more than to move data or to change nothing."""
    m = Module(text, None)
    neutral = lambda op: op.name in NEUTRAL and any(m.number(v) == NEUTRAL[op.name] for v in op.operands)
    return [op.result for op in m.ops() if op.name not in PLAIN_OPS and not neutral(op)]


def is_covered(now, text):
    """One other fused op takes all that computes, or an identity has left one op: there is nothing to fuse."""
    results = computing(text)
    return len(results) < 2 or any(all(r + " = " in segment for r in results) for segments in now.values() for segment in segments)


def near_misses(audits, fused):
    """How many near misses are respelt, and how many of these are found as what they are not: without a proof."""
    tried, wrong = 0, 0
    for pattern, place, module in examples("miss"):
        text, done = respell(module, "%s miss %s" % (OPTIONS.get("seed", 0), module), int(OPTIONS.get("steps", 5)))
        if not done or fused[pattern] in [name for name, _, _ in places(audits, module) or []]:
            continue
        tried += 1
        if (fused[pattern], False) in [p[:2] for p in places(audits, text) or []]:
            wrong += 1
            print("%s %s: a near miss is found as %s by %s\n%s" % (place, pattern, fused[pattern], ", ".join(done), text))
    return tried, wrong


def main():
    listed = subprocess.run([PROGRAM, "patterns", "list"], capture_output=True, text=True, check=True).stdout
    fused = {line.split()[0]: line.split()[1] for line in listed.splitlines() if line[0] != " "}
    ways, steps = (Audits(AUDITS, "", "slower"), Audits(AUDITS, "", "blocked,decomposed,slower")), int(OPTIONS.get("steps", 5))
    tried, broken, first, lost = 0, 0, 0, collections.Counter()
    for pattern, place, module in examples("hit"):
        for audits in ways:  # what is hidden takes ops of others where it is asked for
            base = found(audits, module)
            if base and fused[pattern] in base:
                break
        for k in range(int(OPTIONS.get("rounds", 1)) if base else 0):
            text, done = respell(module, "%s %s %d" % (OPTIONS.get("seed", 0), module, k), steps)
            if not done:
                continue
            now, want = found(audits, text), {fused[pattern]} if fused[pattern] in base else base.keys()
            tried, broken = tried + 1, broken + (now is None)
            missed = now is not None and not want <= now.keys()
            if missed and (now.keys() & spelled_first(module, text) or is_covered(now, text)):
                first += 1
                continue
            lost[pattern] += missed
            if now is None or "verbose" in OPTIONS and missed:
                print("%s %s: %s by %s\n%s" % (place, pattern, "does not hold together" if now is None else "lost", ", ".join(done), text))
    default, by_row = not set(OPTIONS) & {"only", "steps", "rounds", "seed"}, collections.Counter()
    twins, alarms = near_misses(ways[0], fused) if default else (0, 0)
    for audits in ways:
        audits.close()
    for pattern, count in sorted(lost.items()):
        row = next((r for r in KNOWN if re.fullmatch(r[0], pattern)), (pattern, 0, "not known"))
        by_row[row] += count
        if count:
            print("%s: %d lost%s" % (pattern, count, ": " + row[2] if default else ""))
    wrong = [row for row in {*by_row, *KNOWN} if default and by_row[row] != row[1]]
    for row in wrong:
        print("%s: %d lost, %d are known" % (row[0], by_row[row], row[1]))
    rate = 100 - 100 * sum(lost.values()) / max(tried, 1)
    print("%d of %d respelt examples found, %.1f %%, %d of them as another fused op, or an op first that was spelled out" % (
        tried - sum(lost.values()), tried, rate, first))
    if default:
        print("%d respelt near misses, %d of them found without a proof" % (twins, alarms))
    return broken > 0 or alarms > 0 or bool(wrong) or rate < float(OPTIONS.get("least", 0))


if __name__ == "__main__":
    PROGRAM, AUDITS, EXAMPLES, PATTERNS = [a for a in sys.argv[1:] if not a.startswith("--")]
    sys.exit(main())
