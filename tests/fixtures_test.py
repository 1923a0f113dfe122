#!/usr/bin/env python3
"""The fixtures, each with the exact report expected of it, byte for byte.

usage: fixtures_test.py PROGRAM FIXTURES [--update] [unittest arguments]
Runs in FIXTURES, so that reports name their inputs the same everywhere. --update writes the expected files anew:
read the difference before it is committed.

fixtures/dit*: one DiT block, as a pair and as a log; in dit_fused nothing is missed that TTNN has an op for.
fixtures/near/NAME.LEVEL.mlir: what looks like a missed fusion, audited at that level alone. Its first lines say why
it is none, or how much of it is one; fixtures/expected/near/NAME.yml is there in the second case only.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from load_yaml import load_yaml
from schemas import hold

PROGRAM, FIXTURES = (os.path.abspath(a) for a in sys.argv[1:3])
UPDATE = "--update" in sys.argv
del sys.argv[1:3]
sys.argv = [a for a in sys.argv if a != "--update"]

PAIR = ("dit.ttir.mlir", "dit.ttnn.mlir")
REPORTS = {
    "dit.yml": PAIR,
    "dit.log.yml": ("dit.log",),
    "dit.ttir-only.yml": ("--ttir-only", PAIR[0]),
    "dit.ttnn-only.yml": ("--ttnn-only", PAIR[1]),
    "dit_fused.yml": ("--source=torch,triton,cuda", "dit_fused.ttir.mlir", "dit_fused.ttnn.mlir"),
}
UNFUSED = r".*: note: no op of it is fused: fusing seems to be off\n"   # said of the unfused modules, and of no others
DIRECT = "--source=ttnn:dialect"  # no kernels of other ecosystems, and none that only the library has
SILENT = [
    (DIRECT, "dit_fused.ttir.mlir", "dit_fused.ttnn.mlir"),
    (DIRECT, "dit_fused.ttnn.mlir", "dit_fused.ttir.mlir"),
    (DIRECT, "dit_fused.log"),
    (DIRECT, "--ttnn-only", "dit_fused.ttnn.mlir"),
    (DIRECT, "--ttnn-only", "dit_fused.log"),
]
PLACES = {"ttnn.concatenate_heads": 2, "ttnn.linear": 6, "ttnn.layer_norm": 2, "ttnn.scaled_dot_product_attention": 2,
          "ttnn.split_query_key_value_and_split_heads": 1}
ONLY_IN_TTIR = {"ttnn.silu": 1, "ttnn.concatenate_heads": 2}  # which the compiler fuses


def text_of(path):
    with open(os.path.join(FIXTURES, path), newline="") as f:
        return f.read()


def compare(test, path, got):
    """Compares with the expected file, or writes it under --update."""
    if UPDATE:
        os.makedirs(os.path.dirname(os.path.join(FIXTURES, path)), exist_ok=True)
        with open(os.path.join(FIXTURES, path), "w", newline="") as f:
            f.write(got)
        return
    test.maxDiff = None
    test.assertEqual(got, text_of(path), "not as in fixtures/" + path)


class Case(unittest.TestCase):
    def run_it(self, *args, **more):
        done = subprocess.run([PROGRAM, *args], cwd=FIXTURES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              **more)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def audit(self, *args, **more):
        """The report as text, None when there is none; nothing else may be printed."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "todo.yml")
            status, out, err = self.run_it("-q", "-o", path, *args, **more)
            self.assertEqual((out, re.sub(UNFUSED, "", err)), ("", ""), args)
            self.assertEqual(os.listdir(directory), ["todo.yml"] if status == 1 else [], args)
            self.assertIn(status, (0, 1), args)
            if status == 0:
                return None
            with open(path, newline="") as f:
                return f.read()

    def missed(self, *args, **more):
        """What is missed, as a YAML reader sees it."""
        report = self.audit(*args, **more)
        return load_yaml(report)["missed_fusions"] if report else []


