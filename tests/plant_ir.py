"""Writes functions of TTIR or TTNN ops as text: a builder that knows the shapes of results, for tests that generate IR."""


class Value:
    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype

    def type(self):
        return "tensor<%s%s>" % ("".join("%dx" % n for n in self.shape), self.dtype)


class Device(Value):
    def __init__(self, name):
        super().__init__(name, (), None)

    def type(self):
        return "!ttnn.device"


def joint(a, b):
    """The shape of an elementwise op of two shapes."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    assert all(x == y or 1 in (x, y) for x, y in zip(a, b)), (a, b)
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def number(x):
    if isinstance(x, str):
        return x
    return "0x%s : f32" % ("FF800000" if x < 0 else "7F800000") if x in (float("inf"), float("-inf")) else "%.9e : f32" % x


def ints(numbers):
    return "[%s]" % ", ".join("%d : i32" % n for n in numbers)


def i64s(numbers):
    return "array<i64%s>" % (": " + ", ".join(map(str, numbers)) if numbers else "")


class Function:
    """One function; level is ttir or ttnn."""

    def __init__(self, level, dtype="bf16"):
        self.level, self.dtype = level, dtype
        self.arguments, self.lines, self.count, self.device_name = [], [], 0, None
        self.extra, self.extras = False, 0  # extra: ops that the other level has no counterpart of are numbered apart

    # what stands in the text
    def argument(self, shape, kind="input", dtype=None, name=None):
        value = Value("%%arg%d" % len(self.arguments), shape, dtype or self.dtype)
        self.arguments.append((value, kind, name or "a%d" % len(self.arguments)))
        return value

    def parameter(self, shape, dtype=None, name=None):
        return self.argument(shape, "parameter", dtype, name)

    def op(self, name, operands, attributes, shape, dtype=None):
        """operands: values; shape: that of the result, or a list of shapes for several results."""
        several = isinstance(shape, list)
        shapes = shape if several else [shape]
        types = dtype if isinstance(dtype, list) else [dtype] * len(shapes)
        self.count += not self.extra
        self.extras += self.extra
        base = "%%%d" % self.count + ("_%d" % self.extras if self.extra else "")
        results = [Value(base if not several else "%s#%d" % (base, i), s, t or (operands[0].dtype if operands else self.dtype))
                   for i, (s, t) in enumerate(zip(shapes, types))]
        given = "(%s)" % ", ".join(v.type() for v in operands)
        yielded = results[0].type() if not several else "(%s)" % ", ".join(v.type() for v in results)
        head = base if not several else "%s:%d" % (base, len(results))
        self.lines.append((head, [v.name for v in operands], '%s = "%s.%s"(%s)%s : %s -> %s' % (
            head, self.level, name, ", ".join(v.name for v in operands), " <{%s}>" % attributes if attributes else "",
            given, yielded)))
        return results if several else results[0]

    def device(self):
        if not self.device_name:
            self.device_name = "%device"
            self.lines.insert(0, ("%device", [], '%device = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = '
                                  "#ttnn<mesh_shape 1x1>}> : () -> !ttnn.device"))
        return Device("%device")

    def text(self, returned, shuffle=None, located=True):
        lines = self.lines if shuffle is None else reorder(self.lines, shuffle)
        out = []
        arguments = ["%s: %s {ttcore.argument_type = #ttcore.argument_type<%s>, ttir.name = \"%s\"}%s" % (
            v.name, v.type(), kind, name, ' loc("%s")' % name if located else "") for v, kind, name in self.arguments]
        types = ", ".join(v.type() for v in returned)
        out.append("  func.func @main(%s) -> %s {" % (", ".join(arguments), types if len(returned) == 1 else "(%s)" % types))
        for head, _, line in lines:
            out.append("    " + line + (' loc("op.%s")' % head[1:].split(":")[0] if located else ""))
        out.append("    return %s : %s" % (", ".join(v.name for v in returned), types))
        return "module {\n" + "\n".join(out) + "\n  }\n}\n"

    # ops
    def full(self, value, shape=(1,), dtype=None):
        if self.level == "ttir":
            attributes = "fill_value = %s, shape = array<i32: %s>" % (number(value), ", ".join(map(str, shape)))
        else:
            attributes = "fill_value = %s, shape = #ttnn.shape<%s>" % (number(value), "x".join(map(str, shape)))
        return self.op("full", [], attributes, shape, dtype or self.dtype)

    def dense(self, value, shape, dtype=None):
        v = Value("", shape, dtype or self.dtype)
        text = value if isinstance(value, str) else "%.9e" % value
        return self.op("constant", [], "value = dense<%s> : %s" % (text, v.type()), shape, dtype or self.dtype)

    def binary(self, name, a, b, dtype=None):
        name = {"div": "divide"}.get(name, name) if self.level == "ttnn" else name
        return self.op(name, [a, b], "", joint(a.shape, b.shape), dtype)

    def add(self, a, b): return self.binary("add", a, b)
    def sub(self, a, b): return self.binary("subtract", a, b)
    def mul(self, a, b): return self.binary("multiply", a, b)
    def div(self, a, b): return self.binary("div", a, b)

    def unary(self, name, a):
        return self.op(name, [a], "", a.shape)

    def where(self, c, a, b):
        return self.op("where", [c, a, b], "", joint(joint(c.shape, a.shape), b.shape), a.dtype)

    def clamp(self, a, low, high):
        return self.op("clamp_scalar", [a], "max = %s, min = %s" % (number(high), number(low)), a.shape)

    def pow(self, a, exponent):
        if self.level == "ttnn":
            return self.op("pow_scalar", [a], "rhs = %s" % number(exponent), a.shape)
        self.extra = True
        exponent = self.full(exponent, (1,) * len(a.shape))
        self.extra = False
        return self.binary("pow", a, exponent)

    def cast(self, a, dtype):
        extra = "conservative_folding = false" if self.level == "ttir" else "dtype = #ttcore.supportedDataTypes<%s>" % dtype
        return self.op("typecast", [a], extra, a.shape, dtype)

    def reduce(self, name, a, dims, keep=True):
        there = {d % len(a.shape) for d in dims}
        shape = [1 if i in there else n for i, n in enumerate(a.shape) if keep or i not in there]
        return self.op(name, [a], "dim_arg = %s, keep_dim = %s" % (ints(dims), str(keep).lower()), tuple(shape))

    def matmul(self, a, b, ta=False, tb=False, bias=None, name=None):
        sa = a.shape[:-2] + (a.shape[-1], a.shape[-2]) if ta else a.shape
        sb = b.shape[:-2] + (b.shape[-1], b.shape[-2]) if tb else b.shape
        assert sa[-1] == sb[-2], (sa, sb)
        return self.op(name or ("linear" if bias else "matmul"), [a, b] + ([bias] if bias else []),
                       "transpose_a = %s, transpose_b = %s" % (str(ta).lower(), str(tb).lower()),
                       joint(sa[:-2], sb[:-2]) + (sa[-2], sb[-1]))

    def dot(self, a, b, batch_a, batch_b, sum_a, sum_b):
        free_a = [n for i, n in enumerate(a.shape) if i not in batch_a + sum_a]
        free_b = [n for i, n in enumerate(b.shape) if i not in batch_b + sum_b]
        return self.op("dot_general", [a, b], "batch_dims_lhs = %s, batch_dims_rhs = %s, contract_dims_lhs = %s, contract_dims_rhs = %s"
                       % tuple(map(i64s, (batch_a, batch_b, sum_a, sum_b))), tuple([a.shape[i] for i in batch_a] + free_a + free_b))

    def reshape(self, a, *shape):
        assert prod(shape) == prod(a.shape), (shape, a.shape)
        return self.op("reshape", [a], "shape = %s" % ints(shape), shape)

    def permute(self, a, *order):
        return self.op("permute", [a], "permutation = %s" % i64s(order), tuple(a.shape[i] for i in order))

    def transpose(self, a, first, second):
        shape = list(a.shape)
        shape[first], shape[second] = shape[second], shape[first]
        return self.op("transpose", [a], "dim0 = %d : si32, dim1 = %d : si32" % (first, second), tuple(shape))

    def broadcast(self, a, *shape):
        times = [n // m for n, m in zip(shape, a.shape)]
        if self.level == "ttir":
            return self.op("broadcast", [a], "broadcast_dimensions = %s" % i64s(times), shape)
        return self.op("repeat", [a], "repeat_dims = #ttnn.shape<%s>" % "x".join(map(str, times)), shape)

    def interleave(self, a, times, dim):
        shape = tuple(n * times if i == dim % len(a.shape) else n for i, n in enumerate(a.shape))
        return self.op("repeat_interleave", [a], "dim = %d : si32, repeats = %d : ui32" % (dim, times), shape)

    def slice(self, a, dim, begin, end, step=1):
        dim %= len(a.shape)
        begins, ends, steps = [0] * len(a.shape), list(a.shape), [1] * len(a.shape)
        begins[dim], ends[dim], steps[dim] = begin, end, step
        shape = tuple((end - begin + step - 1) // step if i == dim else n for i, n in enumerate(a.shape))
        return self.op("slice_static", [a], "begins = %s, ends = %s, step = %s" % (ints(begins), ints(ends), ints(steps)), shape)

    def concat(self, parts, dim):
        at = dim % len(parts[0].shape)
        shape = tuple(sum(p.shape[at] for p in parts) if i == at else n for i, n in enumerate(parts[0].shape))
        return self.op("concat", parts, "dim = %d : si32" % dim, shape)

    def softmax(self, a, dim=-1, stable=None):
        return self.op("softmax", [a], "dimension = %d : si32%s" % (dim, "" if stable is None else ", numericStable = " + str(stable).lower()), a.shape)

    def compare(self, name, a, b):
        return self.op(name, [a, b], "", joint(a.shape, b.shape))


def prod(numbers):
    out = 1
    for n in numbers:
        out *= n
    return out


def reorder(lines, rng):
    """The lines in a random order in which every value stands before its uses."""
    made, left, out = set(), list(lines), []
    names = {line[0].split(":")[0] for line in lines}
    while left:
        ready = [l for l in left if all(o.split("#")[0] in made or o.split("#")[0] not in names for o in l[1])]
        line = rng.choice(ready)
        left.remove(line)
        made.add(line[0].split(":")[0])
        out.append(line)
    return out
