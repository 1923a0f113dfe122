#!/usr/bin/env python3
"""The program as its users see it: options, exit status, what is printed where, which files appear and go.

usage: cli_test.py PROGRAM [unittest arguments]
"""
import fcntl
import gzip
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import termios
import time
import threading
import unittest
import zipfile

from schemas import hold

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# Few rows keep few cores busy.
SLOWER = """\
module {
func.func @main(%x: tensor<32x8192xbf16> {ttcore.argument_type = #ttcore.argument_type<input>}) -> tensor<32x8192xbf16> {
%0 = "ttnn.exp"(%x) : (tensor<32x8192xbf16>) -> tensor<32x8192xbf16>
%1 = "ttnn.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x8192xbf16>) -> tensor<32x1xbf16>
%2 = "ttnn.divide"(%0, %1) : (tensor<32x8192xbf16>, tensor<32x1xbf16>) -> tensor<32x8192xbf16>
return %2 : tensor<32x8192xbf16>
}
}
"""
TTIR = """\
module {
  func.func @forward(%arg0: tensor<32x64xbf16>, %arg1: tensor<64x128xbf16>, %arg2: tensor<1x128xbf16>) -> tensor<32x128xbf16> {
    %0 = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16>, tensor<64x128xbf16>) -> tensor<32x128xbf16> loc(#loc3)
    %1 = "ttir.add"(%0, %arg2) : (tensor<32x128xbf16>, tensor<1x128xbf16>) -> tensor<32x128xbf16> loc(#loc4)
    return %1 : tensor<32x128xbf16> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc3 = loc("fc1.matmul")
#loc4 = loc("fc1.add")
"""

LAYOUTS = """\
#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout2 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
"""

HEAD = """\
module {
  func.func @forward(%arg0: tensor<32x64xbf16, #ttnn_layout>, %arg1: tensor<64x128xbf16, #ttnn_layout1>, %arg2: tensor<1x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> {
"""

MATMUL = """%0 = "ttnn.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16, #ttnn_layout>, tensor<64x128xbf16, #ttnn_layout1>) -> tensor<32x128xbf16, #ttnn_layout2> loc(#loc1)"""
ADD = """%1 = "ttnn.add"(%0, %arg2) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x128xbf16, #ttnn_layout2>, tensor<1x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> loc(#loc2)"""
FREE = """"ttnn.deallocate"(%arg0) <{force = false}> : (tensor<32x64xbf16, #ttnn_layout>) -> () loc(#loc1)"""
LINEAR = """%1 = "ttnn.linear"(%arg0, %arg1, %arg2) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16, #ttnn_layout>, tensor<64x128xbf16, #ttnn_layout1>, tensor<1x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> loc(#loc2)"""

TAIL = """\
    return %1 : tensor<32x128xbf16, #ttnn_layout2> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("fc1.matmul")
#loc2 = loc("fc1.add")
"""


def ttnn(*ops):
    return LAYOUTS + HEAD + "".join("    %s\n" % op for op in ops) + TAIL


MISSED = ttnn(MATMUL, FREE, ADD)

# The same as --ttir-to-ttnn-backend-pipeline=enable-trace=true prints it.
TRACED = ttnn(MATMUL, FREE, ADD).replace("func.func @forward", "func.func private @trace_0_forward").replace("} loc(#loc)\n} loc(#loc)", """\
} loc(#loc)
  func.func private @run_and_capture_trace_0_forward(%arg0: tensor<32x64xbf16, #ttnn_layout>, %arg1: tensor<64x128xbf16, #ttnn_layout1>, %arg2: tensor<1x128xbf16, #ttnn_layout2>) -> (tensor<32x128xbf16, #ttnn_layout2>, tensor<ui32, #ttnn.trace_id>) {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device loc(#loc)
    %1 = call @trace_0_forward(%arg0, %arg1, %arg2) : (tensor<32x64xbf16, #ttnn_layout>, tensor<64x128xbf16, #ttnn_layout1>, tensor<1x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> loc(#loc)
    %2 = "ttnn.begin_trace_capture"(%0) <{cq_id = 0 : ui32}> : (!ttnn.device) -> tensor<ui32, #ttnn.trace_id> loc(#loc)
    %3 = call @trace_0_forward(%arg0, %arg1, %arg2) : (tensor<32x64xbf16, #ttnn_layout>, tensor<64x128xbf16, #ttnn_layout1>, tensor<1x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> loc(#loc)
    "ttnn.end_trace_capture"(%0, %2) <{cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> () loc(#loc)
    return %1, %2 : tensor<32x128xbf16, #ttnn_layout2>, tensor<ui32, #ttnn.trace_id> loc(#loc)
  } loc(#loc)
  func.func private @execute_trace_0_forward(%arg0: tensor<ui32, #ttnn.trace_id>) attributes {tt.function_type = "trace_execute"} {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device loc(#loc)
    "ttnn.execute_trace"(%0, %arg0) <{blocking = false, cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> () loc(#loc)
    return loc(#loc)
  } loc(#loc)
  func.func @forward(%arg0: tensor<32x64xbf16, #ttnn_layout>, %arg1: tensor<64x128xbf16, #ttnn_layout1>, %arg2: tensor<1x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device loc(#loc)
    %1 = "ttnn.capture_or_execute_trace"(%0, %arg0, %arg1, %arg2) <{capture_callee = @run_and_capture_trace_0_forward, execute_callee = @execute_trace_0_forward}> : (!ttnn.device, tensor<32x64xbf16, #ttnn_layout>, tensor<64x128xbf16, #ttnn_layout1>, tensor<1x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> loc(#loc)
    return %1 : tensor<32x128xbf16, #ttnn_layout2> loc(#loc)
  } loc(#loc)
} loc(#loc)""", 1)
FUSED = ttnn(LINEAR)
BROKEN = ttnn('%9 = "ttnn.add"(%0, <<< : ]', LINEAR)
STALE = "input:\n  ttir: old\nmissed_fusions:\n- fused_op: x\n"
SUMMARY = "fusion_todo.yml: 1 place, 1 fused op; "


def log(*modules):
    return "".join("MLIR Module %s:\n%s" % ("ttnn" if "ttnn." in m else "ttir", m) for m in modules)


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.write("m.ttir.mlir", TTIR)
        self.write("m.ttnn.mlir", MISSED)
        self.write("fused.mlir", FUSED)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def read(self, name="fusion_todo.yml"):
        with open(self.path(name), newline="") as f:
            return f.read()

    def there(self, name="fusion_todo.yml"):
        return os.path.exists(self.path(name))

    def run_it(self, *args, **more):
        more.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([PROGRAM, *args], cwd=self.directory.name, stderr=subprocess.PIPE, timeout=60, **more)
        out = done.stdout.decode() if done.stdout is not None else None
        return done.returncode, out, done.stderr.decode()

    def found(self, ran, name="fusion_todo.yml", out=""):
        """Exit 1, and a summary of one place alone on standard error, with what an option promises."""
        self.assertEqual((ran[0], ran[1]), (1, out))
        self.assertRegex(ran[2], r"^%s: 1 place, 1 fused op; [^\n]*\n((?: |set |\d).*\n)*$" % re.escape(name))

    def wrong(self, word, *args):
        """Wrong usage: exit 2, an error that has this word, nothing written, a report that is there untouched."""
        self.write("fusion_todo.yml", STALE)
        status, out, err = self.run_it(*args)
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, r"(?s)^fusion-audit: error: .*%s" % re.escape(word))
        self.assertEqual(self.read(), STALE)

    def places(self, *args):
        """What `explain` says, as it is in JSON."""
        status, out, err = self.run_it("explain", "--json", *args)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)["places"]

    def unreadable(self, *args, **more):
        """Exit 3 with a reason; nothing written, a report that is there untouched."""
        self.write("fusion_todo.yml", STALE)
        status, out, err = self.run_it(*args, **more)
        self.assertEqual((status, out), (3, ""), err)
        self.assertIn("error: ", err)
        self.assertEqual(self.read(), STALE)
        return err


class Archives(Case):
    def pack(self, name, **files):
        """A tar or a zip of files, with dots for double underscores in their names."""
        files = {n.replace("__", "."): text.encode() for n, text in files.items()}
        if name.endswith(".zip"):
            with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as z:
                for n, text in files.items():
                    z.writestr("dir/" + n, text)
            return
        with tarfile.open(self.path(name), "w:" + name.partition(".tar.")[2]) as t:
            for n, text in files.items():
                info = tarfile.TarInfo("dir/" + n)
                info.size = len(text)
                t.addfile(info, io.BytesIO(text))

    def test_two_levels(self):
        """An archive of both files is audited as the two are; what is no IR is passed over."""
        self.run_it("m.ttir.mlir", "m.ttnn.mlir")
        want = self.read()
        for name in ("a.zip", "a.tar", "a.tar.xz"):
            self.pack(name, README="Read me.\n", ttnn__mlir=MISSED, ttir__mlir=TTIR, empty="")
            for args in [name], [name + ":dir/ttir.mlir", name + ":dir/ttnn.mlir"], ["m.ttir.mlir", name + ":dir/ttnn.mlir"]:
                self.found(self.run_it(*args))
                ttir = '"%s:dir/ttir.mlir"' % name if args[0] != "m.ttir.mlir" else "m.ttir.mlir"
                report = self.read().replace(ttir, "m.ttir.mlir").replace('"%s:dir/ttnn.mlir"' % name, "m.ttnn.mlir")
                self.assertEqual(report, want, args)
            with open(self.path(name), "rb") as f:
                self.assertEqual(self.run_it("-o", "-", "-", input=f.read())[0], 1)

    def test_messages_name_the_file(self):
        self.pack("a.zip", ttir__mlir=TTIR, ttnn__mlir=BROKEN)
        status, out, err = self.run_it("a.zip")
        self.assertIn("a.zip:dir/ttnn.mlir:7:25: error: ", err)

    def test_inspect(self):
        self.pack("a.tar", README="Read me.\n", ttnn__mlir=MISSED, ttir__mlir=TTIR)
        status, out, err = self.run_it("inspect", "--json", "a.tar")
        done = json.loads(out)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([f["path"] for f in done["files"]], ["a.tar:dir/ttnn.mlir", "a.tar:dir/ttir.mlir"])
        self.assertEqual(len(done["pairs"]), 1)
        self.pack("none.tar", README="Read me.\n", NOTES="None.\n")
        status, out, err = self.run_it("inspect", "none.tar")
        self.assertEqual(status, 3)
        self.assertIn("none.tar: error: ", out)

    def test_refused(self):
        self.pack("three.tar", a__mlir=TTIR, b__mlir=MISSED, c__mlir=FUSED)
        self.pack("none.tar", README="Read me.\n", NOTES="None.\n")
        status, out, err = self.run_it("three.tar")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("--output-dir", err)
        for command in ["explain"], ["--ttnn-only"]:
            status, out, err = self.run_it(*command, "three.tar")
            self.assertEqual((status, out), (2, ""))
        self.assertIn("none.tar: error: ", self.unreadable("none.tar"))
        self.assertIn("none.tar:x: error: ", self.unreadable("none.tar:x"))
        with open(self.path("three.tar"), "rb") as f:
            self.write("cut.tar", f.read(2000))
        self.assertIn("cut.tar: error: ", self.unreadable("cut.tar"))

    def test_loaded_when_needed(self):
        """The library of archives, which brings a dozen others, is loaded for what is packed, and for nothing else."""
        self.pack("a.tar", a__mlir=TTIR)
        self.write("a.gz", gzip.compress(TTIR.encode()))
        self.write("like.mlir", "BZ\n" + TTIR)
        loading = {**os.environ, "LD_DEBUG": "files"}
        for name, want in ("m.ttir.mlir", False), ("like.mlir", False), ("a.tar", True), ("a.gz", True):
            status, out, err = self.run_it("inspect", name, env=loading)
            self.assertEqual((status, "libarchive" in err), (0, want), name)


class Changing(Case):
    """A file that another process writes to while it is read is refused, and nothing crashes."""

    def audit_while(self, change):
        self.write("big.mlir", MISSED + (16 << 20) * "\n")
        done = threading.Event()

        def work():
            with open(self.path("big.mlir"), "r+b") as f:
                while not done.wait(0.002):
                    change(f)

        writer = threading.Thread(target=work)
        writer.start()
        try:
            for _ in range(200):  # until a read and a write meet
                status, out, err = self.run_it("--dry-run", "--ttnn-only", "big.mlir")
                self.assertIn(status, (1, 3), err)
                if "big.mlir: error: the file changed while it was read\n" in err:
                    self.assertEqual(status, 3)
                    return
        finally:
            done.set()
            writer.join()
        self.fail("never noticed")

    def test_grows(self):
        self.audit_while(lambda f: (f.seek(0, 2), f.write(b"\n"), f.flush()))

    def test_is_overwritten(self):
        self.audit_while(lambda f: (f.seek(1 << 20), f.write(b"\n"), f.flush()))

    def test_is_cut_off(self):
        self.audit_while(lambda f: (f.truncate(len(MISSED) + 10), f.truncate(16 << 20)))


class Audit(Case):
    def test_a_constant_that_is_made_of_another_one_many_times(self):
        """Each op takes the one before it twice: 2^20 ways lead to the first, of half a million elements."""
        ops = ["%%%s = \"ttir.arange\"() <{arange_dimension = 0 : i64, start = 0 : i64, end = %d : i64, step = 1 : i64}> : () -> "
               "tensor<%dxf32>" % (name, n, n) for name, n in (("i", 1024), ("j", 512))]
        ops += ["%%%s = \"ttir.reshape\"(%%%s) <{shape = [%d : i32, %d : i32]}> : (tensor<%dxf32>) -> tensor<%dx%dxf32>"
                % (to, of, a, b, a * b, a, b) for to, of, a, b in (("c", "i", 1, 1024), ("r", "j", 512, 1))]
        ops.append('%u0 = "ttir.multiply"(%c, %r) : (tensor<1x1024xf32>, tensor<512x1xf32>) -> tensor<512x1024xf32>')
        ops += ['%%u%d = "ttir.add"(%%u%d, %%u%d) : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>'
                % (k, k - 1, k - 1) for k in range(1, 20)]
        ops += ['%p = "ttir.matmul"(%x, %u19) : (tensor<512x512xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>',
                '%t = "ttir.permute"(%p) <{permutation = array<i64: 1, 0>}> : (tensor<512x1024xf32>) -> tensor<1024x512xf32>',
                '%q = "ttir.matmul"(%t, %u19) : (tensor<1024x512xf32>, tensor<512x1024xf32>) -> tensor<1024x1024xf32>']
        self.write("m.mlir", "func.func @main(%%x: tensor<512x512xf32>) -> tensor<1024x1024xf32> {\n%s\nreturn %%q : "
                   "tensor<1024x1024xf32>\n}\n" % "\n".join(ops))
        self.assertIn(self.run_it("--ttir-only", "-q", "--only=upsample*", "m.mlir")[0], (0, 1))

    def test_missed(self):
        self.found(self.run_it("m.ttir.mlir", "m.ttnn.mlir"))
        self.assertCountEqual(os.listdir(self.directory.name),
                              ["m.ttir.mlir", "m.ttnn.mlir", "fused.mlir", "fusion_todo.yml"])
        report = self.read()
        self.assertTrue(report.startswith("input:\n  ttir: m.ttir.mlir\n  ttnn: m.ttnn.mlir\nmissed_fusions:\n"))
        self.assertIn("- fused_op: ttnn.linear\n  source: ttnn\n  component_ops:\n  - ttnn.matmul\n  - ttnn.add\n", report)
        self.assertIn('  - ir_loc: "#loc1, #loc2"\n', report)
        self.assertIn("    ttnn_segment: |\n      %s\n      %s\n    notes: |\n" % (MATMUL, ADD), report)
        segment = "".join("      %s\n" % line.strip() for line in TTIR.splitlines() if "ttir." in line)
        self.assertIn("    ttir_segment: |\n" + segment, report)
        self.assertIn("model location:", report)
        self.assertIn("source torch ops:", report)

    def test_what_is_saved_depends_on_the_device(self):
        def saves(*args):
            out = self.run_it("-q", "-o", "-", *args, "m.ttir.mlir", "m.ttnn.mlir")[1]
            return re.search("saves: about ([0-9.]+) of .* us \\(1 launch, .*; launch-bound, (.*)\\)", out).groups()

        assumed, n150, p150 = saves(), saves("--device=n150"), saves("--device=p150")
        self.assertEqual((assumed[1], n150[1], p150[1]), ("n150 assumed", "n150", "p150"))
        self.assertEqual(assumed[0], n150[0])
        self.assertLess(float(p150[0]), float(n150[0]))

    def test_prices_are_keys_on_demand(self):
        self.assertNotIn("cost:", self.run_it("-o", "-", "m.ttir.mlir", "m.ttnn.mlir")[1])
        out = self.run_it("-o", "-", "--details", "m.ttir.mlir", "m.ttnn.mlir")[1]
        self.assertRegex(out, "    cost:\n      device: n150\n      launches: 2\n")
        self.assertRegex(out, "\n      launches_fused: 1\n")

    def test_unknown_device(self):
        self.wrong("n150", "--device=n15", "m.ttir.mlir", "m.ttnn.mlir")

    def test_one_file_with_both(self):
        self.write("both.log", TTIR + MISSED)
        status, out, err = self.run_it("both.log")
        self.found((status, out, err))
        self.assertIn("  ttir: both.log\n  ttnn: both.log\n", self.read())

    def test_nothing_missed(self):
        self.assertEqual(self.run_it("m.ttir.mlir", "fused.mlir"), (0, "", ""))
        self.assertFalse(self.there())

    def test_file_called_inspect(self):
        self.write("inspect", TTIR)
        self.assertEqual(self.run_it("./inspect", "m.ttnn.mlir")[0], 1)
        self.write("-x", TTIR)
        self.assertEqual(self.run_it("--", "-x", "m.ttnn.mlir")[0], 1)

    def test_one_level(self):
        self.found(self.run_it("--ttnn-only", "m.ttnn.mlir"))
        self.assertIn("input:\n  ttnn: m.ttnn.mlir\nmissed", self.read())
        self.assertNotIn("ttir_segment", self.read())
        self.found(self.run_it("--ttir-only", "m.ttir.mlir"))
        self.assertIn("input:\n  ttir: m.ttir.mlir\nmissed", self.read())
        self.assertIn("  - ttir.matmul\n  - ttir.add\n", self.read())
        self.assertIn('ir_loc: "#loc3, #loc4"', self.read())
        self.assertNotIn("ttnn_segment", self.read())

    def test_options_after_files_and_abbreviated(self):
        self.assertEqual(self.run_it("m.ttnn.mlir", "--ttnn-o", "--qui"), (1, "", ""))
        self.assertTrue(self.there())

    def test_patterns(self):
        files = ("m.ttir.mlir", "m.ttnn.mlir")
        status, _, err = self.run_it("-P", "absent.yml", *files)
        self.assertEqual(status, 2)
        self.assertIn("absent.yml", err)
        self.write("bad.yml", "name: [\n")
        status, _, err = self.run_it("--patterns=bad.yml", *files)
        self.assertEqual(status, 2)
        self.assertRegex(err, r"(?m)^bad\.yml:\d+(:\d+)?: error: ")
        self.assertFalse(self.there())

    def test_dry_run_counts_what_a_report_has(self):
        generate = os.path.join(ROOT, "bench", "generate.py")
        subprocess.run([sys.executable, generate, "ttir", "0.3", self.path("copies.mlir")], check=True)
        copies = self.read("copies.mlir").split("func.func")
        self.assertGreater(len(copies), 9)
        for i in range(1, len(copies)):
            if i % 3 == 1:
                copies[i] = copies[i].replace("bf16", "f32")
            elif i % 3 == 2:
                copies[i] = re.sub(r"loc\(#loc\d+\)", 'loc("one_decomp_matmul")', copies[i])
        self.write("mixed.mlir", "func.func".join(copies))
        for options in [], ["--include=slower"]:
            for name in ("mixed.mlir",):
                status, _, said = self.run_it("--ttir-only", "-o", "dry-run", *options, name)
                self.assertEqual(self.run_it("--ttir-only", "-n", *options, name),
                                 (status, "", said.replace("dry-run", "dry run", 1)), [name, options])
                self.assertEqual(status, 1, said)

    def test_dry_run_writes_and_removes_nothing(self):
        status, out, err = self.run_it("--dry-run", "m.ttir.mlir", "m.ttnn.mlir")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("ttnn.linear", err)
        self.assertFalse(self.there())
        self.write("fusion_todo.yml", STALE)
        self.assertEqual(self.run_it("-n", "m.ttir.mlir", "fused.mlir"), (0, "", ""))
        self.assertEqual(self.read(), STALE)

    def descend(self, level):
        """Groups of places that are matches in TTNN alone, and descend from TTIR ops that overlap."""
        t = "tensor<32x32xbf16>"
        lines, last = ["module {", "  func.func @main(%%arg0: %s) -> %s {" % (t, t)], "%arg0"

        def add(name, op, operands, at):
            types = ", ".join(t for _ in operands)
            lines.append('    %s = "%s.%s"(%s) : (%s) -> %s loc("%s")' % (name, level, op, ", ".join(operands), types, t, at))

        for group in range(60):
            names = ["%%%%%%s%d_%d" % (group, i) for i in range(12)]
            for i, name in enumerate(names):
                add(name % "a", "sigmoid", [last], "a%d_%d" % (group, i))
            sums = [names[0] % "a"]
            for name in names[1:] if level == "ttir" else []:
                add(name % "s", "add", [sums[-1], name % "a"], name % "s")
                sums.append(name % "s")
            for i, name in enumerate(names):
                op, other = ("multiply", last) if level == "ttnn" else ("maximum", sums[-1])
                add(name % "b", op, [other, name % "a"], "b%d_%d" % (group, i))
            last = names[-1] % "b"
        return "\n".join(lines + ["    return %s : %s" % (last, t), "  }", "}", ""])

    def test_jobs_do_not_change_the_ttir_that_ops_descend_from(self):
        for level in "ttir", "ttnn":
            self.write("many.%s.mlir" % level, self.descend(level))
        args = "--no-validate", "--only=ttnn.silu", "-o", "-", "many.ttir.mlir", "many.ttnn.mlir"
        one = self.run_it("-j", "1", *args)
        self.assertGreater(one[1].count("ttir_segment"), 600)
        for _ in range(3):
            self.assertEqual(self.run_it("-j", "4", *args), one)



