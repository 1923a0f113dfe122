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
from shorthand_functions import with_arguments

AUDITS, SHORTHAND, PATTERNS = (os.path.abspath(a) for a in sys.argv[1:4])
del sys.argv[1:4]

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
SPLIT = """a = matmul x:1x8x64 WQ:64x128; i = reshape a -> 1x8x4x32; q = permute i {permutation = [0, 2, 1, 3]}
b = matmul x WK:64x128; j = reshape b -> 1x8x4x32; k = permute j {permutation = [0, 2, 1, 3]}
c = matmul x WV:64x128; l = reshape c -> 1x8x4x32; v = permute l {permutation = [0, 2, 1, 3]}"""
DECODED = """a = slice y:1x1x32x192 {begins = [0, 0, 0, 0], ends = [1, 1, 32, 64]}; q = reshape a -> 1x32x2x32
b = slice y {begins = [0, 0, 0, 64], ends = [1, 1, 32, 128]}; k = reshape b -> 1x32x2x32
c = slice y {begins = [0, 0, 0, 128], ends = [1, 1, 32, 192]}; v = reshape c -> 1x32x2x32"""
MERGED = "p = permute x:1x32x4x32 {permutation = [0, 1, 2, 3]}; o = reshape p -> 1x1x32x128"
CACHE = """r = reshape POS:1xsi32 -> 1x1x1x1xsi32; b = broadcast r -> 1x4x1x32xsi32
o = scatter cache:1x4x16x32 b u:1x4x1x32 {dim = 2}"""
SLOT = "b = broadcast slot:1x1x1x1xsi32 -> 1x2x32x8xsi32; o = scatter cache:6x2x32x8 b u:1x2x32x8 {dim = 0}"
SIGMOID = "n = neg x:4x64; e = exp n; d = add e 1.0:1; o = reciprocal d"
CHANNELS_LAST = """g = reshape x:2x1x64x16 -> 2x64x4x4; mu = mean g {dim_arg = [1, 3]}; c = subtract g mu
q = multiply c c; v = mean q {dim_arg = [1, 3]}; e = add v 1.0e-5:1; r = rsqrt e; n = multiply c r
t = reshape n -> 2x1x64x16; w = multiply t W:16"""
POOL = """p = pad x:1x8x8x16 {padding = [0, 0, 1, 1, 1, 1, 0, 0], value = 0xFF800000} -> 1x10x10x16
r = typecast p; o = max_pool2d r {kernel = [3, 3], stride = [2, 2]} -> 1x4x4x16"""
LOWERED = """batch_size = 1, input_height = 10, input_width = 10, channels = 16, kernel_size = [3, 3], stride = [2, 2],
  padding = [0, 0]} -> 1x1x16x16"""
