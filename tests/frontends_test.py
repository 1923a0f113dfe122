#!/usr/bin/env python3
"""Functions as frontends lower them: what is found in each, and how often, is exact, and each finding is proved.

usage: frontends_test.py AUDITS SHORTHAND FIXTURES [unittest arguments]
fixtures/frontends/*.yml: lists of functions in the short notation of patterns/library/shorthand.h. The keys of each:
  name    with the library that computes it so
  level   ttir (where nothing is said) or ttnn, at which it is audited alone
  ops     arguments have their types where they are first met; those in capitals are parameters, the others inputs
  finds   "2 ttnn.linear, ttnn.softmax": what has to be found and nothing else; nothing where there is no such key
  trap    what looks like a fusion here, and why it is none: at least a third of the functions have one
  missed  what should be found beside `finds` and is not yet, as `finds` writes it, in front of a colon and the reason
  unproved  why what is found is not proved yet
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

from audits import Audits, proved
from load_yaml import load_yaml
from shorthand_functions import with_arguments

AUDITS, SHORTHAND, FIXTURES = (os.path.abspath(a) for a in sys.argv[1:4])
del sys.argv[1:4]
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
        for function in self.functions:
            with self.subTest(name=function["name"]):
                self.assertLessEqual(set(function), KEYS)
                level = function.get("level", "ttir")
                path = os.path.join(self.directory.name, "%s.%s.mlir" % (function["name"], level))
                status, said, report = self.audits.audit(level, path)
                self.assertEqual((status, [s for s in said if not s.startswith("note: ")]), (int(report is not None), []))
                found = collections.Counter(e["fused_op"] for e in report or [] for _ in e["instances"])
                self.assertEqual(dict(found), dict(counts(function.get("finds"))))
                self.assertEqual(all(all(proved(e)) for e in report or []), "unproved" not in function)

    def test_known_misses_have_a_reason(self):
        for function in self.functions:
            ops, _, why = function.get("missed", "ttnn.linear: ?").partition(": ")
            self.assertTrue(counts(ops) and why, function["name"])


if __name__ == "__main__":
    unittest.main()
