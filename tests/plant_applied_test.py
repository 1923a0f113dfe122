#!/usr/bin/env python3
"""Random models with planted fusions (plant_test.py), applied: the whole function computes the same, and a second audit
is silent about what was applied.

usage: plant_applied_test.py PROGRAM AGREE PATTERNS [--first=SEED] [--graphs=N] [--keep=DIRECTORY]
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from plant_test import grow

LIMIT = 0.02  # constants of bf16 are rounded


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("agree")
    parser.add_argument("patterns")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--graphs", type=int, default=30)
    parser.add_argument("--keep")
    args = parser.parse_args()
    wrong = found = applied = compared = 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(args.first, args.first + args.graphs):
            before, after = (os.path.join(args.keep or directory, "%d.%s.mlir" % (seed, which))
                             for which in ("before", "after"))
            with open(before, "w") as f:
                f.write(grow(seed, "ttir")[1])
            # a composite is a second function, which the interpreter does not call
            options = ["--assume=all", "--skip=*rotary_embedding*"]
            r = run(args.program, "apply", *options, before, "-o", after)
            counts = re.search(r"(\d+) of (\d+) findings applied", r.stderr)
            if not counts:
                wrong += 1
                print("%d: refused: %s" % (seed, r.stderr))
                continue
            applied += int(counts.group(1))
            found += int(counts.group(2))
            print("".join("%d: %s\n" % (seed, line) for line in re.findall(r"\S+ \(\w+\) is left: .*", r.stderr)), end="")
            agreed = run(args.agree, args.patterns, before, after)
            if agreed.returncode or not float(agreed.stdout) < LIMIT:
                wrong += 1
                print("%d: %s%s" % (seed, agreed.stdout, agreed.stderr))
            compared += 1
            again = run(args.program, "apply", *options, after)
            with open(after) as f:
                if again.stdout != f.read():
                    wrong += 1
                    print("%d: applied again it is another module: %s" % (seed, again.stderr))
    print("%d graphs, %d of %d findings applied, %d compared, %d wrong" % (args.graphs, applied, found, compared, wrong))
    return 1 if wrong or not applied else 0


if __name__ == "__main__":
    sys.exit(main())
