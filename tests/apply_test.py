#!/usr/bin/env python3
"""`fusion-audit apply`: fused ops written into TTIR, and what has to be left as it is; `fusion-audit repro`.

usage: apply_test.py PROGRAM [unittest arguments]
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "corpus")
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""

MODULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "apply")


def module_of(name):
    with open(os.path.join(MODULES, name + ".mlir")) as f:
        return f.read()


ATTENTION = module_of("attention")
BATCH_NORM = module_of("batch_norm")
BIASED = module_of("biased")
BIASED_GELU = module_of("biased_gelu")
CONVOLUTION = module_of("convolution")
CROSS = module_of("cross")
GROUPED = module_of("grouped")
GROUP_NORM = module_of("group_norm")
GUARDED = module_of("guarded")
HEADS = module_of("heads")
LINEAR = module_of("linear")
LINEAR_APPLIED = module_of("linear_applied")
NORM = module_of("norm")
POOL = module_of("pool")
REPEATED = module_of("repeated")
ROTATED = module_of("rotated")
SHARED = module_of("shared")
SIGMOID = module_of("sigmoid")
TOPK = module_of("topk")
NORM_OP = ('%7 = "ttir.layer_norm"(%x, %w) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 64>, '
           'operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x64xbf16>, tensor<64xbf16>) -> tensor<8x64xbf16>')
MASK = '"ttir.reshape"(%m) <{shape = [1 : i32, 1 : i32, 32 : i32, 32 : i32]}> : (tensor<32x32xbf16>)'
NEARLY_GELU = """\
name: quick_gelu
summary: x sigmoid(1.702 x), which is nearly a gelu.
fused_op: ttnn.gelu
match: out = x * sigmoid(1.702 * x)
fused: gelu(x)
approximate: 0.05
"""


def compiler():
    """The real one, where it is."""
    script = os.path.join(CORPUS, "..", "compiler", "get.sh")
    if not os.path.exists(script):
        return None
    r = subprocess.run([script], capture_output=True, text=True)
    return os.path.join(r.stdout.strip(), "ttmlir-opt") if r.returncode == 0 else None


COMPILER = compiler()


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
        if COMPILER and r.stdout != text:
            judged = subprocess.run([COMPILER, "-", "-o", os.devnull], input=r.stdout, capture_output=True, text=True)
            self.assertEqual(judged.returncode, 0, judged.stderr)
        return r.stdout

    def test_a_linear_replaces_its_ops_and_no_other_byte(self):
        self.assertEqual(self.applied(LINEAR), LINEAR_APPLIED)

    def test_types_may_be_aliases(self):
        x = "tensor<2x32x64xbf16>"
        text = "!x = " + x + "\n" + LINEAR.replace(x, "!x")
        expected = "!x = " + x + "\n" + LINEAR_APPLIED.replace("%x: " + x, "%x: !x")
        self.assertEqual(self.applied(text), expected)

    def test_what_is_applied_stays_as_it_is(self):
        self.assertEqual(self.applied(LINEAR_APPLIED), LINEAR_APPLIED)

    def test_an_audit_of_the_result_is_silent(self):
        with open(os.path.join(self.dir, "m.mlir"), "w") as f:
            f.write(LINEAR_APPLIED)
        r = subprocess.run([PROGRAM, "--ttir-only", "-o", "-", "m.mlir"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual((r.returncode, r.stdout), (0, ""), r.stderr)

    def test_ends_of_lines_stay(self):
        for text in (LINEAR.replace("\n", "\r\n"), LINEAR[:-1]):
            path = os.path.join(self.dir, "m.mlir")
            wanted = LINEAR_APPLIED.replace("\n", "\r\n") if "\r" in text else LINEAR_APPLIED
            with open(path, "w", newline="") as f:
                f.write(text)
            out = subprocess.run([PROGRAM, "apply", "m.mlir"], cwd=self.dir, capture_output=True).stdout
            self.assertEqual(out.decode(), wanted)

    def test_one_graph_of_several(self):
        with open(os.path.join(self.dir, "two.log"), "w") as f:
            f.write("MLIR Module ttir:\n" + SIGMOID + "MLIR Module ttir:\n" + LINEAR)

        def apply(*options):
            return subprocess.run([PROGRAM, "apply", "two.log", *options], cwd=self.dir, capture_output=True, text=True)

        self.assertIn('"ttir.linear"', apply("--graph=2").stdout)
        other = apply("--graph=1").stdout
        self.assertIn('"ttir.sigmoid"', other)
        self.assertNotIn("ttir.linear", other)
        for options in (), ("--graph=3",):
            r = apply(*options)
            self.assertEqual((r.returncode, r.stdout), (3, ""))
            self.assertIn("there is a TTIR module of each of these graphs: 1, 2\n  hint: --graph=N takes one of them", r.stderr)

    def test_an_input_is_never_written(self):
        path, out = os.path.join(self.dir, "m.mlir"), os.path.join(self.dir, "o.mlir")
        for name in ("hard.mlir", "soft.mlir", "./m.mlir", "../%s/m.mlir" % os.path.basename(self.dir)):
            with open(path, "w") as f:
                f.write(LINEAR)
            if name == "hard.mlir":
                os.link(path, os.path.join(self.dir, name))
            elif name == "soft.mlir":
                os.symlink("m.mlir", os.path.join(self.dir, name))
            r = self.run_program(LINEAR, "-o", name)
            self.assertEqual(r.returncode, 2, name)
            with open(path) as f:
                self.assertEqual(f.read(), LINEAR)
        for name, status in (("m.mlir", 2), ("o.mlir", 0)):    # from standard input
            with open(path) as f:
                r = subprocess.run([PROGRAM, "apply", "-", "-o", name], cwd=self.dir, stdin=f, capture_output=True)
            self.assertEqual(r.returncode, status, r.stderr)
        with open(path) as f, open(out) as g:
            self.assertEqual((f.read(), g.read()), (LINEAR, LINEAR_APPLIED))

    def test_what_is_there_is_not_left(self):
        """A product with its bias and tanh: TTIR has the tanh as an op of its own, and it stays one finding."""
        text = LINEAR.replace("    return %2", '    %3 = "ttir.tanh"(%2) : (tensor<2x32x128xbf16>) -> tensor<2x32x128xbf16>\n    return %3')
        r = self.run_program(text, "--assume=all", "--only=linear_other_activation")
        self.assertIn('"ttir.linear"', r.stdout)
        self.assertEqual(re.sub(r"\d+", "N", r.stderr), "N of N findings applied\n")
        self.assertEqual(len(set(re.findall(r"\d+", r.stderr))), 1)

    def test_a_place_is_followed_through_what_was_written(self):
        """What is there is a gelu, which with the product in front of it is a finding again."""
        both = self.applied(BIASED_GELU, "--assume=all", "--at=%6")
        self.assertIn('"ttir.gelu"', both)
        self.assertIn('"ttir.linear"', both)
        one = self.applied(BIASED_GELU, "--assume=all", "--at=%1")
        self.assertIn('"ttir.linear"', one)
        self.assertNotIn('"ttir.gelu"', one)

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

    def test_what_was_assumed_is_there_to_compare_with(self):
        text = self.applied(NORM, "--assume=all", "--value=eps=1e-05", "--assumed")
        self.assertIn('"ttir.full"() <{fill_value = 1.0e-05 : f32, shape = array<i32: 8, 1>}> : () -> tensor<8x1xbf16>', text)
        self.assertEqual(text.count("ttir.mean"), 2)
        self.assertEqual(self.applied(NORM, "--assumed"), NORM)

    def test_attention_takes_the_scale_and_a_mask_of_rank_4(self):
        result = self.applied(ATTENTION)
        self.assertIn(MASK, result)
        self.assertIn("is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 2.5e-01 : f32", result)
        self.assertNotIn("softmax", result)
        self.assertNotIn("permute", result)

    def test_a_divisor_becomes_a_scale_that_is_rounded(self):
        text = ATTENTION.replace("bf16", "f32").replace("2.500000e-01", "5.656250e+00").replace("ttir.multiply", "ttir.div")
        result = self.applied(text)
        self.assertIn("scale = 1.7679559e-01 : f32", result)
        for scale, status in (("1.7679559e-01", 0), ("1.7679565e-01", 1)):
            with open(os.path.join(self.dir, "a.mlir"), "w") as f:
                f.write(result.replace("1.7679559e-01", scale))
            r = subprocess.run([PROGRAM, "verify", "-q", "m.mlir", "a.mlir"], cwd=self.dir, capture_output=True, text=True)
            self.assertEqual(r.returncode, status, r.stderr)

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
        pattern, out = os.path.join(self.dir, "quick.yml"), os.path.join(self.dir, "out.mlir")
        with open(pattern, "w") as f:
            f.write(NEARLY_GELU)
        r = self.run_program(SIGMOID, "-P", pattern, "-o", out)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn("error: ttnn.gelu (quick_gelu) is refused: the module with it computes something else", r.stderr)
        self.assertFalse(os.path.exists(out))
        self.assertEqual(self.applied(SIGMOID, "-P", pattern, "--partial"), SIGMOID)
        self.assertIn("0 of 1 findings applied", self.run_program(SIGMOID, "-P", pattern, "--partial").stderr)

    def test_what_is_written_is_searched_again(self):
        """Three products of one input with their biases are three linears, and these are one."""
        result = self.applied(BIASED, "--assume=all")
        self.assertEqual(result.count("ttir.linear"), 1)
        self.assertNotIn("ttir.add", result)
        self.assertIn("4 of 4 findings applied", self.run_program(BIASED, "--assume=all").stderr)
        self.assertEqual(self.applied(result, "--assume=all"), result)
        self.assertEqual(self.applied(BIASED, "--assume=all", "--at=%4").count("ttir.matmul"), 2)

    def test_of_overlapping_findings_the_one_that_saves_more_wins(self):
        """A gelu from its parts saves more than to take a bias into a product: both are written in the end."""
        result = self.applied(BIASED_GELU, "--assume=all")
        self.assertIn('"ttir.gelu"', result)
        self.assertIn('"ttir.linear"', result)
        self.assertNotIn('"ttir.erf"', result)
        self.assertEqual(self.applied(result, "--assume=all"), result)

    def test_an_attention_takes_groups_of_heads_as_they_are(self):
        result = self.applied(GROUPED, "--assume=all")
        self.assertRegex(result, r'"ttir.scaled_dot_product_attention"\(%q, .*: \(tensor<1x8x32x16xbf16>, tensor<1x2x32x16xbf16>, '
                                 r"tensor<1x2x32x16xbf16>\) -> tensor<1x8x32x16xbf16>")
        self.assertNotIn("ttir.broadcast", result)
        other = GROUPED.replace("1x2x1x32x16", "1x1x2x32x16").replace("1x2x4x32x16", "1x4x2x32x16")
        other = other.replace("[1 : i32, 2 : i32, 1 : i32, 32", "[1 : i32, 1 : i32, 2 : i32, 32").replace("1, 1, 4, 1, 1", "1, 4, 1, 1, 1")
        self.assertNotIn("attention\"(%q, %k, %v)", self.applied(other, "--assume=all"))

    def test_a_claim_that_leaves_inputs_out_has_to_be_assumed(self):
        self.assertEqual(self.applied(GUARDED), GUARDED)
        self.assertIn("rows without an unmasked key", self.run_program(GUARDED).stderr)
        self.assertNotIn("softmax", self.applied(GUARDED, "--assume=attention"))

    def test_several_results_are_written_at_the_first_one(self):
        result = self.applied(SHARED, "--assume=all")
        lines = [line.split(" = ")[0].strip() for line in result.split("\n")]
        self.assertLess(lines.index("%1"), lines.index("%0"))    # a parameter that was turned behind the first product
        self.assertIn('"ttir.matmul"(%x, ', result)
        self.assertEqual(result.count("ttir.matmul"), 1)
        self.assertRegex(result, r'%2 = "ttir.slice_static"\(%fused_\d\) .*tensor<32x96xbf16> loc\(#loc2\)')
        run_time = SHARED.replace("%w: tensor<96x64xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}",
                                  "%w: tensor<96x64xbf16>")
        self.assertEqual(self.applied(run_time, "--assume=all").count("ttir.matmul"), 1)    # in the place of the second one

    def test_several_results_are_written_behind_what_they_are_made_of(self):
        result = self.applied(CROSS)
        self.assertRegex(result, r'%1, %5, %8 = "ttir.split_query_key_value_and_split_heads"\(%x, %2\) .*transpose_key = true')
        self.assertEqual(len(re.findall(r"ttir\.\w+", result)), 3)
        early = CROSS.replace('  %2 = "', '  %e = "ttir.exp"(%1) : (tensor<1x2x32x32xbf16>) -> tensor<1x2x32x32xbf16>\n  %2 = "', 1)
        early = early.replace("return %9, %8 : ", "return %e, %9, %8 : tensor<1x2x32x32xbf16>, ").replace(
            "-> (tensor<1x2x32x64", "-> (tensor<1x2x32x32xbf16>, tensor<1x2x32x64")
        self.assertEqual(self.applied(early), early)    # what needs the queries stands before the keys

    def test_results_keep_their_names(self):
        """One of several results is called by its own name, or by a number where they share one."""
        for results, used in (("%8, %9", "%8"), ("%8:2", "%8#0")):
            text = LINEAR.replace("    // the product\n", '    %s = "ttir.sort"(%%x) <{descending = true, dim = -1 : si32, stable '
                                  '= false}> : (tensor<2x32x64xbf16>) -> (tensor<2x32x64xbf16>, tensor<2x32x64xsi32>)\n' % results)
            text = text.replace('"ttir.matmul"(%x, %w)', '"ttir.matmul"(%s, %%w)' % used)
            self.assertIn('"ttir.linear"(%s, %%w, %%b)' % used, self.applied(text))

    def test_an_op_of_several_results(self):
        result = self.applied(TOPK, "--assume=all")
        self.assertIn('%1, %2 = "ttir.topk"(%x) <{dim = 1 : i32, k = 8 : i32, largest = true, sorted = true}> : '
                      '(tensor<32x128xbf16>) -> (tensor<32x8xbf16>, tensor<32x8xsi32>)', result)
        self.assertNotIn("sort\"", result)
        signless = TOPK.replace("xsi32", "xi32")
        self.assertIn("-> (tensor<32x8xbf16>, tensor<32x8xi32>)", self.applied(signless, "--assume=all"))
        other = TOPK.replace("ends = [32 : i32, 8 : i32]", "ends = [32 : i32, 9 : i32]", 1)
        other = other.replace("tensor<32x8xbf16>", "tensor<32x9xbf16>")
        self.assertNotIn('%1, %2 = "ttir.topk"', self.applied(other, "--assume=all"))

    def test_a_rotation_is_a_composite_with_its_function(self):
        result = self.applied(ROTATED, "--assume=all")
        self.assertRegex(result, r'%7 = "ttcore.composite"\(%x, %cos, %sin\) <{composite_name = "rotary_embedding", '
                                 r'decomposition = @fused_rotary_embedding_0}> ')
        self.assertRegex(result, r"(?s)return %7 .*\n}\nfunc.func private @fused_rotary_embedding_0\(.*\) -> "
                                 r"tensor<1x8x32x64xbf16> attributes {tt.composite_decomposition} {\n.*\n}\n")
        self.assertEqual(self.applied(result, "--assume=all"), result)
        taken = self.applied(ROTATED.replace("@main", "@fused_main"), "--assume=all")
        self.assertIn("@fused2_rotary_embedding_0", taken)
        other = ROTATED.replace('"ttir.concat"(%3, %1)', '"ttir.concat"(%1, %3)')
        self.assertNotIn("composite", self.applied(other, "--assume=all"))

    def test_a_convolution_takes_a_bias_of_its_channels(self):
        result = self.applied(CONVOLUTION, "--assume=all")
        self.assertRegex(result, r'%fused_\d = "ttir.reshape"\(%b\) .* -> tensor<1x8x1x1xbf16>')
        self.assertRegex(result, r'%1 = "ttir.conv2d"\(%x, %w, %fused_\d\) <{batch_dim = 0 : i64, channel_dim = 1 : i64, '
                                 r'dilation = array<i32: 1, 1>, groups = 1 : i32, height_dim = 2 : i64, '
                                 r'padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, width_dim = 3 : i64}>')
        self.assertNotIn("ttir.add", result)
        image = CONVOLUTION.replace("tensor<8x1x1xbf16>", "tensor<8x16x16xbf16>")
        self.assertEqual(self.applied(image, "--assume=all"), image)

    def test_a_group_norm_takes_rows_of_its_channels(self):
        result = self.applied(GROUP_NORM, "--assume=all")
        self.assertEqual(len(re.findall(r'%fused_\d = "ttir.reshape"\(%[wb]\) <{shape = \[64 : i32\]}> ', result)), 2)
        self.assertRegex(result, r'%10 = "ttir.group_norm"\(%x, %fused_\d, %fused_\d\) <{channel_dim = 1 : i64, epsilon = '
                                 r'1.0e-05 : f32, num_groups = 8 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 1>}> : ')
        self.assertNotIn("ttir.mean", result)
        self.assertEqual(self.applied(result, "--assume=all"), result)
        rows = GROUP_NORM.replace("2x64x32x32", "2x64x1024").replace("64 : i32, 32 : i32, 32 : i32", "64 : i32, 1024 : i32")
        rows = rows.replace("1x64x1x1", "1x64x1").replace("64x1x1xbf16", "64x1xbf16")
        self.assertEqual(self.applied(rows, "--assume=all"), rows)
        self.assertIn("(group_norm) is left: ", self.run_program(rows, "--assume=all").stderr)
        twice = self.run_program(rows + rows.replace("@main", "@other"), "--assume=all").stderr
        self.assertRegex(twice, r"m\.mlir:\d+:3: note: ttnn.group_norm \(group_norm\) is left: .* \(the same at 1 more place: line \d+\)\n")
        self.assertEqual(twice.count("group_norm"), 2)
        other = self.run_program(rows + ROTATED.replace("@main", "@other"), "--assume=all").stderr
        self.assertEqual((other.count(" is left: "), other.count("the same at")), (1, 0))

    def test_a_batch_norm_says_where_its_channels_are(self):
        result = self.applied(BATCH_NORM, "--assume=all")
        self.assertRegex(result, r'%6 = "ttir.batch_norm_inference"\(%x(, %fused_\d+){4}\) <{dimension = 1 : i32, epsilon = 1.0e-05 : f32}> ')
        last = BATCH_NORM.replace("1x16x1x1", "1x1x1x16").replace("2x16x8x8", "2x8x8x16")
        self.assertIn("<{dimension = 3 : i32, ", self.applied(last, "--assume=all"))
        rows = BATCH_NORM.replace("1x16x1x1", "1x1x8x8")    # of positions, not of channels
        self.assertNotIn("batch_norm", self.applied(rows, "--assume=all"))

    def test_a_convolution_of_volumes_takes_a_padding_for_each_dimension(self):
        def module(before, after, extents):
            pad = ", ".join(f"{b}, {e}" for b, e in zip((0, *before, 0), (0, *after, 0)))
            return f"""module {{
  func.func @main(%x: tensor<1x8x16x16x32xbf16>, %w: tensor<64x32x3x3x3xbf16>) -> tensor<1x8x16x16x64xbf16> {{
    %0 = "ttir.pad"(%x) <{{padding = array<i32: {pad}>, value = 0.0 : f32}}> : (tensor<1x8x16x16x32xbf16>) -> tensor<{extents}x32xbf16>
    %1 = "ttir.conv3d"(%0, %w) <{{batch_dim = 0 : i64, channel_dim = 4 : i64, depth_dim = 1 : i64, groups = 1 : i32, height_dim = 2 : i64, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>, width_dim = 3 : i64}}> : (tensor<{extents}x32xbf16>, tensor<64x32x3x3x3xbf16>) -> tensor<1x8x16x16x64xbf16>
    return %1 : tensor<1x8x16x16x64xbf16>
  }}
}}
"""
        self.assertIn("padding = array<i32: 1, 1, 1>, ", self.applied(module((1, 1, 1), (1, 1, 1), "1x10x18x18"), "--assume=all"))
        causal = module((2, 1, 1), (0, 1, 1), "1x10x18x18")
        self.assertEqual(self.applied(causal, "--assume=all"), causal)

    def test_what_takes_longer_is_left(self):
        """A mean of dimensions that are not the last ones is one of a permuted copy."""
        def module(dims, kept, shape):
            return f"""module {{
  func.func @main(%x: tensor<{shape}xf32>) -> tensor<{kept}xf32> {{
    %s = "ttir.sum"(%x) <{{dim_arg = [{dims}], keep_dim = false}}> : (tensor<{shape}xf32>) -> tensor<{kept}xf32>
    %c = "ttir.full"() <{{fill_value = 4.8828125e-04 : f32, shape = array<i32: {kept.replace("x", ", ")}>}}> : () -> tensor<{kept}xf32>
    %r = "ttir.multiply"(%s, %c) : (tensor<{kept}xf32>, tensor<{kept}xf32>) -> tensor<{kept}xf32>
    return %r : tensor<{kept}xf32>
  }}
}}
"""
        inner = module("1 : i32, 3 : i32", "2x512", "2x64x512x32")
        self.assertEqual(self.applied(inner, "--assume=all"), inner)
        self.assertIn("is left: not faster", self.run_program(inner, "--assume=all").stderr)
        self.assertIn("ttir.mean", self.applied(module("2 : i32", "2x512", "2x512x2048"), "--assume=all"))

    def test_a_pool_takes_a_pad_that_is_turned_on_its_way(self):
        result = self.applied(POOL, "--assume=all")
        self.assertRegex(result, r'"ttir.permute"\(%x\) .* -> tensor<1x16x16x8xbf16>')
        self.assertIn("padding = array<i32: 1, 1, 1, 1>", result)
        self.assertNotIn("ttir.pad", result)
        other = POOL.replace("0xFF800000 : f32", "0.0 : f32")
        self.assertEqual(self.applied(other, "--assume=all"), other)

    def test_heads_are_joined_and_repeated(self):
        self.assertIn('"ttir.concatenate_heads"(%x) : (tensor<1x8x32x64xbf16>) -> tensor<1x32x512xbf16>', self.applied(HEADS))
        other = HEADS.replace("0, 2, 1, 3", "0, 2, 3, 1").replace("1x32x8x64", "1x32x64x8")
        self.assertEqual(self.applied(other), other)
        self.assertIn('%2 = "ttir.repeat_interleave"(%x) <{dim = 1 : si32, repeats = 4 : ui32}>', self.applied(REPEATED))
        other = REPEATED.replace("[1 : i32, 2 : i32, 1 : i32, 32", "[1 : i32, 1 : i32, 2 : i32, 32")
        other = other.replace("1x2x1x32", "1x1x2x32").replace("1x2x4x32", "1x4x2x32").replace("1, 1, 4, 1, 1", "1, 4, 1, 1, 1")
        self.assertIn('"ttir.repeat"(', self.applied(other))


class Repro(Program):
    def repro(self, text, *options):
        r = self.run_program(text, "--ttir-only", "-d", "r", *options, command="repro")
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def read(self, name):
        with open(os.path.join(self.dir, "r", name)) as f:
            return f.read()

    def test_a_finding_is_a_folder_of_modules(self):
        self.assertEqual(self.repro(LINEAR), "01-linear: fused\n")
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, "r", "01-linear"))),
                         ["README.md", "fused.mlir", "ttir.mlir"])
        self.assertEqual(self.read("01-linear/ttir.mlir").count("loc("), 6)
        self.assertIn("%b: tensor<128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}",
                      self.read("01-linear/ttir.mlir"))
        self.assertIn('"ttir.linear"(%x, %w, %b)', self.read("01-linear/fused.mlir"))
        self.assertLessEqual(self.read("01-linear/README.md").count("\n"), 12)

    def test_what_is_not_written_is_named(self):
        """The fused op: no op of its definition, which no module has."""
        text = """\
