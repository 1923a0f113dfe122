#!/usr/bin/env python3
"""What an action says of the compiler is seen, dated or tried: on inputs of this project, and over logs that people keep,
which are read here by themselves. Nothing is asked for that a log shows as run or as on, and nothing that its compile is
too old for.

usage: evidence_test.py PROGRAM CORPUS [unittest arguments]
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from load_yaml import load_yaml

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
CORPUS = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# A module of both levels, of which TTNN may be given by itself.
MODULE = "module {\n  func.func @f(%s) -> %s {\n%s    return %s : %s\n  }\n}\n"
X, ROW, W, OUT = "tensor<32x64xbf16>", "tensor<32x1xbf16>", "tensor<64x128xbf16>", "tensor<32x128xbf16>"
MANY = 10


def op(name, result, operands, types, out, props=""):
    return '    %s = "%s"(%s)%s : (%s) -> %s\n' % (result, name, operands, " <{%s}>" % props if props else "", types, out)


def linears(n, level):
    """Products with their sums apart, one behind the other's input."""
    ops = ""
    for i in range(n):
        ops += op(level + ".matmul", "%%p%d" % i, "%%x, %%w%d" % i, X + ", " + W, OUT, "transpose_a = false, transpose_b = false")
        ops += op(level + ".add", "%%s%d" % i, "%%p%d, %%b%d" % (i, i), OUT + ", tensor<1x128xbf16>", OUT)
    arguments = ", ".join(["%x: " + X] + ["%%w%d: %s, %%b%d: tensor<1x128xbf16>" % (i, W, i) for i in range(n)])
    results, types = ", ".join("%%s%d" % i for i in range(n)), ", ".join([OUT] * n)
    return MODULE % (arguments, "(%s)" % types, ops, results, types)


def number(level, name, value, type_=ROW):
    if level == "ttir":
        return '    %s = "ttir.constant"() <{value = dense<%s> : %s}> : () -> %s\n' % (name, value, type_, type_)
    return '    %s = "ttnn.full"() <{fill_value = %s : f32, shape = #ttnn.shape<32x1>}> : () -> %s\n' % (name, value, type_)


def norm(level, mean):
    """An rms_norm whose factor is no weight vector; its mean is one op, or a sum times 1/64."""
    ops = number(level, "%e", "1.0e-05") + op(level + ".multiply", "%q", "%x, %x", X + ", " + X, X)
    sums = "dim_arg = [1 : i32], keep_dim = true"
    if mean:
        ops += op(level + ".mean", "%m", "%q", X, ROW, sums)
    else:
        ops += number(level, "%n", "0.015625") + op(level + ".sum", "%t", "%q", X, ROW, sums)
        ops += op(level + ".multiply", "%m", "%t, %n", ROW + ", " + ROW, ROW)
    ops += op(level + ".add", "%a", "%m, %e", ROW + ", " + ROW, ROW) + op(level + ".rsqrt", "%r", "%a", ROW, ROW)
    ops += op(level + ".multiply", "%o", "%x, %r", X + ", " + ROW, X)
    return MODULE % ("%x: " + X, X, ops, "%o", X)


def average(level):
    """A sum times a seventh, which bf16 rounds."""
    ops = number(level, "%n", "0.142578125") + op(level + ".sum", "%t", "%x", "tensor<32x7xbf16>", ROW, "dim_arg = [1 : i32], keep_dim = true")
    return MODULE % ("%x: tensor<32x7xbf16>", ROW, ops + op(level + ".multiply", "%o", "%t, %n", ROW + ", " + ROW, ROW), "%o", ROW)


def last_row(level):
    """Of a product only the last row is taken."""
    big, wide, out = "tensor<512x2048xbf16>", "tensor<512x8192xbf16>", "tensor<1x8192xbf16>"
    weight = "tensor<2048x8192xbf16>"
    ops = op(level + ".matmul", "%p", "%x, %w", big + ", " + weight, wide, "transpose_a = false, transpose_b = false")
    ops += op(level + ".slice_static", "%o", "%p", wide, out,
              "begins = [511 : i32, 0 : i32], ends = [512 : i32, 8192 : i32], step = [1 : i32, 1 : i32]")
    return MODULE % ("%%x: %s, %%w: %s" % (big, weight), out, ops, "%o", out)


def activated(level, product, activation):
    ops = op(level + "." + product, "%p", "%x, %w", X + ", " + W, OUT, "transpose_a = false, transpose_b = false")
    ops += op(level + "." + activation, "%o", "%p", OUT, OUT)
    return MODULE % ("%%x: %s, %%w: %s" % (X, W), OUT, ops, "%o", OUT)


