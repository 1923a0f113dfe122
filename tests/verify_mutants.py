#!/usr/bin/env python3
"""Mutants of AFTER: `fusion-audit verify` has to find those that compute something else, and none that does not.

usage: verify_mutants.py PROGRAM [--count=40] [--seed=0] [--least=0.98] [--list]
Each mutant is a small TTIR function beside a copy with one change: an operand swapped, a constant, an axis, a slice, an
epsilon, a mask. Whether the two differ is decided here, by evaluating both in doubles in their own shapes with an
interpreter of its own. 500 mutants are the long form; the suite runs the default.
"""
import argparse
import math
import os
import random
import re
import subprocess
import sys
import tempfile

# A program is a list of (name, op, operands, attributes, shape); attributes are Python values.
SEQ, DIM, HEADS = 6, 8, 2


def shape_text(shape):
    return "x".join(map(str, shape)) + ("x" if shape else "") + "f32"


def attribute_text(op, attributes):
    kinds = {"dim_arg": lambda v: f"[{v} : i32]", "keep_dim": lambda v: "true" if v else "false",
             "dimension": lambda v: f"{v} : si32", "dim": lambda v: f"{v} : si32",
             "permutation": lambda v: f"array<i64: {', '.join(map(str, v))}>",
             "shape": lambda v: f"[{', '.join(f'{x} : i32' for x in v)}]",
             "begins": lambda v: f"[{', '.join(f'{x} : i32' for x in v)}]",
             "ends": lambda v: f"[{', '.join(f'{x} : i32' for x in v)}]",
             "step": lambda v: f"[{', '.join(f'{x} : i32' for x in v)}]",
             "min": lambda v: f"{v:e} : f32", "max": lambda v: f"{v:e} : f32"}
    if op == "full":
        return f"fill_value = {attributes['value']:.6e} : f32, shape = array<i32: {', '.join(map(str, attributes['of']))}>"
    return ", ".join(f"{k} = {kinds[k](v)}" for k, v in sorted(attributes.items()))


def print_program(arguments, program, result):
    shapes = dict(arguments)
    lines = []
    for name, op, operands, attributes, shape in program:
        shapes[name] = shape
        signature = ", ".join(f"tensor<{shape_text(shapes[o])}>" for o in operands)
        lines.append(f'    %{name} = "ttir.{op}"({", ".join("%" + o for o in operands)}) '
                     f'<{{{attribute_text(op, attributes)}}}> : ({signature}) -> tensor<{shape_text(shape)}> '
                     f'loc("{op}.{name}")')
    head = ", ".join(f"%{n}: tensor<{shape_text(s)}>" for n, s in arguments)
    kind = f"tensor<{shape_text(shapes[result])}>"
    return f"module {{\n  func.func @main({head}) -> {kind} {{\n" + "\n".join(lines) + f"\n    return %{result} : {kind}\n  }}\n}}\n"


# ---- an interpreter: tensors are (shape, list) ----


def strides(shape):
    out, n = [], 1
    for d in reversed(shape):
        out.insert(0, n)
        n *= d
    return out


def indices(shape):
    if not shape:
        yield ()
        return
    for i in range(shape[0]):
        for rest in indices(shape[1:]):
            yield (i, *rest)


def at(t, index):
    shape, data = t
    index = index[len(index) - len(shape):]
    return data[sum((0 if d == 1 else i) * s for i, d, s in zip(index, shape, strides(shape)))]


def make(shape, f):
    return tuple(shape), [f(i) for i in indices(shape)]


BINARY = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
          "div": lambda a, b: a / b, "maximum": max, "minimum": min}
UNARY = {"exp": math.exp, "tanh": math.tanh, "neg": lambda a: -a, "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
         "rsqrt": lambda a: 1 / math.sqrt(a), "relu": lambda a: max(a, 0)}


