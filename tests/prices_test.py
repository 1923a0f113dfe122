#!/usr/bin/env python3
"""One op has one price: with the fused ops that `apply` writes, a module costs what the audit of it before had said.

usage: prices_test.py PROGRAM PRICES EXAMPLES PATTERNS DEVICES [--only=TEXT] [--every=N] [--all]
Modules are the examples of direct patterns that are found in TTIR, each with its own pattern only, and whose fused op
stands where it is without others beside it that lay out its operands: --all looks at these, too. Every Nth of them.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

WITHIN = 0.02
KNOWN = {"conv3d_pad, test 1",  # the pad, which goes, is of more tiles than the result
         "group_norm_of_channels_last, test 2",  # reshapes there and back go, which are taken to stay
         "group_norm_as_affine, test 0",  # of TTIR's op its lowering makes the permutes
         "layer_norms_of_rms_norms, test 0",  # two ops, priced as one
         "avg_pool2d_counted, test 0",  # a pool divides itself, in no cycles of its own
         "avg_pool2d_counted, test 1",
         "split_heads_of_pair, test 4"}  # rows become a batch of one by reshapes, which are taken for free
EXAMPLE = re.compile(r"^// (?!.*theory_)\S+ ([\w-]+), (.*) \(hit\)", re.M)


def examples(printed):
    """Tuples of a pattern, a name and a module."""
    for module in printed.split("// -----\n"):
        head = EXAMPLE.search(module)
        if head and '"ttir.' in module and '"ttnn.' not in module:
            yield head[1], head[1] + ", " + head[2], module


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def saved_in(program, pattern, path):
    """Us that the only place saves; None where there is another number of places."""
    out = run(program, "-q", "--ttir-only", "--no-validate", "--device=n150", "--include=slower", "--details",
              "--only=" + pattern, "--format=json", "-o", "-", path).stdout
    places = [i for e in json.loads(out)["missed_fusions"] for i in e["instances"]] if out else []
    cost = places[0].get("cost") if len(places) == 1 else None
    return cost and cost["estimated_us"] - cost["estimated_us_fused"]


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    program, prices, printer, patterns, devices = [a for a in sys.argv[1:] if not a.startswith("--")]
    only, every = options.get("only", ""), int(options.get("every", 1))
    failures, tried = [], []
    with tempfile.TemporaryDirectory() as directory:
        found = [x for x in examples(run(printer, "print", patterns).stdout) if only in x[1]]
        for pattern, name, module in found[::every]:
            path = os.path.join(directory, "%d.mlir" % len(tried))
            with open(path, "w", encoding="utf-8") as f:
                f.write(module)
            saved = saved_in(program, pattern, path)
            applied = run(program, "apply", "-q", "--only=" + pattern, "--assume=all", "--value=eps=1e-5", "-o",
                          path + ".after", path)
            if saved is None or applied.returncode:
                continue
            with open(path + ".after", encoding="utf-8") as f:
                after = f.read()
            if after != module and ("all" in options or "%fused_" not in after):
                tried.append((name, path, saved))
        paths = "".join("%s\n%s.after\n" % (path, path) for _, path, _ in tried)
        us = [float(x) for x in subprocess.run([prices, devices], input=paths, capture_output=True, text=True,
                                               check=True).stdout.split()]
    for (name, _, saved), before, after in zip(tried, us[::2], us[1::2]):
        if after >= 0 and (abs(before - saved - after) > WITHIN * after) != (name in KNOWN):
            failures.append(name)
            print("%s: %.2f us before, %.2f are said to be saved, and %.2f are left" % (name, before, saved, after))
    print("%d of %d examples cost what was said" % (len(tried) - len(failures), len(tried)))
    return len(failures) > 0 or (not only and len(tried) * every < 100)


if __name__ == "__main__":
    sys.exit(main())
