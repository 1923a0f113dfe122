#!/usr/bin/env python3
"""The first hour of people with a question each: what they type, and what they are told, on real compiles.

usage: walks_test.py PROGRAM CORPUS [COMPILER]
COMPILER is a folder with `get.sh`, which prints where ttmlir-opt is. Neither is part of the project: what needs one that is not there is skipped.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import linear_layer

PROGRAM, CORPUS, COMPILER = (os.path.abspath(a) for a in (sys.argv[1:4] + [""] * 2)[:3])
MODELS = os.path.join(CORPUS, "models")


def residual_network(activation, blocks=3):
    """Convolutions with a batch norm each, channels before rows, added to what they began with."""
    x, w, c = "tensor<4x128x28x28xbf16>", "tensor<128x128x3x3xbf16>", "tensor<128xbf16>"
    parameter = "{ttcore.argument_type = #ttcore.argument_type<parameter>}"
    args, lines = ["%%x: %s {ttcore.argument_type = #ttcore.argument_type<input>}" % x], []

    def add(op, operands, types, attributes=""):
        lines.append('    %%%d = "ttir.%s"(%s)%s : (%s) -> %s loc("%s.%d")\n' % (
            len(lines), op, ", ".join(operands), attributes, ", ".join(types), x, op, len(lines)))
        return "%%%d" % (len(lines) - 1)

    def layer(value):
        names = ["%%%s%d" % (k, len(lines)) for k in "wgbmv"]
        args.extend("%s: %s %s" % (name, c if k else w, parameter) for k, name in enumerate(names))
        value = add("conv2d", [value, names[0]], [x, w], " <{batch_dim = 0 : i64, channel_dim = 1 : i64, dilation = array<i32: 1, 1>, "
                    "groups = 1 : i32, height_dim = 2 : i64, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, "
                    "width_dim = 3 : i64}>")
        return add("batch_norm_inference", [value, *names[1:]], [x, c, c, c, c], " <{dimension = 1 : i32, epsilon = 1.0E-5 : f32}>")

    value = "%x"
    for block in range(blocks):
        before, value = value, layer(add(activation, [layer(value)], [x]))
        value = add(activation, [add("add", [value, before], [x, x]) if block else value], [x])
    return "module {\n  func.func @main(%s) -> %s {\n%s    return %s : %s\n  }\n}\n" % (", ".join(args), x, "".join(lines), value, x)


class Walk(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def run_it(self, *args):
        done = subprocess.run([PROGRAM, *args], cwd=self.directory.name, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def write(self, name, text):
        path = os.path.join(self.directory.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.directory.name, name)) as file:
            return file.read()

    def files(self, folder):
        return sorted(os.path.relpath(os.path.join(d, f), self.directory.name)
                      for d, _, names in os.walk(os.path.join(self.directory.name, folder)) for f in names)

    def compile(self, folder, fused=False):
        self.write(folder + "/model.ttir.mlir", linear_layer.module("ttir"))
        self.write(folder + "/model.ttnn.mlir", linear_layer.module("ttnn", fused))

    def model(self, name, level):
        return os.path.join(MODELS, "%s.%s.mlir" % (name, level))


def us(text):
    number, unit = text.split()
    return float(number) * {"us": 1, "ms": 1000}[unit]


def promises(summary):
    """[(option, before, after)] of the lines behind the table."""
    found = re.findall(r"(?:set|then) ([\w-]+=\w+): ([\d.]+ [um]s) -> ([\d.]+ [um]s)", " ".join(summary.split()))
    return [(o, us(a), us(b)) for o, a, b in found]


@unittest.skipUnless(os.path.isdir(MODELS), "no corpus")
class BringUp(Walk):
    """What is wrong with my compile, and what does it bring to do as I am told?"""

    def path_of(self, name):
        return os.path.join(MODELS, name)

    def audit(self, path, level):
        status, _, err = self.run_it("-n", "--no-validate", path + ".ttir.mlir", "%s.%s.mlir" % (path, level))
        self.assertIn(status, (0, 1), err)
        return err

    def test_promises_hold(self):
        """What one option saves is what its compile takes less, also where another one has to keep what it made."""
        names = sorted(n[:-len(".ttnn-unfused.mlir")] for n in os.listdir(MODELS) if n.endswith(".ttnn-unfused.mlir"))
        seen = levels = 0
        for path in [os.path.join(MODELS, n) for n in names] + [os.path.join(CORPUS, "dit", n) for n in ("dit_block_op", "dit_block_prim")]:
            if path.endswith("/llama_attention"):
                continue  # no argument of it says that it is a parameter: the promise is for one that is, as its precondition says
            before, now = self.audit(path, "ttnn-unfused"), self.audit(path, "ttnn")
            option, _, after = promises(before)[0]
            self.assertEqual(option, "enable-fusing-pass=true", path)
            total = us(re.search(r"of ([\d.]+ [um]s) to save", " ".join(now.split())).group(1))
            self.assertLess(abs(after - total), 0.1 * total, (path, after, total))
            self.assertNotIn("enable-fusing-pass", now)
            seen += 1
            kept = [p for p in promises(now) if p[0] == "optimization-level=1"]
            if kept:  # what keeps what the pass has made
                total = us(re.search(r"of ([\d.]+ [um]s) ", " ".join(self.audit(path, "ttnn-promoted").split())).group(1))
                self.assertLess(abs(kept[0][2] - total), 0.1 * total, (path, kept, total))
                levels += 1
        self.assertGreater(seen, 30)
        self.assertGreater(levels, 25)

    def test_one_after_the_other(self):
        """The second option begins where the first one ends; what the first makes inside of larger places is its own."""
        said = promises(self.audit(self.path_of("bert_encoder_layer"), "ttnn-unfused"))
        self.assertEqual([o for o, _, _ in said], ["enable-fusing-pass=true", "optimization-level=1"])
        self.assertEqual(said[0][2], said[1][1])
        block = os.path.join(CORPUS, "dit", "dit_block_op")
        self.assertRegex(" ".join(self.audit(block, "ttnn-unfused").split()), r"ms, [\d.]+ ms of it at parts of other rows; then ")

    def actions(self, name, level):
        out = self.run_it("-q", "--no-validate", "--source=ttnn", "--format=json:-", self.model(name, "ttir"),
                          self.model(name, level))[1]
        return {(e["fused_op"], i["place"]): i["action"] for e in json.loads(out)["missed_fusions"]
                for i in e["instances"] if "place" in i}

    def test_actions_stay(self):
        """What is done goes from what was to be done, and nothing else comes that was not said."""
        kinds = set()
        for name in "bert_encoder_layer", "segformer", "resnet50_xla":
            before, now = self.actions(name, "ttnn-unfused"), self.actions(name, "ttnn")
            for place in before.keys() & now.keys():
                was, kind = before[place], "as it was"
                if was.startswith("set enable-fusing-pass=true and "):
                    was, kind = was.replace("enable-fusing-pass=true and ", ""), "one of two"
                elif was.startswith("set enable-fusing-pass=true; whether that is enough is open: "):
                    self.assertRegex(now[place], "^find out why [A-Za-z]+ did not fire: ", place)
                    was, kind = now[place].split(": ", 1)[0] + was[was.index(":"):], "open"
                self.assertEqual(now[place], was, place)
                kinds.add(kind)
        self.assertEqual(len(kinds), 3, kinds)


def compiler():
    get = os.path.join(COMPILER, "get.sh")
    done = subprocess.run([get], capture_output=True, text=True) if os.path.exists(get) else None
    return os.path.join(done.stdout.strip(), "ttmlir-opt") if done and done.returncode == 0 else None


@unittest.skipUnless(os.path.isdir(MODELS) and os.path.exists(os.path.join(COMPILER, "get.sh")), "no compiler")
class Try(Walk):
    def test_the_table_is_what_an_audit_finds(self):
        ttir = self.model("bert_encoder_block", "ttir")
        status, out, err = self.run_it("try", "--compiler=" + compiler(), "--pipeline=enable-fusing-pass=false",
                                       "--output-dir=kept", ttir)
        self.assertEqual((status, err), (0, ""))
        rows = re.findall(r"(?m)^ *(\d) +([\d.]+ [um]s) +([\d.]+ [um]s|fails) +(\d*) +(.*)$", out)
        self.assertGreaterEqual(len(rows), 2, out)
        for number, _, after, left, _ in rows:
            if after == "fails":
                continue
            status, _, err = self.run_it("-n", ttir, "kept/%s.ttnn.mlir" % number)
            self.assertIn(" of %s to save" % after, " ".join(err.split()))
            self.assertTrue(err.startswith("dry run: %s place" % left), err)
        command = out.splitlines()[-1]
        subprocess.run(command, shell=True, cwd=self.directory.name, check=True, capture_output=True)
        self.assertEqual(self.run_it("diff", "kept/1.ttnn.mlir", "bert_encoder_block.ttnn.mlir"), (0, "", ""))


    def test_movement_that_cancels(self):
        """Around a batch norm of a convolution results are moved, and moved back: what folds it brings more than its place."""
        for activation in "relu", "silu", "gelu":
            self.write(activation + ".ttir.mlir", residual_network(activation))
        for ttir in ("relu.ttir.mlir", "silu.ttir.mlir", "gelu.ttir.mlir", self.model("resnet50_xla", "ttir")):
            status, _, err = self.run_it("try", "--no-validate", "--compiler=" + compiler(), "--output-dir=kept", ttir)
            self.assertEqual((status, err), (0, ""))
            before, now = (self.run_it("-n", "--no-validate", ttir, "kept/%d.ttnn.mlir" % i)[2] for i in range(2))
            (option, _, after), *more = promises(before)
            self.assertEqual((option, more), ("enable-fusing-conv2d-with-multiply-pattern=true", []))
            self.assertIn(" of it around its places", " ".join(before.split()))
            got = us(re.search(r"of ([\d.]+ [um]s) to save", " ".join(now.split())).group(1))
            self.assertLess(abs(after - got), 0.1 * got, ttir)
            self.assertNotIn("around its places", now)


class Ci(Walk):
    """Three folders with files of the same names; what is known of each stays its own when one comes and one is renamed."""

    def audit(self, *args):
        return self.run_it("--only=ttnn.linear", "--output-dir=reports", *args, "dumps")

    def test_folders(self):
        for folder in "bert", "llama", "vit":
            self.compile("dumps/" + folder)
        status, _, err = self.audit("-q", "--write-baseline=known")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.files("known"), ["known/%s/model.yml" % f for f in ("bert", "llama", "vit")])
        self.assertEqual(self.audit("-q", "--baseline=known"), (0, "", ""))
        self.compile("dumps/gpt")  # between the others
        status, out, _ = self.audit("--baseline=known")
        self.assertEqual(status, 1)
        rows = re.findall(r"(?m)^ *[\d.]+ us +(\d+) +\d+ +\d+ +(\d+)  (\w+/model)$", out)
        self.assertEqual(sorted((name, known) for _, known, name in rows),
                         [("bert/model", "1"), ("gpt/model", "0"), ("llama/model", "1"), ("vit/model", "1")])
        os.rename(os.path.join(self.directory.name, "dumps/vit"), os.path.join(self.directory.name, "dumps/segformer"))
        status, out, err = self.audit("--baseline=known")  # nothing is known of another name
        self.assertEqual(status, 1)
        self.assertIn("segformer", out)
        self.assertEqual(len(re.findall(r"(?m)^ .* 1  (bert|llama)/model$", out)), 2)
        self.assertEqual(self.run_it("--only=ttnn.linear", "-q", "--output-dir=dumps", "dumps")[0], 1)
        before = self.files("dumps")
        self.assertEqual(self.run_it("--only=ttnn.linear", "-q", "--output-dir=dumps", "dumps")[0], 1)
        self.assertEqual(self.files("dumps"), before)  # our own reports are no input


class PassAuthor(Walk):
    """Where does the compiler lose this fusion, and what do I start from?"""

    def cast_before_the_add(self):
        """The compiler's pattern lets no cast stand there."""
        for level in ("ttir", "ttnn"):
            text = self.read("model.%s.mlir" % level)
            wide = [t.replace("bf16", "f32") for t in ("tensor<32x64xbf16>", "tensor<64xbf16>")]
            lines = ('    %%3 = "%s.typecast"(%%14) : (tensor<32x64xbf16>) -> %s loc("cast.3")\n'
                     '    %%4 = "%s.typecast"(%%b) : (tensor<64xbf16>) -> %s loc("cast.4")\n'
                     '    %%5 = "%s.add"(%%3, %%4) : (%s, %s) -> %s loc("add.174")\n'
                     '    %%17 = "%s.typecast"(%%5) : (%s) -> tensor<32x64xbf16> loc("cast.5")\n' % (
                         level, wide[0], level, wide[1], level, *wide, wide[0], level, wide[0]))
            self.write("model.%s.mlir" % level, re.sub(r" *%17 = .*\n", lambda m: lines, text))

    def test_a_pass_that_fires_on_the_small_module_has_no_test(self):
        self.compile(".")
        _, out, _ = self.run_it("repro", "--only=ttnn.linear", "-d", "repro", "model.ttir.mlir", "model.ttnn.mlir")
        self.assertEqual(out, "01-linear: fused; does not reproduce; audited alone: wait for ttir-fusing, which has yet to run\n")
        self.assertNotIn("repro/01-linear/test.mlir", self.files("repro"))

    def test_from_finding_to_test(self):
        self.compile(".")
        self.cast_before_the_add()
        pair = "model.ttir.mlir", "model.ttnn.mlir"
        status, out, _ = self.run_it("-q", "--classify", "--only=ttnn.linear", "-o", "-", *pair)
        self.assertEqual(status, 1)
        for text in ("pass_status: ", "owning_pass: ttir-fusing", "existing_pattern: MatmulWithBiasFusionPattern",
                     "source_file: lib/Dialect/TTIR/Transforms/TTIRFusing.cpp"):
            self.assertIn(text, out)
        status, out, _ = self.run_it("repro", "--only=ttnn.linear", "-d", "repro", *pair)
        self.assertEqual((status, re.sub(";.*", "", out)), (0, "01-linear: fused\n"))
        self.assertEqual(self.files("repro"), ["repro/01-linear/" + f for f in (
            "README.md", "fused.mlir", "test.mlir", "ttir.mlir", "ttnn.mlir")])
        self.assertEqual(self.run_it("verify", "repro/01-linear/ttir.mlir", "repro/01-linear/fused.mlir"), (0, "", ""))
        self.assertEqual(self.run_it("-n", "--ttir-only", "--only=ttnn.linear", "repro/01-linear/fused.mlir")[0], 0)
        self.write("repro/01-linear/fused.mlir", self.read("repro/01-linear/fused.mlir").replace("transpose_b = false", "transpose_b = true"))
        self.assertNotEqual(self.run_it("verify", "repro/01-linear/ttir.mlir", "repro/01-linear/fused.mlir")[0], 0)


