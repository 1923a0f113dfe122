#!/usr/bin/env python3
"""Without locations a TTNN op finds the TTIR ops that it was made of by what it computes: pairs are audited with and
without their locations, and the instances compared.

usage: unlocated_test.py AUDITS FIXTURES CORPUS [--every=N]
At least 95 % of the instances must keep their TTIR half, and none may get another. Every Nth pair (default: each). The corpus is not part of the
project: where it is absent the fixtures decide.
"""
import collections
import glob
import os
import sys

from audits import Audits, without_locations

PROGRAM, FIXTURES, CORPUS = sys.argv[1:4]
EVERY = int(sys.argv[4].removeprefix("--every=")) if sys.argv[4:] else 1
KEPT = 0.95
audits = Audits(PROGRAM)
count = collections.Counter()
failures = []


def bare(path, name):
    with open(path) as f:
        text = without_locations(f.read())
    assert " loc(" not in text, path
    with open(os.path.join(audits.directory.name, name), "w") as f:
        f.write(text)
    return f.name


def halves(*files):
    """The TTIR halves of the instances by fused op and TTNN half."""
    status, said, report = audits.audit("both", *files)
    assert status in (0, 1) and not any("of one model" in line for line in said), (files, status, said)
    found = collections.defaultdict(list)
    for entry in report or []:
        for i in entry["instances"]:
            key = entry["fused_op"], without_locations(i["ttnn_segment"])
            found[key].append(without_locations(i.get("ttir_segment", "")))
    return found


def compare(ttir, ttnn):
    there, here = halves(ttir, ttnn), halves(bare(ttir, "bare.ttir.mlir"), bare(ttnn, "bare.ttnn.mlir"))
    for key in there:  # conditions on locations make a few findings more, or fewer
        for with_locations, without in zip(there[key], here.get(key, [])):
            if not with_locations:
                continue
            what = "same" if without == with_locations else "other" if without else "lost"
            count[what] += 1
            if what != "same":
                print(what, os.path.basename(ttnn), *key, with_locations, without, sep="\n")


pairs = []
for ttir in sorted(glob.glob(FIXTURES + "/*.ttir.mlir") + glob.glob(CORPUS + "/*/*.ttir.mlir")):
    name = ttir[:-len(".ttir.mlir")]
    for suffix in "ttnn", "ttnn-promoted", "ttnn-unfused":
        if os.path.exists(f"{name}.{suffix}.mlir"):
            pairs.append((ttir, f"{name}.{suffix}.mlir"))
for pair in pairs[::EVERY]:
    compare(*pair)
audits.close()
total = sum(count.values())
print(f"{count['same']} of {total} instances keep their TTIR half, {count['lost']} lose it, {count['other']} get another")
sys.exit(total == 0 or count["same"] < KEPT * total or count["other"] > 0)
