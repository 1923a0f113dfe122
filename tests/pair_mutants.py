#!/usr/bin/env python3
"""Mutants of what the compiler made: `fusion-audit verify` accuses each, or says that it did not compare it, and accuses no
rewriting that changes nothing.

usage: pair_mutants.py PROGRAM CORPUS [--count=N] [--seed=N] [--folders=models,o1] [--skip=TEXT] [--list]
       [--keep=DIRECTORY]
A pair is TTIR and TTNN of a model, of level 0 or 1; a mutant has one op of the TTNN that computes something else, and for
each one the same op is written in another way, too. What passes all the same is printed, to be read: a clamp that is
made wider than what it is given changes nothing, nor does what a softmax is shifted by. With --keep both modules of
each mutant that is not accused stay in the directory.
"""
import collections
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
OTHER = {"add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply", "maximum": "minimum",
         "minimum": "maximum", "exp": "neg", "rsqrt": "sqrt", "sqrt": "rsqrt", "sigmoid": "tanh", "tanh": "sigmoid",
         "silu": "sigmoid", "gelu": "relu", "relu": "neg", "neg": "abs", "cos": "sin", "sin": "cos",
         "mean": "sum", "sum": "mean", "eq": "ne", "gt": "le", "le": "gt", "lt": "ge", "ge": "lt"}
NUMBERS = {"epsilon": 100.0, "scale": 1.5, "fill_value": 1.5}
ORDERED = ("subtract", "divide", "pow", "concat", "matmul", "gt", "ge", "lt", "le", "where")
OP = re.compile(r'^( *)(%\w+) = "ttnn\.(\w+)"\((%\w+)(?:, (%\w+))?\)(.*) : \((.*)\) -> (tensor<.*>)( loc\(.*\))?$')
ANY = re.compile(r'^( *%\w+ = )"ttnn\.(\w+)"\(([^)]*)\)(.*) : \((.*)\) -> (tensor<[^()]*>)( loc\(.*\))?$')


def swapped(head, op, operands, attributes, types, result, loc):
    """The last two operands the other way round."""
    if op in ORDERED and len(operands) > 1 and operands[-2] != operands[-1] and types[-2] == types[-1]:
        yield ", ".join(operands[:-2] + [operands[-1], operands[-2]]), attributes


def dropped(head, op, operands, attributes, types, result, loc):
    """The first operand in place of the result."""
    if op in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "relu", "silu", "gelu", "sigmoid", "softmax", "neg",
              "rms_norm", "layer_norm", "clamp_scalar", "pow", "rsqrt", "exp", "cos", "sin") and types[0] == result:
        yield None, None


def moved(head, op, operands, attributes, types, result, loc):
    """Another axis, or a slice one further on."""
    dims = [int(x) for x in re.findall(r"(\d+)x", types[0])] if types else []
    found = re.search(r"\bdimension = (-?\d+)", attributes)
    if op == "softmax" and found and len(dims) > 1:
        other = [d for d in range(len(dims)) if d != int(found[1]) % len(dims) and dims[d] > 1]
        if other:
            yield ", ".join(operands), attributes.replace(found[0], "dimension = %d" % other[-1])
    found = re.search(r"\bpermutation = array<i64: ([\d, ]+)>", attributes)
    if found:
        order = [int(x) for x in found[1].split(",")]
        for i in range(len(order)):
            for k in range(i):
                if dims[order[i]] == dims[order[k]] > 1:
                    order[i], order[k] = order[k], order[i]
                    yield ", ".join(operands), attributes.replace(found[1], ", ".join(map(str, order)))
                    return
    begins, ends = (re.search(r"\b%s = \[([^]]*)\]" % key, attributes) for key in ("begins", "ends"))
    if op == "slice_static" and begins and ends:
        first, last = ([int(x.split(":")[0]) for x in m[1].split(",")] for m in (begins, ends))
        for d, extent in enumerate(dims):
            by = -1 if first[d] > 0 else 1 if last[d] < extent else 0
            if by:
                first[d] += by
                last[d] += by
                text = attributes
                for m, key, numbers in ((begins, "begins", first), (ends, "ends", last)):
                    text = text.replace(m[0], "%s = [%s]" % (key, ", ".join("%d : i32" % x for x in numbers)))
                yield ", ".join(operands), text
                return


def flipped(head, op, operands, attributes, types, result, loc):
    for key in ("is_causal", "transpose_b", "keep_dim"):
        for was, now in (("true", "false"), ("false", "true")):
            dims = [x for x in re.findall(r"(\d+)x", types[1])][-2:] if len(types) > 1 else []
            if "%s = %s" % (key, was) in attributes and (key == "is_causal" or (key == "transpose_b" and len(set(dims)) == 1)):
                yield ", ".join(operands), attributes.replace("%s = %s" % (key, was), "%s = %s" % (key, now))


