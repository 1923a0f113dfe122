#!/usr/bin/env python3
"""Recall and precision for each fused op, over real compiler output, the compiler's own tests and users' issues.

usage: recall.py PROGRAM CORPUS [--update]
The corpus is not part of the project: without it the test is skipped (exit 77). Three parts of it count:
models: what the compiler fuses of a model (truth.tsv) must be found in the TTNN that it prints with fusing off; where it
  fused, what is still found must be what promoted.tsv beside this file says, read and accepted one by one. --update
  writes that list anew: read the difference.
lit: functions that the compiler's tests say must (+) or must not (-) fuse.
issues: IR of users, with a verdict each; the first line of expected.tsv says how verdicts are written.
An op that is found inside of a larger fusion counts as found: a softmax in an attention, a bias in a convolution.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

from load_yaml import load_yaml

UPDATE = "--update" in sys.argv
PROGRAM, CORPUS = [a for a in sys.argv[1:] if a != "--update"]
PROMOTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "promoted.tsv")
MODELS, LIT, ISSUES = (os.path.join(CORPUS, d) for d in ("models", "lit", "issues"))

# What is missing or wrong and known, each with its reason; at most six.
EXCEPTIONS = {
}
assert len(EXCEPTIONS) <= 6

ATTENTION = ("ttnn.scaled_dot_product_attention", "ttnn.scaled_dot_product_attention_decode")
PRODUCTS = ("ttnn.matmul", "ttnn.linear")
CONVS = ("ttnn.conv2d", "ttnn.conv_transpose2d", "ttnn.conv1d", "ttnn.conv3d")
NORMS = ("ttnn.rms_norm", "ttnn.layer_norm", "ttnn.group_norm", "ttnn.distributed_rms_norm",
         "ttnn.dit_rms_norm_unary_fused")
ACTIVATIONS = "sigmoid silu gelu relu relu6 tanh maximum clamp_scalar erf hardsigmoid mish leaky_relu"
# op: (larger fusions that may have it in them, an op that then has to be in their segments)
LARGER = {
    "ttnn.softmax": (ATTENTION, "softmax exp"),
    "ttnn.repeat_interleave": (ATTENTION, "broadcast repeat repeat_interleave"),
    "ttnn.mean": (NORMS, "sum mean"),
    "ttnn.rms_norm": (("ttnn.dit_rms_norm_unary_fused", "ttnn.layer_norm"), "rms_norm rsqrt sqrt"),
    "ttnn.matmul+activation": (PRODUCTS, ACTIVATIONS),
    "ttnn.linear+activation": (PRODUCTS, ACTIVATIONS),
    "ttnn.conv2d+bias": (CONVS, "add"),
    "ttnn.conv2d+activation": (CONVS, ACTIVATIONS),
}
for act in "silu gelu relu relu6 mish leaky_relu hardsigmoid sigmoid".split():
    LARGER["ttnn." + act] = (PRODUCTS + CONVS, ACTIVATIONS)
for one in ATTENTION:
    LARGER[one] = (ATTENTION, "matmul dot_general multiply")


class Finding:
    def __init__(self, entry, instance):
        self.op, self.source = entry["fused_op"], entry["source"]
        levels = [re.findall(r'"tt(?:ir|nn)\.(\w+)"', instance.get(key, "")) for key in ("ttir_segment", "ttnn_segment")]
        self.levels = [collections.Counter(ops) for ops in levels]
        self.unconditional = not re.search(r"\bprecondition\b", instance["notes"])

    def inside(self, op):
        """How many places of another op are inside of this one."""
        larger, within = LARGER.get(op, ((), ""))
        if self.op == op or self.op not in larger:
            return 0
        n = max(sum(ops[name] for name in within.split()) for ops in self.levels)
        return n if op == "ttnn.mean" else min(n, 1)  # a norm may have two means


def audit(*args, sources="ttnn:dialect,torch,triton,cuda"):
    """What the library of TTNN alone has, a truth of the compiler's fusions says nothing of."""
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "todo.yml")
        done = subprocess.run([PROGRAM, "-q", "-o", out, "--include=slower", "--source=" + sources, *args], capture_output=True, text=True, timeout=60)
        if not os.path.exists(out):
            return [], done.returncode
        with open(out) as f:
            entries = load_yaml(f)["missed_fusions"]
        return [Finding(e, i) for e in entries for i in e["instances"]], done.returncode


def one_level(path):
    with open(path) as f:
        return "--ttnn-only" if '"ttnn.' in f.read() else "--ttir-only"


def rows_of(path):
    with open(path) as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]


class Count:
    def __init__(self):
        self.wanted = self.found = self.inside = self.wrong = 0


