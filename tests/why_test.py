#!/usr/bin/env python3
"""try --why: beside a stand-in for the compiler, which fuses under a condition, what is said, what is kept, and what the
next audit makes of it.

usage: why_test.py PROGRAM [unittest arguments]
"""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""

# Prints TTNN of what it is given: op by op, or where CONDITION holds of the text and the options, fused.
STAND_IN = """\
    #!/usr/bin/env -S python3 -SE
    import re, sys, time
    if sys.argv[1] == "--version":
        print("LLVM (http://llvm.org/):\\n  LLVM version %(version)s\\n  Optimized build.")
        sys.exit()
    options, text = sys.argv[1], open(sys.argv[3]).read()
    ranks = {t.count("x") for t in re.findall("tensor<([^>]*)>", text)}
    returned = re.search(r"return (.*?) :", text)[1].split(", ")
    %(first)s
    if %(condition)s:
        print('''module {
      func.func @f(%%x: tensor<32x64xbf16>, %%w: tensor<64xbf16>, %%e: tensor<1x1xbf16>) -> tensor<32x64xbf16> {
        %(beside)s
        %%0 = "ttnn.rms_norm"(%%x) <{epsilon = 1.0e-5 : f32}> : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
        return %%0 : tensor<32x64xbf16>
      }
    }''')
    else:
        print(text.replace("ttir.", "ttnn."))
"""

OPS = """\
    %0 = "ttir.multiply"(%x, %x) : (tensor<32x64xbf16>, tensor<32x64xbf16>) -> tensor<32x64xbf16>
    %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x64xbf16>) -> tensor<32x1xbf16>
    %2 = "ttir.add"(%1, %e) : (tensor<32x1xbf16>, tensor<1x1xbf16>) -> tensor<32x1xbf16>
    %3 = "ttir.rsqrt"(%2) : (tensor<32x1xbf16>) -> tensor<32x1xbf16>
    %4 = "ttir.multiply"(%x, %3) : (tensor<32x64xbf16>, tensor<32x1xbf16>) -> tensor<32x64xbf16>
    %5 = "ttir.reshape"(%w) <{shape = [1 : i32, 64 : i32]}> : (tensor<64xbf16>) -> tensor<1x64xbf16>
    %6 = "ttir.multiply"(%4, %5) : (tensor<32x64xbf16>, tensor<1x64xbf16>) -> tensor<32x64xbf16>
"""
HEAD = "module {\n  func.func @f(%x: tensor<32x64xbf16>, %w: tensor<64xbf16>, %e: tensor<1x1xbf16>) -> "
TTIR = HEAD + "tensor<32x64xbf16> {\n" + OPS + "    return %6 : tensor<32x64xbf16>\n  }\n}\n"
# The weight with an axis more is returned, too.
SHARED = HEAD + "(tensor<32x64xbf16>, tensor<1x64xbf16>) {\n" + OPS + "    return %6, %5 : tensor<32x64xbf16>, tensor<1x64xbf16>\n  }\n}\n"


