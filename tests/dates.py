#!/usr/bin/env python3
"""The compiler's own test files of seven days: no module is dated to before its day or behind it.

usage: dates.py PROGRAM TT_MLIR
TT_MLIR is a git directory or a checkout of tt-mlir with its history. Prints how many modules are dated on which side.
"""
import json
import os
import subprocess
import sys
import tempfile

DAYS = ("2025-04-15", "2025-07-10", "2025-09-20", "2025-12-10", "2026-03-01", "2026-05-25", "2026-08-10")


def walk(node):
    if isinstance(node, dict):
        if "compiler_since" in node or "compiler_before" in node:
            yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def main():
    program, repo = os.path.abspath(sys.argv[1]), sys.argv[2]
    git = ["git", "-C", repo]
    failures = 0
    for day in DAYS:
        commit = subprocess.run(git + ["rev-list", "-1", "--first-parent", "--before=%s 23:59" % day, "HEAD"],
                                capture_output=True, text=True, check=True).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            archive = subprocess.run(git + ["archive", commit, "test/ttmlir/Dialect", "test/ttmlir/Silicon"],
                                     capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            files = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names if name.endswith(".mlir")]
            since = before = 0
            for name in sorted(files):
                run = subprocess.run([program, "inspect", "--json", name], capture_output=True, text=True)
                try:
                    said = json.loads(run.stdout)
                except ValueError:
                    continue
                for module in walk(said):
                    a, b = module.get("compiler_since"), module.get("compiler_before")
                    since, before = since + bool(a), before + bool(b)
                    if a and a["day"] > day or b and b["day"] <= day:
                        failures += 1
                        print(day, os.path.relpath(name, folder), a, b)
            print("%s: %d files, %d dated from below, %d from above" % (day, len(files), since, before))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
