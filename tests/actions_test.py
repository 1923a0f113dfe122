#!/usr/bin/env python3
"""Actions hold against the compiler: each option that a report names is set, the module compiled and audited again,
and no place asks for it any more; what a report says would stay unfused under a flag stays so.

usage: actions_test.py PROGRAM SHORTHAND FIXTURES CORPUS [--every=N] [--only=TEXT]
The compiler is ../compiler of the corpus; without it the test is skipped. Modules: TTIR of the corpus, of the fixtures
and the functions of fixtures/frontends; every Nth of them. Each is compiled with fusing on and with fusing off. Options
of optimization levels above 0 want an op model, which the compiler at hand lacks: these, and what is no option, are
counted by kind.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from load_yaml import load_yaml
from shorthand_functions import with_arguments

SKIPPED = 77
PIPELINE = "mock-system-desc-arch=wormhole_b0 optimization-level=0"
SECONDS = 60
TRIED = re.compile(r"set (enable-[\w-]+=\w+)")
REFUSED = re.compile(r"off unless (enable-[\w-]+=true) is set, and would not fire then")
PART = re.compile(r"(?:^|; )at (\d+) places?: ")
KINDS = ("set optimization-level", "extend", "find out why", "no pass makes it", "add an op", "request a kernel",
         "leave it")


class Trials:
    def __init__(self, program, compiler, directory):
        self.program, self.compiler, self.directory = program, compiler, directory
        self.counts, self.failures = collections.Counter(), 0

    def fail(self, text):
        self.failures += 1
        print("FAIL", text, flush=True)

    def compiled(self, ttir, options):
        """The path of the TTNN, or None where the compiler refuses."""
        out = os.path.join(self.directory, "out.mlir")
        run = subprocess.run([self.compiler, "--ttir-to-ttnn-backend-pipeline=%s %s" % (PIPELINE, " ".join(options)),
                              "--mlir-print-debuginfo", ttir, "-o", out], capture_output=True, timeout=SECONDS,
                             check=False)
        return out if run.returncode == 0 else None

    def entries(self, ttir, ttnn):
        run = subprocess.run([self.program, "-q", "--unpaired", "--format=json", "-o", "-", ttir, ttnn], capture_output=True,
                             text=True, timeout=SECONDS, check=False)
        return json.loads(run.stdout)["missed_fusions"] if run.stdout else []

    def try_module(self, name, ttir):
        for fusing in "true", "false":
            options = ["enable-fusing-pass=" + fusing]
            ttnn = self.compiled(ttir, options)
            if not ttnn:
                self.counts["modules that the compiler refuses"] += 1
                return
            before = self.entries(ttir, ttnn)
            for option in sorted({o for e in before for _, o in actions(e) for o in TRIED.findall(o)}):
                self.try_option(name, ttir, options, before, option)
            if fusing == "true":
                self.try_refusals(name, ttir, options, before)
            for e in before:
                for places, action in actions(e):
                    kind = next((k for k in KINDS if action.startswith(k)), None)
                    self.counts["not tried: " + kind if kind else "places with an option"] += places

    def try_option(self, name, ttir, options, before, option):
        given = {o.partition("=")[0]: o for o in options + ["enable-fusing-pass=true", option]}  # each pattern's pass is on
        ttnn = self.compiled(ttir, given.values())
        if not ttnn:
            self.fail("%s: the compiler fails with %s" % (name, option))
            return
        after = self.entries(ttir, ttnn)
        self.counts["options tried"] += 1
        for pattern in sorted({pattern_of(e) for e in before if asks(e, option)}):
            asked = sum(n for e in before if pattern_of(e) == pattern for n, a in actions(e) if option in a)
            rest = sum(n for e in before if pattern_of(e) == pattern for n, a in actions(e) if option not in a)
            left = [(n, a) for e in after if pattern_of(e) == pattern for n, a in actions(e)]
            later = sum(n for n, a in left if a.startswith("set "))
            self.counts["patterns tried"] += 1
            if any(option in a for _, a in left) or sum(n for n, _ in left) - later > rest:
                self.fail("%s: %s, %d places, %s: left: %s" % (name, pattern, asked, option, left))
            elif later:
                self.counts["patterns that another option keeps"] += 1

    def try_refusals(self, name, ttir, options, before):
        """A fusion that would not fire with its flag does not."""
        for flag in sorted({f for e in before for f in REFUSED.findall(notes(e))}):
            ttnn = self.compiled(ttir, options + [flag])
            after = self.entries(ttir, ttnn) if ttnn else []
            for e in before:
                if not REFUSED.search(notes(e)) or asks(e, flag):
                    continue
                self.counts["refusals tried"] += 1
                if not ttnn or not any(pattern_of(x) == pattern_of(e) for x in after):
                    self.fail("%s: %s is fused with %s: %s" % (name, e["fused_op"], flag, actions(e)))


def notes(entry):
    return "\n".join(i["notes"] for i in entry["instances"])


def pattern_of(entry):
    return entry["instances"][0]["pattern"]


def actions(entry):
    """Pairs of a number of places and what is to be done there."""
    text = re.search(r"^action: (.*)", notes(entry), re.M)
    parts = PART.split(text.group(1)) if text else []
    if len(parts) < 2:
        return [(len(entry["instances"]), parts[0])] if parts else []
    return [(int(n), a) for n, a in zip(parts[1::2], parts[2::2])]


def asks(entry, option):
    return any(TRIED.search(a) and option in a for _, a in actions(entry))


def modules(shorthand, fixtures, corpus, directory):
    for path in sorted(glob.glob(os.path.join(corpus, "*", "*.ttir.mlir")) +
                       glob.glob(os.path.join(fixtures, "*.ttir.mlir"))):
        yield os.path.relpath(path, corpus), path
    texts = []
    for path in sorted(glob.glob(os.path.join(fixtures, "frontends", "*.yml"))):
        with open(path, encoding="utf-8") as f:
            texts += ["%s ttir\n%s----\n" % (x["name"], with_arguments(x["ops"])) for x in load_yaml(f.read())
                      if x.get("level", "ttir") == "ttir"]
    subprocess.run([shorthand, directory], input="".join(texts), text=True, check=True)
    for path in sorted(glob.glob(os.path.join(directory, "*.ttir.mlir"))):
        yield os.path.basename(path), path


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    program, shorthand, fixtures, corpus = (os.path.abspath(a) for a in sys.argv[1:] if not a.startswith("--"))
    get = os.path.join(corpus, os.pardir, "compiler", "get.sh")
    if not os.path.exists(get):
        print("there is no compiler at", get)
        return SKIPPED
    compiler = os.path.join(subprocess.check_output([get], text=True).strip(), "ttmlir-opt")
    with tempfile.TemporaryDirectory() as directory:
        trials = Trials(program, compiler, directory)
        every, only = int(options.get("every", 1)), options.get("only", "")
        for i, (name, path) in enumerate(modules(shorthand, fixtures, corpus, directory)):
            if i % every == 0 and only in name:
                trials.counts["modules"] += 1
                trials.try_module(name, path)
    for what, n in sorted(trials.counts.items()):
        print("%6d  %s" % (n, what))
    print("%6d  failed" % trials.failures)
    return trials.failures > 0


if __name__ == "__main__":
    sys.exit(main())
