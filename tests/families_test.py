#!/usr/bin/env python3
"""Attention, normalisation, activations and linear layers as other model families print them, each a small function of its own.

usage: families_test.py PROGRAM FIXTURES [unittest arguments]
fixtures/families/NAME.LEVEL.mlir, audited at that level alone; the first lines say what it is and what is expected.
As many of them are no missed fusion as are one. What is expected is the fused op and its component ops, in order.
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

import yaml

PROGRAM, FIXTURES = (os.path.abspath(a) for a in sys.argv[1:3])
del sys.argv[1:3]

LINEAR = "ttnn.linear"
NORM = "ttnn.layer_norm"
ATTENTION = "ttnn.scaled_dot_product_attention"
TORCH_ATTENTION = "torch.scaled_dot_product_attention"
SOFTMAX = "ttnn.softmax"
MEAN = "ttnn.mean"
MERGE = "ttnn.concatenate_heads"

MISSED = {
    "vit_block_attn.ttir": [
        (MERGE, "permute reshape"),
        (LINEAR, "matmul add"),
        (LINEAR, "matmul add"),
        (ATTENTION, "multiply matmul max subtract exp sum div matmul"),
    ],
    "swin_window_attn.ttnn": [(ATTENTION, "multiply matmul add add max subtract exp sum divide matmul")],
    "t5_position_bias.ttir": [(ATTENTION, "matmul add softmax matmul")],
    "whisper_bmm.ttnn": [(MERGE, "permute reshape"), (ATTENTION, "multiply matmul softmax matmul")],
    "gpt2_attention.ttnn": [
        (MERGE, "permute reshape"),
        (LINEAR, "matmul add"),
        (LINEAR, "matmul add"),
        (ATTENTION, "matmul divide where max subtract exp sum divide matmul"),
    ],
    "gptneo_masked_fill.ttir": [(ATTENTION, "matmul where max subtract exp sum div matmul")],
    "jax_einsum_bqhd.ttir": [(ATTENTION, "dot_general div max subtract exp sum div dot_general")],
    "jax_einsum_batch_order_swapped.ttir": [(ATTENTION, "dot_general multiply softmax dot_general")],
    "jax_gqa_grouped_no_permute.ttir": [(ATTENTION, "dot_general multiply max subtract exp sum div dot_general")],
    "qwen_expand_reshape.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "falcon_mqa.ttnn": [(ATTENTION, "matmul divide add softmax matmul")],
    "starcoder_mqa_rows.ttnn": [(ATTENTION, "matmul multiply where softmax matmul")],
    "sd_unet_cross_attention.ttnn": [
        (MERGE, "permute reshape"),
        (LINEAR, "matmul add"),
        (ATTENTION, "matmul multiply softmax matmul"),
    ],
    "alibi_bloom.ttnn": [(ATTENTION, "matmul multiply add add max subtract exp sum divide matmul")],
    "attn_scores_transposed_softmax_dim2.ttnn": [(ATTENTION, "matmul multiply softmax matmul")],
    "sink_concat.ttnn": [(ATTENTION, "matmul concat softmax slice_static matmul")],
    "attn_value_head_differs.ttir": [(TORCH_ATTENTION, "matmul multiply softmax matmul")],
    "ln_sum_mul.ttnn": [(NORM, "sum multiply subtract multiply sum multiply add rsqrt multiply multiply add")],
    "flax_ln_full.ttir": [
        (NORM, "sum div subtract multiply sum div multiply subtract maximum add rsqrt multiply multiply add"),
    ],
    "ln_bf16_through_f32.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply multiply add")],
    "convnext_ln_of_op_form.ttir": [(NORM, "mean subtract multiply mean add sqrt div multiply add")],
    "rms_of_centred.ttnn": [(NORM, "sum multiply subtract rms_norm add")],
    "sd3_adaln_of_primitives.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply add multiply add")],
    "pixart_t2i_modulate.ttnn": [(NORM, "layer_norm add multiply add")],
    "weight_per_row_core.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply")],
    "linear_bias_after_head_permute.ttnn": [(LINEAR, "matmul add")],
    "flax_dense_general_out.ttir": [(LINEAR, "dot_general add")],
    "lora_with_base_bias.ttnn": [(LINEAR, "matmul add")],
    "linear_broadcast_weight.ttir": [(LINEAR, "matmul add")],
    "linear_m1_residual.ttnn": [(LINEAR, "matmul add")],
    "conv1d_gpt2_addmm.ttnn": [(LINEAR, "matmul add")],
    "efficient_attention_sdlinear.ttir": [(SOFTMAX, "max subtract exp sum div"), (SOFTMAX, "max subtract exp sum div")],
    "softmax_over_queries_square.ttir": [(SOFTMAX, "max subtract exp sum div")],
    "softmax_parts_over_different_axes.ttir": [(SOFTMAX, "exp sum div")],
    "ln_bessel.ttnn": [(MEAN, "sum multiply")],
}
SILENT = [
    "linear_attention.ttnn",
    "cosine_attention_per_head.ttir",
    "sigmoid_attention.ttnn",
    "softmax_over_heads.ttnn",
    "softmax_transposed_probabilities.ttnn",
    "dropout_on_probabilities.ttir",
    "mask_multiplied_after_softmax_const_like.ttnn",
    "where_floor_zero.ttir",
    "softcap_tanh.ttnn",
    "temperature_per_query.ttnn",
    "talking_heads_left_product.ttir",
    "talking_heads_post_softmax.ttnn",
    "reshape_scrambles_scores.ttir",
    "sink_of_each_query.ttnn",
    "softmax_plus_one.ttir",
    "annotated_transformer_ln.ttir",
    "std_plus_eps_biased.ttnn",
    "centred_by_rms.ttir",
    "ln_var_other_axis.ttnn",
    "batch_norm_train.ttir",
    "flax_wrong_clamp.ttir",
    "adaln_gate_per_token.ttnn",
    "adaln_on_affine_op.ttir",
    "batched_weights_moe.ttnn",
    "bias_on_transposed_product_rows.ttir",
    "lora_no_bias.ttnn",
    "quick_gelu.ttir",
    "swiglu_clamped.ttnn",
    "l2_normalize.ttir",
    "log_sum_exp_escapes.ttnn",
    "prelu_each_channel.ttir",
    "rms_without_mean.ttnn",
    "frozen_batch_norm_folded.ttir",
    "group_norm_of_odd_image.ttnn",
]
# Kernels of other ecosystems, beside the ops of TTNN above.
THEORETICAL = {
    "sd_unet_cross_attention.ttnn": [("cuda.transformer_engine.ForwardLinearBiasAdd", "matmul add add")],
    "sd3_adaln_of_primitives.ttir": [("cuda.ort.com.microsoft.GatedAdd", "multiply add")],
    "adaln_on_affine_op.ttir": [("cuda.tensorrt_llm.fused_layernorm_adaln", "layer_norm add multiply add")],
    "lora_with_base_bias.ttnn": [
        ("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply"),
        ("cuda.transformer_engine.ForwardLinearBiasAdd", "matmul add add"),
        ("torch.inductor.b2b_gemm", "matmul matmul"),
    ],
    "lora_no_bias.ttnn": [
        ("cuda.transformer_engine.ForwardLinearScaleAdd", "matmul multiply add"),
        ("torch.addmm", "matmul add"),
        ("torch.inductor.b2b_gemm", "matmul matmul"),
    ],
    "sigmoid_attention.ttnn": [("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply")],
    "softcap_tanh.ttnn": [("cuda.flash_attn.flash_attn_func", "matmul divide tanh multiply softmax matmul")],
    "quick_gelu.ttir": [("cuda.ort.com.microsoft.QuickGelu", "multiply sigmoid multiply")],
    "swiglu_clamped.ttnn": [("cuda.transformer_engine.QGEGLU", "multiply sigmoid multiply multiply")],
    "l2_normalize.ttir": [("torch.nn.functional.normalize", "multiply sum sqrt maximum div")],
    "rms_without_mean.ttnn": [("cuda.transformer_engine.l2normalization_fused", "multiply sum add rsqrt multiply")],
}


def is_theoretical(entry):
    return entry["source"] != "ttnn" and entry["fused_op"] != TORCH_ATTENTION


class Families(unittest.TestCase):
    maxDiff = None

    def audit(self, name):
        level = name.split(".")[1]
        path = os.path.join(FIXTURES, "families", name + ".mlir")
        with tempfile.TemporaryDirectory() as directory:
            todo = os.path.join(directory, "todo.yml")
            done = subprocess.run([PROGRAM, "-q", "-o", todo, "--%s-only" % level, path], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.stdout, done.stderr), (b"", b""), name)
            self.assertEqual(os.listdir(directory), ["todo.yml"] if done.returncode else [], name)
            if done.returncode == 0:
                return []
            self.assertEqual(done.returncode, 1, name)
            with open(todo) as f:
                return yaml.safe_load(f)["missed_fusions"]

    def check(self, name, theoretical, expected):
        got = []
        for entry in self.audit(name):
            ops = " ".join(op.split(".")[1] for op in entry["component_ops"])
            if is_theoretical(entry) == theoretical:
                got += [(entry["fused_op"], ops)] * len(entry["instances"])
        self.assertEqual(sorted(got), sorted(expected))

    def test_missed(self):
        for name, expected in MISSED.items():
            with self.subTest(fixture=name):
                self.check(name, False, expected)

    def test_silent(self):
        for name in SILENT:
            with self.subTest(fixture=name):
                self.check(name, False, [])

    def test_theoretical(self):
        self.assertLessEqual(set(THEORETICAL), set(MISSED) | set(SILENT))
        for name in list(MISSED) + SILENT:
            with self.subTest(fixture=name):
                self.check(name, True, THEORETICAL.get(name, []))

    def test_every_fixture_is_used(self):
        there = {os.path.basename(p)[:-len(".mlir")] for p in glob.glob(os.path.join(FIXTURES, "families", "*"))}
        self.assertEqual(there, set(MISSED) | set(SILENT))
        self.assertLessEqual(abs(len(MISSED) - len(SILENT)), 3)

    def test_first_lines_say_what_is_expected(self):
        for name in list(MISSED) + SILENT:
            with open(os.path.join(FIXTURES, "families", name + ".mlir")) as f:
                said = f.read().split("\n")[1]
            counts = {}
            for fused, _ in MISSED.get(name, []):
                counts[fused] = counts.get(fused, 0) + 1
            right = ", ".join("%d %s" % (counts[fused], fused) for fused in sorted(counts)) or "nothing"
            self.assertEqual(said, "// Expected: %s." % right, name)


if __name__ == "__main__":
    unittest.main()