class Why(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.cache = self.path("cache")
        self.kept = self.path("cache/fusion-audit/tried.tsv")
        self.write("m.mlir", TTIR)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def compiler(self, condition="False", first="pass", version="22.0.0git", beside=""):
        words = {"condition": condition, "first": first, "version": version, "beside": beside}
        self.write("compiler", textwrap.dedent(STAND_IN) % words)
        os.chmod(self.path("compiler"), 0o755)

    def run_it(self, *args, **env):
        env = {**os.environ, "XDG_CACHE_HOME": self.cache, **env}
        done = subprocess.run([PROGRAM, *args], cwd=self.directory, env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def why(self, *args, model="m.mlir", **env):
        return self.run_it("try", "--why", "--compiler=./compiler", "--ttir-only", "--only=ttnn.rms_norm", *args, model, **env)

    def answer(self, *args, **more):
        status, out, err = self.why(*args, **more)
        self.assertEqual((status, err), (0, ""))
        return re.fullmatch(r"ttnn\.\w+, lines \S.*?: (.*)\n", out)[1]

    def action(self):
        """What an audit says is to be done, and what it warns of."""
        _, out, err = self.run_it("--ttir-only", "--only=ttnn.rms_norm", "-q", "-o", "-", "m.mlir")
        return re.search("action: (.*)", out)[1], err

    def test_a_form_for_one_token(self):
        """Counts, as that of an attention does; a name that merely begins with the op's does not."""
        for name, answer in ("rms_norm_decode", "fuses alone and in its model"), ("rms_norm_decoder", None):
            self.compiler("True")
            self.write("compiler", self.read("compiler").replace('"ttnn.rms_norm"', '"ttnn.%s"' % name))
            if answer:
                self.assertEqual(self.answer(), answer)
            else:
                self.assertIn("has neither the fused op nor what it is made of", self.why()[1])

    def test_one_change(self):
        for condition, answer in (("'ttir.constant' in text", "fuses once the eps is a constant"),
                                  ("'xf32>' in text and 'bf16' not in text", "fuses once its types are f32"),
                                  ("max(ranks) == 4", "fuses once it has four dimensions"),
                                  ("'ttir.reshape' not in text", "fuses once %5 (ttir.reshape) is gone"),
                                  ("'enable-fusing-pass=true' in options", "fuses with enable-fusing-pass=true"),
                                  ("'ttir.constant' in text or 'xf32>' in text",
                                   "fuses once its types are f32 or once the eps is a constant"),
                                  ("True", "fuses alone and in its model"),
                                  ("'ttir.constant' in text and 'xf32>' in text", "fuses after none of 5 changes")):
            self.compiler(condition)
            self.assertEqual(self.answer(), answer)

    def test_in_its_model(self):
        """Where another op stands behind it, which the module of the place is without."""
        self.write("m.mlir", TTIR.replace("    return %6", '    %7 = "ttir.exp"(%6) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>\n    return %7'))
        for condition, first, answer in (
                ("'ttir.exp' not in text", "pass", "fuses alone: what stands around it in the model keeps it"),
                ("True", "pass", "fuses alone and in its model"),
                ("'ttir.exp' in text", "pass",
                 "fuses in its model, not alone"),
                ("True", "if 'ttir.exp' in text: sys.exit('error: no exp here')",
                 "fuses alone")):
            self.compiler(condition, first)
            self.assertEqual(self.answer(), answer)

    def test_its_ops_are_elsewhere_too(self):
        """Then it is fused where it is missed without the pass."""
        beside = re.sub(r"%(?=\d)", "%b", OPS.replace("ttir.", "ttnn.")).replace("(%x, %b3)", "(%x, %x)").replace(
            "tensor<32x64xbf16>, tensor<32x1xbf16>", "tensor<32x64xbf16>, tensor<32x64xbf16>")
        self.compiler("'enable-fusing-pass=false' not in options", beside=beside)
        self.assertEqual(self.answer(), "fuses alone and in its model")
        self.compiler("True", beside=beside)
        self.assertRegex(self.answer(), "^what the compiler makes of it has neither")

    def test_a_second_user(self):
        self.write("m.mlir", SHARED)
        self.compiler("len(returned) == 1")
        self.assertEqual(self.answer(), "fuses once nothing else takes %5")

    def test_each_change_is_one(self):
        """And what is changed is all of it."""
        self.compiler()
        self.answer("--output-dir=kept")
        texts = [self.read("kept/%d.ttir.mlir" % i) for i in (0, 2, 3, 4, 5, 6)]  # 1 is of the model
        self.assertEqual(len(set(texts)), 5, "an option changes no module")
        self.assertNotIn("bf16", texts[1])
        self.assertEqual(texts[1].replace("f32", "bf16"), texts[0])
        self.assertEqual(texts[2].count("%e"), 2, "where it is made and where it is taken")
        self.assertRegex(texts[3], r"multiply\"\(%4, %w\)")
        self.assertIn("dim_arg = [3 : i32]", texts[4])
        self.assertIn("shape = [1 : i32, 1 : i32, 1 : i32, 64 : i32]", texts[4])

    def test_the_next_audit_knows(self):
        self.assertNotIn("tried", self.action()[0])
        self.compiler("'ttir.constant' in text")
        self.answer()
        said, err = self.action()
        self.assertEqual(err, "")
        self.assertRegex(said, r"fuses once the eps is a constant \(tried \d{4}-\d\d-\d\d, compiler, LLVM version 22\.0\.0git\)")
        self.write("m.mlir", TTIR.replace("%0", "%other").replace("@f", "@g"))
        self.assertEqual(self.action()[0], said, "the same kind of place")
        for other in (TTIR.replace("32x", "64x"), TTIR.replace("1x1x", "1x").replace("tensor<1xbf16>)", "tensor<1xbf16>)"),
                      SHARED):
            self.write("m.mlir", other)
            self.assertNotIn("tried", self.action()[0])

    def test_newer_answers(self):
        for condition in "True", "'ttir.constant' in text":
            self.compiler(condition)
            self.answer()
        self.assertEqual(len(self.read(self.kept).splitlines()), 1, "in place of the old one")
        self.compiler("'xf32>' in text", version="23.0.0git")
        self.answer()
        self.assertEqual(len(self.read(self.kept).splitlines()), 2)
        old, new = self.read(self.kept).splitlines()
        self.write(self.kept, re.sub(r"\d{4}-", "2001-", new) + "\n" + old + "\n")
        self.assertIn("eps is a constant", self.action()[0], "the last one counts")

    def test_an_option_that_does_not_help_is_not_asked_for(self):
        def said():
            return re.search("action: (.*)", self.run_it("--only=ttnn.rms_norm", "-q", "-o", "-", "t.mlir", "m.mlir")[1])[1]
        self.write("t.mlir", TTIR)
        self.write("m.mlir", TTIR.replace("ttir.", "ttnn."))
        self.assertIn("set enable-fusing-pass=true", said())
        for condition in "'ttir.constant' in text", "False":
            self.compiler(condition)
            answer = self.answer(model="t.mlir")
            self.assertIn("left it, ", said())
            self.assertIn(answer + " (tried", said())
        for condition in "True", "'enable-fusing-pass=true' in options":
            self.compiler(condition)
            answer = self.answer(model="t.mlir")
            self.assertIn("set enable-fusing-pass=true", said())
            self.assertIn(answer + " (tried", said())

    def test_what_does_not_compile_is_no_answer(self):
        self.compiler("False", "if 'xf32>' in text: sys.exit('error: no f32 here')")
        self.assertEqual(self.answer(), "fuses after none of 4 changes")

    def test_the_mesh_of_the_module(self):
        for mesh, options, answer in (("2x4", "a=b", "fuses alone and in its model"), ("1x1", "a=b", "fuses after none of 5 changes"),
                                      ("2x4", "mesh-shape=1,8", "fuses after none of 5 changes")):
            self.write("m.mlir", TTIR.replace("module {", 'module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = %s>]>} {' % mesh))
            self.compiler("options.endswith('mesh-shape=2,4')")
            self.assertEqual(self.answer("--pipeline=" + options), answer)

    def test_an_option_that_does_not_compile_is_still_asked_for(self):
        self.write("t.mlir", TTIR)
        self.write("m.mlir", TTIR.replace("ttir.", "ttnn."))
        self.compiler("False", "if 'enable-fusing-pass=true' in options: sys.exit('error: no such option')")
        answer = self.answer(model="t.mlir")
        self.assertEqual(answer, "fuses after none of 4 changes; does not compile with enable-fusing-pass=true")
        said = re.search("action: (.*)", self.run_it("--only=ttnn.rms_norm", "-q", "-o", "-", "t.mlir", "m.mlir")[1])[1]
        self.assertRegex(said, "^set enable-fusing-pass=true")
        self.assertIn(answer + " (tried", said)

    def test_a_broken_compiler(self):
        for first, reason in (("sys.exit('x: error: cannot legalize')", "cannot legalize"),
                              ("print('<<<'); sys.exit()", "cannot be audited"),
                              ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "without a message")):
            self.compiler(first=first)
            status, out, err = self.why()
            self.assertEqual(status, 3)
            self.assertIn(reason, out)
            self.assertIn("compiles none", err)
        self.assertFalse(os.path.exists(self.kept), "no claim")
        self.compiler(first="print('module {\\n}'); sys.exit()")
        self.assertNotIn("fuses", self.why()[1])
        self.assertFalse(os.path.exists(self.kept))

    def test_no_compiler(self):
        status, out, err = self.why()
        self.assertEqual((status, out), (3, ""))
        self.assertIn("cannot start ./compiler", err)
        self.assertFalse(os.path.exists(self.kept))

    def test_a_compiler_that_hangs(self):
        self.compiler(first="time.sleep(57)")
        status, out, err = self.why("--seconds=1")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("not done after 1 s", err)
        self.compiler("'ttir.constant' in text", first="time.sleep(57 if 'xf32>' in text else 0)")
        self.assertEqual(self.answer("--seconds=1"), "fuses once the eps is a constant")

    def test_a_version_that_is_not_told(self):
        self.compiler("True", version="\\x1b[31m" + "9" * 300)
        self.answer()
        self.assertRegex(self.action()[0], r"\(tried .*, compiler, of a version that it does not tell\)")

    def test_the_cache_cannot_be_written(self):
        self.write("cache", "a file")
        self.compiler("True")
        for env in {}, {"XDG_CACHE_HOME": "", "HOME": ""}:
            status, out, err = self.why(**env)
            self.assertEqual((status, "fuses alone" in out), (0, True))
            self.assertIn("warning: the answers are not kept: ", err)
        self.assertEqual(self.action()[1], "")

    def test_the_home_directory(self):
        self.compiler("True")
        self.answer(XDG_CACHE_HOME="relative", HOME=self.path("home"))
        self.assertTrue(os.path.exists(self.path("home/.cache/fusion-audit/tried.tsv")))

    def test_the_cache_is_corrupt(self):
        self.compiler("True")
        self.answer()
        good = self.read(self.kept)
        kind = good.split("\t")[0]
        for bad in ("x", kind, kind.upper() + good[16:], good.replace("-", "/"), good.replace("fuses", "\x1b[31mfuses"),
                    good.replace("fuses", "fuses" * 400), "\0" * 100):
            self.write(self.kept, bad.rstrip("\n") + "\n" + good + bad)
            said, err = self.action()
            self.assertIn("; fuses alone and in its model (tried", said)
            self.assertNotIn("\x1b", said)
            self.assertRegex(err, "2 lines are no answers|1 line is no answer")
            self.answer()
            self.assertEqual((self.read(self.kept), self.action()[1]), (good, ""))
        os.remove(self.kept)
        os.mkdir(self.kept)
        said, err = self.action()
        self.assertNotIn("tried", said)
        self.assertRegex(err, "warning: what `try --why` learned is not known")

    def test_nothing_to_ask(self):
        self.compiler("True")
        self.assertIn("nothing is missed", self.run_it("try", "--why", "--compiler=./compiler", "--ttir-only", "--only=ttnn.linear",
                                                       "m.mlir")[1])

    def test_wrong_usage(self):
        for args in ["--why"], ["--compiler=x", "--at=%3"], ["--compiler=x", "--ttir-only"]:
            self.assertEqual(self.run_it("try", *args, "m.mlir")[0], 2)


if __name__ == "__main__":
    unittest.main()
