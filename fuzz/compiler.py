#!/usr/bin/env python3
"""Random TTIR functions through the real compiler, each judged by `fusion-audit verify`; scripts/fuzz-compiler.sh runs it.

usage: compiler.py [--count=N] [--seed=S] [--time=SECONDS] [--jobs=N] [--corpus=DIR] [--known=DIR] [--models=DIR] PROGRAM TESTS OPT
PROGRAM is fusion-audit, TESTS the folder of the programs `examples` and `agree`, OPT ttmlir-opt. A function is an
example of a pattern, one that matches or a near miss, a function of MODELS, or one of random ops, changed at up to four
places: a number, an axis, an operator, an operand, an element type, an extent, the end that a slice is at, a further
user, ops in between, another function behind it. The pipeline runs with random options. What differs, or is refused with
fusing on alone, is reduced as long as the same pass makes the difference, and told once for each kind; DIR keeps it. The
program is judged, too: what it says to differ does so where both functions are evaluated in full, an audit finds the same
under other names and in another order, and no place is found whose fused op is all that is there. Exit status 1: the
compiler is wrong in a way that KNOWN does not have, or the program is.
"""
import argparse
import collections
import glob
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
import legal_test

BATCH = 50            # functions of a module
LIMIT = 20            # seconds of processor of one run of the compiler or of the program
TRIES = 150           # runs to reduce one difference
PIPELINE = "--ttir-to-ttnn-backend-pipeline=mock-system-desc-arch=wormhole_b0 optimization-level=0 "
FUSING_OPTIONS = ["enable-fusing-conv2d-with-multiply-pattern", "enable-permute-matmul-fusion",
                  "enable-permute-slice-after-matmul-fusion"]
OPTIONS = FUSING_OPTIONS + ["enable-erase-inverse-ops-pass", "enable-implicit-broadcast-folding-pass",
                            "enable-quant-dequant-conversion-pass", "enable-const-eval", "enable-cpu-hoisted-const-eval",
                            "enable-ttnn-decomposition-pass", "enable-optimization-passes", "enable-remove-dead-values",
                            "enable-decomposition-workaround-pass", "enable-layout-workaround-pass",
                            "enable-activation-dtype-lowering", "enable-dram-space-saving-optimization-pass"]
QUIET = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"}   # which takes seconds of each crash
EVALUATED = " enable-const-eval=false enable-cpu-hoisted-const-eval=false"   # as one function; the last word counts
SAME = 1e-6           # relative: constants are printed in single precision
NUMBERS = [["0", "1", "-1", "2", "-3", "0.5", "30", "-30", "1e-6"], ["1"], ["-1"], ["1e-4", "-3e-5"], ["1e-4", "-1e-4"], ["1e-12", "-3e-13"], ["0"], []]   # that arguments are made of
OP = re.compile(r'\s*(?:((?:%\w+(?:, )?)+)(?::(\d+))? = )?"([\w.]+)"\((.*?)\)(?: <\{(.*)\}>)?(?: (\{.*\}))? : \((.*)\) -> (.*)')
HEAD = re.compile(r"\s*func\.func (?:private )?@\w+\((.*?)\) -> ")
MOVES = re.compile(r"\.(pad|slice|reshape|permute|concat|repeat|broadcast|typecast|to_)")
OTHER = {"add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply", "maximum": "minimum",
         "minimum": "maximum", "exp": "neg", "rsqrt": "sqrt", "sqrt": "rsqrt", "sigmoid": "tanh", "tanh": "sigmoid",
         "silu": "sigmoid", "gelu": "relu", "relu": "neg", "neg": "abs", "cos": "sin", "sin": "cos",
         "mean": "sum", "sum": "max", "max": "mean", "eq": "ne", "gt": "le", "le": "gt", "lt": "ge", "ge": "lt",
         "div": "multiply", "softmax": "softmax"}
UNARY = ["neg", "exp", "relu", "sigmoid", "abs", "tanh"]


class Op:
    def __init__(self, name, operands, types, attributes, results, result_types, more=""):
        self.name, self.operands, self.types, self.attributes = name, operands, types, attributes
        self.results, self.result_types, self.more = results, result_types, more

    def copy(self):
        return Op(self.name, self.operands[:], self.types[:], self.attributes, self.results[:], self.result_types[:],
                  self.more)

    def text(self, where):
        packed = self.results and "#" in self.results[0]
        names = "%s:%d" % (self.results[0].partition("#")[0], len(self.results)) if packed else ", ".join(self.results)
        left = names and names + " = "
        of = ", ".join(self.result_types)
        return '    %s"%s"(%s)%s%s : (%s) -> %s loc("%s")\n' % (
            left, self.name, ", ".join(self.operands), " <{%s}>" % self.attributes if self.attributes else "", self.more,
            ", ".join(self.types), of if len(self.result_types) == 1 else "(%s)" % of, where)


