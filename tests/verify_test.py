#!/usr/bin/env python3
"""`fusion-audit verify`: what the compiler is known to fuse wrongly, and fusions that look alike and are right.

usage: verify_test.py PROGRAM [CORPUS] [unittest arguments]
fixtures/verify/pairs.txt has bodies of ops before and after a pass, right and wrong. Where ../shared/corpus/wrong is
there, its pairs are held against its truth.tsv.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

from schemas import hold

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
CORPUS = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.sep in sys.argv[1] else ""


PAIRS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "verify", "pairs.txt")
OP = re.compile(r"(%\w+(?:, %\w+)*) = (\S+?)\(([^)]*)\)(?: \{(.*)\})? : (.*)")
CONSTANT = re.compile(r"%(\w+) = ([-+.\w]+) : (\S+)")


def attributes(text):
    """What pairs.txt writes in fewer characters."""
    text = re.sub(r"\[([-\d, ]*)\]i32", lambda m: "[" + ", ".join(n + " : i32" for n in m[1].split(", ")) + "]", text)
    return re.sub(r"(?<!\w)<([-\d, ]+)>(i32)?", lambda m: f"array<{m[2] or 'i64'}: {m[1]}>", text)


def module(arguments, body):
    """A function of arguments "x: 4x8xf32", which returns %r."""
    types = dict(a.split(": ") for a in arguments)
    head, lines = ", ".join(f"%{n}: tensor<{t}>" for n, t in types.items()), []
    for line in body:
        constant, op = CONSTANT.fullmatch(line), OP.fullmatch(line)
        if constant:
            name, value, types[name] = constant[1], constant[2], constant[3]
            value = value if value.startswith("0x") else f"{float(value):.9e}"
            shape = ", ".join(constant[3].split("x")[:-1])
            lines.append(f'    %{name} = "ttir.full"() <{{fill_value = {value} : f32, shape = array<i32: {shape}>}}> : '
                         f"() -> tensor<{constant[3]}>")
            continue
        names, operands, results = op[1].split(", "), [o for o in op[3].split(", ") if o], op[5].split(", ")
        signature = ", ".join(f"tensor<{types[o[1:]]}>" for o in operands)
        types.update((n[1:], t) for n, t in zip(names, results))
        result = ", ".join(f"tensor<{t}>" for t in results)
        lines.append(f'    {op[1]} = "{op[2]}"({", ".join(operands)}) <{{{attributes(op[4] or "")}}}> : ({signature}) -> '
                     f'{result if len(results) == 1 else f"({result})"} loc("{names[0][1:]}")')
    return (f"module {{\n  func.func @main({head}) -> tensor<{types['r']}> {{\n" + "\n".join(lines) +
            f"\n    return %r : tensor<{types['r']}>\n  }}\n}}\n")


def read_pairs():
    """[(name, arguments, body before, [("right" or "wrong", body)])]"""
    pairs, body = [], None
    with open(PAIRS) as f:
        for line in map(str.strip, f):
            if line.startswith("pair "):
                pairs.append((line[5:], [], [], []))
                body = None
            elif line in ("before", "right", "wrong"):
                body = pairs[-1][2] if line == "before" else []
                if line != "before":
                    pairs[-1][3].append((line, body))
            elif line and not line.startswith("#"):
                (pairs[-1][1] if body is None else body).append(line)
    return pairs


LONGEST = 400  # characters of a counterexample
X = ["x: 8x32xf32"]
RELU6 = ["%r = ttir.relu6(%x) : 8x32xf32"]


class Verify(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.directory.name, name)
        if text is not None:
            with open(path, "w") as f:
                f.write(text)
        return path

    def verify(self, *arguments):
        report = self.path("check.yml")
        if os.path.exists(report):
            os.unlink(report)
        run = subprocess.run([PROGRAM, "verify", "-o", report, *arguments], capture_output=True, text=True, timeout=60)
        found = None
        if os.path.exists(report):
            with open(report) as f:
                found = yaml.safe_load(f)
        return run.returncode, found, run.stderr

    def check(self, before, after, differs):
        status, report, said = self.verify(before, after)
        self.assertEqual(status, 1 if differs else 0, said)
        if not differs:
            self.assertIsNone(report)
            self.assertEqual(said, "")
            return
        for entry in report["checks"]:
            self.assertIn("before ", entry["counterexample"])
            self.assertLess(len(entry["counterexample"]), LONGEST)
            self.assertTrue(entry["before"] or entry["after"])

    def test_formats(self):
        """JSON has what YAML has, also where nothing differs; the page is the JSON."""
        pairs = [(name, arguments, before, truth, after) for name, arguments, before, forms in read_pairs()[:3]
                 for truth, after in forms]
        for name, arguments, before, truth, after in pairs:
            one, two = self.path("before.mlir", module(arguments, before)), self.path("after.mlir", module(arguments, after))
            with self.subTest(name):
                said = {}
                for format in ("yaml", "json", "html"):
                    run = subprocess.run([PROGRAM, "verify", "-q", f"--format={format}", "-o", "-", one, two],
                                         capture_output=True, text=True, timeout=60)
                    self.assertEqual(run.returncode, truth == "wrong")
                    said[format] = run.stdout
                document = json.loads(said["json"])
                hold(document, "verify")
                self.assertEqual(json.loads(re.search(r'id="data">(.*?)</script>', said["html"], re.S)[1]), document)
                del document["version"]
                if truth == "wrong":
                    self.assertEqual(yaml.safe_load(said["yaml"]), document)
                else:
                    self.assertEqual((said["yaml"], document["checks"]), ("", []))

    def test_pairs(self):
        for name, arguments, before, forms in read_pairs():
            first = self.path("before.mlir", module(arguments, before))
            for i, (truth, after) in enumerate(forms):
                with self.subTest(f"{name} {i} {truth}"):
                    self.check(first, self.path("after.mlir", module(arguments, after)), truth == "wrong")

    def test_whatever_is_drawn_a_gate_opens(self):
        """A condition on both sides is an input, which is true for some numbers that are compared and false for others."""
        name, arguments, before, forms = next(p for p in read_pairs() if p[0] == "softmax_behind_a_gate")
        paths = [self.path("before.mlir", module(arguments, before))]
        paths.append(self.path("after.mlir", module(arguments, next(body for truth, body in forms if truth == "wrong"))))
        for seed in range(1, 10):
            with self.subTest(seed):
                self.assertEqual(self.verify(f"--seed={seed}", *paths)[0], 1)

    def test_each_row_of_a_cache_is_filled(self):
        cache, rows, one = "tensor<4x8x128x128xf32>", "tensor<4x8x18x128xf32>", "tensor<1x8x18x128xf32>"

        def filled(dialect, *users):
            lines = [f"  func.func @main(%c: {cache}, %x: {rows}) -> {cache} {{"]
            for i in 0, 1, 2, 3:
                bounds = f"begins = [{i}, 0, 0, 0]i32, ends = [{i + 1}, 8, 18, 128]i32, step = [1, 1, 1, 1]i32"
                lines.append(f'    %s{i} = "{dialect}.slice_static"(%x) <{{{attributes(bounds)}}}> : ({rows}) -> {one}')
            for i in users:
                lines.append(f'    "{dialect}.fill_cache"(%c, %s{i}) <{{batch_offset = {i} : i32}}> : ({cache}, {one}) -> ()')
            return "module {\n" + "\n".join(lines) + f"\n    return %c : {cache}\n  }}\n}}\n"
        before = self.path("before.mlir", filled("ttir", 0, 1, 2, 3))
        for users in (1, 0, 2, 3), (0, 1, 3), (0, 1, 2):
            with self.subTest(users):
                self.check(before, self.path("after.mlir", filled("ttnn", *users)), users != (1, 0, 2, 3))

    def test_a_mask_that_no_small_shape_shows_is_not_compared(self):
        """Of positions that begin at 40 none is below 4: whether the diagonal is left out is seen at its own shapes alone."""
        ops = ["%i = ttir.arange() {arange_dimension = 0 : i64, start = 40 : si64, end = 56 : si64, step = 1 : si64} : 16x64xi32",
               "%j = ttir.arange() {arange_dimension = 1 : i64, start = 0 : si64, end = 64 : si64, step = 1 : si64} : 16x64xi32",
               "%z = 0.0 : 1x1xf32"]
        arguments = ["x: 16x64xf32"]
        before = self.path("before.mlir", module(arguments, ops + ["%c = ttir.eq(%j, %i) : 16x64xi1",
                                                                   "%r = ttir.where(%c, %x, %z) : 16x64xf32"]))
        right = ops + ["%c = ttnn.ne(%i, %j) : 16x64xi1", "%r = ttnn.where(%c, %z, %x) : 16x64xf32"]
        self.check(before, self.path("after.mlir", module(arguments, right)), False)
        wrong = ["%z = 0.0 : 1x1xf32", "%r = ttnn.multiply(%x, %z) : 16x64xf32"]
        self.assertEqual(self.verify(before, self.path("after.mlir", module(arguments, wrong)))[0], 3)

    def test_each_entry_of_a_table_is_compared(self):
        """Columns of an image are repeated by a product with zeros and ones, made of two lists of positions."""
        def repeated(dialect, rows):
            columns = [i // 2 for i in range(128)]
            return f"""module {{
  func.func @main(%x: tensor<4x64xf32>) -> tensor<4x128xf32> {{
    %i = "{dialect}.constant"() <{{value = dense<{rows}> : tensor<64xsi32>}}> : () -> tensor<64xsi32>
    %j = "{dialect}.constant"() <{{value = dense<{columns}> : tensor<128xsi32>}}> : () -> tensor<128xsi32>
    %a = "{dialect}.reshape"(%i) <{{shape = [64 : i32, 1 : i32]}}> : (tensor<64xsi32>) -> tensor<64x1xsi32>
    %b = "{dialect}.reshape"(%j) <{{shape = [1 : i32, 128 : i32]}}> : (tensor<128xsi32>) -> tensor<1x128xsi32>
    %e = "{dialect}.eq"(%a, %b) : (tensor<64x1xsi32>, tensor<1x128xsi32>) -> tensor<64x128xbf16>
    %r = "{dialect}.matmul"(%x, %e) : (tensor<4x64xf32>, tensor<64x128xbf16>) -> tensor<4x128xf32>
    return %r : tensor<4x128xf32>
  }}
}}
"""
        right = list(range(64))
        before = self.path("before.mlir", repeated("ttir", right))
        self.check(before, self.path("after.mlir", repeated("ttnn", right)), False)
        for at in 21, 22, 63:
            with self.subTest(at):
                wrong = right[:at] + [right[at] - 1] + right[at + 1:]
                self.check(before, self.path("after.mlir", repeated("ttnn", wrong)), True)

    def test_one_result_of_several_is_known(self):
        """Queries are known, and keys and values are made by the same op: it reads what they are made of, too."""
        rows = ", ".join("[" + ", ".join("0.0" if k <= i else "-3.38953139E38" for k in range(64)) + "]" for i in range(64))
        mask = f"value = dense<[[[{rows}]]]> : tensor<1x1x64x64xbf16>"
        arguments = ["x: 64x256xbf16", "w: 768x256xbf16", "b: 768xbf16"]
        parts = [f"%{name}_ = ttir.slice_static(%t) {{begins = [{n}, 0, 0, 0, 0]i32, ends = [{n + 1}, 1, 4, 64, 64]i32, "
                 f"step = [1, 1, 1, 1, 1]i32}} : 1x1x4x64x64xbf16" for n, name in enumerate("qkv")]
        before = ["%u = ttir.permute(%w) {permutation = <1, 0>} : 256x768xbf16",
                  "%m = ttir.constant() {" + mask + "} : 1x1x64x64xbf16",
                  "%p = ttir.matmul(%x, %u) {transpose_a = false, transpose_b = false} : 64x768xbf16",
                  "%a = ttir.reshape(%p) {shape = [1, 64, 768]i32} : 1x64x768xbf16",
                  "%c = ttir.reshape(%b) {shape = [1, 1, 768]i32} : 1x1x768xbf16",
                  "%d = ttir.broadcast(%c) {broadcast_dimensions = <1, 64, 1>} : 1x64x768xbf16",
                  "%e = ttir.add(%a, %d) : 1x64x768xbf16",
                  "%f = ttir.reshape(%e) {shape = [1, 64, 3, 4, 64]i32} : 1x64x3x4x64xbf16",
                  "%t = ttir.permute(%f) {permutation = <2, 0, 3, 1, 4>} : 3x1x4x64x64xbf16", *parts,
                  *(f"%{n} = ttir.reshape(%{n}_) {{shape = [1, 4, 64, 64]i32}} : 1x4x64x64xbf16" for n in "qkv"),
                  "%g = ttir.permute(%k) {permutation = <0, 1, 3, 2>} : 1x4x64x64xbf16",
                  "%h = ttir.matmul(%q, %g) {transpose_a = false, transpose_b = false} : 1x4x64x64xbf16",
                  "%n = 0.125 : 1x4x64x64xbf16", "%i = ttir.multiply(%h, %n) : 1x4x64x64xbf16",
                  "%j = ttir.broadcast(%m) {broadcast_dimensions = <1, 4, 1, 1>} : 1x4x64x64xbf16",
                  "%l = ttir.add(%i, %j) : 1x4x64x64xbf16",
                  "%s = ttir.softmax(%l) {dimension = 3 : si32, numericStable = true} : 1x4x64x64xbf16",
                  "%r = ttir.matmul(%s, %v) {transpose_a = false, transpose_b = false} : 1x4x64x64xbf16"]

        def after(q, k):
            heads = ", ".join(["1x4x64x64xbf16"] * 3)
            return ["%u = ttnn.permute(%w) {permutation = <1, 0>} : 256x768xbf16",
                    "%m = ttnn.constant() {" + mask + "} : 1x1x64x64xbf16",
                    "%p = ttnn.linear(%x, %u, %b) {transpose_a = false, transpose_b = false} : 64x768xbf16",
                    "%a = ttnn.reshape(%p) {shape = [1, 64, 768]i32} : 1x64x768xbf16",
                    "%q, %k, %v = ttnn.split_query_key_value_and_split_heads(%a) {num_heads = 4 : ui32, num_kv_heads = 4 : ui32, "
                    "transpose_key = false} : " + heads,
                    f"%r = ttnn.scaled_dot_product_attention(%{q}, %{k}, %v, %m) {{is_causal = false, operandSegmentSizes = "
                    "array<i32: 1, 1, 1, 1, 0>, scale = 0.125 : f32} : 1x4x64x64xbf16"]
        first = self.path("before.mlir", module(arguments, before))
        self.check(first, self.path("after.mlir", module(arguments, after("q", "k"))), False)
        self.check(first, self.path("after.mlir", module(arguments, after("k", "q"))), True)

    def test_seeds(self):
        """What few numbers show, or a rounded constant explains, is the same for every seed."""
        names = ("epsilon_in_bf16", "batch_norm_of_a_rounded_epsilon_below_a_relu", "positions_that_bf16_rounds",
                 "folded_factor_of_what_is_compared", "rounded_threshold_that_is_folded")
        for name, arguments, before, forms in read_pairs():
            first = self.path("before.mlir", module(arguments, before))
            for truth, after in forms if name in names else []:
                second = self.path("after.mlir", module(arguments, after))
                for seed in range(16):
                    with self.subTest(f"{name} {truth} {seed}"):
                        self.assertEqual(self.verify(f"--seed={seed}", first, second)[0], truth == "wrong")

    @unittest.skipUnless(os.path.exists(os.path.join(CORPUS, "models")), "no corpus")
    def test_each_of_many_users_is_compared(self):
        """One of 32 slots of a cache that is filled with the rows of another user, which is 1 of 230 elements."""
        first = os.path.join(CORPUS, "models", "llama_3_8b_prefill_layer.ttir.mlir")
        with open(first.replace(".ttir.", ".ttnn."), encoding="utf-8") as f:
            text = f.read()
        of_user = "begins = [%d : i32, 0 : i32, 0 : i32, 0 : i32], ends = [%d : i32, 18"
        self.assertIn(of_user % (5, 6), text)
        second = self.path("after.mlir", text.replace(of_user % (5, 6), of_user % (4, 5), 1))
        for seed in range(8):
            self.assertEqual(self.verify(f"--seed={seed}", first, second)[0], 1, seed)

    def test_a_constant_that_is_rounded_before_a_bend(self):
        """Is said to be that, and no difference."""
        said = {}
        for name, arguments, before, forms in read_pairs():
            if name in ("rounded_threshold_that_is_folded", "epsilon_in_bf16"):
                files = self.path("before.mlir", module(arguments, before)), self.path("after.mlir", module(arguments, forms[0][1]))
                status, report, _ = self.verify("--details", *files)
                self.assertEqual((status, [c["kind"] for c in report["checks"]]), (0, ["proved"] * len(report["checks"])))
                said[name] = any("rounds differently at the bend" in c.get("because", "") for c in report["checks"])
        self.assertEqual(said, {"rounded_threshold_that_is_folded": True, "epsilon_in_bf16": False})

    def test_shards_of_another_dimension_are_not_compared(self):
        cut = ("shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 4, 2>, "
               "shard_type = #ttcore.shard_type<devices>")
        first = self.path("before.mlir", module(["x: 16x16xf32"], [
            f"%s = ttir.mesh_shard(%x) {{shard_dims = array<i64: 1, 0>, {cut}}} : 4x8xf32", "%r = ttir.exp(%s) : 4x8xf32"]))
        for dims, expected in (("<shard, 1 : i32>, <shard, 0 : i32>", 0), ("<shard, 0 : i32>, <shard, 1 : i32>", 3)):
            config = f"mapper_config = #ttnn.mesh_mapper_config<placements = [{dims}]>"
            after = self.path("after.mlir", module(["x: 16x16xf32"], [
                f"%s = ttnn.distribute_tensor(%x) {{{config}}} : 4x8xf32", "%r = ttnn.exp(%s) : 4x8xf32"]))
            self.assertEqual(self.verify(first, after)[0], expected)

    def test_ops_that_are_known_by_name(self):
        """They are the same on the same operands, whatever type holds whole numbers; what differs is not compared."""
        shape, experts = "4x4x32x64xbf16", "num_experts_per_tok = 4 : i64"
        first = self.path("before.mlir", module([f"x: {shape}", "i: 1x16x32x4xi32"], [
            f"%c = ttir.all_to_all_combine(%x, %i) {{{experts}}} : {shape}", f"%r = ttir.exp(%c) : {shape}"]))
        for attributes, op, expected in ((experts + ", output_shard_dim = 2 : i64", "exp", 0),
                                         (experts + ", output_shard_dim = 1 : i64", "exp", 3),
                                         (experts, "sigmoid", 1)):
            after = self.path("after.mlir", module([f"x: {shape}", "i: 1x16x32x4xi32"], [
                "%j = ttnn.typecast(%i) : 1x16x32x4xui16",
                f"%c = ttnn.all_to_all_combine(%x, %j) {{{attributes}}} : {shape}", f"%r = ttnn.{op}(%c) : {shape}"]))
            self.assertEqual(self.verify(first, after)[0], expected)
        q, kv = "1x4x8x64xbf16", "16x2x32x64xbf16"
        arguments = [f"q: {q}", f"k: {kv}", f"v: {kv}", "t: 4x4xi32", "p: 4xi32"]
        name, scale = "paged_scaled_dot_product_attention_decode", "is_causal = true, scale = 0.125 : f32"
        first = self.path("before.mlir", module(arguments, [
            f"%r = ttir.{name}(%q, %k, %v, %t, %q, %p) {{{scale}, operandSegmentSizes = <1, 1, 1, 1, 1, 0, 1, 0>i32}} : {q}"]))
        for operands, expected in (("%q, %k, %v, %t, %p", 0), ("%q, %v, %k, %t, %p", 3)):
            after = self.path("after.mlir", module(arguments, [
                f"%r = ttnn.{name}({operands}) {{{scale}, operandSegmentSizes = <1, 1, 1, 1, 0, 1, 0>i32}} : {q}"]))
            self.assertEqual(self.verify(first, after)[0], expected)

    def test_arguments_that_a_pass_has_cut_up(self):
        first = self.path("before.mlir", module(["x: 16x64xf32"], [
            "%s = ttir.mesh_shard(%x) {shard_dims = array<i64: -1, 1>, shard_direction = "
            "#ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 4>, shard_type = "
            "#ttcore.shard_type<identity>} : 16x16xf32", "%r = ttir.exp(%s) : 16x16xf32"]))
        for op, expected in ("exp", 0), ("sigmoid", 1):
            after = self.path("after.mlir", module(["x: 16x16xf32"], [f"%r = ttnn.{op}(%x) : 16x16xf32"]))
            self.assertEqual(self.verify(first, after)[0], expected)

    def test_padding_of_a_pool(self):
        """Top, left, bottom, right on both sides, unlike that of a convolution in TTNN."""
        op = "%%r = %s(%%x) {ceil_mode = false, count_include_pad = true, dilation = <1, 1>i32, %s = <3, 3>i32, " \
             "padding = <%s>i32, stride = <1, 1>i32%s} : 1x9x9x4xf32"
        sizes = ", batch_size = 1 : si32, channels = 4 : si32, input_height = 8 : si32, input_width = 8 : si32"
        for kind in "avg_pool2d", "max_pool2d":
            for padding, expected in ("2, 1, 1, 2", 0), ("2, 1, 2, 1", 3), ("1, 2, 2, 1", 1):
                files = [self.path(name, module(["x: 1x8x8x4xf32"], [op % (pool + kind, size, ends, more)]))
                         for name, pool, size, ends, more in (
                             ("before.mlir", "ttir.", "kernel", "2, 1, 1, 2", ""),
                             ("after.mlir", "ttnn.", "kernel_size", padding, sizes))]
                self.assertEqual(self.verify(*files)[0], expected, (kind, padding))

    def test_an_op_that_is_misread_is_not_compared(self):
        op = "%%r = %s.rms_norm(%s) {epsilon = 1.000000e-05 : f32, normalized_shape = <32>, operandSegmentSizes = <%s>i32} : 8x32xf32"
        arguments = ["x: 8x32xf32", "w: 32xf32"]
        before = self.path("before.mlir", module(arguments, [op % ("ttir", "%x, %w", "2, 0, 0")]))
        after = self.path("after.mlir", module(arguments, [op % ("ttnn", "%x", "1, 0, 0")]))
        status, report, said = self.verify(before, after)
        self.assertEqual((status, report), (3, None), said)
        self.assertIn("operandSegmentSizes that do not fit", said)
        self.path("before.mlir", module(arguments, [op % ("ttir", "%x, %w", "1, 1, 0")]))
        self.assertEqual(self.verify(before, after)[0], 1)

    def test_functional_updates_in_place(self):
        """A cache that TTIR makes anew is written where it stands, and read or returned by its name."""
        cache, row, at = "tensor<4x2x64x32xf32>", "tensor<1x2x1x32xf32>", "tensor<1xi32>"

        def function(body, result):
            return (f"module {{\n  func.func @main(%c: {cache}, %x: {row}, %y: {row}, %p: {at}, %q: {at}) -> {cache} {{\n"
                    + "\n".join(body) + f"\n    return {result} : {cache}\n  }}\n}}\n")

        def update(of, what, place, offset, result=None):
            name = f'{result} = "ttir' if result else '"ttnn'
            return (f'    {name}.update_cache"({of}, {what}, {place}) <{{batch_offset = {offset} : i32}}> : '
                    f"({cache}, {row}, {at}) -> {cache if result else '()'}")

        exp = '    %e = "{0}.exp"({1}) : (' + cache + ") -> " + cache
        once = self.path("once.mlir", function([update("%c", "%x", "%p", 0, "%0")], "%0"))
        twice = self.path("twice.mlir", function([update("%c", "%x", "%p", 0, "%0"), update("%0", "%y", "%q", 1, "%1"),
                                                  exp.format("ttir", "%1")], "%e"))
        for before, body, result, expected in (
                (once, [update("%c", "%x", "%p", 0)], "%c", 0),
                (once, [update("%c", "%y", "%p", 0)], "%c", 1),
                (once, [update("%c", "%x", "%p", 1)], "%c", 1),
                (twice, [update("%c", "%x", "%p", 0), update("%c", "%y", "%q", 1), exp.format("ttnn", "%c")], "%e", 0),
                (twice, [update("%c", "%x", "%p", 0), update("%c", "%x", "%q", 1), exp.format("ttnn", "%c")], "%e", 1),
                (twice, [update("%c", "%y", "%q", 1), exp.format("ttnn", "%c")], "%e", 1)):
            status, _, said = self.verify("--strict", before, self.path("after.mlir", function(body, result)))
            self.assertEqual(status, expected, (body, said))

    def test_effect_on_the_device(self):
        before = self.path("before.mlir", module(X, RELU6))
        after = self.path("after.mlir", module(X, ["%r = ttir.neg(%x) : 8x32xf32"]))
        self.assertRegex(self.verify(before, after)[1]["checks"][0]["on_device"], "an error of [1-9]")

    def test_place(self):
        x = self.path("before.mlir", module(X, ["%a = ttir.neg(%x) : 8x32xf32", "%r = ttir.exp(%a) : 8x32xf32"]))
        y = self.path("after.mlir", module(X, ["%a = ttir.neg(%x) : 8x32xf32", "%b = ttir.neg(%a) : 8x32xf32",
                                               "%c = ttir.neg(%b) : 8x32xf32", "%r = ttir.expm1(%c) : 8x32xf32"]))
        for at, kind in ("%r", "wrong_lowering"), ("%a", "proved"), ("3", "proved"), ("absent", None):
            run = subprocess.run([PROGRAM, "verify", f"--at={at}", x, y], capture_output=True, text=True, timeout=60,
                                 cwd=self.directory.name)
            self.assertEqual(run.returncode, 0 if kind else 3, run.stderr)
            self.assertEqual([e["kind"] for e in yaml.safe_load(run.stdout) or []], [kind] if kind else [])
        self.assertIn("nothing is at 'absent'", run.stderr)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["after.mlir", "before.mlir"])  # no report

    def at(self, place, *files):
        run = subprocess.run([PROGRAM, "verify", f"--at={place}", *files], capture_output=True, text=True, timeout=60,
                             cwd=self.directory.name)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return yaml.safe_load(run.stdout)

    def test_place_of_a_copy(self):
        """Whose verdict is that of the first op that does the same."""
        body = ["%a = ttir.neg(%x) : 8x32xf32", "%b = ttir.neg(%x) : 8x32xf32", "%u = ttir.sin(%x) : 8x32xf32",
                "%r = ttir.multiply(%a, %b) : 8x32xf32"]
        one = self.path("before.mlir", module(X, body))
        two = self.path("after.mlir", module(X, [body[0].replace("%a", "%d"), body[1].replace("%b", "%e")] +
                                             ["%c = -1.0 : 1x1xf32", "%f = ttir.multiply(%x, %c) : 8x32xf32",
                                              "%g = ttir.multiply(%d, %f) : 8x32xf32",
                                              "%h = ttir.cos(%x) : 8x32xf32", "%r = ttir.abs(%g) : 8x32xf32"]))
        first, copy = self.at("%e", one, two)
        self.assertEqual((first["kind"], copy["kind"]), ("proved", "copy"))
        self.assertIn("ttir.neg at line 3", copy["because"])
        self.assertEqual([(e["kind"], e["after"][:2]) for e in self.at("%b", one, two)],
                         [("proved", "%c"), ("proved", "%d"), ("copy", "")])  # %a is what %f is, too
        for unused in "%h", "%u":
            self.assertEqual([e["because"] for e in self.at(unused, one, two)], ["no result depends on it"])

    def test_place_of_what_is_not_compared(self):
        body = ["%p = ttir.permute(%x) {permutation = <1, 0>} : 32x8xf32", "%u = ttir.unheard_of(%p) : 32x8xf32",
                "%s = ttir.sin(%u) : 32x8xf32", "%r = ttir.permute(%s) {permutation = <1, 0>} : 8x32xf32"]
        one = self.path("before.mlir", module(X, body))
        two = self.path("after.mlir", module(X, [body[0], body[1].replace("unheard_of", "never_seen"),
                                                 body[2].replace("sin", "cos"), body[3]]))
        self.assertEqual([e["kind"] for e in self.at("%s", one, two)], ["not_compared"])
        self.assertIn(self.at("%u", one, two)[0]["kind"], ("not_compared", "looked_through"))
        self.assertIn("computes nothing", self.at("%p", one, one)[0]["because"])
        extra = self.path("extra.mlir", module(X + ["y: 8x32xf32"], RELU6))
        self.assertIn("was not compared: the functions have different numbers of arguments", self.at("%r", one, extra)[0]["reason"])

    def test_what_would_help_to_compare(self):
        exp = "%r = ttir.exp(%{0}) : {1}"
        for arguments, before, after, needed in (
                (X, ["%r = ttir.unheard_of(%x) : 8x32xf32"], [exp.format("x", "8x32xf32")], "what the op computes"),
                (["x: ?x32xf32"], ["%e = ttir.sin(%x) : ?x32xf32", exp.format("e", "?x32xf32")],
                 [exp.format("x", "?x32xf32")], "static shapes"),
                (X + ["y: 8x32xf32"], ["%r = ttir.sin(%x) : 8x32xf32"], ["%r = ttir.cos(%y) : 8x32xf32"], "")):
            _, report, _ = self.verify("--details", self.path("before.mlir", module(arguments, before)),
                                       self.path("after.mlir", module(arguments, after)))
            self.assertEqual(report["checks"][0].get("needs", "")[:len(needed) or 9], needed)

    def test_choice_that_is_never_made(self):
        """What no number that was tried chooses is not proved by the others."""
        def chosen_above(bound):
            return ["%l = ttir.layer_norm(%x) {epsilon = 1.0e-5 : f32, normalized_shape = <32>, "
                    "operandSegmentSizes = array<i32: 1, 0, 0>} : 8x32xf32", f"%k = {bound} : 8x32xf32",
                    "%h = ttir.gt(%l, %k) : 8x32xi1", "%e = ttir.exp(%l) : 8x32xf32",
                    "%r = ttir.where(%h, %e, %l) : 8x32xf32"]
        after = self.path("after.mlir", module(X, [chosen_above(0)[0], "%k = 1.0 : 8x32xf32",
                                                   "%r = ttir.multiply(%l, %k) : 8x32xf32"]))
        status, report, _ = self.verify("--details", self.path("rare.mlir", module(X, chosen_above(50))), after)
        self.assertEqual(status, 3)
        self.assertIn("a condition is the same", report["checks"][0]["reason"])
        self.assertEqual(self.verify(self.path("often.mlir", module(X, chosen_above(0))), after)[0], 1)

    def test_blocks_that_share_weights(self):
        """Many values look alike; which one is meant follows from what they are made of."""
        def blocks(fused, wrong=None):
            body, x = [], "x"
            for i in range(60):
                if fused:
                    body.append(f"%n{i} = ttnn.rms_norm(%{x}, %g) {{epsilon = {'1.0e-3' if i == wrong else '1.0e-5'} : f32, "
                                "normalized_shape = <64>, operandSegmentSizes = array<i32: 1, 1, 0>} : 8x64xf32")
                else:
                    body += [f"%q{i} = ttir.multiply(%{x}, %{x}) : 8x64xf32",
                             f"%m{i} = ttir.mean(%q{i}) {{dim_arg = [1]i32, keep_dim = true}} : 8x1xf32",
                             f"%e{i} = ttir.add(%m{i}, %c) : 8x1xf32", f"%s{i} = ttir.rsqrt(%e{i}) : 8x1xf32",
                             f"%t{i} = ttir.multiply(%{x}, %s{i}) : 8x64xf32", f"%n{i} = ttir.multiply(%t{i}, %g) : 8x64xf32"]
                x = "r" if i == 59 else f"x{i}"
                body.append(f"%{x} = ttir.matmul(%n{i}, %w) : 8x64xf32")
            return module(["x: 8x64xf32", "g: 64xf32", "w: 64x64xf32"], ([] if fused else ["%c = 1.0e-5 : 1x1xf32"]) + body)
        one = self.path("one.mlir", blocks(False))
        self.assertEqual(self.verify(one, self.path("same.mlir", blocks(True)))[0], 0)
        for block in 40, 57:  # norms of products make what differs in an epsilon fade, but not where all is as small
            status, report, _ = self.verify(one, self.path("other.mlir", blocks(True, block)))
            self.assertEqual((status, [e["fused_op"] for e in report["checks"]]), (1, ["ttnn.rms_norm"]))

    def test_host_functions(self):
        """Bodies that were lowered to other dialects: the call is one op, the same where they are written alike."""
        def host(body):
            return ("module {\n"
                    "  func.func private @host(%a: tensor<8x32xf32>) -> tensor<8x32xf32>\n"
                    "  func.func @main(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {\n"
                    '    %0 = "ttir.neg"(%x) : (tensor<8x32xf32>) -> tensor<8x32xf32>\n'
                    "    %1 = call @host(%0) : (tensor<8x32xf32>) -> tensor<8x32xf32>\n"
                    '    %r = "ttir.relu"(%1) : (tensor<8x32xf32>) -> tensor<8x32xf32>\n'
                    "    return %r : tensor<8x32xf32>\n  }\n"
                    "  ttcore.cpu_module {\n    builtin.module {\n"
                    "      func.func @host(%a: tensor<8x32xf32>) -> tensor<8x32xf32> {\n"
                    f"        memref.dealloc\n        memref.dealloc\n{body}"
                    "        return %0 : tensor<8x32xf32>\n      }\n    }\n  }\n}\n")

        def linalg(name, loc):
            return (f"        %0 = linalg.{name} ins(%a : tensor<8x32xf32>) outs(%a : tensor<8x32xf32>) -> "
                    f'tensor<8x32xf32> loc("{loc}")\n')

        one = self.path("one.mlir", host(linalg("exp", "a")))
        self.assertEqual(self.verify(one, self.path("same.mlir", host(linalg("exp", "b"))))[0], 0)
        status, report, _ = self.verify("--details", one, self.path("other.mlir", host(linalg("log", "a"))))
        self.assertEqual(status, 3)  # but what takes the result is compared
        self.assertRegex(report["checks"][0]["reason"], "no evaluator for call: .* in another dialect")
        self.assertEqual(report["checks"][0]["needs"], "the function in TTIR or TTNN")
        self.assertEqual(report["compared"]["after"], {"ops": 3, "proved": 2, "different": 0, "not_compared": 1})
        # what an alias or a symbol stands for is part of it
        text = host('        %0 = "foo.a"(%a) {m = #map} : (tensor<8x32xf32>) -> tensor<8x32xf32>\n')
        mapped = [self.path("%s.mlir" % order, "#map = affine_map<(d0, d1) -> (%s)>\n" % order + text)
                  for order in ("d0, d1", "d1, d0")]
        self.assertEqual(self.verify(mapped[0], mapped[0])[0], 0)
        self.assertEqual(self.verify(*mapped)[0], 3)
        text = host('        %0 = "foo.a"(%a) {global = @w} : (tensor<8x32xf32>) -> tensor<8x32xf32>\n')
        one = self.path("global.mlir", text)
        self.assertEqual(self.verify(one, self.path("too.mlir", text))[0], 3)

    def test_values_made_on_the_host(self):
        """The host makes a factor, and the module has no body for it: that is not compared, also where it may only
        move data, and what is made of it is no difference."""
        rows, row = "tensor<8x32xf32>", "tensor<1x32xf32>"
        reshape = '"ttir.reshape"(%w) <{shape = [1 : i32, 32 : i32]}> : (tensor<32xf32>)'
        added = '"ttir.add"(%w, %w) : (tensor<32xf32>, tensor<32xf32>)'
        for factor, type, op in ((added, "tensor<32xf32>", "multiply"), (added, "tensor<32xf32>", "add"),
                                 (reshape, row, "multiply"), (reshape, row, "add")):
            before = self.path("before.mlir", f"""\