RELU = """\
name: relu
summary: maximum(x, 0)
fused_op: ttnn.relu
source: ttnn
match: out = maximum(x, 0)
"""
FULL = """%zero = "ttir.full"() <{fill_value = 0.0 : f32}> : () -> tensor<1x1xbf16>\n      """
MAXIMUM = """%0 = "ttir.maximum"(%x, %zero) : (tensor<32x32xbf16>, tensor<1x1xbf16>) -> tensor<32x32xbf16>\n"""


class Traced(Case):
    def test_as_without_a_trace(self):
        """The same finding of the same lines; the ops around a trace compute nothing and are not looked for in TTIR."""
        self.found(self.run_it("m.ttir.mlir", "m.ttnn.mlir"))
        want = self.read()
        self.write("m.ttnn.mlir", TRACED)
        status, out, err = self.run_it("m.ttir.mlir", "m.ttnn.mlir")
        self.assertEqual(status, 1, err)
        self.assertEqual(self.read(), want)

    def test_fused_in_a_trace(self):
        self.write("m.ttnn.mlir", TRACED.replace(MATMUL, "").replace(ADD, LINEAR))
        self.assertEqual(self.run_it("m.ttir.mlir", "m.ttnn.mlir")[0], 0)


class Lower(Case):
    """lower says what fused ops compute."""

    def test_list(self):
        status, out, err = self.run_it("lower")
        names = [line.split()[0] for line in out.splitlines()]
        self.assertEqual((status, err, len(set(names))), (0, "", len(names)))
        self.assertIn("softmax", names)

    def test_one(self):
        want = self.run_it("lower", "linear")[1]
        self.assertTrue(want.startswith("linear(a, b, bias, transpose_a, transpose_b):\n    product = matmul("), want)
        self.assertIn("\nsource: ", want)
        for name in "ttir.linear", "ttnn.linear":
            self.assertEqual(self.run_it("lower", name), (0, want, ""))
        self.assertIn("\n\nmish(x):\n", self.run_it("lower", "gelu_tanh", "mish")[1])

    def test_unknown(self):
        for name in "rms_nrom", "ttnn.rms_nrom":
            status, out, err = self.run_it("lower", name)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("did you mean rms_norm?", err)

    def test_own(self):
        self.write("own.yml", "define:\n  - {is: 'op mish(x): tanh(x)', source: mine}\n")
        self.assertEqual(self.run_it("lower", "-P", "own.yml", "mish")[1], "mish(x):\n    tanh(x)\nsource: mine\n")
        self.write("bad.yml", "define:\n  - {is: 'op mish(x): tanh(y)', source: mine}\n")
        status, out, err = self.run_it("lower", "-P", "bad.yml", "mish")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("bad.yml:2:10: error: ", err)


class PatternLibrary(Case):
    """patterns list, show and check."""

    def test_program_that_was_copied(self):
        shutil.copy(PROGRAM, self.path("copied"))
        done = subprocess.run([self.path("copied"), "patterns", "list"], stderr=subprocess.PIPE, text=True)
        if done.returncode:  # else one is installed
            self.assertRegex(done.stderr, "^/.*/patterns: error: .*\n  hint: share/fusion-audit .*\n$")

    def test_list(self):
        status, out, err = self.run_it("patterns", "list")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertRegex("\n".join(lines), r"(?m)^linear  ttnn\.linear  ttnn\n    matmul followed by")
        self.assertEqual(self.run_it("patterns", "list", "--only=linear")[1].count("\n"), 2)
        self.assertEqual(self.run_it("patterns", "list", "linear")[1], self.run_it("patterns", "list", "--only=linear")[1])
        self.write("own.yml", RELU.replace("name: relu", "name: my_relu"))
        status, out, _ = self.run_it("patterns", "list", "-P", "own.yml")
        self.assertEqual(len(out.splitlines()), len(lines) + 2)
        self.assertEqual(self.run_it("patterns", "list", "--no-default-patterns", "-P", "own.yml")[1],
                         "my_relu  ttnn.relu  ttnn\n    maximum(x, 0)\n")

    def test_show(self):
        status, out, err = self.run_it("patterns", "show", "linear")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("name: linear\n", out)
        searched = out.partition("# searched for")[2]
        self.assertIn("    product = a @ b\n", searched)
        self.assertLessEqual(max(map(len, searched.splitlines())), 80)
        self.assertRegex(self.run_it("patterns", "show", "attention")[1], r"t\d+ = sum\(t\d+, dim=-1\)\n")
        self.assertRegex(self.run_it("patterns", "show", "dense", "linear")[1], # an idiom and a pattern
                         r"^# .*theory_idioms.yml:\d+\ndense\(x, w, bias\):\n(?s:.*)\n# .*linear.yml:\d+\n")
        self.wrong("name", "patterns", "show")
        self.wrong("nope", "patterns", "show", "nope")

    def test_show_expands_as_it_was_meant(self):
        for text in ("out = (exp(x) [+ y]) [*|/ z]", "out = (a | b) * (c - (d - e))", "out = a - b - c | -a",
                     "out = matmul(transposed(a), b) + 1 / extent(-1) * x", "out = softmax(a == -2, dim=-1)",
                     "out = where(a > 0, a[..., 2:n, :], inf) + a[..., ::2]", "out = max(x, dim=1) * (2 * extent(x, -1) + 1)"):
            self.write("own.yml", "name: p\nfused_op: x.y\nsource: ttnn\nmatch: |\n  %s\n" % text)
            out = self.run_it("patterns", "show", "--no-default-patterns", "-P", "own.yml", "p")[1]
            shown = out.splitlines()[-1].strip()
            self.write("own.yml", "name: p\nfused_op: x.y\nsource: ttnn\nmatch: |\n  %s\n" % shown)
            again = self.run_it("patterns", "show", "--no-default-patterns", "-P", "own.yml", "p")
            self.assertEqual(again[1].splitlines()[-1].strip(), shown, text)

    def test_check(self):
        bundled = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "patterns")
        self.assertEqual(self.run_it("patterns", "check", bundled), (0, "", ""))
        self.write("own.yml", RELU.replace("name: relu", "name: my_relu"))
        self.assertEqual(self.run_it("patterns", "check", "own.yml"), (0, "", ""))
        self.wrong("file", "patterns", "check")

    def test_nothing_to_search_is_not_clean(self):
        os.mkdir(self.path("dir"))
        status, out, err = self.run_it("--no-default-patterns", "-P", "dir", "m.ttir.mlir", "m.ttnn.mlir")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("dir: error: ", err)
        self.write("empty.yml", "# nothing\n")
        status, _, err = self.run_it("patterns", "check", "empty.yml")
        self.assertEqual(status, 0)
        self.assertIn("empty.yml: warning: ", err)

    def test_check_goes_on_behind_a_wrong_file(self):
        self.write("one.yml", RELU.replace("maximum(", "maximun("))
        self.write("two.yml", RELU.replace("source: ttnn", "source: cpu"))
        status, _, err = self.run_it("patterns", "check", "one.yml", "two.yml")
        self.assertEqual(status, 2)
        self.assertIn("one.yml:5:", err)
        self.assertIn("two.yml:4:", err)

    def test_check_warns(self):
        for text, place in (
                (RELU.replace("name: relu", "name: linear"), "1: warning: .* of .*linear.yml:\\d+"),
                (RELU + "notes: of {y}\n", "6: warning: .*{y}"), (RELU + "fused: relu(z)\n", "6: warning: .*: z"),
                (RELU + "holds: {x: relu(y)}\n", "6: warning: .*: y"), ("define:\n  - 'thing(x): exp(x)'\n", "2: warning: .*thing"),
                ("define:\n  - 'square(x): x * x'\n", "2: warning: .*square of .*idioms.yml"),
                (RELU + "---\n" + RELU, "7: warning: .*relu of own.yml:1")):
            self.write("own.yml", text)
            status, out, err = self.run_it("patterns", "check", "own.yml")
            self.assertEqual((status, out), (0, ""))
            self.assertRegex(err, "(?m)^own.yml:" + place)


class Many(Case):
    """What is more than a fixed room holds."""
    KEYS = "summary: of a test.\nfused_op: triton.many\n"

    def audit(self, pattern, lines):
        self.write("own.yml", "name: many\n" + self.KEYS + pattern)
        self.write("n.ttnn.mlir", "\n".join(lines) + "\n}\n")
        return self.run_it("--ttnn-only", "--no-default-patterns", "-P", "own.yml", "--no-validate", "-q", "-o", "-", "n.ttnn.mlir")

    def joined(self, parts):
        """Each of the parts joins fifteen arguments of the model, and all of them are joined."""
        names = ["w%d" % i for i in range(15 * parts)]
        lines = ["func.func @f(%s) -> tensor<%dx32xbf16> {" % (", ".join("%%%s: tensor<1x32xbf16>" % n for n in names), 15 * parts)]
        formula = []
        for i in range(parts):
            of = names[15 * i:15 * i + 15]
            formula.append("  c%d = concat(%s, dim=0)" % (i, ", ".join(of)))
            lines.append('%%c%d = "ttnn.concat"(%s) <{dim = 0 : si32}> : (%s) -> tensor<15x32xbf16>'
                         % (i, ", ".join("%" + n for n in of), ", ".join(["tensor<1x32xbf16>"] * 15)))
        formula.append("  out = concat(%s, dim=0)" % ", ".join("c%d" % i for i in range(parts)))
        lines.append('%%out = "ttnn.concat"(%s) <{dim = 0 : si32}> : (%s) -> tensor<%dx32xbf16>'
                     % (", ".join("%%c%d" % i for i in range(parts)), ", ".join(["tensor<15x32xbf16>"] * parts), 15 * parts))
        lines.append("return %%out : tensor<%dx32xbf16>" % (15 * parts))
        return "match: |\n%s\nwhere: [%s]\n" % ("\n".join(formula), ", ".join('"stored(%s)"' % n for n in names)), lines

    def test_preconditions(self):
        """All are stated; where there is no room for them, the search is given up and says so."""
        status, out, err = self.audit(*self.joined(3))
        self.assertEqual((status, out.count("precondition: ")), (1, 45), err)
        status, out, err = self.audit(*self.joined(4))
        self.assertEqual((status, out.count("precondition: ")), (3, 0), err)
        self.assertIn("given up", err)

    def test_siblings(self):
        """The users of a value that are behind the root are looked at first, however many others there are."""
        t = "tensor<32x32xbf16>"
        for n, want in (2, 1), (80, 40), (300, 150), (301, 150):
            lines = ["func.func @f(%%x: %s, %s) -> %s {" % (t, ", ".join("%%w%d: %s" % (i, t) for i in range(n)), t)]
            for i in range(n):
                lines.append('%%m%d = "ttnn.matmul"(%%x, %%w%d) <{transpose_a = false, transpose_b = false}> : (%s, %s) -> %s'
                             % (i, i, t, t, t))
                lines.append('%%s%d = "ttnn.add"(%%m%d, %%%s) : (%s, %s) -> %s' % (i, i, "s%d" % (i - 1) if i else "x", t, t, t))
            status, out, err = self.audit("match: |\n  out = matmul(x, w)\n  also next = matmul(x, v)\nwhere: after(next, out)\n",
                                          lines + ["return %%s%d : %s" % (n - 1, t)])
            self.assertEqual((status, out.count("ttnn_segment")), (1, want), err)


class Slower(Case):
    """A norm of one row of tiles runs on one core, and the ops that it is made of on all."""

    def norm(self, columns):
        wide, row, one = "tensor<32x%dxbf16>" % columns, "tensor<1x%dxbf16>" % columns, "tensor<32x1xbf16>"
        ops = [("multiply", "%x, %x", "", [wide, wide], wide), ("mean", "%0", " <{dim_arg = [1 : i32], keep_dim = true}>",
                                                                [wide], one),
               ("add", "%1, %e", "", [one, one], one), ("rsqrt", "%2", "", [one], one),
               ("multiply", "%x, %3", "", [wide, one], wide), ("multiply", "%4, %w", "", [wide, row], wide)]
        lines = ['%%%d = "ttnn.%s"(%s)%s : (%s) -> %s' % (i, op, names, attributes, ", ".join(types), result)
                 for i, (op, names, attributes, types, result) in enumerate(ops)]
        self.write("n.ttnn.mlir", "func.func @f(%%x: %s, %%w: %s) -> %s {\n" % (wide, row, wide) +
                   '%%e = "ttnn.full"() <{fill_value = 1.0e-5 : f32, shape = #ttnn.shape<32x1>}> : () -> %s\n' % one +
                   "\n".join(lines) + "\nreturn %%5 : %s\n}\n" % wide)

    def test_a_place_that_is_better_left_alone_is_not_reported(self):
        args = ("--only=rms_norm", "--no-validate", "--ttnn-only", "--device=n150", "-o", "-", "n.ttnn.mlir")
        self.norm(16384)
        self.assertEqual(self.run_it("-q", *args)[:2], (0, ""))
        status, out, _ = self.run_it("-q", "--include=slower", *args)
        self.assertEqual(status, 1)
        self.assertIn("saves: slower by about ", out)
        self.norm(64)
        status, out, _ = self.run_it("-q", *args)
        self.assertEqual(status, 1)
        self.assertNotIn("slower", out)


