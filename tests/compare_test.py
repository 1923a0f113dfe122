#!/usr/bin/env python3
"""Baselines, expectations, differences, many inputs and formats, on modules made here; and, where the corpus is, on its
compiles: validated, and as a history of three releases.

usage: compare_test.py PROGRAM SOURCE_ROOT CORPUS [--update] [unittest arguments]
--update writes fixtures/expected/history.txt anew.
"""
import csv
import glob
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

from schemas import hold

UPDATE = "--update" in sys.argv
sys.argv = [a for a in sys.argv if a != "--update"]
PROGRAM, ROOT, CORPUS = (os.path.abspath(a) for a in sys.argv[1:4])
del sys.argv[1:4]
MODELS = os.path.join(CORPUS, "models")


def linear(dialect, layer, fused, prefix, first, names, extent=64):
    """Lines of one layer: a product and a sum with a bias, or the linear op that they are."""
    x, w, b = "%%%s%d" % (prefix, first), "%%w%d" % layer, "%%b%d" % layer
    t, tw, tb = "tensor<32x%dxbf16>" % extent, "tensor<%dx%dxbf16>" % (extent, extent), "tensor<1x%dxbf16>" % extent
    loc = ' loc("dot.%d")' % (100 + first) if names else ""
    end = "%%%s%d" % (prefix, first + 2)
    if fused and dialect == "ttnn":
        ops = ['%s = "ttnn.linear"(%s, %s, %s) : (%s, %s, %s) -> %s%s' % (end, x, w, b, t, tw, tb, t, loc)]
    else:
        middle = "%%%s%d" % (prefix, first + 1)
        ops = ['%s = "%s.matmul"(%s, %s) : (%s, %s) -> %s%s' % (middle, dialect, x, w, t, tw, t, loc),
               '%s = "%s.add"(%s, %s) : (%s, %s) -> %s%s' % (end, dialect, middle, b, t, tb, t,
                                                            loc.replace("dot", "add"))]
    return ops


def model(layers, dialect="ttnn", names=True, prefix="", first=0, extent=64):
    """A chain of layers; of each whether TTNN has it fused, and which one it is in the model."""
    layers = [l if isinstance(l, tuple) else (l, i) for i, l in enumerate(layers)]
    arguments, lines, at = [], [], first
    for i, (fused, name) in enumerate(layers):
        for letter, word, shape in (("w", "weight", "%dx%d" % (extent, extent)), ("b", "bias", "1x%d" % extent)):
            attributes = ' {ttcore.argument_type = #ttcore.argument_type<parameter>%s}' % (
                ', ttir.name = "model.layers.%d.fc.%s"' % (name, word) if names else "")
            arguments.append("%%%s%d: tensor<%sxbf16>%s" % (letter, i, shape, attributes))
        lines += linear(dialect, i, fused, prefix, at, names, extent)
        at += 2
    t = "tensor<32x%dxbf16>" % extent
    return "module {\n  func.func @main(%%%s%d: %s, %s) -> %s {\n    %s\n    return %%%s%d : %s\n  }\n}\n" % (
        prefix, first, t, ", ".join(arguments), t, "\n    ".join(lines), prefix, at, t)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = directory.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def run_it(self, *args):
        done = subprocess.run([PROGRAM, *args], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def audit(self, text, *args):
        self.write("m.mlir", text)
        return self.run_it("--ttnn-only", "--only=ttnn.linear", *args, "m.mlir")

    def fingerprints(self, text):
        self.audit(text, "-q", "--format=json:r.json")
        return [i["fingerprint"] for e in json.loads(self.read("r.json"))["missed_fusions"] for i in e["instances"]]


class Identity(Case):
    def new(self, before, now):
        """How many findings are new, and how many entries of the baseline are gone."""
        self.assertEqual(self.audit(before, "-q", "--write-baseline=b.yml")[0], 0)
        status, _, err = self.audit(now, "--baseline=b.yml")
        new = re.search(r", (\d+) new", err)
        new = int(new.group(1)) if new else 0
        self.assertEqual(status, 1 if new else 0, err)
        return new, err.count("no longer there")

    def test_does_not_depend_on_names_and_numbers(self):
        for names in (True, False):
            want = self.fingerprints(model([False] * 3, names=names))
            self.assertEqual(len(want), 3)
            self.assertEqual(len(set(want)), 3)
            self.assertEqual(self.fingerprints(model([False] * 3, names=names, prefix="v", first=40)), want)
            text = model([False] * 3, names=names)
            self.assertEqual(self.fingerprints("// a comment\n\n" + text.replace("    ", "\t ")), want)
            numbered = re.sub(r'loc\("(\w+)\.(\d+)"\)', lambda m: 'loc("%s.%d")' % (m[1], int(m[2]) + 7000), text)
            self.assertEqual(self.fingerprints(numbered), want)

    def test_depends_on_what_it_is(self):
        want = self.fingerprints(model([False]))
        self.assertNotEqual(self.fingerprints(model([False], extent=96)), want)
        self.assertNotEqual(self.fingerprints(model([(False, 1)])), want)
        other = model([False]).replace("}>", "}>").replace(
            '"ttnn.matmul"(%0, %w0) :', '"ttnn.matmul"(%0, %w0) <{transpose_b = true}> :')
        self.assertNotEqual(self.fingerprints(other), want)

    def test_layouts_are_no_part(self):
        text = model([False])
        layout = "#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #d>, <interleaved>>\n"
        laid = "#d = #ttnn.buffer_type<dram>\n" + layout + text.replace("tensor<32x64xbf16>", "tensor<32x64xbf16, #l>")
        self.assertEqual(self.fingerprints(laid), self.fingerprints(text))

    def test_same_again(self):
        for names in (True, False):
            text = model([False] * 4, names=names)
            self.assertEqual(self.new(text, text), (0, 0))

    def test_a_layer_more(self):
        for at in range(4):
            before = model([False] * 3)
            layers = [(False, i) for i in range(3)]
            layers.insert(at, (True, 3))
            self.assertEqual(self.new(before, model(layers)), (0, 0), at)
            layers[at] = (False, 3)
            self.assertEqual(self.new(before, model(layers)), (1, 0), at)
            unnamed = [False] * 3
            unnamed.insert(at, True)
            self.assertEqual(self.new(model([False] * 3, names=False), model(unnamed, names=False)), (0, 0), at)

    def test_names_stripped(self):
        for layers in ([False] * 3, [True, False, True, False]):
            self.assertEqual(self.new(model(layers), model(layers, names=False)), (0, 0))
            self.assertEqual(self.new(model(layers, names=False), model(layers)), (0, 0))

    def test_a_gain_and_a_loss_do_not_cancel(self):
        for names in (True, False):
            self.assertEqual(self.new(model([False, True], names=names), model([True, False], names=names)), (1, 1))
        self.assertEqual(self.new(model([False, True]), model([True, False], names=False)), (1, 1))

    def test_ops_in_another_order(self):
        parts = ['%%%d = "ttnn.matmul"(%%x, %%w%d) : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>\n'
                 '%%s%d = "ttnn.add"(%%%d, %%b%d) : (tensor<32x64xbf16>, tensor<1x64xbf16>) -> tensor<32x64xbf16>\n'
                 % (i, i, i, i, i) for i in range(2)]
        head = "func.func @main(%%x: tensor<32x64xbf16>, %s) -> (tensor<32x64xbf16>, tensor<32x64xbf16>) {\n" % ", ".join(
            '%%w%d: tensor<64x64xbf16> {ttir.name = "layers.%d.fc.weight"}, %%b%d: tensor<1x64xbf16>' % (i, i, i)
            for i in range(2))
        tail = "return %s0, %s1 : tensor<32x64xbf16>, tensor<32x64xbf16>\n}\n"
        self.assertEqual(self.new(head + parts[0] + parts[1] + tail, head + parts[1] + parts[0] + tail), (0, 0))

    def test_of_ttir(self):
        """Where TTIR is known, ranks are those of its ops, whatever was fused in TTNN."""
        def audit(layers, *args):
            self.write("a.mlir", model(layers, "ttir", names=False))
            self.write("b.mlir", model(layers, names=False))
            return self.run_it("--only=ttnn.linear", *args, "a.mlir", "b.mlir")
        self.assertEqual(audit([False, False, False], "-q", "--write-baseline=b.yml")[0], 0)
        status, _, err = audit([True, False, True], "--baseline=b.yml")
        self.assertEqual((status, err.count("no longer there")), (0, 2), err)
        gone = re.findall(r"b\.yml:(\d+):", err)
        self.assertEqual(gone, ["2", "10"])  # the first and the last one: the middle one is still there


class Baseline(Case):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.audit(model([False, False]), "-q", "--write-baseline=b.yml")[0], 0)

    def test_known(self):
        status, out, err = self.audit(model([False, False]), "--baseline=b.yml", "-o", "r.yml")
        self.assertEqual((status, out), (0, ""))
        self.assertIn("2 places, 1 fused op; 2 known, 0 new", err)
        self.assertEqual(self.read("r.yml").count("\n      known: in the baseline\n"), 2)

    def test_reason(self):
        self.write("b.yml", re.sub(r"(saved_us: .*\n)", r"\1  reason: 'waits for #8907'\n", self.read("b.yml"), count=1))
        self.audit(model([False, False]), "-q", "--baseline=b.yml", "-o", "r.yml")
        self.assertEqual(self.read("r.yml").count("known: waits for #8907\n"), 1)
        self.audit(model([False, False, False]), "-q", "--baseline=b.yml", "--write-baseline=b.yml", "-o", "r.yml")
        self.assertEqual(self.read("b.yml").count("waits for #8907"), 1)
        self.assertEqual(self.read("b.yml").count("- fingerprint:"), 3)

    def test_a_new_one(self):
        status, _, err = self.audit(model([False, False, False]), "--baseline=b.yml", "-o", "r.yml")
        self.assertEqual(status, 1)
        self.assertIn("3 places, 1 fused op; 2 known, 1 new", err)

    def test_gone(self):
        for args, want in (((), 0), (("--strict-baseline",), 1)):
            status, _, err = self.audit(model([False, True]), "-q", "--baseline=b.yml", "-o", "r.yml", *args)
            self.assertEqual((status, err.count("b.yml:6:3: warning: ttnn.linear, "), err.count("warning")), (want, 1, 1), err)
            self.assertIn("known, and no longer there\n", err)
            self.assertIn("1 known, 0 new, 1 gone", self.audit(model([False, True]), "--baseline=b.yml")[2])

    def test_rules(self):
        """A record without a fingerprint knows all that its globs mean, also what comes later."""
        rule = "- {%s, reason: loses accuracy}\n"
        for text, known in (("location: '*layers.1.*'", 1), ("fused_op: ttnn.lin*", 3), ("location: add.10?", 3),
                            ("fused_op: ttnn.linear, location: '*.0.*'", 1), ("fused_op: ttnn.conv*, location: '*'", 0)):
            self.write("b.yml", "known_findings:\n" + rule % text)
            status, _, err = self.audit(model([False] * 3), "--baseline=b.yml", "-o", "r.yml")
            self.assertEqual(status, 0 if known == 3 else 1, text)
            self.assertIn(" %d known, %d new" % (known, 3 - known), err)
            self.assertEqual(self.read("r.yml").count("known: loses accuracy"), known)
            self.assertEqual("b.yml:2:3: warning: " in err, False)  # --only: not all that it may mean was looked for
            self.write("m.mlir", model([False] * 3))
            err = self.run_it("--ttnn-only", "--baseline=b.yml", "m.mlir")[2]
            self.assertEqual("b.yml:2:3: warning: " in err, not known, (text, err))

    def test_rules_stay(self):
        self.write("b.yml", "known_findings:\n- location: '*layers.1.*'\n  reason: slow\n  until: 2999-01-01\n")
        self.assertEqual(self.audit(model([False] * 3), "-q", "--baseline=b.yml", "--write-baseline=b.yml")[0], 0)
        self.assertEqual((self.read("b.yml").count("- fingerprint:"), self.read("b.yml").count("layers.1")), (2, 1))
        self.assertEqual(self.audit(model([False] * 3), "-q", "--baseline=b.yml")[0], 0)

    def test_what_was_not_looked_for_is_not_gone(self):
        for args in ("--only=ttnn.rms_norm",), ("--only=linear",), ("--source=torch",), ("--skip=linear",):
            self.write("m.mlir", model([True, True]))
            self.assertEqual(self.run_it("--ttnn-only", "--baseline=b.yml", "--strict-baseline", *args, "m.mlir"), (0, "", ""))

    def test_expired(self):
        text = self.read("b.yml")
        for until, told in (("2001-02-03", 1), ("2999-12-31", 0)):
            self.write("b.yml", text.replace("\ntotal_us", "\n  until: %s\ntotal_us" % until))
            for args in (), ("--strict-baseline",):
                status, _, err = self.audit(model([False, False]), "-q", "--baseline=b.yml", "-o", "r.yml", *args)
                self.assertEqual((status, err.count("known until %s, and still there" % until)),
                                 (1 if args and told else 0, told), err)

    def test_malformed(self):
        good = self.read("b.yml").splitlines()[1]
        for text, where in (("known_findings: [1\n", "2:1"), ("- a\n", "1:1"), ("known_findings:\n- reason: x\n", "2:3"),
                            ("known_findings:\n- fingerprint: 12\n", "2:16"), ("known_findings:\n- x\n", "2:3"),
                            ("known_findings:\n%s\n  until: soon\n" % good, "3:10"),
                            ("known_findings:\n%s\n  owner: me\n" % good, "3:3"),
                            ("known_findings:\n%s\n  reason: [a]\n" % good, "3:11"),
                            ("known_findings:\n- location: x\n", "2:3"), ("known_findings:\n- {until: 2999-01-01, reason: x}\n", "2:3"),
                            ("known_findings: 3\n", "1:17"), ("total_us: much\nknown_findings: []\n", "1:11"), ("total_us: 3\n", "1:1"),
                            ("known_findings: []\nother: 1\n", "2:1"), ("known_findings: []\n---\na: b\n", "3:1")):
            with self.subTest(text=text):
                self.write("b.yml", text)
                self.write("r.yml", "as it was\n")
                status, out, err = self.audit(model([False]), "--baseline=b.yml", "-o", "r.yml")
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(err.startswith("b.yml:%s: error: " % where), err)
                self.assertEqual((self.read("r.yml"), self.read("b.yml")), ("as it was\n", text))

    def test_packed_and_from_standard_input(self):
        self.audit(model([False]), "-q", "--write-baseline=b.yml", "-o", "none.yml")
        with open(self.path("b.yml"), "rb") as f:
            known = f.read()
        with gzip.open(self.path("b.yml.gz"), "wb") as f:
            f.write(known)
        self.assertEqual(self.audit(model([False]), "-q", "--baseline=b.yml.gz")[0], 0)
        run = subprocess.run([PROGRAM, "-q", "--ttnn-only", "--baseline=-", "m.mlir"], cwd=self.dir, input=known,
                             capture_output=True)
        self.assertEqual((run.returncode, run.stderr), (0, b""))

    def test_wrong_usage(self):
        for args in ("--baseline=absent.yml",), ("--strict-baseline",), ("--baseline=",), \
                ("--write-baseline=m.mlir",):
            self.assertEqual(self.audit(model([False]), *args)[0], 2, args)

    def test_empty(self):
        self.write("b.yml", "")
        self.assertEqual(self.audit(model([False]), "-q", "--baseline=b.yml")[0], 1)
        self.assertEqual(self.audit(model([True]), "-q", "--write-baseline=b.yml", "-o", "none.yml"), (0, "", ""))
        self.assertRegex(self.read("b.yml"), r"^known_findings: \[\]\ntotal_us: [\d.]+\n$")
        self.assertFalse(os.path.exists(self.path("none.yml")))