module {{
  func.func @main(%x: {rows}, %w: tensor<32xf32>) -> {rows} {{
    %1 = {factor} -> {type}
    %2 = "ttir.multiply"(%x, %1) : ({rows}, {type}) -> {rows} loc("m")
    %3 = "ttir.exp"(%2) : ({rows}) -> {rows} loc("e")
    return %3 : {rows}
  }}
}}
""")
            after = self.path("after.mlir", f"""\
module {{
  func.func private @host(tensor<32xf32>) -> tensor<1x32xf32>
  func.func private @main_const_eval_0(%a: tensor<32xf32>) -> tensor<1x32xf32> attributes {{tt.function_type = "const_eval"}} {{
    %0 = call @host(%a) : (tensor<32xf32>) -> tensor<1x32xf32>
    return %0 : tensor<1x32xf32>
  }}
  func.func @main(%x: {rows}, %w: tensor<32xf32>) -> {rows} {{
    %0 = ttcore.load_cached(@main_const_eval_0, [%w]) : (tensor<32xf32>) -> tensor<1x32xf32>
    %2 = "ttnn.{op}"(%x, %0) : ({rows}, tensor<1x32xf32>) -> {rows} loc("m")
    %3 = "ttnn.exp"(%2) : ({rows}) -> {rows} loc("e")
    return %3 : {rows}
  }}
  llvm.func @host(%p: !llvm.ptr) {{
    llvm.return
  }}
}}
""")
            status, report, said = self.verify("--details", before, after)
            self.assertEqual((status, report["compared"]["after"]["different"]), (3, 0), said)
            self.assertGreater(report["compared"]["after"]["not_compared"], 0)
            self.assertIn("no evaluator for call", report["checks"][0]["reason"])

    def test_an_argument_that_loses_its_sign(self):
        """The compiler has weights of i8 as ui8: they are compared on numbers that both can hold."""
        def module(dialect, weight, wide, factor):
            return ("module {\n  func.func @main(%w: tensor<4x8x" + weight + ">, %s: tensor<8xf32>, %t: tensor<8xf32>) -> "
                    "tensor<4x8xf32> {\n"
                    f'    %0 = "{dialect}.typecast"(%w) : (tensor<4x8x{weight}>) -> tensor<4x8x{wide}> loc("w")\n'
                    f'    %1 = "{dialect}.typecast"(%0) : (tensor<4x8x{wide}>) -> tensor<4x8xf32> loc("f")\n'
                    f'    %2 = "{dialect}.multiply"(%1, %{factor}) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc("m")\n'
                    "    return %2 : tensor<4x8xf32>\n  }\n}\n")

        one = self.path("one.mlir", module("ttir", "si8", "si32", "s"))
        status, _, said = self.verify("--strict", one, self.path("two.mlir", module("ttnn", "ui8", "ui32", "s")))
        self.assertEqual(status, 0, said)
        status, _, said = self.verify("--strict", one, self.path("two.mlir", module("ttnn", "ui8", "ui32", "t")))
        self.assertEqual(status, 1, said)
        narrow = module("ttnn", "si8", "si32", "s").replace("si32", "ui32")  # here the sign goes on the way
        self.assertEqual(self.verify("--strict", one, self.path("two.mlir", narrow))[0], 1)

    @unittest.skipUnless(os.path.exists(os.path.join(CORPUS, "models")), "no corpus")
    def test_what_few_numbers_hide(self):
        """A norm with the divisor and the epsilon as arguments, scaled in front of what saturates: without numbers under
        the root nothing is compared, and with all of them positive both sides are 0. A relu of many behind one another."""
        for model, wrong, instead in (
                ("segformer", r'"ttnn.multiply"(\(%950, %31\))', r'"ttnn.add"\1'),
                ("resnet50_xla", r'"ttnn.maximum"\(%422, %0\) : \((tensor<[^>]*>), tensor<[^>]*>\)', r'"ttnn.typecast"(%422) : (\1)')):
            path = os.path.join(CORPUS, "models", model + ".%s.mlir")
            with open(path % "ttnn-unfused", encoding="utf-8") as f:
                right = f.read()
            changed, n = re.subn(wrong, instead, right)
            self.assertEqual(n, 1)
            for text, expected in (right, 0), (changed, 1):
                status, _, said = self.verify(path % "ttir", self.path("after.mlir", text))
                self.assertEqual(status, expected, said)

    @unittest.skipUnless(os.path.exists(os.path.join(CORPUS, "real")) and shutil.which("zstd"), "no corpus, or no zstd")
    def test_what_a_tied_constant_hides(self):
        """An activation before a convolution whose bias is its operand: only with this one is the mean behind it the same."""
        ttir, ttnn = (self.path(f"vae.{level}.mlir", subprocess.run(
            ["zstd", "-dcq", os.path.join(CORPUS, "real", f"zdec_p0.{level}.mlir.zst")], stdout=subprocess.PIPE, check=True,
            encoding="utf-8").stdout) for level in ("ttir", "ttnn"))
        with open(ttnn, encoding="utf-8") as f:
            changed, n = re.subn(r'"ttnn.silu"\(%442\)', '"ttnn.typecast"(%442)', f.read())
        self.assertEqual(n, 1)
        status, _, said = self.verify(ttir, self.path("after.mlir", changed))
        self.assertEqual(status, 1, said)

    def cache(self, ops):
        """A function that writes into its first argument and returns it."""
        lines = [f'    "{op}"({operands}) <{{{attributes}}}> : ({types}) -> ()\n' if not op.startswith("%") else
                 f'    {op}\n' for op, operands, attributes, types in ops]
        return ("module {\n  func.func @main(%c: tensor<2x4x64x16xf32>, %x: tensor<1x4x2x16xf32>, %y: "
                "tensor<1x4x20x16xf32>, %i: tensor<1xi32>, %k: tensor<1xi32>) -> tensor<2x4x64x16xf32> {\n" +
                "".join(lines) + "    return %c : tensor<2x4x64x16xf32>\n  }\n}\n")

    def test_caches_that_are_written(self):
        types = "tensor<2x4x64x16xf32>, tensor<1x4x2x16xf32>, tensor<1xi32>"
        permuted = ('%p = "ttnn.permute"(%x) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x4x2x16xf32>) -> '
                    'tensor<1x2x4x16xf32>', "", "", "")
        places = [(f'%n = "ttnn.repeat"(%{of}) <{{repeat_dims = #ttnn.shape<2>}}> : (tensor<1xi32>) -> tensor<2xi32>',
                   "", "", "") for of in "ik"]
        paged = ("ttnn.paged_update_cache", "%c, %p, %n", "share_cache = false",
                 "tensor<2x4x64x16xf32>, tensor<1x2x4x16xf32>, tensor<2xi32>")
        one = self.path("one.mlir", self.cache([("ttir.update_cache", "%c, %x, %i", "batch_offset = 0 : i32", types)]))
        for at, status in zip(places, (0, 1)):
            two = self.path("two.mlir", self.cache([permuted, at, paged]))
            self.assertEqual(self.verify(one, two)[0], status, at)
        fills = [self.path(f"fill{n}.mlir", self.cache([
            (f"{dialect}.fill_cache", "%c, %y", f"batch_offset = {n} : i32",
             "tensor<2x4x64x16xf32>, tensor<1x4x20x16xf32>")])) for n, dialect in ((0, "ttir"), (1, "ttnn"))]
        self.assertEqual(self.verify(fills[0], fills[0])[0], 0)
        self.assertEqual(self.verify(*fills)[0], 1)

    def test_an_argument_that_is_written_is_a_result(self):
        """Whether the function returns it or not, in the order in which it is written."""
        types = "tensor<2x4x64x16xf32>, tensor<1x4x1x16xf32>, tensor<1xi32>"

        def of(*writes):
            return self.path(f"{'_'.join(writes)}.mlir", (
                "module {\n  func.func @main(%c: tensor<2x4x64x16xf32>, %x: tensor<1x4x1x16xf32>, %y: tensor<1x4x1x16xf32>, "
                "%i: tensor<1xi32>, %k: tensor<1xi32>) -> tensor<1x4x1x16xf32> {\n" + "".join(
                    f'    "ttir.update_cache"(%c, %{w[0]}, %{w[1]}) <{{batch_offset = {w[2]} : i32}}> : ({types}) -> ()\n'
                    for w in writes) +
                '    %r = "ttir.exp"(%x) : (tensor<1x4x1x16xf32>) -> tensor<1x4x1x16xf32>\n'
                "    return %r : tensor<1x4x1x16xf32>\n  }\n}\n"))

        for before, after, expected in ((("xi0", "yi0"), ("yi0",), 0), (("xi0", "yi1"), ("yi1", "xi0"), 0),
                                        (("xi0", "yi0"), ("xi0",), 1), (("xi0",), (), 1),
                                        (("xi0", "yk0"), ("yk0", "xi0"), 1), (("xi0",), ("xi1",), 1)):
            status, report, said = self.verify(of(*before), of(*after))
            self.assertEqual(status, expected, (before, after, said))
            self.assertEqual(len(report["checks"]) if report else 0, expected)

    def constants(self, *values, body, bytes_of=""):
        """A function of constants %0, %1, ... of four numbers."""
        kind = "tensor<4xf32>"
        text = "module {\n  func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n" + "".join(
            f'    %{i} = "ttir.constant"() <{{value = {v} : {kind}}}> : () -> {kind}\n' for i, v in enumerate(values))
        for line in body:
            result, op, x, y = line.split()
            kinds = ", ".join("tensor<8x4xf32>" if v in ("%x", "%m") else kind for v in (x, y))
            made = kind if result == "%d" else "tensor<8x4xf32>"
            text += f'    {result} = "ttir.{op}"({x}, {y}) : ({kinds}) -> {made}\n'
        text += "    return %r : tensor<8x4xf32>\n  }\n}\n"
        return text + (f"{{-#\n  dialect_resources: {{\n    builtin: {{\n      {bytes_of}\n    }}\n  }}\n#-}}\n" if bytes_of else "")

    def test_constants_whose_elements_stand_elsewhere(self):
        """Behind the module, or nowhere: then nothing is said that hangs on which of them is which."""
        one, two = "0000803F000000400000404000008040", "0000803F000000400000404000008041"
        body, known = ["%r multiply %x %0"], "dense<[1.0, 2.0, 3.0, 4.0]>"

        def resource(digits, name="k"):
            return self.constants("dense_resource<k>", body=body, bytes_of=f'{name}: "0x04000000{digits}"')

        hidden, both = "dense_resource<__elided__>", ["%m multiply %x %0", "%r add %m %1"]
        swapped, folded = ["%m multiply %x %1", "%r add %m %0"], ["%d subtract %0 %1", "%r multiply %x %d"]
        for before, after, expected in (
                (resource(one), self.constants(known, body=body), 0), (resource(one), resource(one), 0),
                (resource(two), self.constants(known, body=body), 1), (resource(one), resource(two), 1),
                (resource(one, name="other"), self.constants(known, body=body), 3),
                (self.constants(hidden, body=body), self.constants(hidden, body=body), 0),
                (self.constants(hidden, body=body), self.constants(known, body=body), 3),
                (self.constants(hidden, hidden, body=both), self.constants(hidden, hidden, body=both), 0),
                (self.constants(hidden, hidden, body=both), self.constants(hidden, hidden, body=swapped), 3),
                (self.constants(hidden, hidden, body=folded), self.constants("dense<0.0>", body=body), 3)):
            status, _, said = self.verify(self.path("before.mlir", before), self.path("after.mlir", after))
            self.assertEqual(status, expected, (before, after, said))

    def test_constants_of_many_elements(self):
        """A product with a matrix of 16,900: the same numbers, or twice them."""
        n, t, square = 130, "tensor<2x130xf32>", "tensor<130x130xf32>"

        def times(diagonal):
            rows = ", ".join("[" + ", ".join(diagonal if i == j else "0.0" for j in range(n)) + "]" for i in range(n))
            return (f'    %m = "ttir.constant"() <{{value = dense<[{rows}]> : {square}}}> : () -> {square}\n'
                    f'    %r = "ttir.matmul"(%e, %m) : ({t}, {square}) -> {t}\n    return %r : {t}\n')

        head = f'module {{\n  func.func @f(%x: {t}) -> {t} {{\n    %e = "ttir.exp"(%x) : ({t}) -> {t}\n'
        before = self.path("before.mlir", head + f"    return %e : {t}\n  }}\n}}\n")
        for diagonal, differs in (("1.0", False), ("2.0", True)):
            self.check(before, self.path("after.mlir", head + times(diagonal) + "  }\n}\n"), differs)

    def test_a_table_that_a_compiler_computed(self):
        """Cosines of positions, rounded as f32 is printed; or those of the next position."""
        t = "tensor<24x8xf32>"

        def table(first):
            rows = ", ".join("[" + ", ".join(f"{math.cos(first + i):.8E}" for _ in range(8)) + "]" for i in range(24))
            return f'    %c = "ttnn.constant"() <{{value = dense<[{rows}]> : {t}}}> : () -> {t}\n'

        computed = ('    %i = "ttir.arange"() <{arange_dimension = 0 : i64, start = 0 : si64, end = 24 : si64, step = 1 : si64}>'
                    f' : () -> {t}\n    %c = "ttir.cos"(%i) : ({t}) -> {t}\n')

        def text(dialect, cosines):
            return (f'module {{\n  func.func @f(%x: {t}) -> {t} {{\n{cosines}'
                    f'    %r = "{dialect}.multiply"(%x, %c) : ({t}, {t}) -> {t}\n    return %r : {t}\n  }}\n}}\n')

        before = self.path("before.mlir", text("ttir", computed))
        for first, differs in ((0, False), (1, True)):
            self.check(before, self.path("after.mlir", text("ttnn", table(first))), differs)

    def test_types_that_are_not_known_are_not_all_the_same(self):
        def of(scale, point):
            kind = f"8x32x!quant.uniform<i8:f32, {scale}:{point}>"
            return module(X, ["%q = ttir.quantize(%x) : 8x32xf32", "%r = ttir.dequantize(%q) : 8x32xf32"]).replace(
                'quantize"(%x) <{}> : (tensor<8x32xf32>) -> tensor<8x32xf32>',
                f'quantize"(%x) <{{}}> : (tensor<8x32xf32>) -> tensor<{kind}>').replace("(%q) <{}> : (tensor<8x32xf32>)",
                                                                                f"(%q) <{{}}> : (tensor<{kind}>)")
        before = self.path("before.mlir", of("2.5e-1", 3))
        for after, expected in (of("2.5e-1", 3), 0), (of("2.5e-1", 4), 3), (of("5.0e-1", 3), 3):
            self.assertEqual(self.verify(before, self.path("after.mlir", after))[0], expected)

    def test_use_after_deallocation(self):
        """What is freed is no longer there; a view that has another name is."""
        def of(*lines):
            return ("module {\n  func.func @main(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {\n" + "".join(
                f"    {line}\n" for line in lines) + "    return %r : tensor<8x32xf32>\n  }\n}\n")
        kind = "tensor<8x32xf32>"
        exp = f'%e = "ttnn.exp"(%x) : ({kind}) -> {kind}'
        free = f'"ttnn.deallocate"(%e) <{{force = false}}> : ({kind}) -> ()'
        add = f'%r = "ttnn.add"(%e, %x) : ({kind}, {kind}) -> {kind}'
        view = f'%v = "ttnn.to_layout"(%e) : ({kind}) -> {kind}'
        good, bad = self.path("good.mlir", of(exp, add, free)), self.path("bad.mlir", of(exp, free, add))
        seen = self.path("view.mlir", of(exp, view, free, add.replace("%e", "%v")))
        for after in good, seen:
            self.assertEqual(self.verify(good, after)[0], 0)
        status, report, _ = self.verify(good, bad)
        self.assertEqual(status, 1)
        self.assertEqual([(c["kind"], c["fused_op"]) for c in report["checks"]], [("use_after_deallocate", "ttnn.add")])
        self.assertEqual(report["compared"]["after"], {"ops": 2, "proved": 1, "different": 1, "not_compared": 0})
        self.assertIn("ttnn.deallocate", report["checks"][0]["after"])
        self.assertEqual(self.verify(bad, bad)[0], 0)  # it was there before
        returned = self.path("returned.mlir", of(exp, add, free.replace("%e", "%r")))
        self.assertEqual(self.verify(good, returned)[0], 1)
        twice = ("module {{\n  func.func private @f(%a: {t}) -> {t} {{\n"
                 '    %0 = "ttnn.exp"(%a) : ({t}) -> {t}\n    "ttnn.deallocate"(%a) : ({t}) -> ()\n'
                 "    return %0 : {t}\n  }}\n  func.func @main(%x: {t}) -> {t} {{\n"
                 "    %0 = call @f(%x) : ({t}) -> {t}\n    %1 = call @f(%0) : ({t}) -> {t}\n"
                 "    return %1 : {t}\n  }}\n}}\n").format(t=kind)
        path = self.path("twice.mlir", twice)
        kept = self.path("kept.mlir", re.sub(r".*deallocate.*\n", "", twice))
        self.assertEqual(self.verify(kept, path)[0], 0)

    def functions(self, scale, op="call"):
        """A weight that a function of its own makes."""
        return (f"module {{\n  func.func private @weight(%w: tensor<8x32xf32>) -> tensor<8x32xf32> {{\n"
                f'    %c = "ttir.full"() <{{fill_value = {scale} : f32, shape = array<i32: 1, 1>}}> : () -> '
                'tensor<1x1xf32>\n    %0 = "ttir.multiply"(%w, %c) : (tensor<8x32xf32>, tensor<1x1xf32>) -> '
                "tensor<8x32xf32>\n    return %0 : tensor<8x32xf32>\n  }\n"
                "  func.func @main(%x: tensor<8x32xf32>, %w: tensor<8x32xf32>) -> tensor<8x32xf32> {\n"
                f"    %0 = {op} @weight(%w) : (tensor<8x32xf32>) -> tensor<8x32xf32>\n"
                '    %r = "ttir.add"(%x, %0) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>\n'
                "    return %r : tensor<8x32xf32>\n  }\n}\n")

    def test_functions_are_seen_through(self):
        one = self.path("one.mlir", module(["x: 8x32xf32", "w: 8x32xf32"], [
            "%d = 4.0 : 1x1xf32", "%q = ttir.div(%w, %d) : 8x32xf32", "%r = ttir.add(%x, %q) : 8x32xf32"]))
        for scale, status in ((0.25, 0), (0.5, 1)):
            self.assertEqual(self.verify(one, self.path("two.mlir", self.functions(scale)))[0], status)
        circle = self.functions(0.25).replace('"ttir.multiply"(%w, %c) : (tensor<8x32xf32>, tensor<1x1xf32>)',
                                              "call @weight(%w) : (tensor<8x32xf32>)")
        status, _, said = self.verify(one, self.path("circle.mlir", circle))
        self.assertEqual(status, 3)
        self.assertIn("without end", said)

    TRACED = """\