class OwnPatterns(Case):
    """A user's files add to, replace and switch off what is bundled; --source and --include choose what is reported."""

    SITE = ("-o", "-", "m.ttir.mlir", "m.ttnn.mlir")

    def test_switched_off(self):
        self.write("own.yml", "name: linear\noff: true\n")
        self.assertEqual(self.run_it("-P", "own.yml", *self.SITE), (0, "", ""))
        self.write("own.yml", "name: linear\noff: false\nfused_op: x.y\nsource: ttnn\nmatch: o = a * b\n")
        self.assertEqual(self.run_it("-P", "own.yml", *self.SITE), (0, "", ""))
        self.write("own.yml", "name: liner\noff: true\n")
        status, _, err = self.run_it("-P", "own.yml", *self.SITE)
        self.assertEqual(status, 1)
        self.assertIn("own.yml:1:7: warning: ", err)
        self.write("own.yml", "name: linear\noff: maybe\n")
        self.assertEqual(self.run_it("-P", "own.yml", *self.SITE)[0], 2)

    def test_a_pattern_that_others_are_like_is_switched_off_alone(self):
        fused = ("name: p\nsource: ttnn\nfused_op: x.p\nmatch: o = matmul(a, b) + c\nrequire: extent(a, -1) < 10\n---\n"
                 "name: q\nsource: ttnn\nfused_op: x.q\nlike: p\n---\n")
        self.write("own.yml", fused + "name: p\noff: true\n")
        status, out, _ = self.run_it("--no-default-patterns", "-P", "own.yml", *self.SITE)
        self.assertIn("fused_op: x.q", out)
        self.write("own.yml", fused + "name: p\nsource: ttnn\nfused_op: x.new\nmatch: o = matmul(a, b)\n")
        status, out, _ = self.run_it("--no-default-patterns", "-P", "own.yml", *self.SITE)
        self.assertIn("fused_op: x.q", out)
        self.assertNotIn("x.p", out)
        self.wrong("did you mean x.q?", "--no-default-patterns", "-P", "own.yml", "--only=x.p", "m.ttir.mlir", "m.ttnn.mlir")

    def test_source(self):
        self.write("own.yml", "name: own\nfused_op: torch.mm\nsource: torch\nmatch: o = matmul(a, b)\n")
        args = ("--skip=linear", "--min-saving=0us", "-P", "own.yml", *self.SITE)
        self.assertIn("torch.mm", self.run_it(*args)[1])
        self.assertIn("torch.mm", self.run_it("--source=torch,ttnn", *args)[1])
        self.assertEqual(self.run_it("--source=ttnn", *args), (0, "", ""))
        self.assertEqual(self.run_it("--source=torch", "-P", "own.yml", *self.SITE), (0, "", ""),
                         "a kernel that covers no more than the direct fusion")
        for wrong in ("ttnn,torc", ",ttnn", "ttnn,", "ttnn:", "ttnn:dialects", "torch:library"):
            status, _, err = self.run_it("--source=" + wrong, *self.SITE)
            self.assertEqual(status, 2)
            self.assertIn("--source", err)

    def test_how_near_a_direct_fusion_is(self):
        of = {"dialect": ("ttir", None), "operand": ("library, lacks: a gate", "a gate"), "library": ("library", "the op")}
        args = ("--no-default-patterns", "-P", "own.yml", *self.SITE)
        for reach, (level, lacks) in of.items():
            self.write("own.yml", "name: own\nfused_op: ttnn.own\nstatus: {level: %s}\nmatch: o = matmul(a, b) + c\n"
                       "call: ['{a}, {b}', {when: present(c), say: 'row={c}'}, {when: not(present(c)), say: no}]\n" % level)
            for asked in of:
                status, out, _ = self.run_it("--source=ttnn:" + asked, *args)
                self.assertEqual(status, 1 if asked == reach else 2, (reach, asked))  # 2: no pattern is left
            status, out, _ = self.run_it("--source=ttnn", "--format=json", *args)
            entry = json.loads(out)["missed_fusions"][0]
            self.assertEqual(entry.get("lacks"), lacks)
            notes = entry["instances"][0]["notes"]
            self.assertRegex(notes, r"\ncall: ttnn[.]own\(\w+.*, row=\w+\)\n")
            self.assertEqual({"a gate": "give the op of the TTNN dialect the a gate that TTNN's library takes",
                              "the op": "add the op to the TTNN dialect"}.get(lacks, "write one in TTIR") in notes, True)

    def test_operands_of_a_call_are_turned_and_reshaped(self):
        """As the formula has them: a weight that the product turns is turned, one that it does not is not."""
        self.write("own.yml", "name: own\nfused_op: ttnn.own\nstatus: {level: library}\nmatch: o = matmul(a, b) + c\n"
                   "call: ['{a}, {b}', 'row={c}']\n")
        module = """\
func.func @main(%%0: tensor<32x64xbf16>, %%w: tensor<%s>, %%r: tensor<2x16x96xbf16>) -> tensor<2x16x96xbf16> {
  %%1 = "ttir.matmul"(%%0, %%w) <{transpose_a = false, transpose_b = %s}> : (tensor<32x64xbf16>, tensor<%s>) -> tensor<32x96xbf16>
  %%2 = "ttir.reshape"(%%1) <{shape = [2 : i32, 16 : i32, 96 : i32]}> : (tensor<32x96xbf16>) -> tensor<2x16x96xbf16>
  %%3 = "ttir.add"(%%2, %%r) : (tensor<2x16x96xbf16>, tensor<2x16x96xbf16>) -> tensor<2x16x96xbf16>
  return %%3 : tensor<2x16x96xbf16>
}
"""
        for shape, turned, weight in (("96x64xbf16", "true", "ttnn.transpose(w, -2, -1)"), ("64x96xbf16", "false", "w")):
            self.write("c.mlir", module % (shape, turned, shape))
            out = self.run_it("--no-default-patterns", "-P", "own.yml", "--ttir-only", "-o", "-", "c.mlir")[1]
            self.assertIn("call: ttnn.own(ttnn.reshape(v0, (2, 16, 64)), %s, row=r)\n" % weight, out)

    def test_operands_that_lie_as_the_ops_take_them_are_not_reshaped(self):
        self.write("own.yml", "name: own\nfused_op: ttnn.own\nstatus: {level: library}\n"
                   "match: o = softmax(a * b, dim=-1)\ncall: ['{a}', 'b={b}']\n")
        self.write("c.mlir", """\
func.func @main(%a: tensor<4x8x1x64xbf16>, %b: tensor<4x1x1x64xbf16>) -> tensor<4x8x1x64xbf16> {
  %1 = "ttnn.multiply"(%a, %b) : (tensor<4x8x1x64xbf16>, tensor<4x1x1x64xbf16>) -> tensor<4x8x1x64xbf16>
  %2 = "ttnn.softmax"(%1) <{dimension = 3 : si32}> : (tensor<4x8x1x64xbf16>) -> tensor<4x8x1x64xbf16>
  return %2 : tensor<4x8x1x64xbf16>
}
""")
        out = self.run_it("--no-default-patterns", "-P", "own.yml", "--ttnn-only", "-o", "-", "c.mlir")[1]
        self.assertIn("call: ttnn.own(a, b=b)\n", out)

    def test_families(self):
        text = ("for: {op: [add, multiply], more: [where, '']}\nname: $op_of_exp\nfused_op: x.$op\nsource: ttnn\n"
                "match: o = op $op(exp(a), b)\nlocate: [a, b]\nnotes: ['of $op', $more]\n")
        self.write("own.yml", text)
        out = self.run_it("patterns", "list", "--no-default-patterns", "-P", "own.yml")[1]
        self.assertEqual([line.split()[:2] for line in out.splitlines()],
                         [["add_of_exp", "x.add"], ["multiply_of_exp", "x.multiply"]])
        for wrong, place in ((text.replace("$op_of", "no"), "1:6"), (text.replace(", ''", ""), "1:34"),
                             (text.replace("{op: [add, multiply], more: [where, '']}", "op"), "1:6")):
            self.write("own.yml", wrong)
            status, _, err = self.run_it("patterns", "check", "own.yml")
            self.assertEqual(status, 2)
            self.assertIn("own.yml:%s: error: " % place, err)

    def test_what_a_place_descends_from_is_shown_whole(self):
        """Also where a smaller match of the same fused op is all that TTIR has."""
        self.write("own.yml", 'name: large\nfused_op: x.own\nsource: ttnn\nmatch: out = sqrt(exp(relu(x)))\nwhere: spelled(out, "ttnn")\n'
                              '---\nname: small\nfused_op: x.own\nsource: ttnn\nmatch: out = exp(relu(x))\nwhere: spelled(out, "ttir")\n')
        for level in "ttir", "ttnn":
            ops = "".join('    %%%d = "%s.%s"(%s) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>\n' % (i, level, op, x)
                          for i, (op, x) in enumerate((("relu", "%x"), ("exp", "%0"), ("sqrt", "%1"))))
            self.write("w.%s.mlir" % level, "module {\n  func.func @f(%x: tensor<64x64xbf16>) -> tensor<64x64xbf16> {\n" + ops +
                       "    return %2 : tensor<64x64xbf16>\n  }\n}\n")
        out = self.run_it("-q", "-o", "-", "--no-default-patterns", "-P", "own.yml", "w.ttir.mlir", "w.ttnn.mlir")[1]
        self.assertRegex(out, r"ttir_segment: \|\n +%0 = .ttir.relu.*\n +%1 = .ttir.exp.*\n +%2 = .ttir.sqrt")

    def test_taken_apart_by_the_compiler(self):
        """TTIR has the op itself: it is no miss, unless it is asked for."""
        def module(ops):
            return ("module {\n  func.func @f(%%x: tensor<64x64xbf16>) -> tensor<64x64xbf16> {\n%s"
                    "    return %%2 : tensor<64x64xbf16>\n  }\n}\n" % "".join("    %s\n" % op for op in ops))
        relu = '%%0 = "%s.relu"(%%x) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>'
        self.write("r.ttir.mlir", module([relu % "ttir", '%2 = "ttir.all_reduce"(%0) <{cluster_axis = 1 : ui32, reduce_type = '
                                          '#ttcore.reduce_type<sum>}> : (tensor<64x64xbf16>) -> tensor<64x64xbf16>']))
        self.write("r.ttnn.mlir", module(
            [relu % "ttnn", '%1 = "ttnn.reduce_scatter"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, '
             'scatter_dim = 1 : si32}> : (tensor<64x64xbf16>) -> tensor<64x32xbf16>',
             '%2 = "ttnn.all_gather"(%1) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<64x32xbf16>) -> tensor<64x64xbf16>']))
        self.assertEqual(self.run_it("-q", "--only=all_reduce_written", "r.ttir.mlir", "r.ttnn.mlir"), (0, "", ""))
        self.assertIn("all_reduce", self.run_it("-q", "-o", "-", "--only=all_reduce_written", "--ttnn-only", "r.ttnn.mlir")[1])
        self.assertIn("decomposed: ", self.run_it("-q", "-o", "-", "--only=all_reduce_written", "--include=decomposed,slower", "r.ttir.mlir", "r.ttnn.mlir")[1])

    def test_decomposed_and_blocked(self):
        text = "name: own\nfused_op: x.y\nsource: ttnn\nmatch: o = matmul(a, b) + c\n"
        rules = {"decomposed": 'decomposed: located("fc1")\n',
                 "blocked": "block:\n  - when: extent(a, -1) == 64\n    say: wrong with {extent(a, -1)} columns.\n"}
        lines = {"decomposed": "decomposed: ", "blocked": "blocked: wrong with 64 columns.\n"}
        for what, rule in rules.items():
            self.write("own.yml", text + rule)
            args = ("--no-default-patterns", "-P", "own.yml", *self.SITE)
            self.assertEqual(self.run_it(*args), (0, "", ""), what)
            for include in ("blocked", "decomposed", "blocked,decomposed"):
                status, out, _ = self.run_it("--include=" + include, *args)
                self.assertEqual((status, lines[what] in out), (int(what in include), what in include))
        self.write("own.yml", text + rules["blocked"].replace("64\n", "63\n"))
        self.assertEqual(self.run_it(*args)[0], 1)
        self.assertEqual(self.run_it("--include=all", *args)[0], 2)


class NewPattern(Case):
    """patterns new: a draft that is right and finds the place that it was made from."""

    def draft(self, file, ops, *more, proved=1, idioms=False):
        status, out, err = self.run_it("patterns", "new", "--from", file, "--ops", ops, *more)
        self.assertEqual((status, err), (0, ""))
        self.write("new.yml", out)
        self.assertRegex(self.run_it("patterns", "check", "new.yml")[2], r"^new.yml:\d: error: no op of TTNN: ttnn.TODO\n.*\n$")
        for args in ["--no-default-patterns"], ["my"]:
            if idioms and args != ["my"]:
                continue
            status, _, err = self.run_it("patterns", "test", "-P", "new.yml", *args)
            self.assertEqual((status, err[:32]), (0, "1 pattern, 1 test, 0 failed; %d p" % proved))
        return out

    def test_both_levels(self):
        for file, level in (("m.ttir.mlir", "--ttir-only"), ("m.ttnn.mlir", "--ttnn-only")):
            out = self.draft(file, "%0,%1")
            self.assertIn("match: |\n  t1 = a @ b\n  out = t1 + c\n", out)
            self.assertEqual(self.run_it("-P", "new.yml", "--skip=linear", level, file)[0], 1)
            self.assertIn("  - hit: |\n      t1 = matmul a:32x64 b:64x128\n      out = add t1 c:1x128\n", out)
            self.assertEqual("    level: ttnn\n" in out, "ttnn" in file)

    def test_level_of_a_file_with_both(self):
        self.write("both.log", "MLIR Module ttir:\n" + TTIR + "MLIR Module ttnn:\n" + MISSED)
        self.assertIn("level: ttnn", self.draft("both.log", "%0,%1"))
        self.assertNotIn("level: ttnn", self.draft("both.log", "0,1,@forward", "--ttir-only"))

    def test_constants_movement_and_axes(self):
        self.write("n.mlir", """\
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<8x4xf32> {
  %c = "ttir.full"() <{fill_value = 0xFF800000 : f32}> : () -> tensor<1xf32>
  %m = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %b = "ttir.broadcast"(%m) <{broadcast_dimensions = array<i64: 1, 8>}> : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %s = "ttir.subtract"(%x, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = "ttir.maximum"(%s, %c) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %n = "ttir.layer_norm"(%l, %w) <{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 8>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %p = "ttir.permute"(%n) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %p : tensor<8x4xf32>
}
""")
        out = self.draft("n.mlir", "%m,%s,%l,%n")
        self.assertIn("  t1 = mean(a, dim=-1)\n  t2 = a - t1\n  t3 = maximum(t2, -inf)\n"
                      "  out = layer_norm(t3, weight, dim=-1)\n", out)
        self.assertIn("""\
      t1 = mean a:4x8xf32 {dim_arg = [1]}
      b = broadcast t1 -> 4x8xf32
      t2 = subtract a b
      t3 = maximum t2 -inf:1xf32
      out = layer_norm t3 weight:8xf32 {epsilon = 1.0e-5}
    args: {weight: parameter}
""", out)

    def test_slices_of_slices(self):
        """Each says which part it takes of the one before it; what is cut along two dimensions does not."""
        def cut(n, source, of, to, begins, ends):
            listed = "[%s]" % ", ".join("%d : i32" % i for i in begins), "[%s]" % ", ".join("%d : i32" % i for i in ends)
            return ('  %%%s = "ttnn.slice_static"(%%%s) <{begins = %s, ends = %s, step = [1 : i32, 1 : i32]}> : '
                    "(tensor<%s>) -> tensor<%s>\n" % (n, source, *listed, of, to))
        for first, formula in (([0, 0], "t1 = slice(a, dim=-1, part=0, of=2)"), ([0, 32], "t1 = a[..., 32:96]"),
                               ([1, 0], "t1 = slice(a)")):
            rows = 32 - first[0]
            self.write("s.mlir", "func.func @f(%%x: tensor<32x128xf32>) -> tensor<%dx32xf32> {\n%s%s%s"
                       '  %%out = "ttnn.subtract"(%%lo, %%hi) : (tensor<%dx32xf32>, tensor<%dx32xf32>) -> tensor<%dx32xf32>\n'
                       "  return %%out : tensor<%dx32xf32>\n}\n" % (
                           rows, cut("s", "x", "32x128xf32", "%dx64xf32" % rows, first, [32, first[1] + 64]),
                           cut("lo", "s", "%dx64xf32" % rows, "%dx32xf32" % rows, [0, 0], [rows, 32]),
                           cut("hi", "s", "%dx64xf32" % rows, "%dx32xf32" % rows, [0, 32], [rows, 64]), rows, rows, rows, rows))
            out = self.draft("s.mlir", "%s,%lo,%hi,%out", proved=formula != "t1 = slice(a)")
            self.assertIn("  %s\n  t2 = slice(t1, dim=-1, part=0, of=2)\n  t3 = slice(t1, dim=-1, part=1, of=2)\n" % formula, out)
            self.assertEqual(self.run_it("-q", "-P", "new.yml", "--only=my", "--ttnn-only", "s.mlir")[0], 1)
            if "32:96" in formula:  # other elements are another slice
                self.write("new.yml", out.replace("32:96", "31:95"))
                self.assertEqual(self.run_it("-q", "-P", "new.yml", "--only=my", "--ttnn-only", "s.mlir")[0], 0)

    def test_movement(self):
        self.write("r.mlir", """\
!t = tensor<2x3x1x4xf32>
func.func @f(%x: tensor<2x12xf32>) -> !t {
  %0 = "ttir.reshape"(%x) <{shape = [2 : i32, 4 : i32, 3 : i32]}> : (tensor<2x12xf32>) -> tensor<2x4x3xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 3 : i32, 1 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> !t
  return %2 : !t
}
""")
        self.assertIn('  out = rearrange(x, "a (b c) -> a c 1 b")\n', self.draft("r.mlir", "%0,%1,%2"))
        self.write("b.mlir", """\
func.func @f(%x: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.broadcast"(%x) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
""")
        status, out, err = self.run_it("patterns", "new", "--from=b.mlir", "--ops=%0")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("none of these ops computes anything", err)

    def test_flags_of_products(self):
        """A value that is read along other axes elsewhere is the same one; constants are as short as they can be."""
        self.write("k.mlir", """\
func.func @f(%q: tensor<2x16x8xf32>, %c: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %k = "ttir.full"() <{fill_value = 0.7 : f32}> : () -> tensor<1xf32>
  %0 = "ttir.matmul"(%q, %c) <{transpose_b = true}> : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x16xf32>
  %1 = "ttir.multiply"(%0, %k) : (tensor<2x16x16xf32>, tensor<1xf32>) -> tensor<2x16x16xf32>
  %2 = "ttir.matmul"(%1, %c) : (tensor<2x16x16xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %3 = "ttir.matmul"(%c, %2) <{transpose_a = true}> : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x8x8xf32>
  return %2 : tensor<2x16x8xf32>
}
""")
        self.assertIn("  t1 = a @ transposed(b)\n  t2 = t1 * 0.7\n  out = t2 @ b\n", self.draft("k.mlir", "%0,%1,%2"))
        self.assertIn("  out = transposed(a) @ b\n", self.draft("k.mlir", "%3"))

    def test_as_one_writes_it(self):
        """A function of one value, of other ops a line each; powers, and the end of a slice by a name."""
        self.write("e.mlir", """\
!t = tensor<4x8xf32>
func.func @f(%x: !t, %y: !t) -> tensor<4x5xf32> {
  %c = "ttir.full"() <{fill_value = 0.7 : f32}> : () -> tensor<1xf32>
  %0 = "ttir.exp"(%x) : (!t) -> !t
  %1 = "ttir.subtract"(%0, %c) : (!t, tensor<1xf32>) -> !t
  %2 = "ttir.multiply"(%1, %x) : (!t, !t) -> !t
  %3 = "ttir.subtract"(%2, %y) : (!t, !t) -> !t
  %4 = "ttir.multiply"(%3, %3) : (!t, !t) -> !t
  %5 = "ttir.slice_static"(%4) <{begins = [0 : i32, 0 : i32], ends = [4 : i32, 5 : i32], step = [1 : i32, 1 : i32]}> : (!t) -> tensor<4x5xf32>
  return %5 : tensor<4x5xf32>
}
""")
        self.assertIn("  out = function((exp(a) - 0.7) * a)\n", self.draft("e.mlir", "%0,%1,%2"))
        self.assertIn("  t1 = a - b\n  t2 = t1 ** 2\n  out = t2[..., :n]\n", self.draft("e.mlir", "%3,%4,%5", idioms=True))

    def test_what_the_short_notation_has_no_word_for(self):
        self.write("s.mlir", """\
!t = tensor<4x8xbf16>
func.func @f(%a: !t, %b: tensor<4x8x!ttcore.tile<32x32, bfp_bf8>>) -> !t {
  %e = "ttir.empty"() : () -> !t
  %0 = "ttir.sigmoid"(%a, %e) {some.note = "seen"} : (!t, !t) -> !t
  %1 = "ttir.multiply"(%0, %b) : (!t, tensor<4x8x!ttcore.tile<32x32, bfp_bf8>>) -> !t
  return %1 : !t
}
""")
        self.assertIn("""\
      t1 = sigmoid a:4x8
      out = multiply t1 b:tensor<4x8x!ttcore.tile<32x32, bfp_bf8>>
""", self.draft("s.mlir", "%0,%1"))

    def test_what_cannot_be(self):
        for ops in "%0,%9", ",", "%0,%1,@main", "@forward":
            status, out, err = self.run_it("patterns", "new", "--from=m.ttir.mlir", "--ops=" + ops)
            self.assertEqual((status, out), (3, ""))
            self.assertIn("m.ttir.mlir: error: ", err)
        self.write("two.mlir", ttnn(MATMUL, '%1 = "ttnn.exp"(%arg2) : (tensor<1x128xbf16, #ttnn_layout2>) -> tensor<1x128xbf16, #ttnn_layout2>'))
        self.assertEqual(self.run_it("patterns", "new", "--from=two.mlir", "--ops=%0,%1")[0], 3, "neither feeds the other")
        self.assertEqual(self.run_it("patterns", "new", "--from=absent", "--ops=%0")[0], 3)
        self.wrong("--ops=", "patterns", "new", "--from=m.ttir.mlir")
        self.wrong("--ops", "patterns", "new", "--from=m.ttir.mlir", "--ops=")
        self.wrong("--ops", "patterns", "list", "--ops=%1")


