#!/usr/bin/env python3
"""The compiler's own test files of seven days: no module is dated to before its day or behind it.

usage: dates.py PROGRAM TT_MLIR
TT_MLIR is a git directory or a checkout of tt-mlir with its history. Prints how many modules are dated on which side.
These files are written by hand: what the compiler has to refuse ("negative") is none of its text, and a line that was
there before the day of its sign is of that time, since the parser leaves attributes alone that it no longer knows.
"""
import json
import os
import subprocess
import sys
import tempfile

# Written by hand behind the day on which the parser no longer knew an attribute that they have.
NEGLIGENT = {"ttnn_force_final_deallocs.mlir", "ttnn_prepare_conv3d_weights.mlir", "collaspe.mlir",
             "arange_ttnn_variations.mlir", "splat_constant.mlir"}
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


class History:
    def __init__(self, repo):
        self.git = ["git", "-C", repo]
        self.commits = {}

    def run(self, *args):
        return subprocess.run(self.git + list(args), capture_output=True, check=True).stdout

    def commit(self, before):
        if before not in self.commits:
            self.commits[before] = self.run("rev-list", "-1", "--first-parent", "--before=" + before, "HEAD").decode().strip()
        return self.commits[before]

    def had(self, day, line):
        """Some test file had the line when the day began."""
        done = subprocess.run(self.git + ["grep", "-qF", "-e", line.strip(), self.commit(day + " 00:00"), "--", "test/"],
                              capture_output=True, check=False)
        return done.returncode == 0


def main():
    program, repo = os.path.abspath(sys.argv[1]), sys.argv[2]
    history = History(repo)
    failures = 0
    for day in DAYS:
        commit = history.commit(day + " 23:59")
        with tempfile.TemporaryDirectory() as folder:
            archive = history.run("archive", commit, "test/ttmlir/Dialect", "test/ttmlir/Silicon")
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            files = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
                     if name.endswith(".mlir") and "negative" not in name and name not in NEGLIGENT]
            since = before = old = 0
            for name in sorted(files):
                run = subprocess.run([program, "inspect", "--json", name], capture_output=True, text=True)
                try:
                    said = json.loads(run.stdout)
                except ValueError:
                    continue
                for module in walk(said):
                    a, b = module.get("compiler_since"), module.get("compiler_before")
                    since, before = since + bool(a), before + bool(b)
                    late, early = a and a["day"] > day, b and b["day"] <= day
                    if early:
                        with open(name, encoding="utf-8") as file:
                            written = history.had(b["day"], file.read().split("\n")[b["line"] - 1])
                        old += written
                        early = not written
                    if late or early:
                        failures += 1
                        print(day, os.path.relpath(name, folder), a, b)
            print("%s: %d files, %d modules dated from below, %d from above, %d of them by older lines"
                  % (day, len(files), since, before, old))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