def along(op, t, axis, keep):
    shape, _ = t
    axis %= len(shape)
    out = [1 if i == axis else d for i, d in enumerate(shape)]

    def line(i):
        return [at(t, i[:axis] + (k,) + i[axis + 1:]) for k in range(shape[axis])]

    reduce = {"sum": sum, "mean": lambda x: sum(x) / len(x), "max": max}[op]
    _, data = make(out, lambda i: reduce(line(i)))
    return tuple(out if keep else [d for i, d in enumerate(shape) if i != axis]), data


def softmax(t, axis):
    shape, _ = t
    axis %= len(shape)

    def value(i):
        x = [at(t, i[:axis] + (k,) + i[axis + 1:]) for k in range(shape[axis])]
        return math.exp(at(t, i) - max(x)) / sum(math.exp(v - max(x)) for v in x)

    return make(shape, value)


def evaluate(arguments, program, result, values):
    env = dict(values)
    for name, op, operands, a, shape in program:
        x = [env[o] for o in operands]
        if op == "full":
            env[name] = make(shape, lambda i, v=float(f"{a['value']:.6e}"): v)
        elif op in BINARY:
            env[name] = make(shape, lambda i, x=x, f=BINARY[op]: f(at(x[0], i), at(x[1], i)))
        elif op in UNARY:
            env[name] = make(shape, lambda i, x=x, f=UNARY[op]: f(at(x[0], i)))
        elif op == "clamp_scalar":
            env[name] = make(shape, lambda i, x=x, a=a: min(max(at(x[0], i), a["min"]), a["max"]))
        elif op in ("sum", "mean", "max"):
            env[name] = along(op, x[0], a["dim_arg"], a["keep_dim"])
        elif op == "softmax":
            env[name] = softmax(x[0], a["dimension"])
        elif op == "permute":
            env[name] = make(shape, lambda i, x=x, p=a["permutation"]: at(x[0], tuple(i[p.index(d)] for d in range(len(p)))))
        elif op == "reshape":
            env[name] = tuple(shape), x[0][1]
        elif op == "slice_static":
            env[name] = make(shape, lambda i, x=x, b=a["begins"]: at(x[0], tuple(k + o for k, o in zip(i, b))))
        elif op == "concat":
            d, n = a["dim"] % len(shape), x[0][0][a["dim"] % len(shape)]
            env[name] = make(shape, lambda i, x=x, d=d, n=n: at(x[0], i) if i[d] < n else
                             at(x[1], i[:d] + (i[d] - n,) + i[d + 1:]))
        elif op == "matmul":
            k = x[0][0][-1]
            env[name] = make(shape, lambda i, x=x, k=k: sum(at(x[0], i[:-1] + (j,)) * at(x[1], i[:-2] + (j, i[-1]))
                                                             for j in range(k)))
        else:
            raise KeyError(op)
    return env[result]


# ---- programs ----


def norm():
    s, one = (SEQ, DIM), (SEQ, 1)
    return [("x", s), ("w", (1, DIM))], [
        ("q", "multiply", ["x", "x"], {}, s), ("m", "mean", ["q"], {"dim_arg": 1, "keep_dim": True}, one),
        ("e", "full", [], {"value": 1e-3, "of": (1, 1)}, (1, 1)), ("a", "add", ["m", "e"], {}, one),
        ("r", "rsqrt", ["a"], {}, one), ("n", "multiply", ["x", "r"], {}, s), ("y", "multiply", ["n", "w"], {}, s)], "y"


def attention():
    q, k, p = (HEADS, SEQ, DIM), (HEADS, DIM, SEQ), (HEADS, SEQ, SEQ)
    return [("q", q), ("k", q), ("v", q), ("mask", (1, SEQ, SEQ))], [
        ("t", "permute", ["k"], {"permutation": [0, 2, 1]}, k), ("s", "matmul", ["q", "t"], {}, p),
        ("c", "full", [], {"value": 0.3535534, "of": (1, 1, 1)}, (1, 1, 1)), ("z", "multiply", ["s", "c"], {}, p),
        ("b", "add", ["z", "mask"], {}, p), ("w", "softmax", ["b"], {"dimension": 2}, p),
        ("o", "matmul", ["w", "v"], {}, q)], "o"