class Classify(Case):
    """--classify and the line `compiler:`; what competes; a module in which nothing is fused."""

    KEYS = ("dialect_level", "pass_status", "owning_pass", "existing_pattern", "source_file")
    BASE = "name: own\nfused_op: x.y\nsource: ttnn\nmatch: o = matmul(a, b) + c\n"

    def audit(self, text, *more):
        self.write("own.yml", text)
        status, out, err = self.run_it("-q", "-o", "-", "--no-default-patterns", "-P", "own.yml", *more, "m.ttir.mlir", "m.ttnn.mlir")
        self.assertEqual((status, err), (1, ""))
        return out

    def classes(self, text):
        entry, = json.loads(self.audit(text, "--classify", "--format=json"))["missed_fusions"]
        return [entry[key] for key in self.KEYS]

    def line(self, text):
        line, = re.findall("action: .*", self.audit(text))
        return line

    def test_by_default_the_schema_is_as_ever(self):
        out = self.audit(self.BASE + "status: {level: ttir, pass: p, pattern: P}\n")
        self.assertFalse(any(key in out for key in self.KEYS))

    def test_status(self):
        for status, want in (
                ("", ["ttir", "no_pass", None, None, None]), ("status: {level: ttnn}\n", ["ttnn", "no_pass", None, None, None]),
                ("status: {level: ttir, pass: f, pattern: P}\n", ["ttir", "pass_exists_not_fired", "f", "P", None]),
                ("status: {level: ttnn, pass: f, pattern: P, gated: enable-p=true}\n", ["ttnn", "gated_off", "f", "P", None])):
            self.assertEqual(self.classes(self.BASE + status), want)

    def test_pass_that_left_it(self):
        text = self.BASE + "status: {level: ttir, pass: f, pattern: P}\n"
        def action(passes=""):
            return re.search("action: (.*)", self.audit(text + passes))[1]
        bare = action()
        self.assertEqual(bare, "P left it (f)", "of passes that no file describes nothing is known")
        self.assertEqual(action("---\npasses: [{name: f, version: v1}]\n"), "P ran and left it (f)")
        self.assertEqual(action("---\npasses: [{name: f, version: v1, off: no-f}]\n"), "P left it, unless no-f was given (f)")

    def test_source_file(self):
        """Of the pattern, else of its pass; where no pass makes it, of the pass that a new one would be in."""
        passes = ("---\npasses: [{name: p, version: v1, level: ttnn, file: lib/P.cpp}, {name: q, version: v1},\n"
                  "  {name: r, version: v1, level: library, file: Ops.td}]\n")
        for status, file in (("{level: ttnn, pass: p, pattern: P, file: lib/Q.cpp}", "lib/Q.cpp"),
                             ("{level: ttnn, pass: p, pattern: P}", "lib/P.cpp"), ("{level: ttnn, pass: q}", None),
                             ("{level: ttnn}", "lib/P.cpp"), ("{level: ttir}", None), ("{level: library}", "Ops.td"),
                             ("{level: library, lacks: activations}", "Ops.td")):
            text = self.BASE + "status: %s\n%s" % (status, passes)
            self.assertEqual(self.classes(text)[4], file, status)
            self.assertEqual(re.search(r"action: .*[( ](\S+)\)\n", self.audit(text) + "action: ( None)\n")[1] == file, file is not None, status)
        self.write("own.yml", self.BASE + "status: {level: ttnn, file: lib/P.cpp}\n")
        self.assertRegex(self.run_it("patterns", "check", "own.yml")[2], "error: .*file", "a file is one of a pass")

    def test_known_defect(self):
        """Of the compiler's pattern of that name and op, at places that have the ops of it, each once."""
        own = self.BASE.replace("fused_op: x.y", "fused_op: ttnn.linear") + (
            "status: {level: ttir, pass: p, pattern: %s}\n---\npasses: [{name: p, version: v1}]\n"
            "unchecked: [{pass: p, pattern: P, makes: %s, of: %s, accepts: any bias}]\n")
        for pattern, makes, of, said in (("P", "linear", "add", 1), ("P", "linear", "[add, matmul]", 1), ("Q", "linear", "add", 0),
                                         ("P", "mean", "add", 0), ("P", "linear", "[add, add]", 0), ("P", "linear", "[]", 1), ("P", "mean", "[]", 0)):
            out = self.audit(own % (pattern, makes, of))
            self.assertEqual(re.findall("known defect: (.*)", out), ["P accepts any bias, as of v1"] * said, (pattern, makes, of))
        for row, why in (("{pass: p, pattern: P, of: sum, accepts: a}", "makes"),
                         ("{pass: p, pattern: P, makes: mean, of: sum}", "accepts"),
                         ("{pass: p, pattern: P, makes: mean, of: [[sum]], accepts: a}", ""),
                         ("{pass: p, pattern: P, makes: average, of: sum, accepts: a}", "average"),
                         ("{pass: p, pattern: P, makes: mean, of: [sum, total], accepts: a}", "total"),
                         ("{pass: q, pattern: P, makes: mean, of: sum, accepts: a}", ": q"),
                         ("{pass: p, pattern: P, makes: mean, of: [sum, sum, sum, sum, sum], accepts: a}", "4")):
            self.write("own.yml", self.BASE + "---\npasses: [{name: p, version: v1}]\nunchecked: [%s]\n" % row)
            self.assertRegex(self.run_it("patterns", "check", "own.yml")[2], r"own.yml:\d+(:\d+)?: error: .*" + why)

    def test_signature_of_a_kernel(self):
        """What a kernel that TTNN lacks would take and yield."""
        out = self.audit(self.BASE.replace("source: ttnn", "source: cuda"))
        self.assertIn("(a: 32x64xbf16, b: 64x128xbf16, c: 1x128xbf16) -> 32x128xbf16\n", out)

    def test_fused_and_taken_apart_again(self):
        """Two ops of one location in TTNN that have none in common in TTIR."""
        text = self.BASE + "status: {level: ttir, pass: f}\nundone: {when: 'one_location()', say: 'fused, and undone.'}\n"
        self.assertEqual(self.classes(text)[1], "pass_exists_not_fired")
        self.write("m.ttnn.mlir", MISSED.replace("fc1.matmul", "fc1.add"))
        self.assertEqual(self.classes(text)[1], "fused_and_undone")
        self.assertTrue(self.line(text).endswith(" (fused, and undone)"))
        self.write("m.ttir.mlir", TTIR.replace("fc1.matmul", "fc1.add"))
        self.assertEqual(self.classes(text)[1], "pass_exists_not_fired", "TTIR had one location already")

    def test_competes(self):
        text = self.BASE.replace("matmul(a, b)", "t").replace("match: ", "match: |\n  t = matmul(a, b)\n  ") + "locate: [t]\n"
        kernel = "---\nname: kernel\nfused_op: torch.gated\nsource: torch\nmatch: |\n  o = tanh(matmul(a, b) + c)\n"
        tanh = '%9 = "ttnn.tanh"(%1) : (tensor<32x128xbf16, #ttnn_layout2>) -> tensor<32x128xbf16, #ttnn_layout2> loc(#loc2)'
        self.write("m.ttnn.mlir", ttnn(MATMUL, ADD, tanh).replace("return %1", "return %9"))
        for more, lines in ((), 1), (("--source=ttnn",), 0), (("--source=torch",), 0):
            self.assertEqual(self.audit(text + kernel, *more).count(" more than x.y ("), lines)
        places = [e for e in json.loads(self.audit(text + kernel, "--format=json"))["missed_fusions"]]
        by = {e["fused_op"]: e["instances"][0] for e in places}
        self.assertEqual((by["torch.gated"]["instead_of"], by["torch.gated"]["counted_us"]), (["x.y"], 0))
        self.assertGreater(by["torch.gated"]["saved_us"], 0)
        self.assertEqual(by["x.y"]["counted_us"], by["x.y"]["saved_us"])
        self.assertNotIn("instead_of", by["x.y"])
        own = (kernel.replace("name: kernel", "name: wider").replace("torch.gated", "ttnn.experimental.minimal_matmul")
               .replace("source: torch", "status: {level: library}"))
        out = self.audit(text + own + kernel)  # TTNN's own op saves as much there, though the dialect's takes its ops
        self.assertIn(" more than x.y (", out)
        self.assertNotIn("torch.gated", out)
        report = json.loads(self.audit(text + own, "--format=json"))
        saved = {e["fused_op"]: e["saved_us"] for e in report["missed_fusions"]}
        wider = report["missed_fusions"][0]["instances"] + report["missed_fusions"][1]["instances"]
        self.assertAlmostEqual(sum(saved.values()), max(i["saved_us"] for i in wider), delta=0.05)
        self.assertAlmostEqual(report["saved_us"], sum(saved.values()), delta=0.01)
        self.assertTrue(all(us > 0 for us in saved.values()), saved)

    def test_fusing_is_off(self):
        ops = []
        for i in range(10):
            ops += [op.replace("%0", "%%m%d" % i).replace("%1 =", "%%a%d =" % i) for op in (MATMUL, ADD)]
        args = ("-q", "--ttnn-only", "m.ttnn.mlir")
        type_ = "tensor<32x128xbf16, #ttnn_layout2>"

        def returned(first):
            return "return %s : %s" % (", ".join("%%a%d" % i for i in range(first, 10)), ", ".join([type_] * (10 - first)))
        off = ttnn(*ops).replace("return %1 : " + type_, returned(0))
        self.write("m.ttnn.mlir", off)
        status, out, err = self.run_it(*args)
        self.assertEqual((status, out, err[:19]), (1, "", "m.ttnn.mlir: note: "))
        self.assertEqual(self.run_it("-P", "own.yml", *args)[0], 2)
        with_one = returned(0).replace("%a0,", "%1, %a0,").replace(": ", ": %s, " % type_, 1)
        self.write("m.ttnn.mlir", ttnn(*ops, LINEAR).replace("return %1 : " + type_, with_one))
        self.assertEqual(self.run_it(*args), (1, "", ""))
        self.write("m.ttnn.mlir", off.replace("transpose_b = false}>", 'transpose_b = false, activation = "relu"}>', 1))
        self.assertEqual(self.run_it(*args), (1, "", ""))
        self.write("m.ttnn.mlir", ttnn(*ops[2:]).replace("return %1 : " + type_, returned(1)))
        self.assertEqual(self.run_it(*args), (1, "", ""), "nine are not many")


class PatternTests(Case):
    """patterns test: the examples that a pattern file carries."""

    def run_tests(self, tests, *args):
        self.write("relu.yml", RELU + "tests:\n" + tests)
        status, out, err = self.run_it("patterns", "test", "--no-default-patterns", "-P", "relu.yml", *args)
        self.assertEqual(out, "")
        return status, err

    def test_hit_and_miss(self):
        status, err = self.run_tests("  - hit: |\n      " + FULL + MAXIMUM + "  - miss: |\n      " + MAXIMUM)
        self.assertEqual((status, err[:30]), (0, "1 pattern, 2 tests, 0 failed; "))

    def test_fused_form_and_seed(self):
        self.write("form.yml", RELU + "fused: relu(x)\ntests:\n  - hit: |\n      " + FULL + MAXIMUM)
        args = ("patterns", "test", "--no-default-patterns", "-P", "form.yml")
        for seed in ((), ("--seed", "0"), ("--seed=1000000000",)):
            status, out, err = self.run_it(*args, *seed)
            self.assertEqual((status, out), (0, ""), err)
            self.assertRegex(err, "^1 pattern, 1 test, 0 failed; 1 proved")
        self.write("form.yml", RELU + "fused: relu(-x)\ntests:\n  - hit: |\n      " + FULL + MAXIMUM)
        status, out, err = self.run_it(*args)
        self.assertEqual(status, 1)
        self.assertRegex(err, r"^form.yml:\d+: error: relu: hit: .*: at \[")
        for seed in ("", "-1", "x", "1x", "1000000001"):
            self.assertEqual(self.run_it(*args, "--seed", seed)[0], 2, seed)
        self.assertEqual(self.run_it("patterns", "list", "--seed", "1")[0], 2)

    def test_texts_of_what_is_absent(self):
        """They are left out; `check` warns of arguments in one text with what may be absent. Numbers are as short as they can be."""
        def say(call):
            self.write("a.yml", "name: a\nfused_op: triton.a.b\nmatch: out = abs(x - y) [* s]\ncall: %s\ntests:\n" % call + "".join(
                "  - hit: |\n      d = subtract x:4xf32 y:4xf32; a = abs d%s\n    says: nothing\n" % more
                for more in ("", "; o = multiply a 0.7:1xf32")))
            return (self.run_it("patterns", "check", "a.yml")[2],
                    re.findall("say: (.*); and not", self.run_it("patterns", "test", "-P", "a.yml", "a")[2]))
        self.assertEqual(say('["{x}, {y}", "scale={value(s)}"]'), ("", ["x, y", r"x, y\x0Ascale=0.7"]))
        self.assertEqual(say('["{x}, {y}", "{s}"]'), ("", ["x, y", r"x, y\x0A0.7"]))
        warning, said = say('"{x}, {y}, scale={value(s)}"')
        self.assertRegex(warning, "^a.yml:4: warning: .*{value\\(s\\)}.* item of its own\n$")
        self.assertEqual(said, ["x, y, scale=0.7"], "the other says nothing")

    def test_file_of_tests_in_short(self):
        self.write("relu.yml", RELU)
        args = ("patterns", "test", "--no-default-patterns", "-P", "relu.yml")
        hit = "relu:\n- hit: |\n    o = maximum x:32x32 0.0\n"
        for tests, status, said in (
                (hit, 0, "1 pattern, 1 test, 0 failed; "),
                (hit + "  level: both\n- miss: |\n    o = maximum x:4 y:4\n  because: no zero\n", 0, "1 pattern, 3 tests, 0 failed; "),
                (hit.replace("0.0", "1.0"), 1, "relu.test.yml:2: error: relu: hit: .*is 1, 0 expected\n1 pattern, 1 test, 1 failed"),
                (hit.replace("maximum", "maxmum"), 2, "relu.test.yml:3:9: error: .*maximum?"),
                (hit.replace("maximum", "maxmum") + "  level: both\n", 2, "relu.test.yml:3:9: error: .*maximum?"),
                (hit + "  level: mlir\n", 2, "relu.test.yml:4:10: error: .*mlir\n  hint: .*both"),
                ("gelu" + hit[4:], 2, "relu.test.yml:1:1: error: .*gelu"), ("[]\n", 2, "relu.test.yml:1:1: error: ")):
            self.write("relu.test.yml", tests)
            ran = self.run_it(*args)
            self.assertEqual(ran[:2], (status, ""))
            self.assertRegex(ran[2], "^" + said)
        for replaced in (RELU, "name: relu\noff: true\n"):  # the tests beside the pattern that was replaced are of no use
            self.write("relu.test.yml", hit)
            self.write("later.yml", replaced + "---\n" + RELU.replace("name: relu", "name: relu_again"))
            self.write("relu.yml", RELU + "---\n" + RELU.replace("name: relu", "name: other"))
            self.assertIn("2 patterns, 0 tests, 0 failed", self.run_it(*args, "-P", "later.yml", "other", "relu_again")[2])
        self.write("m.mlir", "module {\n}\n")
        self.assertNotIn("relu.test.yml", self.run_it("-P", "relu.yml", "--ttir-only", "m.mlir")[2])

    def test_quiet(self):
        self.assertEqual(self.run_tests("  - hit: |\n      " + FULL + MAXIMUM, "-q"), (0, ""))

    def test_ttnn_and_whole_module(self):
        body = (FULL + MAXIMUM).replace("ttir.", "ttnn.")
        module = "module {\n      func.func @f(%%x: tensor<32x32xbf16>) {\n      %s      return %%0 : tensor<32x32xbf16>\n      }\n      }\n"
        self.assertEqual(self.run_tests("  - hit: |\n      " + body + "  - hit: |\n      " + module % body)[0], 0)

    def test_failures_name_their_place(self):
        status, err = self.run_tests("  - name: broken\n    hit: |\n      " + MAXIMUM + "  - miss: |\n      " + FULL + MAXIMUM)
        self.assertEqual(status, 1)
        self.assertRegex(err, r"^relu.yml:7: error: relu: hit \(broken\): .*%zero is .*, 0 expected\n"
                              r"relu.yml:10: error: relu: miss: .* %0 \(ttir.maximum\)\n1 pattern, 2 tests, 2 failed\n$")

    def test_what_explains_could_say(self):
        miss = "  - miss: |\n      " + MAXIMUM
        self.assertRegex(self.run_tests(miss, "-v")[1], "relu.yml:7: note: relu: miss: explains: .*%zero is")
        self.assertNotIn("note", self.run_tests(miss)[1])

    def test_explains_is_whole_words(self):
        miss = "  - miss: |\n      " + MAXIMUM + "    explains: "
        for text, status in (("model", 0), ("'0: %zero'", 0), ("'%zero is an'", 0),
                             ("mode", 1), ("odel", 1), ("s", 1)):
            self.assertEqual(self.run_tests(miss + text + "\n")[0], status, text)

    def test_hit_that_nothing_comes_close_to(self):
        err = self.run_tests("  - hit: |\n      o = exp x:4x4\n    level: both\n")[1].splitlines()
        for level, line in zip(("ttir", "ttnn"), err):
            self.assertRegex(line, r"^relu.yml:7: error: relu: hit \(%s\): .*%%o is %s.exp at line 2, maximum expected" % (level, level))

    def test_why_a_hit_does_not_match(self):
        for formula, test, said in (
                ("sum(x, dim=-1)", "o = sum x:4x8 {dim_arg = [0], keep_dim = true}", r"dim_arg = \[0 : i32\].* -1 "),
                ("maximum(x, c) + maximum(y, c)", "a = maximum x:4 0.25; b = maximum y:4 0.25; o = add a b", "both hold 0.25"),
                ("exp(x) [* a] [+ b]\nrequire: value(a) == value(b)", "o = exp x:4", "unknown == unknown; a is absent, b is absent")):
            self.write("p.yml", RELU.replace("maximum(x, 0)", formula).replace("summary: " + formula, "summary: s") +
                       "tests:\n  - hit: |\n      %s\n" % test)
            self.assertRegex(self.run_it("patterns", "test", "-P", "p.yml", "relu")[2], said)

    def test_hints(self):
        for command, text, hint in (("check", "defines:\n  - 'f(x): exp(x)'\n", "define?"), ("check", RELU + "notes: a: b\n", "quoted"),
                                    ("test", RELU, "-P FILE")):
            self.write("p.yml", text)
            self.assertRegex(self.run_it("patterns", command, "p.yml")[2], "hint: .*" + re.escape(hint))

    def test_text_that_is_no_ir(self):
        status, err = self.run_tests("  - hit: |\n      " + FULL + MAXIMUM.replace(") ->", " ->"))
        self.assertEqual(status, 1)
        self.assertIn("relu.yml:9:", err)

    def test_op_that_nobody_knows(self):
        status, err = self.run_tests("  - miss: |\n      " + MAXIMUM.replace("maximum", "maximun"))
        self.assertIn("ttir.maximun", err)
        self.assertEqual(status, 1)

    def test_arguments(self):
        text = RELU.replace("match: out = maximum(x, 0)", "match: out = maximum(x, y)\nrequire: parameter(y)")
        for args, status in (("", 1), ("    args: {zero: parameter}\n", 0), ("    args: {zero: parameter mlp.gate}\n", 0)):
            self.write("p.yml", text + "tests:\n  - hit: |\n      " + MAXIMUM + args)
            self.assertEqual(self.run_it("patterns", "test", "-q", "-P", "p.yml", "relu")[0], status, args)
        self.write("p.yml", text + "tests:\n  - hit: |\n      " + MAXIMUM + "    args: {w: parameter}\n")
        self.assertIn("%w", self.run_it("patterns", "test", "-P", "p.yml", "relu")[2])

    def test_explains(self):
        miss = "  - miss: |\n      " + FULL.replace("0.0", "1.0").replace("0.000000e+00", "1.000000e+00") + MAXIMUM
        self.assertEqual(self.run_tests(miss + "    explains: 'is 1, 0 expected'\n")[0], 0)
        status, err = self.run_tests(miss + "    explains: is 2\n")
        self.assertEqual(status, 1)
        self.assertRegex(err, "relu: miss: .*is 1, 0 expected.*is 2\n")

    def test_wrong_keys(self):
        for wrong in ("  - hit: a\n    mis: b\n", "  - name: n\n", "  - hit: a\n    miss: b\n", "  hit: a\n",
                      "  - hit: a\n    because: b\n", "  - hit: a\n    explains: b\n",
                      "  - hit: a\n    args: {x: weight}\n"):
            status, err = self.run_tests(wrong)
            self.assertEqual(status, 2, wrong)
            self.assertRegex(err, r"^relu.yml:\d+:\d+: error: ")

    def test_usage(self):
        self.wrong("nope", "patterns", "test", "nope")
        self.wrong("--only", "patterns", "test", "linear", "--only=linear")
        self.wrong("--json", "patterns", "test", "--json")


