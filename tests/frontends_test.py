#!/usr/bin/env python3
"""Functions as frontends lower them: what is found in each, and how often, is exact, and each finding is proved.

usage: frontends_test.py AUDITS SHORTHAND FIXTURES COMPILER [unittest arguments]
COMPILER is a script that prints the folder of ttmlir-opt: where it is, what it makes of each function has to be a pair with it.
fixtures/frontends/*.yml: lists of functions in the short notation of patterns/library/shorthand.h. The keys of each:
  name    with the library that computes it so
  level   ttir (where nothing is said) or ttnn, at which it is audited alone
  ops     arguments have their types where they are first met; those in capitals are parameters, the others inputs
  finds   "2 ttnn.linear, ttnn.softmax": what has to be found and nothing else; nothing where there is no such key
  trap    what looks like a fusion here, and why it is none: at least a third of the functions have one
  missed  what should be found beside `finds` and is not yet, as `finds` writes it, in front of a colon and the reason
  unproved  why what is found is not proved yet
Every FA_EVERYth of them is audited, of these each FA_COMPILEDth (20th) compiled.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

from audits import Audits
from load_yaml import load_yaml
from shorthand_functions import with_arguments

AUDITS, SHORTHAND, FIXTURES, COMPILER = (os.path.abspath(a) for a in sys.argv[1:5])
del sys.argv[1:5]
EVERY = int(os.environ.get("FA_EVERY", 1))
COMPILED = int(os.environ.get("FA_COMPILED", 20))
KEYS = {"name", "level", "ops", "finds", "trap", "missed", "unproved"}


def counts(text):
    found = collections.Counter()
    for item in re.split(r",\s*", text) if text else []:
        number, op = re.fullmatch(r"(?:(\d+) )?([\w.+]+)", item).groups()
        found[op] += int(number or 1)
    return found


class Frontends(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.functions, cls.directory = [], tempfile.TemporaryDirectory()
        for path in sorted(glob.glob(os.path.join(FIXTURES, "frontends", "*.yml"))):
            with open(path) as f:
                cls.functions += load_yaml(f)
        texts = ["%s %s\n%s----\n" % (f["name"], f.get("level", "ttir"), with_arguments(f["ops"])) for f in cls.functions]
        subprocess.run([SHORTHAND, cls.directory.name], input="".join(texts), text=True, check=True)
        cls.audits = Audits(AUDITS, "ttnn:dialect,torch,triton,cuda", "slower")

    @classmethod
    def tearDownClass(cls):
        cls.audits.close()
        cls.directory.cleanup()

    def test_found_and_proved(self):
        for function in self.functions[::EVERY]:
            with self.subTest(name=function["name"]):
                self.assertLessEqual(set(function), KEYS)
                level = function.get("level", "ttir")
                path = os.path.join(self.directory.name, "%s.%s.mlir" % (function["name"], level))
                status, said, report = self.audits.audit(level, path)
                self.assertEqual((status, said), (int(report is not None), []))
                found = collections.Counter(e["fused_op"] for e in report or [] for _ in e["instances"])
                self.assertEqual(dict(found), dict(counts(function.get("finds"))))
                proved = [re.search("^(validated: same function|alike: )", i["notes"], re.M)
                          for e in report or [] for i in e["instances"]]
                self.assertEqual(all(proved), "unproved" not in function)

    @unittest.skipUnless(os.path.exists(COMPILER), "no compiler")
    def test_compiled(self):
        opt = subprocess.run([COMPILER], capture_output=True, text=True, check=True).stdout.strip() + "/ttmlir-opt"
        for function in self.functions[::COMPILED * EVERY]:
            ttir = os.path.join(self.directory.name, function["name"] + ".ttir.mlir")
            for fusing in ("true", "false") if os.path.exists(ttir) else ():
                ttnn = ttir.replace(".ttir.", ".ttnn-%s." % fusing)
                pipeline = "mock-system-desc-arch=wormhole_b0 optimization-level=0 enable-fusing-pass=" + fusing
                run = subprocess.run([opt, "--ttir-to-ttnn-backend-pipeline=" + pipeline, "--mlir-print-debuginfo", ttir, "-o",
                                      ttnn], capture_output=True, check=False)
                with self.subTest(name=function["name"], fusing=fusing):
                    status, said, _ = self.audits.audit("both", ttir, ttnn) if run.returncode == 0 else (0, [], None)
                    self.assertIn(status, (0, 1))
                    self.assertEqual([line for line in said if "of one model" in line], [])

    def test_there_are_enough(self):
        names = [f["name"] for f in self.functions]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 120)
        self.assertGreaterEqual(3 * sum("trap" in f for f in self.functions), len(names))

    def test_known_misses_have_a_reason(self):
        for function in self.functions:
            ops, _, why = function.get("missed", "ttnn.linear: ?").partition(": ")
            self.assertTrue(counts(ops) and why, function["name"])
        print(", ".join("%d %s" % (sum(key in f for f in self.functions), what) for key, what in (
            ("name", "functions"), ("trap", "with a trap"), ("missed", "missed"), ("unproved", "unproved"))), file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