class Reports(Case):
    def test_expected(self):
        for name, args in REPORTS.items():
            with self.subTest(report=name):
                compare(self, "expected/" + name, self.audit(*args))

    def test_silent(self):
        for args in SILENT:
            with self.subTest(args=args), tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "todo.yml")
                self.assertEqual(self.run_it("-o", path, *args), (0, "", ""))
                self.assertEqual(os.listdir(directory), [])

    def test_every_expected_file_is_used(self):
        there = {os.path.relpath(p, os.path.join(FIXTURES, "expected"))
                 for p in glob.glob(os.path.join(FIXTURES, "expected", "**", "*.yml"), recursive=True)}
        near = {"near/%s.yml" % os.path.basename(p).split(".")[0] for p in glob.glob(os.path.join(FIXTURES, "near", "*"))}
        self.assertLessEqual(there, near | set(REPORTS))

    def test_all_families(self):
        for args in (PAIR, ("dit.log",), ("--ttnn-only", PAIR[1]), ("--ttir-only", PAIR[0])):
            places = {}
            for entry in self.missed(DIRECT, *args):
                places[entry["fused_op"]] = places.get(entry["fused_op"], 0) + len(entry["instances"])
            self.assertEqual(places, dict(PLACES, **ONLY_IN_TTIR) if "--ttir-only" in args else PLACES, args)

    def test_same_from_pair_and_log(self):
        self.assertEqual(unversioned(self.missed(*PAIR)), unversioned(self.missed("dit.log")))

    def test_same_in_other_order(self):
        self.assertEqual(self.audit(*PAIR), self.audit(*reversed(PAIR)))

    def test_same_twice(self):
        for args in (PAIR, ("dit.log",)):
            self.assertEqual(self.audit(*args), self.audit(*args))

    def test_standard_input(self):
        log, pair = text_of("dit.log").encode(), text_of(PAIR[1]).encode()
        self.assertEqual(self.missed("-", input=log), self.missed("dit.log"))
        self.assertEqual(self.missed(PAIR[0], "-", input=pair), self.missed(*PAIR))
        report = load_yaml(self.audit("-", input=log))
        self.assertEqual(report["input"], {"ttir": "-", "ttnn": "-"})

    def test_one_level_of_a_log(self):
        self.assertEqual(unversioned(self.missed("--ttnn-only", "dit.log")), unversioned(self.missed("--ttnn-only", PAIR[1])))
        self.assertEqual(unversioned(self.missed("--ttir-only", "dit.log")), unversioned(self.missed("--ttir-only", PAIR[0])))

    def test_only_and_skip(self):
        whole = unversioned(self.missed(DIRECT, *PAIR))
        linear = [e for e in whole if e["fused_op"] == "ttnn.linear"]
        norms = [e for e in whole if e["fused_op"] == "ttnn.layer_norm"]
        others = [e for e in whole if e["fused_op"] != "ttnn.linear"]
        self.assertEqual(unversioned(self.missed("--only=ttnn.linear", *PAIR)), linear)
        self.assertEqual(unversioned(self.missed("--only=ttnn.*_norm", *PAIR)), norms)
        self.assertEqual(unversioned(self.missed(DIRECT, "--skip=linear*", *PAIR)), others)
        self.assertEqual(unversioned(self.missed(DIRECT, "--skip=theory_*", *PAIR)), whole)
        self.assertEqual(unversioned(self.missed(DIRECT, "--only=ttnn.*", "--skip=linear*,*attention*,*_heads", *PAIR)), norms)


def unversioned(entries):
    """Without what depends on other entries or on what stands around the modules: which place names the version of the
    compiler, what an option also brings, whether a log shows that a pass ran."""
    for instance in (i for e in entries for i in e["instances"]):
        instance["notes"] = re.sub("(compiler version|compiler|action|all ops): .*\n", "", instance["notes"])
    return entries


class Segments(Case):
    """What a pass author pastes into a matcher's test."""

    def places(self, *args):
        for entry in self.missed(*args):
            for place in entry["instances"]:
                yield entry, place

    def check_verbatim(self, segment, text, dialect):
        at = 0
        for line in segment.splitlines():
            self.assertRegex(line, r'^%\d+ = "' + dialect + r"\.")
            at = text.index(line, at) + len(line)  # there, and in the order of the input
        self.assertNotIn("deallocate", segment)

    def test_verbatim(self):
        for args, ttir, ttnn in ((PAIR, *PAIR), (("dit.log",), "dit.log", "dit.log")):
            for entry, place in self.places(*args):
                with self.subTest(ops=entry["component_ops"], loc=place["ir_loc"]):
                    self.check_verbatim(place["ttir_segment"], text_of(ttir), "ttir")
                    self.check_verbatim(place["ttnn_segment"], text_of(ttnn), "ttnn")

    def test_agree_with_the_entry(self):
        for entry, place in self.places(*PAIR):
            lines = place["ttnn_segment"].splitlines()
            ops = sorted(line.split('"')[1] for line in lines)
            for op in entry["component_ops"]:
                ops.remove(op)  # what is left was looked through
            self.assertLessEqual(set(ops), {"ttnn.reshape", "ttnn.permute", "ttnn.typecast"})
            locations = [line[line.rindex("loc(") + 4:-1] for line in lines]
            shown = place["ir_loc"].split(", ")
            self.assertEqual(shown, [l for l in locations if l in shown])

    def test_missing_level_is_left_out(self):
        for _, place in self.places("--ttir-only", PAIR[0]):
            self.assertEqual(list(place), ["ir_loc", "ttir_segment", "notes"])
        for _, place in self.places("--ttnn-only", PAIR[1]):
            self.assertEqual(list(place), ["ir_loc", "ttnn_segment", "notes"])

    def test_notes(self):
        for _, place in self.places(*PAIR):
            self.assertRegex(place["notes"], r"\nmodel location: (.*, )?layer 3 \((fed by )?dit\.blocks\.3[.:]")
            self.assertIn("\nsource torch ops: ", place["notes"])


