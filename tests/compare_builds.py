#!/usr/bin/env python3
"""Runs two builds over the same inputs and compares what they print, byte for byte.

usage: compare_builds.py OLD NEW CORPUS... [--renamed=REGEX=TEXT]... [--only=GLOB] [--every=N]
                         [--jobs=N] [--record=FILE]
OLD and NEW are programs; a CORPUS is a directory that is searched for IR and logs (fixtures/ always is). With
--record=FILE what OLD prints is kept in FILE and read from there the next time; --every=N takes each Nth run. Each
file is audited in every way that makes sense for it (as a pair where its partners lie beside it, each level alone, without
proofs, with details), inspected, explained and verified; `patterns list`, `show`, `test` and `check` are compared as well.
--renamed: what OLD prints is rewritten first, for words that were renamed on purpose. Exit status 1: something differs.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import pickle
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
IR = (".mlir", ".log", ".log.zst", ".log.gz", ".txt", ".zst", ".gz")
STAGES = (".ttnn.mlir", ".ttnn-unfused.mlir", ".ttnn-promoted.mlir", ".fused.mlir")


def files_below(directory):
    for root, dirs, names in os.walk(directory):
        dirs.sort()
        for name in sorted(names):
            if name.endswith(IR):
                yield os.path.join(root, name)


def runs_of(path):
    """Command lines for one input; {} stands for nothing: all arguments are explicit."""
    yield ["inspect", path]
    yield ["inspect", "--json", path]
    for level in ([], ["--ttir-only"], ["--ttnn-only"]):
        yield ["-v", "--details", "-o", "-", *level, path]
        yield ["--dry-run", *level, path]
    yield ["explain", path]
    yield ["explain", "--json", "--ttir-only", path]
    yield ["explain", "--json", "--ttnn-only", path]
    yield ["--no-validate", "--ttir-only", "--classify", "-o", "-", path]
    if path.endswith(".ttir.mlir"):
        for stage in STAGES:
            partner = path[: -len(".ttir.mlir")] + stage
            if os.path.exists(partner):
                yield ["-v", "--details", "--jobs=1", "-o", "-", path, partner]
                yield ["-v", "--jobs=2", "--include=blocked,decomposed", "-o", "-", path, partner]
                yield ["--dry-run", partner, path]
                yield ["explain", path, partner]
                yield ["inspect", path, partner]
                yield ["verify", "--details", "-o", "-", path, partner]


def patterns_of(program):
    listed = subprocess.run([program, "patterns", "list"], capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line and not line.startswith(" ")]


def without_roots(program, text):
    """Paths of the checkouts are no difference."""
    for path in (program, __file__):
        text = text.replace(os.path.dirname(os.path.dirname(os.path.abspath(path))).encode(), b"ROOT")
    return text


def output(program, args):
    p = subprocess.run([program, *args], capture_output=True, stdin=subprocess.DEVNULL)
    return p.returncode, without_roots(program, p.stdout), without_roots(program, p.stderr)


def first_difference(a, b):
    if a[0] != b[0]:
        return f"status {a[0]} and {b[0]}: {b[2].decode(errors='replace')[:200]}"
    for x, y, stream in ((a[1], b[1], "out"), (a[2], b[2], "err")):
        if x == y:
            continue
        for i, (p, q) in enumerate(zip(x.split(b"\n") + [b"<end>"], y.split(b"\n") + [b"<end>"])):
            if p != q:
                return f"std{stream} line {i + 1}:\n  - {p.decode(errors='replace')}\n  + {q.decode(errors='replace')}"
    return "no difference"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("corpus", nargs="*")
    parser.add_argument("--renamed", action="append", default=[])
    parser.add_argument("--only", default="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record")
    parser.add_argument("--every", type=int, default=1)
    o = parser.parse_args()
    for program in o.old, o.new:
        if subprocess.run([program, "patterns", "list"], stdout=subprocess.DEVNULL, check=False).returncode:
            sys.exit("%s has no patterns: leave it where it was built" % program)
    return compare_all(o)


def compare_all(o):
    renamed = [(re.compile(a.encode()), b.encode()) for a, b in (r.split("=", 1) for r in o.renamed)]
    runs = [r for d in [os.path.join(os.path.dirname(HERE), "fixtures"), *o.corpus] for f in files_below(d) for r in runs_of(f)]
    runs += [["patterns", "list"], ["patterns", "test"], ["patterns", "check"]]
    runs += [["patterns", "show", name] for name in patterns_of(o.new)]
    runs = [r for r in runs if fnmatch.fnmatch(" ".join(r), o.only)][:: o.every]

    recorded = pickle.load(open(o.record, "rb")) if o.record and os.path.exists(o.record) else {}

    def compare(args):
        key = " ".join(args).replace(os.path.dirname(HERE), "ROOT")
        if key not in recorded:
            recorded[key] = output(o.old, args)
        old, new = recorded[key], output(o.new, args)
        for regex, text in renamed:
            old = (old[0], regex.sub(text, old[1]), regex.sub(text, old[2]))
        return args, old == new, old, new

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for args, same, old, new in pool.map(compare, runs):
            if not same:
                bad += 1
                print("DIFFERS", " ".join(args), first_difference(old, new), flush=True)
    if o.record:
        pickle.dump(recorded, open(o.record, "wb"))
    print(f"{len(runs)} runs compared, {bad} differ")
    return 1 if bad or not runs else 0


sys.exit(main())