class Function:
    """Arguments are (name, type, attributes); a value is its name."""

    def __init__(self, arguments, ops, returns):
        self.arguments, self.ops, self.returns = arguments, ops, returns

    def copy(self):
        return Function(self.arguments[:], [o.copy() for o in self.ops], self.returns[:])

    def types(self):
        known = {name: type_ for name, type_, _ in self.arguments}
        for op in self.ops:
            known.update(zip(op.results, op.result_types))
        return known

    def text(self, name):
        types = self.types()
        of = [types[r] for r in self.returns]
        lines = "".join(op.text("%s:%d" % (name, i)) for i, op in enumerate(self.ops))
        return "  func.func @%s(%s) -> (%s) {\n%s    return %s : %s\n  }\n" % (
            name, ", ".join("%s: %s%s" % a for a in self.arguments), ", ".join(of), lines, ", ".join(self.returns),
            ", ".join(of))

    def replace(self, old, new):
        for op in self.ops:
            op.operands = [new if v == old else v for v in op.operands]
        self.returns = [new if v == old else v for v in self.returns]

    def prune(self):
        """Drops what nothing uses."""
        used = set(self.returns)
        for op in reversed(self.ops):
            if used & set(op.results):
                used |= set(op.operands)
        self.ops = [op for op in self.ops if used & set(op.results)]
        self.arguments = [a for a in self.arguments if a[0] in used]
        return self


def split(text):
    """At commas that stand in no brackets."""
    items, depth = [""], 0
    for before, c in zip(" " + text, text):
        depth += (c in "<([{") - (c in ")]}" or (c == ">" and before != "-"))
        if c == "," and not depth:
            items.append("")
        else:
            items[-1] += c
    return [item.strip() for item in items if item.strip()]


def read(text):
    """Functions as the compiler prints them; those with anything else than ops of TTIR are left out."""
    functions, current = [], None
    for line in text.splitlines():
        head, op = HEAD.match(line), OP.match(line)
        if head:
            arguments = [re.match(r"(%\w+): (\S+?>?)( \{.*\})?$", a) for a in split(head[1])]
            current = Function([(a[1], a[2], a[3] or "") for a in arguments], [], []) if all(arguments) else None
        elif current and re.match(r"\s*return %", line):
            current.returns = [v.strip() for v in re.match(r"\s*return (.*?) : ", line)[1].split(",")]
            functions.append(current)
            current = None
        elif current and op and op[3].startswith("ttir."):
            n = int(op[2] or 1)
            results = [] if not op[1] else op[1].split(", ") if n == 1 else ["%s#%d" % (op[1], i) for i in range(n)]
            of = op[8][1:-1] if op[8].startswith("(") else op[8]
            current.ops.append(Op(op[3], split(op[4]), split(op[7]), op[5] or "", results, split(of),
                                  " " + op[6] if op[6] else ""))
        elif current and line.strip():
            current = None
    return functions


def element(type_):
    return re.search(r"(\w+)>$", type_)[1] if re.search(r"(\w+)>$", type_) else ""


def extents(type_):
    return [int(n) for n in re.findall(r"(\d+)x", type_)]