class Near(Case):
    def test_near(self):
        files = sorted(glob.glob(os.path.join(FIXTURES, "near", "*.mlir")))
        self.assertGreater(len(files), sum(PLACES.values()))
        for path in files:
            name, level, _ = os.path.basename(path).split(".")
            report = "expected/near/%s.yml" % name
            with self.subTest(fixture=name):
                got = self.audit(DIRECT, "--%s-only" % level, "near/" + os.path.basename(path))
                silent = "\n// Expected: nothing.\n" in text_of("near/" + os.path.basename(path))
                self.assertEqual(got is None, silent, got)
                if not silent:
                    compare(self, report, got)
                else:
                    self.assertFalse(os.path.exists(os.path.join(FIXTURES, report)))


class Said(Case):
    """What is printed beside the report."""

    def said(self, *args):
        with tempfile.TemporaryDirectory() as directory:
            status, out, err = self.run_it("-v", "-o", os.path.join(directory, "r"), *args, *PAIR)
            self.assertEqual((status, out), (1, ""))
            return " ".join(err.split())  # lines end where the path of the report lets them

    def test_the_device_that_was_asked_for(self):
        self.assertRegex(self.said(), r"save \(blackhole\)")
        self.assertRegex(self.said("--device=p150"), r"to save \(p150\) ")

    def test_what_is_paired_and_saved(self):
        found = json.loads(self.run_it("inspect", "--json", *PAIR)[1])["pairs"][0]
        self.assertGreater(found["by_dataflow"], 0)
        self.assertIn("; all %d TTNN ops paired; " % (found["by_location"] + found["by_dataflow"]), self.said())
        saved = r"; about (\d+) of \d+ us to save .*kernels to request \(1 place, \1 us\)"
        self.assertRegex(self.said("--only=triton.flash_attn.layer_norm_fn"), saved)