module {
  func.func private @trace_0_main(%w: tensor<8x32xf32>, %x: tensor<8x32xf32>, %out: tensor<8x32xf32>) attributes {tt.function_type = "trace_main"} {
    %0 = "ttnn.add"(%x, %w) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %1 = "ttnn.relu"(%0) : (tensor<8x32xf32>) -> tensor<8x32xf32>
    "ttnn.copy"(%1, %out) : (tensor<8x32xf32>, tensor<8x32xf32>) -> ()
    "ttnn.deallocate"(%1) <{force = false}> : (tensor<8x32xf32>) -> ()
    return
  }
  func.func private @slots(%w: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) attributes {tt.function_type = "trace_allocate_slots"} {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.empty"(%0) <{shape = #ttnn.shape<8x32>}> : (!ttnn.device) -> tensor<8x32xf32>
    %2 = "ttnn.empty"(%0) <{shape = #ttnn.shape<8x32>}> : (!ttnn.device) -> tensor<8x32xf32>
    return %w, %1, %2 : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>
  }
  func.func private @capture(%x: tensor<8x32xf32>, %w: tensor<8x32xf32>, %in: tensor<8x32xf32>, %out: tensor<8x32xf32>) -> tensor<ui32, #ttnn.trace_id> attributes {tt.function_type = "trace_run_and_capture"} {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    "ttnn.write_tensor"(%x, %in) <{blocking = false, cq_id = 0 : ui32}> : (tensor<8x32xf32>, tensor<8x32xf32>) -> ()
    call @trace_0_main(%w, %in, %out) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> ()
    %1 = "ttnn.begin_trace_capture"(%0) <{cq_id = 0 : ui32}> : (!ttnn.device) -> tensor<ui32, #ttnn.trace_id>
    call @trace_0_main(%w, %in, %out) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> ()
    "ttnn.end_trace_capture"(%0, %1) <{cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> ()
    return %1 : tensor<ui32, #ttnn.trace_id>
  }
  func.func private @execute(%id: tensor<ui32, #ttnn.trace_id>) attributes {tt.function_type = "trace_execute"} {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    "ttnn.execute_trace"(%0, %id) <{blocking = false, cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> ()
    return
  }
  func.func @main(%x: tensor<8x32xf32>, %w: tensor<8x32xf32>) -> tensor<8x32xf32> {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.capture_or_execute_trace"(%0, %w, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 2, 0>}> : (!ttnn.device, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    return %1 : tensor<8x32xf32>
  }
}
"""

    def test_traces_are_looked_through(self):
        """As --enable-trace=true prints them: inputs are written into slots, results are copied into others."""
        before = self.path("before.mlir", module(["x: 8x32xf32", "w: 8x32xf32"], [
            "%s = ttir.add(%x, %w) : 8x32xf32", "%r = ttir.relu(%s) : 8x32xf32"]))
        self.check(before, self.path("after.mlir", self.TRACED), False)
        for right, wrong in (("ttnn.relu", "ttnn.gelu"), ('copy"(%1', 'copy"(%0'), ('write_tensor"(%x', 'write_tensor"(%w')):
            self.check(before, self.path("after.mlir", self.TRACED.replace(right, wrong, 1)), True)

    def test_arguments_that_a_pass_has_dropped(self):
        """By their names, or since nothing took them."""
        body = ["%n = ttir.sin(%x) : 8x32xf32", "%r = ttir.subtract(%n, %y) : 8x32xf32"]
        wrong = [body[0], "%r = ttir.subtract(%y, %n) : 8x32xf32"]
        before = module(["x: 8x32xf32", "u: 8x32xf32", "y: 8x32xf32"], body)
        for lines, differs in (body, False), (wrong, True):
            after = self.path("after.mlir", module(["x: 8x32xf32", "y: 8x32xf32"], lines))
            self.check(self.path("before.mlir", before), after, differs)
        named = {n: f'%{n}: tensor<8x32xf32> {{ttir.name = "{n}"}}' for n in "xuy"}
        taken = before
        for n, text in named.items():
            taken = taken.replace(f"%{n}: tensor<8x32xf32>", text, 1)
        taken = taken.replace("    return", '    %v = "ttir.exp"(%u) : (tensor<8x32xf32>) -> tensor<8x32xf32>\n    return')
        for order, lines, differs in ("xy", body, False), ("yx", body, False), ("yx", wrong, True):
            after = module([f"{n}: 8x32xf32" for n in order], lines)
            for n in order:
                after = after.replace(f"%{n}: tensor<8x32xf32>", named[n], 1)
            self.check(self.path("before.mlir", taken), self.path("after.mlir", after), differs)
        after = self.path("after.mlir", module(["x: 8x32xf32", "y: 4x32xf32"], [body[0], "%r = ttir.exp(%n) : 8x32xf32"]))
        status, _, said = self.verify(self.path("before.mlir", before), after)
        self.assertEqual(status, 3)
        self.assertIn("different numbers of arguments", said)

    def test_stages_of_a_log(self):
        """The pass that broke it is named."""
        stages = [("First", module(X, RELU6)), ("Second", module(X, ["%z = 0.0 : 1x1xf32", "%m = ttir.maximum(%x, %z) "
                   ": 8x32xf32", "%s = 6.0 : 1x1xf32", "%r = ttir.minimum(%m, %s) : 8x32xf32"])),
                  ("Third", module(X, ["%r = ttir.relu(%x) : 8x32xf32"]))]
        log = self.path("log.txt", "".join(
            f"// -----// IR Dump After {name} ({name.lower()}) ('builtin.module' operation) //----- //\n{text}\n"
            for name, text in stages))
        status, report, said = self.verify(log)
        self.assertEqual(status, 1, said)
        self.assertEqual([e["pass"] for e in report["checks"]], ["Third"])
        with open(log, encoding="utf-8") as f:
            lines = f.read().splitlines(True)
        foreign = "2026-08-21 10:15:02.301 (  12.695s) [  7F3A1C40] a.cc:1     1| hello\n"
        for again in lines[:3] + [foreign] + lines[3:], ["[1,0]<stderr>:" + line for line in lines]:
            status, report, said = self.verify(self.path("again.txt", "".join(again)))
            self.assertEqual((status, [e["pass"] for e in report["checks"]]), (1, ["Third"]), said)
        self.assertEqual(self.verify(self.path("none.txt", "nothing here\n"), log)[0], 3)
        self.assertEqual(self.verify(self.path("none.txt", "nothing here\n"))[0], 3)

    def test_functions_printed_one_by_one(self):
        """A pass over functions prints each alone: what these call is not there, and is what the module before has."""
        part = ("func.func private @{0}(%a: tensor<8x32xf32>, %b: tensor<8x32xf32>) -> tensor<8x32xf32> {{\n"
                '%0 = "ttir.subtract"(%a, %b) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>\n'
                "return %0 : tensor<8x32xf32>\n}}\n")
        main = ("func.func @main(%x: tensor<8x32xf32>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {{\n"
                '%0 = "ttir.{1}"(%x) : (tensor<8x32xf32>) -> tensor<8x32xf32>\n'
                '%1 = "ttcore.composite"(%0, %y) <{{composite_name = "less", decomposition = @{0}}}> : '
                "(tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>\nreturn %1 : tensor<8x32xf32>\n}}\n")
        whole = "module {\n" + main.format("one", "relu") + part.format("one") + "}\n"
        for last, proved in (main.format("one", "relu").replace("%0", "%z"), True), (main.format("one", "sin"), False), (
                main.format("one", "relu").replace("(%0, %y)", "(%y, %0)"), False), (main.format("two", "relu"), False):
            texts = [whole, part.format("one"), last]
            log = self.path("log.txt", "".join(f"// -----// IR Dump After P{i} (p{i}) //----- //\n{text}\n"
                                               for i, text in enumerate(texts)))
            status, _, said = self.verify(log)
            self.assertEqual(status == 0, proved, said + last)

    def test_several_modules_of_two_files(self):
        """Each module of TTNN is compared with the TTIR of its name; what has none is said, once."""
        def modules(dialect, *bodies):
            return "".join(f"MLIR Module {dialect}:\n" + module(X, [f"%r = {dialect}.{op}(%x) : 8x32xf32"]).replace(
                "module {", f"module @{name} {{", 1) for name, op in bodies)

        before = self.path("a.log", modules("ttir", ("one", "relu"), ("two", "exp"), ("three", "sin"), ("four", "cos")))
        for op, status in ("exp", 0), ("tanh", 1):
            after = self.path("b.log", modules("ttnn", ("two", op), ("one", "relu"), ("five", "relu")))
            found, _, said = self.verify(before, after)
            self.assertEqual((found, said.count("compared with no other")), (status, 1), said)
            self.assertIn("3 modules", said)
        log = self.path("c.log", modules("ttir", ("one", "relu")) + modules("ttnn", ("one", "relu")) +
                        modules("ttir", ("two", "exp")).replace("@main", "@other"))
        found, _, said = self.verify(log)
        self.assertEqual(found, 0, said)
        self.assertIn("this module is compared with no other", said)
        log = self.path("d.log", "".join(modules(level, ("m", op)) for level, op in (
            ("ttir", "relu"), ("ttnn", "relu"), ("ttir", "exp"), ("ttnn", "exp"))))  # two compiles, both of @main
        self.assertEqual(self.verify(log)[:2], (0, None))

    def test_threads(self):
        """Equal differences of many graphs are all found, however many threads look for them."""
        stages = [module(["x: 64x1000xf32"], body) for body in (
            ["%s = ttir.sum(%x) {dim_arg = [1]i32, keep_dim = true} : 64x1xf32", "%c = 1.5e-3 : 1x1xf32",
             "%r = ttir.multiply(%s, %c) : 64x1xf32"],
            ["%r = ttir.mean(%x) {dim_arg = [1]i32, keep_dim = true} : 64x1xf32"])]
        log = self.path("log.txt", "".join(
            f"// -----// IR Dump {when} Fusing (fusing) //----- //\n{text.replace('@main', f'@main{i}')}"
            for i in range(24) for when, text in zip(("Before", "After"), stages)))
        for jobs in 1, 2, 8:
            status, report, said = self.verify(f"-j{jobs}", log)
            self.assertEqual((status, len(report["checks"])), (1, 24), said)

    def test_what_is_too_large(self):
        many = ", ".join(["%x", "%y"] + [f"%v{i}" for i in range(70)])
        values = [f"%v{i} = ttir.{'sin' if i % 2 else 'cos'}(%{'x' if i < 2 else f'v{i - 2}'}) : 8x32xf32"
                  for i in range(70)]
        body = values + [f"%r = ttir.concat({many}) {{dim = 0 : si32}} : 576x32xf32"]
        arguments = X + ["y: 8x32xf32"]
        one, two = (self.path(f"{d}.mlir", module(arguments, [line.replace("ttir.", f"{d}.") for line in body]))
                    for d in ("ttir", "ttnn"))
        self.assertEqual(self.verify(one, two)[0], 0)
        swapped = body[:-1] + [body[-1].replace("%x, %y", "%y, %x")]
        status, report, _ = self.verify("--details", "--min-compared=1", one,
                                        self.path("swapped.mlir", module(arguments, swapped)))
        self.assertIn(status, (1, 3))
        self.assertTrue(report["checks"])
        dynamic = module(X, RELU6).replace("8x32", "?x32")
        other = dynamic.replace("relu6", "sigmoid")
        status, report, _ = self.verify("--details", self.path("d.mlir", dynamic), self.path("e.mlir", other))
        self.assertEqual(status, 3)

    def test_ops_without_results(self):
        text = module(X, RELU6).replace("    return", '    "ttir.unheard_of"() : () -> ()\n' * 2 + "    return")
        one = self.path("one.mlir", text)
        self.assertEqual(self.verify("--min-compared=0", one, one)[0], 0)

    def test_old_report_goes(self):
        relu, neg = self.path("a.mlir", module(X, RELU6)), self.path("b.mlir", module(X, ["%r = ttir.neg(%x) : 8x32xf32"]))
        after = self.path("after.mlir", module(X, RELU6))
        report = self.path("check.yml")

        def run(*arguments):
            return subprocess.run([PROGRAM, "verify", "-o", report, *arguments], capture_output=True, timeout=60).returncode

        self.assertEqual(run(neg, after), 1)
        self.assertEqual(run(relu, after), 0)  # of other input
        self.assertTrue(os.path.exists(report))
        os.replace(relu, neg)
        self.assertEqual(run("--only=*.relu6", neg, after), 0)  # less was asked for
        self.assertEqual(run("--only=relu6x", neg, after), 2)
        self.assertEqual(run("--only=*.abs, *.relu6", neg, after), run("--only=*.relu6,*.abs", neg, after))
        self.assertTrue(os.path.exists(report))
        self.assertEqual(run(neg, after), 0)
        self.assertFalse(os.path.exists(report))
        self.path("check.yml", "input: {before: somebody's}\n")
        self.assertEqual(run(neg, after), 0)
        self.assertTrue(os.path.exists(report))

    def test_exit_status(self):
        one = self.path("one.mlir", module(X, RELU6))
        self.assertEqual(self.verify(one, self.path("absent.mlir"))[0], 3)
        self.assertEqual(self.verify(one)[0], 3)  # one stage only
        self.assertEqual(self.verify(one, one, one)[0], 2)
        self.assertEqual(self.verify("--min-compared=2", one, one)[0], 2)
        self.assertEqual(self.verify(one, one)[0], 0)
        other = self.path("other.mlir", module(["x: 8x32xf32", "y: 8x32xf32"], RELU6))
        status, _, said = self.verify(one, other)
        self.assertEqual(status, 3)
        self.assertRegex(said, "different numbers of arguments\n  hint: two modules of one compile")
        self.assertNotIn("min-compared", said)  # which would not help

    def test_what_is_not_whole(self):
        """What was not read or not compared is no proof, and leaves an old report."""
        f = ("  func.func @{0}(%a: tensor<8x32xf32>) -> tensor<8x32xf32> {{\n"
             '    %r = "ttir.{1}"({2}) : (tensor<8x32xf32>) -> tensor<8x32xf32>\n{3}  }}\n')
        end = "    return %r : tensor<8x32xf32>\n"
        g, h = f.format("g", "sin", "%a", end), f.format("h", "neg", "%a", end)
        whole = self.path("whole.mlir", "module {\n" + g + h + "}\n")
        self.assertEqual(self.verify(whole, whole)[0], 0)
        report = self.path("check.yml")
        for name, text, says in (
                ("cut", "module {\n" + g + h[:-20], "cut off"),
                ("undefined", "module {\n" + g + h.replace("(%a)", "(%b)") + "}\n", "%b is not defined"),
                ("early", "module {\n" + g + h.replace("(%a)", "(%r)") + "}\n", "used before it is defined"),
                ("types", "module {\n" + g + h.replace(": (tensor", ": (tensor<2xf32>, tensor") + "}\n", "number of"),
                ("less", "module {\n" + g + "}\n", "a function is in one module only"),
                ("renamed", "module {\n" + g + h.replace("@h", "@k") + h.replace("@h", "@l") + "}\n",
                 "a function is in one module only"),
                ("unreturned", "module {\n" + g + f.format("h", "neg", "%a", "") + "}\n", "has no return"),
                ("returned twice", "module {\n" + g + f.format("h", "neg", "%a", end + end) + "}\n", "has no return")):
            with self.subTest(name):
                other = self.path("other.mlir", text)
                for pair in ((whole, other), (other, whole), (other, other)):
                    if pair == (other, other) and name in ("less", "renamed"):
                        continue  # nothing is missing there
                    with open(report, "w") as old:
                        old.write("input: {before: %s, after: %s}\n" % pair)
                    run = subprocess.run([PROGRAM, "verify", "-o", report, *pair], capture_output=True, text=True)
                    self.assertEqual(run.returncode, 3, run.stderr)
                    self.assertIn(says, run.stderr)
                    self.assertTrue(os.path.exists(report))

    @unittest.skipUnless(CORPUS and os.path.isdir(os.path.join(CORPUS, "real")) and shutil.which("zstd"), "no dumps, or no zstd")
    def test_a_difference_is_found_where_models_are_large(self):
        """A guard sees no difference in what is guarded, but what is made of it past the guard does; constants that both
        sides take are tied to no extent, and one that is is followed."""
        cases = [("clipres0", '%723 = "ttnn.matmul"', "transpose_b = true", "transpose_b = false"),
                 ("resnet8", '%11 = "ttnn.multiply"(%10, %8)', '"ttnn.multiply"', '"ttnn.add"'),
                 ("zvaetp", '%640 = "ttnn.multiply"', "ttnn.multiply", "ttnn.add"),
                 ("clipres1", '%1041 = "ttnn.add"', "ttnn.add", "ttnn.subtract")]
        for name, op, was, now in cases:
            ttir, ttnn = (os.path.join(CORPUS, "real", f"{name}.{level}.mlir.zst") for level in ("ttir", "ttnn"))
            text = subprocess.run(["zstd", "-dc", ttnn], capture_output=True, text=True, check=True).stdout
            line = next(l for l in text.split("\n") if op in l)
            with self.subTest(name):
                self.assertIn(was, line)
                wrong = self.path("wrong.mlir", text.replace(line, line.replace(was, now, 1), 1))
                self.assertEqual(self.verify(ttir, wrong)[0], 1)

    @unittest.skipUnless(CORPUS and os.path.isdir(os.path.join(CORPUS, "o1")), "no models of level 1")
    def test_a_difference_is_found_at_level_1(self):
        """Heads of which one takes the place of another; what is left out behind a norm whose epsilon is rounded."""
        cases = [("qwen_2_5_3b_prefill_layer", "%142", "begins = [18 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [19 :",
                  "begins = [17 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [18 :"),
                 ("ttir_resnet", "%73", "ttnn.relu", "ttnn.neg")]
        for name, op, was, now in cases:
            ttir, ttnn = (os.path.join(CORPUS, "o1", f"{name}.{level}.mlir") for level in ("ttir", "ttnn-o1"))
            with open(ttnn) as f:
                text = f.read()
            line = next(l for l in text.split("\n") if f" {op} = " in l and was in l)
            with self.subTest(name):
                self.assertEqual(self.verify(ttir, self.path("wrong.mlir", text.replace(line, line.replace(was, now, 1), 1)))[0], 1)

    @unittest.skipUnless(CORPUS and os.path.isdir(os.path.join(CORPUS, "real")) and shutil.which("zstd"), "no dumps, or no zstd")
    def test_an_epsilon_that_no_result_shows(self):
        """Far behind it no number that is tried comes near it: the norm itself decides."""
        ttir, ttnn = (os.path.join(CORPUS, "real", f"dsag.{level}.mlir.zst") for level in ("ttir", "ttnn"))
        text = subprocess.run(["zstd", "-dc", ttnn], capture_output=True, text=True, check=True).stdout
        norm = '%75 = "ttnn.add"(%74, %9)'
        self.assertEqual(text.count(norm), 1)
        self.assertEqual(self.verify(ttir, ttnn)[0], 0)
        wrong = self.path("wrong.mlir", text.replace(norm, norm.replace("add", "subtract")))
        self.assertEqual(self.verify(ttir, wrong)[0], 1)

    def test_functions_of_other_names(self):
        def functions(*named):
            return self.path(named[0][0] + ".mlir", "module {\n" + "".join(
                f"  func.func @{name}(%a: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{\n"
                f'    %r = "ttir.{op}"(%a) : (tensor<{shape}xf32>) -> tensor<{shape}xf32>\n'
                f"    return %r : tensor<{shape}xf32>\n  }}\n" for name, op, shape in named) + "}\n")

        one = functions(("f", "sin", "8x32"), ("g", "neg", "4x32"), ("h", "exp", "8x32"))
        self.assertEqual(self.verify(one, functions(("i", "neg", "4x32"), ("f", "sin", "8x32"), ("h", "exp", "8x32")))[0], 0)
        self.assertEqual(self.verify(one, functions(("k", "sin", "8x32"), ("g", "neg", "4x32"), ("h", "exp", "8x32")))[0], 0)
        self.assertEqual(self.verify(one, functions(("l", "exp", "4x32"), ("f", "sin", "8x32"), ("h", "exp", "8x32")))[0], 1)
        self.assertEqual(self.verify(one, functions(("m", "sin", "8x32"), ("n", "exp", "8x32"), ("g", "neg", "4x32")))[0], 3)

    def test_a_stage_that_is_cut_off(self):
        stages = [module(X, RELU6), module(X, RELU6).replace("relu6", "clamp_scalar").replace("<{}>", "<{min = 0.0 : f32, max "
                                                                                           "= 6.0 : f32}>"),
                  module(X, ["%r = ttir.relu(%x) : 8x32xf32"])]
        text = "".join(f"// -----// IR Dump After P{i} (p{i}) ('builtin.module' operation) //----- //\n{s}\n"
                       for i, s in enumerate(stages))
        self.assertEqual(self.verify(self.path("log.txt", text))[0], 1)
        status, _, said = self.verify(self.path("log.txt", text[:text.rindex("return")]))
        self.assertEqual(status, 3)
        self.assertIn("this module is cut off: it is compared with no other", said)

    def test_a_compile_that_failed(self):
        logs = os.path.join(os.path.dirname(PAIRS), os.pardir, "log")
        for name in "19_pass_failed.log", "19_error_at_the_end.log":
            status, _, said = self.verify(os.path.join(logs, name))
            self.assertEqual(status, 3)
            self.assertIn("the compiler failed here", said)

    def test_arguments_of_blocks(self):
        """They are no values of the function: one is not the other."""
        def of(name):
            return self.path(name + ".mlir", (
                "module {\n  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {\n"
                '    "cf.br"(%x, %y)[^bb1] : (tensor<8xf32>, tensor<8xf32>) -> ()\n'
                "  ^bb1(%a: tensor<8xf32>, %b: tensor<8xf32>):\n" +
                '    %r = "ttir.exp"(%NAME) : (tensor<8xf32>) -> tensor<8xf32>\n'.replace("NAME", name) +
                "    return %r : tensor<8xf32>\n  }\n}\n"))
        self.assertEqual(self.verify(of("a"), of("b"))[0], 3)

    def test_what_has_no_evaluator(self):
        before = self.path("before.mlir", module(X, ["%r = ttir.unheard_of(%x) : 8x32xf32"]))
        after = self.path("after.mlir", module(X, ["%r = ttir.never_seen(%x) : 8x32xf32"]))
        self.assertEqual(self.verify(before, before)[0], 0)  # the same op of the same value
        self.assertEqual(self.verify(before, after)[0], 3)
        status, report, _ = self.verify("--min-compared=0", "--details", before, after)
        self.assertEqual(status, 0)
        self.assertEqual(report["checks"][0]["kind"], "not_compared")
        self.assertEqual(report["compared"]["after"], {"ops": 1, "proved": 0, "different": 0, "not_compared": 1})

    def test_what_is_made_of_unwritten_memory(self):
        """An empty tensor holds anything: one is not the other, nor is it known to differ."""
        def of(dialect, made):
            lines = ["%e = DIALECT.empty() : 8x32xf32", "%f = DIALECT.empty() : 8x32xf32", "%r = DIALECT." + made]
            return self.path(dialect + ".mlir", module(X, [line.replace("DIALECT", dialect) for line in lines]))
        for before, after, status in (("subtract(%e, %f) : 8x32xf32", "subtract(%f, %e) : 8x32xf32", 3), ("relu(%x) : 8x32xf32", "relu(%x) : 8x32xf32", 0),
                                      ("relu(%x) : 8x32xf32", "exp(%x) : 8x32xf32", 1)):
            self.assertEqual(self.verify(of("ttir", before), of("ttnn", after))[0], status, (before, after))

    def test_folded_in_the_format(self):
        """Numbers that the compiler computed differ by rounding, or by more."""
        one, two = "[0.0, 200.15, 201.15]", "[-0.55, 0.0, -1.15]"
        def of(name, lines):
            return self.path(name, "module {\n  func.func @f() -> tensor<3xbf16> {\n%s    return %%r : tensor<3xbf16>\n  }\n}\n" % lines)
        def constant(name, dialect, numbers):
            return '    %%%s = "%s.constant"() <{value = dense<%s> : tensor<3xbf16>}> : () -> tensor<3xbf16>\n' % (name, dialect, numbers)
        before = of("before.mlir", constant("a", "ttir", one) + constant("b", "ttir", two) +
                    '    %r = "ttir.add"(%a, %b) : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3xbf16>\n')
        for sums, status in (("[-0.55, 200.0, 200.0]", 0), ("[-0.55, 200.0, 202.0]", 1)):
            self.assertEqual(self.verify(before, of("after.mlir", constant("r", "ttnn", sums)))[0], status, sums)

    def test_corpus(self):
        wrong = os.path.join(CORPUS, "wrong")
        if not CORPUS or not os.path.isdir(wrong):
            self.skipTest("no corpus")
        with open(os.path.join(wrong, "truth.tsv")) as f:
            lines = f.readlines()
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            name, _, truth = line.rstrip("\n").split("\t")
            for stage in "fused", "ttnn":
                with self.subTest(f"{name} {stage}"):
                    self.check(os.path.join(wrong, f"{name}.ttir.mlir"), os.path.join(wrong, f"{name}.{stage}.mlir"),
                               truth.startswith("different"))


if __name__ == "__main__":
    unittest.main()