class Case(unittest.TestCase):
    def audit(self, *args, **more):
        """Entries of the report and the summary."""
        done = subprocess.run([PROGRAM, "-o", "-", "--format=json", "--no-validate", "--min-saving=0us", *args], capture_output=True, text=True,
                              timeout=120, **more)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        document = json.loads(done.stdout) if done.stdout else {}
        return document.get("missed_fusions", []), done.stderr


class Own(Case):
    def said(self, ttir, ttnn, only):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in (("a.mlir", ttir), ("b.mlir", ttnn)):
                with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                    file.write(text)
            entries, summary = self.audit("--only=" + only, "a.mlir", "b.mlir", cwd=directory)
        self.assertEqual(len(entries), 1, summary)
        return entries[0]["action"], summary

    def test_fusing_may_have_been_off(self):
        """Little is missed, and nothing is fused: both are said, and what the option saves is a bound."""
        action, summary = self.said(linears(1, "ttir"), linears(1, "ttnn"), "ttnn.linear")
        self.assertIn("set enable-fusing-pass=true", action)
        self.assertIn("if it was off; else MatmulWithBiasFusionPattern left it; `try --why` tells why", action)
        self.assertRegex(summary, r"set enable-fusing-pass=true: saves up to \S+ of \S+ us\n")

    def test_fusing_seems_to_have_been_off(self):
        action, summary = self.said(linears(MANY, "ttir"), linears(MANY, "ttnn"), "ttnn.linear")
        self.assertRegex(action, "^set enable-fusing-pass=true in .*, since nothing here is fused$")
        saved, of = re.search(r"set enable-fusing-pass=true: saves (\S+) of (\S+) us\n", summary).groups()
        self.assertTrue(0 < float(saved) < float(of), summary)

    def test_fusing_is_off_by_default(self):
        """An attribute dates the compile to days on which it was."""
        days = linears(1, "ttnn").replace("ttnn.add\"(%p0, %b0)", "ttnn.add\"(%p0, %b0) <{output_dtype = #ttcore.supportedDataTypes<bf16>}>")
        action = self.said(linears(1, "ttir"), days, "ttnn.linear")[0]
        self.assertNotIn("by default", action, "these days saw both")

    def test_a_pass_that_made_another_part_has_run(self):
        """TTIR has no mean: the compiler made it of a sum."""
        action = self.said(norm("ttir", False), norm("ttnn", True), "ttnn.rms_norm")[0]
        self.assertIn("RMSNormFusionPattern (since 2025-12-22) left it", action)
        self.assertNotIn("set ", action)
        self.assertIn("set enable-fusing-pass=true", self.said(norm("ttir", False), norm("ttnn", False), "ttnn.rms_norm")[0])
        self.assertIn("if it was off", self.said(norm("ttir", True), norm("ttnn", True), "ttnn.rms_norm")[0])

    def test_what_ran_at_one_place_ran_at_all(self):
        def both(level, mean):
            product = op(level + ".matmul", "%p", "%o, %w", X + ", " + W, OUT, "transpose_a = false, transpose_b = false")
            product += op(level + ".add", "%s", "%p, %b", OUT + ", tensor<1x128xbf16>", OUT)
            text = norm(level, mean).replace("    return %%o : %s" % X, product + "    return %%s : %s" % OUT)
            return text.replace("@f(%%x: %s) -> %s" % (X, X), "@f(%%x: %s, %%w: %s, %%b: tensor<1x128xbf16>) -> %s" % (X, W, OUT))
        for mean, said in (True, "MatmulWithBiasFusionPattern ran and left it"), (False, "if it was off"):
            with tempfile.TemporaryDirectory() as directory:
                for name, text in (("a.mlir", both("ttir", False)), ("b.mlir", both("ttnn", mean))):
                    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                        file.write(text)
                entries, _ = self.audit("--only=ttnn.linear,ttnn.rms_norm", "a.mlir", "b.mlir", cwd=directory)
            self.assertIn(said, next(e["action"] for e in entries if e["fused_op"] == "ttnn.linear"))

    def test_what_tells_nothing_of_the_pass(self):
        """That no mean was made is no sign of fusing having been off."""
        action = self.said(average("ttir"), average("ttnn"), "ttnn.mean")[0]
        self.assertIn("ScaledSumToMeanPattern left it, unless enable-fusing-pass=false was given", action)
        self.assertNotIn("set ", action)

    def test_what_hangs_on_no_number_tells(self):
        """Of a product whose last row is taken the pass looks at no number that could have kept it."""
        action, summary = self.said(last_row("ttir"), last_row("ttnn"), "ttnn.matmul")
        self.assertRegex(action, "^set enable-fusing-pass=true in .*, if it was off; else PermuteSliceAfterMatmulPattern "
                         r"\(since 2026-06-29\) left it; ")
        self.assertRegex(summary, r"set enable-fusing-pass=true: saves up to \S+ of \S+ us\n")

    def test_a_pattern_to_write_runs_where_fusing_is_on(self):
        """A layer_norm, which no pass makes: that fusing was on tells a linear that TTIR does not have."""
        def normed(level, product):
            ops = op(level + ".mean", "%u", "%x", X, ROW, "dim_arg = [1 : i32], keep_dim = true")
            ops += op(level + ".subtract", "%c", "%x, %u", X + ", " + ROW, X)
            ops += norm(level, True).split("{\n", 2)[2].split("    return")[0].replace("%x", "%c")
            if product == "linear":
                ops += op(level + ".linear", "%s", "%o, %w, %b", X + ", " + W + ", tensor<1x128xbf16>", OUT)
            else:
                ops += op(level + ".matmul", "%p", "%o, %w", X + ", " + W, OUT)
                ops += op(level + ".add", "%s", "%p, %b", OUT + ", tensor<1x128xbf16>", OUT)
            return MODULE % ("%%x: %s, %%w: %s, %%b: tensor<1x128xbf16>" % (X, W), OUT, ops, "%s", OUT)
        for product, said in ("matmul", True), ("linear", False):
            action = self.said(normed("ttir", "matmul"), normed("ttnn", product), "ttnn.layer_norm")[0]
            self.assertIn("write one in TTIR: fusion-audit pass --only=layer_norm", action)
            self.assertEqual("; first set enable-fusing-pass=true, if it was off" in action, said, action)

    def test_a_slice_of_a_product_costs_what_is_left(self):
        _, summary = self.said(last_row("ttir"), last_row("ttnn"), "ttnn.matmul")
        saved, of = re.search(r"about (\S+) of (\S+) us to save", summary).groups()
        self.assertGreater(float(saved), float(of) / 4)

    def test_why_is_said_once_an_entry(self):
        self.assertEqual(self.said(linears(3, "ttir"), linears(3, "ttnn"), "ttnn.linear")[0].count("try --why"), 1)


