#!/usr/bin/env python3
"""explain --at finds whatever the reports of the corpus name: values, lines, locations, aliases.

usage: explain_at_test.py PROGRAM CORPUS [--every=N]
Asks for every Nth of them (default 400), for all with --every=1.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from load_yaml import load_yaml

EVERY = next((int(a[8:]) for a in sys.argv if a.startswith("--every=")), 400)
PROGRAM, CORPUS = [a for a in sys.argv[1:] if not a.startswith("--")][:2]


def named_in(instance):
    """What a report says of one place that a reader may ask for."""
    notes = re.sub("(?m)^(model location|source torch ops|precondition|saves|validated|action).*$", "", instance["notes"])
    locations = re.search("(?m)^locations: (.*)$", notes)
    yield from re.findall(r"(?<![\w:])(?:ttir:)?%\w+", notes)
    yield from re.findall(r"[\w.]+ at line \d+", notes)
    yield from locations[1].split(", ") if locations else []
    yield from (m for m in re.findall("(?m)^model location: (.*)$", instance["notes"]) if re.search(r"\w[._]\w", m))
    yield from re.findall(r"#loc\d*", instance.get("ir_loc", ""))
    for level in "ttir", "ttnn":
        yield from (f"{level}:{v}" for v in re.findall(r"(?m)^(%\w+)", instance.get(level + "_segment", "")))
        yield from ((level, line) for line in re.findall(r"\d+", instance.get(level + "_lines", "")))


def main():
    if not os.path.isdir(CORPUS):
        print("no corpus: skipped")
        return 77
    asked, wrong, at = 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "r.yml")
        for ttnn in sorted(glob.glob(os.path.join(CORPUS, "models", "*.ttnn*.mlir"))):
            files = {"ttir": ttnn.split(".ttnn")[0] + ".ttir.mlir", "ttnn": ttnn}
            subprocess.run([PROGRAM, "-q", "--details", "--no-validate", "-o", out, *files.values()], check=False, stderr=subprocess.DEVNULL)
            with open(out) as f:
                entries = load_yaml(f.read())["missed_fusions"]
            for name in {n: 0 for e in entries for i in e["instances"] for n in named_in(i)}:
                at += 1
                if at % EVERY:
                    continue
                name = name if isinstance(name, str) else f"{files[name[0]]}:{name[1]}"
                done = subprocess.run([PROGRAM, "explain", "--only=ttnn.relu6", "--at=" + name, *files.values()],
                                      capture_output=True, text=True)
                asked += 1
                if done.returncode != 0:
                    wrong += 1
                    print(f"{os.path.basename(ttnn)}: {done.stderr.splitlines()[0]}")
    print(f"{asked} asked for, {wrong} not found")
    return wrong > 0 or asked == 0


sys.exit(main())
