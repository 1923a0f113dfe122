#!/usr/bin/env python3
"""The table of measured/verify.md on dumps of real models: what is paired, found and proved, and what `verify` compares.

usage: real_dumps.py PROGRAM DIRECTORY...
A pair is NAME.ttir.mlir[.zst] and NAME.ttnn*.mlir[.zst]; of a log (*.log[.zst]) `verify` compares the stages.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile


def run(*command):
    """Exit status, standard error, seconds of the processor and MB at most."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = p.stderr.read()
    _, status, used = os.wait4(p.pid, 0)
    return os.waitstatus_to_exitcode(status), said, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def audit(program, files, directory):
    report = os.path.join(directory, "report.json")
    status, said, seconds, size = run(program, "--details", "--format=json", "-o", report, *files)
    kinds, proved, findings = collections.Counter(), 0, 0
    if os.path.exists(report):
        with open(report) as f:
            entries = json.load(f)["missed_fusions"]
        os.remove(report)
        for entry in entries:
            kinds[entry["source"]] += len(entry["instances"])
            findings += len(entry["instances"])
            proved += sum(i["validation"]["verdict"] == "same_function" for i in entry["instances"])
    paired = re.search(r"(\d+\s+of\s+\d+|all\s+\d+)\s+TTNN\s+ops\s+paired", said)
    return [status, " ".join(paired[1].split()) if paired else "", ", ".join(f"{n} {k}" for k, n in kinds.items()),
            f"{proved} of {findings}", f"{seconds:.1f} s", f"{size:.0f} MB"]


def verify(program, files):
    status, said, seconds, size = run(program, "verify", "-v", "-o", os.devnull, *files)
    counts = [list(map(int, c)) for c in
              re.findall(r"(\d+) compute ops: (\d+) proved, (\d+) different, (\d+) not compared", said)]
    ops, proved, different, missing = map(sum, zip(*counts)) if counts else (0, 0, 0, 0)
    return [status, f"{100 * (1 - missing / ops):.1f} %" if ops else "", proved, different, f"{seconds:.1f} s",
            f"{size:.0f} MB"]


def inputs(directory):
    for log in sorted(glob.glob(os.path.join(directory, "*.log*"))):
        yield [log]
    for ttir in sorted(glob.glob(os.path.join(directory, "*.ttir.mlir*"))):
        for ttnn in sorted(glob.glob(re.sub(r"\.ttir\.mlir(\.\w+)?$", ".ttnn*.mlir*", ttir))):
            yield [ttir, ttnn]


def main():
    program, directories = os.path.abspath(sys.argv[1]), sys.argv[2:]
    print("| dump | status | paired | found | proved | time | memory | `verify` | compared | proved | different | time | "
          "memory |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for files in (f for d in directories for f in inputs(d)):
            row = [os.path.basename(files[-1])] + audit(program, files, scratch)
            row += verify(program, files)
            print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    main()