class Change(random.Random):
    """Changes a function in place. What the compiler refuses afterwards is left out."""

    def of(self, function, seeds):
        for _ in range(self.choice([0, 1, 1, 2, 2, 3, 4])):
            self.choice([self.number, self.number, self.whole, self.operator, self.swap, self.share, self.dtype, self.mixed,
                         self.user, self.between, self.between, self.extent, self.ends, self.behind])(function, seeds)
        return function

    def with_attributes(self, function, pattern):
        found = [(op, m) for op in function.ops for m in re.finditer(pattern, op.attributes)]
        return self.choice(found) if found else (None, None)

    def put(self, op, m, new):
        op.attributes = op.attributes[:m.start()] + new + op.attributes[m.end():]

    def number(self, function, _):
        op, m = self.with_attributes(function, r"-?\d+\.\d+(?:[eE][-+]?\d+)?")
        if op:
            self.put(op, m, "%e" % (float(m[0]) * self.choice([-1, 0, 0.5, 0.9, 1.0001, 1.01, 1.37, 2, 10])))

    def whole(self, function, _):
        op, m = self.with_attributes(function, r"(?<![\w.%])-?\d+(?![\w.])|\btrue\b|\bfalse\b")
        if op and m[0][-1].isdigit():
            n = int(m[0])
            rank = len(extents((op.types or op.result_types)[0]))
            self.put(op, m, str(self.choice([n + 1, n - 1, n + rank, n - rank, 0, 1, 2 * n])))
        elif op:
            self.put(op, m, "false" if m[0] == "true" else "true")

    def operator(self, function, _):
        ops = [op for op in function.ops if op.name[5:] in OTHER]
        if ops:
            op = self.choice(ops)
            op.name = "ttir." + OTHER[op.name[5:]]

    def swap(self, function, _):
        ops = [op for op in function.ops if len(op.operands) > 1]
        if ops:
            op = self.choice(ops)
            i, k = self.sample(range(len(op.operands)), 2)
            for x in op.operands, op.types:
                x[i], x[k] = x[k], x[i]

    def share(self, function, _):
        """An operand becomes another value of its type."""
        known = dict((a[0], a[1]) for a in function.arguments)
        at = self.randrange(len(function.ops))
        for op in function.ops[:at]:
            known.update(zip(op.results, op.result_types))
        op = function.ops[at]
        if op.operands:
            i = self.randrange(len(op.operands))
            op.operands[i] = self.choice([v for v, t in known.items() if t == op.types[i]] or [op.operands[i]])

    def dtype(self, function, _):
        old, new = self.choice([("bf16", "f32"), ("f32", "bf16")])
        function.arguments = [(n, re.sub(r"\b%s>" % old, new + ">", t).replace("x%s>" % old, "x%s>" % new), a)
                              for n, t, a in function.arguments]
        for op in function.ops:
            for types in op.types, op.result_types:
                types[:] = [t.replace("x%s>" % old, "x%s>" % new) for t in types]
            op.attributes = op.attributes.replace("x%s>" % old, "x%s>" % new)

    def mixed(self, function, _):
        """One argument is of another element type than the rest."""
        at = self.randrange(len(function.arguments)) if function.arguments else None
        if at is not None and element(function.arguments[at][1]) in ("f32", "bf16"):
            name, old, attributes = function.arguments[at]
            new = re.sub(r"(bf16|f32)>$", "f32>" if element(old) == "bf16" else "bf16>", old)
            function.arguments[at] = name, new, attributes
            for op in function.ops:
                op.types = [new if v == name else t for v, t in zip(op.operands, op.types)]

    def ends(self, function, _):
        """What is sliced off one end is taken from the other."""
        slices = [op for op in function.ops if op.name == "ttir.slice_static" and len(op.types) == 1]
        op = self.choice(slices) if slices else None
        lists = [re.search(r"\b%s = \[(.*?)\]" % key, op.attributes) for key in ("begins", "ends")] if op else []
        if not all(lists) or not op:
            return
        begins, ends = ([int(n) for n in re.findall(r"(-?\d+)(?: : i32|(?=,|$))", m[1])] for m in lists)
        for d, extent in enumerate(extents(op.types[0])):
            begins[d], ends[d] = extent - ends[d], extent - begins[d]
        for key, numbers in ("begins", begins), ("ends", ends):
            op.attributes = re.sub(r"\b%s = \[.*?\]" % key, "%s = %s" % (key, legal_test.ints(numbers)), op.attributes)

    def user(self, function, _):
        op = self.choice(function.ops)
        if op.results and op.results[0] not in function.returns:
            function.returns.append(op.results[0])

    def between(self, function, _):
        """An op or two before one operand."""
        at = self.randrange(len(function.ops))
        op = function.ops[at]
        if not op.operands:
            return
        i = self.randrange(len(op.operands))
        v, t = op.operands[i], op.types[i]
        new, shape, of = "%%new%d" % self.randrange(1 << 30), extents(t), element(t)
        if not shape or not of:
            return
        flat = "tensor<%dx%s>" % (prod(shape), of)
        order = list(range(len(shape)))
        self.shuffle(order)
        turned = "tensor<%sx%s>" % ("x".join(str(shape[k]) for k in order), of)
        other = "tensor<%sx%s>" % ("x".join(map(str, shape)), "f32" if of == "bf16" else "bf16")
        back = [order.index(k) for k in range(len(shape))]
        made = self.choice(([
            [("ttir." + self.choice(UNARY), t, "")],
            [("ttir.neg", t, ""), ("ttir.neg", t, "")],
            [("ttir.typecast", other, ""), ("ttir.typecast", t, "")]] if of in ("f32", "bf16") else []) + [
            [("ttir.reshape", flat, "shape = [%d : i32]" % prod(shape)),
             ("ttir.reshape", t, "shape = [%s]" % ", ".join("%d : i32" % n for n in shape))],
            [("ttir.permute", turned, "permutation = array<i64: %s>" % ", ".join(map(str, order))),
             ("ttir.permute", t, "permutation = array<i64: %s>" % ", ".join(map(str, back)))]])
        ops = []
        for k, (name, to, attributes) in enumerate(made):
            ops.append(Op(name, [v], [t], attributes, ["%s_%d" % (new, k)], [to]))
            v, t = ops[-1].results[0], to
        function.ops[at:at] = ops
        op.operands[i] = v

    def extent(self, function, _):
        found = sorted({n for t in function.types().values() for n in extents(t) if n > 1})
        if found:
            resize(function, self.choice(found), self.choice([1, 2, 7, 32, 33, 64, 128]))

    def behind(self, function, seeds):
        """Another function takes results of this one."""
        other, types, names = self.choice(seeds).copy(), function.types(), {}
        prefix = "%%o%d" % self.randrange(1 << 30)
        if len(function.ops) + len(other.ops) > 40:
            return
        for name, type_, attributes in other.arguments:
            fits = [v for v in function.returns if types[v] == type_]
            names[name] = self.choice(fits) if fits else prefix + name[1:]
            if not fits:
                function.arguments.append((names[name], type_, attributes))
        for op in other.ops:
            names.update((r, prefix + r[1:]) for r in op.results)
            op.operands, op.results = [names[v] for v in op.operands], [names[r] for r in op.results]
        function.ops += other.ops
        function.returns = [names[v] for v in other.returns]


