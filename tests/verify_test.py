#!/usr/bin/env python3
"""`fusion-audit verify`: what the compiler is known to fuse wrongly, and fusions that look alike and are right.

usage: verify_test.py PROGRAM [CORPUS] [unittest arguments]
Each case is a body of TTIR ops before and after a pass. Where ../shared/corpus/wrong is there, its pairs are held
against its truth.tsv.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
CORPUS = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.sep in sys.argv[1] else ""


def module(arguments, body, result):
    """A function of arguments "x: 4x8xf32", which returns %r."""
    types = dict(a.split(": ") for a in arguments)
    head = ", ".join(f"%{n}: tensor<{t}>" for n, t in types.items())
    types["r"] = result
    lines = []
    for line in body.strip().splitlines():
        name, op, operands, attributes, shape = re.fullmatch(
            r"%(\w+) = (\S+?)\(([^)]*)\)(?: \{(.*)\})? : (\S+)", line.strip()).groups()
        operands = [o.strip().lstrip("%") for o in operands.split(",") if o.strip()]
        types[name] = shape
        signature = ", ".join(f"tensor<{types[o]}>" for o in operands)
        values = ", ".join(f"%{o}" for o in operands)
        lines.append(f'    %{name} = "{op}"({values}) <{{{attributes or ""}}}> : ({signature}) -> tensor<{shape}> '
                     f'loc("{name}")')
    return (f"module {{\n  func.func @main({head}) -> tensor<{result}> {{\n" + "\n".join(lines) +
            f"\n    return %r : tensor<{result}>\n  }}\n}}\n")


def scalar(name, value, shape="1x1", dtype="f32"):
    return f"%{name} = ttir.full() {{fill_value = {value} : f32, shape = array<i32: {shape.replace('x', ', ')}>}} : {shape}x{dtype}"


SUM = "%s = ttir.sum(%x) {dim_arg = [1 : i32], keep_dim = true} : 8x1xf32\n"
MEAN = "%r = ttir.mean(%x) {dim_arg = [1 : i32], keep_dim = true} : 8x1xf32"
MISH = """
%g = ttir.gt(%x, %t) : 8x32xi1
%e = ttir.exp(%x) : 8x32xf32
%l = ttir.log1p(%e) : 8x32xf32
%w = ttir.where(%g, %x, %l) : 8x32xf32
%h = ttir.tanh(%w) : 8x32xf32
%r = ttir.multiply(%x, %h) : 8x32xf32"""
RELU6 = "%r = ttir.relu6(%x) : 8x32xf32"


def clamped(low, high):
    return f"%r = ttir.clamp_scalar(%x) {{max = {high} : f32, min = {low} : f32}} : 8x32xf32"


X = ["x: 8x32xf32"]
# name, arguments, before, after, result type, differs
CASES = [
    # J3.2: a factor within 1e-4 of 1/N
    ("mean_of_4000_by_1_over_3000", ["x: 8x4000xf32"], SUM + scalar("c", "3.333333e-04") + "\n%r = ttir.multiply(%s, %c) : 8x1xf32",
     MEAN, "8x1xf32", True),
    ("mean_of_4000", ["x: 8x4000xf32"], SUM + scalar("c", "2.500000e-04") + "\n%r = ttir.multiply(%s, %c) : 8x1xf32",
     MEAN, "8x1xf32", False),
    ("mean_of_4000_rounded_to_bf16", ["x: 8x4000xf32"],
     SUM + scalar("c", "2.498630e-04", dtype="bf16") + "\n%r = ttir.multiply(%s, %c) : 8x1xf32", MEAN, "8x1xf32", False),
    # J3.5: the threshold of the softplus
    ("mish_of_threshold_2", X, scalar("t", "2.000000e+00") + MISH, "%r = ttir.mish(%x) : 8x32xf32", "8x32xf32", True),
    ("mish_of_threshold_20", X, scalar("t", "2.000000e+01") + MISH, "%r = ttir.mish(%x) : 8x32xf32", "8x32xf32", False),
    # J3.3: relu6 of another bound
    ("relu6_of_5", X, clamped("0.000000e+00", "5.000000e+00"), RELU6, "8x32xf32", True),
    ("relu6_of_6", X, clamped("0.000000e+00", "6.000000e+00"), RELU6, "8x32xf32", False),
    # J3.8: softmax along another dimension
    ("softmax_along_rows", X, "%r = ttir.softmax(%x) {dimension = 0 : si32} : 8x32xf32",
     "%r = ttir.softmax(%x) {dimension = 1 : si32} : 8x32xf32", "8x32xf32", True),
    ("softmax_from_the_end", X, "%r = ttir.softmax(%x) {dimension = 1 : si32} : 8x32xf32",
     "%r = ttir.softmax(%x) {dimension = -1 : si32} : 8x32xf32", "8x32xf32", False),
]


class Verify(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.directory.name, name)
        if text is not None:
            with open(path, "w") as f:
                f.write(text)
        return path

    def verify(self, *arguments):
        report = self.path("check.yml")
        if os.path.exists(report):
            os.unlink(report)
        run = subprocess.run([PROGRAM, "verify", "-o", report, *arguments], capture_output=True, text=True, timeout=60)
        found = None
        if os.path.exists(report):
            with open(report) as f:
                found = yaml.safe_load(f)
        return run.returncode, found, run.stderr

    def check(self, before, after, differs):
        status, report, said = self.verify(before, after)
        self.assertEqual(status, 1 if differs else 0, said)
        if not differs:
            self.assertIsNone(report)
            self.assertEqual(said, "")
            return
        for entry in report["checks"]:
            self.assertIn("before ", entry["counterexample"])
            self.assertTrue(entry["before"] and entry["after"])

    def test_cases(self):
        for name, arguments, before, after, result, differs in CASES:
            with self.subTest(name):
                self.check(self.path("before.mlir", module(arguments, before, result)),
                           self.path("after.mlir", module(arguments, after, result)), differs)

    def test_exit_status(self):
        one = self.path("one.mlir", module(X, RELU6, "8x32xf32"))
        self.assertEqual(self.verify(one, self.path("absent.mlir"))[0], 3)
        self.assertEqual(self.verify(one)[0], 3)  # one stage only
        self.assertEqual(self.verify(one, one, one)[0], 2)
        self.assertEqual(self.verify("--min-compared=2", one, one)[0], 2)
        self.assertEqual(self.verify(one, one)[0], 0)
        other = self.path("other.mlir", module(["x: 8x32xf32", "y: 8x32xf32"], RELU6, "8x32xf32"))
        self.assertEqual(self.verify(one, other)[0], 3)

    def test_what_has_no_evaluator(self):
        before = self.path("before.mlir", module(X, "%r = ttir.unheard_of(%x) : 8x32xf32", "8x32xf32"))
        after = self.path("after.mlir", module(X, "%r = ttir.never_seen(%x) : 8x32xf32", "8x32xf32"))
        self.assertEqual(self.verify(before, before)[0], 0)  # the same op of the same value
        self.assertEqual(self.verify(before, after)[0], 3)
        status, report, _ = self.verify("--min-compared=0", "--details", before, after)
        self.assertEqual(status, 0)
        self.assertEqual(report["checks"][0]["kind"], "not_compared")
        self.assertEqual(report["compared"]["after"], {"ops": 1, "proved": 0, "different": 0, "not_compared": 1})

    def test_corpus(self):
        wrong = os.path.join(CORPUS, "wrong")
        if not CORPUS or not os.path.isdir(wrong):
            self.skipTest("no corpus")
        with open(os.path.join(wrong, "truth.tsv")) as f:
            lines = f.readlines()
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            name, _, truth = line.rstrip("\n").split("\t")
            for stage in "fused", "ttnn":
                with self.subTest(f"{name} {stage}"):
                    self.check(os.path.join(wrong, f"{name}.ttir.mlir"), os.path.join(wrong, f"{name}.{stage}.mlir"),
                               truth.startswith("different"))


if __name__ == "__main__":
    unittest.main()