class Summary(Case):
    """What people read: the table and its width; what is left out."""
    files = ("m.ttir.mlir", "m.ttnn.mlir")

    def test_table(self):
        """What there is to save, the row of an op with what to do, and what that brings."""
        rows = self.run_it(*self.files)[2].splitlines()
        self.assertRegex(rows[0], r"^fusion_todo.yml: 1 place, 1 fused op; .* about \S+ of \S+ us ")
        save, total = map(float, re.search(r" (\S+) of (\S+) us ", rows[0]).groups())
        row = next(r for r in rows if "ttnn.linear" in r)
        self.assertEqual(row.split(), [str(save), "us", "1", "ttnn.linear:", "set", "enable-fusing-pass=true"])
        self.assertEqual(rows[-1], "set enable-fusing-pass=true: saves up to %g of %g us" % (save, total))
        self.assertIn("enable-fusing-pass=true", re.search("action: (.*)", self.read())[1])

    SOFTMAX = """  func.func @%(f)s(%%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %%e%(v)s = "ttir.exp"(%%x) : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %%s%(v)s = "ttir.sum"(%%e%(v)s) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x64xf32>) -> tensor<32x1xf32>
    %%r%(v)s = "ttir.%(op)s"(%%s%(v)s) : (tensor<32x1xf32>) -> tensor<32x1xf32>
    %%y = "ttir.multiply"(%%e%(v)s, %%r%(v)s) : (tensor<32x64xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
    return %%y : tensor<32x64xf32>
  }
"""

    def softmaxes(self, *functions):
        text = "".join("\n" + self.SOFTMAX % dict(f=f, v=v, op=op) for f, v, op in functions)
        self.write("alike.mlir", "module {\n" + text + "}\n")
        return self.run_it("--ttir-only", "alike.mlir")[2]

    def test_places_that_differ_in_names_only_count_as_one(self):
        """Notes name values and lines: "here is %r (ttir.reciprocal at line 6)"."""
        self.assertIn("   2         1  ttnn.softmax", self.softmaxes(("f", "", "reciprocal"), ("g", "_of1_x", "reciprocal")))
        self.assertIn("   3         1  ttnn.softmax", self.softmaxes(*((f, f * 3, "reciprocal") for f in "abc")))
        self.assertNotIn("distinct", self.softmaxes(("f", "", "reciprocal"), ("g", "1", "rsqrt")))

    def test_quiet_and_clean(self):
        self.assertEqual(self.run_it("-q", *self.files), (1, "", ""))
        self.assertEqual(self.run_it("m.ttir.mlir", "fused.mlir"), (0, "", ""))

    def on_terminal(self, columns, *args, said=False, **env):
        """What the summary has on a terminal, or what a command prints there, or with `said` says there."""
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        p = subprocess.Popen([PROGRAM, *(args or self.files)], cwd=self.directory.name,
                             env={**os.environ, "COLUMNS": "", "TERM": "xterm", **env},
                             stdout=slave if args and not said else subprocess.DEVNULL if said else None,
                             stderr=subprocess.DEVNULL if args and not said else slave)
        os.close(slave)
        text = b""
        while True:
            try:
                text += os.read(master, 65536)
            except OSError:
                break
            if not text:
                break
        os.close(master)
        p.wait(timeout=60)
        return text.decode().replace("\r\n", "\n")

    def test_verify_says_what_was_compared(self):
        """In one line, on a terminal only, and not where a program reads it or nothing is to be said."""
        verify = "verify", "m.ttir.mlir", "fused.mlir"
        self.assertRegex(self.on_terminal(80, *verify, said=True),
                         r"^nothing differs: (\d+) of \1 compute ops proved the same\n$")
        self.assertEqual(self.on_terminal(80, *verify, "-q", said=True), "")
        self.assertEqual(self.run_it(*verify), (0, "", ""))

    def test_terminal(self):
        for columns, most in (70, 70), (200, 100):
            self.assertLessEqual(max(map(len, self.on_terminal(columns).splitlines())), most)

    PRINTED = (("inspect", *files), ("patterns", "list", "[a-g]*"), ("lower", "rms_norm"),
               ("patterns", "conditions"), ("diff", "m.ttnn.mlir", "fused.mlir"), ("--output-dir=out", *files))

    def test_lines_are_broken_on_a_terminal(self):
        """At blanks, and nowhere else; in a pipe they are whole."""
        broken = 0
        for args in self.PRINTED:
            whole = self.run_it(*args)[1]
            for columns in (60, 80):
                shown = self.on_terminal(columns, *args)
                self.assertEqual(shown.split(), whole.split(), args)
                self.assertEqual([line for line in shown.splitlines() if len(line) > columns and " " in line.strip()], [], args)
                broken += shown != whole
                self.assertEqual(shown, self.on_terminal(200, *args, COLUMNS=str(columns)), args)
            self.assertEqual(self.on_terminal(1000, *args), whole, args)
        self.assertGreater(broken, 6)

    def test_indent_of_broken_lines(self):
        self.assertIn("\nsource: tt-mlir DecomposeComposites.cpp,\n    DecomposeRMSNormPattern ",
                      self.on_terminal(50, "lower", "rms_norm"))
        self.write("near.mlir", TTIR.replace("1x128xbf16", "32x128xbf16"))
        self.assertRegex(self.on_terminal(60, "explain", "--ttir-only", "--only=linear", "near.mlir"), r"(?m)^  because  .{1,49}\n {11}\S")

    def test_lines_that_programs_read_are_whole(self):
        for args in (("inspect", "--json", *self.files), ("diff", "--format=json", "m.ttnn.mlir", "fused.mlir"),
                     ("patterns", "show", "gelu"), ("-o", "-", *self.files), ("completion", "bash")):
            self.assertEqual(self.on_terminal(60, *args), self.run_it(*args)[1], args)
        self.write("none.mlir", "module {}\n")
        self.files = ("none.mlir",)
        self.assertEqual(self.on_terminal(40), self.run_it("none.mlir")[2])

    def test_details_have_the_action_and_lines(self):
        self.run_it("--details", "--format=json", "-o", "r.json", *self.files)
        entry, = json.loads(self.read("r.json"))["missed_fusions"]
        self.assertIn("enable-fusing-pass=true", entry["action"])
        place, = entry["instances"]
        self.assertEqual((place["ttir_lines"], place["ttnn_lines"]), ("3-4", "7, 9"))

    OWN = "name: own\nfused_op: x.y\nsource: ttnn\nmatch: out = exp(x + y)\nnotes: ['y is {y}']\n" \
          "status: {level: ttnn, pass: p, pattern: P}\nfused: exp(x + y)\n"

    def alike(self, *places):
        """The notes of places (x, y, type of y), each an addition and an exp."""
        t = "tensor<8x8xf32>"
        body = "".join('    %%s%d = "ttnn.add"(%s, %s) : (%s, %s) -> %s loc("add.%d")\n    %%e%d = "ttnn.exp"(%%s%d) : (%s) -> %s loc("exp.%d")\n'
                       % (i, x, y, t, y_type, t, i, i, i, t, t, i) for i, (x, y, y_type) in enumerate(places))
        self.write("own.yml", self.OWN)
        self.write("alike.mlir", "module {\n  func.func @f(%%a: %s, %%b: %s, %%much_longer: %s, %%row: tensor<1x8xf32>) -> %s {\n%s    return %%e0, %%e1 : %s, %s\n  }\n}\n"
                   % (t, t, t, t, body, t, t))
        status, out, err = self.run_it("--ttnn-only", "--no-default-patterns", "-P", "own.yml", "-o", "-", "alike.mlir")
        self.assertEqual(status, 1, err)
        return re.findall(r"notes: \|\n((?:      .*\n)*)", out), err

    def test_places_that_differ_in_names_only(self):
        t = "tensor<8x8xf32>"
        (first, second), err = self.alike(("%a", "%b", t), ("%a", "%much_longer", t))
        self.assertIn("validated: ", first)
        self.assertIn("validated: same function (all 2 places)\n", first)
        self.assertIn("y is %", first)
        for what in "y is ", "validated: ", "action: ", "n150":
            self.assertNotIn(what, second)
        self.assertRegex(err, r"  2         1  x\.y")

    def test_places_that_differ_in_more(self):
        """In a shape, and in which operands are one value."""
        t = "tensor<8x8xf32>"
        for other in ("%a", "%row", "tensor<1x8xf32>"), ("%a", "%a", t):
            (first, second), err = self.alike(("%a", "%b", t), other)
            self.assertRegex(err, r" 2  x\.y")


    def test_what_a_kernel_that_is_asked_for_yields(self):
        """A value inside that others take, too."""
        t = "tensor<32x32xbf16>"
        own = "name: own\nfused_op: cuda.x.y\nsource: cuda\nescapes: [s]\nmatch: |\n  s = op add(x, y)\n  out = op exp(s)\n"
        self.write("own.yml", own)
        for other, yields in ("%b", "32x32xbf16\n"), ("%a", "32x32xbf16, s: 32x32xbf16\n"):
            body = '    %%a = "ttnn.add"(%%x, %%y) : (T, T) -> T\n    %%b = "ttnn.exp"(%%a) : (T) -> T\n    %%c = "ttnn.neg"(%s) : (T) -> T\n' % other
            self.write("e.mlir", ("module {\n  func.func @f(%x: T, %y: T) -> (T, T) {\n" + body
                                  + "    return %b, %c : T, T\n  }\n}\n").replace("T", t))
            out = self.run_it("--ttnn-only", "--no-default-patterns", "-P", "own.yml", "--details", "-o", "-", "e.mlir")[1]
            self.assertIn("(x: 32x32xbf16, y: 32x32xbf16) -> " + yields, out)

    def test_the_option_that_keeps_an_op_which_is_to_be_made(self):
        own = "name: own\nfused_op: ttnn.linear\nsource: ttnn\nmatch: out = matmul(a, b) + c\nstatus: {level: ttir%s}\n"
        for keeps, said in (", keeps: optimization-level=1", ", which optimization-level=1 keeps"), ("", ""):
            self.write("own.yml", own % keeps)
            out = self.run_it("--only=own", "-P", "own.yml", "--details", "-o", "-", *self.files)[1]
            self.assertRegex(out, r"write one in TTIR: fusion-audit pass --only=own%s[;( \n]" % said)

    def test_a_kernel_of_a_convolution_that_is_asked_for(self):
        self.write("own.yml", "name: own\nfused_op: cuda.x.y\nsource: cuda\nmatch: out = op relu(conv2d(x, w))\n")
        self.write("conv.mlir", """module {
  func.func @f(%x: tensor<1x8x8x4xbf16>, %w: tensor<4x4x3x3xbf16>) -> tensor<1x4x4x4xbf16> {
    %0 = "ttir.conv2d"(%x, %w) <{stride = array<i32: 2, 2>, padding = array<i32: 1, 1>, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x4xbf16>, tensor<4x4x3x3xbf16>) -> tensor<1x4x4x4xbf16>
    %1 = "ttir.relu"(%0) : (tensor<1x4x4x4xbf16>) -> tensor<1x4x4x4xbf16>
    return %1 : tensor<1x4x4x4xbf16>
  }
}
""")
        out = self.run_it("--ttir-only", "--no-default-patterns", "-P", "own.yml", "--details", "-o", "-", "conv.mlir")[1]
        self.assertIn("w: 4x4x3x3xbf16, stride = [2, 2], padding = [1, 1], groups = 1) -> 1x4x4x4xbf16", out)

    def test_the_layer_of_what_has_no_weights(self):
        """A residual and a relu behind it are of the layer that they end, not of the next one."""
        t = "tensor<32x32xbf16>"
        op = '    %%%s = "ttnn.%s"(%s) : (%s) -> %s loc("%s")\n'
        ops = [("a", "matmul", "%x, %w0"), ("b", "add", "%a, %x"), ("c", "relu", "%b"), ("d", "matmul", "%c, %w1")]
        weight = '%%w%d: %s {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "model.layers.%d.fc.weight"}'
        args = ", ".join(["%%x: %s" % t, weight % (0, t, 0), weight % (1, t, 1)])
        body = "".join(op % (name, kind, of, ", ".join([t] * len(of.split(","))), t, name) for name, kind, of in ops)
        self.write("layers.mlir", "module {\n  func.func @f(%s) -> %s {\n%s    return %%d : %s\n  }\n}\n" % (args, t, body, t))
        self.write("own.yml", "name: own\nfused_op: x.y\nsource: ttnn\nmatch: out = op relu(op add(x, y))\n")
        self.run_it("--ttnn-only", "--only=own", "-P", "own.yml", "--format=json", "-o", "r.json", "layers.mlir")
        entry, = json.loads(self.read("r.json"))["missed_fusions"]
        self.assertEqual(entry["instances"][0]["layer"], "layer 0")