class Grown(legal_test.Maker):
    """A function of random ops, each of values that are there where their shapes fit, and of layers that are fused or
    nearly."""

    def __init__(self, rng):
        super().__init__(None)
        self.random, self.values, self.function = rng, [], Function([], [], [])

    def shape(self, least=1, most=4):
        fits = [s for _, s in self.values if least <= len(s) <= most]
        return self.random.choice(fits) if fits and self.random.random() < 0.8 else super().shape(least, most)

    def operand(self, shape):
        fits = [name for name, s in self.values if s == shape]
        if fits and self.random.random() < 0.9:
            return self.random.choice(fits)
        kind = self.random.choice(["", " {ttcore.argument_type = #ttcore.argument_type<parameter>}"])
        self.function.arguments.append(("%%arg%d" % len(self.values), legal_test.tensor(shape), kind))
        self.values.append((self.function.arguments[-1][0], shape))
        return self.values[-1][0]

    def add(self, name, operands, attributes, *shapes):
        """Operands are names or shapes; the first result."""
        known = dict(self.values)
        operands = [v if isinstance(v, str) else self.operand(v) for v in operands]
        known.update(self.values)
        number = "%%%d" % len(self.function.ops)
        results = [number] if len(shapes) == 1 else ["%s#%d" % (number, i) for i in range(len(shapes))]
        self.function.ops.append(Op("ttir." + name, operands, [legal_test.tensor(known[v]) for v in operands], attributes,
                                    results, [legal_test.tensor(s) for s in shapes]))
        self.values += zip(results, shapes)
        return results[0]

    def ranked(self):
        """A part of what was sorted, from either end."""
        x = self.shape()[:]
        d, some = self.random.randrange(len(x)), x[:]
        x[d] = self.random.choice([8, 16, 64])
        some[d] = self.random.choice([1, 4, 8])
        flags = tuple(self.random.choice(["true", "false"]) for _ in range(2))
        whole = self.add("sort", [x], "descending = %s, dim = %d : si32, stable = %s" % (flags[0], d, flags[1]), x, x)
        begins = [self.random.choice([0, x[d] - some[d]]) if i == d else 0 for i in range(len(x))]
        for part in self.random.choice([[0], [1], [0, 1]]):
            self.add("slice_static", ["%s#%d" % (whole.partition("#")[0], part)], "begins = %s, ends = %s, step = %s" % tuple(
                map(legal_test.ints, (begins, [b + n for b, n in zip(begins, some)], [1] * len(x)))), some)

    def attended(self):
        """An attention as one op: of one query or several, with a mask or none, whose rows may be one."""
        batch, heads, queries, keys, size = (self.random.choice(c) for c in ([1, 2], [2, 4], [1, 1, 4, 32], [4, 32], [8, 32, 64]))
        groups = self.random.choice([1, 1, 2])
        operands = [[batch, heads, queries, size]] + [[batch, heads // groups, keys, size]] * 2
        mask = self.random.random() < 0.6
        if mask:
            operands.append([self.random.choice([1, batch]), 1, queries, keys])
        self.add("scaled_dot_product_attention", operands, "is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, %d, 0>%s" % (
            mask, self.random.choice(["", ", scale = 1.250000e-01 : f32", ", scale = 1.0 : f32"])), operands[0])

    def convolved(self):
        """A convolution, and often an affine step behind it."""
        groups, inputs, outputs, kernel, n = (self.random.choice(c) for c in ([1, 1, 2], [2, 4], [2, 4], [1, 2, 3], [4, 6]))
        back = self.random.random() < 0.5
        weight = [inputs, outputs // groups] if back else [outputs, inputs // groups]
        size = n + kernel - 1 if back else n - kernel + 1
        out = [1, size, size, outputs]
        attributes = "dilation = array<i32: 1, 1>, groups = %d : i32, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 1, 1>" % groups
        x = self.add("conv_transpose2d" if back else "conv2d", [[1, n, n, inputs], weight + [kernel, kernel]],
                     attributes + (", output_padding = array<i32: 0, 0>" if back else ""), out)
        for _ in range(self.random.choice([0, 1, 1, 2])):
            x = self.scaled(x, out)

    def scaled(self, x, shape):
        """An affine step with one number for each index of one axis, mostly the last."""
        axis = self.random.choice([len(shape) - 1] * 3 + list(range(len(shape))))
        row = [n if i == axis else 1 for i, n in enumerate(shape)]
        return self.add(self.random.choice(["multiply", "multiply", "add", "div", "subtract"]),
                        [x, row][::self.random.choice([1, 1, -1])], "", shape)

    def one(self):
        name, shapes, attributes, out = self.op()
        if 0 not in out:
            self.add(name, shapes, attributes, out)

    def grow(self):
        ops, most = self.function.ops, self.random.randint(3, 14)
        while len(ops) < most:
            self.random.choice([self.one] * 12 + [self.ranked, self.attended, self.convolved])()
        used = {v for op in ops for v in op.operands}
        self.function.returns = [r for op in ops for r in op.results if r not in used]
        return self.function


def prod(numbers):
    n = 1
    for x in numbers:
        n *= x
    return n


def resize(function, old, new):
    """One extent, wherever it stands."""
    number, tensor = r"(?<![\w.])%d(?![\w.])" % old, r"(?<=[<x])%d(?=x)" % old

    def sized(t):
        return re.sub(tensor, str(new), t)
    function.arguments = [(n, sized(t), a) for n, t, a in function.arguments]
    for op in function.ops:
        op.types, op.result_types = [sized(t) for t in op.types], [sized(t) for t in op.result_types]
        op.attributes = re.sub(number, str(new), sized(op.attributes))


class Judge:
    """Runs the compiler and the program in a directory of its own."""

    def __init__(self, options, directory):
        self.o, self.directory = options, directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, command, text=None):
        return subprocess.run(command, capture_output=True, text=True, check=False, input=text, errors="replace", env=QUIET,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)))

    def write(self, name, functions):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write("module {\n%s}\n" % "".join(x.text(n) for n, x in functions))
        return self.path(name)

    def legal(self, functions, *options):
        """Those that the compiler accepts, each on its own, and whether it came to its end."""
        text = "// -----\n".join(x.text(n) for n, x in functions)
        run = self.run([self.o.opt, *options, "--mlir-disable-threading", "--split-input-file", "-", "-o", "-"], text)
        accepted = set(re.findall(r"func\.func @(\w+)\(", run.stdout))
        return [(n, x) for n, x in functions if n in accepted], run.returncode in (0, 1)

    def compile(self, functions, options, log=False):
        """The TTIR, the TTNN (or the log) and "" or why there is none."""
        before, after = self.write("before.mlir", functions), self.path("after.mlir")
        more = "--mlir-print-ir-after-all" if log else "--mlir-print-ir-after-failure"   # with threads these lock one another
        run = self.run([self.o.opt, PIPELINE + options, "--mlir-print-debuginfo", "--mlir-disable-threading", more, before, "-o",
                        after])
        if log:
            with open(self.path("run.log"), "w", encoding="utf-8") as f:
                f.write(run.stderr)
        return before, self.path("run.log") if log else after, "" if run.returncode == 0 else crash(run)

    def verify(self, *files):
        run = self.run([self.o.program, "verify", "-q", "--format=json", "-o", "-", *files])
        if run.returncode not in (0, 1, 3):
            return None, run.stderr
        return json.loads(run.stdout) if run.stdout.strip() else {"checks": []}, ""

    def refusal(self, function, options):
        """What the compiler says of a function that it takes with fusing off; else empty."""
        run = self.run([self.o.opt, PIPELINE + options, self.write("refused.mlir", [("f", function)]), "-o", os.devnull])
        said = re.search(r"error: (.*)", run.stderr)
        off = re.sub("(%s)=true" % "|".join(["enable-fusing-pass"] + FUSING_OPTIONS), r"\1=false", options)
        if not said or self.compile([("f", function)], off)[2]:
            return ""
        return "refused: " + re.sub(r"tensor<.*?>|-?\d+", "N", re.sub(r"^loc\(.*?\)+: ", "", said[1]))[:160]

    def disagree(self, function, options, check):
        """Whether both modules of a function, evaluated in full, differ; None: they cannot be."""
        before, after, failed = self.compile([("f", function)], options + EVALUATED)
        example = re.sub(r" at \[.*?\]", "", "\n".join(re.findall(r"input \S+ [\dx]+: (.*)", check.get("counterexample", ""))))
        evaluated = False
        for numbers in [re.findall(r"(?<![\w.])-?\d[\d.]*(?:e[-+]?\d+)?", example)[:60], *NUMBERS] if not failed else []:
            run = self.run([os.path.join(self.o.tests, "agree"), os.path.join(self.o.patterns, "lowering.yml"), before, after, *numbers])
            evaluated |= run.returncode == 0
            if run.returncode == 0 and not float(run.stdout) < SAME:
                return True
        return False if evaluated else None

    def differences(self, function, options):
        """Of one function: the kinds of difference, by the pass that makes it, and an example."""
        _, log, failed = self.compile([("f", function)], options, log=True)
        if failed:
            failed = self.refusal(function, options) if failed == "refused" else failed
            return {crash_kind(function, failed): None} if failed else {}
        found = {}
        for report in self.verify(log)[0], self.verify(self.path("before.mlir"), self.path("after.mlir"))[0]:
            for check in (report or {}).get("checks", []):
                found.setdefault(kind_of(check), check)
            if found:
                break
        return found

    def report(self, before, after):
        """The entries; None: it is refused, and why."""
        run = self.run([self.o.program, "-q", "--no-validate", "--format=json", "-o", "-", before, after])
        if run.returncode not in (0, 1):
            return None, run.stderr or "status %d" % run.returncode
        return json.loads(run.stdout)["missed_fusions"] if run.stdout.strip() else [], ""

    def findings(self, before, after):
        entries, refused = self.report(before, after)
        return None if entries is None else collections.Counter(e["fused_op"] for e in entries for _ in e["instances"]), refused