class Cost(Case):
    """A gate compares cost, not only places."""

    def test_min_saving(self):
        """Fused ops are left out by what all their places save; nothing that saves as much is."""
        text = model([False] * 4)
        status, _, err = self.audit(text, "--format=json:r.json")
        saved = json.loads(self.read("r.json"))["saved_us"]
        for least, there in (("0us", True), ("%.3fus" % (saved * 0.99), True), ("%.5fms" % (saved * 1.01 / 1000), False),
                             ("1%", True), ("99.5%", False), ("1s", False)):
            os.path.exists(self.path("fusion_todo.yml")) and os.remove(self.path("fusion_todo.yml"))
            status, _, err = self.audit(text, "--min-saving=" + least)
            self.assertEqual((status, os.path.exists(self.path("fusion_todo.yml"))), (int(there),) * 2, least)
            self.assertEqual(" of " in err, there)
        self.assertEqual(json.loads(self.read("r.json"))["totals"]["small"], 0)
        self.audit(text, "--min-saving=1s", "--format=json:r.json")
        report = json.loads(self.read("r.json"))
        hold(report, "report")
        self.assertEqual((report["missed_fusions"], report["totals"]["small"]), ([], 4))
        self.assertAlmostEqual(report["saved_us"], 0, 3)

    def test_wrong_usage(self):
        for option in ("--min-saving=much", "--min-saving=", "--min-saving=1kg", "--min-saving=-1us", "--min-saving=%",
                       "--fail-on=all", "--fail-on="):
            self.assertEqual(self.audit(model([False]), option)[:2], (2, ""), option)

    def test_what_has_to_be_made_saves_enough_for_that(self):
        """A kernel 1 %, a pass 0.1 % of the time of all ops, most of which is that of a product beside it. What is
        compared, or asked for by name, is all there."""
        t, formula = "tensor<512x1024xbf16>", "\nmatch: out = silu(x) * y\n"
        self.write("kernel.yml", "name: made\nfused_op: cuda.own.made\nsource: cuda" + formula)
        self.write("pass.yml", "name: made\nfused_op: ttnn.silu\nsource: ttnn" + formula)
        self.write("none.yml", "known_findings: []\n")
        for side in 1024, 16384, 65536:
            a, b, c = ("tensor<%sxbf16>" % s for s in ("%dx%d" % (side, side), "%dx64" % side, "64x%d" % side))
            self.write("%d.mlir" % side, "\n".join([
                "module {", "func.func @main(%%x: %s, %%y: %s, %%b: %s, %%c: %s) -> (%s, %s) {" % (t, t, b, c, t, a),
                '%%1 = "ttir.silu"(%%x) : (%s) -> %s' % (t, t), '%%2 = "ttir.multiply"(%%1, %%y) : (%s, %s) -> %s' % (t, t, t),
                '%%3 = "ttir.matmul"(%%b, %%c) : (%s, %s) -> %s' % (b, c, a), "return %%2, %%3 : %s, %s" % (t, a), "}", "}", ""]))
        for made, side, least, found in (("kernel", 1024, .01, 1), ("kernel", 16384, .01, 0), ("pass", 16384, .001, 1),
                                         ("pass", 65536, .001, 0)):
            args = ("--ttir-only", "--no-default-patterns", "-P", made + ".yml", "%d.mlir" % side)
            for options in ("--min-saving=0us", "--include=slower", "--only=made", "--fail-on=ttnn,cuda --baseline=none.yml"):
                self.assertEqual(self.audit_of(*options.split(), *args), 1, (made, side, options))
            report = json.loads(self.read("r.json"))
            self.assertEqual(report["saved_us"] >= least * report["total_us"], found, (report["saved_us"], report["total_us"]))
            self.assertEqual(self.audit_of(*args), found, (made, side))
            self.assertEqual(json.loads(self.read("r.json"))["totals"]["small"], 1 - found)

    def audit_of(self, *args):
        return self.run_it("-q", "--format=json:r.json", *args)[0]

    def test_what_saves_nothing(self):
        """A maximum with a constant of zeros is relu, which reads two kilobytes less: that is said to save 0.0 us."""
        t = "tensor<4096x4096xbf16>"
        big = 'module {\n  func.func @main(%%x: %s) -> %s {\n    %%z = "ttnn.full"() <{fill_value = 0.0 : f32, shape = ' \
              '#ttnn.shape<1>}> : () -> tensor<1xbf16>\n    %%0 = "ttnn.maximum"(%%x, %%z) : (%s, tensor<1xbf16>) -> %s\n' \
              '    return %%0 : %s\n  }\n}\n' % (t, t, t, t, t)
        self.write("m.mlir", big)
        self.assertEqual(self.run_it("--ttnn-only", "--only=ttnn.relu", "m.mlir"), (0, "", ""))
        self.assertFalse(os.path.exists(self.path("fusion_todo.yml")))
        explained = self.run_it("explain", "--ttnn-only", "--only=ttnn.relu", "--at=%0", "m.mlir")[1]
        self.assertIn("matched", explained)

    def test_what_the_compiler_fuses_is_not_taken_apart(self):
        """An RMS norm of one row of tiles, with its columns sharded where that is wide. A softmax has one core for such
        a row: it saves launches and no time, and of a wide row it is slower, but a part of it saves time."""
        def found(width, ops):
            x, row, one = ("tensor<%sf32>" % t for t in ("32x%dx" % width, "32x1x", "1x"))
            last = "<{dim_arg = [1 : i32], keep_dim = true}>"
            kinds = {"sum": "%s : (%s) -> %s" % (last, x, row), "rsqrt": ": (%s) -> %s" % (row, row),
                     "row": ": (%s, %s) -> %s" % (row, one, row), "both": ": (%s, %s) -> %s" % (x, row, x),
                     "w": ": (%s, tensor<%dxf32>) -> %s" % (x, width, x), "x": ": (%s) -> %s" % (x, x),
                     "one": ": () -> " + one}
            lines = ["%s %s" % (op, kinds[kind]) for op, kind in ops]
            self.write("m.mlir", "\n".join(
                ["module {", "func.func @main(%%x: %s, %%w: tensor<%dxf32>) -> %s {" % (x, width, x), *lines,
                 "return %%o : %s" % x, "}", "}", ""]))
            report = self.run_it("--ttnn-only", "--format=json", "-o", "-", "m.mlir")[1]
            return sorted(e["fused_op"] for e in json.loads(report)["missed_fusions"])
        for width in 1792, 8192:
            number = '"ttnn.full"() <{fill_value = %g : f32, shape = #ttnn.shape<1>}>'
            self.assertEqual(found(width, [
                ("%n = " + number % (1 / width), "one"), ("%e = " + number % 1e-5, "one"),
                ('%0 = "ttnn.pow_scalar"(%x) <{rhs = 2.0 : f32}>', "x"), ('%1 = "ttnn.sum"(%0)', "sum"),
                ('%2 = "ttnn.multiply"(%1, %n)', "row"), ('%3 = "ttnn.add"(%2, %e)', "row"),
                ('%4 = "ttnn.rsqrt"(%3)', "rsqrt"), ('%5 = "ttnn.multiply"(%x, %4)', "both"),
                ('%o = "ttnn.multiply"(%5, %w)', "w")]), ["ttnn.rms_norm"])
        for width, expected in (256, ["ttnn.softmax", "ttnn.unary_chain"]), (1024, ["ttnn.unary_chain"]):
            self.assertEqual(found(width, [
                ('%0 = "ttnn.relu"(%x)', "x"), ('%1 = "ttnn.exp"(%0)', "x"), ('%2 = "ttnn.sum"(%1)', "sum"),
                ('%o = "ttnn.divide"(%1, %2)', "both")]), expected)

    def gate(self, *args, source="ttnn"):
        """One finding more than the baseline has, of a pattern of this source."""
        self.write("own.yml", "name: twice\nfused_op: x.twice\nsource: %s\nmatch: out = exp(exp(x))\n" % source)
        text = model([False])
        self.write("m.mlir", text)
        audit = ("--ttnn-only", "--only=ttnn.linear,x.twice", "-P", "own.yml", "m.mlir")
        self.run_it("-q", "--write-baseline=b.yml", *audit)
        t = "tensor<32x64xbf16>"
        exps = '%%8 = "ttnn.exp"(%%2) : (%s) -> %s\n    %%9 = "ttnn.exp"(%%8) : (%s) -> %s\n    return %%9 :' % (t, t, t, t)
        self.write("m.mlir", text.replace("return %2 :", exps))
        status, _, err = self.run_it("--baseline=b.yml", "--format=markdown:c.md", *args, *audit)
        self.assertIn("1 known, 1 new, 0 gone", err)
        self.assertRegex(err, r";\s+all\s+ops: [\d.]+ us before, [\d.]+ us now")
        self.assertRegex(self.read("c.md"), r"1 new place .*, 1 known; all ops: [\d.]+ us → [\d.]+ us\n")
        self.assertEqual("(no failure)" in self.read("c.md"), status == 0)
        self.assertEqual("\nnew, which does not fail: x.twice at 1 place" in err, status == 0)
        self.assertEqual("\nnew: x.twice at 1 place" in err, status == 1)
        return status

    def test_against_a_baseline_only_what_the_compiler_could_make_fails(self):
        self.assertEqual(self.gate(), 1)
        self.assertEqual(self.gate(source="torch"), 0)
        self.assertEqual(self.gate("--fail-on=ttnn:dialect,torch", source="torch"), 1)
        self.assertEqual(self.gate("--fail-on=torch"), 0)
        self.assertEqual(self.gate("--fail-on=ttnn"), 1)

    def test_without_a_baseline_all_fail(self):
        self.write("own.yml", "name: twice\nfused_op: x.twice\nsource: torch\nmatch: out = exp(exp(x))\n")
        t = "tensor<32x64xbf16>"
        self.write("m.mlir", 'module {\n  func.func @main(%%x: %s) -> %s {\n    %%0 = "ttnn.exp"(%%x) : (%s) -> %s\n'
                   '    %%1 = "ttnn.exp"(%%0) : (%s) -> %s\n    return %%1 : %s\n  }\n}\n' % ((t,) * 7))
        audit = ("-q", "--ttnn-only", "--only=x.twice", "-P", "own.yml", "m.mlir")
        self.assertEqual(self.run_it(*audit)[0], 1)
        self.assertEqual(self.run_it("--fail-on=ttnn", *audit)[0], 0)
        self.assertIn("x.twice", self.read("fusion_todo.yml"))


