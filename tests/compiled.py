#!/usr/bin/env python3
"""What `verify` compares, of both modules, of models as the compiler makes them with and without hoisting to the host, and
with and without fusing: a table of measured/verify.md.

usage: compiled.py PROGRAM COMPILER [--shorthand=PROGRAM] [--every=N [--from=K]] [--keep=DIRECTORY] FILE...
COMPILER is a script that prints the folder of ttmlir-opt. A FILE is a model (*.ttir.mlir), or a list of functions as in
fixtures/frontends (*.yml, for which tests/shorthand is needed): every Nth of these, from the Kth on, in one row, and below the
table those that are not wholly compared or differ. --keep: where the compiled modules stay, and are taken from.
"""
import os
import re
import subprocess
import sys
import tempfile

from load_yaml import load_yaml
from real_dumps import run
from shorthand_functions import with_arguments

SETTINGS = [(host, fusing) for host in ("true", "false") for fusing in ("true", "false")]
NOT = {"true": "", "false": "not "}
COUNTS = re.compile(r"(\d+) compute ops: (\d+) proved, (\d+) different, (\d+) not compared")


def compiled(opt, ttir, ttnn, host, fusing):
    """Whether the compiler takes it."""
    if os.path.exists(ttnn):
        return True
    with open(ttir) as f:
        mesh = re.search(r'"mesh" = (\d+)x(\d+)', f.read())
    pipeline = "mock-system-desc-arch=wormhole_b0 optimization-level=0 mesh-shape=%s enable-cpu-hoisted-const-eval=%s " \
        "enable-fusing-pass=%s" % (",".join(mesh.groups()) if mesh else "1,1", host, fusing)
    return subprocess.run([opt, "--ttir-to-ttnn-backend-pipeline=" + pipeline, "--mlir-print-debuginfo", ttir, "-o", ttnn],
                          capture_output=True, check=False).returncode == 0


def functions(path, shorthand, every, first, scratch):
    """Of a list of functions the TTIR files."""
    with open(path) as f:
        listed = [x for x in load_yaml(f) if x.get("level", "ttir") == "ttir"][first::every]
    texts = ["%s ttir\n%s----\n" % (x["name"], with_arguments(x["ops"])) for x in listed]
    subprocess.run([shorthand, scratch], input="".join(texts), text=True, check=True)
    return [os.path.join(scratch, x["name"] + ".ttir.mlir") for x in listed]


def compare(program, opt, ttirs, host, fusing, directory):
    """A cell of the table, and what of it is to be read."""
    ops = different = missing = 0
    seconds, notes = 0.0, []
    for ttir in ttirs:
        name = os.path.basename(ttir)[:-len(".ttir.mlir")]
        ttnn = os.path.join(directory, "%s.%s-%s.ttnn.mlir" % (name, host, fusing))
        if not compiled(opt, ttir, ttnn, host, fusing):
            notes.append("%s: the compiler refuses it" % name)
            continue
        status, said, took, _ = run(program, "verify", "-v", "-o", os.devnull, ttir, ttnn)
        counts = [list(map(int, c)) for c in COUNTS.findall(said)]
        here = list(map(sum, zip(*counts))) if counts else [0, 0, 0, 0]
        ops, different, missing = ops + here[0], different + here[2], missing + here[3]
        seconds += took
        if status or here[3]:
            notes.append("%s: %shoisted, %sfused: status %d, %d of %d ops not compared, %d different"
                         % (name, NOT[host], NOT[fusing], status, here[3], here[0], here[2]))
    if not ops:
        return "", notes
    return "%.1f %% of %d, %d different, %.1f s" % (100 * (1 - missing / ops), ops, different, seconds), notes


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    program, get, *files = [a for a in sys.argv[1:] if not a.startswith("--")]
    opt = subprocess.run([get], capture_output=True, text=True, check=True).stdout.strip() + "/ttmlir-opt"
    notes = []
    print("| model | %s |\n|%s" % (" | ".join("%shoisted, %sfused" % (NOT[h], NOT[f]) for h, f in SETTINGS), 5 * "---|"))
    os.makedirs(options.get("keep", "."), exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for path in files:
            name, ttirs = os.path.basename(path)[:-len(".ttir.mlir")], [path]
            if path.endswith(".yml"):
                ttirs = functions(path, options["shorthand"], int(options.get("every", 1)), int(options.get("from", 0)),
                                  scratch)
                name = "%d of %s" % (len(ttirs), os.path.basename(path))
            cells = []
            for host, fusing in SETTINGS:
                cell, more = compare(program, opt, ttirs, host, fusing, options.get("keep", scratch))
                cells.append(cell)
                notes += more
            print("|", " | ".join([name, *cells]), "|", flush=True)
    print("", *notes, sep="\n")


if __name__ == "__main__":
    main()
