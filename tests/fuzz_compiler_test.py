#!/usr/bin/env python3
"""A short run of fuzz/compiler.py finds nothing that fixtures/compiler-defects does not have, and what is there is so.

usage: fuzz_compiler_test.py PROGRAM TESTS CORPUS SOURCE [--count=N] [--seed=S]
"""
import glob
import os
import subprocess
import sys
import tempfile
import types

SKIPPED = 77


def fail(text):
    print("FAIL", text, flush=True)
    return 1


def defects_are_so(fuzz, judge, directory):
    failures = 0
    for path in sorted(glob.glob(os.path.join(directory, "*.mlir"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        head = dict(line[3:].split(": ", 1) for line in text.splitlines() if line.startswith("// ") and line[3] != " ")
        function = fuzz.read(subprocess.run([judge.o.opt, path], capture_output=True, text=True, check=True).stdout)[0]
        kinds = judge.differences(function, head["options"])
        if not any(fuzz.is_like(kind, (head["pass"], head["makes"], tuple(head.get("of", "").split()))) for kind in kinds):
            failures += fail("%s: the compiler makes %s" % (os.path.basename(path), sorted(kinds)))
        for kind, check in kinds.items():
            if check and not judge.disagree(function, head["options"], check):
                failures += fail("%s: evaluated in full %s is the same, or is not evaluated" % (os.path.basename(path), kind))
    return failures


def main():
    given = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    program, tests, corpus, source = (os.path.abspath(a) for a in sys.argv[1:] if not a.startswith("--"))
    get = os.path.join(corpus, os.pardir, "compiler", "get.sh")
    if not os.path.exists(get):
        print("there is no compiler at", get)
        return SKIPPED
    opt = os.path.join(subprocess.check_output([get], text=True).strip(), "ttmlir-opt")
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(source, "fuzz"))
    import compiler as fuzz
    defects = os.path.join(source, "fixtures", "compiler-defects")
    options = types.SimpleNamespace(program=program, tests=tests, opt=opt, models=None,
                                    patterns=os.path.join(source, "patterns"))
    with tempfile.TemporaryDirectory() as directory:
        judge = fuzz.Judge(options, directory)
        failures = defects_are_so(fuzz, judge, defects)
        run = subprocess.run([sys.executable, os.path.join(source, "fuzz", "compiler.py"), "--known=" + defects,
                              "--seed=" + given.get("seed", "1"), "--count=" + given.get("count", "100"), program, tests,
                              opt], capture_output=True, text=True, check=False)
        print(run.stdout)
        failures += fail(run.stderr) if run.returncode else 0
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
