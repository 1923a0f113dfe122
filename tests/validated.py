#!/usr/bin/env python3
"""How many findings of the corpus are proved, and why the others are not.

usage: validated.py PROGRAM CORPUS [--all] [--most=PERCENT]
The corpus is not part of the project: without it the test is skipped (exit 77). Its models are audited as the compiler
prints them with fusing off (NAME.ttnn-unfused.mlir), --all: in every form, and the other parts of the corpus too.
What is refuted is listed as well. --most: it fails where more are not validated, or any is refuted.
"""
import collections
import glob
import os
import re
import subprocess
import sys

from load_yaml import load_yaml

PROGRAM, CORPUS = [a for a in sys.argv[1:] if not a.startswith("--")]
MOST = [float(a[len("--most="):]) for a in sys.argv if a.startswith("--most=")]
KINDS = ["models/*.mlir", "lit/*.mlir", "issues/*", "dit/*.mlir"] if "--all" in sys.argv else ["models/*unfused.mlir"]


def findings(path):
    """Fused op and validation of each, then the lines of what is refuted."""
    with open(path) as f:
        level = "--ttnn-only" if '"ttnn.' in f.read() else "--ttir-only"
    done = subprocess.run([PROGRAM, "-v", "--details", "-o", "-", level, path], capture_output=True, text=True, timeout=120)
    for entry in (load_yaml(done.stdout) or {}).get("missed_fusions", []):
        for instance in entry["instances"]:
            yield entry["fused_op"], instance["validation"]
    for line in re.findall(r"^.*is not reported: .*$", done.stderr, re.M):
        yield "refuted", line


def main():
    if not os.path.isdir(CORPUS):
        print("no corpus: skipped")
        return 77
    paths = sorted(p for kind in KINDS for p in glob.glob(os.path.join(CORPUS, kind)) if os.path.isfile(p))
    total, validated, refuted, reasons = 0, 0, 0, collections.Counter()
    places = {}
    for path in paths:
        for fused_op, proof in findings(path):
            if fused_op == "refuted":
                refuted += 1
                print(proof)
                continue
            total += 1
            validated += proof["verdict"] == "same_function"
            if "reason" in proof:
                reasons[fused_op, proof["reason"]] += 1
                places.setdefault((fused_op, proof["reason"]), os.path.basename(path))
    for (fused_op, why), n in reasons.most_common():
        print(f"{n:5} {fused_op}: {why} ({places[fused_op, why]})")
    print(f"{total} findings in {len(paths)} files: {validated} validated, {total - validated} not "
          f"({100 * (total - validated) / max(total, 1):.1f} %); {refuted} refuted")
    return any(refuted or 100 * (total - validated) > most * total for most in MOST)


sys.exit(main())