EMBEDDING = """r = reshape ids:2x8xi32 -> 2x8x1xi32
i = arange {start = 0 : si64, end = 64 : si64, step = 1 : si64, arange_dimension = 2 : i64} -> 1x1x64xi32
h = eq r i -> 2x8x64xbf16; o = matmul h TABLE:64x32xbf16"""
PIXELS = "a = reshape x:1x6x8x4 -> 1x6x1x8x1x4; b = broadcast a -> 1x6x2x8x2x4; o = reshape b -> 1x12x16x4"
PRODUCTS = """i = arange {start = 0 : i64, end = 8 : i64, step = 1 : i64} -> 8xf32
h = multiply i 0.5; f = floor h; c = reshape f -> 1x8; l = arange {start = 0 : i64, end = 4 : i64, step = 1 : i64} -> 4xf32
r = reshape l -> 4x1; u = eq c r -> 4x8xf32; a = reshape x:1x5x4x4xf32 -> 20x4; p = matmul a u
b = reshape p -> 1x5x4x8; t = permute b {permutation = [0, 1, 3, 2]} -> 1x5x8x4
d = reshape t -> 40x4; q = matmul d u; y = reshape q -> 1x5x8x8"""
TYPES = "the fused op takes one element type: %x is .*f32, %.*bf16; a cast stays"

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
    ("group_norm", "N x 1 x HW x C; %w is 2x8x8x16xf32", CHANNELS_LAST, [("2x1x64x16", "2x8x8x16")]),
    ("group_norm", "N x 1 x HW x C; %w is 2x16x8x8xf32: permutes", CHANNELS_LAST, [(CHANNELS_LAST, GROUPS)]),
    ("upsample", "channels last; %x is 1x4x6x8xf32: permutes", PIXELS,
     [("1x6x8x4 -> 1x6x1x8x1x4", "1x4x6x8 -> 1x4x6x1x8x1"), ("1x6x2x8x2x4", "1x4x6x2x8x2"), ("1x12x16x4", "1x4x12x16")]),
    ("upsample", "channels last: permutes", PIXELS, [(PIXELS, PRODUCTS)]),
    ("batch_norm_inference", "1 x C x 1 x 1; %MEAN is 8x1x1xf32 and is reshaped", BATCH, [("MEAN:1x", "MEAN:")]),
    ("batch_norm_inference", "channels in axis 1", BATCH, [("8x4x4", "4x4x8"), ("1x8x1x1", "1x1x1x8")]),
    ("batch_norm_inference", "N x C x H x W; %o is 2x8x4xf32", BATCH, [("2x8x4x4", "2x8x4"), ("1x8x1x1", "1x8x1")]),
    ("distributed_rms_norm", TYPES, RESIDUAL, [("r:32x2048", "r:32x2048xbf16 -> 32x2048")]),
    ("distributed_rms_norm", "takes it apart elsewhere, as here", RESIDUAL, [("32x2048", "64x2048")]),
    ("distributed_rms_norm", "shape of its input; %x is 32x2048xf32", RESIDUAL, [("r:32", "r:1x32")]),
    ("max_pool2d", "1 x 1 x N .* height and width of %x, which is 1x8x8x16xf32", POOL,
     [("typecast p", "reshape p -> 1x1x100x16"), ("kernel = [3, 3], stride = [2, 2]} -> 1x4x4x16", LOWERED)]),
    ("conv2d", TYPES, CONV, [("W:6x4x1x1", "W:6x4x1x1xbf16")]),
    ("conv2d", "its bias with the rank of its result", CONV, [("B:1x1x1x6", "B:6")]),
    ("conv2d", "a reshape makes it so of %B", CONV,
     [("o = add c B:1x1x1x6", "t = permute c {permutation = [0, 3, 1, 2]}; o = add t B:1x6x1x1")]),
    ("scaled_dot_product_attention", "rank 4; %q, %k and %v are 4x32x64xf32, ", ATTENTION,
     [("1x4x", "4x"), ("1x1x32x48", "1x32x48")]),
    ("scaled_dot_product_attention", "yields one element type; .* and 1x4x48x64xbf16", ATTENTION,
     [("v:1x4x48x64", "v:1x4x48x64xbf16 -> 1x4x32x64xbf16")]),
    ("scaled_dot_product_attention", "for each head, too; %mask is 32x48xf32", ATTENTION,
     [("mask:1x1x32", "mask:32")]),
    ("scaled_dot_product_attention", "for each head, too; %mask is 1x1x32x1xf32", ATTENTION,
     [("mask:1x1x32x48", "mask:1x1x32x1")]),
    ("scaled_dot_product_attention", "attention_sink as", SINK, [("SINK:1x4x1x1", "SINK:4x1x1")]),
    ("scaled_dot_product_attention", "%k is stored with another axis innermost", ATTENTION,
     [("k:1x4x48x64 {transpose_b = true}", "k:1x4x64x48")]),
    ("scaled_dot_product_attention", "%q is stored with another axis innermost", ATTENTION,
     [("q:1x4x32x64 k:1x4x48x64 {", "q:1x4x64x32 k:1x4x48x64 {transpose_a = true, ")]),
    ("scaled_dot_product_attention", "%v is stored with another axis innermost", ATTENTION,
     [("v:1x4x48x64", "v:1x4x64x48 {transpose_b = true}")]),
    ("scaled_dot_product_attention", "the result is turned behind it", ATTENTION,
     [("w v:1x4x48x64", "v:1x4x64x48 w {transpose_b = true}")]),
    ("rotary_embedding", TYPES, ROTATED,
     [("c:1x1x32x64", "c:1x1x32x64xbf16 -> 1x4x32x64xbf16"), ("a b", "a b -> 1x4x32x64xbf16")]),
    ("scaled_dot_product_attention", "takes no f32", re.sub(r"(:[0-9x]+)", r"\1xbf16", ATTENTION), [("xbf16", "")]),
    ("scaled_dot_product_attention", "yields one element type; .* the result 1x4x32x64xbf16: a cast", ATTENTION,
     [("v:1x4x48x64", "v:1x4x48x64 -> 1x4x32x64xbf16")]),
    ("scaled_dot_product_attention", "one batch; %v is 1x4x48x64xf32 and is repeated", 
     ATTENTION.replace("1x4x", "2x4x"), [("v:2x", "v:1x"), ("1x4x48x64", "1x4x48x64 -> 2x4x32x64")]),
    ("scaled_dot_product_attention", "for each head, too; %mask is 1x1x1x48",
     ATTENTION.replace("4x32", "4x1").replace("1x1x32", "1x4x1"), [("mask:1x4x", "mask:1x1x")]),
    ("scaled_dot_product_attention", "attention_sink as", SINK, [("SINK:1x4x1x1", "SINK:1x1x1x1")]),
    ("rotary_embedding", "multiples of 64; of %o it is 48", ROTATED,
     [("x64", "x48"), ("32, 64", "32, 48"), ("0, 32]", "0, 24]"), ("4, 32, 32", "4, 32, 24")]),
    ("rotary_embedding", r"token_index = 0 and x as \(1, B, H, D\)", ROTATED,
     [("a = multiply x:1x4x32x64 c:1x1x32x64", "p = matmul y:4x16 W:16x2048; x = reshape p -> 1x4x32x64\n"
       "a = multiply x c:1x1x1x64"), ("s:1x1x32x64", "s:1x1x1x64")]),
    ("rotary_embedding", "the positions are another axis, so x needs a permute", ROTATED,
     [("c:1x1x32x64", "c:1x4x1x64"), ("s:1x1x32x64", "s:1x4x1x64")]),
    ("rotary_embedding", "neighbours form the pairs", ROTATED,
     [("0, 32], ends = [1, 4, 32, 64]}", "0, 1], ends = [1, 4, 32, 64], step = [1, 1, 1, 2]}"),
      ("32, 32]}; r = concat n l {dim = 3 : si32} -> 1x4x32x64", "32, 64], step = [1, 1, 1, 2]}\ni = reshape n -> "
       "1x4x32x32x1; j = reshape l -> 1x4x32x32x1; t = concat i j {dim = 4 : si32} -> 1x4x32x32x2\n"
       "r = reshape t -> 1x4x32x64")]),
    ("rotary_embedding", "pads the 33 positions", ROTATED,
     [("4x32x", "4x33x"), ("1x32x", "1x33x"), ("4, 32", "4, 33")]),
    ("rotary_embedding", "rank 4; %c is 32x64xf32 and is reshaped", ROTATED, [("c:1x1x32x64", "c:32x64")]),
    ("concatenate_heads", "a reshape to rank 2 stays", HEADS, [("2x8x128", "16x128")]),
    ("concatenate_heads", "a batch of one before them", HEADS,
     [("2x4x8x32 {permutation = [0, 2, 1, 3]}", "4x8x32 {permutation = [1, 0, 2]}"),
      ("2x8x128", "8x128")]),
    ("concatenate_heads", "no multiple of 32 wide; here they have 40", HEADS, [("x32", "x40"), ("128", "160")]),
    ("nlp_concat_heads_decode", r"yields \(1, 1, B, H \* D\); a reshape to 32x128xf32", MERGED,
     [("1x1x32x128", "32x128")]),
    ("nlp_concat_heads_decode", "multiples of 32; here are 24", MERGED, [("x32x4", "x24x4"), ("x32x128", "x24x128")]),
    ("split_query_key_value_and_split_heads", r"takes \(B, S, columns\), and %a is 8x128xf32", SPLIT,
     [("x:1x8x", "x:8x")]),
    ("split_query_key_value_and_split_heads", "one element type: %q is 1x4x8x32xf32, %v .*bf16; a cast", SPLIT,
     [("permute l {permutation = [0, 2, 1, 3]}", "permute l {permutation = [0, 2, 1, 3]} -> 1x4x8x32xbf16")]),
    ("split_query_key_value_and_split_heads", TYPES, SPLIT, [("WK:64x128", "WK:64x128xbf16")]),
    ("nlp_create_qkv_heads_decode", r"takes \(1, 1, B, columns\), and %y is 32x192xf32", DECODED,
     [("y:1x1x", "y:"), ("[0, 0, ", "["), ("[1, 1, ", "[")]),
    ("nlp_create_qkv_heads_decode", "a permute or a reshape to 32x2x1x32xf32", DECODED, [("1x32x2x32", "32x2x1x32")]),
    ("nlp_create_qkv_heads_decode", "multiples of 32; here are 24", DECODED, [("x32x", "x24x"), ("1, 32", "1, 24")]),
    ("sigmoid", TYPES, SIGMOID, [("reciprocal d", "reciprocal d -> 4x64xbf16")]),
    ("sigmoid", "the broadcast to 4x64xf32 goes behind", SIGMOID,
     [("n = neg x:4x64", "b = broadcast x:1x64 -> 4x64; n = neg b")]),
    ("embedding", "shape of its result but for the last axis; %ids is 16xi32", EMBEDDING,
     [("ids:2x8xi32", "ids:16xi32")]),
    ("embedding", "a cast stays", EMBEDDING, [("TABLE:64x32xbf16", "TABLE:64x32xbf16 -> 2x8x32xf32")]),
    ("update_cache", "one integer of rank 1 .* %POS is 1x1xi32", CACHE, [("POS:1xsi32", "POS:1x1xsi32")]),
    ("update_cache", "a permute of %u before it", CACHE,
     [("-> 1x4x", "-> 2x4x"), ("cache:1", "cache:2"), ("u:1", "u:2")]),
    ("paged_fill_cache", "pages in multiples of 32 positions; here are 24", SLOT, [("x32x8", "x24x8")]),
)


