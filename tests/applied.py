#!/usr/bin/env python3
"""Fused ops written into the models of the corpus, given to the real compiler: the tables of measured/compiler.md.

usage: applied.py PROGRAM CORPUS COMPILER [--repro | --again] [MODEL...]
One pattern at a time: `found` in TTIR, `applied` with all preconditions assumed, `accepted` by the compiler, `kept`: ops
of that name that its TTNN has more than that of the model as it is. What is left is listed behind, by reason. --repro: the
modules of `repro` of each pair instead: how many the compiler accepts, how many miss the same as the model when it
compiles them, and whether their tests fail before and pass behind. --again: all patterns at once; whether a second audit
finds what was applied, whether applying again changes it, and what `verify` says of it compiled.
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
ON_DEVICE = " enable-cpu-hoisted-const-eval=false"    # what is made on the host is in another dialect


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def models():
    for folder in ("models", "dit"):
        for path in sorted(glob.glob(os.path.join(CORPUS, folder, "*.ttir.mlir"))):
            if not WORDS or os.path.basename(path).split(".")[0] in WORDS:
                yield path


def compiled(path, options=""):
    """What the compiler's default pipeline makes of a module; None: it refuses."""
    with open(path) as f:
        mesh = re.search(r'"mesh" = (\d+)x(\d+)', f.read())
    pipeline = PIPELINE % (",".join(mesh.groups()) if mesh else "1,1")
    r = run(OPT, "--ttir-to-ttnn-backend-pipeline=" + pipeline + options, "--mlir-print-debuginfo", path)
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
            for reason, more in re.findall(r" is left: (.*?)(?: \(the same at (\d+) more .*)?$", r.stderr, re.M):
                reasons[pattern, re.sub(r"%\w+", "%x", reason)] += 1 + int(more or 0)
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


def actions(*modules):
    """What is to be done about each fused op of a report."""
    r = run(PROGRAM, "--classify", "--include=slower", "--format=json", "-o", "-", *modules)
    report = json.loads(r.stdout) if r.stdout else {"missed_fusions": []}
    return {(e["fused_op"], i["pattern"]): "%s %s" % (e.get("pass_status"), e.get("owning_pass"))
            for e in report["missed_fusions"] for i in e["instances"]}


def table_of_reproducers(out):
    total = collections.Counter()
    for path in models():
        missed = actions(path, path.replace(".ttir.", ".ttnn."))
        folder = os.path.join(out, os.path.basename(path))
        r = run(PROGRAM, "repro", *OPTIONS, path, path.replace(".ttir.", ".ttnn."), "-d", folder)
        if r.returncode:
            sys.exit("%s: %s" % (path, r.stderr))
        rows = dict(line.split(": ", 1) for line in r.stdout.split("\n") if line)
        for each in sorted(glob.glob(folder + "/*")):
            judge_folder(each, rows[os.path.basename(each)], missed, total)
    for what, n in total.items():
        print("| %s | %d |" % (what, n))


def judge_folder(each, row, missed, total):
    total["folders"] += 1
    for module in ("ttir", "ttnn", "fused", "before", "after"):
        file = os.path.join(each, module + ".mlir")
        if os.path.exists(file):
            total["modules"] += 1
            good = run(OPT, file, "-o", "/dev/null")
            total["accepted"] += good.returncode == 0
            if good.returncode:
                print("%s: %s" % (file, good.stderr.split("\n")[0]), file=sys.stderr)
    with open(os.path.join(each, "README.md")) as f:
        lines = f.read().split("\n")
    total["README of more than 12 lines"] += len(lines) > 13 and "before.mlir" not in "".join(lines)
    title = re.match(r"# (\S+) \((\w+)\)", lines[0])
    ttir = os.path.join(each, "ttir.mlir")
    if title and os.path.exists(ttir):
        what = "is said not to reproduce" if "does not reproduce" in row else "alone in TTNN" if "alone" in row else "said to reproduce"
        with open(each + ".ttnn.mlir", "w") as f:
            f.write(compiled(ttir) or "")
        now = actions(ttir, each + ".ttnn.mlir").get(title.groups(), "is not missed")
        known = missed.get(title.groups(), "None")
        same = now == known
        if known.endswith("None"):
            total["no pass would make it"] += 1
        else:
            total["%s: compiled, it misses %s" % (what, "the same" if same else "something else")] += 1
        if not known.endswith("None") and same == (what == "is said not to reproduce"):
            print("%s: %s: %s; model %s" % (each, row, now, missed.get(title.groups())), file=sys.stderr)


def table_again(out):
    print("| model | applied | left | found again | changed again | ops proved | different | of all |\n|---|---|---|---|---|---|---|---|")
    for path in models():
        again, assumed, ttnn = out + ".2", out + ".assumed", out + ".ttnn"
        r = run(PROGRAM, "apply", "--partial", *OPTIONS, "-o", out, path)
        if r.returncode:
            sys.exit("%s: %s" % (path, r.stderr))
        applied, found = map(int, re.search(r"(\d+) of (\d+) findings applied", r.stderr).groups())
        second = run(PROGRAM, "apply", "--partial", *OPTIONS, "-o", again, out)
        more = re.search(r"(\d+) of (\d+) findings applied", second.stderr).groups()
        with open(out) as f, open(again) as g:
            same = f.read() == g.read()
        run(PROGRAM, "apply", "--partial", "--assumed", *OPTIONS, "-o", assumed, path)
        with open(ttnn, "w") as f:
            f.write(compiled(out, ON_DEVICE) or "")
        judged = json.loads(run(PROGRAM, "verify", "--details", "--min-compared=0", "--format=json", "-o", "-", assumed,
                                ttnn).stdout or "{}")
        ops = judged["compared"]["before"]
        print("| %s | %d | %d | %s | %s | %d | %d | %d |" % (
            os.path.basename(path).split(".")[0], applied, found - applied, more[0], "no" if same else "YES",
            ops["proved"], ops["different"], ops["ops"]), flush=True)


with tempfile.TemporaryDirectory() as where:
    if "--repro" in sys.argv:
        table_of_reproducers(where)
    elif "--again" in sys.argv:
        table_again(os.path.join(where, "applied.mlir"))
    else:
        table_of_patterns(os.path.join(where, "applied.mlir"))
