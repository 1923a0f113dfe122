#!/usr/bin/env python3
"""A run of fuzz/compiler.py as a whole, through compilers that are scripts: one that is right, one that makes another op
of exp, one that crashes, one that refuses exp with fusing on. No real compiler is needed; fuzz_compiler_test.py runs that one.

usage: fuzz_run_test.py PROGRAM AGREE SOURCE
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, AGREE, PROGRAM = (os.path.abspath(sys.argv.pop()) for _ in range(3))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "fuzz"))
import compiler as fuzz

# TTNN of a function of elementwise ops is its text with other names. It writes down what it is asked to take.
COMPILER = r"""#!%(python)s -IS
import os, re, sys
args = sys.argv[1:]
out, given = args[-1], sys.stdin.read() if "-" in args[:-2] else open(args[-3]).read()
def lowered(text):
    if %(crash)r and '"ttir.exp"' in text:
        os.kill(os.getpid(), 6)
    if %(refuse)r in " ".join(args) and '"ttir.exp"' in text:
        return None
    return text.replace('"ttir.exp"', '"ttir.%(exp)s"').replace('"ttir.div"', '"ttir.divide"').replace('"ttir.', '"ttnn.')
pipeline = any(a.startswith("--ttir-to-ttnn") for a in args)
if "--split-input-file" in args:
    if "@f0" in given and not pipeline:
        open(os.path.join(os.path.dirname(sys.argv[0]), "log"), "a").write(given)
    parts = [lowered(x) if pipeline else x for x in given.split("// -----\n")]
    text = "// -----\n".join(x for x in parts if x)
else:
    text = lowered(given)
    if text is None:
        sys.exit("m.mlir:3:1: error: 'ttnn.exp' op of 4x8 is bad")
if "--mlir-print-ir-after-all" in args:
    for when, module in ("Before", given), ("After", text):
        sys.stderr.write("// -----// IR Dump %%s ConvertTTIRToTTNN (convert-ttir-to-ttnn) //----- //\n%%s" %% (when, module))
