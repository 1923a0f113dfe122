#!/usr/bin/env python3
"""What the compiler accepts is read: no op is refused that ttmlir-opt takes.

usage: legal_test.py PROGRAM COMPILER [FOLDER...] [--modules=N] [--seed=N]
COMPILER is a script that prints the folder of ttmlir-opt; where it is absent the test is skipped. Without folders modules
of one op each are made: of every op below, of ranks, extents, optional operands and flags at random, half of them with a
result that is not right. With folders their *.mlir are read one by one, and those that differ are listed with the reason.
"""
import glob
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile

SPLIT = "// -----\n"


def tensor(shape):
    return "tensor<%sf32>" % "".join("%dx" % extent for extent in shape)


def broadcast(*shapes):
    return [max(extents) for extents in itertools.zip_longest(*(s[::-1] for s in shapes), fillvalue=1)][::-1]


def ints(values, width="i32"):
    return "[%s]" % ", ".join("%d : %s" % (v, width) for v in values)


class Maker:
    """Each method is a kind of op: operands, attributes and the result of one at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def shape(self, least=1, most=4):
        return [self.random.choice([1, 2, 3, 4, 8]) for _ in range(self.random.randint(least, most))]

    def unary(self):
        x = self.shape()
        return self.random.choice(["relu", "exp", "neg", "sqrt", "typecast"]), [x], "", x

    def binary(self):
        x = self.shape()
        y = [self.random.choice([1, extent]) for extent in x[self.random.randint(0, len(x) - 1):]]
        operands = [x, y] if self.random.random() < 0.5 else [y, x]
        return self.random.choice(["add", "multiply", "subtract", "div", "maximum"]), operands, "", broadcast(x, y)

    def reduction(self):
        x, keep = self.shape(), self.random.random() < 0.5
        dims = sorted(self.random.sample(range(len(x)), self.random.randint(1, len(x))))
        out = [1 if d in dims else e for d, e in enumerate(x) if keep or d not in dims]
        dims = [d - len(x) if self.random.random() < 0.3 else d for d in dims]
        return (self.random.choice(["sum", "mean", "max", "min"]), [x],
                "dim_arg = %s, keep_dim = %s" % (ints(dims), str(keep).lower()), out)

    def reshape(self):
        x = self.shape()
        out = self.random.sample(x, len(x))
        return "reshape", [x], "shape = " + ints(out), out

    def permute(self):
        x = self.shape()
        order = self.random.sample(range(len(x)), len(x))
        return "permute", [x], "permutation = array<i64: %s>" % ", ".join(map(str, order)), [x[d] for d in order]

    def concat(self):
        x = self.shape()
        dim = self.random.randrange(len(x))
        parts = [[self.random.choice([1, 2, 5]) if d == dim else e for d, e in enumerate(x)] for _ in range(2)]
        out = [sum(p[dim] for p in parts) if d == dim else e for d, e in enumerate(x)]
        return "concat", parts, "dim = %d : si32" % (dim - self.random.choice([0, len(x)])), out

    def slice(self):
        x = self.shape()
        begins, ends, steps, out = [], [], [], []
        for extent in x:
            step = self.random.choice([1, 1, 2, -1, -2])
            ends_of = sorted(self.random.randint(0, extent - (step < 0)) for _ in range(2))
            begin, end = ends_of if step > 0 else ends_of[::-1]
            begins, ends, steps = begins + [begin], ends + [end], steps + [step]
            out.append(-(-abs(end - begin) // abs(step)))
        return ("slice_static", [x], "begins = %s, ends = %s, step = %s" % tuple(map(ints, (begins, ends, steps))), out)

    def product(self):
        m, n, k = (self.random.choice([1, 2, 4, 8]) for _ in range(3))
        batch = self.random.choice([[], [], [2], [1], [2, 3]])
        ta, tb = (self.random.random() < 0.3 for _ in range(2))
        a = self.random.choice([[], batch]) + ([k, m] if ta else [m, k])
        b = self.random.choice([[], batch]) + ([n, k] if tb else [k, n])
        if self.random.random() < 0.2:
            a, ta, m = [k], False, None
        if self.random.random() < 0.2:
            b, tb, n = [k], False, None
        out = broadcast(a[:-2], b[:-2]) + [e for e in (m, n) if e] or [1]
        flags = "transpose_a = %s, transpose_b = %s" % (str(ta).lower(), str(tb).lower())
        if self.random.random() < 0.5:
            return "matmul", [a, b], flags, out
        bias = self.random.choice([out, out[-1:], [1] + out, [3] + out, [1]])
        return "linear", [a, b, bias], flags, broadcast(out, bias)

    def along(self):
        x = self.shape()
        return "softmax", [x], "dimension = %d : si32" % self.random.randint(-len(x), len(x) - 1), x

    def norm(self):
        x = self.shape(2)
        weights = self.random.choice([0, 1, 2])
        name = self.random.choice(["rms_norm", "layer_norm"])
        return (name, [x] + [x[-1:]] * weights, "%sepsilon = 1.0e-5 : f32, operandSegmentSizes = array<i32: 1, %d, %d>" % (
            "normalized_shape = array<i64: %d>, " % x[-1], weights > 0, weights > 1), x)

    def repeat(self):
        x = self.shape()
        times = [self.random.choice([1, 2]) for _ in x]
        return ("repeat", [x], "repeat_dimensions = array<i64: %s>" % ", ".join(map(str, times)),
                [e * t for e, t in zip(x, times)])

    def op(self):
        """Name, shapes of operands, attributes, shape of the result."""
        return self.random.choice([self.unary, self.binary, self.reduction, self.reshape, self.permute, self.concat,
                                   self.slice, self.product, self.along, self.norm, self.repeat])()

    def module(self):
        name, operands, attributes, out = self.op()
        if self.random.random() < 0.5:
            out = self.wrong(out)
        empty = self.random.randrange(len(operands)) if self.random.random() < 0.2 else -1 # an operand that is an *.empty
        given = [i for i in range(len(operands)) if i != empty]
        return "module {\n  func.func @f(%s) -> %s {\n%s    %%r = \"ttir.%s\"(%s)%s : (%s) -> %s\n    return %%r : %s\n  }\n}\n" % (
            ", ".join("%%a%d: %s" % (i, tensor(operands[i])) for i in given), tensor(out),
            "    %%a%d = ttir.empty() : %s\n" % (empty, tensor(operands[empty])) if empty >= 0 else "", name,
            ", ".join("%%a%d" % i for i in range(len(operands))), " <{%s}>" % attributes if attributes else "",
            ", ".join(map(tensor, operands)), tensor(out), tensor(out))

    def wrong(self, out):
        out = out[:]
        if out and self.random.random() < 0.7:
            out[self.random.randrange(len(out))] += self.random.choice([1, -1, 2])
        else:
            out = self.random.choice([out + [1], [1] + out, out[:-1]])
        return [max(extent, 0) for extent in out]


def refused(chunks, path, *command):
    """What a program says against modules, by number; a module that it dies of is refused, too."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(SPLIT.join(chunks))
    run = subprocess.run([*command, path], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode < 0:
        middle = len(chunks) // 2
        if not middle:
            return {0: "died"}
        behind = refused(chunks[middle:], path, *command)
        return refused(chunks[:middle], path, *command) | {middle + i: what for i, what in behind.items()}
    ends = list(itertools.accumulate(chunk.count("\n") + 1 for chunk in chunks))
    found = {}
    for line, message in re.findall(r":(\d+):\d+: error: (.*)", run.stderr):
        found.setdefault(next((i for i, end in enumerate(ends) if int(line) <= end), 0), message)
    return found


def chunks_of(folders, options):
    """Names and lists of modules."""
    if not folders:
        maker = Maker(int(options.get("seed", "1")))
        yield "made", [maker.module() for _ in range(int(options.get("modules", "400")))]
    for file in (f for folder in folders for f in sorted(glob.glob(folder + "/**/*.mlir", recursive=True))):
        with open(file, encoding="utf-8") as f:
            yield file, f.read().split(SPLIT)


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    program, compiler, *folders = (a for a in sys.argv[1:] if not a.startswith("--"))
    if not os.path.exists(compiler):
        sys.exit(77)
    opt = subprocess.run([compiler], capture_output=True, text=True, check=True).stdout.strip() + "/ttmlir-opt"
    ours = 0
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "m.mlir")
        pieces = ((name, all_of[i:i + 50]) for name, all_of in chunks_of(folders, options) for i in range(0, len(all_of), 50))
        for name, chunks in pieces: # of which 100 errors are printed
            theirs = refused(chunks, path, opt, "--split-input-file", "-o", os.devnull)
            mine = refused(chunks, path, program, "--ttir-only", "--dry-run", "--no-validate")
            for number in sorted(set(mine) - set(theirs)):
                ours += 1
                print("%s, module %d: %s" % (name, number, mine[number]))
                if not folders:
                    print(chunks[number])
            print("%s: %d modules, the compiler refuses %d, we %d" % (name, len(chunks), len(theirs), len(mine)))
    sys.exit(ours > 0)


if __name__ == "__main__":
    main()
