#!/usr/bin/env python3
"""Mutants of what the compiler made: `fusion-audit verify` accuses each, or says that it did not compare it, and accuses no
rewriting that changes nothing.

usage: pair_mutants.py PROGRAM CORPUS [--count=N] [--seed=N] [--list]
A pair is TTIR and TTNN of a model, of level 0 or 1; a mutant has one op of the TTNN that computes something else, and for
each one the same op is written in another way, too. What passes all the same is printed, to be read: a clamp that is
made wider than what it is given changes nothing, nor does what a softmax is shifted by.
"""
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
OP = re.compile(r'^( *)(%\w+) = "ttnn\.(\w+)"\((%\w+)(?:, (%\w+))?\)(.*) : \((.*)\) -> (tensor<.*>)( loc\(.*\))?$')


def mutants_of(line):
    """What computes something else in place of this line."""
    m = OP.match(line)
    if not m:
        return
    if m[3] in OTHER:
        yield line.replace('"ttnn.%s"' % m[3], '"ttnn.%s"' % OTHER[m[3]], 1)
    for key, factor in NUMBERS.items():
        number = re.search(r"\b%s = (-?\d\.\d+(?:[eE][-+]?\d+)?)" % key, line)
        if number and float(number[1]) != 0:
            yield line.replace(number[0], "%s = %e" % (key, float(number[1]) * factor), 1)


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
    run = subprocess.run([program, "verify", "-o", os.path.join(directory, "check.yml"), before, after],
                         capture_output=True, text=True, check=False)
    return run.returncode, "not compared" in run.stderr


def pairs(corpus):
    for ttnn in sorted(glob.glob(os.path.join(corpus, "models", "*.ttnn*.mlir")) +
                       glob.glob(os.path.join(corpus, "o1", "*.ttnn*.mlir"))):
        ttir = ttnn.split(".ttnn")[0] + ".ttir.mlir"
        if os.path.exists(ttir):
            yield ttir, ttnn


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    program, corpus = [os.path.abspath(a) for a in sys.argv[1:] if not a.startswith("--")]
    found, rng = list(pairs(corpus)), random.Random(int(options.get("seed", 0)))
    if not found:
        return SKIPPED
    accused = said = passed = right = wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        clean = {}
        for _ in range(int(options.get("count", 20))):
            ttir, ttnn = rng.choice(found)
            with open(ttnn, encoding="utf-8") as f:
                lines = f.read().split("\n")
            if ttnn not in clean:
                clean[ttnn] = status(program, directory, ttir, lines)[0] != 1
            at = [i for i, line in enumerate(lines) if any(True for _ in mutants_of(line))]
            if not at or not clean[ttnn]:
                continue
            i = rng.choice(at)
            mutant = rng.choice(list(mutants_of(lines[i])))
            code, partly = status(program, directory, ttir, lines[:i] + [mutant] + lines[i + 1:])
            accused += code == 1
            said += code != 1 and (partly or code == 3)
            if code == 0 and not partly:
                passed += 1
                print("PASSED %s:%d: %s" % (os.path.basename(ttnn), i + 1, mutant.strip()[:150]), flush=True)
            same = rewriting_of(lines[i])
            if not same:
                continue
            code, _ = status(program, directory, ttir, lines[:i] + same.split("\n") + lines[i + 1:])
            right += code != 1
            if code == 1:
                wrong += 1
                print("ACCUSED %s:%d: %s" % (os.path.basename(ttnn), i + 1, same.strip()[:150]), flush=True)
            if "list" in options:
                print(os.path.basename(ttnn), i + 1, mutant.strip()[:100], flush=True)
    print("%d mutants accused, %d not compared, %d passed; %d rewritings not accused, %d accused"
          % (accused, said, passed, right, wrong))
    return passed + wrong > 0


if __name__ == "__main__":
    sys.exit(main())
