#!/usr/bin/env python3
"""The Python module over the shared library, as a wheel has them, and the script of fusion-audit(1).

usage: python_test.py LIBRARY SOURCE
Exit 77: cffi is not there.
"""
import gzip
import importlib.util
import json
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
PAIR, FUSED = ([f"{SOURCE}/fixtures/{name}.{level}.mlir" for level in ("ttir", "ttnn")] for name in ("dit", "dit_fused"))
if not importlib.util.find_spec("cffi"):
    sys.exit(77)
directory = tempfile.TemporaryDirectory()
os.mkdir(directory.name + "/fusion_audit")
for path in (SOURCE + "/python/fusion_audit/__init__.py", SOURCE + "/include/fusion_audit.h"):
    shutil.copy(path, directory.name + "/fusion_audit")
os.symlink(LIBRARY, directory.name + "/fusion_audit/libfusion_audit.so")
sys.path.insert(0, directory.name)
import fusion_audit  # noqa: E402 (it is made above)


class Module(unittest.TestCase):
    def test_members_are_those_of_the_structs(self):
        with open(SOURCE + "/include/fusion_audit.h") as file:
            header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for name, kind in (("finding", fusion_audit.Finding), ("check", fusion_audit.Check),
                           ("note", fusion_audit.Note), ("near_miss", fusion_audit.NearMiss),
                           ("diagnostic", fusion_audit.Diagnostic)):
            members = re.search(r"^struct fa_%s \{(.*?)^\};" % name, header, re.M | re.S)[1]
            self.assertEqual(re.findall(r"(\w+)[,;]", members), [field.rstrip("_") for field in kind.__dataclass_fields__])

    def test_audit(self):
        audit = fusion_audit.audit(PAIR, only="ttnn.*")
        self.assertEqual(audit.status, fusion_audit.Status.MISSED)
        self.assertEqual(audit.report("json").count('"ir_loc"'), len(audit.findings))
        self.assertTrue(all(f.verdict and f.fused_op.startswith("ttnn.") for f in audit.findings))
        entries = json.loads(audit.report("json"))["missed_fusions"]
        self.assertEqual([entries[f.entry]["component_ops"] for f in audit.findings],
                         [f.component_ops.split("\n") for f in audit.findings])
        self.assertEqual({f.entry for f in audit.findings}, set(range(len(entries))))
        self.assertIn(f"{len(audit.findings)} places", audit.summary())
        again = fusion_audit.audit(PAIR, library=fusion_audit.Library(only="ttnn.*"))
        self.assertEqual(again.findings, audit.findings)

    def test_a_finding_has_what_its_report_has(self):
        audit = fusion_audit.audit(PAIR, include="slower")
        entries = json.loads(audit.report("json"))["missed_fusions"]
        places = [(entry, place) for entry in entries for place in entry["instances"]]
        self.assertEqual(len(places), len(audit.findings))
        for i, (f, (entry, place)) in enumerate(zip(audit.findings, places)):
            self.assertEqual([f.fused_op, f.source, f.action], [entry["fused_op"], entry["source"], entry["action"]])
            self.assertEqual([f.location, f.place, f.layer, f.ttir, f.ttnn, f.ttnn_lines, f.verdict, f.todo, f.action_kind,
                              f.notes],
                             [place[key] if key in place else "" for key in (
                                 "ir_loc", "place", "layer", "ttir_segment", "ttnn_segment", "ttnn_lines", "verdict", "action",
                                 "action_kind", "notes")])
            cost = place.get("cost", {})
            self.assertEqual(f.launches, cost.get("launches", 0) - cost.get("launches_fused", 0))
            traffic = [f"{memory}_{way}_bytes" for memory in ("dram", "l1") for way in ("read", "written")]
            saved = [cost.get(key, 0) - cost.get(key + "_fused", 0) for key in traffic]
            self.assertEqual([f.dram_bytes, f.l1_bytes], [sum(saved[:2]), sum(saved[2:])])
            self.assertAlmostEqual(f.us, cost.get("estimated_us", 0), places=2)
            self.assertEqual("".join((note.key and note.key + ": ") + note.text + "\n" for note in audit.notes(i)), f.notes)
        self.assertGreater(sum(f.launches for f in audit.findings), 0)
        self.assertTrue({"saves", "model location", "action"} <= {note.key for note in audit.notes(0)})
        self.assertEqual(audit.notes(len(places)), [])
        status = [line.split(": ")[1] for line in fusion_audit.audit(PAIR, include="slower", classify=True).report().splitlines()
                  if line.startswith("  pass_status")]
        self.assertEqual([audit.findings[[f.entry for f in audit.findings].index(e)].pass_status for e in range(len(entries))],
                         status)

    def test_what_is_in_memory_is_as_what_is_in_files(self):
        texts = []
        for path in PAIR:
            with open(path, "rb") as file:
                texts.append(file.read())
        there = fusion_audit.audit(PAIR, only="ttnn.*")
        packed = [("a.mlir", gzip.compress(texts[0])), ("b.mlir", texts[1].decode())]
        for files in (list(zip(PAIR, texts)), packed, [PAIR[0], ("b", texts[1])]):
            self.assertEqual(fusion_audit.audit(files, only="ttnn.*").findings, there.findings)
        self.assertIn("ttir: a.mlir\n  ttnn: b.mlir\n", fusion_audit.audit(packed).report())
        self.assertEqual(fusion_audit.apply(packed[:1], assume="all").text, fusion_audit.apply(PAIR[:1], assume="all").text)
        self.assertEqual(fusion_audit.verify(packed).proved, fusion_audit.verify(PAIR).proved)
        self.assertEqual([x.file for x in fusion_audit.explain(packed, most=1)], ["b.mlir"])
        self.assertEqual(fusion_audit.find_pairs(packed), [["a.mlir", "b.mlir"]])
        self.assertEqual([file["path"] for file in fusion_audit.inspect(packed)["files"]], ["a.mlir", "b.mlir"])
        for text, error in ((b"", "x: error: the file is empty"), (gzip.compress(texts[0])[:-9], "cannot be unpacked"),
                            (b"text", "has no IR in it"), (texts[1], "both files are TTNN")):
            with self.assertRaisesRegex(fusion_audit.Error, error):
                fusion_audit.audit([("x", text), PAIR[1]])

    def test_one_library_for_all_calls(self):
        library = fusion_audit.Library(only="ttnn.linear")
        self.assertEqual({f.fused_op for f in fusion_audit.audit(PAIR, library=library).findings}, {"ttnn.linear"})
        self.assertEqual({x.fused_op for x in fusion_audit.explain(PAIR, library=library)}, {"ttnn.linear"})
        self.assertEqual(fusion_audit.apply(PAIR[:1], library=library).text,
                         fusion_audit.apply(PAIR[:1], only="ttnn.linear").text)

    def test_all_that_is_public_says_what_it_is(self):
        """And each keyword that a docstring names is one."""
        for name in fusion_audit.__all__:
            thing = getattr(fusion_audit, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                self.assertTrue((thing.__doc__ or "").strip(), name)
                self.assertFalse(thing.__doc__.startswith(name + "("), name)  # one that dataclass made
        fusion_audit.audit(PAIR, baseline=None or "/dev/null", min_saving="1%", fail_on="torch", classify=True, jobs=1)
        with self.assertRaises(TypeError):
            fusion_audit.audit(PAIR, min_savings="1%")

    def test_levels_and_pattern_files(self):
        with open(directory.name + "/my.yml", "w") as file:
            file.write("name: my\nfused_op: ttnn.my\nsource: ttnn\nmatch: |\n  out = silu(x)\n")
        audit = fusion_audit.audit(PAIR[1:], levels=fusion_audit.Levels.TTNN, patterns=[directory.name + "/my.yml"], only="my",
                                   min_saving="0us")
        self.assertEqual({(f.pattern, f.ttir) for f in audit.findings}, {("my", "")})

    def test_verify_and_apply_and_explain(self):
        v = fusion_audit.verify(PAIR)
        self.assertEqual((v.status, v.differences, v.report), (fusion_audit.Status.CLEAN, 0, ""))
        self.assertEqual(v.proved, v.ops)
        a = fusion_audit.apply(PAIR[:1], assume="all")
        self.assertTrue(0 < a.applied <= a.found and "ttir.linear" in a.text)
        near = fusion_audit.explain(PAIR, only="ttnn.*", most=3)
        self.assertEqual((len(near), {x.outcome for x in near}), (3, {"near"}))
        self.assertTrue(all(x.reason and x.line and x.matched <= x.total for x in near))
        with open(PAIR[1]) as file:
            changed = file.read().replace('"ttnn.add"', '"ttnn.subtract"', 1)
        with open(directory.name + "/changed.mlir", "w") as file:
            file.write(changed)
        v = fusion_audit.verify([PAIR[0], directory.name + "/changed.mlir"])
        self.assertEqual((v.status, [x.kind for x in v.checks]), (fusion_audit.Status.MISSED, ["wrong_lowering"]))
        self.assertIn("ttnn.subtract", v.checks[0].after)
        self.assertTrue(v.checks[0].counterexample)

    def test_errors(self):
        with self.assertRaisesRegex(fusion_audit.Error, "absent.mlir: error: No such file"):
            fusion_audit.audit(["absent.mlir"])
        with self.assertRaisesRegex(fusion_audit.Error, "no pattern or fused op matches"):
            fusion_audit.audit(PAIR, only="absent")
        with self.assertRaisesRegex(ValueError, "no such format"):
            fusion_audit.audit(PAIR, only="ttnn.linear").report("pdf")
        with self.assertRaisesRegex(TypeError, "no such option: colour"):
            fusion_audit.audit(PAIR, colour=True)

    def test_script_of_the_manual(self):
        with open(SOURCE + "/man/fusion-audit.1") as file:
            script = re.search(r"^\.Bd -literal.*\n(import fusion_audit\n(?:.*\n)*?)\.Ed", file.read(), re.M)[1]
        self.assertLess(script.count("\n"), 12)
        dumps = directory.name + "/dumps"
        os.mkdir(dumps)
        for path in PAIR + FUSED:
            shutil.copy(path, dumps)
        done = subprocess.run([sys.executable, "-c", script], cwd=directory.name, text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": directory.name}, check=True)
        saved = [float(line.split()[0]) for line in done.stdout.splitlines()]
        self.assertEqual((len(saved), saved), (5, sorted(saved, reverse=True)))

    def test_script_of_the_readme(self):
        with open(SOURCE + "/README.md") as file:
            script = re.search(r"^```python\n(.*?)^```", file.read(), re.M | re.S)[1]
        for path, level in zip(PAIR, ("ttir", "ttnn")):
            shutil.copy(path, "%s/model.%s.mlir" % (directory.name, level))
        done = subprocess.run([sys.executable, "-c", script], cwd=directory.name, text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": directory.name}, check=True)
        self.assertRegex(done.stdout, r"^(\d+\.\d us ttnn\.[\w.]+ .*\n)+$")


unittest.main(argv=sys.argv[:1])