class Inspect(Case):
    def json_of(self, *args, status=0, **more):
        got, out, err = self.run_it("inspect", "--json", *args, **more)
        self.assertEqual((got, err), (status, ""), args)
        found = json.loads(out)
        hold(found, "inspect")
        self.assertEqual(found["status"], status)
        return found

    def modules(self, found):
        return [b["module"] for f in found["files"] for b in f["blocks"] if b["module"]]

    def check_totals(self, module):
        parts = module["functions"] + [module["outside"]]
        for key in ("ops", "edges"):
            self.assertEqual(module[key], sum(p[key] for p in parts), key)
        self.assertEqual(module["values"], sum(p["values"] for p in parts) + module["undefined_values"])
        for part in parts:
            self.assertEqual(part["ops"], sum(c["count"] for c in part["op_counts"]))

    def check_understood(self, module):
        for key in ("skipped_ops", "undefined_values", "custom_ops", "unresolved_alias_uses"):
            self.assertEqual(module[key], 0, key)
        self.assertEqual((module["unknown_ops"], module["unresolved_aliases"]), ([], []))

    def test_text(self):
        for name, args in (("dit.inspect.txt", ("dit.log",)), ("dit.pair.inspect.txt", PAIR)):
            status, out, err = self.run_it("inspect", *args)
            self.assertEqual((status, err), (0, ""))
            compare(self, "expected/" + name, out)

    def test_fixtures_are_understood(self):
        files = [os.path.relpath(p, FIXTURES) for p in glob.glob(os.path.join(FIXTURES, "near", "*.mlir"))]
        found = self.json_of("dit.log", "dit_fused.log", *PAIR, *files)
        self.assertEqual(found["diagnostics"], [])
        self.assertEqual(len(self.modules(found)), 6 + len(files))
        for module in self.modules(found):
            self.check_totals(module)
            self.check_understood(module)

    def test_blocks_of_a_log(self):
        log, = self.json_of("dit.log")["files"]
        self.assertEqual((log["path"], log["readable"], log["log"], log["graphs"]), ("dit.log", True, True, 1))
        self.assertEqual([b["label"] for b in log["blocks"]],
                         ["vhlo", "shlo", "shlo_frontend", "shlo_compiler", "shlo_set_mesh_attr",
                          "shlo_compiler_cleaned", "ttir", "ttnn", "ttnn_runtime"])
        self.assertEqual([b["label"] for b in log["blocks"] if b["chosen"]], ["ttir", "ttnn"])
        self.assertEqual([b["dropped_lines"] for b in log["blocks"]], [0, 0, 0, 0, 0, 0, 0, 1, 0])
        lines = text_of("dit.log").splitlines()
        for b in log["blocks"]:
            self.assertTrue(b["complete"])
            self.assertTrue(lines[b["first_line"] - 2].endswith("MLIR Module %s:" % b["label"]))
            self.assertIn("END OF MLIR MODULE", lines[b["last_line"]])
            self.assertEqual(b["module"] is not None, b["chosen"])

    def test_counts(self):
        ttir, ttnn = self.modules(self.json_of(*PAIR))
        self.assertEqual((ttir["level"], ttnn["level"]), ("ttir", "ttnn"))
        for module, path in ((ttir, PAIR[0]), (ttnn, PAIR[1])):
            for name in set(re.findall(r'= "(tt\w+\.\w+)"', text_of(path))):
                counted = [c for f in module["functions"] for c in f["op_counts"] if c["name"] == name]
                self.assertEqual(sum(c["count"] for c in counted), text_of(path).count('"%s"' % name), name)
                self.assertTrue(all(c["operator"] for c in counted), name)
        kinds = [f["kind"] for f in ttnn["functions"]]
        self.assertEqual((kinds.count("main"), kinds.count("const-eval")), (1, text_of(PAIR[1]).count("load_cached(")))

    def test_pairs(self):
        for args in (PAIR, tuple(reversed(PAIR)), ("dit.log",)):
            pair, = self.json_of(*args)["pairs"]
            self.assertEqual((pair["ttir"], pair["ttnn"]), PAIR if len(args) == 2 else ("dit.log", "dit.log"))
            self.assertGreater(pair["by_location"], 35)
            self.assertEqual(pair["not_paired"], 0)
        self.assertEqual(self.json_of(PAIR[0])["pairs"], [])
        self.assertEqual(self.json_of(PAIR[0], "dit_fused.ttir.mlir")["pairs"], [])

    def test_trouble(self):
        whole = text_of(PAIR[1])
        found = self.json_of("-", input=whole[:whole.index('"ttnn.softmax"')].encode(), status=3)
        self.assertFalse(found["files"][0]["blocks"][0]["complete"])
        self.check_totals(found["files"][0]["blocks"][0]["module"])
        found = self.json_of("absent", PAIR[0], status=3)
        self.assertEqual([f["readable"] for f in found["files"]], [False, True])
        self.assertEqual([d["file"] for d in found["diagnostics"]], ["absent"])
        self.assertEqual(len(self.modules(found)), 1)
        found = self.json_of("-", input=b"no IR\n", status=3)
        self.assertEqual(found["diagnostics"][0]["message"], "has no IR in it")

    def test_unresolved(self):
        cut = "".join(l for l in text_of(PAIR[1]).splitlines(True) if not re.match("#loc2?[34] =", l))
        module, = self.modules(self.json_of("-", input=cut.encode()))
        self.assertEqual(module["unresolved_aliases"], ["#loc3", "#loc4", "#loc23", "#loc24"])
        self.assertEqual(module["unresolved_alias_uses"], len(re.findall(r"loc\(#loc2?[34]\)", cut)))

    def test_unknown(self):
        strange = text_of(PAIR[1]).replace('"ttnn.gelu"', '"ttnn.glu"')
        module, = self.modules(self.json_of("-", input=strange.encode()))
        self.assertEqual(module["unknown_ops"], [{"name": "ttnn.glu", "operator": None, "count": 1}])
        self.check_totals(module)
        _, out, _ = self.run_it("inspect", "-", input=strange.encode())
        self.assertIn("    not in the operator table: 1 ttnn.glu\n", out)
        early = b'%a = "ttir.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n'
        module, = self.modules(self.json_of("-", input=early, status=3))
        self.assertEqual(module["unknown_ops"], [])  # of the table, but used in a wrong way

    def test_text_of_others_is_made_harmless(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a\x1b[31m\xff.mlir".encode("latin-1").decode("utf-8", "surrogateescape"))
            with open(path, "w") as f:
                f.write(text_of(PAIR[0]))
            done = subprocess.run([PROGRAM, "inspect", path], stdout=subprocess.PIPE, timeout=60)
            self.assertIn(b"/a\\x1B[31m", done.stdout)
            self.assertNotIn(b"\x1b", done.stdout)
            done = subprocess.run([PROGRAM, "inspect", "--json", path], stdout=subprocess.PIPE, timeout=60)
            self.assertTrue(json.loads(done.stdout.decode())["files"][0]["path"].endswith("/a\x1b[31m\ufffd.mlir"))


if __name__ == "__main__":
    unittest.main()