class Dumps(Case):
    """A log with the modules around a pass."""
    HEAD = "// -----// IR Dump %s (x) ('builtin.module' operation) //----- //\n"

    def log(self, *modules):
        return "".join(self.HEAD % name + text for name, text in modules)

    def action(self, log, only="ttnn.linear"):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "a.log"), "w", encoding="utf-8") as file:
                file.write(log)
            entries, err = self.audit("--only=" + only, "--source=ttnn:dialect", "a.log", cwd=directory)
        self.assertEqual(len(entries), 1, err)
        return entries[0]["action"]

    def test_there_before_and_behind(self):
        ttir, ttnn = linears(1, "ttir"), linears(1, "ttnn")
        for first in "Before TTIRFusing", "After Canonicalizer":
            log = self.log(("Before Inliner", ttir), (first, ttir), ("After TTIRFusing", ttir), ("After ConvertTTIRToTTNN", ttnn))
            action = self.action(log)
            before, behind = map(int, re.search(r"left it \(line (\d+) before it, line (\d+) behind it\)", action).groups())
            lines = log.split("\n")
            self.assertEqual([("ttir.add" in lines[n - 1]) for n in (before, behind)], [True, True])
            self.assertLess(before, behind)

    def test_not_there_before(self):
        """They came later, of something else."""
        ttir, ttnn = activated("ttir", "matmul", "sigmoid"), activated("ttnn", "matmul", "sigmoid")
        for other, said in (activated("ttnn", "linear", "tanh"), True), (activated("ttnn", "matmul", "tanh"), False), (ttnn, False):
            action = self.action(self.log(("Before TTIRFusing", ttir), ("After TTIRFusing", ttir), ("After ConvertTTIRToTTNN", other),
                                          ("After TTNNFusing", other), ("After TTNNDeallocate", ttnn)), "ttnn.matmul")
            self.assertEqual("its ops came behind TTNNMatmulAndLinearWithActivation" in action, said, action)

    def test_what_the_dumps_do_not_show(self):
        ttir, ttnn = linears(1, "ttir"), linears(1, "ttnn")
        gone = ttir.replace("ttir.add", "ttir.subtract")
        for after in gone, None:
            log = [("Before Inliner", ttir), ("Before TTIRFusing", ttir), ("After TTIRFusing", after), ("After ConvertTTIRToTTNN", ttnn)]
            action = self.action(self.log(*[x for x in log if x[1]]))
            self.assertNotIn("behind", action)


def settings(text, names):
    """What a log says an option has: its value, by any of its names."""
    found = set()
    for name in names:
        for value in re.findall(r"(?<![\w-])%s[\"']?\s*[=:]\s*[\"']?([\w-]+)" % re.escape(name), text):
            found.add(value.lower())
    return found