class Expect(Case):
    def expect(self, text, layers, *args):
        self.write("e.yml", text)
        return self.audit(model(layers), "-q", "--expect=e.yml", *args)

    def test_counts(self):
        for text, holds in (("ttnn.linear: == 2", True), ("ttnn.linear: == 3", False), ("ttnn.linear: >= 2", True),
                            ("ttnn.linear: >= 3", False), ("ttnn.linear: <= 2", True), ("ttnn.linear: > 2", False),
                            ("ttnn.linear: < 3", True), ("ttnn.*: == 2", True), ("ttnn.rms_norm: == 0", True),
                            ("'ttnn.linear': '>= 2'", True), ("ttnn.linear: >=2 # two", True), ("ttnn.linear:   > 1", True),
                            ("ttnn.linear:  >= 3", False), ("linear: >= 1", False)):
            status, out, err = self.expect(text + "\n", [True, True])
            self.assertEqual((status, out, bool(err)), (0 if holds else 1, "", not holds), (text, err))

    def test_scopes(self):
        for scope, holds in (("function ma*", True), ("function other", False), ("location *layers.1*", True),
                             ("location model.layers.7.*", False), ("location dot.100", True)):
            status, _, err = self.expect("%s:\n  ttnn.linear: >= 1\n" % scope, [True, True])
            self.assertEqual(status, 0 if holds else 1, err)

    def test_comments_and_locations_do_not_count(self):
        self.write("e.yml", "ttnn.linear: == 0\n")
        text = "// ttnn.linear\n" + model([False]).replace('loc("dot.100")', 'loc("ttnn.linear")')
        self.assertNotIn("e.yml", self.audit(text, "-q", "--expect=e.yml")[2])

    def test_names_what_is_there_instead(self):
        status, _, err = self.expect("ttnn.linear: == 3\n", [True, False, True])
        self.assertEqual(status, 1)
        self.assertIn("e.yml:1:1: error: ttnn.linear: == 3 expected, 2 there\n  hint: it is missed at ", err)
        self.assertIn("model.layers.1.fc", err)

    def test_names_what_comes_nearest(self):
        """A product with a user besides its sum is no linear op."""
        text = model([False])
        product = re.search(r'%(\w+) = "ttnn.matmul".*: \(([^,]*), .*\n', text)
        use = '    %%other = "ttnn.exp"(%%%s) : (%s) -> %s\n' % (product.group(1), product.group(2), product.group(2))
        text = text.replace(product.group(), product.group() + use)
        text = re.sub(r"(?s)-> (\S+) \{(.*)return (\S+) : \S+", r"-> (\1, \1) {\2return \3, %other : \1, \1", text)
        self.write("e.yml", "ttnn.linear: == 1\nttnn.topk: == 1\n")
        status, _, err = self.audit(text, "-q", "--expect=e.yml")
        self.assertEqual(status, 1)
        self.assertRegex(err, r"ttnn.linear: == 1 expected, 0 there\n  hint: it is nearly at ttnn.add at line \d+ \(linear: ")
        self.assertRegex(err, r"ttnn.topk: == 1 expected, 0 there\n(?!  hint)")

    def test_names_what_may_be_meant(self):
        for op, meant in (("ttnn.liner", "ttnn.linear"), ("ttir.liner", "ttir.linear"), ("linear", "ttnn.linear")):
            self.assertIn("0 there\n  hint: did you mean %s?\n" % meant, self.expect(op + ": >= 1\n", [True])[2])
        for op in ("ttnn.liner*", "ttnn.softmax", "ttnn.nothing_like_it"):
            self.assertNotIn("mean", self.expect("'%s': >= 1\n" % op, [True])[2])

    def test_input_that_is_read_once(self):
        self.write("e.yml", "ttnn.linear: == 1\n")
        os.mkfifo(self.path("pipe"))
        writer = threading.Thread(target=self.write, args=("pipe", model([True]).replace("linear", "matmul")), daemon=True)
        writer.start()
        status, _, err = self.run_it("-q", "--ttnn-only", "--only=linear", "--expect=e.yml", "pipe")
        self.assertEqual(status, 1, err)
        self.assertIn("ttnn.linear: == 1 expected, 0 there", err)

    def test_malformed(self):
        for text, where in (("ttnn.linear: 3\n", "1:14"), ("a: [\n", "2:1"), ("- a\n", "1:1"), ("ttnn.linear: == x\n", "1:14"),
                            ("ttnn.linear: == 1\nfunc main:\n  a: == 1\n", "2:1"), ("a: >= 9 9\n", "1:5"), ("", "0:0"),
                            ("function f:\n  location g:\n    a: == 1\n", "2:3")):
            status, out, err = self.expect(text, [False])
            self.assertEqual((status, out), (2, ""), text)
            self.assertTrue(err.startswith("e.yml:%s: error: " % where if text else "e.yml: error: "), (text, err))

    def test_written(self):
        self.assertEqual(self.audit(model([True, True]), "-q", "--write-expect=e.yml"), (0, "", ""))
        self.assertEqual(self.read("e.yml"), "fused ttnn.linear: '>= 2'\n")
        self.assertEqual(self.audit(model([True, True]), "-q", "--expect=e.yml"), (0, "", ""))
        self.assertEqual(self.audit(model([True, True, True]), "-q", "--expect=e.yml"), (0, "", ""))
        self.assertEqual(self.audit(model([True, False]), "-q", "--expect=e.yml")[0], 1)

    def test_only_what_was_fused_is_guaranteed(self):
        """A plain product may go; one with a function folded into it may not."""
        text = model([False, False])
        self.audit(text, "-q", "--write-expect=e.yml")
        self.assertEqual(self.read("e.yml"), "{}\n")
        self.audit(text.replace("(%0, %w0) : ", '(%0, %w0) <{activation = "relu"}> : '), "-q", "--write-expect=e.yml")
        self.assertEqual(self.read("e.yml"), "fused ttnn.matmul: '>= 1'\n")
        for activation, failed in (' <{activation = "relu"}>', 0), ("", 1):
            _, _, err = self.audit(text.replace("(%0, %w0) : ", f"(%0, %w0){activation} : "), "-q", "--expect=e.yml")
            self.assertEqual(err.count("e.yml:1:1: error: fused ttnn.matmul: >= 1 expected, 0 there\n"), failed, err)


