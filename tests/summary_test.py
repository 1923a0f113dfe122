#!/usr/bin/env python3
"""The summary of each promoted model of the corpus is the one in summaries.txt, its lines at most 100 columns wide.

usage: summary_test.py PROGRAM CORPUS [--update]
--update writes summaries.txt anew: see what `git diff` says of it.
"""
import difflib
import glob
import os
import subprocess
import sys
import tempfile

UPDATE = "--update" in sys.argv
PROGRAM, CORPUS = [os.path.abspath(a) for a in sys.argv[1:] if a != "--update"][:2]
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "summaries.txt")


def summary(directory, ttnn):
    files = [ttnn.replace(".ttnn-promoted.", ".ttir."), ttnn]
    return subprocess.run([PROGRAM, "--no-validate", *files], cwd=directory, capture_output=True, text=True).stderr


def main():
    if not os.path.isdir(CORPUS):
        print("no corpus: skipped")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        paths = sorted(glob.glob(os.path.join(CORPUS, "*", "*.ttnn-promoted.mlir")))
        got = "".join("# %s\n%s" % (os.path.basename(p).split(".")[0], summary(directory, p)) for p in paths)
    if UPDATE:
        with open(EXPECTED, "w") as f:
            f.write(got)
    with open(EXPECTED) as f:
        differences = list(difflib.unified_diff(f.read().splitlines(), got.splitlines(), "expected", "got", lineterm=""))
    wide = [line for line in got.splitlines() if len(line) > 100 or line != line.rstrip()]
    print("\n".join(differences + wide))
    print(f"{len(paths)} summaries, {len(wide)} lines too wide or with blanks at their end")
    return bool(differences or wide or not paths)


sys.exit(main())