class Logs(Case):
    """Over the logs of the corpus."""

    @classmethod
    def setUpClass(cls):
        cls.logs = sorted(glob.glob(CORPUS + "/logs/*") + glob.glob(CORPUS + "/real/*.log*"))
        with open(ROOT + "/patterns/compiler_facts.yml", encoding="utf-8") as file:
            cls.facts = load_yaml(file.read())["had"]
        cls.since = {f[key]: f["since"] for f in cls.facts for key in ("pass", "pattern", "option") if key in f}
        cls.names = {f["option"]: [f["option"]] + ([f["xla"]] if "xla" in f else []) for f in cls.facts if "option" in f}
        cls.dumps = {f["pass"]: f["dump"] for f in cls.facts if "dump" in f}

    def setUp(self):
        if not self.logs:
            self.skipTest("no corpus")

    @staticmethod
    def text_of(path):
        if not path.endswith(".zst"):
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.decode(errors="replace")

    def actions(self, *args):
        entries, _ = self.audit(*args)
        return {e["action"] for e in entries} | {i["action"] for e in entries for i in e["instances"] if "action" in i}

    def check_options(self, action, text):
        asked = re.findall(r"\b([a-z][\w-]+)=(\w+)(?=[ ,;]| in )", action.split(", unless")[0].split(", or enable")[0])
        asked += re.findall(r'"(\w+)": "?(\w+)"?', action)
        for name, value in asked:
            names = next((all_ for all_ in self.names.values() if name in all_), [name])
            self.assertNotIn(value.lower(), settings(text, names), "is on: " + action)
        if "set enable-fusing-pass=true" in action:
            self.assertIsNone(re.search("IR Dump (Before|After) (TTIR|TTNN)Fusing", text), "has run: " + action)

    def check_days(self, action, text):
        stamps = re.findall(r"(?m)^(20\d\d-\d\d-\d\d) \d\d:\d\d:\d\d", text)
        for name in re.findall(r"(\w[\w-]+)(?: ran(?: \(its dump in line \d+\))? and)? left it", action):
            self.assertIn(name, self.since, action)
            if stamps and "(since " not in action:
                self.assertLessEqual(str(self.since[name]), max(stamps), "is younger: " + action)
        for name, day in re.findall(r"\) lacks it: (\S+) came on (\S+)", action):
            self.assertEqual(str(self.since[name]), day)
            if stamps:
                self.assertLess(max(stamps), day, "may be there: " + action)

    def check_dumps(self, action, text, lines):
        for line in re.findall(r"its dump in line (\d+)", action):
            self.assertRegex(lines[int(line) - 1], "IR Dump (Before|After) (%s) " % "|".join(self.dumps.values()))
        for name in re.findall(r"wait for ([\w-]+)", action):
            self.assertNotRegex(text, "IR Dump After %s " % self.dumps.get(name, "-"))

    def test_logs(self):
        nactions = 0
        for path in self.logs:
            text = self.text_of(path)
            lines = text.split("\n")
            for args in (), ("--ttir-only",):
                for action in self.actions(*args, path):
                    with self.subTest(log=os.path.basename(path), args=args):
                        nactions += 1
                        self.check_options(action, text)
                        self.check_days(action, text)
                        self.check_dumps(action, text, lines)
        self.assertGreater(nactions, 20)

    def test_what_the_default_pipeline_left(self):
        """Of compiles that had fusing on nobody is told flatly to set it."""
        pairs = [(p.replace(".ttnn.mlir", ".ttir.mlir"), p) for p in sorted(glob.glob(CORPUS + "/../trials/issues/*.ttnn.mlir") +
                                                                            glob.glob(CORPUS + "/models/*[a-m]_*.ttnn.mlir"))]
        for ttir, ttnn in pairs:
            for action in self.actions(ttir, ttnn) if os.path.exists(ttir) else ():
                if "set enable-fusing-pass=true" in action:
                    self.assertIn("if it was off", action, ttnn)

    def test_what_an_option_is_said_to_bring(self):
        """Is what the compile with it takes, by the same prices, also where it makes parts of a larger place."""
        for name in "12c-one-norm-2048x4096", "13-two-rms-norms-of-one", "46-lm-head-last-token", "58-bert-output":
            pair = [CORPUS + "/../trials/issues/%s.%s.mlir" % (name, kind) for kind in ("ttir", "unfused", "ttnn")]
            if not all(map(os.path.exists, pair)):
                self.skipTest("no trials")
            off, on = (json.loads(subprocess.run([PROGRAM, "-qo", "-", "--format=json", "--no-validate", "--min-saving=0us", pair[0], ttnn],
                                                 stdout=subprocess.PIPE, check=False).stdout) for ttnn in pair[1:])
            option = next(p for p in off["promises"] if p["option"] == "enable-fusing-pass=true")
            self.assertTrue(option["at_most"])
            self.assertAlmostEqual(option["after_us"] / on["total_us"], 1, delta=0.1, msg=name)


if __name__ == "__main__":
    unittest.main()