class Diff(Case):
    def diff(self, before, now, *args):
        self.write("old.mlir", before)
        self.write("new.mlir", now)
        return self.run_it("diff", "--only=ttnn.linear", *args, "old.mlir", "new.mlir")

    def test_same(self):
        self.assertEqual(self.diff(model([True, False]), model([True, False], prefix="v", first=9)), (0, "", ""))

    def test_what_a_new_finding_costs(self):
        """A new finding fails by its cost and source, of compiles and of reports."""
        self.write("own.yml", "name: twice\nfused_op: x.twice\nsource: torch\nmatch: out = exp(exp(x))\n")
        t = "tensor<32x64xbf16>"
        old = model([True])
        new = old.replace("return %2 :", '%%8 = "ttnn.exp"(%%2) : (%s) -> %s\n    %%9 = "ttnn.exp"(%%8) : (%s) -> %s\n    return %%9 :'
                          % (t, t, t, t))
        patterns = "-P", "own.yml"
        for name, text in (("old", old), ("new", new)):
            self.write("m.mlir", text)
            self.run_it("-q", "--ttnn-only", "--only=x.twice", *patterns, f"--format=json:{name}.json", "m.mlir")
        self.write("old.mlir", old)
        self.write("new.mlir", new)
        for files in (("--only=x.twice", *patterns, "old.mlir", "new.mlir"), ("old.json", "new.json")):
            for options, status in (((), 0), (("--fail-on=torch",), 1), (("--fail-on=torch", "--min-saving=1s"), 0),
                                    (("--fail-on=all",), 2), (("--min-saving=1",), 2)):
                with self.subTest(files=files, options=options):
                    self.assertEqual(self.run_it("diff", *options, *files)[0], status)

    def test_lost_and_gained(self):
        status, out, err = self.diff(model([True, True, True]), model([True, False, True]))
        self.assertEqual((status, err), (1, ""))
        self.assertRegex(out, r"^ttnn.linear: 3 before, 2 now\n  lost, fails: .*layers\.1.*\n"
                              r"findings: 0 before, 1 now, 1 new, 0 gone, 0 changed\n  new, fails: ttnn.linear, .*layers\.1.*, about [\d.]+ us\n"
                              r"all ops: about [\d.]+ us before, [\d.]+ us now\nto save: nothing before, about [\d.]+ us now\n$")
        status, out, _ = self.diff(model([True]), model([False]))
        self.assertIn("1 before, 0 now\n", out)
        self.write("own.yml", "name: x.twice\nfused_op: x.twice\nsource: torch\nmatch: out = matmul(a, b)\n")
        out = self.run_it("diff", "-P", "own.yml", "--only=x.twice,ttnn.linear", "old.mlir", "new.mlir")[1]
        self.assertEqual(re.findall(r"  (new.*?):", out), ["new, fails"] + out.count("x.twice") * ["new"])
        status, out, _ = self.diff(model([True, False, True]), model([True, True, True]))
        self.assertEqual(status, 0)
        self.assertIn("2 before, 3 now\n", out)
        status, out, _ = self.diff(model([True, False]), model([False, True]))
        self.assertEqual(status, 1)
        self.assertEqual((out.count("  lost, fails: "), out.count("  gained: ")), (1, 1))

    def test_like_layers_are_told_by_the_first(self):
        for n, lines in (3, 3), (12, 1):
            status, out, _ = self.diff(model([True] * n), model([False] * n))
            self.assertEqual((status, len(re.findall(r"  lost, fails: .*layer \d+ ", out))), (1, lines), out)
            self.assertEqual(re.findall(r"    and (\d+) more like it\n", out), [] if lines == n else ["11", "11"], out)
            document = json.loads(self.run_it("diff", "--only=ttnn.linear", "--format=json", "old.mlir", "new.mlir")[1])
            self.assertEqual(len(document["fused_ops"][0]["changes"]), n)

    def test_ttir_alone(self):
        self.write("t", model([True], "ttir"))
        self.assertEqual(self.run_it("diff", "t", "t"),
                         (3, "", 2 * "t: error: has no TTNN level\n  hint: a TTNN file or a log is meant, or both levels of each compile\n"))

    def test_four_files(self):
        for name, layers in (("old", [True, True]), ("new", [True, False])):
            self.write(name + ".ttir", model(layers, "ttir"))
            self.write(name + ".ttnn", model(layers))
        status, out, err = self.run_it("diff", "--only=ttnn.linear", "old.ttir", "old.ttnn", "new.ttir", "new.ttnn")
        self.assertEqual((status, err), (1, ""))
        self.assertIn("ttnn.linear: 2 before, 1 now\n", out)

    def test_changed(self):
        before = model([True])
        status, out, _ = self.diff(before, before.replace("%b0) : ", "%b0) <{transpose_b = true}> : "))
        self.assertRegex(out, "  changed: .*, other transpose_b")
        status, out, _ = self.diff(before.replace("%b0) : ", '%b0) <{activation = "relu"}> : '), before)
        self.assertEqual(status, 1)
        self.assertIn("  partly lost, fails: ", out)

    def test_missed_in_other_ops(self):
        """The same op at the same place is no news, unless fusing saves more than before."""
        chain = model([False])
        relu = re.sub(r"(return )(%2)( : .*)", r'%9 = "ttnn.relu"(%2) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>\n    \1%9\3', chain)
        status, out, _ = self.diff(relu, chain)
        self.assertEqual(status, 0, out)
        self.assertIn("0 new, 0 gone, 1 changed\n  changed: ttnn.linear", out)
        for name, text in (("old", relu), ("new", chain)):
            self.audit(text, "-q", "-o", name + ".yml")
        self.assertEqual(self.run_it("diff", "old.yml", "new.yml")[0], 0)
        self.write("new.yml", re.sub(r"about [\d.]+ of", "about 9.5 of", self.read("new.yml")))
        status, out, _ = self.run_it("diff", "old.yml", "new.yml")
        self.assertEqual(status, 1)
        self.assertIn("1 new, 1 gone, 0 changed\n", out)

    def test_reports(self):
        for name, layers in (("old", [False, True]), ("new", [False, False])):
            self.audit(model(layers), "-q", "-o", name + ".yml", "--format=yaml", "--format=json:%s.json" % name)
        for end in ("yml", "json"):
            status, out, err = self.run_it("diff", "old." + end, "new." + end)
            self.assertEqual((status, err), (1, ""))
            self.assertTrue(out.startswith("findings: 1 before, 2 now, 1 new, 0 gone, 0 changed\n"), out)
            self.assertRegex(out, r"(?m)^to save: about [\d.]+ us before, [\d.]+ us now$")
            self.assertRegex(out, r"(?m)^all ops: about [\d.]+ us before, [\d.]+ us now$")
            self.assertEqual(self.run_it("diff", "new." + end, "old." + end)[0], 0)
        self.assertEqual(self.run_it("diff", "old.yml", "old.json"), (0, "", ""))
        self.assertEqual(self.run_it("diff", "/dev/null", "old.yml")[0], 1)
        self.assertEqual(self.run_it("diff", "old.yml", "/dev/null")[0], 0)
        self.assertEqual(self.run_it("diff", "/dev/null", "/dev/null"), (0, "", ""))

    def test_a_report_in_json_is_told_wherever_its_findings_begin(self):
        for name, layers in (("old", [True]), ("new", [False])):
            self.audit(model(layers), "-q", "--format=json:%s.json" % name)
            report = json.loads(self.read(name + ".json"))
            self.write(name + ".json", json.dumps({"device": 9000 * "x", **report}))
        status, out, err = self.run_it("diff", "old.json", "new.json")
        self.assertEqual((status, err, out.count("  new, fails: ")), (1, "", 1))
        self.write("old.json", json.dumps({"log": model([True]) + '"missed_fusions"'}))  # a log, which is no report
        self.assertEqual(self.run_it("diff", "old.json", "new.json")[0], 2)

    def test_formats(self):
        """The document has what the text says, and the page is the document."""
        self.write("old.mlir", model([True, False]))
        self.write("new.mlir", model([False, True]))
        args = ("--only=ttnn.linear", "old.mlir", "new.mlir")
        text = self.run_it("diff", *args)[1]
        status, out, _ = self.run_it("diff", "--format=json", *args)
        document = json.loads(out)
        self.assertEqual(status, 1)
        hold(document, "diff")
        self.assertEqual((document["before"]["files"], document["now"]["files"]), (["old.mlir"], ["new.mlir"]))
        op, = document["fused_ops"]
        self.assertEqual((op["fused_op"], op["before"], op["now"]), ("ttnn.linear", 1, 1))
        self.assertEqual([c["change"] for c in op["changes"]], ["lost", "gained"])
        self.assertEqual([f["change"] for f in document["findings"]], ["new", "gone"])
        for x in op["changes"]:
            self.assertIn(f"  {x['change']}{', fails' * x.get('fails', False)}: {x['place']}", text)
        self.assertIn("1 new, 1 gone, 0 changed\n  new, fails: ", text)
        status, page, _ = self.run_it("diff", "--format=html", *args)
        self.assertEqual((status, json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])), (1, document))
        for name in "old", "new":
            self.run_it("--ttnn-only", "-q", "--only=ttnn.linear", f"--format=json:{name}.json", name + ".mlir")
        reports = json.loads(self.run_it("diff", "--format=json", "old.json", "new.json")[1])
        hold(reports, "diff")
        for x in document["findings"]:
            self.assertTrue(x.pop("fingerprint"))
        self.assertEqual(reports["findings"], document["findings"])
        for side in "before", "now":
            self.assertEqual([reports[side].pop("files"), document[side].pop("files")][0][0][-5:], ".json")
            self.assertAlmostEqual(reports[side].pop("total_us"), document[side].pop("total_us"), 2)
            self.assertEqual(reports[side], document[side])
        status, _, err = self.run_it("diff", "--format=xml", *args)
        self.assertEqual((status, "--format takes text, json or html" in err), (2, True))
        self.assertEqual(json.loads(self.run_it("diff", "--format=json", "old.mlir", "old.mlir")[1])["fused_ops"], [])

    def test_summary_against_an_earlier_run(self):
        for directory, fused in (("was", [True, False]), ("is", [False, False, False])):
            os.mkdir(self.path(directory))
            self.write("m.mlir", model(fused))
            self.run_it("--ttnn-only", "-q", "--only=ttnn.linear", f"--format=json:{directory}/m.json", "m.mlir")
        row = self.run_it("summary", "--before=was", "is/m.json")[1].splitlines()[1].split()
        self.assertEqual(row[-5:], ["2", "0", "m", "(n150", "assumed)"])
        said = json.loads(self.run_it("summary", "--before=is", "--format=json", "was/m.json")[1])
        hold(said, "summary")
        row, = said["reports"]
        self.assertEqual((row["new"], row["gone"], "page" in row), (0, 2, False))
        self.assertEqual([c["change"] for c in row["changes"]], ["gone", "gone"])
        self.assertTrue(all("model.layers." in c["place"] for c in row["changes"]), row)
        self.assertGreater(row["saved_before_us"], row["saved_us"])
        self.write("is/m.html", "")
        said = json.loads(self.run_it("summary", "--before=nowhere", "--format=json", "is/m.json")[1])
        hold(said, "summary")
        row, = said["reports"]
        self.assertEqual((row["page"], {"new", "changes", "saved_before_us"} & row.keys()), ("is/m.html", set()))

    def test_summary_of_directories(self):
        """One comment for all models; a model that is gone is a row and, if its report was JSON, a failure."""
        for directory, name, fused in (("was", "a", [False, False]), ("was", "b", [False]), ("is", "a", [True, False]),
                                       ("is", "new<b>", [False])):
            self.write("m.mlir", model(fused))
            os.makedirs(self.path(directory + "/x"), exist_ok=True)
            self.run_it("--ttnn-only", "-q", "--only=ttnn.linear", f"--format=json:{directory}/x/{name}.json",
                        f"--format=yaml:{directory}/x/{name}.yml", "m.mlir")
        gone = "was/x/b.json: error: no report is called x/b any more: its model is gone\n"
        status, out, err = self.run_it("summary", "--before=was", "is")
        self.assertEqual((status, err), (1, gone))
        self.assertRegex(out, r"(?m) 0 +1  x/a \(n150 assumed\)$")
        self.assertRegex(out, r"(?m) 0 +1 +x/b \(no report any more\)$")
        status, comment, _ = self.run_it("summary", "--before=was", "--format=markdown", "is")
        self.assertEqual(status, 1)
        self.assertRegex(comment, r"^<!-- fusion-audit: summary -->\n\*\*fusion-audit\*\*, \d{4}-\d\d-\d\d: 3 models\n")
        self.assertRegex(comment, r"(?m)^\| x/a \| [\d.]+ us → [\d.]+ us \| [\d.]+ us → [\d.]+ us \| 1 −1 \| .*layers.1.* \| n150 assumed \|  \|$")
        self.assertRegex(comment, r"(?m)^\| x/new&#60;b> \| [\d.]+ us \|")
        self.assertRegex(comment, r"(?m)^\| [\d.]+ us \| 1 \| 1 \| ttnn.linear \| set enable-fusing-pass=true ")
        hold(json.loads(self.run_it("summary", "--before=was", "--format=json", "is")[1]), "summary")
        for directory in "was", "is":  # in YAML nobody can tell a model that is gone from one without findings
            for file in glob.glob(self.path(directory + "/x/*.json")):
                os.remove(file)
        self.assertEqual(self.run_it("summary", "--before=was", "is"), (0, out, ""))
        self.assertEqual(self.run_it("summary", "was")[::2], (0, ""))

    def test_models_over_runs(self):
        """What became worse is told at the run where it did, against the last run that has the model."""
        for run, name, fused in (("mon", "a", [True, False]), ("mon", "b,\"", [True]), ("tue", "a", [False, False]),
                                 ("wed", "a", [False, False]), ("wed", "b,\"", [False])):
            self.write("m.mlir", model(fused))
            os.makedirs(self.path(run), exist_ok=True)
            self.run_it("--ttnn-only", "-q", "--only=ttnn.linear", f"--format=json:{run}/{name}.json", "m.mlir")
        runs = ["summary", "--runs", "mon", "tue", "wed"]
        status, text, err = self.run_it(*runs)
        self.assertEqual((status, err), (0, ""))
        said = json.loads(self.run_it(*runs, "--format=json")[1])
        hold(said, "summary")
        a, b = said["models"]
        self.assertEqual([[r["run"], r.get("findings"), "worse" in r] for r in a["runs"]],
                         [["mon", 1, False], ["tue", 2, True], ["wed", 2, False]])
        self.assertEqual([[r["run"], r.get("findings"), "missing" in r, "worse" in r] for r in b["runs"]],
                         [["mon", 0, False, False], ["tue", None, True, False], ["wed", 1, False, True]])
        worse = a["runs"][1]["worse"]
        self.assertAlmostEqual(worse["us"], a["runs"][1]["total_us"] - a["runs"][0]["total_us"], 4)
        self.assertEqual((worse["new"], worse["fused_ops"]), (1, ["ttnn.linear"]))
        self.assertRegex(text, r"(?m) 2  tue  a +slower by [\d.]+ us, new at 1 place: ttnn.linear$")
        rows = list(csv.DictReader(io.StringIO(self.run_it(*runs, "--format=csv")[1])))
        self.assertEqual([(r["model"], r["run"], r["findings"], r["new"]) for r in rows],
                         [("a", "mon", "1", ""), ("a", "tue", "2", "1"), ("a", "wed", "2", ""),
                          ('b,"', "mon", "0", ""), ('b,"', "tue", "", ""), ('b,"', "wed", "1", "1")])
        page = self.run_it(*runs, "--format=html")[1]
        self.assertEqual(json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1]), said)
        text = self.run_it("summary", "--runs", "mon/a.json", "tue/a.json")[1]
        self.assertRegex(text, r"(?m) 2  tue/a.json  model +slower by [\d.]+ us, new at 1 place")
        for wrong in (["--format=markdown"], ["--before=mon"]):
            self.assertEqual(self.run_it(*runs, *wrong)[0], 2)
        self.assertEqual(self.run_it("summary", "--format=csv", "mon")[0], 2)

    def test_a_comment_for_many_models_fits(self):
        self.write("m.mlir", model([False]).replace("layers.0", "layers." + 300 * "x"))
        self.run_it("--ttnn-only", "-q", "--only=ttnn.linear", "--format=json:r/0.json", "m.mlir")
        for i in range(1, 300):
            shutil.copy(self.path("r/0.json"), self.path("r/%d.json" % i))
        comment = self.run_it("summary", "--format=markdown", "r")[1]
        self.assertLess(len(comment.encode()), 60001)
        self.assertRegex(comment, r"\n\d+ models more\.\n")
        self.assertRegex(comment, r"\*\*, \d{4}-\d\d-\d\d: 300 models\n")

    def test_notes_of_a_pattern_are_not_those_of_the_report(self):
        """`saves:` and `known:` in the notes of a pattern are no saving and no baseline."""
        self.write("own.yml", 'name: prod\nfused_op: ttnn.linear\nsource: ttnn\nmatch: out = matmul(a, b) + c\nnotes: '
                   '["known: to be slow.", "saves: a launch; about 5000 of 6000 us when the host is slow."]\n')
        self.write("m.mlir", model([False]))
        self.run_it("-q", "--ttnn-only", "--no-default-patterns", "-P", "own.yml", "--format=yaml:r.yml",
                    "--format=json:r.json", "--format=sarif:r.sarif", "m.mlir")
        (saved,) = [i["saved_us"] for e in json.loads(self.read("r.json"))["missed_fusions"] for i in e["instances"]]
        for report in "r.yml", "r.json":
            row = self.run_it("summary", report)[1].splitlines()[1].split()
            self.assertEqual(row[2:], ["%.1f" % saved, "us", "1", "0", "0", "0", "r", "(n150", "assumed)"])
        self.assertNotIn("is missed: known", self.read("r.sarif"))
        self.assertIn("is missed. At: ", self.read("r.sarif"))
        self.assertNotIn("Fusing saves a launch; about 5000", self.read("r.sarif"))

    def test_yaml_and_json_tell_the_same(self):
        """What is new, gone and to save; a place more in a layer that has one is new."""
        cases = {"same": ([False, False], [False, False], 0, 0), "more": ([(False, 1)], [(False, 1), (False, 1)], 1, 0),
                 "other layer": ([(False, 1)], [(False, 2)], 1, 1), "fewer": ([False, False], [(True, 0), False], 0, 1)}
        for name, (before, now, new, gone) in cases.items():
            for run, layers in (("a", before), ("b", now)):
                self.write(run + ".mlir", model(layers))
                self.run_it("--ttnn-only", "-q", "--only=ttnn.linear", f"--format=yaml:{run}yml/m.yml",
                            f"--format=json:{run}json/m.json", run + ".mlir")
            tables, diffs = [], []
            for end in "yml", "json":
                _, out, err = self.run_it("summary", "--format=json", f"--before=a{end}", "b" + end)
                tables.append(json.loads(out))
                self.assertEqual(err, "")
                status, out, _ = self.run_it("diff", f"a{end}/m.{end}", f"b{end}/m.{end}")
                diffs.append((status, out))
            with self.subTest(name):
                self.assertEqual(*tables)
                self.assertEqual(*diffs)
                self.assertEqual([(r["new"], r["gone"]) for r in tables[0]["reports"]], [(new, gone)])
                self.assertEqual(diffs[0][0], bool(new))

    def test_places_without_names_are_counted(self):
        entry = "    - {ir_loc: x, notes: \"model location: not stated in the input (no parameter name nearby)\\n\"}\n"
        for name, n in ("a", 12000), ("b", 8000):
            self.write(name + ".yml", "input: {ttnn: m}\nmissed_fusions:\n  - fused_op: ttnn.linear\n    source: ttnn\n"
                       "    component_ops: [ttnn.add]\n    instances:\n" + n * entry)
        status, out, err = self.run_it("diff", "a.yml", "b.yml")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("findings: 12000 before, 8000 now, 0 new, 4000 gone, 0 changed\n"), out[:100])

    def test_trouble(self):
        self.audit(model([False]), "-q", "-o", "r.yml")
        for status, args in ((3, ("absent.yml", "r.yml")), (2, ("r.yml",)), (2, ("m.mlir", "r.yml")), (3, ("m.mlir", "absent"))):
            self.assertEqual(self.run_it("diff", *args)[0], status, args)
        self.write("bad.yml", "input: {}\nmissed_fusions:\n- fused_op: x\n")
        status, out, err = self.run_it("diff", "r.yml", "bad.yml")
        self.assertEqual((status, out), (3, ""))
        self.assertTrue(err.startswith("bad.yml:3:3: error: "), err)