class Demands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.audits = Audits(AUDITS, "", "slower")

    @classmethod
    def tearDownClass(cls):
        cls.audits.close()

    def found(self, ops):
        with tempfile.TemporaryDirectory() as directory:
            level = "ttnn" if "input_height" in ops else "ttir"
            text = "f %s\n%s----\n" % (level, with_arguments(ops))
            subprocess.run([SHORTHAND, directory], input=text, text=True, check=True)
            status, said, report = self.audits.audit(level, os.path.join(directory, "f.%s.mlir" % level))
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
                direct = "ttnn." in str(demand["of"]) and "when" in demand
                if direct and not demand.get("theoretical"):
                    self.assertRegex(said, ".*".join(map(re.escape, re.split("{[^}]*}", demand["say"]))))

    def test_a_linear_that_the_compiler_takes_apart_again_is_none(self):
        shared = "o1 = linear x:32x64 V:64x8 C:8; o2 = linear x:32x64 U:64x8 D:8; o = linear x W:64x128 "
        for kept, split in (
            ("p = matmul x:4x32x64 W:64x128; o = add p B:128", "p = matmul x:4x32x64 W:4x64x128; o = add p B:128"),
            ("p = matmul x:32x64 W:64x128; o = add p B:1x128", "p = matmul x:32x64 W:64x128; o = add p B:32x128"),
            ("p = matmul x:32x64 W:64x128; o = add p B:128", "p = matmul x:32x64 W:64x128; o = add p B:1"),
            ("p = linear x:4x32x64 W:64x128 B:128; o = gelu p", "p = linear x:4x32x64 W:4x64x128 B:128; o = gelu p"),
            ("p = linear x:32x64 W:64x128 B:128; o = relu p", "p = linear x:32x64 W:64x128 B:32x128; o = relu p"),
            (shared + "B:128", shared + "B:32x128"),
        ):
            with self.subTest(ops=split):
                self.assertIn("ttnn.linear", self.found(kept))
                self.assertNotIn("ttnn.linear", self.found(split))

    def test_attention_over_one_key_is_the_value(self):
        for heads, op in ((64, "ttnn"), (32, "torch")):
            many = ATTENTION.replace("v:1x4x48x64", "v:1x4x48x%d" % heads)
            for ops in (many, many.replace("48", "1")):
                with self.subTest(ops=ops):
                    said = "the result is v itself" in self.found(ops)[op + ".scaled_dot_product_attention"]
                    self.assertEqual(said, ops != many)

    def test_kernels_that_ttnn_lacks(self):
        gated = "g = %s gate:4x64; o = multiply g up:4x64"
        gathered = "g = all_gather x:32x8 {all_gather_dim = 1, cluster_axis = 1} -> 32x64; o = matmul g W:64x128"
        for ops, op, says in (
            (gathered, "ttnn.experimental.all_gather_matmul_async", "add the op to the TTNN dialect"),
            (gated % "relu", "cuda.transformer_engine.ReGLU", "reads gate and up from one tensor"),
            (gated % "relu", "cuda.transformer_engine.ReGLU", "kernel feature request"),
            (gated % "gelu", "cuda.vllm.gelu_and_mul", "reads gate and up from one tensor"),
            ("s = silu x:4x64; m = multiply s u:4x64; o = quantize m S:1 Z:1xsi32 -> 4x64xsi8",
             "cuda.vllm.silu_and_mul_quant", "writes the type that is asked for"),
        ):
            with self.subTest(op=op, says=says):
                self.assertIn(says, self.found(ops)[op])

    def test_an_op_that_is_there_has_its_operands(self):
        notes = self.found("""s = multiply x:1x32x256 0.125:1; r = reshape s -> 1x32x4x64
            q = permute r {permutation = [0, 2, 1, 3]}
            o = scaled_dot_product_attention q k:1x4x32x64 v:1x4x32x64 {is_causal = false, scale = 1.0 : f32,
              operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}""")["ttnn.scaled_dot_product_attention"]
        self.assertNotRegex(notes, "reshaped|permute")

    def test_weights_may_be_block_floats(self):
        for op, ops in (("linear", LINEAR), ("conv2d", CONV)):
            notes = self.found(re.sub(r"(W:[0-9x]+)", r"\1xbfp_bf8", ops))["ttnn." + op]
            self.assertNotIn("one element type", notes)

    def test_theoretical_where_nothing_helps(self):
        self.assertIn("ttnn.scaled_dot_product_attention", self.found(ATTENTION))
        found = self.found(ATTENTION.replace("v:1x4x48x64", "v:1x4x48x96"))
        self.assertEqual([op for op in found if op != "ttnn.scale_mask_softmax"], ["torch.scaled_dot_product_attention"])
        self.assertIn("those of v 96, and the TTNN op wants them equal", found["torch.scaled_dot_product_attention"])


if __name__ == "__main__":
    unittest.main()
