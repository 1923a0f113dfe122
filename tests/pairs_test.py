#!/usr/bin/env python3
"""Real compiler output: what belongs together is audited as a pair, what does not is refused.

usage: pairs_test.py AUDITS CORPUS [--every=N]
Each model is held against every Nth of the others (default: against each). The corpus is not part of the project: without it the test is skipped (exit 77).
"""
import os
import re
import sys

from audits import Audits, without_locations

PROGRAM, CORPUS = sys.argv[1], sys.argv[2]
EVERY = int(sys.argv[3].removeprefix("--every=")) if sys.argv[3:] else 1
MODELS = os.path.join(CORPUS, "models")
REFUSED = "not of one model: "
failures = []
pairs = refused = 0


def check(ok, *what):
    if not ok:
        failures.append(what)
        print("FAIL", *what)


def is_pair(*files):
    global pairs
    pairs += 1
    status, said, _ = audits.audit("both", *files)
    check(status in (0, 1) and not any(REFUSED in line for line in said), *files, status, *said)


def is_no_pair(ttir, ttnn):
    global refused
    refused += 1
    status, said, report = audits.audit("both", ttir, ttnn)
    check(status == 3 and report is None and said[0].startswith("error: " + REFUSED) and ttir in said[0], ttir, ttnn,
          status, *said)


def level(name, suffix, directory=MODELS):
    return os.path.join(directory, "%s.%s.mlir" % (name, suffix))


def functions_turned(text):
    """The const-eval functions and the function behind them, which calls them, in reversed order."""
    functions = list(re.finditer(r"^ {6}func\.func .*?\n {6}\} loc\(.*?\)\n", text, re.M | re.S))
    functions = functions[:1 + next(i for i, f in enumerate(functions) if " private " not in f[0][:30])]
    assert len(functions) > 10
    return text[:functions[0].start()] + "".join(f[0] for f in reversed(functions)) + text[functions[-1].end():]


def write(name, text):
    path = os.path.join(audits.directory.name, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def read(path):
    with open(path) as f:
        return f.read()


if not os.path.isdir(MODELS):
    print("no corpus: skipped")
    sys.exit(77)
audits = Audits(PROGRAM)
names = sorted(f[:-len(".ttir.mlir")] for f in os.listdir(MODELS) if f.endswith(".ttir.mlir"))
texts = {n: read(level(n, "ttir")) for n in names}
for i, n in enumerate(names):
    for suffix in "ttnn", "ttnn-promoted", "ttnn-unfused":
        is_pair(level(n, "ttir"), level(n, suffix))
    bare = [write(s + ".mlir", without_locations(read(level(n, s)))) for s in ("ttir", "ttnn")]
    assert "loc(" not in read(bare[1]).replace(".loc(", "")
    is_pair(*bare)
    is_pair(level(n, "ttir"), bare[1])
    is_pair(bare[0], level(n, "ttnn"))
    for other in names[i % EVERY::EVERY]:
        if texts[other] != texts[n]:  # phi_1 and phi_1_5 are the same text: nothing tells them apart
            is_no_pair(level(other, "ttir"), level(n, "ttnn"))
            is_no_pair(level(other, "ttir"), bare[1])
for n in "segformer", "bert_encoder_layer":
    is_pair(level(n, "ttnn"), level(n, "ttir"))
    is_pair(level(n, "ttir"), write("turned.mlir", functions_turned(read(level(n, "ttnn")))))
for directory, suffixes in ("dit", ("ttnn", "ttnn-promoted", "ttnn-unfused")), ("wrong", ("ttnn",)):
    directory = os.path.join(CORPUS, directory)
    for n in sorted(f[:-len(".ttir.mlir")] for f in os.listdir(directory) if f.endswith(".ttir.mlir")):
        for suffix in suffixes:
            is_pair(level(n, "ttir", directory), level(n, suffix, directory))
is_pair(os.path.join(CORPUS, "dit", "dit-trace.log"))
for log in sorted(os.listdir(os.path.join(CORPUS, "logs"))):
    path = os.path.join(CORPUS, "logs", log)
    said = audits.audit("both", path)[1]
    check(not any(REFUSED in line for line in said), log, *said)
audits.close()
print(f"{pairs} pairs accepted, {refused} refused but {len(failures)}")
sys.exit(1 if failures else 0)