class Many(Case):
    def setUp(self):
        super().setUp()
        for name, extent, layers in (("a", 64, [False, True]), ("b", 96, [False, False]), ("c", 128, [True])):
            self.write("in/%s_before.mlir" % name, model(layers, "ttir", extent=extent))
            self.write("in/%s_after.mlir" % name, model(layers, extent=extent))
        os.mkdir(self.path("out"))

    def many(self, *args):
        return self.run_it("--source=ttnn", "--output-dir=out", *args)

    def check(self, out):
        names = sorted(glob.glob(self.path("out/**/*.yml"), recursive=True))
        self.assertEqual([os.path.basename(n) for n in names], ["a_after.yml", "b_after.yml"])
        self.assertRegex(self.read(names[1]), r"ttir: .*b_before.mlir.?\n  ttnn: .*b_after.mlir")
        self.assertEqual(self.run_it("summary", *reversed(names)), (0, out.replace("in/", ""), ""))

    def test_our_own_reports(self):
        """A shell's in/* names them, too. What has nothing else is no clean compile."""
        formats = ["--format=%s:in/r.%s" % (f, f) for f in ("yaml", "json", "markdown", "sarif", "html")]
        pair = "in/a_before.mlir", "in/a_after.mlir"
        self.assertEqual(self.run_it("-q", *formats, *pair)[0], 1)
        self.assertEqual(self.run_it("-q", "--write-baseline=in/known.yml", *pair)[0], 0)
        reports = ["in/known.yml", *("in/r." + f for f in ("yaml", "json", "markdown", "sarif", "html"))]
        status, out, err = self.many(*reports, *pair)
        self.assertEqual((status, err), (1, ""))
        none = "in/known.yml: error: neither it nor what is given with it has ops of TTIR or TTNN\n"
        self.assertEqual(self.many(*reports), (3, "", none))
        os.mkdir(self.path("reports"))
        for report in reports:
            os.rename(self.path(report), self.path("reports/" + os.path.basename(report)))
        self.assertEqual(self.many("reports"), (3, "", "reports: error: has no ops of TTIR or TTNN\n"))
        self.write("notes.txt", "input: of nobody\n")
        self.assertEqual(self.many("notes.txt", *pair)[::2], (3, "notes.txt: error: has no ops of TTIR or TTNN\n"))
        self.write("s.mlir", "module {\n  func.func @f(%a: tensor<4xf32>) {\n    %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
                             "    return\n  }\n}\n")
        self.assertIn("s.mlir: error: is StableHLO, without TTIR or TTNN\n  hint: ", self.many("s.mlir", *pair)[2])

    def test_summary_of_what_is_no_report(self):
        """Of a module it says what is meant; of a report that was damaged, where."""
        for path in "in/a_before.mlir", "in/a_after.mlir":
            self.assertEqual(self.run_it("summary", path),
                             (3, "", path + ": error: this is no report: `missed_fusions` expected\n"
                                     "  hint: an audit writes one: `fusion-audit -o report.yml m.ttir.mlir m.ttnn.mlir`\n"))
        self.run_it("-q", "in/a_before.mlir", "in/a_after.mlir")
        self.write("fusion_todo.yml", self.read("fusion_todo.yml") + "}\n")
        self.assertRegex(self.run_it("summary", "fusion_todo.yml")[2], r"^fusion_todo.yml:\d+:\d+: error: not YAML: did not find")
        self.write("x.yml", "input:\n  ttir: a\n")
        self.assertIn("x.yml:1:1: error: this is no report", self.run_it("summary", "x.yml")[2])

    def test_directory(self):
        status, out, err = self.many("in")
        self.assertEqual((status, err), (1, ""))
        self.check(out)

    def test_makes_the_directory(self):
        os.rmdir(self.path("out"))
        self.assertEqual(self.many("-n", "in")[0], 1)
        self.assertFalse(os.path.exists(self.path("out")))
        status, out, err = self.many("in")
        self.assertEqual((status, err), (1, ""))
        self.check(out)

    def test_files_in_any_order(self):
        files = glob.glob(self.path("in/*"))
        status, out, _ = self.many(*sorted(files, key=lambda f: f[::-1]))
        self.assertEqual(status, 1)
        self.check(out)

    def test_files_of_several_graphs(self):
        """Partners have as many; what an audit of the two finds is found."""
        def named(graph, level):
            return self.read("in/%s_%s.mlir" % (graph, level)).replace("module {", "module @%s {" % graph)
        self.write("in/a_before.mlir", named("a", "before") + named("c", "before"))
        self.write("in/a_after.mlir", named("c", "after") + named("a", "after"))
        for level in "before", "after":
            os.remove(self.path("in/c_%s.mlir" % level))
        self.assertEqual(self.run_it("-q", "--source=ttnn", "-o", "two.yml", "in/a_before.mlir", "in/a_after.mlir"), (1, "", ""))
        status, out, err = self.many("in")
        self.assertEqual((status, err), (1, ""))
        self.check(out)
        self.assertEqual(self.read("out/a_after.yml"), self.read("two.yml"))
        self.write("in/a_after.mlir", self.read("in/a_after.mlir").replace("@c {", "@d {"))
        self.assertIn("in/a_after.mlir: error: no TTIR that was given belongs to this TTNN\n", self.many("in")[2])

    def test_archive(self):
        with tarfile.open(self.path("in.tar.gz"), "w:gz") as tar:
            tar.add(self.path("in"), "in")
        status, out, err = self.many("in.tar.gz")
        self.assertEqual((status, err), (1, ""))
        self.check(out)

    def test_needs_a_directory(self):
        self.assertEqual(self.run_it("--output-dir=in/a_after.mlir", "in")[:2], (3, ""))
        for args in (("in",), ("--output-dir=out", "--expect=in/a_after.mlir", "in"),
                     ("--output-dir=out", "--baseline=in/a_after.mlir", "in")):
            status, out, _ = self.run_it(*args)
            self.assertEqual((status, out), (2, ""), args)
        self.assertEqual(os.listdir(self.path("out")), [])
        self.assertEqual(self.run_it("--output-dir=no/such", "in")[0], self.run_it("--output-dir=out", "in")[0])
        self.assertEqual(os.listdir(self.path("no/such")), os.listdir(self.path("out")))

    def test_one_pair_needs_none(self):
        os.mkdir(self.path("one"))
        for name in ("a_before", "a_after"):
            shutil.copy(self.path("in/%s.mlir" % name), self.path("one"))
        self.assertEqual(self.run_it("--only=linear", "-q", "one"), (1, "", ""))
        self.assertIn("ttnn.linear", self.read("fusion_todo.yml"))

    def test_unreadable_does_not_stop_the_others(self):
        self.write("in/x.mlir", "no IR\n")
        self.write("in/lonely.mlir", model([False], extent=160))
        status, out, err = self.many("in", "absent")
        self.assertEqual(status, 3)
        self.assertIn("absent: error: ", err)
        self.assertIn("in/lonely.mlir: error: no TTIR that was given belongs to this TTNN\n", err)
        self.check(out)

    def test_what_nothing_descends_from_is_no_pair(self):
        """As functions of buffers, whose signatures tell nothing."""
        def function(op, type):
            return "module {\n  func.func @main(%%a: %s) -> %s {\n    %%0 = \"%s\"(%%a) : (%s) -> %s\n    return %%0 : %s\n  }\n}\n" \
                % (type, type, op, type, type, type)
        self.write("in/d_after.mlir", function("ttnn.tanh", "tensor<4x8xf32>"))
        for type, lonely in ("memref<4x8xf32>", 1), ("tensor<4x8xf32>", 0):
            self.write("in/d_before.mlir", function("ttir.tanh", type))
            err = self.many("in")[2]
            self.assertEqual(err.count("in/d_after.mlir: error: no TTIR that was given belongs to this TTNN\n"), lonely)

    def test_printed_again_by_the_runtime(self):
        """Another TTNN with the same ops is the same compile; one with others is another."""
        self.write("in/a_after_runtime.mlir", model([False, True], prefix="r"))
        status, out, err = self.many("in")
        self.assertEqual(status, 1)
        self.assertIn("in/a_after_runtime.mlir: note: has the ops of in/a_after.mlir: audited once\n", err)
        self.check(out)
        self.write("in/a_after_unfused.mlir", model([False, False]))
        self.many("in")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a_after.yml", "a_after_unfused.yml", "b_after.yml"])

    def test_same_names_in_two_directories(self):
        os.mkdir(self.path("in/more"))
        for name, extent in (("a_before", 192), ("a_after", 192)):
            self.write("in/more/%s.mlir" % name, model([False], "ttir" if "before" in name else "ttnn", extent=extent))
        self.assertEqual(self.many("in")[0], 1)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a_after.yml", "b_after.yml", "more"])
        self.assertEqual(os.listdir(self.path("out/more")), ["a_after.yml"])

    def test_files_belong_to_a_path(self):
        """Whatever folders are added or renamed: a baseline stays with its compile, and what is new is new."""
        def folder(name, extent):
            for level in "ttir", "ttnn":
                self.write("dumps/%s/model.%s.mlir" % (name, level), model([False], level, extent=extent))
        folder("b", 64)
        folder("c", 96)
        args = ("--only=linear", "--baseline=known", "dumps")
        self.assertEqual(self.many("--write-baseline=known", "--write-expect=wanted", *args[:1], "dumps")[0], 0)
        self.assertEqual([sorted(os.listdir(self.path(d))) for d in ("known", "known/b", "wanted")],
                         [["b", "c"], ["model.yml"], ["b", "c"]])
        self.assertEqual(self.many(*args)[0], 0)
        folder("a", 128)
        status, out, _ = self.many(*args)
        self.assertEqual((status, len(re.findall(r"(?m) 1  [bc]/model \(n150.*\)$", out)), len(re.findall(r"(?m) 0  a/model \(n150.*\)$", out))),
                         (1, 2, 1))
        shutil.rmtree(self.path("dumps/a"))
        self.assertEqual(self.many(*args)[::2], (0, ""))
        os.rename(self.path("dumps/b"), self.path("dumps/d"))
        status, out, err = self.many(*args)
        self.assertTrue(err.startswith("known/b/model.yml: error: no input is called b/model: its model is gone\n"), err)
        self.assertEqual((status, len(re.findall(r"(?m) 1  c/model \(n150.*\)$", out)), len(re.findall(r"(?m) 0  d/model \(n150.*\)$", out))),
                         (1, 1, 1))

    def test_a_model_that_is_gone_fails(self):
        """Its baseline, or its expectations, say so; a model that is new does not."""
        compiles = "in/a_before.mlir", "in/a_after.mlir", "in/c_before.mlir", "in/c_after.mlir"
        self.assertEqual(self.many("--write-baseline=known", "--write-expect=wanted", *compiles)[0], 0)
        for file in glob.glob(self.path("in/b_*")):
            os.remove(file)
        for option in "--baseline=known", "--expect=wanted":
            status, _, err = self.many("-q", "--fail-on=cuda", option, "in")
            self.assertEqual((status, err), (0, ""))
        for file in glob.glob(self.path("in/c_*")):
            os.rename(file, self.path("c"))
        for option, file in ("--baseline=known", "known/c_after.yml"), ("--expect=wanted", "wanted/c_after.yml"):
            status, _, err = self.many("-q", "--fail-on=cuda", option, "in")
            self.assertEqual((status, err.splitlines()[0]), (1, file + ": error: no input is called c_after: its model is gone"))

    def test_names(self):
        """Paths below what the words of the command line share; never above the directory of the reports."""
        def folder(name, extent):
            for level in "ttir", "ttnn":
                self.write("%s.%s.mlir" % (name, level), model([False], level, extent=extent))
        def written(*args):
            shutil.rmtree(self.path("out"), ignore_errors=True)
            self.assertEqual(self.many("--only=linear", *args)[0], 1)
            return sorted(os.path.relpath(p, self.path("out")) for p in glob.glob(self.path("out/**"), recursive=True)
                          if os.path.isfile(p))
        folder("p/x/m", 64)
        folder("p/y/m", 96)
        self.assertEqual(written("p"), ["x/m.yml", "y/m.yml"])
        self.assertEqual(written("p/x", "p/y"), ["x/m.yml", "y/m.yml"])
        self.assertEqual(written("../" + os.path.basename(self.dir) + "/p/x", "./p/y/"),
                         sorted([os.path.basename(self.dir) + "/p/x/m.yml", "p/y/m.yml"]))
        self.assertEqual(written(*glob.glob(self.path("p/*/*.mlir"))), ["x/m.yml", "y/m.yml"])
        self.assertEqual(written("p/x"), ["m.yml"])
        shutil.copy(self.path("p/y/m.ttir.mlir"), self.path("p/x/n.ttir.mlir"))
        os.rename(self.path("p/y/m.ttnn.mlir"), self.path("p/x/m.log"))
        self.assertEqual(written("p/x"), ["m.log.yml", "m.ttnn.mlir.yml"])

    def test_own_files_are_no_input(self):
        self.write("in/c_after.mlir", model([False], extent=128))
        formats = ["--format=" + f for f in ("yaml", "json", "markdown", "sarif")]
        first = self.run_it("--only=linear", "--output-dir=in/out", "--write-baseline=in/known", *formats, "in")
        self.assertEqual((first[0], first[2]), (0, ""))
        again = self.run_it("--only=linear", "--output-dir=in/out", *formats, "in")
        self.assertEqual((again[0], again[1:]), (1, first[1:]))

    def test_baselines(self):
        status, out, _ = self.many("--write-baseline=known", "in")
        self.assertEqual(status, 0)
        self.assertEqual(sorted(os.listdir(self.path("known"))), ["a_after.yml", "b_after.yml", "c_after.yml"])
        status, out, _ = self.many("--baseline=known", "in")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"\n.* 3 +all\n")
        self.assertRegex(self.many("in/a_before.mlir", "in/a_after.mlir")[1], r" report\n.*  a_after \(n150 assumed.*\)\n\n")

    def test_expectations(self):
        os.mkdir(self.path("some"))
        self.many("--write-expect=good", "--write-baseline=known", "in")
        self.assertEqual(sorted(os.listdir(self.path("good"))), ["a_after.yml", "b_after.yml", "c_after.yml"])
        self.assertEqual(self.many("--expect=good", "--baseline=known", "in")[0], 0)
        self.write("good/c_after.yml", "ttnn.linear: == 2\n")
        status, _, err = self.many("--expect=good", "in")
        self.assertEqual(status, 1)
        self.assertTrue(err.startswith("good/c_after.yml:1:1: error: ttnn.linear: == 2 expected, 1 there\n"), err)
        shutil.copy(self.path("good/c_after.yml"), self.path("some"))
        status, _, err = self.many("--expect=some", "in")  # a compile that nothing is expected of is not waved through
        self.assertEqual(status, 2)
        self.assertIn("some/a_after.yml: error: ", err)

    def test_profiles(self):
        os.mkdir(self.path("perf"))
        self.write("perf/b_after.csv", "no profile\n")
        status, _, err = self.many("--perf=perf", "in")
        self.assertEqual(status, 3)
        self.assertIn("perf/b_after.csv:", err)
        os.remove(self.path("perf/b_after.csv"))
        self.assertEqual(self.many("--perf=perf", "in")[0], 1)

    def test_what_a_directory_has_that_is_not_read(self):
        os.symlink("a_before.mlir", self.path("in/link.mlir"))
        status, _, err = self.many("in")
        self.assertEqual(status, 1)
        self.assertIn("in/link.mlir: warning: links in a directory are not followed", err)
        os.remove(self.path("in/link.mlir"))
        if os.geteuid() == 0:
            return  # who may read all
        os.mkdir(self.path("in/closed"), 0)
        status, _, err = self.many("in")
        os.rmdir(self.path("in/closed"))
        self.assertEqual(status, 3)
        self.assertIn("in/closed: error: Permission denied", err)

    def test_errors_beyond_a_hundred_are_counted(self):
        for i in range(120):
            self.write("lone/%d.mlir" % i, model([False]))
        status, _, err = self.many("lone")
        self.assertEqual(status, 3)
        self.assertTrue(err.endswith("and 20 more\n"), err[-200:])

    def test_names_of_files_do_not_drive_the_terminal(self):
        self.write("odd/m\x1b[31m_before.mlir", model([False], "ttir"))
        self.write("odd/m\x1b[31m_after.mlir", model([False]))
        _, out, err = self.many("odd")
        self.assertIn("m\\x1B[31m_after", out)
        self.assertNotIn("\x1b", out + err)

    def test_remarks_say_of_which_compile(self):
        _, _, err = self.many("-v", "in")
        for name in "abc":
            self.assertIn("%s_after: graph 1: " % name, err)

    def test_one_file_for_many_is_refused(self):
        self.assertEqual(self.many("-o", "r.yml", "in")[0], 2)

    def test_parallel(self):
        """One process a compile, and a summary of their reports: as one call."""
        _, want, _ = self.many("in")
        command = "ls in/*_before.mlir | sed s/_before.mlir// | xargs -P 4 -I@ sh -c '"
        command += "%s -q --source=ttnn -o par/$(basename @)_after.yml @_before.mlir @_after.mlir || test $? = 1'" % PROGRAM
        os.mkdir(self.path("par"))
        subprocess.run(["sh", "-c", command], cwd=self.dir, check=True)
        self.assertEqual(sorted(os.listdir(self.path("par"))), ["a_after.yml", "b_after.yml"])
        self.assertEqual(self.run_it("summary", "par/a_after.yml", "par/b_after.yml"), (0, want, ""))