func.func @main(%c: tensor<4x8x128x64xbf16>, %u: tensor<1x8x128x64xbf16>, %p: tensor<1xi32>) -> tensor<4x8x128x64xbf16> {
  %0 = "ttir.arange"() <{arange_dimension = 0 : i64, end = 4 : si64, start = 0 : si64, step = 1 : si64}> : () -> tensor<4x1x1x1xi32>
  %1 = "ttir.reshape"(%p) <{shape = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
  %2 = "ttir.eq"(%0, %1) : (tensor<4x1x1x1xi32>, tensor<1x1x1x1xi32>) -> tensor<4x1x1x1xbf16>
  %3 = "ttir.where"(%2, %u, %c) : (tensor<4x1x1x1xbf16>, tensor<1x8x128x64xbf16>, tensor<4x8x128x64xbf16>) -> tensor<4x8x128x64xbf16>
  return %3 : tensor<4x8x128x64xbf16>
}
"""
        self.assertRegex(self.repro(text), "not fused: how ttnn.paged_fill_cache is")
        self.assertNotIn("cumsum", self.repro(text, "--force"))

    def test_only_what_is_needed_comes_along(self):
        others = LINEAR.replace("    return %2", '    %3 = "ttir.cumsum"(%2) <{dim = 0 : i64}> : (tensor<2x32x128xbf16>) -> '
                                'tensor<2x32x128xbf16> loc(#loc4)\n    return %3') + '#loc4 = loc("scan.4")\n'
        self.repro(others)
        self.assertNotIn("scan", self.read("01-linear/ttir.mlir"))
        self.repro(ATTENTION, "--force")
        self.assertIn("fill_value = 2.500000e-01", self.read("01-attention/ttir.mlir"))

    def test_what_is_written_to_is_no_result(self):
        """As older compilers print it: each op takes a tensor.empty to write to."""
        text = LINEAR.replace('    %0 = "ttir.matmul"(%x, %w)', """\
    %e0 = ttir.empty() : tensor<2x32x128xbf16>
    %e2 = ttir.empty() : tensor<2x32x128xbf16>
    %0 = "ttir.matmul"(%x, %w, %e0)""").replace("tensor<64x128xbf16>) -> ", "tensor<64x128xbf16>, tensor<2x32x128xbf16>) -> ")
        text = text.replace("(%0, %1)", "(%0, %1, %e2)").replace("tensor<1x1x128xbf16>) -> ", "tensor<1x1x128xbf16>, tensor<2x32x128xbf16>) -> ")
        self.assertEqual(self.repro(text), "01-linear: fused\n")
        self.assertIn("    return %2 : tensor<2x32x128xbf16>\n", self.read("01-linear/ttir.mlir"))

    def test_a_number_that_is_made_once_comes_along(self):
        """Of TTNN, where a function that runs once makes it: without it the sum is no mean."""
        r = self.run_program("""\
module {
  func.func private @once() -> tensor<1x1xbf16> attributes {tt.function_type = "const_eval"} {
    %0 = "ttnn.full"() <{fill_value = 1.562500e-02 : f32, shape = #ttnn.shape<1x1>}> : () -> tensor<1x1xbf16>
    return %0 : tensor<1x1xbf16>
  }
  func.func @main(%x: tensor<64x64xbf16>) -> tensor<64x1xbf16> {
    %0 = ttcore.load_cached(@once, []) : () -> tensor<1x1xbf16>
    %1 = "ttnn.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x64xbf16>) -> tensor<64x1xbf16>
    %2 = "ttnn.multiply"(%1, %0) : (tensor<64x1xbf16>, tensor<1x1xbf16>) -> tensor<64x1xbf16>
    return %2 : tensor<64x1xbf16>
  }
}
""", "--ttnn-only", "-d", "r", command="repro")
        self.assertEqual(r.returncode, 0, r.stderr)
        module = self.read("01-mean/ttnn.mlir")
        self.assertIn('%0 = "ttnn.full"() <{fill_value = 1.562500000e-02 : f32, shape = #ttnn.shape<1x1>}> : ', module)
        self.assertIn("@main(%x: tensor<64x64xbf16>) -> ", module)
        self.assertIn("ttnn.mean", self.run_program(module, "--ttnn-only", "-n", command="--details").stderr)

    def test_what_computes_with_arguments_stays_behind(self):
        """An embedding of ids is no movement of an argument; a row of it is one of the small module."""
        text = """\
func.func @main(%ids: tensor<1x32xui32>, %t: tensor<100x64xbf16>, %r: tensor<1x32x64xbf16>, %w: tensor<64x128xbf16>, %b: tensor<128xbf16>) -> tensor<1x32x128xbf16> {
  %0 = "ttir.embedding"(%ids, %t) : (tensor<1x32xui32>, tensor<100x64xbf16>) -> tensor<1x32x64xbf16>
  %1 = "ttir.reshape"(%w) <{shape = [1 : i32, 64 : i32, 128 : i32]}> : (tensor<64x128xbf16>) -> tensor<1x64x128xbf16>
  %2 = "ttir.matmul"(%0, %1) <{transpose_a = false, transpose_b = false}> : (tensor<1x32x64xbf16>, tensor<1x64x128xbf16>) -> tensor<1x32x128xbf16>
  %3 = "ttir.add"(%2, %b) : (tensor<1x32x128xbf16>, tensor<128xbf16>) -> tensor<1x32x128xbf16>
  return %3 : tensor<1x32x128xbf16>
}
"""
        self.repro(text)
        module = self.read("01-linear/ttir.mlir")
        self.assertNotIn("embedding", module)
        self.assertIn('"ttir.reshape"(%w)', module)    # this moves a parameter

    def test_a_broadcast_of_what_is_computed_comes_along(self):
        """Without it the sines would not be known to be the same for each head."""
        text = ROTATED.replace("{\n", """{
  %c = "ttir.cos"(%cos) : (tensor<1x1x32x64xbf16>) -> tensor<1x1x32x64xbf16>
  %cb = "ttir.broadcast"(%c) <{broadcast_dimensions = array<i64: 1, 8, 1, 1>}> : (tensor<1x1x32x64xbf16>) -> tensor<1x8x32x64xbf16>
  %s = "ttir.sin"(%sin) : (tensor<1x1x32x64xbf16>) -> tensor<1x1x32x64xbf16>
  %sb = "ttir.broadcast"(%s) <{broadcast_dimensions = array<i64: 1, 8, 1, 1>}> : (tensor<1x1x32x64xbf16>) -> tensor<1x8x32x64xbf16>
""", 1)
        for n, name in (("5", "cos"), ("6", "sin")):
            text = re.sub(r'(%%%s = "ttir.multiply"\(%%\w+, )%%%s(.*)tensor<1x1x32x64xbf16>' % (n, name),
                          r"\1%%%sb\2tensor<1x8x32x64xbf16>" % name[0], text)
        self.assertTrue(self.repro(text, "--force").startswith("01-rotary_embedding: fused"))
        module = self.read("01-rotary_embedding/ttir.mlir")
        self.assertEqual((module.count("ttir.broadcast"), module.count("ttir.cos")), (2, 0))

    def test_a_permute_of_what_is_computed_comes_along(self):
        """A canonicaliser merges it with the one in front of the product."""
        text = ATTENTION.replace("%k: tensor<1x4x32x16xbf16>", "%k0: tensor<1x32x4x16xbf16>").replace("{\n", """{
  %n = "ttir.neg"(%k0) : (tensor<1x32x4x16xbf16>) -> tensor<1x32x4x16xbf16>
  %k = "ttir.permute"(%n) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x32x4x16xbf16>) -> tensor<1x4x32x16xbf16>
""", 1)
        self.repro(text, "--force")
        module = self.read("01-attention/ttir.mlir")
        self.assertEqual((module.count("ttir.permute"), module.count("ttir.neg")), (2, 0))

    def test_one_of_several_results_is_an_argument(self):
        text = LINEAR.replace("    // the product\n", '    %9:2 = "ttir.sort"(%x) <{descending = true, dim = -1 : si32, stable = false}> : '
                              '(tensor<2x32x64xbf16>) -> (tensor<2x32x64xbf16>, tensor<2x32x64xsi32>)\n')
        self.repro(text.replace('"ttir.matmul"(%x, %w)', '"ttir.matmul"(%9#0, %w)'))
        module = self.read("01-linear/ttir.mlir")
        self.assertIn("(%result_9_0: tensor<2x32x64xbf16>", module)
        self.assertIn('"ttir.matmul"(%result_9_0, %w)', module)
        self.repro(text.replace("%9:2 =", "%9, %10 =").replace('"ttir.matmul"(%x, %w)', '"ttir.matmul"(%9, %w)'), "--force")
        module = self.read("01-linear/ttir.mlir")
        self.assertIn("(%9: tensor<2x32x64xbf16>", module)
        self.assertIn('"ttir.matmul"(%9, %w)', module)

    def test_what_verify_finds_is_a_folder_too(self):
        name = os.path.join(CORPUS, "wrong", "mish_threshold_1")
        if not os.path.exists(name + ".ttir.mlir"):
            self.skipTest("no corpus")
        for levels in (("ttir",), ("ttir", "ttnn")):
            options = [] if len(levels) == 2 else ["--ttir-only"]
            r = subprocess.run([PROGRAM, "repro", "--force", "-d", "r", *options, *("%s.%s.mlir" % (name, f) for f in levels)],
                               cwd=self.dir, capture_output=True, text=True)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(bool(re.search(r"(?m)^\d+-wrong_\w+: ttnn\.mish$", r.stdout)), len(levels) == 2, r.stdout)
        folder = next(f for f in os.listdir(os.path.join(self.dir, "r")) if "wrong" in f)
        self.assertIn("ttir.tanh", self.read(folder + "/before.mlir"))
        self.assertIn("ttnn.mish", self.read(folder + "/after.mlir"))
        self.assertIn("before", self.read(folder + "/README.md"))

    def test_alike_places_are_one_folder(self):
        twice = LINEAR.replace("    return %2 : tensor<2x32x128xbf16>", """\
    %3 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<2x32x64xbf16>, \
tensor<64x128xbf16>) -> tensor<2x32x128xbf16> loc(#loc1)
    %4 = "ttir.reshape"(%b) <{shape = [1 : i32, 1 : i32, 128 : i32]}> : (tensor<128xbf16>) -> tensor<1x1x128xbf16> loc(#loc2)
    %5 = "ttir.add"(%3, %4) : (tensor<2x32x128xbf16>, tensor<1x1x128xbf16>) -> tensor<2x32x128xbf16> loc(#loc3)
    return %2, %5 : tensor<2x32x128xbf16>, tensor<2x32x128xbf16>""")
        twice = twice.replace("-> tensor<2x32x128xbf16> {", "-> (tensor<2x32x128xbf16>, tensor<2x32x128xbf16>) {")
        self.assertEqual(self.repro(twice), "01-linear: fused\n")

    def test_only_at_a_place(self):
        self.assertEqual(self.repro(LINEAR, "--at=%2"), "01-linear: fused\n")
        self.assertEqual(self.repro(LINEAR, "--at=%2", "--only=attention", "--force"), "")

    def test_why_there_is_no_fused_module(self):
        self.assertEqual(self.repro(NORM), "01-layer_norm: not fused: the number that eps is has to be known\n")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "r", "01-layer_norm", "fused.mlir")))
        self.assertEqual(self.repro(NORM, "--force", "--value=eps=1e-05"), "01-layer_norm: fused\n")

    def test_a_folder_with_something_in_it_is_refused(self):
        self.repro(LINEAR)
        self.assertEqual(self.run_program(LINEAR, "--ttir-only", "--dir=r", command="repro").returncode, 3)
        stale = os.path.join(self.dir, "r", "01-linear", "before.mlir")
        with open(stale, "w") as f:
            f.write("of an earlier run")
        self.assertEqual(self.repro(LINEAR, "--force"), "01-linear: fused\n")
        self.assertFalse(os.path.exists(stale))
        self.assertEqual(self.run_program(LINEAR, "--ttir-only", command="repro").returncode, 2)

    def test_an_input_is_never_written(self):
        self.repro(LINEAR)
        path = os.path.join(self.dir, "r", "01-linear", "ttir.mlir")
        before = self.read("01-linear/ttir.mlir")
        r = subprocess.run([PROGRAM, "repro", "--ttir-only", "--force", "-d", "r", path], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(r.returncode, 2)
        self.assertIn("is also an input", r.stderr)
        self.assertEqual(self.read("01-linear/ttir.mlir"), before)


if __name__ == "__main__":
    unittest.main()
