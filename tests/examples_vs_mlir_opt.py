#!/usr/bin/env python3
"""mlir-opt reads each example of the patterns, as the module that it is tested as.

usage: examples_vs_mlir_opt.py EXAMPLES PATTERNS
Exit 77: mlir-opt is not there.
"""
import re
import shutil
import subprocess
import sys

MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
SPLIT = "// -----\n"


def main():
    if not MLIR_OPT:
        print("mlir-opt is not there")
        return 77
    modules = subprocess.run([sys.argv[1], "print", sys.argv[2]], capture_output=True, text=True, check=True).stdout
    lines = modules.split("\n")
    refused = subprocess.run([MLIR_OPT, "--allow-unregistered-dialect", "--split-input-file", "-o", "/dev/null"],
                             input=modules, capture_output=True, text=True)
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)", refused.stderr, re.M):
        head = next(at for at in reversed(lines[:int(line)]) if at.startswith("// "))
        print(f"{head[3:]}: {message}")
    count = modules.count(SPLIT)
    print(f"{count} examples")
    return 1 if refused.returncode or not count else 0


if __name__ == "__main__":
    sys.exit(main())