class Explain(Case):
    """explain: what nearly matches, and what is different there."""

    def setUp(self):
        super().setUp()
        self.write("m.mlir", TTIR.replace("1x128xbf16", "32x128xbf16"))
        self.write("exp.mlir", TTIR.replace("    return", '    %2 = "ttir.exp"(%1) : (tensor<32x128xbf16>) -> tensor<32x128xbf16>\n    return'))

    def explain(self, *args):
        return self.run_it("explain", "--only=linear", *args)

    def near(self, *args):
        return self.places("--only=linear", *args)

    def test_at_an_op_wherever_it_stands(self):
        self.assertEqual(self.near("--at=ttir.add", "--ttir-only", "m.mlir"), self.near("--at=4", "--ttir-only", "m.mlir"))
        self.assertEqual(self.explain("--at=ttir.softmax", "--ttir-only", "m.mlir")[0], 3)

    def test_near(self):
        """As text; JSON has the same."""
        status, out, err = self.explain("--ttir-only", "m.mlir")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("m.mlir:4: ttir.add %1: near: linear -> ttnn.linear, both ops match"), out)
        self.assertRegex(out, r"\n  matched  ttir.matmul 3, ttir.add 4\n  where    row_vector\(bias, product\)\n  because  .*%0 32x128 "
                              r".*%arg2 32x128\n  hint  ")
        self.assertFalse(self.there())
        place, = self.near("--ttir-only", "m.mlir")
        self.assertEqual((place["outcome"], place["root"]), ("near", {"op": "ttir.add", "result": "%1", "line": 4}))
        self.assertEqual(([op["line"] for op in place["matched"]], place["total"], place["difference"]["kind"]), ([3, 4], 2, "where"))
        for args in ("--ttir-only", "m.mlir"), ("--ttnn-only", "m.ttnn.mlir"), ("--at=fc1.add", "--ttir-only", "m.mlir"):
            hold(json.loads(self.explain("--json", *args)[1]), "explain")

    def test_refuted(self):
        """A match that computes something else is reported nowhere: what overlaps with it is, or nearly is."""
        own = "name: %s\nfused_op: x.%s\nsource: ttnn\nmatch: out = %s\n%s"
        wrong = own % ("big", "big", "matmul(a, b) + c", "fused: matmul(a, b) - c\n")
        self.write("p.yml", wrong + "---\n" + own % ("near", "near", "matmul(a, b) + c", "where: rank(c) == 3\n"))
        args = "--no-default-patterns", "-P", "p.yml", "--ttir-only", "m.ttir.mlir"
        self.assertEqual(self.run_it("-n", *args), (0, "", ""))
        self.assertEqual([(p["pattern"], p["outcome"]) for p in self.places(*args)], [("near", "near")])
        place = self.places("--at=fc1.add", "--only=big", *args)[0]
        self.assertEqual((place["outcome"], place["gives_way_to"]), ("refuted", None))
        self.assertRegex(self.run_it("explain", "--at=fc1.add", *args)[1], r"\n  proof    .*: at \[")
        self.write("p.yml", wrong + "---\n" + own % ("small", "small", "matmul(a, b)", ""))
        self.assertEqual(self.places("--at=fc1.matmul", "--only=small", "--include=slower", *args)[0]["outcome"], "matched")

    def test_a_place_without_a_name(self):
        for place in "a ()", "before , x", "fed by ", "%0,%1", "%0, %1", "ttnn:%1":
            self.assertEqual(self.explain("--at=" + place, "--ttir-only", "m.mlir")[0], 3, place)
        for place in "ttir:%1", '%1 = "ttir.add"(%0, %arg2)':
            self.assertEqual(self.explain("--at=" + place, "--ttir-only", "m.mlir")[0], 0, place)

    def test_an_argument_of_what_is_computed_once(self):
        w, x = "tensor<64x128xbf16>", "tensor<32x64xbf16>"
        self.write("once.mlir", """module {
  func.func private @once(%%a: %(w)s) -> %(w)s {
    %%0 = "ttnn.neg"(%%a) : (%(w)s) -> %(w)s
    return %%0 : %(w)s
  }
  func.func @main(%%x: %(x)s, %%w: %(w)s {ttir.name = "fc.weight"}, %%b: tensor<32x128xbf16>) -> tensor<32x128xbf16> {
    %%0 = ttcore.load_cached(@once, [%%w]) : (%(w)s) -> %(w)s
    %%1 = "ttnn.matmul"(%%x, %%0) : (%(x)s, %(w)s) -> tensor<32x128xbf16>
    %%2 = "ttnn.add"(%%1, %%b) : (tensor<32x128xbf16>, tensor<32x128xbf16>) -> tensor<32x128xbf16>
    return %%2 : tensor<32x128xbf16>
  }
}
""" % {"w": w, "x": x})
        for place in "%w", "fc.weight":
            near = self.near("--at=" + place, "--ttnn-only", "once.mlir")
            self.assertEqual([p["pattern"] for p in near], ["linear"], place)

    def test_a_chain_of_what_is_computed_once(self):
        """Each takes the one before twice: an answer takes no longer than reading it."""
        t = "tensor<2x3xf32>"
        ops = ["%%%d = ttcore.load_cached(@once, [%s, %s]) : (%s, %s) -> %s" % (i, v, v, t, t, t)
               for i, v in enumerate(["%x"] + ["%%%d" % i for i in range(59)])]
        self.write("chain.mlir", "func.func @main(%%x: %s) -> %s {\n%s\n"
                   '%%60 = "ttnn.relu"(%%59) : (%s) -> %s\nreturn %%60 : %s\n}\n' % (t, t, "\n".join(ops), t, t, t))
        self.assertEqual(self.explain("--at=%x", "--ttnn-only", "chain.mlir")[0], 0)

    def test_what_matches_comes_before_what_nearly_does(self):
        """With --at also what an audit leaves out, and before places that differ there."""
        own = "name: %s\nfused_op: ttnn.%s\nsource: ttnn\nmatch: out = %s\n%s"
        self.write("p.yml", own % ("near", "near", "exp(matmul(a, b) - c)", "---\n")
                   + own % ("hidden", "hidden", "matmul(a, b) + c", "block: [{when: rank(c) == 2, say: 'c has {rank(c)} axes.'}]\n"))
        first, second = self.places("--no-default-patterns", "-P", "p.yml", "--at=ttir.add", "--ttir-only", "exp.mlir")
        self.assertEqual((first["pattern"], first["difference"]["reason"]), ("hidden", "c has 2 axes"))
        self.assertEqual(second["pattern"], "near")

    def test_what_the_compiler_accepts(self):
        own = "name: own\nfused_op: ttnn.linear\nsource: ttnn\nmatch: %s\nwhere: row_vector(c)\n" \
              "status: {level: ttir, pass: f, pattern: P}\n---\npasses: [{name: f, version: v1}]\n" \
              "unchecked: [{pass: f, pattern: P, makes: linear, of: add, accepts: any bias}]\n"
        args = "--no-default-patterns", "-P", "own.yml", "--ttir-only", "m.mlir"
        self.write("own.yml", own % "o = matmul(a, b) + c")
        self.assertEqual(self.places(*args)[0]["difference"]["compiler_accepts"], "any bias")
        self.write("own.yml", own % "o = exp(matmul(a, b) + c)")   # only some of its ops are there
        self.assertNotIn("compiler", self.run_it("explain", *args)[1])

    def test_ttnn_decides(self):
        self.write("near.mlir", MISSED.replace("1x128xbf16", "32x128xbf16"))
        place, = self.near("--unpaired", "m.ttir.mlir", "near.mlir")
        self.assertEqual(place["root"], {"op": "ttnn.add", "result": "%1", "line": 9})

    def test_at(self):
        """All that names an op, also as reports print it."""
        whole = self.near("--ttir-only", "m.mlir")
        for at in ("fc1.add", "fc1.matmul", "#loc4", "4", "3", "m.mlir:4", "%1", "%0", "ttir.add 4", "ttir.add at line 4", "%0#0", "ttir:%1",
                   "%1 (ttir.add at line 4)", "line 4", "m.mlir:4:5", "m.mlir:4: ttir.add", "%arg2", "%arg2 (fc1.bias)"):
            self.assertEqual(self.near("--at", at, "--ttir-only", "m.mlir"), whole, at)
        self.write("two.mlir", TTIR.replace("    return", '    %2 = "ttir.exp"(%arg0) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>\n    return'))
        self.assertEqual(self.near("--at=%2", "--ttir-only", "two.mlir"), [])

    def test_at_what_the_place_is_about(self):
        """A product behind an add comes before what shares the add alone; where there is nothing else, that is shown."""
        def patterns(*args):
            places = json.loads(self.run_it("explain", "--json", "--at=%1", "--ttir-only", *args)[1])["places"]
            return [place["pattern"] for place in places]
        kept, all_of = patterns("m.mlir"), patterns("--most=100", "m.mlir")
        self.assertEqual((kept[2], kept), ("linear", all_of[:5]))   # behind a slower match and one that is reported
        self.assertGreater(len(all_of), 5)
        op = '%%%d = "ttir.%s"(%s, %%b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n'
        self.write("m.mlir", "func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {\n" +
                   op % (0, "multiply", "%a") + op % (1, "add", "%0") + "return %1 : tensor<4x8xf32>\n}\n")
        self.assertEqual(patterns("m.mlir"), ["addcmul", "theory_gated_residual"])
        self.assertIn("lerp", patterns("--most=100", "m.mlir"))

    def test_at_of_both_files(self):
        both = ["m.ttir.mlir", "m.ttnn.mlir"]
        lines = TTIR.splitlines()
        add = next(i for i, line in enumerate(lines, 1) if "ttir.add" in line)
        self.write("m.ttir.mlir", TTIR.replace("%1", "%77"))
        for at in ("ttir:%77", "%77", "ttir.add at line %d" % add, "m.ttir.mlir:%d" % add, "m.ttir.mlir:%d:5" % add):
            status, out, err = self.explain("--at", at, *both)
            self.assertEqual((status, err), (0, ""), at)
            self.assertTrue(out.startswith("ttir.add %%77 at line %d: here ttnn.add %%1 at line 9\n\n"
                                           "m.ttnn.mlir:9: ttnn.add %%1: matched: linear" % add), out)
        for at in "ttnn:%1", "ttnn.add":
            self.assertTrue(self.explain("--at", at, *both)[1].startswith("m.ttnn.mlir:9: "), at)
        for at in ("ttnn:%77", "ttir:%78", "ttir.add at line 9", "ttnn.matmul 9", "m.ttir.mlir:999", "ttir:"):
            self.assertEqual(self.explain("--at", at, *both)[0], 3, at)

    def test_at_shows_what_ends_there_first(self):
        """What is reported, then what ends or differs at the op, then what it is only a part of."""
        own = "name: %s\nfused_op: x.%s\nsource: ttnn\nmatch: %s\nwhere: value(b) == 1\n"
        self.write("p.yml", own % ("long", "long", "o = exp(matmul(a, w) + b)") + "---\n" + own % ("short", "short", "o = matmul(a, w) + b"))
        places = self.places("--ttir-only", "--no-default-patterns", "-P", "p.yml", "--at=%1", "exp.mlir")
        self.assertEqual([p["pattern"] for p in places], ["short", "long"])

    def test_at_nothing(self):
        for at in ("fc1", "400", "other.mlir:4", "%9", "#loc99"):
            status, out, err = self.explain("--at", at, "--ttir-only", "m.mlir")
            self.assertEqual((status, out), (3, ""))
            self.assertIn("'%s'\n  hint: --at" % at, err)

    def test_what_matches(self):
        self.assertEqual(self.near("m.ttir.mlir", "m.ttnn.mlir"), [])
        place, = self.near("--at=fc1.add", "m.ttir.mlir", "m.ttnn.mlir")
        self.assertEqual((place["outcome"], [op["line"] for op in place["matched"]]), ("matched", [7, 9]))
        self.assertIn("\n  proof    validated: same function", self.explain("--at=fc1.add", "m.ttir.mlir", "m.ttnn.mlir")[1])

    def test_what_is_left_out(self):
        """As slower than the ops, as taken apart by the compiler, for another match; and what reports it."""
        self.write("s.mlir", SLOWER)
        self.write("d.mlir", TTIR.replace("fc1.matmul", "fc1_decomp_matmul"))
        for option, args in (("--include=slower", ("--ttnn-only", "--only=softmax", "--at=%2", "s.mlir")),
                             ("--include=decomposed", ("--ttir-only", "--only=linear", "--at=fc1.add", "d.mlir"))):
            self.assertIn(option, self.run_it("explain", *args)[1])
            self.assertNotIn(option, self.run_it("explain", option, *args)[1])
        place, = self.places("--ttnn-only", "--only=softmax", "s.mlir")   # where no place is asked for, too
        self.assertEqual(place["outcome"], "slower")
        self.write("f.mlir", SLOWER.replace("32x8192", "2048x1024").replace("<32x1x", "<2048x1x"))
        self.assertNotIn("slower", self.run_it("explain", "--ttnn-only", "--only=softmax", "--at=%2", "f.mlir")[1])
        self.assertEqual(self.run_it("explain", "--ttnn-only", "--only=softmax", "f.mlir")[1], "nothing else comes close\n")
        self.assertEqual(self.run_it("explain", "--ttnn-only", "--only=rms_norm", "f.mlir")[1], "nothing comes close\n")
        self.write("g.mlir", self.read("f.mlir").replace("return %2", "%3 = \"ttnn.relu\"(%2) : (tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16>\n  return %3"))
        self.assertEqual(self.run_it("explain", "--ttnn-only", "--only=softmax", "--at=%3", "g.mlir")[1], "nothing comes close at %3\n")
        self.write("p.yml", RELU.replace("name: relu", "name: activated").replace("match: out = maximum(x, 0)", "match: out = exp(a + b)"))
        self.write("e.mlir", self.read("exp.mlir").replace("return %1", "return %2"))
        places = self.places("--ttir-only", "--only=linear,activated", "-P", "p.yml", "--at=%1", "e.mlir")
        taken, = [p["gives_way_to"] for p in places if p["gives_way_to"]]
        self.assertIn(taken, ("linear", "activated"))

    def test_gives_way_to_what_has_most_of_its_ops(self):
        own = "name: %s\nfused_op: x.%s\nsource: %s\nmatch: out = %s\n"
        self.write("p.yml", "---\n".join(own % row for row in (
            ("all", "all", "torch", "sqrt(exp(matmul(a, b) + c))"), ("three", "three", "ttnn", "exp(matmul(a, b) + c)"), ("one", "one", "ttnn", "sqrt(x)"))))
        t = "tensor<32x128xbf16>"
        self.write("m.mlir", TTIR.replace("    return %1", '    %%2 = "ttir.exp"(%%1) : (%s) -> %s\n    %%3 = "ttir.sqrt"(%%2) : (%s) -> %s\n'
                                          "    return %%3" % (t, t, t, t)))
        places = self.places("--ttir-only", "--no-default-patterns", "-P", "p.yml", "--at=%3", "m.mlir")
        self.assertEqual([p["gives_way_to"] for p in places if p["pattern"] == "all"], ["three"])

    def test_same_in_every_layer(self):
        body = TTIR.split("-> tensor<32x128xbf16> {\n")[1].split("    return")[0].replace("1x128xbf16", "32x128xbf16")
        twice = body + body.replace("%0", "%8").replace("%1", "%9")
        self.write("m.mlir", TTIR.replace("1x128xbf16", "32x128xbf16").replace(body, twice).replace(
            "return %1 : tensor<32x128xbf16>", "return %1, %9 : tensor<32x128xbf16>, tensor<32x128xbf16>"))
        self.assertTrue(self.explain("--ttir-only", "m.mlir")[1].endswith("\n  same at  1 more place: line 6\n"))

    def test_what_matches_in_every_layer_is_said_once(self):
        body = TTIR.split("-> tensor<32x128xbf16> {\n")[1].split("    return")[0]
        self.write("m.mlir", TTIR.replace(body, body + body.replace("%0", "%8").replace("%1", "%9")).replace(
            "-> tensor<32x128xbf16> {", "-> (tensor<32x128xbf16>, tensor<32x128xbf16>) {").replace(
            "return %1 : tensor<32x128xbf16>", "return %1, %9 : tensor<32x128xbf16>, tensor<32x128xbf16>"))
        out = self.explain("--at=ttir.add", "--ttir-only", "m.mlir")[1]
        self.assertEqual(out.count("matched: linear"), 1, out)
        self.assertIn("\n  same at  1 more place: line 6\n", out)

    def test_same_in_every_function_that_is_written_alike(self):
        head, function, tail = TTIR.partition(TTIR[TTIR.index("  func"):TTIR.index("} loc(#loc)\n#loc")])
        function = function.replace("1x128xbf16", "32x128xbf16")
        other = function.replace("@forward", "@other").replace("ttir.add", "ttir.subtract")
        self.write("m.mlir", head + function + function.replace("@forward", "@again") + other + tail)
        out = self.explain("--ttir-only", "m.mlir")[1]
        self.assertIn("\n  same at  1 more place: line 9\n", out)

    def test_limit(self):
        status, out, _ = self.run_it("explain", "--ttir-only", "--at=fc1.add", "--most=2", "m.mlir")
        self.assertEqual((status, out.count("m.mlir:4: ")), (0, 2))

    def test_usage(self):
        self.wrong("no input", "explain")
        for option in "--at=", "--most=x", "--dry-run", "--only=nope":
            self.wrong(option.partition("=")[0] if "only" not in option else "nope", "explain", option, "m.mlir")
        self.wrong("explain", "--at=4", "m.mlir")

    def test_unreadable(self):
        self.assertIn("absent: error: ", self.unreadable("explain", "--ttir-only", "absent"))
        self.unreadable("explain", "--ttnn-only", "m.mlir")


