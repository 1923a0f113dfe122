#!/usr/bin/env python3
"""What is found in TTIR is found in what the compiler lowers it to.

usage: lowered_test.py AUDITS CORPUS [unittest arguments]
The line `// lowered:` of a module in CORPUS/fired.mlir names the TTNN ops that the compiler makes of it. The module is
written in these (as variations.py does); where their names, but for constants, are not those of the line in any order,
the compiler has fused or rewritten it, and it is left out. What it has made by itself is missed no more.
"""
import collections
import os
import re
import sys
import unittest

from audits import Audits
from variations import lowered

AUDITS, CORPUS = (os.path.abspath(a) for a in sys.argv[1:3])
del sys.argv[1:3]
EVERY = int(os.environ.get("FA_EVERY", 1))


def names(ops):
    return collections.Counter(op for op in ops if op != "ttnn.full")


class Lowered(unittest.TestCase):
    def found(self, level, text):
        _, said, report = self.audits.audit_text(level, text)
        self.assertEqual(said, [])
        return collections.Counter(e["fused_op"] for e in report or [] for _ in e["instances"])

    def test_found_as_lowered(self):
        path = os.path.join(CORPUS, "fired.mlir")
        if not os.path.exists(path):
            self.skipTest("no corpus")
        with open(path) as f:
            modules = re.split(r"(?m)^(?=// -----)", f.read())[1::EVERY]
        self.audits, tried, hits = Audits(AUDITS), 0, 0
        self.addCleanup(self.audits.close)
        for module in modules:
            ops = re.search(r"^// lowered: (.*)", module, re.M)[1].split()
            for ttnn in lowered(module.partition("// lowered:")[2].partition("\n")[2]):
                if names(re.findall(r'"(ttnn\.\w+)"', ttnn)) != names(ops):
                    continue
                tried += 1
                with self.subTest(module=module.split("\n", 1)[0], ttnn=ttnn):
                    found = self.found("ttir", module) - names(ops)
                    hits += bool(found)
                    self.assertFalse(found - self.found("ttnn", ttnn))
        print("%d of %d modules as lowered, %d with findings" % (tried, len(modules), hits), file=sys.stderr)
        self.assertGreater(hits, len(modules) // 8)


if __name__ == "__main__":
    unittest.main()