class Table:
    def __init__(self):
        self.counts = collections.defaultdict(Count)
        self.used = set()
        self.failures = []
        self.forbidden = self.accepted = 0

    def excused(self, where, op):
        if (where, op) in EXCEPTIONS:
            self.used.add((where, op))
        return (where, op) in EXCEPTIONS

    def want(self, where, op, n, findings):
        """n places of op must be among the findings; an op may stand for several, any of which will do."""
        names = op if isinstance(op, list) else [op]
        itself = sum(f.op in names for f in findings)
        inside = sum(max(f.inside(name) for name in names) for f in findings if f.op not in names)
        count = self.counts[names[0]]
        count.wanted += n
        count.found += min(n, itself + inside)
        count.inside += max(0, min(n, itself + inside) - itself)
        if itself + inside < n and not self.excused(where, names[0]):
            self.failures.append("%s: %d of %d %s" % (where, itself + inside, n, " | ".join(names)))

    def wrong(self, where, op, n=1):
        self.counts[op].wrong += n
        if not self.excused(where, op):
            self.failures.append("%s: %d %s too many" % (where, n, op))

    def show(self):
        def line(*cells):
            print("%-58s %6s %6s %7s %6s %7s %10s" % cells)

        def ratio(part, whole):
            return "%.1f %%" % (100 * part / whole) if whole else "-"

        line("fused op", "wanted", "found", "inside", "wrong", "recall", "precision")
        total = Count()
        for op, c in sorted(self.counts.items()):
            line(op, c.wanted, c.found, c.inside, c.wrong, ratio(c.found, c.wanted), ratio(c.found, c.found + c.wrong))
            for key in vars(total):
                setattr(total, key, getattr(total, key) + getattr(c, key))
        line("all", total.wanted, total.found, total.inside, total.wrong, ratio(total.found, total.wanted),
             ratio(total.found, total.found + total.wrong))
        print("%d places where nothing must be found; %d findings accepted where the compiler's fusing was on"
              % (self.forbidden, self.accepted))


def check_models(table):
    for model, op, n in rows_of(os.path.join(MODELS, "truth.tsv")):
        path = os.path.join(MODELS, model)
        findings, _ = audit(path + ".ttir.mlir", path + ".ttnn-unfused.mlir")
        table.want(model, op, int(n), findings)


def check_promoted(table):
    accepted = collections.defaultdict(dict)
    if not UPDATE:
        for model, op, n in rows_of(PROMOTED):
            accepted[model][op] = int(n)
    lines = []
    for name in sorted(os.listdir(MODELS)):
        if not name.endswith(".ttir.mlir"):
            continue
        model = name[:-len(".ttir.mlir")]
        path = os.path.join(MODELS, model)
        got = collections.Counter(f.op for f in audit(path + ".ttir.mlir", path + ".ttnn-promoted.mlir", sources="ttnn,torch,triton,cuda")[0])
        lines += ["%s\t%s\t%d\n" % (model, op, got[op]) for op in sorted(got)]
        table.accepted += sum(accepted[model].values())
        for op in sorted(set(got) | set(accepted[model])):
            more = got[op] - accepted[model].get(op, 0)
            if UPDATE:
                continue
            if more > 0:
                table.wrong(model + " promoted", op, more)
            if more < 0:
                table.failures.append("%s promoted: %d %s fewer than accepted" % (model, -more, op))
    if UPDATE:
        with open(PROMOTED, "w") as f:
            f.write("# What is found where the compiler's fusing is on, composites kept: model, fused op, places.\n")
            f.writelines(lines)


def check_lit(table):
    for name, _, _, sign, op in rows_of(os.path.join(LIT, "truth.tsv")):
        path = os.path.join(LIT, name + ".mlir")
        findings, _ = audit(one_level(path), path)
        if sign == "+":
            table.want(name, "ttnn." + op, 1, findings)
        else:
            table.forbidden += 1
            n = sum(f.op == "ttnn." + op and f.unconditional for f in findings)
            if n:
                table.wrong(name, "ttnn." + op, n)


def check_issue(table, name, verdict):
    path = os.path.join(ISSUES, name)
    findings, status = audit(one_level(path), path)
    for part in (p.strip() for p in verdict.split(";")):
        if part == "parse-error-tolerant":
            if status not in (0, 1, 3):
                table.failures.append("%s: exit status %d" % (name, status))
        elif part == "none":
            table.forbidden += 1
            for op, n in collections.Counter(f.op for f in findings if f.source == "ttnn").items():
                table.wrong(name, op, n)
        elif part.startswith("!"):
            table.forbidden += 1
            n = sum(f.op == part[1:] and f.unconditional for f in findings)
            if n:
                table.wrong(name, part[1:], n)
        else:
            names = [p.strip() for p in part.split("|")]
            if not any(p.endswith("?") for p in names):
                table.want(name, names, 1, findings)


if not os.path.isdir(MODELS):
    print("no corpus: skipped")
    sys.exit(77)
table = Table()
check_models(table)
check_promoted(table)
check_lit(table)
for row in rows_of(os.path.join(ISSUES, "expected.tsv")):
    if row[0] != "file":
        check_issue(table, row[0], row[1])
table.show()
for where, op in sorted(EXCEPTIONS):
    print("known: %s, %s: %s" % (where, op, EXCEPTIONS[(where, op)]))
    if (where, op) not in table.used:
        table.failures.append("%s, %s: no exception any more" % (where, op))
for failure in table.failures:
    print("FAIL", failure)
sys.exit(1 if table.failures else 0)