class Output(Case):
    files = ("m.ttir.mlir", "m.ttnn.mlir")

    def test_output_file(self):
        self.found(self.run_it("-oout.yml", *self.files), "out.yml")
        self.assertFalse(self.there())
        self.assertTrue(self.there("out.yml"))

    def test_standard_output(self):
        status, out, err = self.run_it("-o", "-", *self.files)
        self.found((status, out, err), "standard output", out)
        self.assertFalse(self.there())
        self.run_it(*self.files)
        self.assertEqual(out, self.read())

    def test_quiet(self):
        self.assertEqual(self.run_it("-q", *self.files), (1, "", ""))
        self.assertTrue(self.there())

    def test_stale_report_goes(self):
        self.run_it(*self.files)
        self.write("m.ttnn.mlir", FUSED)
        self.assertEqual(self.run_it(*self.files), (0, "", ""))
        self.assertFalse(self.there())

    def test_reports_on_other_input_stay(self):
        self.run_it(*self.files)
        report = self.read()
        self.assertEqual(self.run_it("m.ttir.mlir", "fused.mlir"), (0, "", ""))
        self.assertEqual(self.run_it("--ttnn-only", "fused.mlir"), (0, "", ""))
        self.write("m.ttnn.mlir", FUSED)
        for args in (["--only=layer_norm"], ["--skip=softmax"], ["--source=torch"], ["-n"],
                     ["--no-default-patterns", "-P", "own.yml"]):
            self.write("own.yml", RELU)
            self.assertEqual(self.run_it(*args, *self.files), (0, "", ""), args)
            self.assertEqual(self.read(), report, args)
        self.assertEqual(self.run_it("-v", *self.files)[0], 0)
        self.assertFalse(self.there())

    def test_any_regular_file_is_replaced(self):
        self.write("notes.txt", "mine\n" * 10000)
        os.chmod(self.path("notes.txt"), 0o640)
        os.link(self.path("notes.txt"), self.path("again.txt"))
        os.symlink("notes.txt", self.path("link.txt"))
        self.assertEqual(self.run_it("-o", "link.txt", *self.files)[0], 1)
        self.assertTrue(self.read("again.txt").startswith("input:\n"))
        self.assertTrue(os.path.samefile(self.path("again.txt"), self.path("notes.txt")))
        self.assertEqual(os.stat(self.path("notes.txt")).st_mode & 0o777, 0o640)
        self.assertTrue(os.path.islink(self.path("link.txt")))

    def test_pipe_is_written_directly(self):
        os.mkfifo(self.path("pipe"))
        reader = subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE)
        self.assertEqual(self.run_it("-o", "pipe", *self.files)[0], 1)
        self.assertTrue(reader.communicate(timeout=60)[0].startswith(b"input:\n"))
        with open(self.path("log"), "ab") as log:
            log.write(b"before\n")
            log.flush()
            self.assertEqual(self.run_it("-o", "/dev/stdout", *self.files, stdout=log)[0], 1)
        self.assertTrue(self.read("log").startswith("before\ninput:\n"))

    def test_closed_pipe_ends_quietly(self):
        for args in (["-o", "-", *self.files], ["inspect", *self.files], ["patterns", "show", "linear"], ["--help"],
                     ["-o", "/dev/stdout", *self.files]):
            read, write = os.pipe()
            os.close(read)
            self.assertEqual(self.run_it(*args, stdout=write), (-signal.SIGPIPE, None, ""), args)
            os.close(write)

    def test_closed_pipe_of_messages_does_not_harm_the_report(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PROGRAM, "-v", *self.files], cwd=self.directory.name, stderr=write)
        os.close(write)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(self.read().startswith("input:\n"))

    def test_other_files_stay(self):
        own = "input: {ttir: m.ttir.mlir, ttnn: fused.mlir}\nmissed_fusions: "
        for text in (STALE + "mine: too\n", "# notes\n", "", "- input\n- missed_fusions\n", "input: {}\n", own + "none\n",
                     own + "[\n", own + "[]\n---\nsecond: document\n", own.replace("fused", "other") + "[]\n",
                     own.replace("}", ", log: c}") + "[]\n"):
            self.write("fusion_todo.yml", text)
            self.assertEqual(self.run_it("m.ttir.mlir", "fused.mlir"), (0, "", ""))
            self.assertEqual(self.read(), text)
        own = "# edited\n" + own + "[]\n"
        os.rename(self.path("fusion_todo.yml"), self.path("real.yml"))
        self.write("real.yml", own)
        os.symlink("real.yml", self.path("fusion_todo.yml"))
        self.run_it("m.ttir.mlir", "fused.mlir")
        self.assertEqual(self.read(), own)
        self.run_it("-o", "real.yml", "m.ttir.mlir", "fused.mlir")
        self.assertFalse(self.there("real.yml"))

    def test_standard_output_leaves_files_alone(self):
        self.write("fusion_todo.yml", STALE)
        self.assertEqual(self.run_it("-o", "-", "m.ttir.mlir", "fused.mlir"), (0, "", ""))
        self.assertEqual(self.read(), STALE)

    def test_cannot_write(self):
        status, out, err = self.run_it("-o", "m.ttir.mlir/x.yml", *self.files)
        self.assertEqual((status, out), (3, ""))
        self.assertRegex(err, "^fusion-audit: error: .* m.ttir.mlir/x.yml: Not a directory\n$")

    def test_makes_directories(self):
        self.found(self.run_it("-o", "a/b/todo.yml", *self.files), "a/b/todo.yml")
        self.assertEqual(self.run_it("--write-baseline=c/d/known.yml", "-q", *self.files)[0], 0)
        self.assertTrue(self.there("a/b/todo.yml") and self.there("c/d/known.yml"))

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            for args in (("-o", "-", *self.files), ("--help",), ("--version",), ("inspect", *self.files)):
                status, _, err = self.run_it(*args, stdout=full)
                self.assertEqual(status, 3, args)
                self.assertRegex(err, "fusion-audit: error: .*: No space left on device\n")

    def test_closed_output(self):
        for args in ("-o - m.ttir.mlir m.ttnn.mlir", "--help", "inspect m.ttir.mlir"):
            done = subprocess.run(["sh", "-c", '"$0" %s >&-' % args, PROGRAM], cwd=self.directory.name,
                                  stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 3, args)
            self.assertIn(b"Bad file descriptor", done.stderr)

    def test_closed_error_stream_does_not_harm_the_report(self):
        done = subprocess.run(["sh", "-c", '"$0" m.ttir.mlir m.ttnn.mlir 2>&- <&-', PROGRAM], cwd=self.directory.name)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(self.read().startswith("input:\n"))


class Usage(Case):
    def test_wrong_usage(self):
        pair = "m.ttir.mlir", "m.ttnn.mlir"
        for word, *args in (
            ("no input",), ("no input", "-q"), ("no input", "inspect"),
            ("--nonsense", "--nonsense", *pair), ("--nonsense", "--nonsense=1", *pair), ("--nonsense", "inspect", "--nonsense", *pair),
            ("did you mean --only?", "--onyl=linear", *pair), ("-x", "-qx", *pair), ("-x", "inspect", "-x", *pair),
            ("did you mean inspect?", "insepct", *pair), ("did you mean --help?", "help"), ("did you mean linear?", "--only=linaer", *pair),
            ("--patterns", "-P", "", *pair), ("-o", "m.ttir.mlir", "-o"), ("--only", "m.ttir.mlir", "--onl"), ("--output", "-o", "", *pair),
            ("--only", "--only=", *pair), ("--skip", "--skip", "", *pair), ("--quiet", "--quiet=yes", *pair),
            ("pattern", "--only=linear", "--skip=linear", *pair), ("pattern", "--only=linear", "--source=cuda", *pair),
            ("-P", "--no-default-patterns", *pair), ("explain", "--json", *pair), ("repro", "-d", "x", "repro", *pair),
            ("--quiet", "inspect", "--quiet", *pair), ("-v", "inspect", "-v", *pair), ("--seed", "patterns", "list", "--seed=3"),
            ("--ttir-only, --ttnn-only", "--tt", *pair), ("--ttnn-only", "--ttir-only", "--ttnn-only", *pair),
            ("'-'", "-", "-"), ("--jobs", "-j", "0", *pair), ("--jobs", "--jobs=two", *pair),
            ("--jobs", "--jobs=3x", *pair), ("--format=json:", "--format=json:", *pair),
            ("fusion-audit diff", "-q", "diff", "a", "b"), ("conditions", "patterns", "conditions", "linear"),
            ("input", "-o", "./m.ttir.mlir", *pair), ("input", "-o", "m.ttir.mlir", "m.ttir.mlir:a.mlir"),
        ):
            with self.subTest(args=args):
                self.wrong(word, *args)
        self.assertEqual(self.read("m.ttir.mlir"), TTIR)

    def test_output_linked_to_input(self):
        os.link(self.path("m.ttir.mlir"), self.path("hard.yml"))
        os.symlink("m.ttir.mlir", self.path("soft.yml"))
        for name in ("hard.yml", "soft.yml"):
            self.wrong(name, "-o", name, "m.ttir.mlir", "m.ttnn.mlir")

    def test_help(self):
        for usage, *args in (("[options] FILE...", "--help"), ("[options] FILE...", "-h", "--nonsense"),
                             ("inspect [options] FILE...", "inspect", "--help"),
                             ("explain [options] FILE...", "explain", "-h"),
                             ("lower [options] [OP]...", "lower", "--help"),
                             ("completion bash|zsh|fish", "completion", "--help"),
                             ("patterns list [NAME]...", "patterns", "--help"),
                             ("patterns new [options] --from=FILE", "patterns", "new", "--help")):
            status, out, err = self.run_it(*args)
            self.assertEqual((status, err), (0, ""))
            self.assertTrue(out.startswith("Usage: fusion-audit " + usage), out)
            self.assertLess(max(map(len, out.splitlines())), 81)
            self.assertLess(len(out.splitlines()), 72)

    def complete(self, *words):
        """What bash completes the last word to."""
        script = self.run_it("completion", "bash")[1]
        typed = " ".join(w.replace("=", " = ") for w in ["fusion-audit", *words]).split(" ")
        call = "compopt() { :; }; COMP_WORDS=(%s); COMP_CWORD=%d; _fusion_audit; echo ${COMPREPLY[@]}" % (
            " ".join("'%s'" % w for w in typed), len(typed) - 1)
        env = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
        done = subprocess.run(["bash", "-c", script + call], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        return done.stdout.split()

    def test_completion(self):
        self.assertEqual(self.complete("ins"), ["inspect"])
        self.assertEqual(self.complete("--tt"), ["--ttir-only", "--ttnn-only"])
        self.assertEqual(self.complete("inspect", "--j"), ["--json"])
        self.assertEqual(self.complete("--j"), ["--jobs="])
        self.assertEqual(self.complete("inspect", "--o"), [])
        self.assertEqual(self.complete("--device", "p150-"), ["p150-fw18"])
        self.assertEqual(self.complete("diff", "--format="), ["text", "json", "html"])
        self.assertEqual(self.complete("patterns", "te"), ["test"])
        self.assertEqual(self.complete("patterns", "test", "--se"), ["--seed="])
        self.assertEqual(self.complete("patterns", "show", "layer_norm_b"), self.complete("--only=layer_norm_b"))
        self.assertEqual(self.complete("--only=relu,layer_n")[0][:12], "relu,layer_n")
        self.assertEqual(self.complete("diff", "--device=n3"), ["n300"])
        self.assertEqual(self.complete("--output=n3"), [])
        self.assertEqual(self.complete("--only=linear,ttnn.rms"), ["linear,ttnn.rms_norm"])
        self.assertEqual(self.complete("--only=ttnn.rms"), ["ttnn.rms_norm"])
        self.assertEqual(self.complete("inspect", "lin"), [])
        for shell in ("zsh", "fish"):
            status, out, err = self.run_it("completion", shell)
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(self.run_it("completion", shell, "--", "--device=n3")[:2], (0, "--device=n300\t\n"))
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=out, text=True, check=True)
        if shutil.which("fish"):
            script = self.run_it("completion", "fish")[1] + "\ncomplete -C 'fusion-audit expl'; complete -C 'fusion-audit diff --format '"
            env = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
            done = subprocess.run(["fish", "-c", script], env=env, stdout=subprocess.PIPE, text=True)
            self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()],
                             ["explain", "count", "name", "saving"])
        self.wrong("fish", "completion", "tcsh")
        self.wrong("fish", "completion")

    def test_the_help_of_the_command_is_named(self):
        for command, args in (("", ()), (" diff", ("diff", "m.ttir.mlir")), (" patterns", ("patterns", "tst")),
                              (" patterns new", ("patterns", "new")), (" inspect", ("inspect", "--jsn", "m.ttir.mlir"))):
            self.assertIn("fusion-audit%s --help" % command, self.run_it(*args)[2])

    def test_version(self):
        for option in ("--version", "-V", "--vers"):
            status, out, err = self.run_it(option)
            self.assertEqual((status, err), (0, ""))
            self.assertRegex(out, r"^fusion-audit \d+\.\d+\.\d+\n$")


# x * sigmoid(x) is silu(x) and nothing else
SIGMOID = """module {
  func.func @main(%arg0: tensor<96x640xbf16>, %arg1: tensor<32x64xbf16>) -> (tensor<96x640xbf16>, tensor<32x64xbf16>) {
    %0 = "ttnn.sigmoid"(%arg0) : (tensor<96x640xbf16>) -> tensor<96x640xbf16>
    %1 = "ttnn.multiply"(%arg0, %0) : (tensor<96x640xbf16>, tensor<96x640xbf16>) -> tensor<96x640xbf16>
    %2 = "ttnn.sigmoid"(%arg1) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
    %3 = "ttnn.multiply"(%arg1, %2) : (tensor<32x64xbf16>, tensor<32x64xbf16>) -> tensor<32x64xbf16>
    return %1, %3 : tensor<96x640xbf16>, tensor<32x64xbf16>
  }
}
"""
GATED = """name: gated
fused_op: ttnn.gated
source: ttnn
match: out = x * sigmoid(x)
fused: %s
"""


class Proofs(Case):
    def audit(self, fused, *args):
        self.write("g.yml", GATED % fused)
        self.write("s.mlir", SIGMOID)
        return self.run_it("--no-default-patterns", "-P", "g.yml", "--ttnn-only", *args, "s.mlir")

    def test_same_function(self):
        self.assertEqual(self.audit("silu(x)", "-q")[0], 1)
        self.assertEqual(self.read().count("validated: same function (all 2 places)\n"), 1)
        self.assertNotIn("validation:", self.read())

    def test_another_function_is_not_reported(self):
        self.assertEqual(self.audit("relu(x)"), (0, "", ""))
        self.assertFalse(self.there())
        status, _, err = self.audit("relu(x)", "-v")
        self.assertEqual(status, 0)
        for line, name in (4, 0), (6, 1):
            self.assertRegex(err, r"(?m)^s.mlir:%d: ttnn.gated .*: at \[\d+, \d+\] \S+ instead of \S+ \(input %%arg%d = \S+\)$" % (line, name))

    def test_without_proof(self):
        self.assertEqual(self.audit("relu(x)", "-q", "--dry-run"), (0, "", ""))
        self.assertEqual(self.audit("relu(x)", "-q", "--dry-run", "--no-validate")[0], 1)
        self.assertEqual(self.audit("relu(x)", "-q", "--no-validate")[0], 1)
        self.assertNotIn("validated", self.read())

    def test_a_refuted_place_gives_its_ops_back(self):
        self.write("h.yml", GATED.replace("gated", "gate").replace("x * sigmoid(x)", "sigmoid(x)") % "sigmoid(x)")
        for fused, found in ("silu(x)", "ttnn.gated"), ("relu(x)", "ttnn.gate"):
            self.assertEqual(self.audit(fused, "-q", "--min-saving=0us", "-P", "h.yml")[0], 1)
            self.assertEqual(self.read().count("- fused_op: "), 1)
            self.assertIn("- fused_op: %s\n" % found, self.read())

    def test_reason(self):
        self.assertEqual(self.audit("silu(x) * other", "-q")[0], 1)
        self.assertRegex(self.read(), r"(?m)^ +not validated: .+$")

    def test_details(self):
        self.assertEqual(self.audit("silu(x)", "-q", "--details")[0], 1)
        for key in ("verdict: same_function", r"pcc_fused: 0\.9\d+", r"relative_l2_unfused: 0\.0\d+", r"ulp_fused: 0\.\d+"):
            self.assertRegex(self.read(), r"(?m)^      %s$" % key)
        self.assertEqual(self.audit("silu(x) * other", "-q", "--details")[0], 1)
        self.assertRegex(self.read(), r"(?m)^      verdict: not_validated\n      reason: .+$")

    def test_jobs_do_not_change_the_proofs(self):
        for jobs in "1", "2":
            self.assertEqual(self.audit("silu(x)", "-q", "-j", jobs, "-o", jobs)[0], 1)
        self.assertEqual(self.read("1"), self.read("2"))


class BadInput(Case):
    def test_no_such_file(self):
        self.assertRegex(self.unreadable("m.ttir.mlir", "absent"), r"(?m)^absent: error: .*No such file")

    def test_directory_and_empty_file(self):
        os.mkdir(self.path("dir"))
        self.write("empty", "")
        self.assertRegex(self.unreadable("m.ttir.mlir", "dir"), r"(?m)^dir: error: .*directory")
        self.assertRegex(self.unreadable("m.ttir.mlir", "empty"), r"(?m)^empty: error: .*empty")

    def test_no_ir(self):
        self.write("prose", "Nothing to see here.\n")
        self.write("binary", bytes(range(256)) * 64)
        self.assertIn("prose: error: ", self.unreadable("m.ttir.mlir", "prose"))
        self.assertIn("binary: error: ", self.unreadable("m.ttir.mlir", "binary"))

    def test_missing_level(self):
        self.unreadable("m.ttir.mlir")
        self.unreadable("m.ttnn.mlir")
        self.unreadable("--ttnn-only", "m.ttir.mlir")
        self.unreadable("--ttir-only", "m.ttnn.mlir")

    def test_something_skipped_and_nothing_found(self):
        self.write("broken.mlir", BROKEN)
        self.assertRegex(self.unreadable("m.ttir.mlir", "broken.mlir"), r"(?m)^broken\.mlir:7:\d+: error: ")

    def test_something_skipped_and_something_found(self):
        self.write("broken.mlir", ttnn('%9 = "ttnn.add"(%0, <<< : ]', MATMUL, ADD))
        status, out, err = self.run_it("m.ttir.mlir", "broken.mlir")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"(?m)^broken\.mlir:7:\d+: error: ")
        self.assertIn(SUMMARY, err)
        self.assertTrue(self.there())

    def test_nothing_drives_the_terminal(self):
        """Names, locations, texts of patterns: on standard output and standard error, of every command."""
        evil = "\x1b[2J\x01\x7f\x9b\u202e\u2066\u200f\u061c\u2028.".encode() + b"\x9b"
        name = "m%s.mlir" % os.fsdecode(evil)
        self.write(name, MISSED.encode().replace(b"fc1.", evil.replace(b"\x1b", b"")))
        self.write("own.yml", ("define:\n  - {is: 'op mish(x): tanh(x)', source: 'a\u202eb'}\n---\n" +
                               RELU.replace("name: relu", "name: my_relu").replace("maximum(x, 0)\nf", "'\u202ea'\nf")))
        for args in (["-v", "-o", "-", "--ttnn-only", name], ["-v", "-o", "-", name], ["-o", name + "/x", "--ttnn-only", name],
                     ["inspect", name], ["inspect", "--json", name], ["explain", "--ttnn-only", name],
                     ["explain", "--ttnn-only", "--at=%1", "--json", name], ["explain", "--ttnn-only", "--at=%1", name], ["explain", "--ttnn-only", "--at=" + name, name],
                     ["patterns", "list", "-P", "own.yml"], ["patterns", "show", "-P", "own.yml", "my_relu"],
                     ["lower", "-P", "own.yml", "mish"], ["patterns", "new", "--from=" + name, "--ops=%0,%1"],
                     ["patterns", "check", name], ["audit\x1b\u202e", name], ["--jobs=" + name, name]):
            done = subprocess.run([PROGRAM, *args], cwd=self.directory.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=60)
            text = (done.stdout + done.stderr).decode()  # valid UTF-8
            found = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
            self.assertEqual(found, [], (args, text))
            self.assertTrue(text, args)
            if "--json" in args:
                self.assertIn("\u202e", json.dumps(json.loads(done.stdout), ensure_ascii=False))

    def test_file_names_do_not_drive_the_terminal(self):
        err = self.unreadable("\x1b[31m\n")
        self.assertNotIn("\x1b", err)
        self.assertIn("\\x1B[31m\\x0A: error: ", err)

    def test_a_line_that_is_lost_is_never_clean(self):
        self.write("lost.mlir", MISSED.replace("    %s\n" % MATMUL, ""))
        err = self.unreadable("m.ttir.mlir", "lost.mlir")
        self.assertRegex(err, "^lost.mlir:8:21: error: %0 [^\n]*\n$")
        self.write("lost.mlir", TTIR.replace(TTIR.splitlines()[2] + "\n", ""))
        self.assertIn("lost.mlir:3:21: error: %0 ", self.unreadable("lost.mlir", "fused.mlir"))

    def test_all_that_is_wrong_with_names_on_one_long_line(self):
        op = '%%0 = "ttir.exp"(%%u%d) : (tensor<2x3xbf16>) -> tensor<2x3xbf16> '
        text = "module { func.func @main() { %s return } }\n" % "".join(op % i for i in range(20000))
        self.write("long.mlir", text)
        self.assertIn("and 39899 more", self.unreadable("--ttir-only", "long.mlir"))


