#!/usr/bin/env python3
"""One meaning of what is saved: headline, rows, options, entries, places and the table over reports add up, no op counts
twice; and a report has the keys of its schema and no others, and says once what holds for all of an entry.

usage: adds_up_test.py PROGRAM FIXTURES CORPUS
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

PROGRAM, FIXTURES, CORPUS = map(os.path.abspath, sys.argv[1:4])
del sys.argv[1:4]
UNITS = {"us": 1, "ms": 1e3, "s": 1e6}
MODELS = os.path.join(CORPUS, "models", "")
PAIRS = [(os.path.join(FIXTURES, n + ".ttir.mlir"), os.path.join(FIXTURES, n + ".ttnn.mlir")) for n in ("dit", "dit_fused")]
PAIRS += [(ttnn[:-len(kind)] + ".ttir.mlir", ttnn) for kind in (".ttnn.mlir", ".ttnn-unfused.mlir")
          for ttnn in sorted(glob.glob(MODELS + "*" + kind))]
KEYS = [{"input", "missed_fusions"}, {"fused_op", "source", "component_ops", "instances"},
        {"ir_loc", "ttir_segment", "ttnn_segment", "notes"}]
# at every place where they hold; all else is told once unless it differs
EVERYWHERE = ("saves: ", "model location: ", "source: ", "source torch ops: ", "precondition: ", "not contiguous: ", "TTIR: ",
              "call: ", "locations: ", "lines: ", "graph: ", "known: ")


def seconds(text):
    number, unit = re.match(r"([0-9.]+) (us|ms|s)$", text).groups()
    return float(number) * UNITS[unit]


def half_digit(text):
    return seconds(text) * (0.05 / float(text.split()[0]) if "." in text and float(text.split()[0]) else 0.51 / max(
        float(text.split()[0]), 1))


class AddsUp(unittest.TestCase):
    def audit(self, directory, pair):
        out = os.path.join(directory, "r")
        done = subprocess.run([PROGRAM, "-o", out + ".yml", "--format=json:" + out + ".json", *pair], capture_output=True,
                              text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        if not done.returncode:
            return None, None, None
        with open(out + ".yml") as y, open(out + ".json") as j:
            return load_yaml(y), json.load(j), done.stderr

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    found = {}

    def each(self):
        for n, pair in enumerate(PAIRS):
            directory = os.path.join(self.directory.name, str(n))
            if pair not in self.found:
                os.mkdir(directory)
                self.found[pair] = self.audit(directory, pair)
            if self.found[pair][0]:
                yield directory, *self.found[pair]

    def test_all_sums(self):
        n = 0
        for directory, _, report, said in self.each():
            n += 1
            entries = report["missed_fusions"]
            for e in entries:
                self.assertAlmostEqual(e["saved_us"], sum(i["counted_us"] for i in e["instances"]), delta=1e-4 * report["saved_us"])
            for e, i in ((e, i) for e in entries for i in e["instances"]):
                more = re.search(r"(?m)^saves: .*, ([0-9.]+) (us|ms|s) more than ", i["notes"])
                beside = float(more[1]) * UNITS[more[2]] if more and e["source"] == "ttnn" else 0
                self.assertAlmostEqual(i["counted_us"], beside if "instead_of" in i else max(i["saved_us"], 0), delta=1e-9)
                self.assertLessEqual(i["counted_us"], max(i["saved_us"], 0))
            saved, total = report["saved_us"], report["total_us"]
            self.assertAlmostEqual(saved, sum(e["saved_us"] for e in entries), delta=1e-4 * report["saved_us"])
            self.assertLessEqual(saved, total)
            self.check_ops(entries)
            self.check_summary(said, saved, total)
            promised = [p["before_us"] - p["after_us"] for p in report.get("promises", [])]
            self.assertLessEqual(sum(promised), saved * 1.0001 + 0.01)
            self.assertLessEqual(sum(l["saved_us"] for l in report.get("layers", [])), saved * 1.0001 + 0.01)
            tables = [subprocess.run([PROGRAM, "summary", "--format=json", os.path.join(directory, "r." + kind)],
                                     capture_output=True, text=True, check=True).stdout for kind in ("yml", "json")]
            table, other = map(json.loads, tables)
            self.assertEqual(table, other)
            self.assertAlmostEqual(table["reports"][0]["saved_us"], sum(o["saved_us"] for o in table["fused_ops"]), delta=1e-4 * saved)
            self.assertAlmostEqual(table["reports"][0]["saved_us"], saved, delta=1e-4 * saved)
            for key in "saved_us", "places":
                asked = [sum(i["counted_us"] for i in e["instances"]) if key == "saved_us" else len(e["instances"])
                         for e in entries if any(i.get("action_kind") == "set" for i in e["instances"])]
                self.assertAlmostEqual(sum(o[key] for o in table["options"]), sum(asked), delta=1e-4 * saved)
        self.assertGreater(n, 0)

    def check_ops(self, entries):
        """Of places that have a drawing, which knows lines. What is instead of others counts without these."""
        lines = [op["line"] for e in entries for i in e["instances"] if i["counted_us"] > 0 and "instead_of" not in i
                 for op in i.get("ops", []) if op["part"] == "matched" and "line" in op]
        self.assertEqual(len(lines), len(set(lines)))

    def check_summary(self, said, saved, total):
        text = re.sub(r"\n +", " ", said[:said.index("fused op: what to do")] if "fused op: what" in said else said)
        head = re.search(r"about ([0-9.]+)( us| ms)? of ([0-9.]+ (?:us|ms|s)) to save", text)
        if not head:
            self.assertEqual(saved, 0, said)
            return
        part = head[1] + (head[2] or head[3][head[3].index(" "):])
        self.assertLessEqual(abs(seconds(part) - saved), half_digit(part))
        self.assertLessEqual(abs(seconds(head[3]) - total), half_digit(head[3]))
        rows = re.findall(r"(?m)^ *([0-9.]+ (?:us|ms|s))(?: +\d| at \d)", said)
        kernels = re.search(r"kernels to request \(\d+ places?, ([0-9.]+ (?:us|ms|s))\)", re.sub(r"\n +", " ", said))
        rows += [kernels[1]] if kernels else []
        self.assertLessEqual(abs(sum(map(seconds, rows)) - saved), sum(map(half_digit, rows)) + 0.01, said)

    def test_keys_are_those_of_the_schema(self):
        for _, report, _, _ in self.each():
            self.assertLessEqual(set(report), KEYS[0])
            for e in report["missed_fusions"]:
                self.assertEqual(set(e), KEYS[1])
                self.assertTrue(all(set(i) <= KEYS[2] for i in e["instances"]))

    def test_an_entry_says_things_once(self):
        for _, report, _, _ in self.each():
            for e in report["missed_fusions"]:
                lines = [line for i in e["instances"] for line in i["notes"].splitlines()[1:]
                         if not line.startswith(EVERYWHERE) and not line.startswith("not validated: ")]
                self.assertEqual(sorted(lines), sorted(set(lines)))
                self.assertTrue(all("model location: " in i["notes"] and "source torch ops: " in i["notes"] and
                                    e["fused_op"] in i["notes"] or e["source"] != "ttnn" for i in e["instances"]))
                self.assertEqual(["action: " in i["notes"] for i in e["instances"]].count(True), 1)

    def test_nothing_is_reported_that_saves_nothing(self):
        for _, _, report, _ in self.each():
            for i in (i for e in report["missed_fusions"] for i in e["instances"] if "cost" in i):
                fewer = i["cost"]["launches"] - i["cost"]["launches_fused"]
                self.assertTrue(i["saved_us"] >= 0.05 or (fewer > 0 and i["action_kind"] in ("set", "look", "update", "extend")), i)


if __name__ == "__main__":
    unittest.main()