def mutants_of(line):
    """What computes something else in place of this line: its kind and the line."""
    m = ANY.match(line)
    if not m:
        return
    if m[2] in OTHER:
        yield "op", line.replace('"ttnn.%s"' % m[2], '"ttnn.%s"' % OTHER[m[2]], 1)
    for key, factor in NUMBERS.items():
        number = re.search(r"\b%s = (-?\d\.\d+(?:[eE][-+]?\d+)?)" % key, line)
        if number and float(number[1]) != 0:
            yield "number", line.replace(number[0], "%s = %e" % (key, float(number[1]) * factor), 1)
    head, op, operands, attributes, types, result, loc = m.groups()
    operands, types = operands.split(", "), re.split(r", (?=tensor<|!)", types)
    if len(operands) != len(types):
        return
    for f in (swapped, dropped, moved, flipped):
        for names, text in f(head, op, operands, attributes, types, result, loc):
            if names is None:
                yield f.__name__, '%s"ttnn.typecast"(%s) : (%s) -> %s%s' % (head, operands[0], types[0], result, loc or "")
            else:
                yield f.__name__, '%s"ttnn.%s"(%s)%s : (%s) -> %s%s' % (head, op, names, text, ", ".join(types), result, loc or "")


def rewriting_of(line):
    """The same in another way, or None."""
    m = OP.match(line)
    if not m or '"' in m[6]:
        return None
    if m[3] in ("add", "multiply", "maximum", "minimum") and m[5] and m[7].count("tensor<") == 2:
        first, second = re.split(r", (?=tensor<)", m[7])
        return '%s%s = "ttnn.%s"(%s, %s)%s : (%s, %s) -> %s%s' % (m[1], m[2], m[3], m[5], m[4], m[6], second, first, m[8],
                                                                 m[9] or "")
    if not re.search(r"x(bf16|f32)\b", m[8]):
        return None
    one, two = m[2] + "_a", m[2] + "_b"
    negated = '%s%s = "ttnn.neg"(%s) : (%s) -> %s%s'
    return "\n".join((line.replace(m[2] + " =", one + " =", 1), negated % (m[1], two, one, m[8], m[8], m[9] or ""),
                      negated % (m[1], m[2], two, m[8], m[8], m[9] or "")))


def status(program, directory, before, lines):
    after = os.path.join(directory, "after.mlir")
    with open(after, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))
    run = subprocess.run([program, "verify", "-j1", "-o", os.path.join(directory, "check.yml"), before, after],
                         capture_output=True, text=True, check=False)
    return run.returncode, sorted(l for l in run.stderr.split("\n") if "not compared" in l)


def keep(directory, name, ttir, lines):
    """For `fusion-audit verify NAME.ttir.mlir NAME.ttnn.mlir`."""
    os.makedirs(directory, exist_ok=True)
    for level, text in (("ttir", read(ttir)), ("ttnn", "\n".join(lines))):
        with open(os.path.join(directory, "%s.%s.mlir" % (name, level)), "w", encoding="utf-8") as f:
            f.write(text)


def read(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.decode()
    with open(path, encoding="utf-8") as f:
        return f.read()


def pairs(corpus, folders):
    for folder in folders:
        for ttnn in sorted(glob.glob(os.path.join(corpus, folder, "*.ttnn*.mlir*"))):
            ttir = re.sub(r"\.ttnn[^/]*?\.mlir", ".ttir.mlir", ttnn)
            if os.path.exists(ttir):
                yield ttir, ttnn


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    program, corpus = [os.path.abspath(a) for a in sys.argv[1:] if not a.startswith("--")]
    skip = options.get("skip")
    found = [p for p in pairs(corpus, options.get("folders", "models,o1").split(",")) if not skip or skip not in p[1]]
    rng = random.Random(int(options.get("seed", 0)))
    if not found:
        return SKIPPED
    counts, wrong, right = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as directory:
        clean = {}
        for _ in range(int(options.get("count", 20))):
            ttir, ttnn = rng.choice(found)
            lines = read(ttnn).split("\n")
            if ttnn not in clean:
                clean[ttnn] = status(program, directory, ttir, lines)
            at = [i for i, line in enumerate(lines) if any(True for _ in mutants_of(line))]
            if not at or clean[ttnn][0] == 1:
                continue
            i = rng.choice(at)
            kinds = {}
            for kind, mutant in mutants_of(lines[i]):
                kinds.setdefault(kind, []).append(mutant)
            kind = rng.choice(sorted(kinds))
            mutant = rng.choice(kinds[kind])
            mutated = lines[:i] + [mutant] + lines[i + 1:]
            code, said = status(program, directory, ttir, mutated)
            what = "accused" if code == 1 else "passed" if (code, said) == clean[ttnn] else "not compared"
            counts[what] += 1
            if what == "passed" or "list" in options:
                print("%s %s %s:%d: %s" % (what.upper(), kind, os.path.basename(ttnn), i + 1, mutant.strip()[:150]), flush=True)
            if what != "accused" and "keep" in options:
                keep(options["keep"], "%s.%d.%s" % (os.path.basename(ttnn).split(".mlir")[0], i + 1, kind), ttir, mutated)
            same = rewriting_of(lines[i])
            if not same:
                continue
            code, _ = status(program, directory, ttir, lines[:i] + same.split("\n") + lines[i + 1:])
            right += code != 1
            wrong += code == 1
            if code == 1:
                print("ACCUSED %s:%d: %s" % (os.path.basename(ttnn), i + 1, same.strip()[:150]), flush=True)
    print("%d mutants accused, %d not compared, %d passed; %d rewritings not accused, %d accused"
          % (counts["accused"], counts["not compared"], counts["passed"], right, wrong))
    return counts["passed"] + wrong > 0


if __name__ == "__main__":
    sys.exit(main())