class Inspect(Case):
    def test_pairs_of_modules(self):
        """Two files of several modules are paired as an audit pairs them: by names, in any order."""
        def named(text, name):
            return re.sub(r"^module", "module @" + name, re.sub(r" loc\(.*?\)|(?m:^#loc.*\n)", "", text), flags=re.M)

        small = [text.replace("<32x", "<16x") for text in (TTIR, MISSED)]
        self.write("ttir.mlir", named(TTIR, "a") + named(small[0], "b"))
        for names, want in (("b", "a"), [2, 1]), (("c", "a"), [1]), (("b", "b"), []):
            self.write("ttnn.mlir", named(small[1], names[0]) + named(MISSED, names[1]))
            for files in ["ttir.mlir", "ttnn.mlir"], ["ttnn.mlir", "ttir.mlir"]:
                status, out, err = self.run_it("inspect", "--json", *files)
                done = json.loads(out)
                self.assertEqual((status, err, sorted(p["graph"] for p in done["pairs"])), (0, "", sorted(want)))
                self.assertTrue(all(p["ttir"] == "ttir.mlir" for p in done["pairs"]), out)
                self.assertEqual([len(f["blocks"]) for f in done["files"]], [2, 2])


class Pairs(Case):
    """TTIR of one model and TTNN of another."""
    other = "^other.mlir:6:3: error: not of one compile: argument 0 of @forward is 16x64, and 32x64 in m.ttir.mlir:2\n  hint: .*--unpaired"

    def other_size(self, text):
        return text.replace("<32x", "<16x")

    def test_two_sizes_of_one_model_are_no_pair(self):
        for text in MISSED, ttnn(LINEAR):
            self.write("other.mlir", self.other_size(text))
            for files in ("m.ttir.mlir", "other.mlir"), ("other.mlir", "m.ttir.mlir"), ("-n", "m.ttir.mlir", "other.mlir"):
                self.assertRegex(self.unreadable(*files), self.other)

    def test_other_names_are_no_pair(self):
        self.write("other.mlir", MISSED.replace('loc("fc1.', 'loc("conv1.'))
        err = self.unreadable("m.ttir.mlir", "other.mlir")
        self.assertIn("other.mlir:1:1: error: not of one compile: ", err)
        self.write("other.mlir", MISSED)
        self.assertEqual(self.run_it("m.ttir.mlir", "other.mlir")[0], 1)

    def test_without_locations(self):
        bare = [re.sub(r" loc\(.*?\)|(?m:^#loc.*\n)", "", text) for text in (TTIR, MISSED)]
        self.write("ttir.mlir", bare[0])
        self.write("ttnn.mlir", bare[1])
        self.assertEqual(self.run_it("ttir.mlir", "ttnn.mlir")[0], 1)
        self.write("ttnn.mlir", bare[1].replace("ttnn.matmul", "ttnn.add").replace("64x128", "1x128"))
        self.assertIn("argument 1 of @forward is 1x128, and 64x128 in", self.unreadable("ttir.mlir", "ttnn.mlir"))

    def test_another_dataflow_without_locations_is_no_pair(self):
        def model(dialect, *ops):
            lines = ['    %%%d = "%s.%s : (%s) -> T\n' % (i, dialect, op, "T, T" if "," in op else "T") for i, op in enumerate(ops)]
            text = "func.func @f(%a: T, %b: T) -> T {\n" + "".join(lines) + "    return %1 : T\n}\n"
            return text.replace("T", "tensor<32x32xbf16>")

        self.write("ttir.mlir", model("ttir", 'matmul"(%a, %b)', 'relu"(%0)'))
        self.write("same.mlir", model("ttnn", 'matmul"(%a, %b)', 'relu"(%0)'))
        self.write("other.mlir", model("ttnn", 'relu"(%a)', 'matmul"(%0, %b)'))
        self.assertEqual(self.run_it("--min-saving=0us", "ttir.mlir", "same.mlir")[0], 1)
        self.assertIn("not of one compile: ", self.unreadable("--min-saving=0us", "ttir.mlir", "other.mlir"))

    def test_modules_of_two_files_are_paired_by_their_names(self):
        def named(text, name):
            return re.sub(r"^module", "module @" + name, text, flags=re.M)

        bare = [re.sub(r" loc\(.*?\)|(?m:^#loc.*\n)", "", text) for text in (TTIR, MISSED)]
        small = [self.other_size(text) for text in bare]
        self.write("ttir.mlir", named(bare[0], "a") + named(small[0], "b"))
        self.write("ttnn.mlir", named(small[1], "b") + named(bare[1], "a"))
        status, _, err = self.run_it("-v", "ttir.mlir", "ttnn.mlir")
        self.assertEqual(status, 1, err)
        self.assertIn("graph 2: ", err)
        self.assertNotIn("warning", err)
        self.write("ttnn.mlir", named(small[1], "c") + named(bare[1], "a"))
        err = self.run_it("-v", "ttnn.mlir", "ttir.mlir")[2]
        self.assertRegex(err, "ttir.mlir:%d: warning: graph 2 .*TTNN" % (bare[0].count("\n") + 1))
        self.assertRegex(err, "warning: graph 3 .*TTIR")
        for names in ("c", "d"), ("a", "a"):
            self.write("ttnn.mlir", named(small[1], names[0]) + named(bare[1], names[1]))
            status, _, err = self.run_it("ttir.mlir", "ttnn.mlir")
            self.assertEqual(status, 2)

    def test_a_log_of_which_some_graphs_have_both_levels(self):
        named = [TTIR.replace("module", "module @m%d" % i) for i in range(3)]
        self.write("a.log", log(TTIR, ttnn(LINEAR), *named))
        status, _, err = self.run_it("a.log")
        self.assertEqual(status, 0, "what has both is audited")
        self.assertEqual(err.count("warning: "), 1, err)
        self.assertRegex(err, "warning: graph 2 and 2 others of 4 .*TTNN")
        small = [self.other_size(text).replace("module", "module @small") for text in (TTIR, MISSED)]
        self.write("a.log", log(named[0], TTIR, MISSED, named[1], *small))
        self.assertEqual(re.findall("(?m)^ *graph: (.*)$", self.run_it("-o", "-", "a.log")[1]), ["2 of 4", "4 of 4"])
        self.write("a.log", log(named[0], TTIR, MISSED))
        self.assertNotIn("graph: ", self.run_it("-o", "-", "a.log")[1])
        self.write("a.log", log(*named))
        self.assertIn("TTNN", self.unreadable("a.log"))

    def test_all_ops_are_those_of_graphs_without_findings_too(self):
        nothing = [self.other_size(text).replace("module", "module @small") for text in (TTIR, ttnn(LINEAR))]
        self.write("a.log", log(TTIR, MISSED, *nothing))
        self.write("b.log", log(TTIR, MISSED))
        said = [re.search(r"about (.*) to save", self.run_it("-o", "o.yml", *args)[2]).group(1)
                for args in (("a.log",), ("--time", "a.log"), ("b.log",))]
        self.assertEqual(said[0], said[1])
        self.assertNotEqual(said[0], said[2])
        self.write("a.log", log(TTIR, ttnn(LINEAR), *nothing))
        self.assertEqual(self.run_it("a.log"), (0, "", ""))

    def test_pointer_of_git_lfs(self):
        """https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"""
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12\n" % (64 * "0")
        self.write("m.mlir", pointer)
        self.assertIn("m.mlir: error: is a pointer of git-lfs", self.unreadable("m.mlir"))
        self.write("m.mlir", "see " + pointer)
        self.unreadable("m.mlir")

    def test_what_else_is_given(self):
        for data, what, command in ((b"ML\xefR\rMLIR22.1.8\0\1S", "is MLIR bytecode, not text", "ttmlir-opt m.mlirbc -o m.mlir"),
                                    (b"\x10\0\0\0\x0c\0\0\0TTNN\0\0", "is a flatbuffer", "--ttir-to-ttnn-backend-pipeline"),
                                    (b"\x10\0\0\0TTM0\0\0", "is a flatbuffer", "ttrt read --section mlir")):
            self.write("m.ttnn", data)
            err = self.unreadable("m.ttnn")
            self.assertIn("m.ttnn: error: " + what, err)
            self.assertIn("m.ttnn: error: " + what, self.run_it("inspect", "m.ttnn")[1])
            self.assertIn(command, err)
        for other in b"TTNN", b"\x10\0\0\0\0TTNN", b" ML\xefR", b"TT":
            self.write("m.ttnn", other)
            self.assertNotIn("flatbuffer", self.unreadable("m.ttnn"))
        self.write("m.ttnn", b"\x10\0\0\0\x0c\0\0\0TTNN\0\0" + MISSED.encode() + b"\0\0")
        self.found(self.run_it("--ttnn-only", "m.ttnn"))

    def test_stablehlo_alone(self):
        self.write("m.mlir", 'module {\n  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n'
                             '    %0 = stablehlo.add %a, %a : tensor<4xf32>\n    return %0 : tensor<4xf32>\n  }\n}\n')
        err = self.unreadable("m.mlir")
        self.assertIn("m.mlir: error: is StableHLO", err)
        self.assertIn("--stablehlo-to-ttir-pipeline", err)
        self.assertEqual(self.run_it("patterns", "new", "--from=m.mlir", "--ops=%0"), (3, "", err))
        status, out, _ = self.run_it("inspect", "m.mlir")
        self.assertEqual(status, 0)
        said = json.loads(self.run_it("inspect", "--json", "m.mlir")[1])
        self.assertEqual(said["files"][0]["blocks"][0]["module"]["level"], "other")
        self.write("m.mlir", 'module {\n  func.func @f(%a: tensor<4xf32>) {\n    return\n  }\n}\n')
        self.assertNotIn("StableHLO", self.unreadable("m.mlir"))

    def test_who_does_not_ask_is_not_told(self):
        self.write("other.mlir", self.other_size(MISSED))
        for option in "--unpaired", "--ttnn-only":
            self.found(self.run_it(option, "m.ttir.mlir", "other.mlir"))
            self.assertIn("ttnn_segment:", self.read())
            self.assertNotIn("ttir_segment:", self.read())
        self.run_it("--unpaired", "m.ttir.mlir", "m.ttnn.mlir")
        self.assertIn("ttir_segment:", self.read(), "where an origin is known")

    def test_explain_and_inspect_say_the_same(self):
        self.write("other.mlir", self.other_size(MISSED))
        status, out, err = self.run_it("explain", "m.ttir.mlir", "other.mlir")
        self.assertEqual((status, out), (3, ""))
        self.assertRegex(err, self.other)
        status, out, _ = self.run_it("inspect", "m.ttir.mlir", "other.mlir")
        self.assertEqual(status, 3)
        self.assertIn(err.splitlines()[0], out)
        self.write("renamed.mlir", MISSED.replace('loc("fc1.', 'loc("conv1.'))
        for command in "explain", "inspect":
            self.assertEqual(self.run_it(command, "--unpaired", "m.ttir.mlir", "other.mlir")[0], 0)
            self.assertEqual(self.run_it(command, "m.ttir.mlir", "m.ttnn.mlir")[0], 0)
            self.assertIn("not of one compile", "".join(self.run_it(command, "m.ttir.mlir", "renamed.mlir")[1:]))
        self.write("a.log", "".join("MLIR Module %s:\n%s" % m for m in (("ttir", TTIR), ("ttnn", MISSED), ("ttir", TTIR),
                                                                        ("ttnn", self.other_size(MISSED)))))
        status, out, err = self.run_it("explain", "--only=linear", "--at=fc1.add", "a.log")
        self.assertEqual(status, 3)
        self.assertIn("matched: linear", out)
        self.assertIn("graph 2: not of one compile", err)
        self.assertIn("graph 2: not of one compile", self.run_it("inspect", "a.log")[1])

    def test_one_graph_of_a_log_is_no_pair(self):
        wrong = self.other_size(MISSED)
        self.write("a.log", log(TTIR, MISSED, TTIR, wrong))
        status, out, err = self.run_it("a.log")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"^a\.log:\d+:3: error: graph 2: not of one compile: .*\n  hint: .*\n" + re.escape(SUMMARY))
        self.write("a.log", log(TTIR, wrong, TTIR, ttnn(LINEAR)))
        self.assertIn("error: graph 1: not of one compile: ", self.unreadable("a.log"))
        self.write("a.log", log(TTIR, wrong))
        self.assertIn("error: not of one compile: ", self.unreadable("a.log"))


class Try(Case):
    """Beside a stand-in for the compiler, which prints one of two modules by whether fusing is on."""
    STAND_IN = """#!/bin/sh
echo "x: warning: compiling" >&2
case "$1" in
*enable-fusing-pass=true*) %s cat fused.mlir ;;
*) %s cat m.ttnn.mlir ;;
esac
"""

    def compiler(self, fused="", plain=""):
        self.write("compiler", self.STAND_IN % (fused, plain))
        os.chmod(self.path("compiler"), 0o755)

    def try_it(self, *args):
        before = sorted(os.listdir(self.directory.name))
        status, out, err = self.run_it("try", "--compiler=./compiler", *args, "m.ttir.mlir")
        if not any(a.startswith("--output-dir") for a in args):
            self.assertEqual(sorted(os.listdir(self.directory.name)), before)
        return status, out, err

    def rows(self, out):
        return re.findall(r"^ \d +(\S+ us) +(\S+ us|fails) +(\d*) +(\S.*)\n(?: {28}(.*)\n)?", out, re.M)

    def test_table(self):
        self.compiler()
        status, out, err = self.try_it("--pipeline=a=1")
        self.assertEqual((status, err), (0, ""))
        (t0, before, n0, plain, _), (t1, after, n1, fused, _) = self.rows(out)
        self.assertEqual((t0, n0, plain), (before, "1", "as it is"))
        self.assertEqual((t1, n1, fused), (before, "0", "enable-fusing-pass=true"))
        self.assertLess(float(after.split()[0]), float(before.split()[0]))
        best = out.splitlines()[-1].strip()
        self.assertEqual(best, "./compiler '--ttir-to-ttnn-backend-pipeline=a=1 enable-fusing-pass=true' "
                               "--mlir-print-debuginfo m.ttir.mlir -o m.ttnn.mlir")
        done = subprocess.run(["sh", "-c", best], cwd=self.directory.name, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, FUSED)
        self.assertNotIn("nothing helped", out)

    def test_nothing_helped(self):
        """Where the option changes nothing, and where the compile with it fails."""
        for instead in "cat m.ttnn.mlir; exit;", "exit 1;":
            self.compiler(fused=instead)
            self.assertTrue(self.try_it()[1].endswith("\nnothing helped\n"))

    def test_pipelines(self):
        self.compiler()
        for given, want in (("", "--ttir-to-ttnn-backend-pipeline=enable-fusing-pass=true"),
                            ("--pipeline=--my-pipe", "--my-pipe=enable-fusing-pass=true"),
                            ("--pipeline=--my-pipe=b=2", "'--my-pipe=b=2 enable-fusing-pass=true'"),
                            ("--pipeline=enable-fusing-pass=false", "--ttir-to-ttnn-backend-pipeline=enable-fusing-pass=true"),
                            ("--pipeline= enable-fusing-pass  x={a enable-fusing-pass=false}  b=2",
                             "'--ttir-to-ttnn-backend-pipeline=enable-fusing-pass x={a enable-fusing-pass=false} b=2 "
                             "enable-fusing-pass=true'"),
                            ("--pipeline=a-enable-fusing-pass=false --enable-fusing-pass-too=false",
                             "'--ttir-to-ttnn-backend-pipeline=a-enable-fusing-pass=false --enable-fusing-pass-too=false "
                             "enable-fusing-pass=true'")):
            out = self.try_it(*filter(None, [given]))[1]
            self.assertIn("./compiler %s --mlir" % want, out)

    def test_an_option_fails(self):
        self.compiler("echo 'm.mlir:3: error: cannot legalize' >&2; echo more >&2; exit 1;")
        status, out, _ = self.try_it()
        self.assertEqual((status, self.rows(out)[1][1:]), (0, ("fails", "", "enable-fusing-pass=true", "cannot legalize")))
        self.assertTrue(out.endswith("\nnothing helped\n"), out)
        self.compiler("echo module;")
        self.assertEqual(self.rows(self.try_it()[1])[1][1], "fails")

    def test_an_option_takes_too_long(self):
        self.compiler("sleep 57.125 & echo $! > child; wait;")
        status, out, _ = self.run_it("try", "--compiler=./compiler", "--seconds=1", "m.ttir.mlir")[:3]
        self.assertEqual((status, self.rows(out)[1][1]), (0, "fails"))
        child = self.read("child").strip()
        self.assertTrue(any(self.is_dead(child) for _ in range(100)))

    @staticmethod
    def is_dead(child):
        """What was killed dies when it is its turn."""
        try:
            with open("/proc/%s/stat" % child, encoding="utf-8") as file:
                dead = file.read().split()[2] == "Z"
        except FileNotFoundError:
            dead = True
        if not dead:
            time.sleep(0.1)
        return dead

    def test_as_it_is_fails(self):
        crash = "echo 'PLEASE submit a bug report to x' >&2; echo 'Stack dump:' >&2; kill -ABRT $$;"
        for plain, reason in (("echo 'no such option foo' >&2; exit 1;", "no such option foo"), (crash, "crashes: .*--output-dir"),
                              ("echo 'x.cpp:3: Assertion failed' >&2; " + crash, "x.cpp:3: Assertion failed")):
            self.compiler(plain=plain)
            status, out, err = self.try_it()
            self.assertEqual((status, out), (3, ""))
            self.assertRegex(err, "^fusion-audit: error: m.ttir.mlir as it is: .*" + reason)
        os.remove(self.path("compiler"))
        self.assertIn("./compiler: No such file", self.try_it()[2])

    def test_other_inputs(self):
        """What the compiler says of them is of no use."""
        self.compiler(plain="echo 'error: dialect not found' >&2; exit 1;")
        self.write("m.ttir.mlir", 'module {\n  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n'
                                  '    %0 = stablehlo.add %a, %a : tensor<4xf32>\n    return %0 : tensor<4xf32>\n  }\n}\n')
        status, out, err = self.try_it()
        self.assertEqual((status, out), (3, ""))
        self.assertIn("--stablehlo-to-ttir-pipeline", err)

    def test_kept(self):
        self.compiler()
        self.try_it("--output-dir=kept/here")
        self.assertEqual(sorted(os.listdir(self.path("kept/here"))), ["0.log", "0.ttnn.mlir", "1.log", "1.ttnn.mlir"])
        self.assertEqual(self.read("kept/here/1.ttnn.mlir"), FUSED)
        self.assertEqual(self.read("kept/here/0.log"), "x: warning: compiling\n")

    def test_wrong_usage(self):
        self.wrong("--compiler", "try", "m.ttir.mlir")
        self.wrong("file", "try", "--compiler=x", "-")
        self.wrong("one model", "try", "--compiler=x", "m.ttir.mlir", "m.ttnn.mlir")


if __name__ == "__main__":
    unittest.main()
