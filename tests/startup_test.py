#!/usr/bin/env python3
"""Start-up takes at most 40 million instructions, also where the program is hardly optimized (tens of them were spent on
reading pattern files as YAML, and on conditions of patterns that were never found).

usage: startup_test.py PROGRAM
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 40_000_000

if not shutil.which("valgrind"):
    sys.exit(77)
with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "empty.mlir")
    with open(path, "w") as file:
        file.write("module {\n}\n")
    run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", sys.argv[1],
                          path], capture_output=True, text=True)
found = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
if not found:
    sys.exit(run.stderr)
count = int(found[1].replace(",", ""))
print(f"{count:,} instructions")
sys.exit(count > MOST)
