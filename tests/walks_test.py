#!/usr/bin/env python3
"""The first hour of people with a question each: what they type, and what they are told, on real compiles.

usage: walks_test.py PROGRAM CORPUS [COMPILER]
COMPILER is a folder with `get.sh`, which prints where ttmlir-opt is. Neither is part of the project: what needs one that is not there is skipped.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CORPUS, COMPILER = (os.path.abspath(a) for a in (sys.argv[1:4] + [""] * 2)[:3])
MODELS = os.path.join(CORPUS, "models")


class Walk(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def run_it(self, *args):
        done = subprocess.run([PROGRAM, *args], cwd=self.directory.name, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def model(self, name, level):
        return os.path.join(MODELS, "%s.%s.mlir" % (name, level))


def us(text):
    number, unit = text.split()
    return float(number) * {"us": 1, "ms": 1000}[unit]


def promises(summary):
    """[(option, before, after)] of the lines behind the table."""
    found = re.findall(r"(?:set|then) ([\w-]+=\w+): ([\d.]+ [um]s) -> ([\d.]+ [um]s)", " ".join(summary.split()))
    return [(o, us(a), us(b)) for o, a, b in found]


@unittest.skipUnless(os.path.isdir(MODELS), "no corpus")
class BringUp(Walk):
    """What is wrong with my compile, and what does it bring to do as I am told?"""

    def path_of(self, name):
        return os.path.join(MODELS, name)

    def audit(self, path, level):
        status, _, err = self.run_it("-n", "--no-validate", path + ".ttir.mlir", "%s.%s.mlir" % (path, level))
        self.assertIn(status, (0, 1), err)
        return err

    def test_promises_hold(self):
        """What one option saves is what its compile takes less, also where another one has to keep what it made."""
        names = sorted(n[:-len(".ttnn-unfused.mlir")] for n in os.listdir(MODELS) if n.endswith(".ttnn-unfused.mlir"))
        seen = 0
        for path in [os.path.join(MODELS, n) for n in names] + [os.path.join(CORPUS, "dit", n) for n in ("dit_block_op", "dit_block_prim")]:
            if path.endswith("/llama_attention"):
                continue  # no argument of it says that it is a parameter: the promise is for one that is, as its precondition says
            before, now = self.audit(path, "ttnn-unfused"), self.audit(path, "ttnn")
            option, _, after = promises(before)[0]
            self.assertEqual(option, "enable-fusing-pass=true", path)
            total = us(re.search(r"of ([\d.]+ [um]s) to save", " ".join(now.split())).group(1))
            self.assertLess(abs(after - total), 0.1 * total, (path, after, total))
            self.assertNotIn("enable-fusing-pass", now)
            seen += 1
        self.assertGreater(seen, 30)

    def test_one_after_the_other(self):
        """The second option begins where the first one ends; what the first makes inside of larger places is its own."""
        said = promises(self.audit(self.path_of("bert_encoder_layer"), "ttnn-unfused"))
        self.assertEqual([o for o, _, _ in said], ["enable-fusing-pass=true", "optimization-level=1"])
        self.assertEqual(said[0][2], said[1][1])
        block = os.path.join(CORPUS, "dit", "dit_block_op")
        self.assertRegex(" ".join(self.audit(block, "ttnn-unfused").split()), r"ms, [\d.]+ ms of it at parts of other rows; then ")

    def actions(self, name, level):
        out = self.run_it("-q", "--no-validate", "--source=ttnn", "--format=json:-", self.model(name, "ttir"),
                          self.model(name, level))[1]
        return {(e["fused_op"], i["place"]): i["action"] for e in json.loads(out)["missed_fusions"]
                for i in e["instances"] if "place" in i}

    def test_actions_stay(self):
        """What is done goes from what was to be done, and nothing else comes that was not said."""
        kinds = set()
        for name in "bert_encoder_layer", "segformer", "resnet50_xla":
            before, now = self.actions(name, "ttnn-unfused"), self.actions(name, "ttnn")
            for place in before.keys() & now.keys():
                was, kind = before[place], "as it was"
                if was.startswith("set enable-fusing-pass=true and "):
                    was, kind = was.replace("enable-fusing-pass=true and ", ""), "one of two"
                elif was.startswith("set enable-fusing-pass=true; whether that is enough is open: "):
                    self.assertRegex(now[place], "^find out why [A-Za-z]+ did not fire: ", place)
                    was, kind = now[place].split(": ", 1)[0] + was[was.index(":"):], "open"
                self.assertEqual(now[place], was, place)
                kinds.add(kind)
        self.assertEqual(len(kinds), 3, kinds)


def compiler():
    get = os.path.join(COMPILER, "get.sh")
    done = subprocess.run([get], capture_output=True, text=True) if os.path.exists(get) else None
    return os.path.join(done.stdout.strip(), "ttmlir-opt") if done and done.returncode == 0 else None


@unittest.skipUnless(os.path.isdir(MODELS) and os.path.exists(os.path.join(COMPILER, "get.sh")), "no compiler")
class Try(Walk):
    def test_the_table_is_what_an_audit_finds(self):
        ttir = self.model("bert_encoder_block", "ttir")
        status, out, err = self.run_it("try", "--compiler=" + compiler(), "--pipeline=enable-fusing-pass=false",
                                       "--output-dir=kept", ttir)
        self.assertEqual((status, err), (0, ""))
        rows = re.findall(r"(?m)^ *(\d) +([\d.]+ [um]s) +([\d.]+ [um]s|fails) +(\d*) +(.*)$", out)
        self.assertGreaterEqual(len(rows), 2, out)
        for number, _, after, left, _ in rows:
            if after == "fails":
                continue
            status, _, err = self.run_it("-n", ttir, "kept/%s.ttnn.mlir" % number)
            self.assertIn(" of %s to save" % after, " ".join(err.split()))
            self.assertTrue(err.startswith("dry run: %s place" % left), err)
        command = out.splitlines()[-1]
        subprocess.run(command, shell=True, cwd=self.directory.name, check=True, capture_output=True)
        self.assertEqual(self.run_it("diff", "kept/1.ttnn.mlir", "bert_encoder_block.ttnn.mlir"), (0, "", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
