#!/usr/bin/env python3
"""What fused ops demand of their operands (patterns/fused_ops.yml) is said where it is not met, and only there.

usage: demands_test.py AUDITS SHORTHAND PATTERNS [unittest arguments]
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from audits import Audits
from load_yaml import load_yaml

AUDITS, SHORTHAND, PATTERNS = (os.path.abspath(a) for a in sys.argv[1:4])
from frontends_test import with_arguments  # takes these arguments away

LINEAR = "p = matmul x:4x32 W:32x64; o = add p B:64"
MATMUL = "m = multiply x:4x32 SCALE:32; o = matmul m W:32x64"
NORM = """mu = mean x:2x32x64 {dim_arg = [2]}; c = subtract x mu; q = multiply c c; v = mean q {dim_arg = [2]}
e = add v 1.0e-5:1; r = rsqrt e; n = multiply c r; w = multiply n W:64; o = add w B:64"""
RMS = """q = multiply x:4x64 x; v = mean q {dim_arg = [1]}; e = add v 1.0e-5:1; r = rsqrt e; n = multiply x r
o = multiply n W:64"""
GROUPS = """g = reshape x:2x16x8x8 -> 2x4x256; mu = mean g {dim_arg = [2]}; c = subtract g mu; q = multiply c c
v = mean q {dim_arg = [2]}; e = add v 1.0e-5:1; r = rsqrt e; n = multiply c r; t = reshape n -> 2x16x8x8
s = reshape W:16 -> 16x1x1; w = multiply t s"""
BATCH = "c = subtract x:2x8x4x4 MEAN:1x8x1x1; e = add VAR:1x8x1x1 1.0e-5:1; r = rsqrt e; o = multiply c r"
RESIDUAL = """s = add x:32x2048 r:32x2048
o = distributed_rms_norm s w:2048 {cluster_axis = 1 : ui32, epsilon = 1.0e-5 : f32,
  operandSegmentSizes = array<i32: 1, 1, 0>}"""
CONV = "c = conv2d x:1x8x8x4 W:6x4x1x1 -> 1x8x8x6; o = add c B:1x1x1x6"
ATTENTION = """s = matmul q:1x4x32x64 k:1x4x48x64 {transpose_b = true}; t = multiply s 0.125:1; m = add t mask:1x1x32x48
w = softmax m; o = matmul w v:1x4x48x64"""
SINK = """s = matmul q:1x4x32x64 k:1x4x48x64 {transpose_b = true}; b = broadcast SINK:1x4x1x1 -> 1x4x32x1
c = concat s b {dim = 3 : si32} -> 1x4x32x49; p = softmax c; w = slice p {begins = [0, 0, 0, 0], ends = [1, 4, 32, 48]}
o = matmul w v:1x4x48x64"""
ROTATED = """a = multiply x:1x4x32x64 c:1x1x32x64
h = slice x {begins = [0, 0, 0, 32], ends = [1, 4, 32, 64]}; n = neg h
l = slice x {begins = [0, 0, 0, 0], ends = [1, 4, 32, 32]}; r = concat n l {dim = 3 : si32} -> 1x4x32x64
b = multiply r s:1x1x32x64; o = add a b"""
HEADS = "p = permute x:2x4x8x32 {permutation = [0, 2, 1, 3]}; o = reshape p -> 2x8x128"
CACHE = "b = broadcast POS:1x1x1x1xsi32 -> 1x4x1x32xsi32; o = scatter cache:1x4x16x32 b u:1x4x1x32 {dim = 2}"
TYPES = "the fused op takes one element type: %x is .*f32, %.*bf16; a cast stays before it"

# the fused op, what its demand says, ops that meet it, and what of them becomes what where it is not met
CASES = (
    ("linear", TYPES, LINEAR, [("W:32x64", "W:32x64xbf16")]),
    ("linear", TYPES, LINEAR, [("B:64", "B:64xbf16 -> 4x64xbf16")]),
    ("matmul", TYPES, MATMUL, [("W:32x64", "W:32x64xbf16")]),
    ("layer_norm", TYPES, NORM, [("W:64", "W:64xbf16 -> 2x32x64xbf16"), ("B:64", "B:64 -> 2x32x64xbf16")]),
    ("layer_norm", "weight and bias of rank 1; %B is 1x1x64xf32 and is reshaped", NORM, [("B:64", "B:1x1x64")]),
    ("rms_norm", TYPES, RMS, [("W:64", "W:64xbf16 -> 4x64xbf16")]),
    ("rms_norm", "weight and bias of rank 1; %W is 1x64xf32", RMS, [("W:64", "W:1x64")]),
    ("group_norm", "weight and bias of rank 1; %W is 1x16xf32", GROUPS, [("reshape W:16", "reshape W:1x16")]),
    ("batch_norm_inference", TYPES, BATCH,
     [("MEAN:1x8x1x1", "MEAN:1x8x1x1xbf16 -> 2x8x4x4xbf16"), ("c r", "c r -> 2x8x4x4xbf16")]),
    ("batch_norm_inference", "channels in axis 1", BATCH, [("8x4x4", "4x4x8"), ("1x8x1x1", "1x1x1x8")]),
    ("batch_norm_inference", "N x C x H x W; %o is 2x8x4xf32", BATCH, [("2x8x4x4", "2x8x4"), ("1x8x1x1", "1x8x1")]),
    ("distributed_rms_norm", TYPES, RESIDUAL, [("r:32x2048", "r:32x2048xbf16 -> 32x2048")]),
    ("conv2d", TYPES, CONV, [("W:6x4x1x1", "W:6x4x1x1xbf16")]),
    ("conv2d", "its bias with the rank of its result", CONV, [("B:1x1x1x6", "B:6")]),
    ("scaled_dot_product_attention", "takes tensors of rank 4; %q, the keys", ATTENTION,
     [("1x4x", "4x"), ("1x1x32x48", "1x32x48")]),
    ("scaled_dot_product_attention", "q, k and v of one element type", ATTENTION,
     [("v:1x4x48x64", "v:1x4x48x64xbf16 -> 1x4x32x64xbf16")]),
    ("scaled_dot_product_attention", "a number for each key, and %mask is 32x48xf32", ATTENTION,
     [("mask:1x1x32", "mask:32")]),
    ("scaled_dot_product_attention", "a number for each key, and %mask is 1x1x32x1xf32", ATTENTION,
     [("mask:1x1x32x48", "mask:1x1x32x1")]),
    ("scaled_dot_product_attention", "attention_sink as", SINK, [("SINK:1x4x1x1", "SINK:4x1x1")]),
    ("scaled_dot_product_attention", "the fused op needs a permute of k", ATTENTION,
     [("k:1x4x48x64 {transpose_b = true}", "k:1x4x64x48")]),
    ("rotary_embedding", TYPES, ROTATED,
     [("c:1x1x32x64", "c:1x1x32x64xbf16 -> 1x4x32x64xbf16"), ("a b", "a b -> 1x4x32x64xbf16")]),
    ("rotary_embedding", "rank 4; %c is 32x64xf32 and is reshaped", ROTATED, [("c:1x1x32x64", "c:32x64")]),
    ("concatenate_heads", "a reshape to rank 2 stays", HEADS, [("2x8x128", "16x128")]),
    ("concatenate_heads", "a batch of one before them", HEADS,
     [("2x4x8x32 {permutation = [0, 2, 1, 3]}", "4x8x32 {permutation = [1, 0, 2]}"),
      ("2x8x128", "8x128")]),
    ("update_cache", "a permute of %u stands before it", CACHE,
     [("-> 1x4x", "-> 2x4x"), ("cache:1", "cache:2"), ("u:1", "u:2")]),
)


class Demands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.audits = Audits(AUDITS)

    @classmethod
    def tearDownClass(cls):
        cls.audits.close()

    def found(self, ops):
        with tempfile.TemporaryDirectory() as directory:
            text = "f ttir\n%s----\n" % with_arguments(ops)
            subprocess.run([SHORTHAND, directory], input=text, text=True, check=True)
            status, said, report = self.audits.audit("ttir", os.path.join(directory, "f.ttir.mlir"))
        self.assertEqual(said, [], ops)
        return {e["fused_op"]: e["instances"][0]["notes"] for e in report or []}

    def test_said_where_they_are_not_met(self):
        said = ""
        for op, demand, met, changes in CASES:
            unmet = met
            for old, new in changes:
                self.assertIn(old, unmet)
                unmet = unmet.replace(old, new)
            with self.subTest(op=op, ops=unmet):
                self.assertNotRegex(self.found(met).get("ttnn." + op, demand), demand)
                notes = self.found(unmet).get("ttnn." + op, "")
                self.assertRegex(notes, demand)
                said += notes
        with open(os.path.join(PATTERNS, "fused_ops.yml")) as f:
            for demand in load_yaml(f)["demands"]:
                if not demand.get("theoretical"):
                    self.assertRegex(said, ".*".join(map(re.escape, re.split("{[^}]*}", demand["say"]))))

    def test_an_op_that_is_there_has_its_operands(self):
        notes = self.found("""s = multiply x:1x32x256 0.125:1; r = reshape s -> 1x32x4x64
            q = permute r {permutation = [0, 2, 1, 3]}
            o = scaled_dot_product_attention q k:1x4x32x64 v:1x4x32x64 {is_causal = false, scale = 1.0 : f32,
              operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}""")["ttnn.scaled_dot_product_attention"]
        self.assertNotRegex(notes, "reshaped|permute")

    def test_theoretical_where_nothing_helps(self):
        self.assertIn("ttnn.scaled_dot_product_attention", self.found(ATTENTION))
        found = self.found(ATTENTION.replace("v:1x4x48x64", "v:1x4x48x96"))
        self.assertEqual(list(found), ["torch.scaled_dot_product_attention"])
        self.assertIn("those of v 96, and the TTNN op wants them equal", found["torch.scaled_dot_product_attention"])


if __name__ == "__main__":
    unittest.main()