class PatternAuthor(Walk):
    """Six patterns with the manual alone, wrong in 20 ways: each time the line, what is wrong and, mostly, the right word."""
    RIGHT = """\
name: my_linear
summary: matmul followed by a bias add; collapses to ttnn.linear.
fused_op: ttnn.linear
source: ttnn
match: |
  product = matmul(a, b)
  out = product + bias
where: row_vector(bias, product)
notes:
  - not(stored(bias)): "the bias is computed at run time ({bias})."
locate: [b, bias]
fused: linear(a, b, bias)
---
name: my_rms_norm
fused_op: ttnn.rms_norm
match: |
  ms = mean(square(x), dim=-1)
  out = x * rsqrt(ms + eps) * weight
where:
  - along_axis(weight, x, -1)
  - scalar(eps)
fused: rms_norm(x, weight, epsilon=eps)
---
name: my_silu
fused_op: ttnn.silu
match: out = x * sigmoid(x)
fused: silu(x)
---
name: my_rotation
fused_op: ttnn.rotary_embedding
match: |
  rot = slice(x, dim=-1, part=0, of=2)
  lo = slice(rot, dim=-1, part=0, of=2)
  hi = slice(rot, dim=-1, part=1, of=2)
  out = concat(rot * c + concat(-hi, lo) * s, slice(x, dim=-1, part=1, of=2))
---
name: my_softmax
fused_op: torch.softmax
match: |
  scaled = x * scale | x / scale
  out = softmax(scaled + mask, dim=-1) | softmax(scaled, dim=-1)
where: scalar(scale)
---
name: my_gelu
fused_op: ttnn.gelu
match: out = 0.5 * x * (1 + erf(x / sqrt(2)))
fused: gelu(x)
"""
    WRONG = [  # what is written in place of what; the line; what is said, the hint
        ("name: my_silu", "nam: my_silu", 24, "error: unknown key: nam", "did you mean name?"),
        ("fused_op: ttnn.silu", "fused_op: silu", 24, "error: the pattern lacks the key source", "one of ttnn, torch, triton, cuda"),
        ("source: ttnn", "source: ttn", 4, "error: unknown source: ttn", "one of ttnn, torch, triton, cuda"),
        ("fused_op: ttnn.linear", "fused_op: linear", 1, "warning: no op of TTNN, which `source` says has it: linear", ""),
        ("matmul(a, b)", "matmull(a, b)", 6, "error: no operator or idiom is called matmull", "did you mean matmul?"),
        ("matmul(a, b)", "matmul(a)", 6, "error: matmul takes a,b: 1 given", ""),
        ("+ bias\n", "+ bias)\n", 7, "error: end of line expected", "a new definition starts on a new line"),
        ("row_vector(bias, product)", "is_row(bias, product)", 8, "error: no condition is called is_row", "did you mean rowwise?"),
        ("row_vector(bias, product)", "row_vector(biass, product)", 8, "error: not a name of the formula", "did you mean bias?"),
        ("({bias})", "({bais})", 10, "warning: neither a name of the formula nor a number, printed as it is: {bais}", ""),
        ("locate: [b, bias]", "locate: [b, bais]", 11, "error: not a name of the formula: bais", ""),
        ("square(x), dim=-1", "square(x), dims=-1", 17, "error: the idiom has no such parameter", "mean(x, dim)"),
        ("square(x)", "squared(x)", 17, "error: no operator or idiom is called squared", "did you mean square?"),
        ("\n  - along_axis(weight, x, -1)\n  - scalar(eps)", " [along_axis(weight, x, -1), scalar(eps)]", 19, "error: ')' expected",
         "in [a, b] of YAML each comma ends an item"),
        ("sigmoid(x)\n", "sigmoid(x\n", 26, "error: ')' expected", ""),
        ("silu(x)", "silu(y)", 27, "warning: `fused` speaks of a name that the formula does not have: y", ""),
        ("lo = slice(", "lo = slice_static(", 33, "error: no operator or idiom is called slice_static", "write slice"),
        ("part=1, of=2)\n", "part=2, of=2)\n", 34, "error: there is no such part", "the first part is 0"),
        ("summary: matmul followed", "summary: matmul: followed", 2, "error: not YAML", "a text with ': ' in it has to be quoted"),
        ("scalar(scale)", "scalar(scale) &", 42, "error: an expression expected", ""),
        ("name: my_gelu", "name: my_silu", 44, "warning: replaces my_silu of p.yml:24", ""),
        ("fused: gelu(x)", "fused: geluu(x)", 47, "error: no operator or idiom is called geluu", "did you mean gelu?"),
    ]

    def test_right(self):
        self.write("p.yml", self.RIGHT)
        self.assertEqual(self.run_it("patterns", "check", "p.yml"), (0, "", ""))
        self.compile(".")
        self.assertEqual(self.run_it("-q", "-n", "-P", "p.yml", "--only=my_linear", "model.ttir.mlir", "model.ttnn.mlir")[0], 1)

    def test_wrong(self):
        self.assertGreaterEqual(len(self.WRONG), 20)
        for old, new, line, message, hint in self.WRONG:
            self.assertIn(old, self.RIGHT)
            self.write("p.yml", self.RIGHT.replace(old, new, 1))
            status, out, err = self.run_it("patterns", "check", "p.yml")
            self.assertEqual((status, out), (0 if message.startswith("warning") else 2, ""), (new, err))
            first, *rest = err.splitlines()
            self.assertRegex(first, r"^p\.yml:%d(:\d+)?: %s" % (line, re.escape(message)), (new, err))
            self.assertEqual("".join(rest)[:8], "  hint: " if hint else "", (new, err))
            self.assertIn(hint, "".join(rest), new)


class ManyInputs(Walk):
    """One call for everything that lies there: pairs, a log, a text, our own reports."""

    def test_all_of_a_folder(self):
        self.compile("in/a")
        self.compile("in/b", fused=True)
        self.write("in/run.log", linear_layer.log())
        status, out, err = self.run_it("--only=ttnn.linear", "--output-dir=out", "in")
        self.assertEqual((status, self.files("out")), (1, ["out/a/model.yml", "out/run.yml"]), err)
        self.assertEqual(self.run_it("summary", "out/a/model.yml", "out/run.yml"), (0, out, ""))
        self.write("in/notes.txt", "nothing to see\n")
        again = self.run_it("--only=ttnn.linear", "--output-dir=out", "in")
        self.assertEqual(again[:2], (status, out), again[2])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
