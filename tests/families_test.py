#!/usr/bin/env python3
"""Attention, normalisation, activations and linear layers as other model families print them, each a small function of its own.

usage: families_test.py AUDITS FIXTURES [unittest arguments]
fixtures/families/NAME.LEVEL.mlir, audited at that level alone; the first line says what it is, the second one what is
expected: the fused ops and their component ops, in order. At least as many of them miss nothing that TTNN has as miss it.
"""
import glob
import os
import re
import sys
import unittest

from audits import Audits, proved

PROGRAM, FIXTURES = (os.path.abspath(a) for a in sys.argv[1:3])
del sys.argv[1:3]


class Families(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.audits = Audits(PROGRAM, "ttnn:dialect,torch,triton,cuda", "slower")

    @classmethod
    def tearDownClass(cls):
        cls.audits.close()

    def test_expected(self):
        """Of kernels of other ecosystems, too."""
        missed = 0
        for path in sorted(glob.glob(os.path.join(FIXTURES, "families", "*"))):
            with self.subTest(fixture=path), open(path) as f:
                expected = f.read().split("\n")[1]
                status, said, report = self.audits.audit(path.split(".")[-2], path)
                self.assertEqual((status, [s for s in said if not s.startswith("note: ")]), (int(report is not None), []))
                got = []
                for entry in report or []:
                    ops = " ".join(op.split(".")[1] for op in entry["component_ops"])
                    got += ["%s of %s" % (entry["fused_op"], ops)] * len(entry["instances"])
                    self.assertTrue(all(proved(entry)))
                self.assertEqual(expected, "// Expected: %s." % ("; ".join(sorted(got)) or "nothing"))
                missed += 1 if re.search(r" ttnn[.]|torch[.]scaled", expected) else -1
        self.assertLessEqual(missed, 0)

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
        self.assertIn("ttnn.scaled_dot_product_attention", [e["fused_op"] for e in self.audits.audit("both", *paths)[2] or []])
        self.assertNotIn("ttnn.scaled_dot_product_attention", [e["fused_op"] for e in self.audits.audit("ttnn", paths[1])[2] or []])


if __name__ == "__main__":
    unittest.main()
