#!/usr/bin/env python3
"""The same IR spelled otherwise gives the same findings: locations, names of values, white space, attributes.

usage: spelling_test.py AUDITS FIXTURES
"""
import glob
import os
import re
import sys

from audits import Audits, without_locations

AUDITS, FIXTURES = sys.argv[1:]


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def renamed(text):
    """Values have names in place of numbers, and the other way round; results of one op (%5#1) stay together."""
    names = {}
    return re.sub(r"%(\w+)", lambda m: "%" + names.setdefault(m[1], "v" + m[1] if m[1].isdigit() else str(len(names))), text)


def renumbered(text):
    """Aliases of locations count down, and stand in front of the module."""
    n = text.count("#loc")
    text = re.sub(r"#loc(\d*)\b", lambda m: "#loc%d" % (n - int(m[1] or 0)), text)
    aliases = re.findall(r"^#loc.*\n", text, flags=re.M)
    return "".join(reversed(aliases)) + re.sub(r"^#loc.*\n", "", text, flags=re.M)


SPELLINGS = {
    "without locations": without_locations,
    "locations renumbered": renumbered,
    "values renamed": renamed,
    "no indentation": lambda t: re.sub(r"^ +", "", t, flags=re.M),
    "tabs, and spaces at ends": lambda t: re.sub(r"^ +", "\t", t, flags=re.M).replace("\n", " \n"),
    "lines that end as on Windows": lambda t: t.replace("\n", "\r\n"),
    "empty lines and comments": lambda t: t.replace("\n", "\n// a comment: %0 = \"ttir.add\"\n\n"),
    "properties as attributes": lambda t: re.sub(r"<\{([^{}]*)\}> :", r"{\1} :", t),
    "names of the dialects": lambda t: re.sub(r"(?m)^( *)return\b", r"\1func.return", re.sub("(?m)^( *)module", r"\1builtin.module", t)),
}

def ops(segment):
    return tuple(re.findall(r'"(tt\w+\.\w+)"', segment or ""))


def findings(level, *texts):
    paths = []
    for i, text in enumerate(texts):
        paths.append(os.path.join(audits.directory.name, "%d.mlir" % i))
        with open(paths[-1], "w", encoding="utf-8", newline="") as f:
            f.write(text)
    status, said, report = audits.audit(level, *paths)
    return status, sorted((e["fused_op"], tuple(e["component_ops"]), ops(i.get("ttir_segment")), ops(i.get("ttnn_segment")))
                          for e in report or [] for i in e["instances"])


def compare(name, level, *texts):
    expected, wrong, tried = findings(level, *texts), 0, 0
    for what, spell in SPELLINGS.items():
        spelled = [spell(t) for t in texts]
        if spelled == list(texts):
            continue
        tried += 1
        found = findings(level, *spelled)
        if found != expected:
            wrong += 1
            print("FAIL %s, %s: status %d in place of %d" % (name, what, found[0], expected[0]))
            for sign, these, those in (("-", expected[1], found[1]), ("+", found[1], expected[1])):
                print("".join("  %s %s\n" % (sign, f) for f in these if f not in those), end="")
    return len(expected[1]), tried, wrong


audits = Audits(AUDITS)
dit = [read(os.path.join(FIXTURES, "dit.%s.mlir" % level)) for level in ("ttir", "ttnn")]
cases = [("dit", "both", *dit)]
for file in sorted(glob.glob(os.path.join(FIXTURES, "families", "*.mlir")))[::12]:
    cases.append((os.path.basename(file), file.split(".")[-2], read(file)))
counts = [compare(*case) for case in cases]
different = [re.sub(r'"(tt\w+)\.(mean|add)"', r'"\1.subtract"', t) for t in dit]
if findings("both", *different) == findings("both", *dit):
    counts.append((0, 0, 1))
    print("FAIL: another function has the same findings")
audits.close()
found, tried, wrong = (sum(column) for column in zip(*counts))
print("%d files with %d findings, spelled in %d ways: %d failed" % (len(cases), found, tried, wrong))
sys.exit(wrong > 0 or found < len(cases))
