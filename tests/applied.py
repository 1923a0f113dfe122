#!/usr/bin/env python3
"""Fused ops written into the models of the corpus, given to the real compiler: the tables of MEASURED.md.

usage: applied.py PROGRAM CORPUS COMPILER [--repro] [MODEL...]
One pattern at a time: `found` in TTIR, `applied` with all preconditions assumed, `accepted` by the compiler, `kept`: ops
of that name that its TTNN has more than that of the model as it is. What is left is listed behind, by reason. --repro: the
modules of `repro` of each pair instead: how many the compiler accepts, how many reproduce, and whether their tests fail
before and pass behind.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM, CORPUS, COMPILER = (os.path.abspath(a) for a in sys.argv[1:4])
OPT = os.path.join(COMPILER, "ttmlir-opt")
WORDS = [a for a in sys.argv[4:] if not a.startswith("--")]
OPTIONS = ["--assume=all", "--value=eps=1e-05"]
PIPELINE = "mock-system-desc-arch=wormhole_b0 optimization-level=0 enable-fusing-pass=true mesh-shape=%s"


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def models():
    for folder in ("models", "dit"):
        for path in sorted(glob.glob(os.path.join(CORPUS, folder, "*.ttir.mlir"))):
            if not WORDS or os.path.basename(path).split(".")[0] in WORDS:
                yield path


def compiled(path):
    """What the compiler's default pipeline makes of a module; None: it refuses."""
    with open(path) as f:
        mesh = re.search(r'"mesh" = (\d+)x(\d+)', f.read())
    pipeline = PIPELINE % (",".join(mesh.groups()) if mesh else "1,1")
    r = run(OPT, "--ttir-to-ttnn-backend-pipeline=" + pipeline, path)
    return r.stdout if r.returncode == 0 else None


def count(text, op):
    return len(re.findall('"%s"' % re.escape(op), text or ""))


def findings(path):
    r = run(PROGRAM, "--ttir-only", "--source=ttnn", "--format=json", "-o", "-", path)
    report = json.loads(r.stdout) if r.stdout else {"missed_fusions": []}
    return {i["pattern"]: e["fused_op"] for e in report["missed_fusions"] for i in e["instances"]}


def table_of_patterns(out):
    total, reasons = collections.defaultdict(lambda: [0, 0, 0, 0]), collections.Counter()
    for path in models():
        before = None
        for pattern, op in sorted(findings(path).items()):
            r = run(PROGRAM, "apply", "--partial", "--only=" + pattern, *OPTIONS, "-o", out, path)
            if r.returncode:
                sys.exit("%s: %s: %s" % (path, pattern, r.stderr))
            applied, found = map(int, re.search(r"(\d+) of (\d+) findings applied", r.stderr).groups())
            row = total[op, pattern]
            row[0] += found
            row[1] += applied
            for reason in re.findall(r" is left: (.*)", r.stderr):
                reasons[pattern, re.sub(r"%\w+", "%x", reason)] += 1
            if not applied:
                continue
            before = before or compiled(path)
            after = compiled(out)
            row[2] += applied if after else 0
            row[3] += max(count(after, op) - count(before, op), 0)
    print("| fused op | pattern | found | applied | accepted | kept |\n|---|---|---|---|---|---|")
    for (op, pattern), row in sorted(total.items()):
        if row[0]:
            print("| `%s` | `%s` | %d | %d | %d | %d |" % (op, pattern, *row))
    print("| all | | %d | %d | %d | %d |\n" % tuple(map(sum, zip(*total.values()))))
    for (pattern, reason), n in sorted(reasons.items(), key=lambda x: -x[1]):
        print("- %d of `%s`: %s" % (n, pattern, reason))


def file_check(test, text):
    tool = sorted(glob.glob("/usr/lib/llvm*/bin/FileCheck"))[-1]
    return run(tool, test, input=text).returncode == 0


def table_of_reproducers(out):
    total = collections.Counter()
    for path in models():
        for shrink in ([], ["--shrink"]):
            folder = os.path.join(out, os.path.basename(path) + "".join(shrink))
            r = run(PROGRAM, "repro", *shrink, *OPTIONS, path, path.replace(".ttir.", ".ttnn."), "-d", folder)
            if r.returncode:
                sys.exit("%s: %s" % (path, r.stderr))
            total["do not reproduce"] += r.stdout.count("does not reproduce")
            for each in sorted(glob.glob(folder + "/*")):
                total["folders"] += 1
                for module in ("ttir", "ttnn", "fused"):
                    file = os.path.join(each, module + ".mlir")
                    if os.path.exists(file):
                        total["modules"] += 1
                        good = run(OPT, file, "-o", "/dev/null")
                        total["accepted"] += good.returncode == 0
                        if good.returncode:
                            print("%s: %s" % (file, good.stderr.split("\n")[0]), file=sys.stderr)
                test = os.path.join(each, "test.mlir")
                if os.path.exists(test):
                    total["tests"] += 1
                    before, behind = (run(OPT, "--ttir-fusing", os.path.join(each, m)).stdout
                                      for m in ("ttir.mlir", "fused.mlir"))
                    total["fail before"] += not file_check(test, before)
                    total["pass behind"] += file_check(test, behind)
    for what, n in total.items():
        print("| %s | %d |" % (what, n))


with tempfile.TemporaryDirectory() as where:
    if "--repro" in sys.argv:
        table_of_reproducers(where)
    else:
        table_of_patterns(os.path.join(where, "applied.mlir"))
