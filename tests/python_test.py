#!/usr/bin/env python3
"""The Python module over the shared library, as a wheel has them, and the script of fusion-audit(1).

usage: python_test.py LIBRARY SOURCE
Exit 77: cffi is not there.
"""
import importlib.util
import json
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
                           ("near_miss", fusion_audit.NearMiss), ("diagnostic", fusion_audit.Diagnostic)):
            members = re.search(r"^struct fa_%s \{(.*?)^\};" % name, header, re.M | re.S)[1]
            self.assertEqual(re.findall(r"(\w+)[,;]", members), [field.rstrip("_") for field in kind.__dataclass_fields__])

    def test_audit(self):
        told = []
        audit = fusion_audit.audit(PAIR, only="ttnn.*", progress=lambda *step: told.append(step))
        self.assertEqual(audit.status, fusion_audit.Status.MISSED)
        self.assertEqual(audit.report("json").count('"ir_loc"'), len(audit.findings))
        self.assertEqual({doing for doing, _, _ in told}, {"reading", "searching", "proving"})
        self.assertTrue(all(f.verdict and f.fused_op.startswith("ttnn.") for f in audit.findings))
        entries = json.loads(audit.report("json"))["missed_fusions"]
        self.assertEqual([entries[f.entry]["component_ops"] for f in audit.findings],
                         [f.component_ops.split("\n") for f in audit.findings])
        self.assertEqual({f.entry for f in audit.findings}, set(range(len(entries))))
        self.assertIn(f"{len(audit.findings)} places", audit.summary())
        again = fusion_audit.audit(PAIR, library=fusion_audit.Library(only="ttnn.*"))
        self.assertEqual(again.findings, audit.findings)

    def test_one_library_for_all_calls(self):
        library = fusion_audit.Library(only="ttnn.linear")
        self.assertEqual({f.fused_op for f in fusion_audit.audit(PAIR, library=library).findings}, {"ttnn.linear"})
        self.assertEqual({x.fused_op for x in fusion_audit.explain(PAIR, library=library)}, {"ttnn.linear"})
        self.assertEqual(fusion_audit.apply(PAIR[:1], library=library).text,
                         fusion_audit.apply(PAIR[:1], only="ttnn.linear").text)

    def test_levels_and_pattern_files(self):
        with open(directory.name + "/my.yml", "w") as file:
            file.write("name: my\nfused_op: ttnn.my\nsource: ttnn\nmatch: |\n  out = silu(x)\n")
        audit = fusion_audit.audit(PAIR[1:], levels=fusion_audit.Levels.TTNN, patterns=[directory.name + "/my.yml"], only="my")
        self.assertEqual({(f.pattern, f.ttir) for f in audit.findings}, {("my", "")})

    def test_verify_and_apply_and_explain(self):
        v = fusion_audit.verify(PAIR)
        self.assertEqual((v.status, v.differences, v.report), (fusion_audit.Status.CLEAN, 0, ""))
        self.assertEqual(v.proved, v.ops)
        a = fusion_audit.apply(PAIR[:1], assume="all", diff=True)
        self.assertTrue(0 < a.applied <= a.found and a.text.startswith("--- "))
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
        with self.assertRaisesRegex(fusion_audit.Error, "ended before all was done"):
            fusion_audit.audit(PAIR, progress=lambda *step: False)
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


unittest.main(argv=sys.argv[:1])
