#!/usr/bin/env python3
"""Verdicts hang neither on random numbers nor on threads: `patterns test` and `verify` with many seeds, and `verify` with
several numbers of threads, say the same.

usage: seeds.py PROGRAM CORPUS [--seeds=20] [--threads=1,2,8] [--every=1] [--folders=models,o1,real,wrong,logs]
Of pairs of TTIR and TTNN and of logs every N-th is judged. What is compared is the exit status, how many ops are proved,
different and not compared, and which fused ops differ where; not the numbers that show it.
"""
import glob
import os
import re
import subprocess
import sys

import yaml

from pair_mutants import pairs

SKIPPED = 77


def answer(program, files, seed, threads):
    run = subprocess.run([program, "verify", "-v", "--seed=%d" % seed, "-j%d" % threads, "-o", "-", *files],
                         capture_output=True, text=True, check=False)
    report = yaml.safe_load(run.stdout) if run.stdout else {"checks": []}
    differs = sorted((c["kind"], c.get("fused_op", ""), str(c.get("ir_loc", ""))) for c in report["checks"])
    return run.returncode, re.findall(r"\d+ compute ops: .*", run.stderr), differs


def judged(corpus, folders):
    for pair in pairs(corpus, folders):
        yield pair
    for folder in folders:
        for after in sorted(glob.glob(os.path.join(corpus, folder, "*.fused.mlir"))):
            yield after.replace(".fused.", ".ttir."), after
        for log in sorted(glob.glob(os.path.join(corpus, folder, "*.log*"))):
            yield (log,)


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    program, corpus = [os.path.abspath(a) for a in sys.argv[1:] if not a.startswith("--")]
    seeds = range(1, int(options.get("seeds", 20)) + 1)
    threads = [int(n) for n in options.get("threads", "1,2,8").split(",")]
    every, failures, calls = int(options.get("every", 1)), 0, 0
    for seed in seeds:
        run = subprocess.run([program, "patterns", "test", "--quiet", "--seed=%d" % seed], capture_output=True, text=True,
                             check=False)
        failures += run.returncode != 0
        if run.returncode:
            print("patterns test --seed=%d: %s" % (seed, run.stderr.strip()), flush=True)
    all_files = list(judged(corpus, options.get("folders", "models,o1,real,wrong,logs").split(",")))[::every]
    for files in all_files:
        first = answer(program, files, 0, threads[0])
        for seed, n in [(s, threads[0]) for s in seeds] + [(0, n) for n in threads[1:]]:
            other = answer(program, files, seed, n)
            calls += 1
            failures += other != first
            if other != first:
                print("%s: with seed %d and %d threads %s, else %s" % (os.path.basename(files[-1]), seed, n, other, first),
                      flush=True)
    print("%d files, %d seeds, %s threads: %d calls of verify, %d tests of patterns; %d differ"
          % (len(all_files), len(seeds), options.get("threads", "1,2,8"), calls, len(seeds), failures))
    return failures > 0 if all_files else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
