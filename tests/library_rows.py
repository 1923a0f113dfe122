#!/usr/bin/env python3
"""The table of measured/patterns.md about forms that the library of ttnn fuses: what finds each, and by how many examples that is shown.

usage: library_rows.py PROGRAM PATTERNS DOCUMENT [--write]
The rows are library_rows.tsv: the form, the patterns that find it, and what is left out or why nothing finds it.
"""
import fnmatch
import glob
import os
import re
import subprocess
import sys

from load_yaml import load_yaml

BEGIN = "| written in the dump | pattern | examples | near misses | proved | left out, and why |\n"


def examples(directory):
    """By pattern: hits and near misses, as they are written."""
    counts = {}
    for path in glob.glob(os.path.join(directory, "*.test.yml")):
        with open(path) as f:
            for name, tests in load_yaml(f).items():
                counts[name] = [sum(kind in test for test in tests) for kind in ("hit", "miss")]
    return counts


def proved(program, name):
    said = subprocess.run([program, "patterns", "test", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=True).stdout
    return int(re.search(r"(\d+) proved", said).group(1))


def table(program, directory):
    counts, lines = examples(directory), [BEGIN, "|---|---|---|---|---|---|\n"]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "library_rows.tsv")) as f:
        for row in f.read().splitlines():
            form, patterns, why = row.split("\t")
            found = [n for p in patterns.split() for n in sorted(fnmatch.filter(counts, p)) or sys.exit("no tests: " + p)]
            sums = [sum(counts[n][i] for n in found) for i in (0, 1)] + [sum(proved(program, n) for n in found)]
            lines.append("| %s | %s | %s | %s |\n" % (form, ", ".join("`%s`" % p for p in patterns.split()) or "none",
                                                    " | ".join(map(str, sums)) if found else " |  | ", why))
    return "".join(lines)


def main():
    program, directory, path = [a for a in sys.argv[1:] if a != "--write"]
    with open(path) as f:
        text = f.read()
    begin = text.index(BEGIN)
    end = text.index("\n\n", begin) + 1
    want = table(program, directory)
    if "--write" in sys.argv:
        with open(path, "w") as f:
            f.write(text[:begin] + want + text[end:])
    elif text[begin:end] != want:
        sys.exit(path + " has another table of the library: --write makes it\n" + want)


main()
