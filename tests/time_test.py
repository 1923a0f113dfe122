#!/usr/bin/env python3
"""Where the time goes (--time): ops by kind and place, fused beside not fused, needless work with its neighbours that are needed.

usage: time_test.py PROGRAM
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from schemas import hold

PROGRAM = os.path.abspath(sys.argv.pop(1))
REAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/corpus/real")
BIG = "1x512x160x96xbf16"
DRAM = ('#l%d = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<%s, #ttnn.buffer_type<dram>>, <interleaved>>\n')
TILED, ROWS = DRAM % (0, "64x64x!ttcore.tile<32x32, bf16>"), DRAM % (1, "2048x2048xbf16")
T, R = "tensor<2048x2048xbf16, #l0>", "tensor<2048x2048xbf16, #l1>"


def module(arguments, body, result, head=""):
    return f"{head}module {{\nfunc.func @main({arguments}) -> {result} {{\n{body}\n}}\n}}\n"


def op(name, operands, types, result, attributes=""):
    return f'"ttnn.{name}"({operands}) {f"<{{{attributes}}}> " if attributes else ""}: ({types}) -> {result}'


def cast(value, dtype, frm, to):
    return op("typecast", value, f"tensor<{frm}>", f"tensor<{to}>", f"dtype = #ttcore.supportedDataTypes<{dtype}>")


def neutral(number):
    t = f"tensor<{BIG}>"
    body = [f"%o = " + op("full", "", "", t, f"fill_value = {number} : f32, shape = #ttnn.shape<1x512x160x96>"),
            "%0 = " + op("divide", "%x, %o", f"{t}, {t}", t), f"return %0 : {t}"]
    return module(f"%x: {t}", "\n".join(body), t)


def casts(narrow, wide, between):
    """A cast, what is between, and a cast back."""
    a = "2048x2048x"
    moved = op("permute", "%0", f"tensor<{a}{wide}>", f"tensor<{a}{wide}>", "permutation = array<i64: 1, 0>")
    computed = op("exp", "%0", f"tensor<{a}{wide}>", f"tensor<{a}{wide}>")
    body = ["%0 = " + cast("%x", wide, a + narrow, a + wide), "%1 = " + (moved if between == "move" else computed),
            "%2 = " + cast("%1", narrow, a + wide, a + narrow), f"return %2 : tensor<{a}{narrow}>"]
    return module(f"%x: tensor<{a}{narrow}>", "\n".join(body), f"tensor<{a}{narrow}>")


def table(rows, other):
    """A table is cast, and rows of it are looked up; or it is used otherwise, too."""
    t, few, index = "tensor<4096x512x%s>", f"tensor<{rows}x512xbf16>", f"tensor<{rows}xui32>"
    body = ["%0 = " + cast("%x", "bf16", "4096x512xf32", "4096x512xbf16"),
            "%1 = " + op("embedding", "%i, %0", f"{index}, {t % 'bf16'}", few)]
    results = ["%1"] + (["%0"] if other else [])
    types = ", ".join([few] + ([t % "bf16"] if other else []))
    body.append("return " + ", ".join(results) + " : " + types)
    return module(f"%i: {index}, %x: {t % 'f32'}", "\n".join(body), f"({types})")


def host(back):
    body = ["%d = " + op("get_device", "", "", "!ttnn.device"), "%0 = " + op("from_device", "%x", T, T),
            "%1 = " + op("to_layout", "%0", T, R)]
    if back:
        body.append("%2 = " + op("to_device", "%1, %d", f"{R}, !ttnn.device", R))
    body.append(f"return %{2 if back else 1} : {R}")
    return module(f"%x: {T}", "\n".join(body), R, TILED + ROWS)


def layouts(last):
    body = ["%0 = " + op("to_layout", "%x", T, R),
            "%1 = " + (op("to_layout", "%0", R, T) if last == "back" else op("exp", "%0", R, R))]
    end = T if last == "back" else R
    return module(f"%x: {T}", "\n".join(body + [f"return %1 : {end}"]), end, TILED + ROWS)


def state(gathered, used=False):
    """A state of a step: cut, changed, and whole again along a dimension; `used`: by something of the step, too."""
    whole, part = "tensor<64x64x256xbf16>", "tensor<64x64x64xbf16>"
    back = "tensor<64x256x64xbf16>" if gathered == 1 else whole
    body = ["%0 = " + op("mesh_partition", "%x", whole, part, "cluster_axis = 1 : ui32, dim = 2 : si32"),
            "%1 = " + op("exp", "%0", part, part),
            "%2 = " + op("all_gather", "%1", part, back, f"all_gather_dim = {gathered} : si32, cluster_axis = 1 : ui32")]
    body.append("%3 = " + op("exp", "%2", back, back) if used else "")
    results = f"{back}, {back}" if used else back
    return module(f"%x: {whole}", "\n".join(body + [f"return %2{', %3' if used else ''} : {results}"]),
                  f"({results})" if used else back)


def slots(by):
    """A state of 512 slots that is turned, changed and turned back."""
    lies, turned = "tensor<512x64x128xf32>", "tensor<512x128x64xf32>"
    slot = ("tensor<1x128x64xsi32>", "tensor<1x128x64xf32>")
    turn = "permutation = array<i64: 0, 2, 1>"
    change = (op("scatter", "%0, %i, %u", f"{turned}, {slot[0]}, {slot[1]}", turned,
                 "dim = 0 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>") if by == "scatter" else
              op(by, "%0", turned, turned))
    body = ["%0 = " + op("permute", "%x", lies, turned, turn), "%1 = " + change,
            "%2 = " + op("permute", "%1", turned, lies, turn), f"return %2 : {lies}"]
    return module(f"%x: {lies}, %i: {slot[0]}, %u: {slot[1]}", "\n".join(body), lies)


def padded(rows, begin):
    """A product with one number for each of 16 x 64 rows, and a sum; `begin`: by a reshape of the model."""
    x = f"tensor<16x64x{rows}x720xbf16>" if rows else "tensor<16x64x720xbf16>"
    s = f"tensor<16x64x{rows}x1xbf16>" if rows else "tensor<16x64x1xbf16>"
    scale = "tensor<16x64xbf16>" if begin and rows == 1 else s
    given = "tensor<16x64x720xbf16>" if begin and rows == 1 else x
    body = []
    if begin:
        shape = f"16 : i32, 64 : i32, {rows} : i32, 720 : i32"
        body.append("%0 = " + op("reshape", "%x", given, x, f"shape = [{shape}]"))
        body.append("%3 = " + op("reshape", "%s", scale, s, f"shape = [{shape.replace('720', '1')}]"))
    y, z = ("%0", "%3") if begin else ("%x", "%s")
    out = x.replace("16x", "", 1)
    body += ["%1 = " + op("multiply", f"{y}, {z}", f"{x}, {s}", x),
             "%2 = " + op("sum", "%1", x, out, "dim_arg = [0 : i32], keep_dim = false"), f"return %2 : {out}"]
    return module(f"%x: {given}, %s: {scale}", "\n".join(body), out)


def laid(rows):
    """128 times so many rows, put into tiles and made 4 x 32 times as many."""
    def layout(n, step, memref):
        return (f"#l{n} = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * {step} + d1, d2), <1x1>, memref<{memref}, "
                "#ttnn.buffer_type<dram>>, <interleaved>>\n")

    tiles = "x23x!ttcore.tile<32x32, bf16>"
    head = layout(0, rows, f"{128 * rows}x720xbf16") + layout(1, 32, f"128{tiles}") + layout(2, 32 * rows, f"{4 * rows}{tiles}")
    x, y, z = f"tensor<128x{rows}x720xbf16, #l0>", f"tensor<128x{rows}x720xbf16, #l1>", f"tensor<4x{32 * rows}x720xbf16, #l2>"
    body = ["%0 = " + op("to_layout", "%x", x, y),
            "%1 = " + op("reshape", "%0", y, z, f"shape = [4 : i32, {32 * rows} : i32, 720 : i32]"), f"return %1 : {z}"]
    return module(f"%x: {x}", "\n".join(body), z, head)


def repeated(times):
    row, matrix = "tensor<1x2048xbf16>", "tensor<2048x2048xbf16>"
    kept, part = (row, "1x1") if times == 1 else (matrix, "2048x1")
    parameter = "{ttcore.argument_type = #ttcore.argument_type<parameter>}"
    return f"""module {{
func.func private @const_eval(%w: {row}) -> {kept} attributes {{tt.function_type = "const_eval"}} {{
%0 = {op("repeat", "%w", row, kept, f"repeat_dims = #ttnn.shape<{part}>")}
return %0 : {kept}
}}
func.func @main(%x: {matrix}, %w: {row} {parameter}) -> {matrix} {{
%0 = ttcore.load_cached(@const_eval, [%w]) : ({row}) -> {kept}
%1 = {op("multiply", "%x, %0", f"{matrix}, {kept}", matrix)}
return %1 : {matrix}
}}
}}
"""


class Time(unittest.TestCase):
    def run_on(self, text, *options):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, "m.mlir")
            with open(name, "w") as f:
                f.write(text)
            return subprocess.run([PROGRAM, "--ttnn-only", *options, name], cwd=d, capture_output=True, text=True), os.listdir(d)

    def times(self, text):
        done, _ = self.run_on(text, "--format=json:-")
        document = json.loads(done.stdout)
        hold(document, "report")
        return document

    def needless(self, text):
        return {n["kind"]: n for n in self.times(text)["times"]["needless"]}

    def test_each_kind_of_needless_work(self):
        rows = [("op without effect", neutral("1.0"), neutral("2.0")),
                ("casts that cancel", casts("bf16", "f32", "move"), casts("bf16", "f32", "compute")),
                ("casts that cancel", casts("bf16", "f32", "move"), casts("f32", "bf16", "move")),
                ("table cast", table(32, False), table(32, True)),
                ("table cast", table(32, False), table(4096, False)),
                ("host round trip", host(True), host(False)),
                ("layout round trip", layouts("back"), layouts("on")),
                ("state moved", state(2), state(1)),
                ("state moved", state(2), state(2, True)),
                ("state moved", slots("scatter"), slots("exp")),
                ("tile padding", padded(1, True), padded(1, False)),
                ("tile padding", padded(1, True), padded(32, True)),
                ("tile padding", laid(1), laid(32)),
                ("repeated constant", repeated(2048), repeated(1))]
        for kind, there, needed in rows:
            self.assertEqual([kind], list(self.needless(there)), there)
            self.assertEqual({}, self.needless(needed), needed)

    def test_padding_is_what_flat_tensors_do_without(self):
        found = self.needless(padded(1, True))["tile padding"]
        flat = self.times(padded(0, False))["total_us"]
        now = self.times(padded(1, True))["total_us"]
        self.assertLessEqual(found["us"], now - flat)
        self.assertGreater(found["us"], .9 * (now - flat))

    def test_findings_that_are_left_out_hide_no_needless_work(self):
        """Kernels of other libraries take a division by ones behind a residual, where a norm of TTNN saves as much."""
        pair = [os.path.join(REAL, f"zvaetp.{level}.mlir.zst") for level in ("ttir", "ttnn")]
        if not os.path.exists(pair[1]):
            self.skipTest("no corpus")
        done = subprocess.run([PROGRAM, "-q", "--no-validate", "--format=json:-", *pair], capture_output=True, text=True)
        needless = {n["kind"]: n for n in json.loads(done.stdout)["times"]["needless"]}
        self.assertEqual(15, needless["op without effect"]["places"])

    def test_needless_work_is_no_finding(self):
        done, files = self.run_on(neutral("1.0"))
        self.assertEqual((0, "", "", ["m.mlir"]), (done.returncode, done.stdout, done.stderr, files))
        done, files = self.run_on(neutral("1.0"), "--time")
        self.assertEqual((0, "", ["m.mlir"]), (done.returncode, done.stderr, files))
        self.assertIn("needless", done.stdout)

    def test_summary_says_what_is_much(self):
        self.assertIn("needless (tile padding)", self.run_on(padded(1, True))[0].stderr)
        self.assertNotIn("needless", self.run_on(padded(32, True))[0].stderr)

    def test_kinds_and_places_add_up(self):
        document = self.times(padded(1, True))
        times = document["times"]
        for of in ("kinds", "places"):
            self.assertAlmostEqual(document["total_us"], sum(t["us"] for t in times[of]), 3)
            self.assertAlmostEqual(100, sum(t["percent"] for t in times[of]), delta=3)
        self.assertEqual(["ttnn.multiply", "ttnn.reshape", "ttnn.sum"], sorted(t["op"] for t in times["kinds"]))
        self.assertTrue(all(t["cores"] and t["bound"] == "DRAM" for t in times["places"]))
        form = times["forms"][0]
        self.assertEqual(1, form["unfused"])
        self.assertGreater(form["unfused_us"], form["if_fused_us"])

    def test_places_are_lines_of_python(self):
        line = 'loc("forward"("/m/modeling.py":188:0))'
        text = padded(1, True).replace("\nreturn", f" {line}\nreturn")
        places = self.times(text)["times"]["places"]
        self.assertIn("modeling.py:188 (forward)", [p.get("source") for p in places])
        self.assertTrue(re.search(r"ttnn\.sum \S+ +modeling\.py:188 \(forward\)\n", self.run_on(text, "--time")[0].stdout))

    def test_tensors_without_dimensions(self):
        scalar, big = "tensor<bf16>", f"tensor<{BIG}>"
        body = ["%0 = " + op("exp", "%x", scalar, scalar), "%1 = " + op("multiply", "%y, %0", f"{big}, {scalar}", big),
                f"return %1 : {big}"]
        document = self.times(module(f"%x: {scalar}, %y: {big}", "\n".join(body), big))
        self.assertEqual([], document["times"]["needless"])
        self.assertEqual(2, len(document["times"]["kinds"]))

    def test_python_lines_of_findings(self):
        """In every form of a finding; SARIF has the line in the function, where there is one."""
        line = 'loc("p|/m/model ing.py:12|forward|34|aten__sum"("f"))'
        text = padded(32, True).replace("\nreturn", f" {line}\nreturn")
        source = "model ing.py:12 (forward), line 34"
        self.assertIn(f"source: {source}", self.run_on(text, "-o-")[0].stdout)
        self.assertIn("model ing.py:12 (forward)", self.run_on(text, "-o/dev/null")[0].stderr)
        self.assertIn(source, self.run_on(text, "--format=github:-")[0].stdout)
        self.assertIn(source, json.loads(self.run_on(text, "--format=gitlab:-")[0].stdout)[0]["description"])
        self.assertIn(source, self.run_on(text, "--format=markdown:-")[0].stdout.replace("&#58;", ":"))
        results = json.loads(self.run_on(text, "--format=sarif:-")[0].stdout)["runs"][0]["results"]
        related, = results[0]["relatedLocations"]
        self.assertEqual(source, related["message"]["text"])
        self.assertEqual({"artifactLocation": {"uri": "model%20ing.py"}, "region": {"startLine": 34}}, related["physicalLocation"])
        results = json.loads(self.run_on(padded(32, True), "--format=sarif:-")[0].stdout)["runs"][0]["results"]
        self.assertNotIn("relatedLocations", results[0])
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "m.mlir"), "w") as f:
                f.write(text)
            run = lambda *words: subprocess.run([PROGRAM, *words], cwd=d, capture_output=True, text=True).stdout
            self.assertIn(f"  source   {source}\n", run("explain", "--ttnn-only", "--at=ttnn.sum", "m.mlir"))
            explained = json.loads(run("explain", "--ttnn-only", "--json", "--at=ttnn.sum", "m.mlir"))
            hold(explained, "explain")
            for at in "model ing.py:12", "model ing.py:34", "/m/model ing.py:34", source:
                self.assertIn(f"  source   {source}\n", run("explain", "--ttnn-only", f"--at={at}", "m.mlir"), at)
            for at in "model ing.py:13", "other.py:12", "ing.py:1":
                self.assertEqual("", run("explain", "--ttnn-only", f"--at={at}", "m.mlir"), at)
            run("--ttnn-only", "--format=json:r.json", "m.mlir")
            table = json.loads(run("summary", "--format=json", "r.json"))
            hold(table, "summary")
            self.assertEqual(source, table["reports"][0]["worst"]["source"])


unittest.main()
