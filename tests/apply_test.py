#!/usr/bin/env python3
"""`fusion-audit apply`: fused ops written into TTIR, and what has to be left as it is; `fusion-audit repro`.

usage: apply_test.py PROGRAM [unittest arguments]
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""

LINEAR = """\
// written by hand
module {
  func.func @main(%x: tensor<2x32x64xbf16>, %w: tensor<64x128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}, \
%b: tensor<128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<2x32x128xbf16> {
    // the product
    %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<2x32x64xbf16>, \
tensor<64x128xbf16>) -> tensor<2x32x128xbf16> loc(#loc1)
    %1 = "ttir.reshape"(%b) <{shape = [1 : i32, 1 : i32, 128 : i32]}> : (tensor<128xbf16>) -> tensor<1x1x128xbf16> loc(#loc2)
    %2 = "ttir.add"(%0, %1) : (tensor<2x32x128xbf16>, tensor<1x1x128xbf16>) -> tensor<2x32x128xbf16> loc(#loc3)
    return %2 : tensor<2x32x128xbf16>
  }
}
#loc1 = loc("dot.1")
#loc2 = loc("b.1")
#loc3 = loc("add.2")
"""
LINEAR_APPLIED = """\
// written by hand
module {
  func.func @main(%x: tensor<2x32x64xbf16>, %w: tensor<64x128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}, \
%b: tensor<128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<2x32x128xbf16> {
    // the product
    %2 = "ttir.linear"(%x, %w, %b) <{transpose_a = false, transpose_b = false}> : (tensor<2x32x64xbf16>, \
tensor<64x128xbf16>, tensor<128xbf16>) -> tensor<2x32x128xbf16> loc(#loc_fused0)
    return %2 : tensor<2x32x128xbf16>
  }
}
#loc1 = loc("dot.1")
#loc2 = loc("b.1")
#loc3 = loc("add.2")
#loc_fused0 = loc(fused[#loc3, #loc1])
"""

NORM = """\
func.func @main(%x: tensor<8x64xbf16>, %eps: tensor<8x1xbf16>, %w: tensor<64xbf16>) -> tensor<8x64xbf16> {
  %0 = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x64xbf16>) -> tensor<8x1xbf16>
  %1 = "ttir.subtract"(%x, %0) : (tensor<8x64xbf16>, tensor<8x1xbf16>) -> tensor<8x64xbf16>
  %2 = "ttir.multiply"(%1, %1) : (tensor<8x64xbf16>, tensor<8x64xbf16>) -> tensor<8x64xbf16>
  %3 = "ttir.mean"(%2) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<8x64xbf16>) -> tensor<8x1xbf16>
  %4 = "ttir.add"(%3, %eps) : (tensor<8x1xbf16>, tensor<8x1xbf16>) -> tensor<8x1xbf16>
  %5 = "ttir.rsqrt"(%4) : (tensor<8x1xbf16>) -> tensor<8x1xbf16>
  %6 = "ttir.multiply"(%1, %5) : (tensor<8x64xbf16>, tensor<8x1xbf16>) -> tensor<8x64xbf16>
  %7 = "ttir.multiply"(%6, %w) : (tensor<8x64xbf16>, tensor<64xbf16>) -> tensor<8x64xbf16>
  return %7 : tensor<8x64xbf16>
}
"""
NORM_OP = ('%7 = "ttir.layer_norm"(%x, %w) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 64>, '
           'operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x64xbf16>, tensor<64xbf16>) -> tensor<8x64xbf16>')

MASK = '"ttir.reshape"(%m) <{shape = [1 : i32, 1 : i32, 32 : i32, 32 : i32]}> : (tensor<32x32xbf16>)'
ATTENTION = """\
func.func @main(%q: tensor<1x4x32x16xbf16>, %k: tensor<1x4x32x16xbf16>, %v: tensor<1x4x32x16xbf16>, %m: tensor<32x32xbf16>) -> tensor<1x4x32x16xbf16> {
  %0 = "ttir.permute"(%k) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<1x4x32x16xbf16>) -> tensor<1x4x16x32xbf16>
  %1 = "ttir.matmul"(%q, %0) <{transpose_a = false, transpose_b = false}> : (tensor<1x4x32x16xbf16>, tensor<1x4x16x32xbf16>) -> tensor<1x4x32x32xbf16>
  %2 = "ttir.full"() <{fill_value = 2.500000e-01 : f32, shape = array<i32: 1>}> : () -> tensor<1xbf16>
  %3 = "ttir.multiply"(%1, %2) : (tensor<1x4x32x32xbf16>, tensor<1xbf16>) -> tensor<1x4x32x32xbf16>
  %4 = "ttir.add"(%3, %m) : (tensor<1x4x32x32xbf16>, tensor<32x32xbf16>) -> tensor<1x4x32x32xbf16>
  %5 = "ttir.softmax"(%4) <{dimension = -1 : si32, numericStable = true}> : (tensor<1x4x32x32xbf16>) -> tensor<1x4x32x32xbf16>
  %6 = "ttir.matmul"(%5, %v) <{transpose_a = false, transpose_b = false}> : (tensor<1x4x32x32xbf16>, tensor<1x4x32x16xbf16>) -> tensor<1x4x32x16xbf16>
  return %6 : tensor<1x4x32x16xbf16>
}
"""


# Rows that are masked whole give 0, where the fused op gives no number.
GUARDED = ATTENTION.replace('  %6 = "ttir.matmul"(%5, %v)', """\
  %7 = "ttir.full"() <{fill_value = 0xFF800000 : f32, shape = array<i32: 1>}> : () -> tensor<1xbf16>
  %8 = "ttir.eq"(%4, %7) : (tensor<1x4x32x32xbf16>, tensor<1xbf16>) -> tensor<1x4x32x32xi1>
  %9 = "ttir.reduce_and"(%8) <{dim_arg = [3 : i32], keep_dim = true}> : (tensor<1x4x32x32xi1>) -> tensor<1x4x32x1xi1>
  %10 = "ttir.full"() <{fill_value = 0.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xbf16>
  %11 = "ttir.where"(%9, %10, %5) : (tensor<1x4x32x1xi1>, tensor<1xbf16>, tensor<1x4x32x32xbf16>) -> tensor<1x4x32x32xbf16>
  %6 = "ttir.matmul"(%11, %v)""")


class Program(unittest.TestCase):
    def run_program(self, text, *options, command="apply"):
        path = os.path.join(self.dir, "m.mlir")
        with open(path, "w") as f:
            f.write(text)
        return subprocess.run([PROGRAM, command, *options, path], cwd=self.dir, capture_output=True, text=True)

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.dir = self.directory.name

    def tearDown(self):
        self.directory.cleanup()


class Apply(Program):
    def applied(self, text, *options):
        r = self.run_program(text, *options)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def test_a_linear_replaces_its_ops_and_no_other_byte(self):
        self.assertEqual(self.applied(LINEAR), LINEAR_APPLIED)

    def test_what_is_applied_stays_as_it_is(self):
        self.assertEqual(self.applied(LINEAR_APPLIED), LINEAR_APPLIED)

    def test_an_audit_of_the_result_is_silent(self):
        with open(os.path.join(self.dir, "m.mlir"), "w") as f:
            f.write(LINEAR_APPLIED)
        r = subprocess.run([PROGRAM, "--ttir-only", "-o", "-", "m.mlir"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual((r.returncode, r.stdout), (0, ""), r.stderr)

    def test_a_diff_gives_the_same_text(self):
        diff = self.applied(LINEAR, "--diff")
        subprocess.run(["patch", "-s", "m.mlir"], input=diff, text=True, cwd=self.dir, check=True)
        with open(os.path.join(self.dir, "m.mlir")) as f:
            self.assertEqual(f.read(), LINEAR_APPLIED)

    def test_an_op_that_others_use_stays(self):
        text = LINEAR.replace("    return %2 : tensor<2x32x128xbf16>",
                              '    %3 = "ttir.exp"(%1) : (tensor<1x1x128xbf16>) -> tensor<1x1x128xbf16>\n'
                              '    return %2, %3 : tensor<2x32x128xbf16>, tensor<1x1x128xbf16>')
        text = text.replace("-> tensor<2x32x128xbf16> {", "-> (tensor<2x32x128xbf16>, tensor<1x1x128xbf16>) {")
        result = self.applied(text)
        self.assertIn('%1 = "ttir.reshape"', result)
        self.assertIn('"ttir.linear"(%x, %w, %b)', result)

    def test_an_epsilon_that_is_an_argument_needs_a_number(self):
        self.assertEqual(self.applied(NORM), NORM)
        self.assertEqual(self.applied(NORM, "--assume=all"), NORM)
        self.assertEqual(self.applied(NORM, "--value=eps=1e-05"), NORM)
        self.assertIn(NORM_OP, self.applied(NORM, "--assume=layer_norm", "--value=eps=1e-05"))
        r = self.run_program(NORM, "--assume=all")
        self.assertIn("has to be known", r.stderr)

    def test_attention_takes_the_scale_and_a_mask_of_rank_4(self):
        result = self.applied(ATTENTION)
        self.assertIn(MASK, result)
        self.assertIn("is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 2.5e-01 : f32", result)
        self.assertNotIn("softmax", result)
        self.assertNotIn("permute", result)

    def test_nothing_to_apply_gives_the_input(self):
        text = LINEAR.replace("ttir.add", "ttir.maximum")
        self.assertEqual(self.applied(text), text)

    def test_only_and_at_choose(self):
        self.assertEqual(self.applied(LINEAR, "--only=softmax"), LINEAR)
        self.assertEqual(self.applied(LINEAR, "--at=%2"), LINEAR_APPLIED)
        self.assertEqual(self.run_program(LINEAR, "--at=%99").returncode, 3)

    def test_wrong_usage_and_what_cannot_be_read_write_nothing(self):
        out = os.path.join(self.dir, "out.mlir")
        self.assertEqual(self.run_program(LINEAR, "--value=eps", "-o", out).returncode, 2)
        self.assertEqual(self.run_program(LINEAR, "-o", os.path.join(self.dir, "m.mlir")).returncode, 2)
        broken = LINEAR.replace('%1 = "ttir.reshape"(%b)', '%1 = "ttir.reshape"(%nowhere)')
        self.assertEqual(self.run_program(broken, "-o", out).returncode, 3)
        self.assertFalse(os.path.exists(out))

    def test_what_is_written_and_not_proved_is_refused(self):
        out = os.path.join(self.dir, "out.mlir")
        r = self.run_program(GUARDED, "--assume=all", "-o", out)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertRegex(r.stderr, r"error: ttnn\.scaled_dot_product_attention \(\w+\) is refused: ")
        self.assertFalse(os.path.exists(out))
        self.assertEqual(self.applied(GUARDED, "--assume=all", "--partial"), GUARDED)


class Repro(Program):
    def repro(self, text, *options):
        r = self.run_program(text, "--ttir-only", "-d", "r", *options, command="repro")
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def read(self, name):
        with open(os.path.join(self.dir, "r", name)) as f:
            return f.read()

    def checks(self, module, test):
        """Whether FileCheck is content; None: it is not here."""
        tool = next(iter(sorted(glob.glob("/usr/lib/llvm*/bin/FileCheck"))), None)
        if not tool:
            return None
        with open(os.path.join(self.dir, module)) as f:
            return subprocess.run([tool, test], stdin=f, cwd=self.dir, capture_output=True).returncode == 0

    def test_a_finding_is_a_folder_of_modules(self):
        self.assertEqual(self.repro(LINEAR), "01-linear: fused\n")
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, "r", "01-linear"))),
                         ["README.md", "fused.mlir", "test.mlir", "ttir.mlir"])
        self.assertEqual(self.read("01-linear/ttir.mlir").count("loc("), 6)
        self.assertIn("%b: tensor<128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}",
                      self.read("01-linear/ttir.mlir"))
        self.assertIn('"ttir.linear"(%x, %w, %b)', self.read("01-linear/fused.mlir"))
        self.assertLessEqual(self.read("01-linear/README.md").count("\n"), 12)

    def test_the_test_fails_before_and_passes_behind(self):
        self.repro(LINEAR)
        test = self.read("01-linear/test.mlir")
        self.assertTrue(test.startswith("// RUN: ttmlir-opt --ttir-fusing %s | FileCheck %s\n"))
        self.assertIn('// CHECK-NOT: "ttir.add"(\n// CHECK: "ttir.linear"({{.*}}-> tensor<2x32x128xbf16>\n', test)
        self.assertIn(self.read("01-linear/ttir.mlir"), test)
        self.assertIn(self.checks("r/01-linear/ttir.mlir", "r/01-linear/test.mlir"), (False, None))
        self.assertIn(self.checks("r/01-linear/fused.mlir", "r/01-linear/test.mlir"), (True, None))

    def test_only_what_is_needed_comes_along(self):
        others = LINEAR.replace("    return %2", '    %3 = "ttir.cumsum"(%2) <{dim = 0 : i64}> : (tensor<2x32x128xbf16>) -> '
                                'tensor<2x32x128xbf16> loc(#loc4)\n    return %3') + '#loc4 = loc("scan.4")\n'
        self.repro(others)
        self.assertNotIn("scan", self.read("01-linear/ttir.mlir"))
        self.repro(ATTENTION, "--force")
        self.assertIn("fill_value = 2.500000e-01", self.read("01-attention/ttir.mlir"))

    def test_small_shapes_keep_relations_and_locations(self):
        self.assertEqual(self.repro(LINEAR, "--shrink"), "01-linear: fused\n")
        text = self.read("01-linear/ttir.mlir")
        sizes = [int(d) for d in re.findall(r"\d+(?=x)", ";".join(re.findall(r"tensor<([^>]*)>", text)))]
        self.assertLess(max(sizes), 32)
        self.assertIn('#loc1 = loc("dot.1")', text)
        self.repro(ATTENTION, "--shrink", "--force")
        self.assertIn("ttir.full", self.read("01-attention/ttir.mlir"))
        self.assertNotIn("f64", self.read("01-attention/ttir.mlir"))

    def test_alike_places_are_one_folder(self):
        twice = LINEAR.replace("    return %2 : tensor<2x32x128xbf16>", """\
    %3 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<2x32x64xbf16>, \
tensor<64x128xbf16>) -> tensor<2x32x128xbf16> loc(#loc1)
    %4 = "ttir.reshape"(%b) <{shape = [1 : i32, 1 : i32, 128 : i32]}> : (tensor<128xbf16>) -> tensor<1x1x128xbf16> loc(#loc2)
    %5 = "ttir.add"(%3, %4) : (tensor<2x32x128xbf16>, tensor<1x1x128xbf16>) -> tensor<2x32x128xbf16> loc(#loc3)
    return %2, %5 : tensor<2x32x128xbf16>, tensor<2x32x128xbf16>""")
        twice = twice.replace("-> tensor<2x32x128xbf16> {", "-> (tensor<2x32x128xbf16>, tensor<2x32x128xbf16>) {")
        self.assertEqual(self.repro(twice), "01-linear: fused\n")

    def test_why_there_is_no_fused_module(self):
        self.assertEqual(self.repro(NORM), "01-layer_norm: not fused: the number that eps is has to be known\n")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "r", "01-layer_norm", "test.mlir")))
        self.assertEqual(self.repro(NORM, "--force", "--value=eps=1e-05"), "01-layer_norm: fused\n")

    def test_a_folder_with_something_in_it_is_refused(self):
        self.repro(LINEAR)
        self.assertEqual(self.run_program(LINEAR, "--ttir-only", "-d", "r", command="repro").returncode, 3)
        self.assertEqual(self.repro(LINEAR, "--force"), "01-linear: fused\n")
        self.assertEqual(self.run_program(LINEAR, "--ttir-only", command="repro").returncode, 2)


if __name__ == "__main__":
    unittest.main()