def readme():
    with open(os.path.join(ROOT, "README.md")) as f:
        return f.read()


class Readme(Case):
    """The loop over many models runs as it stands there."""

    def test_many(self):
        for name, extent in (("one", 64), ("two", 96)):
            for dialect in ("ttir", "ttnn"):
                self.write("dumps/%s/%s.%s.mlir" % (name, name, dialect), model([False, True], dialect, extent=extent))
        summary = re.search(r"find reports .*", readme()).group(0)
        line = re.search(r"ls dumps \| parallel '(.*?)'", readme()).group(1)
        each = line.replace("{}", '"$1"')
        env = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
        tables = []
        for command in ("fusion-audit --output-dir=reports dumps/ > table || test $? = 1",
                        "ls dumps | xargs -P 2 -n 1 sh -c '%s || test $? = 1' -" % each):
            subprocess.run(["bash", "-c", command], cwd=self.dir, env=env, check=True)
            done = subprocess.run(["bash", "-c", summary], cwd=self.dir, env=env, check=True, stdout=subprocess.PIPE)
            tables.append(done.stdout.decode())
            shutil.rmtree(self.path("reports"))
        self.assertEqual(tables, [self.read("table")] * 2)


class Formats(Case):
    HOSTILE = "<b>&amp; `x` | **y** [z](http://h) @team $(reboot) \u202e\u0007 ]]> --> %n"

    def all_formats(self, *args):
        status, out, err = self.run_it(*args, "-q", "--format=yaml:r.yml", "--format=json:r.json", "--format=markdown:r.md",
                                       "--format=sarif:r.sarif", "--format=html:r.html")
        self.assertEqual(out, "")
        self.assertEqual(self.data_of_page(), json.loads(self.read("r.json")))
        return status, json.loads(self.read("r.json")), self.read("r.md"), json.loads(self.read("r.sarif"))

    def data_of_page(self):
        """The page has the JSON, and nothing else of the input: no text of it can be markup."""
        head, data, tail = re.fullmatch(r'(.*<script type="application/json" id="data">)(.*?)(</script>.*)', self.read("r.html"),
                                        re.S).groups()
        self.assertNotIn("<", data)
        self.assertEqual(Formats.page.setdefault("page", head + tail), head + tail)
        self.assertNotRegex(head + tail, r"(src|href)=[\"']?(https?:)?//")
        return json.loads(data)

    page = {}

    def validate(self, report, sarif):
        hold(report, "report")
        hold(sarif, "sarif", "tests")
        run, = sarif["runs"]
        for result in run["results"]:
            self.assertEqual(run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], result["ruleId"])

    def test_what_has_to_hold(self):
        """A comment says it at the first of places that are alike."""
        heads, rows, joined = "tensor<1x12x128x80xf32>", "tensor<1x128x12x80xf32>", "tensor<1x128x960xf32>"
        self.write("m.mlir", f"""module {{
  func.func @main(%x: {heads}) -> {joined} {{
    %p = "ttir.permute"(%x) <{{permutation = array<i64: 0, 2, 1, 3>}}> : ({heads}) -> {rows}
    %r = "ttir.reshape"(%p) <{{shape = [1 : i32, 128 : i32, 960 : i32]}}> : ({rows}) -> {joined}
    return %r : {joined}
  }}
}}
""")
        status, report, markdown, _ = self.all_formats("--ttir-only", "--min-saving=0us", "--only=ttnn.concatenate_heads", "m.mlir")
        self.assertEqual(status, 1)
        notes = report["missed_fusions"][0]["instances"][0]["notes"]
        self.assertIn("precondition: the compiler takes the fused op apart again where the heads", notes)
        self.assertIn("<br>precondition: the compiler takes the fused op apart again where the heads", markdown)

    def test_the_same_findings(self):
        self.write("m.mlir", 120 * "\n" + re.sub("(?m)$", "  ", model([False, False])))  # what trails is no part of an op
        status, report, markdown, sarif = self.all_formats("--ttnn-only", "--details", "m.mlir")
        self.assertEqual(status, 1)
        self.validate(report, sarif)
        places = [i for e in report["missed_fusions"] for i in e["instances"]]
        results = sarif["runs"][0]["results"]
        self.assertGreaterEqual(len(places), 2)
        self.assertEqual([i["fingerprint"] for i in places], [r["partialFingerprints"]["fusionAudit/v1"] for r in results])
        self.assertEqual([i["notes"] for i in places], [r["properties"]["notes"] for r in results])
        for i in places:
            self.assertNotIn(i["fingerprint"], markdown)
            self.assertNotIn(i["fingerprint"], self.read("r.yml"))
        lines = self.read("m.mlir").splitlines()
        for r in results:
            region = r["locations"][0]["physicalLocation"]["region"]
            self.assertEqual(region["startLine"], region["endLine"])
            op = lines[region["startLine"] - 1][region["startColumn"] - 1:region["endColumn"] - 1]
            self.assertRegex(op, r'^%\w+ = "ttnn.matmul".*loc\(.*\)$')
        hashes = [r["partialFingerprints"]["primaryLocationLineHash"] for r in results]
        self.assertEqual(len(set(hashes)), len(hashes))
        self.assertEqual(sarif["runs"][0]["automationDetails"]["id"], "fusion-audit/m.mlir/")
        self.write("m.mlir", model([False, False, False]))
        self.assertLessEqual(set(hashes), {r["partialFingerprints"]["primaryLocationLineHash"] for r in
                                           self.all_formats("--ttnn-only", "m.mlir")[3]["runs"][0]["results"]})

    def test_baseline(self):
        self.write("m.mlir", model([False, False]))
        self.run_it("--ttnn-only", "-q", "--only=linear", "--write-baseline=b.yml", "m.mlir")
        self.write("m.mlir", model([False, False, False]))
        status, report, markdown, sarif = self.all_formats("--ttnn-only", "--only=linear", "--baseline=b.yml", "m.mlir")
        self.assertEqual(status, 1)
        self.validate(report, sarif)
        results = sarif["runs"][0]["results"]
        self.assertEqual(sorted(r["baselineState"] for r in results), ["new", "unchanged", "unchanged"])
        for r in results:
            known = r["baselineState"] == "unchanged"
            self.assertEqual(r["suppressions"], [{"kind": "external", "status": "accepted",
                                                  "justification": "in the baseline"}]
                             if known else [])
        self.assertEqual(sum("known" in i for e in report["missed_fusions"] for i in e["instances"]), 2)
        new, known = markdown.split("<details><summary>2 known</summary>")
        self.assertIn("**: 1 new place where 1 fused op could stand, 2 known; all ops: ", new)
        self.assertIn(" | 1 | ttnn.linear | ", new)
        self.assertIn(" | 2 | ttnn.linear | ", known)
        self.assertEqual((new.count("```mlir"), "```" in known), (1, False))
        places = [i for e in report["missed_fusions"] for i in e["instances"]]
        self.assertEqual(report["totals"]["places"] - report["totals"]["known"], 1)
        self.assertAlmostEqual(sum(i["saved_us"] for i in places), report["missed_fusions"][0]["saved_us"], 2)
        self.assertEqual({i["validation"]["verdict"] for i in places}, {"same_function"})
        self.assertEqual(sum("model.layers" in i["place"] for i in places), 3)
        self.assertTrue(all(i["action"] for i in places))

    def test_annotations(self):
        """What is new, of alike places the first; what fails is an error; names cannot become commands."""
        name = "a,b:c%25.mlir"
        self.write(name, model([False, True]).replace("layers.0.fc", "layers.0.fc\\0A::error::no"))
        def annotations(*args):
            self.run_it("-q", "--ttnn-only", "--only=linear", "--format=github:a", "--format=gitlab:q.json", *args, name)
            return self.read("a"), json.loads(self.read("q.json"))
        line, quality = annotations()
        self.assertRegex(line, r"^::error file=a%2Cb%3Ac%2525.mlir,line=\d+,title=ttnn.linear::ttnn.linear is missed, [\d.]+ us: .*"
                               r"What to do: \S.*\n$")
        (q,) = quality
        self.assertEqual((q["check_name"], q["severity"], q["location"]["path"]), ("linear", "major", name))
        self.assertIn("ttnn.matmul", self.read(name).splitlines()[q["location"]["lines"]["begin"] - 1])
        self.assertIn("What to do: ", q["description"])
        line, (q,) = annotations("--fail-on=torch")
        self.assertEqual((line[:10], q["severity"]), ("::warning ", "info"))
        self.run_it("-q", "--ttnn-only", "--only=linear", "--write-baseline=b.yml", name)
        self.assertEqual(annotations("--baseline=b.yml"), ("", []))

    def test_all_known(self):
        self.write("m.mlir", model([False, False]))
        self.run_it("--ttnn-only", "-q", "--write-baseline=b.yml", "m.mlir")
        status, _, markdown, _ = self.all_formats("--ttnn-only", "--baseline=b.yml", "m.mlir")
        self.assertEqual(status, 0)
        self.assertIn("**: nothing new, ", markdown)
        self.assertNotIn("```", markdown)

    def test_what_is_known_by_a_rule(self):
        """SARIF says why it is no alert; what was known and is gone would be one for GitHub."""
        self.write("m.mlir", model([True, False]))
        self.run_it("--ttnn-only", "-q", "--only=ttnn.linear", "--write-baseline=b.yml", "m.mlir")
        self.write("m.mlir", model([False, True]))
        self.write("b.yml", self.read("b.yml").replace("known_findings:\n", "known_findings:\n- {fused_op: ttnn.linear, location: '*layers.0*', "
                                                   "reason: of no use}\n"))
        status, report, markdown, sarif = self.all_formats("--ttnn-only", "--only=ttnn.linear", "--baseline=b.yml", "m.mlir")
        self.assertEqual((status, report["totals"]["places"], report["totals"]["known"]), (0, 1, 1))
        self.assertIn("nothing new, 1 known, 1 gone; all ops: ", markdown)
        self.assertRegex(markdown, r"<summary>1 gone</summary>\n\n- ttnn.linear, .*layers\.1")
        result, = sarif["runs"][0]["results"]
        self.assertEqual(result["suppressions"][0]["justification"], "of no use")
        hold(sarif, "sarif", "tests")

    def test_nothing_missed(self):
        self.write("m.mlir", model([True]))
        status, report, markdown, sarif = self.all_formats("--ttnn-only", "--only=linear", "m.mlir")
        self.assertEqual((status, report["missed_fusions"], sarif["runs"][0]["results"]), (0, [], []))
        self.validate(report, sarif)
        self.assertEqual(markdown, "<!-- fusion-audit: m.mlir -->\n"
                         "**fusion-audit**: none of the patterns that were asked for is found\n")
        self.assertFalse(os.path.exists(self.path("r.yml")))

    def test_hostile_names(self):
        name = self.HOSTILE.replace("\\", "").replace('"', "")
        text = model([False]).replace("model.layers.0.fc", name)
        path = "a b%20#?<&>'`\u00e9.mlir"
        self.write(path, text)
        self.write("b.yml", "known_findings: []\n")
        status, report, markdown, sarif = self.all_formats("--ttnn-only", "--only=linear", "--baseline=b.yml", path)
        self.assertEqual(status, 1)
        self.validate(report, sarif)
        self.assertEqual(report["input"]["ttnn"], path)
        self.assertIn("<b>&amp; `x` | **y** [z](http://h) @team", report["missed_fusions"][0]["instances"][0]["notes"])
        self.assertEqual(self.artifact(sarif), {"uri": "a%20b%2520%23%3F%3C%26%3E%27%60%C3%A9.mlir", "uriBaseId": "%SRCROOT%"})
        for raw in ("\u202e", "\u0007"):
            for file in ("r.yml", "r.json", "r.md", "r.sarif", "r.html"):
                self.assertNotIn(raw, self.read(file), file)
        outside = re.sub(r"(?ms)^(`{3,})mlir$.*?^\1$", "", markdown)
        for mark in ("<b>", "](", "@team", "**y**", "`"):
            self.assertNotIn(mark, outside)
        self.assertEqual(set(re.findall(r"</?(\w+)", outside)), {"details", "summary", "br"})

    @staticmethod
    def artifact(sarif):
        return sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]

    def test_sarif_names_files_from_the_working_directory(self):
        for path in ("here/m.mlir", "n.mlir"):
            self.write(path, model([False]))
        self.run_it("-q", "--ttnn-only", "--only=linear", "--format=sarif:r.sarif", os.path.realpath(self.path("here/m.mlir")))
        self.assertEqual(self.artifact(json.loads(self.read("r.sarif"))), {"uri": "here/m.mlir", "uriBaseId": "%SRCROOT%"})
        outside = os.path.realpath(self.path("n.mlir"))
        subprocess.run([PROGRAM, "-q", "--ttnn-only", "--only=linear", "--format=sarif:r.sarif", outside],
                       cwd=self.path("here"), check=False)
        self.assertEqual(self.artifact(json.loads(self.read("here/r.sarif"))), {"uri": "file://" + outside})

    def test_markdown_escapes_what_would_be_markup_only(self):
        self.write("m.mlir", model([False]).replace("model.layers.0.fc", "a_b/_c_ #12 #loc x: http://h :up: 1->2 (d) [e](f)"))
        _, _, markdown, _ = self.all_formats("--ttnn-only", "--only=linear", "m.mlir")
        self.assertIn("a_b/&#95;c&#95; &#35;12 #loc x: http&#58;//h &#58;up: 1->2 (d) &#91;e&#93;(f)", markdown)

    def test_a_page_draws_what_was_matched(self):
        self.write("m.mlir", model([False, False]))
        _, report, _, _ = self.all_formats("--ttnn-only", "--only=ttnn.linear", "m.mlir")
        entry, = report["missed_fusions"]
        lines = self.read("m.mlir").splitlines()
        self.assertEqual(["ops" in place for place in entry["instances"]], [True, False])  # the second is alike
        for place in entry["instances"][:1]:
            matched = [op for op in place["ops"] if op["part"] == "matched"]
            self.assertEqual([op["op"] for op in matched], entry["component_ops"])
            made = {op["value"] for op in place["ops"]}
            for op in matched:
                self.assertRegex(lines[op["line"] - 1], f'{op["value"]} = "{op["op"]}"')
                self.assertLessEqual(set(op["operands"]), made)
            self.assertLessEqual(set(place["takes"].values()), made)
        self.assertEqual([p["layer"] for p in entry["instances"]], ["layer 0", "layer 1"])
        self.assertEqual([x.get("name") for x in report["layers"]], ["layer 0", "layer 1"])
        self.assertAlmostEqual(sum(x["us"] for x in report["layers"]), report["total_us"], 1)
        self.assertAlmostEqual(sum(x["saved_us"] for x in report["layers"]), report["saved_us"], 1)

    def test_a_drawing_sees_through_aliases_of_types(self):
        self.write("m.mlir", "!t = tensor<32x64xf32>\nmodule {\n  func.func @main(%x: !t) -> !t {\n"
                             '    %0 = "ttir.sigmoid"(%x) : (!t) -> !t\n    %1 = "ttir.multiply"(%x, %0) : (!t, !t) -> !t\n'
                             "    return %1 : !t\n  }\n}\n")
        _, report, _, _ = self.all_formats("--ttir-only", "--only=ttnn.silu", "m.mlir")
        place, = report["missed_fusions"][0]["instances"]
        self.assertEqual([(op["value"], op["type"]) for op in place["ops"]],
                         [("%x", "32x64xf32"), ("%0", "32x64xf32"), ("%1", "32x64xf32")])
        self.assertEqual(place["takes"], {"x": "%x"})

    def test_fences_hold(self):
        text = model([False]).replace('loc("dot.100")', 'loc("``` `````")')
        self.write("m.mlir", text)
        _, _, markdown, _ = self.all_formats("--ttnn-only", "--only=linear", "m.mlir")
        self.assertIn("\n``````mlir\n", markdown)

    def test_long_reports_fit_a_comment(self):
        self.write("m.mlir", model([False] * 300))
        _, _, markdown, _ = self.all_formats("--ttnn-only", "--only=linear", "m.mlir")
        self.assertLess(len(markdown), 30000)
        self.assertRegex(markdown, r"\n\d+ more places are in the report\.\n$")

    def test_where_they_go(self):
        self.write("m.mlir", model([False]))
        audit = ("--ttnn-only", "--only=linear", "-q", "m.mlir")
        for args, files in ((("--format=json",), ["fusion_todo.json"]), (("--format=sarif", "-o", "x"), ["x"]),
                            (("--format=yaml", "--format=markdown"), ["fusion_todo.md", "fusion_todo.yml"])):
            self.assertEqual(self.run_it(*args, *audit)[0], 1)
            for file in files:
                os.remove(self.path(file))
            self.assertEqual(os.listdir(self.dir), ["m.mlir"])
        self.assertTrue(json.loads(self.run_it("--format=json:-", *audit)[1])["missed_fusions"])
        for args in (("-o", "x", "--format=json:x"), ("-o", "x", "--write-baseline=x"), ("-o", "x", "--write-expect=x"),
                     ("--format=xml",), ("--format=",), ("--format=json:",), ("--format=json", "--format=sarif", "-o", "x"),
                     ("--format=json:m.mlir",), ("--format=yaml:-", "--format=json:-")):
            self.assertEqual(self.run_it(*args, *audit)[0:2], (2, ""), args)