def rotary():
    s, h = (SEQ, DIM), (SEQ, DIM // 2)
    return [("x", s), ("cos", s), ("sin", s)], [
        ("l", "slice_static", ["x"], {"begins": [0, 0], "ends": [SEQ, DIM // 2], "step": [1, 1]}, h),
        ("u", "slice_static", ["x"], {"begins": [0, DIM // 2], "ends": [SEQ, DIM], "step": [1, 1]}, h),
        ("n", "neg", ["u"], {}, h), ("t", "concat", ["n", "l"], {"dim": 1}, s),
        ("a", "multiply", ["x", "cos"], {}, s), ("b", "multiply", ["t", "sin"], {}, s), ("y", "add", ["a", "b"], {}, s)], "y"


def gated():
    s = (SEQ, DIM)
    return [("x", s), ("g", s), ("v", (DIM, DIM))], [
        ("p", "matmul", ["x", "v"], {}, s), ("h", "sigmoid", ["g"], {}, s), ("i", "multiply", ["g", "h"], {}, s),
        ("m", "multiply", ["p", "i"], {}, s), ("c", "clamp_scalar", ["m"], {"min": -0.5, "max": 1.5}, s),
        ("d", "subtract", ["c", "x"], {}, s), ("y", "maximum", ["d", "g"], {}, s)], "y"


PROGRAMS = [norm, attention, rotary, gated]

# ---- mutations: a changed program, or None ----


def replace(program, i, **changes):
    out = list(program)
    fields = dict(zip(("name", "op", "operands", "attributes", "shape"), out[i]), **changes)
    out[i] = tuple(fields.values())
    return out


def swap_operands(r, arguments, program, i):
    _, _, operands, _, shape = program[i]
    shapes = dict(arguments) | {p[0]: p[4] for p in program}
    if len(operands) != 2 or operands[0] == operands[1] or (shapes[operands[0]] != shapes[operands[1]]):
        return None
    return replace(program, i, operands=operands[::-1])


def change_constant(r, arguments, program, i):
    a = program[i][3]
    keys = [k for k in ("value", "min", "max") if k in a]
    if not keys:
        return None
    key = r.choice(keys)
    return replace(program, i, attributes=a | {key: a[key] * r.choice([0.5, 0.9, 1.05, 1.4, 2])})


def move_epsilon(r, arguments, program, i):
    """add(m, e) becomes m, and what follows gets the epsilon behind the root."""
    if program[i][1] != "rsqrt":
        return None
    name, _, operands, _, shape = program[i]
    add = next((p for p in program if p[0] == operands[0] and p[1] == "add"), None)
    if not add:
        return None
    out = replace(program, i, name="r0", operands=[add[2][0]])
    return out[:i + 1] + [(name, "add", ["r0", add[2][1]], {}, shape)] + out[i + 1:]


def change_axis(r, arguments, program, i):
    name, op, operands, a, shape = program[i]
    if op == "softmax":
        return replace(program, i, attributes={"dimension": (a["dimension"] - 1) % len(shape)})
    if op == "concat":
        return None
    if op == "permute" and shape[-1] == shape[-2]:
        return replace(program, i, attributes={"permutation": list(range(len(shape)))})
    return None


def shift_slice(r, arguments, program, i):
    name, op, operands, a, shape = program[i]
    if op != "slice_static":
        return None
    by = 1 if a["begins"][1] == 0 else -1
    return replace(program, i, attributes=a | {"begins": [a["begins"][0], a["begins"][1] + by],
                                               "ends": [a["ends"][0], a["ends"][1] + by]})


def drop_op(r, arguments, program, i):
    """The op is gone: what takes it takes its first operand."""
    name, op, operands, a, shape = program[i]
    shapes = dict(arguments) | {p[0]: p[4] for p in program}
    if not operands or shapes[operands[0]] != shape or i + 1 == len(program):
        return None
    rest = [(n, o, [operands[0] if x == name else x for x in xs], b, s) for n, o, xs, b, s in program[i + 1:]]
    return program[:i] + rest


def change_operand(r, arguments, program, i):
    name, op, operands, a, shape = program[i]
    shapes = dict(arguments) | {p[0]: p[4] for p in program[:i]}
    if not operands:
        return None
    k = r.randrange(len(operands))
    others = [n for n, s in shapes.items() if s == shapes[operands[k]] and n != operands[k]]
    if not others:
        return None
    return replace(program, i, operands=[r.choice(others) if j == k else o for j, o in enumerate(operands)])


def change_op(r, arguments, program, i):
    op = program[i][1]
    other = {"mean": "sum", "add": "subtract", "multiply": "div", "maximum": "minimum", "sigmoid": "tanh"}.get(op)
    return replace(program, i, op=other) if other else None


def nothing(r, arguments, program, i):
    """A change that changes nothing: operands of what commutes, or an axis counted from the end."""
    name, op, operands, a, shape = program[i]
    if op in ("add", "multiply", "maximum"):
        return replace(program, i, operands=operands[::-1])
    if op == "softmax":
        return replace(program, i, attributes={"dimension": a["dimension"] - len(shape)})
    return None


MUTATIONS = [swap_operands, change_constant, move_epsilon, change_axis, shift_slice, drop_op, change_operand, change_op, nothing]


def mutant(r):
    while True:
        arguments, program, result = r.choice(PROGRAMS)()
        mutate = r.choice(MUTATIONS)
        changed = mutate(r, arguments, program, r.randrange(len(program)))
        if changed:
            return mutate.__name__, arguments, program, changed, result


def differ(r, arguments, program, changed, result):
    """True, False, or None where the numbers do not tell."""
    worst = None
    for trial in range(8):
        low = 0.1 if trial % 2 else -2  # roots are of positive numbers
        values = {n: make(s, lambda i: r.uniform(low, 2) * r.choice([1, 1, 3])) for n, s in arguments}
        try:
            x, y = (evaluate(arguments, p, result, values)[1] for p in (program, changed))
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        size = max(map(abs, x))
        worst = max([worst or 0] + [abs(a - b) / max(size, 1e-30) for a, b in zip(x, y)])
    return None if worst is None or 1e-9 <= worst <= 1e-4 else worst > 1e-4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.98)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    r = random.Random(options.seed)
    counts = {"found": 0, "missed": 0, "false": 0, "same": 0, "undecided": 0}
    with tempfile.TemporaryDirectory() as directory:
        before, after, report = (os.path.join(directory, n) for n in ("before.mlir", "after.mlir", "check.yml"))
        for _ in range(options.count):
            name, arguments, program, changed, result = mutant(r)
            truth = differ(r, arguments, program, changed, result)
            with open(before, "w") as f:
                f.write(print_program(arguments, program, result))
            with open(after, "w") as f:
                f.write(print_program(arguments, changed, result))
            run = subprocess.run([options.program, "verify", "-q", "-o", report, before, after], capture_output=True, text=True)
            what = "undecided"
            if truth is not None:
                what = ("found" if truth else "false") if run.returncode == 1 else ("missed" if truth else "same")
            counts[what] += 1
            if what in ("missed", "false") or options.list:
                print(f"{what}: {name}, status {run.returncode}: {run.stderr.strip()}")
                for line in set(print_program(arguments, changed, result).splitlines()) - \
                        set(print_program(arguments, program, result).splitlines()):
                    print("   ", line.strip())
    print(counts)
    different = counts["found"] + counts["missed"]
    return 0 if counts["false"] == 0 and different and counts["found"] >= options.least * different else 1


if __name__ == "__main__":
    sys.exit(main())
