#!/usr/bin/env python3
"""A module that lost an op line is never clean: each line whose result is used is dropped in turn.

usage: dropped_lines_test.py PROGRAM DIRECTORY [EVERY]
Takes each pair NAME.ttir.mlir and NAME.ttnn.mlir of the directory, and every so many lines; all without EVERY.
"""
import os
import re
import subprocess
import sys
import tempfile

PROGRAM, DIRECTORY = sys.argv[1], sys.argv[2]
EVERY = int(sys.argv[3]) if len(sys.argv) > 3 else 1
failures = dropped = 0


def used_lines(lines):
    """Numbers of the op lines whose result is used in their function."""
    for i, line in enumerate(lines):
        result = re.match(r" *(%[\w$.-]+)(:\d+)? = ", line)
        if not result:
            continue
        use = re.compile(re.escape(result[1]) + r"(?![\w$.-])")
        for later in lines[i + 1:]:
            if "func.func " in later:
                break
            if use.search(later):
                yield i
                break


def drop(lines, i, other):
    global failures, dropped
    dropped += 1
    with open(work.name, "w") as f:
        f.writelines(lines[:i] + lines[i + 1:])
    done = subprocess.run([PROGRAM, "--dry-run", "--quiet", work.name, other], capture_output=True, text=True)
    if done.returncode not in (1, 3) or not re.search("error: %.* is not defined", done.stderr):
        failures += 1
        print("FAIL", other, i + 1, lines[i].strip()[:100], done.returncode, done.stderr)


work = tempfile.NamedTemporaryFile(suffix=".mlir")
names = sorted(f[:-len(".ttir.mlir")] for f in os.listdir(DIRECTORY) if f.endswith(".ttir.mlir"))
for name in names:
    pair = [os.path.join(DIRECTORY, "%s.%s.mlir" % (name, level)) for level in ("ttir", "ttnn")]
    for path, other in pair, pair[::-1]:
        with open(path) as f:
            lines = f.readlines()
        for i in list(used_lines(lines))[::EVERY]:
            drop(lines, i, other)
print(f"{dropped} lines dropped, {failures} without a word")
sys.exit(1 if failures or not dropped else 0)
