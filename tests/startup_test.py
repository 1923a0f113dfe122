#!/usr/bin/env python3
"""Start-up takes at most 5 million instructions, also where the program is hardly optimized (it took 35 while formulas were
read at each start, and 7 while patterns were copied). `explain` of a hundred adds takes at
most 520 (900 when it searched what a closer near miss covers).

usage: startup_test.py PROGRAM
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ADDS = "".join(f"    %{i} = \"ttir.add\"(%{i - 1 if i else 'a'}, %b) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
               for i in range(100))
RUNS = [(5_000_000, [], "module {\n}\n"),
        (520_000_000, ["explain", "--ttir-only"],
         "module {\n  func.func @main(%a: tensor<32x32xbf16>, %b: tensor<32x32xbf16>) -> tensor<32x32xbf16> {\n" + ADDS +
         "    return %99 : tensor<32x32xbf16>\n  }\n}\n")]

if not shutil.which("valgrind"):
    sys.exit(77)
failed = 0
for most, command, text in RUNS:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "m.mlir")
        with open(path, "w") as file:
            file.write(text)
        run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", sys.argv[1],
                              *command, path], capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
    if not found:
        sys.exit(run.stderr)
    count = int(found[1].replace(",", ""))
    print(f"{count:,} instructions of at most {most:,}: {' '.join(command)}")
    failed += count > most
sys.exit(failed)
