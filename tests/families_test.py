#!/usr/bin/env python3
"""Attention, normalisation, activations and linear layers as other model families print them, each a small function of its own.

usage: families_test.py AUDITS FIXTURES [unittest arguments]
fixtures/families/NAME.LEVEL.mlir, audited at that level alone; the first lines say what it is and what is expected.
At least as many of them are no missed fusion as are one. What is expected is the fused op and its component ops, in order.
"""
import glob
import os
import re
import sys
import unittest

from audits import Audits, proved

PROGRAM, FIXTURES = (os.path.abspath(a) for a in sys.argv[1:3])
del sys.argv[1:3]

LINEAR = "ttnn.linear"
NORM = "ttnn.layer_norm"
ATTENTION = "ttnn.scaled_dot_product_attention"
TORCH_ATTENTION = "torch.scaled_dot_product_attention"
SOFTMAX = "ttnn.softmax"
MEAN = "ttnn.mean"
MERGE = "ttnn.concatenate_heads"
RMS_NORM = "ttnn.rms_norm"
ROTARY = "ttnn.rotary_embedding"

MISSED = {
    "vit_block_attn.ttir": [
        (MERGE, "permute reshape"),
        (LINEAR, "matmul add"),
        (LINEAR, "matmul add"),
        (ATTENTION, "multiply matmul max subtract exp sum div matmul"),
    ],
    "group_norm_weights_of_positions.ttnn": [
        (NORM, "mean subtract multiply mean add rsqrt multiply")],
    "cache_compared_with_sequence_made_once.ttnn": [("ttnn.update_cache", "arange eq where")],
    "swin_window_attn.ttnn": [(ATTENTION, "multiply matmul add add max subtract exp sum divide matmul")],
    "cosine_attention_per_head.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "temperature_per_query.ttnn": [(ATTENTION, "matmul multiply softmax matmul")],
    "scores_scaled_by_head.ttnn": [(ATTENTION, "matmul multiply softmax matmul")],
    "attention_probabilities_doubled.ttir": [(ATTENTION, "matmul multiply softmax multiply matmul")],
    "swin_v2_cosine.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "scores_by_query.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "t5_position_bias.ttir": [(ATTENTION, "matmul add softmax matmul")],
    "decode_heads_merged.ttnn": [("ttnn.nlp_concat_heads_decode", "permute reshape")],
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
    "gemma_rms_one_plus_weight.ttir": [(RMS_NORM, "multiply mean add rsqrt multiply add multiply")],
    "gemma_rms_two_plus_weight.ttir": [(RMS_NORM, "multiply mean add rsqrt multiply multiply")],
    "qwen3_qk_norm_rope.ttir": [
        (RMS_NORM, "multiply mean add rsqrt multiply multiply"),
        (ROTARY, "multiply slice_static neg slice_static concat multiply add"),
    ],
    "gptj_rotate_every_two.ttir": [(ROTARY, "multiply slice_static neg slice_static concat multiply add")],
    "neox_partial_rope.ttir": [(ROTARY, "multiply slice_static neg slice_static concat multiply add")],
    "llama_rope_complex_neighbours.ttir": [
        (ROTARY, "slice_static multiply slice_static multiply subtract multiply multiply add concat"),
    ],
    "mla_unequal_heads.ttir": [(TORCH_ATTENTION, "matmul multiply add softmax matmul")],
    "mixtral_router.ttir": [(SOFTMAX, "max subtract exp sum div")],
    "sam_decomposed_positions.ttir": [(ATTENTION, "multiply matmul add add max subtract exp sum div matmul")],
    "opt_clamped_mask.ttir": [(ATTENTION, "multiply matmul add maximum softmax matmul")],
    "scores_clamped_at_zero.ttir": [("ttnn.relu", "maximum")],
    "gptneox_select_then_add.ttir": [(ATTENTION, "matmul multiply where add softmax matmul")],
    "two_scales.ttnn": [(ATTENTION, "multiply matmul multiply add softmax matmul")],
    "attention_permute_moves_batch.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "linear_of_turned_product.ttir": [(LINEAR, "dot_general add")],
    "einsum_heads_bias.ttir": [(LINEAR, "dot_general add")],
    "adaln_n_plus_n_scale.ttir": [(NORM, "layer_norm multiply add add")],
    "adaln_on_affine_op.ttir": [(NORM, "layer_norm add multiply add")],
    "adaln_n_plus_m_scale.ttir": [(NORM, "layer_norm multiply")],
    "layer_norm_weight_then_shift.ttnn": [(NORM, "layer_norm add")],
    "layer_norm_recomputed_mean.ttir": [
        (NORM, "mean subtract mean subtract mean subtract multiply mean add rsqrt multiply multiply add"),
    ],
    "layer_norm_channels_first.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply multiply add")],
    "layer_norm_after_channels_last.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply multiply add")],
    "unet_group_norm_silu.ttir": [
        ("ttnn.group_norm", "mean subtract multiply mean add rsqrt multiply multiply add"),
        ("ttnn.silu", "sigmoid multiply"),
    ],
    "bloom_gelu.ttir": [("ttnn.gelu", "multiply multiply multiply add multiply multiply tanh add multiply")],
    "mobilenet_hardswish.ttir": [("ttnn.relu6", "relu minimum")],
    "hardswish_of_other.ttir": [("ttnn.relu6", "relu minimum")],
    "squeeze_excite.ttir": [
        ("ttnn.hardsigmoid", "add maximum minimum div"),
        (LINEAR, "matmul add"),
        (LINEAR, "matmul add relu"),
        (MEAN, "sum multiply"),
    ],
    "yolo_leaky_by_maximum.ttir": [("ttnn.leaky_relu", "multiply maximum")],
    "yolo_mish.ttir": [("ttnn.mish", "exp add log tanh multiply")],
    "yolo_conv_bn_leaky.ttir": [
        ("ttnn.conv2d", "conv2d subtract div multiply add"),
        ("ttnn.leaky_relu", "multiply maximum"),
    ],
    "mamba_gate.ttir": [("ttnn.silu", "sigmoid multiply")],
    "t5_rms_norm.ttnn": [(RMS_NORM, "multiply mean add rsqrt multiply multiply")],
    "vae_attention_single_head.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "sd3_joint_attention.ttnn": [(ATTENTION, "matmul multiply softmax matmul")],
    "mixtral_expert_swiglu.ttnn": [("ttnn.matmul", "matmul silu")],
    "gemma3_sandwich_norm.ttir": [(RMS_NORM, "multiply mean add rsqrt multiply add multiply")],
    "t5_scaled_linear_norm.ttir": [(RMS_NORM, "multiply mean add rsqrt multiply")],
    "layer_norm_gamma_of_batch.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply")],
    "sd3_norm_of_text_and_scale_of_image.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply")],
    "flux_modulate_op.ttnn": [(NORM, "layer_norm add multiply add")],
    "flux_modulate_two_plus.ttnn": [(NORM, "layer_norm multiply add")],
    "attention_gqa_repeat_kv.ttir": [(ATTENTION, "matmul multiply add softmax matmul")],
    "attention_gqa_tiled_wrong.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "attention_raw_minus_mask.ttir": [(ATTENTION, "matmul multiply subtract softmax matmul")],
    "softmax_shift_of_other.ttnn": [(SOFTMAX, "exp sum divide")],
    "softmax_max_of_columns.ttnn": [(SOFTMAX, "exp sum divide")],
    "bert_pooler_tanh.ttnn": [(LINEAR, "matmul add tanh")],
    "linear_activation_of_slice.ttnn": [(LINEAR, "matmul add")],
    "linear_bias_through_split_heads.ttir": [(LINEAR, "matmul add")],
    "conv_bias_relu6.ttir": [("ttnn.conv2d", "conv2d add"), ("ttnn.relu6", "clamp_scalar")],
    "conv_silu.ttir": [("ttnn.silu", "sigmoid multiply")],
    "conv_gate_of_other.ttir": [("ttnn.conv2d", "conv2d sigmoid")],
    "relu_by_where.ttir": [("ttnn.relu", "gt where")],
    "gelu_by_division.ttir": [("ttnn.gelu", "div div erf add multiply")],
    "mean_by_division.ttir": [(MEAN, "sum div")],
    "mamba_conv_silu.ttir": [
        (RMS_NORM, "multiply mean add rsqrt multiply multiply"),
        ("ttnn.silu", "sigmoid multiply"),
    ],
    "retnet_group_norm_of_heads.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply")],
    "vit_gelu_mlp.ttnn": [(LINEAR, "matmul add"), (LINEAR, "matmul add gelu")],
    "topk_then_softmax.ttir": [(SOFTMAX, "max subtract exp sum div"), ("ttnn.topk", "sort slice_static")],
    "repeat_interleave_of_heads.ttir": [("ttnn.repeat_interleave", "reshape broadcast reshape")],
    "t5_attention_norm_of_keys.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "paligemma_prefix_mask.ttnn": [(ATTENTION, "matmul multiply add softmax matmul")],
    "perceiver_latents.ttnn": [(ATTENTION, "matmul multiply max subtract exp sum divide matmul")],
    "falcon_multi_query_rows.ttir": [(ATTENTION, "matmul multiply add max subtract exp sum div matmul")],
    "rms_of_unit_vector_root_in_weight.ttir": [(RMS_NORM, "multiply sum sqrt maximum div multiply multiply")],
    "attention_divided_last.ttir": [(ATTENTION, "matmul multiply max subtract exp matmul sum div")],
    "layer_norm_as_affine.ttir": [(NORM, "mean subtract multiply mean add rsqrt multiply multiply subtract")],
    "attention_mask_as_bias.ttnn": [(ATTENTION, "multiply multiply linear softmax matmul")],
    "bias_behind_all_reduce.ttir": [(LINEAR, "matmul all_reduce add")],
    "layer_norm_gamma_of_rows.ttnn": [(NORM, "mean subtract multiply mean add rsqrt multiply")],
    "sliding_window_mask.ttir": [(ATTENTION, "matmul multiply where softmax matmul")],
    "jax_bqhd_bool_mask.ttir": [(ATTENTION, "multiply dot_general where max subtract exp sum div dot_general")],
    "gemma_rms_one_of_zeros.ttir": [(RMS_NORM, "multiply mean add rsqrt multiply add multiply")],
    "rms_by_dense_reciprocals.ttir": [(RMS_NORM, "multiply sum multiply add pow multiply multiply")],
    "attention_dropout_of_one.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "attention_scale_of_root.ttir": [(ATTENTION, "matmul div softmax matmul")],
    "attention_keys_by_concat.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "gelu_multiplied_out.ttir": [("ttnn.gelu", "multiply multiply erf multiply add")],
    "gelu_by_sigmoid.ttir": [("ttnn.gelu", "multiply multiply multiply multiply add sigmoid multiply")],
    "flux_rope_of_pairs.ttir": [(ROTARY, "multiply slice_static neg slice_static concat multiply add")],
    "exp_of_log_softmax.ttir": [(SOFTMAX, "max subtract exp sum log subtract exp")],
    "clip_text_batched.ttnn": [(MERGE, "permute reshape"), (ATTENTION, "matmul add softmax matmul")],
    "attention_groups_in_rows.ttir": [(ATTENTION, "matmul multiply softmax matmul")],
    "jax_gqa_grouped_bthgd.ttir": [(ATTENTION, "dot_general multiply softmax dot_general")],
    "router_by_sort.ttir": [("ttnn.topk", "slice_static sort slice_static")],
    "swin_two_masks.ttir": [(ATTENTION, "multiply matmul add add softmax matmul")],
    "two_functions_and_a_call.ttir": [("ttnn.gelu", "multiply erf add multiply multiply"), ("ttnn.silu", "sigmoid multiply")],
    "mean_by_cast_integer.ttir": [(MEAN, "sum div")],
    "mean_of_everything.ttir": [(MEAN, "sum div")],
    "rms_of_cached_constants.ttnn": [(RMS_NORM, "multiply mean add rsqrt multiply multiply")],
    "whisper_self_attention.ttir": [
        (LINEAR, "matmul add"),
        (LINEAR, "matmul add"),
        (LINEAR, "matmul add"),
        (MERGE, "permute reshape"),
        (ATTENTION, "multiply matmul softmax matmul"),
    ],
    "detr_encoder.ttir": [(ATTENTION, "multiply matmul where softmax matmul")],
    "convnext_block.ttir": [
        (LINEAR, "matmul add"),
        (LINEAR, "matmul add multiply"),
        ("ttnn.gelu", "multiply multiply erf add multiply"),
        (NORM, "mean subtract multiply mean add sqrt div multiply add"),
    ],
    "densenet_norm_first.ttir": [("ttnn.batch_norm_inference", "subtract add sqrt div multiply add")],
    "sdxl_group_norm_rank3.ttir": [("ttnn.group_norm", "mean subtract multiply mean add rsqrt multiply multiply add")],
    "qwen3_attention.ttir": [
        (RMS_NORM, "multiply mean add rsqrt multiply multiply"),
        (RMS_NORM, "multiply mean add rsqrt multiply multiply"),
        (ROTARY, "multiply slice_static neg slice_static concat multiply add"),
        (ROTARY, "multiply slice_static neg slice_static concat multiply add"),
        (ATTENTION, "matmul multiply add softmax matmul"),
    ],
    "mean_by_sixth_digit.ttir": [(MEAN, "sum multiply")],
}
SILENT = [
    "paged_caches_of_key_and_value.ttnn",
    "paged_cache_read_between.ttnn",
    "cache_compared_with_sequence_from_one.ttnn",
    "decode_heads_behind_features.ttnn",
    "linear_attention.ttnn",
    "sigmoid_attention.ttnn",
    "softmax_over_heads.ttnn",
    "softmax_transposed_probabilities.ttnn",
    "dropout_on_probabilities.ttir",
    "mask_multiplied_after_softmax_const_like.ttnn",
    "where_floor_zero.ttir",
    "softcap_tanh.ttnn",
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
    "adaln_on_affine_op_of_batch.ttir",
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
    "rms_of_another_value.ttir",
    "rms_mean_of_product.ttir",
    "rms_of_cubes.ttnn",
    "rms_negative_eps.ttnn",
    "rms_inner_used.ttnn",
    "rope_noswap.ttir",
    "rope_both.ttir",
    "rope_evens.ttir",
    "rope_of_products_of_itself.ttnn",
    "complex_product_of_halves.ttir",
    "mixtral_renormalised.ttir",
    "softmax_exp2.ttnn",
    "attention_keys_of_values.ttnn",
    "attention_second_softmax_of_same_scores.ttir",
    "linear_of_turned_product_square.ttir",
    "grn.ttir",
    "layer_norm_std_of_sums.ttir",
    "unet_time_embedding.ttir",
    "bloom_gelu_wrong.ttir",
    "gelu_erf_of_wrong_root.ttir",
    "hardsigmoid_by_five.ttir",
    "efficientnet_swish_beta.ttir",
    "silu_of_other.ttnn",
    "leaky_by_minimum.ttir",
    "leaky_steeper_than_one.ttir",
    "mish_of_two.ttir",
    "retnet_retention.ttir",
    "mean_of_wrong_count_argument.ttir",
    "vae_attention_not_turned.ttir",
    "rope_halves_stacked.ttir",
    "gemma2_final_softcap.ttir",
    "layer_norm_unit_variance_ddof.ttir",
    "attention_scale_after_mask_product.ttir",
    "attention_with_unknown_floor.ttir",
    "attention_mask_minus_raw.ttir",
    "linear_attention_elu.ttir",
    "softmax_one_more_in_sum.ttnn",
    "log_softmax_by_sum.ttir",
    "linear_bias_of_batch.ttir",
    "linear_bias_wider.ttir",
    "linear_bias_of_turned_heads.ttir",
    "linear_scalar_bias.ttir",
    "conv_bias_of_columns.ttir",
    "conv_residual_relu.ttir",
    "relu_of_where_swapped.ttir",
    "gelu_of_two_values.ttir",
    "mean_by_one_axis_of_two.ttir",
    "heads_merged_wrong_axis.ttir",
    "pixel_shuffle.ttir",
    "attention_gated_probabilities.ttir",
    "attention_of_softmaxed_twice.ttnn",
    "attention_squared_scores.ttir",
    "attention_mask_selects_one.ttir",
    "attention_sink_first.ttir",
    "attention_sink_dropped_wrongly.ttir",
    "attention_clamped_from_above.ttir",
    "conv_scale_of_sample.ttir",
    "conv_pad_of_ones.ttir",
    "conv_pad_of_channels.ttir",
    "silu_of_negative.ttir",
    "swish_by_exp_of_x.ttir",
    "hardsigmoid_of_plus_two.ttir",
    "gelu_without_one.ttir",
    "gelu_cube_of_other.ttir",
    "log_two_plus.ttir",
    "two_over_root.ttir",
    "clamp_by_tensors.ttir",
    "sort_middle.ttir",
    "sort_every_second.ttir",
    "linear_bias_of_itself.ttir",
    "batched_experts_bias.ttir",
    "layer_norm_eps_of_rows.ttir",
    "layer_norm_of_difference.ttir",
    "layer_norm_times_std.ttir",
    "group_norm_mean_of_channel.ttir",
    "softmax_over_image.ttir",
    "rms_of_unit_vector_wrong_root.ttir",
    "gpt_oss_gate.ttnn",
    "layer_scale.ttir",
    "mean_by_255_in_bf16.ttir",
    "rms_eps_behind_root.ttir",
    "rms_of_columns_over_rows.ttir",
    "layer_norm_mixed_axes.ttir",
    "attention_over_heads_square.ttir",
    "attention_rows_shown_as_one.ttir",
    "attention_keys_hidden_behind.ttir",
    "attention_factor_of_each_key.ttir",
    "softmax_by_sum_of_other.ttir",
    "softmax_shifted_late.ttir",
    "attention_masked_behind_softmax.ttir",
    "rope_minus_on_stay.ttir",
    "gelu_of_other_cubic.ttir",
    "gelu_by_sigmoid_of_half.ttir",
    "exp_less_log_sum_of_other.ttir",
    "exp_less_sum.ttir",
    "activation_behind_activation.ttnn",
    "activation_in_program_config.ttnn",
    "conv_bias_along_width.ttir",
    "attention_of_columns.ttir",
    "silu_across_a_call.ttir",
    "mean_of_integers.ttir",
    "revin_over_time.ttir",
    "softmax_of_segments.ttir",
    "mean_by_given_counts.ttir",
    "heads_merged_unturned.ttir",
    "clamp_crossed_bounds.ttir",
    "gelu_multiplied_out_minus.ttir",
    "gate_by_minus_one.ttir",
]
# Kernels of other ecosystems, beside the ops of TTNN above.
THEORETICAL = {
    "sd_unet_cross_attention.ttnn": [("cuda.transformer_engine.ForwardLinearBiasAdd", "matmul add add")],
    "sd3_adaln_of_primitives.ttir": [("cuda.ort.com.microsoft.GatedAdd", "multiply add")],
    "adaln_on_affine_op_of_batch.ttir": [("cuda.tensorrt_llm.fused_layernorm_adaln", "layer_norm add multiply add")],
    "lora_with_base_bias.ttnn": [
        ("cuda.transformer_engine.ForwardLinearScaleAdd", "matmul multiply add"),
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
    "adaln_n_plus_m_scale.ttir": [("cuda.ort.com.microsoft.GatedAdd", "multiply add")],
    "grn.ttir": [("cuda.transformer_engine.bias_dropout_add_fused", "add add")],
    "layer_norm_std_of_sums.ttir": [
        ("cuda.transformer_engine.l2normalization_fused", "multiply sum add rsqrt multiply"),
    ],
    "efficientnet_swish_beta.ttir": [("cuda.ort.com.microsoft.QuickGelu", "multiply sigmoid multiply")],
    "mamba_gate.ttir": [("triton.liger_kernel.ops.LigerSiLUMulFunction", "sigmoid multiply multiply")],
    "mixtral_expert_swiglu.ttnn": [
        ("cuda.xformers.SwiGLU", "matmul silu matmul multiply matmul"),
        ("triton.liger_kernel.ops.LigerSiLUMulFunction", "silu multiply"),
    ],
    "gemma3_sandwich_norm.ttir": [("cuda.ort.com.microsoft.GatedAdd", "multiply add")],
    "attention_with_unknown_floor.ttir": [("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply")],
    "attention_mask_minus_raw.ttir": [("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply")],
    "linear_activation_of_slice.ttnn": [("torch.nn.functional.glu", "slice_static slice_static sigmoid multiply")],
    "conv_residual_relu.ttir": [("cuda.ort.com.microsoft.FusedConv", "conv2d add relu")],
    "mamba_conv_silu.ttir": [("triton.liger_kernel.ops.LigerSiLUMulFunction", "sigmoid multiply multiply")],
    "retnet_group_norm_of_heads.ttir": [("triton.liger_kernel.ops.LigerSiLUMulFunction", "silu multiply")],
    "attention_squared_scores.ttir": [("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply")],
    "attention_sink_first.ttir": [("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply")],
    "attention_sink_dropped_wrongly.ttir": [("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply")],
    "attention_clamped_from_above.ttir": [("cuda.ort.com.microsoft.FusedMatMul", "matmul multiply")],
    "t5_attention_norm_of_keys.ttir": [
        ("cuda.transformer_engine.l2normalization_fused", "multiply sum add rsqrt multiply"),
        ("cuda.transformer_engine.l2normalization_fused", "multiply sum add rsqrt multiply"),
    ],
    "rms_of_unit_vector_wrong_root.ttir": [("torch.nn.functional.normalize", "multiply sum sqrt maximum div")],
    "gpt_oss_gate.ttnn": [("cuda.transformer_engine.QGEGLU", "multiply sigmoid multiply multiply")],
    "layer_scale.ttir": [("cuda.ort.com.microsoft.GatedAdd", "multiply add")],
    "convnext_block.ttir": [("cuda.ort.com.microsoft.GatedAdd", "multiply add")],
}


def is_theoretical(entry):
    return entry["source"] != "ttnn" and entry["fused_op"] != TORCH_ATTENTION


class Families(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.audits, cls.known = Audits(PROGRAM, "ttnn:dialect,torch,triton,cuda", "slower"), {}

    @classmethod
    def tearDownClass(cls):
        cls.audits.close()

    def audit(self, name):
        if name not in self.known:
            self.known[name] = self.audits.audit(name.split(".")[1], os.path.join(FIXTURES, "families", name + ".mlir"))
        status, said, report = self.known[name]
        self.assertEqual((status, said), (int(report is not None), []), name)
        return report or []

    def check(self, name, theoretical, expected):
        got = []
        for entry in self.audit(name):
            ops = " ".join(op.split(".")[1] for op in entry["component_ops"])
            if is_theoretical(entry) == theoretical:
                got += [(entry["fused_op"], ops)] * len(entry["instances"])
            self.assertTrue(all(proved(entry)), name)
        self.assertEqual(sorted(got), sorted(expected))

    def test_missed(self):
        for name, expected in list(MISSED.items()):
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

    def test_a_sink_that_is_made_on_the_host(self):
        """What is hoisted is a call without a body: TTIR shows that it holds one number for each head."""
        path = os.path.join(FIXTURES, "families", "sink_concat.ttnn.mlir")
        with open(path) as f:
            text = f.read().replace('#ttcore.argument_type<input>, ttir.name = "sinks"',
                                    '#ttcore.argument_type<parameter>, ttir.name = "sinks"')
        repeat = re.search(r' *%1 = "ttnn.repeat"\(%arg3\).*(\(tensor.*?\)) -> (tensor<[^>]*>) (loc.*)\n', text)
        hosted = ('%%1 = ttcore.load_cached(@once, [%%arg3]) : %s -> %s\n' % repeat.groups()[:2])
        once = ('func.func private @once(%%a: %s) -> %s attributes {tt.function_type = "const_eval"} {\n'
                '%%0 = call @cpu_hoisted_const_eval_1(%%a) {ttir.cpu_hoist_call} : (%s) -> %s\nreturn %%0 : %s\n}\n'
                'func.func private @cpu_hoisted_const_eval_1(%s) -> %s\n')
        operand, result = repeat[1].strip("()"), repeat[2]
        once %= (operand, result, operand, result, result, operand, result)
        ttnn = text.replace(repeat[0], hosted).replace("  func.func @main", once + "  func.func @main")
        ttir = re.sub(r", #ttnn_layout\d+>|^#(dram|ttnn_layout).*\n", lambda m: ">" if m[0][0] == "," else "", text,
                      flags=re.M)
        ttir = ttir.replace('"ttnn.', '"ttir.')
        broadcast = '%1 = "ttir.broadcast"(%arg3) <{broadcast_dimensions = array<i64: 2, 1, 24, 1>}>'
        ttir = re.sub(r'%1 = "ttir.repeat"\(%arg3\) <\{[^}]*\}>', broadcast, ttir)
        self.assertIn(broadcast, ttir)
        paths = [os.path.join(self.audits.directory.name, name) for name in ("host.ttir.mlir", "host.ttnn.mlir")]
        for path, written in zip(paths, (ttir, ttnn)):
            with open(path, "w") as f:
                f.write(written)
        self.assertIn(ATTENTION, [e["fused_op"] for e in self.audits.audit("both", *paths)[2] or []])
        self.assertNotIn(ATTENTION, [e["fused_op"] for e in self.audits.audit("ttnn", paths[1])[2] or []])

    def test_every_fixture_is_used(self):
        there = {os.path.basename(p)[:-len(".mlir")] for p in glob.glob(os.path.join(FIXTURES, "families", "*"))}
        self.assertEqual(there, set(MISSED) | set(SILENT))
        self.assertLessEqual(len(MISSED), len(SILENT))

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