(sys.stdout if out == "-" else open(out, "w")).write(text)
"""
# An audit finds nothing; the compiler is judged by `verify`, or by what is said to be its answer.
PROGRAM_OF = """#!/bin/sh
case "$*" in
verify*) %(verify)s ;;
*renamed*) echo '{"missed_fusions": []}' ;;
*) echo '{"missed_fusions": %(found)s}' ;;
esac
"""
EXAMPLES = """#!/bin/sh
cat <<'END'
func.func @a(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.multiply"(%x, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.exp"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.add"(%1, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
// -----
func.func @b(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.sigmoid"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.multiply"(%0, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
END
"""


class Kinds(unittest.TestCase):
    def test_a_difference_is_known(self):
        known = ("TTIRFusing", "ttir.topk", ("ttir.slice_static", "ttir.sort"))
        sort, softmax = '= "ttir.sort"(%x) = "ttir.slice_static"(%i)', '= "tt%s.softmax"(%s)'
        check = {"kind": "wrong_fusion", "pass": "TTIRFusing", "fused_op": "ttir.softmax", "before": sort + softmax % ("ir", "%s"),
                 "after": '= "ttir.topk"(%x)' + softmax % ("ir", "%i")}
        self.assertTrue(fuzz.is_like(fuzz.kind_of(check), known), "told of what uses the op")
        lowered = {"kind": "wrong_fusion", "fused_op": "ttnn.softmax", "before": check["before"],
                   "after": '= "ttnn.topk"(%x) = "ttnn.typecast"(%i)' + softmax % ("nn", "%c")}
        self.assertTrue(fuzz.is_like(fuzz.kind_of(lowered), known), "told of both ends of the pipeline")
        self.assertFalse(fuzz.is_like(fuzz.kind_of({**check, "pass": "TTNNFusing"}), known))
        self.assertFalse(fuzz.is_like(fuzz.kind_of({**check, "before": check["before"].replace("sort", "abs")}), known))


class Run(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = directory.name
        self.write("examples", EXAMPLES)
        os.symlink(AGREE, self.path("agree"))
        os.mkdir(self.path("known"))
        os.mkdir(self.path("temporary"))

    def path(self, *name):
        return os.path.join(self.dir, *name)

    def write(self, name, text):
        with open(self.path("new"), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.path("new"), 0o755)
        os.replace(self.path("new"), self.path(name))  # what was started may still run

    def run_it(self, *options, exp="exp", crash=False, refuse="never", known="known", found="[]", verify=None):
        self.write("program", PROGRAM_OF % {"verify": verify or 'exec "%s" "$@"' % PROGRAM, "found": found})
        self.write("opt", COMPILER % {"python": sys.executable, "exp": exp, "crash": crash, "refuse": refuse})
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "fuzz", "compiler.py"), "--known=" + self.path(known),
                               "--corpus=" + self.path("kept"), *options, self.path("program"), self.dir, self.path("opt")],
                              capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": self.path("temporary")})
        self.assertEqual(os.listdir(self.path("temporary")), [])
        counts = re.search(r"functions made (\d+), .* kinds of difference (\d+), new (\d+); .*violations of our own (\d+)$",
                           done.stdout)
        self.assertTrue(counts, done.stdout + done.stderr)
        return done, tuple(int(n) for n in counts.groups())

    def functions(self, *options):
        """Those of one batch."""
        self.run_it("--count=50", *options)
        with open(self.path("log"), encoding="utf-8") as f:
            text = f.read()
        os.remove(self.path("log"))
        return text

    def kept(self):
        files = {}
        for name in os.listdir(self.path("kept")):
            with open(self.path("kept", name), encoding="utf-8") as f:
                files[name] = f.read()
        return files

    def test_a_right_compiler(self):
        done, counts = self.run_it("--count=50")
        self.assertEqual((done.returncode, counts), (0, (50, 0, 0, 0)), done.stdout)
        self.assertEqual(self.kept(), {"state-1": "1\n"})

    def test_a_wrong_compiler_is_found_and_kept(self):
        """Told once, as small as it gets; where the case is known, it is none that is new."""
        done, counts = self.run_it("--count=50", exp="neg")
        self.assertEqual((done.returncode, counts), (1, (50, 1, 1, 0)), done.stdout)
        self.assertRegex(done.stdout, "evaluated in full, of these different [1-9][0-9]*, the same 0, ")
        name = "ConvertTTIRToTTNN-ttnn-neg-1.mlir"
        kept = self.kept()
        self.assertEqual(sorted(kept), [name, "state-1"])
        self.assertIn("\n%s\n%s" % (name, kept[name]), done.stdout)
        self.assertRegex(kept[name], r"\A// pass: ConvertTTIRToTTNN\n// makes: ttnn.neg\n// of: ttir.exp\n// options: enable-fus")
        self.assertEqual(re.findall(r'"(ttir\.\w+)"', kept[name]), ["ttir.exp"])
        os.rename(self.path("kept"), self.path("found"))
        os.remove(self.path("found", "state-1"))
        done, counts = self.run_it("--count=50", exp="neg", known="found")
        self.assertEqual((done.returncode, counts), (0, (50, 1, 0, 0)), done.stdout)
        self.assertEqual(sorted(self.kept()), ["state-1"])
        done, counts = self.run_it("--count=50", "--seed=2", exp="abs", known="found")
        self.assertEqual((done.returncode, counts[2] > 0), (1, True), "what it makes is another op")

    def test_what_differs_is_evaluated_in_full(self):
        """A difference that the evaluation does not show is one that `verify` alone sees."""
        check = '{"kind": "wrong_lowering", "fused_op": "ttnn.exp", "before": "loc(\\"f0:\\")"}'
        said = 'echo \'{"checks": [%s]}\'' % check
        done, counts = self.run_it("--count=50", "--seed=2", verify=said)
        self.assertEqual((done.returncode, counts[3]), (1, 1), done.stdout)
        self.assertIn("ours: verify: wrong_lowering makes ttnn.exp, which is the same in full\n", done.stdout)

    def test_a_wrong_program_is_found_and_kept(self):
        """What it finds depends on names."""
        found = '[{"fused_op": "ttnn.x", "instances": [{"pattern": "x", "notes": ""}]}]'
        done, counts = self.run_it("--count=50", found=found)
        self.assertEqual((done.returncode, counts), (1, (50, 0, 0, 1)), done.stdout)
        kept = self.kept()
        self.assertEqual(sorted(kept), ["ours-0.mlir", "state-1"])
        self.assertTrue(kept["ours-0.mlir"].startswith("// audit: other findings after renaming: {'ttnn.x': 1}\n"))

    def test_a_compiler_that_crashes(self):
        done, counts = self.run_it("--count=50", crash=True)
        self.assertEqual((done.returncode, counts[1:]), (1, (1, 1, 0)), done.stdout)
        self.assertIn("// pass: crash\n// makes: crash: status -6\n", done.stdout)

    def test_a_compiler_that_refuses_what_it_takes_with_fusing_off(self):
        done, counts = self.run_it("--count=50", refuse="enable-fusing-pass=true")
        self.assertEqual((done.returncode, counts[1:]), (1, (1, 1, 0)), done.stdout)
        self.assertIn("// pass: crash\n// makes: refused: 'ttnn.exp' op of NxN is bad\n// of: ttir.exp\n", done.stdout)
        with open(self.path("known", "exp.mlir"), "w", encoding="utf-8") as f:
            f.write("// pass: crash\n// makes: refused: 'ttnn.exp' op *\n")
        done, counts = self.run_it("--count=50", "--seed=2", refuse="enable-fusing-pass=true")
        self.assertEqual((done.returncode, counts[2]), (0, 0), "known by how its message begins")
        done, counts = self.run_it("--count=50", refuse="enable-fusing-pass=")
        self.assertEqual((done.returncode, counts[1:]), (0, (0, 0, 0)), "what is refused in any case is no defect")

    def test_a_run_goes_on_where_the_last_one_ended(self):
        made = []
        for seed, batches in (("1", "1"), ("1", "2"), ("2", "1")):
            made.append(self.functions("--seed=" + seed))
            self.assertEqual(self.kept()["state-" + seed], batches + "\n")
        self.assertEqual(len(set(made)), 3, "other functions each time")
        os.remove(self.path("kept", "state-1"))
        self.assertEqual(self.functions("--seed=1"), made[0], "the same ones from the begin")

    def test_a_run_ends_in_time(self):
        done, counts = self.run_it("--count=5000", "--time=0")
        self.assertEqual((done.returncode, counts), (0, (50, 0, 0, 0)), done.stdout)
        self.assertEqual(self.kept(), {"state-1": "1\n"}, "what was begun and not counted is done again")
        done, counts = self.run_it("--count=50", "--time=1000")
        self.assertEqual((counts[0], self.kept()), (50, {"state-1": "2\n"}))


if __name__ == "__main__":
    unittest.main()
