#!/usr/bin/env python3
"""The fixtures, each with the exact report expected of it, byte for byte.

usage: fixtures_test.py PROGRAM FIXTURES [--update] [unittest arguments]
Runs in FIXTURES, so that reports name their inputs the same everywhere. --update writes the expected files anew:
read the difference before it is committed.

fixtures/dit*: one DiT block, as a pair and as a log; in dit_fused nothing is missed.
fixtures/near/NAME.LEVEL.mlir: what looks like a missed fusion, audited at that level alone. Its first lines say why
it is none, or how much of it is one; fixtures/expected/near/NAME.yml is there in the second case only.
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

import yaml

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
}
SILENT = [
    ("dit_fused.ttir.mlir", "dit_fused.ttnn.mlir"),
    ("dit_fused.ttnn.mlir", "dit_fused.ttir.mlir"),
    ("dit_fused.log",),
    ("--ttnn-only", "dit_fused.ttnn.mlir"),
    ("--ttnn-only", "dit_fused.log"),
]
PLACES = {"ttnn.linear": 6, "ttnn.layer_norm": 2, "ttnn.scaled_dot_product_attention": 2}


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
            self.assertEqual((out, err), ("", ""), args)
            self.assertEqual(os.listdir(directory), ["todo.yml"] if status == 1 else [], args)
            self.assertIn(status, (0, 1), args)
            if status == 0:
                return None
            with open(path, newline="") as f:
                return f.read()

    def missed(self, *args, **more):
        """What is missed, as a YAML reader sees it."""
        report = self.audit(*args, **more)
        return yaml.safe_load(report)["missed_fusions"] if report else []


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
            for entry in self.missed(*args):
                places[entry["fused_op"]] = places.get(entry["fused_op"], 0) + len(entry["instances"])
            self.assertEqual(places, PLACES, args)

    def test_same_from_pair_and_log(self):
        self.assertEqual(self.missed(*PAIR), self.missed("dit.log"))

    def test_same_in_other_order(self):
        self.assertEqual(self.audit(*PAIR), self.audit(*reversed(PAIR)))

    def test_same_twice(self):
        for args in (PAIR, ("dit.log",)):
            self.assertEqual(self.audit(*args), self.audit(*args))

    def test_standard_input(self):
        log, pair = text_of("dit.log").encode(), text_of(PAIR[1]).encode()
        self.assertEqual(self.missed("-", input=log), self.missed("dit.log"))
        self.assertEqual(self.missed(PAIR[0], "-", input=pair), self.missed(*PAIR))
        report = yaml.safe_load(self.audit("-", input=log))
        self.assertEqual(report["input"], {"ttir": "-", "ttnn": "-"})

    def test_one_level_of_a_log(self):
        self.assertEqual(self.missed("--ttnn-only", "dit.log"), self.missed("--ttnn-only", PAIR[1]))
        self.assertEqual(self.missed("--ttir-only", "dit.log"), self.missed("--ttir-only", PAIR[0]))

    def test_only_and_skip(self):
        whole = self.missed(*PAIR)
        linear = [e for e in whole if e["fused_op"] == "ttnn.linear"]
        norms = [e for e in whole if e["fused_op"] == "ttnn.layer_norm"]
        others = [e for e in whole if e["fused_op"] != "ttnn.linear"]
        self.assertEqual(self.missed("--only=ttnn.linear", *PAIR), linear)
        self.assertEqual(self.missed("--only=*layer_norm", *PAIR), norms)
        self.assertEqual(self.missed("--skip=linear", *PAIR), others)
        self.assertEqual(self.missed("--only=ttnn.*", "--skip=linear,*attention*", *PAIR), norms)


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
            self.assertIn("\nmodel location: layer 3, dit.blocks.3.", place["notes"])
            self.assertIn("\nsource torch ops: ", place["notes"])


class Near(Case):
    def test_near(self):
        files = sorted(glob.glob(os.path.join(FIXTURES, "near", "*.mlir")))
        self.assertGreater(len(files), sum(PLACES.values()))
        for path in files:
            name, level, _ = os.path.basename(path).split(".")
            report = "expected/near/%s.yml" % name
            with self.subTest(fixture=name):
                got = self.audit("--%s-only" % level, "near/" + os.path.basename(path))
                silent = "\n// Expected: nothing.\n" in text_of("near/" + os.path.basename(path))
                self.assertEqual(got is None, silent, got)
                if not silent:
                    compare(self, report, got)
                else:
                    self.assertFalse(os.path.exists(os.path.join(FIXTURES, report)))


if __name__ == "__main__":
    unittest.main()