def crash(run):
    """A refusal is an error; anything else is a crash, told by its first line or by the pass that fails without one."""
    if run.returncode > 0 and "error:" in run.stderr and "PLEASE submit a bug report" not in run.stderr:
        return "refused"
    lines = [x for x in run.stderr.splitlines() if "Assertion" in x or "LLVM ERROR" in x]
    if run.returncode == -signal.SIGXCPU or run.returncode == -signal.SIGKILL:
        return "crash: takes more than %d s" % LIMIT
    failed = re.search(r"IR Dump After (\w+) Failed", run.stderr)
    return "crash: " + (re.sub(r"^.*?(?=Assertion|LLVM ERROR)", "", lines[0]) if lines else
                        failed[1] + " fails" if failed else "status %d" % run.returncode)


def crash_kind(function, why):
    return "crash", why, tuple(sorted({op.name for op in function.ops} - {"ttir.full", "ttir.constant"}))


def kind_of(check):
    names, after = (set(re.findall(r'"(tt\w+\.\w+)"', check.get(key, ""))) for key in ("before", "after"))
    made = check.get("fused_op") or ", ".join(sorted(after))
    new = {bare(op): op for op in after if bare(op) not in map(bare, names) and not MOVES.search(op)}
    if bare(made) in map(bare, names) and len(new) == 1:   # the user of a result that differs is no new op
        made = new.popitem()[1]
    return check.get("pass", check["kind"]), made, tuple(sorted(names - {"ttir.full", "ttir.constant"}))