@unittest.skipUnless(os.path.isdir(MODELS), "no corpus")
class Corpus(Case):
    """Each fifth model: all of them take a minute."""

    def names(self):
        all = sorted(os.path.basename(p)[:-len(".ttir.mlir")] for p in glob.glob(MODELS + "/*.ttir.mlir"))
        return all if os.environ.get("FA_ALL_MODELS") else all[::5]

    def test_validate(self):
        for name in self.names():
            status, _, err = self.run_it("-q", "--no-validate", "--format=json:r.json", "--format=sarif:r.sarif",
                                         *(os.path.join(MODELS, "%s.%s.mlir" % (name, l)) for l in ("ttir", "ttnn")))
            self.assertIn(status, (0, 1), err)
            report = json.loads(self.read("r.json"))
            Formats.validate(self, report, json.loads(self.read("r.sarif")))
            if "layers" in report:  # what they save is what all save
                self.assertAlmostEqual(sum(l["saved_us"] for l in report["layers"]) / (report["saved_us"] or 1), bool(report["saved_us"]), 4)

    def test_all_pairs_of_an_archive(self):
        names = self.names()
        os.mkdir(self.path("out"))
        with tarfile.open(self.path("all.tar"), "w") as tar:
            for i, level in enumerate(("ttnn", "ttir")):
                for name in sorted(names, reverse=bool(i)):
                    tar.add(os.path.join(MODELS, "%s.%s.mlir" % (name, level)), "%d/%s.mlir" % (i, name))
        status, out, err = self.run_it("--output-dir=out", "--no-validate", "all.tar")
        self.assertEqual((status, err), (1, ""))
        for name in glob.glob(self.path("out/0/*")):
            ttir, ttnn = re.findall(r"(?m)^  tt\w+: .*?/([\w.]+)\"?$", self.read(name))[:2]
            texts = []
            for file, level in ((ttir, "ttir"), (ttnn, "ttir")):
                with open(os.path.join(MODELS, file.replace(".mlir", ".%s.mlir" % level)), "rb") as f:
                    texts.append(f.read())
            self.assertEqual(texts[0], texts[1], name)  # some models are the same text under two names

    def test_history(self):
        """The compiles without fusing, by default and with composites kept, as three releases: gate and diff."""
        text = ""
        for name in ("bert_encoder_layer", "llama_3_2_1b_decode_layer", "phi_2_prefill_layer"):
            ttir = os.path.join(MODELS, name + ".ttir.mlir")
            releases = [os.path.join(MODELS, "%s.%s.mlir" % (name, r)) for r in ("ttnn-unfused", "ttnn", "ttnn-promoted")]
            self.run_it("-q", "--source=ttnn", "--write-baseline=b.yml", "--write-expect=e.yml", ttir, releases[2])
            text += "## %s\n\nexpected of release 3:\n%s\n" % (name, self.read("e.yml"))
            for i in (0, 1, 2):
                status, _, err = self.run_it("--source=ttnn", "--baseline=b.yml", "--expect=e.yml", ttir, releases[i])
                counts = re.search(r"\d+ known, \d+ new", err)
                failed = re.findall(r"(?m)^e\.yml:\d+:\d+: error: (.*)$", err)
                text += "gate, release %d: exit %d, %s%s\n" % (i + 1, status, counts.group() if counts else "no findings",
                                                              "".join("\n  " + f for f in failed))
            for old, new in ((0, 1), (1, 2), (2, 1)):
                status, out, err = self.run_it("diff", "--source=ttnn", ttir, releases[old], ttir, releases[new])
                text += "\ndiff, release %d to %d: exit %d\n%s" % (old + 1, new + 1, status, out)
            text += "\n"
        path = os.path.join(ROOT, "fixtures", "expected", "history.txt")
        if UPDATE:
            with open(path, "w") as f:
                f.write(text)
        with open(path) as f:
            self.assertEqual(text, f.read())


if __name__ == "__main__":
    unittest.main()
