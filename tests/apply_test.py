#!/usr/bin/env python3
"""`fusion-audit apply`: fused ops written into TTIR, and what has to be left as it is.

usage: apply_test.py PROGRAM [unittest arguments]
"""
import os
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


class Apply(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
