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

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "demands.yml")) as table:
    TABLE = load_yaml(table)
LINEAR, CONV, ATTENTION = (TABLE["ops"][name].rstrip("\n") for name in ("LINEAR", "CONV", "ATTENTION"))


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
        with open(os.path.join(PATTERNS, "fused_ops.yml")) as f:
            demands = load_yaml(f)["demands"]
        as_said = {d["say"]: ".*".join(map(re.escape, re.split("{[^}]*}", d["say"]))) for d in demands}
        ops = {name: text.rstrip("\n") for name, text in TABLE["ops"].items()}
        for case in TABLE["cases"]:
            op, demand, met = case["op"], case["says"], ops.get(case["met"], case["met"].rstrip("\n"))
            unmet = met
            for old, new in case["changes"]:
                old, new = (ops[text[1:]] if text.startswith("$") else text for text in (old, new))
                self.assertIn(old, unmet)
                unmet = unmet.replace(old, new)
            with self.subTest(op=op, ops=unmet):
                self.assertNotRegex(self.found(met).get("ttnn." + op, demand), demand)
                notes = self.found(unmet).get("ttnn." + op, "")
                self.assertRegex(notes, demand)
                said += notes
                if any(d.get("unmade") and re.search(as_said[d["say"]], notes) for d in demands):
                    self.assertIn("no pass makes it", notes)
                    self.assertNotIn("no pass makes it", self.found(met)["ttnn." + op])
        for demand in demands:
            # Of what TTIR cannot spell examples of patterns have both sides: all_to_all in collectives.test.yml.
            direct = re.search("ttnn[.](?!experimental)", str(demand["of"])) and "when" in demand
            if direct and not demand.get("theoretical"):
                self.assertRegex(said, as_said[demand["say"]])

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