def bare(op):
    return re.sub(r"\btt(ir|nn)\.", "", op)


def is_like(kind, other):
    """The same defect: the pass, what it makes (with * at its end: what begins so), and among the ops all of the other's.
    Where only both ends of the pipeline differ, it may be any pass, and the op has been lowered."""
    ends = kind[0] in ("wrong_fusion", "wrong_lowering")
    makes, known = (bare(kind[1]), bare(other[1])) if ends else (kind[1], other[1])
    same = makes.startswith(known[:-1]) if known.endswith("*") else makes == known
    return same and (kind[0] == other[0] or (ends and other[0] != "crash")) and set(other[2]) <= set(kind[2])


def reduce(judge, function, wrong):
    """Smaller, as long as the compiler takes it and `wrong` of it holds."""
    tries = 0

    def still(candidate):
        nonlocal tries
        tries += 1
        return tries < TRIES and judge.legal([("f", candidate)])[0] and wrong(candidate)

    def candidates(f):
        for r in f.returns if len(f.returns) > 1 else []:
            smaller = f.copy()
            smaller.returns = [r]
            yield smaller.prune()
        for i in reversed(range(len(f.ops))):
            for r, t in zip(f.ops[i].results, f.ops[i].result_types):
                for v in [v for v, of in zip(f.ops[i].operands, f.ops[i].types) if of == t] + [None]:
                    smaller = f.copy()
                    name = v or "%%cut%d" % len(f.arguments)
                    if not v:
                        smaller.arguments.append((name, t, ""))
                    smaller.replace(r, name)
                    smaller.prune()
                    if len(smaller.ops) < len(f.ops):
                        yield smaller
        for n in sorted({n for t in f.types().values() for n in extents(t) if n > 2}, reverse=True):
            for small in (2, n // 2):
                smaller = f.copy()
                resize(smaller, n, small)
                yield smaller
    smaller = True
    while smaller and tries < TRIES:
        smaller = next((c for c in candidates(function) if c.ops and still(c)), None)
        function = smaller or function
    return function


def taken(judge, functions, options, failed):
    """Those that the pipeline takes; of the others, crashes and what fusing alone refuses go to `failed`."""
    accepted, ended = judge.legal(functions, PIPELINE + options)
    if not ended and len(functions) > 1:
        half = len(functions) // 2
        return taken(judge, functions[:half], options, failed) + taken(judge, functions[half:], options, failed)
    names = {name for name, _ in accepted}
    for name, function in functions:
        why = judge.compile([(name, function)], options)[2] if name not in names else ""
        why = judge.refusal(function, options) if why == "refused" else why
        failed += [(function, crash_kind(function, why))] if why else []
    return accepted


def judge_batch(judge, functions, options, result):
    functions = taken(judge, functions, options, result["compiler"])
    before, after, failed = judge.compile(functions, options)
    if failed or not functions:   # all of them together may take too long
        return
    result["functions"] += len(functions)
    report, refused = judge.verify(before, after)
    if report is None:
        result["program"].append(("verify: " + refused, functions))
        return
    for name, value in report.get("compared", {}).get("before", {}).items():
        result["ops"][name] += value
    found = {int(n) for c in report["checks"] for n in re.findall(r'loc\("f(\d+):', c.get("before", ""))}
    for name, function in functions if report["checks"] else []:
        if int(name[1:]) in found or not found:
            kinds = judge.differences(function, options)
            result["compiler"] += [(function, kind) for kind in kinds]
            said, answers = in_full(judge, function, kinds, options)
            result["program"] += [(what, [(name, function)]) for what in said]
            result["evaluated"].update(answers)
    result["program"] += [(what, functions) for what in violations(judge, functions, options)]


def in_full(judge, function, kinds, options):
    """What evaluation of the whole function says against what differs: violations, and a list of answers."""
    answers = [(kind, judge.disagree(function, options, check)) for kind, check in kinds.items() if check]
    return ["verify: %s makes %s, which is the same in full" % kind[:2] for kind, answer in answers if answer is False], [
        str(answer) for _, answer in answers]


def names_change_nothing(judge, before, after):
    """What is wrong, or None: the audit finds the same where functions and locations are called otherwise and stand in
    another order."""
    one, refused = judge.findings(before, after)
    if one is None:
        return "audit: " + refused
    texts = []
    for path in before, after:
        with open(path, encoding="utf-8") as f:
            text = re.sub(r'([@"])f(\d+)', r"\1g\2", f.read())
        texts.append(path + ".renamed.mlir")
        if path == before:
            parts = re.split(r"(?m)^(?=  func\.func @)", text[:text.rindex("}")])
            text = parts[0] + "".join(reversed(parts[1:])) + "}\n"
        with open(texts[-1], "w", encoding="utf-8") as f:
            f.write(text)
    two, refused = judge.findings(*texts)
    return None if one == two else "audit: other findings after renaming: %s" % (refused or dict(one - two) or dict(two - one))


def violations(judge, functions, options):
    """What our own program says wrongly of a module."""
    before, after, refused = judge.compile(functions, options)
    if refused:
        return []
    said = [names_change_nothing(judge, before, after)]
    for entry in judge.report(before, after)[0] or []:
        for place in entry["instances"]:
            if [op["op"] for op in place.get("ops", []) if op["part"] == "matched" and "op" in op] == [entry["fused_op"]]:
                said.append("finding: %s stands there already" % entry["fused_op"])
    return [what for what in said if what]


def sort_of(violation):
    return re.sub(r"/\S*/|\(ttir\.\w+|[%:]\w+|\d+", "N", violation)[:160]   # of any place, number or directory


def work(arguments):
    options, seeds, number = arguments
    rng = Change("%s:%d" % (options.seed, number))
    result = {"number": number, "made": BATCH, "functions": 0, "compiler": [], "program": [],
              "ops": collections.Counter(), "evaluated": collections.Counter()}
    functions = [("f%d" % i, rng.of(Grown(rng).grow() if rng.random() < 0.2 else rng.choice(seeds).copy(), seeds))
                 for i in range(BATCH)]
    chosen = "enable-fusing-pass=%s" % rng.choice(["true", "true", "false"])
    chosen += "".join(" %s=%s" % (o, rng.choice(["true", "false"])) for o in OPTIONS if rng.random() < 0.15)
    result["options"] = chosen
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        judge = Judge(options, directory)
        legal = judge.legal(functions)[0]
        if legal:
            judge_batch(judge, legal, chosen, result)
    return result


class Found:
    """Kinds of difference, each once."""

    def __init__(self, options):
        self.options, self.kinds, self.new = options, [], 0
        for path in sorted(glob.glob(os.path.join(options.known, "*.mlir"))) if options.known else []:
            with open(path, encoding="utf-8") as f:
                head = dict(re.findall(r"(?m)^// (\w+): (.*)$", f.read()))
            self.kinds.append(((head["pass"], head["makes"], tuple(head.get("of", "").split())), os.path.basename(path)))
        self.seen = collections.Counter()

    def known(self, kind):
        return next((name for k, name in self.kinds if is_like(kind, k)), None)

    def add(self, function, kind, chosen):
        name = self.known(kind)
        if not name:
            with tempfile.TemporaryDirectory(dir=self.options.directory) as directory:
                judge = Judge(self.options, directory)
                small = reduce(judge, function.copy(), lambda f: any(k[:2] == kind[:2] for k in judge.differences(f, chosen)))
                kinds = judge.differences(small, chosen)
                smallest = next((k for k in kinds if k[:2] == kind[:2]), kind)
                name = self.known(smallest)
                if not name:
                    name = self.keep(small, smallest, kinds.get(smallest), chosen)
                    self.kinds.append((smallest, name))
            self.kinds.append((kind, name))
        self.seen[name] += 1

    def keep(self, function, kind, check, chosen):
        self.new += 1
        name = "%s-%d.mlir" % (re.sub(r"\W+", "-", kind[0] + " " + kind[1])[:60].strip("-"), self.new)
        example = "".join("//   %s\n" % line for line in (check or {}).get("counterexample", "").splitlines())
        text = "// pass: %s\n// makes: %s\n// of: %s\n// options: %s\n%s%s" % (*kind[:2], " ".join(kind[2]), chosen, example,
                                                                            "module {\n%s}\n" % function.text("f"))
        print("\n%s\n%s" % (name, text), flush=True)
        if self.options.corpus:
            with open(os.path.join(self.options.corpus, name), "w", encoding="utf-8") as f:
                f.write(text)
        return name


def smallest_violation(options, functions, what, chosen):
    """The text of a module that shows it: of one function, made smaller, where one shows it."""
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        judge = Judge(options, directory)

        def wrong(f):
            said = (in_full(judge, f, judge.differences(f, chosen), chosen)[0] if what.endswith(" in full") else
                    violations(judge, [("f0", f)], chosen))
            return any(sort_of(v) == sort_of(what) for v in said)
        one = next((f for _, f in functions if wrong(f)), None)
        path = judge.write("ours.mlir", [("f0", reduce(judge, one.copy(), wrong))] if one else functions)
        with open(path, encoding="utf-8") as f:
            return "// %s\n// options: %s\n%s" % (what, chosen, f.read())


def keep_violation(options, number, what, text):
    print("\nours: %s\n%s" % (what, text), flush=True)
    if options.corpus:
        with open(os.path.join(options.corpus, "ours-%d.mlir" % number), "w", encoding="utf-8") as f:
            f.write(text)


def seeds_of(options):
    """Examples of patterns and functions of models, as the compiler prints them."""
    examples = subprocess.run([os.path.join(options.tests, "examples"), "print", options.patterns], capture_output=True, text=True, check=True).stdout
    chunks = [c for c in examples.split("// -----\n") if '"ttir.' in c and '"ttnn.' not in c]
    for path in sorted(glob.glob(os.path.join(options.models, "**", "*.ttir.mlir"), recursive=True)) if options.models else []:
        with open(path, encoding="utf-8") as f:
            chunks.append(f.read())
    out = subprocess.run([options.opt, "--split-input-file", "-", "-o", "-"], input="// -----\n".join(chunks), text=True,
                         capture_output=True, check=False).stdout
    return [f for f in read(out) if f.ops and f.returns and len(f.ops) <= 120
            and not any("dense_resource" in op.attributes for op in f.ops)]   # whose numbers are elsewhere


def start(options):
    """The number of batches done by an earlier run with this seed."""
    path = options.corpus and os.path.join(options.corpus, "state-%s" % options.seed)
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            return int(f.read())
    return 0


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][7:])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--time", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, help="processes; else as many as there are processors")
    parser.add_argument("--corpus", help="a directory of what was found, and of how far a run came")
    parser.add_argument("--known", default=os.path.join(here, "..", "fixtures", "compiler-defects"))
    parser.add_argument("--patterns", default=os.path.join(here, "..", "patterns"))
    parser.add_argument("--models")
    for name in "program", "tests", "opt":
        parser.add_argument(name)
    options = parser.parse_args()
    if options.corpus:
        os.makedirs(options.corpus, exist_ok=True)
    seeds, found, ours = seeds_of(options), Found(options), set()
    first, begin, total, evaluated = start(options), time.monotonic(), collections.Counter(), collections.Counter()
    last = first + -(-options.count // BATCH)
    # what a run that ends in time leaves of its last batches goes with the directory
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as options.directory, multiprocessing.Pool(options.jobs) as pool:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))   # and the processes of the pool end, too
        for r in pool.imap(work, ((options, seeds, n) for n in range(first, last))):
            evaluated.update(r["evaluated"])
            total.update({"made": r["made"], "functions": r["functions"], **{"ops " + k: v for k, v in r["ops"].items()}})
            for function, kind in r["compiler"]:
                found.add(function, kind, r["options"])
            for what, functions in r["program"]:
                if sort_of(what) not in ours:
                    ours.add(sort_of(what))
                    keep_violation(options, len(ours) - 1, what, smallest_violation(options, functions, what, r["options"]))
            print("\r%d of %d functions, %d kinds of difference (%d new), %d violations of our own" % (
                total["made"], options.count, len(found.seen), found.new, len(ours)), end="", file=sys.stderr, flush=True)
            if options.corpus:
                with open(os.path.join(options.corpus, "state-%s" % options.seed), "w", encoding="utf-8") as f:
                    f.write("%d\n" % (r["number"] + 1))
            if time.monotonic() - begin > options.time:
                pool.terminate()
                break
    print(file=sys.stderr)
    for name, n in sorted(found.seen.items()):
        print("%6d  %s" % (n, name))
    print("seeds %d, functions made %d, compiled and judged %d; ops compared %d of %d; kinds of difference %d, new %d; "
          "evaluated in full, of these different %d, the same %d, not evaluated %d; "
          "violations of our own %d" % (len(seeds), total["made"], total["functions"],
                                        total["ops ops"] - total["ops not_compared"], total["ops ops"], len(found.seen),
                                        found.new, *(evaluated[k] for k in ("True", "False", "None")), len(ours)))
    return 1 if found.new or ours else 0


if __name__ == "__main__":
    sys.exit(main())
