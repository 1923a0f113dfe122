#!/usr/bin/env python3
"""What fusion-patterns(5) shows is true: each displayed block renders as it is typed and works as it is printed, and its
lists are those of the program. What README.md and the other pages show, reader_test.py runs.

usage: manual_test.py PROGRAM
Exit 77: mandoc is not there.

A comment before each block says what it is:
  .\\" example: file NAME          a file of the tutorial
  .\\" example: shell              commands behind "$ " and what they print, one after the other, beside these files
  .\\" example: formula, conditions over: FORMULA, pattern, section, pattern file
                                   checked as pattern files; a section is one without a pattern
  .\\" example: tests              examples of bundled patterns, by their names
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROGRAM = os.path.abspath(sys.argv.pop())
PAGE = os.path.join(ROOT, "man", "fusion-patterns.5")
PAGES = sorted(glob.glob(os.path.join(ROOT, "man", "*.[157]")))
WHOLE = "name: page_%d\nfused_op: ttnn.exp\nsource: ttnn\n"
COSINE = """cosine_scores:
- hit: |
    s = multiply q:2x32x64 q; t = sum s {dim_arg = [-1], keep_dim = true}; u = rsqrt t; v = multiply q u
    e = multiply k:2x16x64 k; f = sum e {dim_arg = [-1], keep_dim = true}; g = rsqrt f; h = multiply k g
    p = permute h {permutation = [0, 2, 1]}; o = matmul v p
"""


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def indented(text):
    return "".join("  " + line for line in text.splitlines(True))


def blocks():
    """Kind and text of each displayed block, in order."""
    found = re.findall(r'(?:^\.\\" example: (.*)\n)?^\.Bd -literal.*\n((?:.*\n)*?)^\.Ed', read(PAGE), re.M)
    return [(kind, text.replace("\\e", "\\")) for kind, text in found]


def rendered(path=PAGE):
    page = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=80", path], stdout=subprocess.PIPE, text=True).stdout
    return re.sub(".\b", "", page)


def bold(text):
    return re.findall(r"\\fB(.*?)\\fP", text, re.S)


class Manual(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def write(self, name, text):
        with open(os.path.join(self.dir.name, name), "w") as file:
            file.write(text)

    def shell(self, command):
        env = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
        run = subprocess.run(["sh", "-c", command], cwd=self.dir.name, env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        return run.returncode, run.stdout

    def section(self, name):
        return read(PAGE).split(".Sh " + name + "\n")[1].split("\n.Sh ")[0]

    def test_blocks_render_as_typed(self):
        page = rendered()
        for _, text in blocks():
            for indent in (5, 11):
                if "\n" + "".join(" " * indent + line if line.strip() else line for line in text.splitlines(True)) in page:
                    break
            else:
                self.fail("not rendered as typed:\n" + text)

    def test_each_page_from_top_to_bottom(self):
        """Nothing is wider than the terminal, no macro is printed, no word is taken for one, and no quotation mark vanishes."""
        for path in PAGES:
            page = rendered(path)
            self.assertLessEqual(max(len(line) for line in page.splitlines()), 80, path)
            self.assertEqual(re.findall(r"(?m)(?:^|\s)\.[A-Z][a-z] .*", page), [], path)
            for macro, text in re.findall(r"(?m)^\.(S[hs]|Dl) (.*)$", read(path)):
                text = re.sub(r"\\\(dq", '"', re.sub(r"\\[&e]", lambda m: {"&": "", "e": "\\"}[m[0][1]], text))
                self.assertTrue(re.search("(?m)^ *%s$" % re.escape(re.sub(" +", " ", text)), page), (path, text))
            for line in read(path).splitlines():
                if line.startswith(".") and not line.startswith((".Bl ", '.\\"', ".Dl ")):
                    self.assertNotIn('"', line, path)

    def test_tutorial(self):
        for kind, text in blocks():
            if kind.startswith("file "):
                self.write(kind[5:], text)
            for command, want in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text if kind == "shell" else "", re.M):
                self.assertEqual(self.shell(command)[1], want, command)
        self.write("cosine.test.yml", COSINE)
        self.assertEqual(self.shell("fusion-audit patterns check cosine.yml"), (0, ""))
        self.assertRegex(self.shell("fusion-audit patterns test -P cosine.yml cosine_scores")[1],
                         r"^1 pattern, 1 test, 0 failed; 1 proved, 0 not evaluated\n$")

    def test_fragments_are_pattern_files(self):
        documents = []
        for kind, text in blocks():
            whole = WHOLE % len(documents)
            kind, _, formula = kind.partition(" over: ")
            if kind == "formula":
                documents.append(whole + "match: |\n" + indented(text))
            elif kind == "conditions":
                where = "".join("- '%s'\n" % line for line in text.splitlines())
                documents.append(whole + "match: |\n" + indented(formula.replace("; ", "\n")) + "\nwhere:\n" + where)
            elif kind in ("pattern", "section", "pattern file"):
                documents.append((whole if kind == "pattern" else "") + text)
            else:
                self.assertRegex(kind, "^(file .*|shell|tests)$")
        self.assertGreater(len(documents), 5)
        for i, text in enumerate(documents):
            self.write("page%d.yml" % i, text)
        status, out = self.shell("fusion-audit patterns check page*.yml")
        self.assertNotIn("error", out)
        self.assertEqual(status, 0)

    def test_spellings_of_formulas(self):
        items = [spelling.strip() for line in re.findall(r"^\.It Ql (.*)", self.section("FORMULAS"), re.M)
                 for spelling in line.split(" , ") if re.search(r"\w\(|\w ", spelling) and "name(" not in spelling]
        self.assertGreater(len(items), 20)
        self.write("items.yml", "\n---\n".join(
            WHOLE % i + "match: |\n  y = abs(s)\n  out = y + " +
            ("exp(y)\n  " + item if re.match("also|maybe", item) else "(%s)" % item) for i, item in enumerate(items)))
        self.assertEqual(self.shell("fusion-audit patterns check items.yml"), (0, ""))

    def test_examples_of_bundled_patterns(self):
        tests = "".join(text for kind, text in blocks() if kind == "tests")
        names = re.findall(r"^(\w+):$", tests, re.M)
        bundled = "\n---\n".join(read("patterns", f) for f in sorted(os.listdir(os.path.join(ROOT, "patterns"))))
        documents = [d for d in re.split(r"^---.*\n", bundled, flags=re.M)
                     if any(re.search("^name: %s$" % n, d, re.M) for n in names)]
        self.assertEqual((len(documents), len(set(names))), (len(names), len(names)))
        self.write("some.yml", "---\n".join(documents))
        self.write("some.test.yml", tests)
        status, out = self.shell("fusion-audit patterns test -P some.yml " + " ".join(names))
        self.assertRegex(out, r"^%d patterns, \d+ tests, 0 failed; [^\n]*\n$" % len(names))

    def test_conditions(self):
        _, out = self.shell("fusion-audit patterns conditions")
        self.assertEqual(len(out.splitlines()), len(set(out.splitlines())))
        program = [(head, re.findall(r"^  (\w+)\(", rows, re.M)) for head, rows in
                   re.findall(r"^(\w.*):\n((?:  .*\n)+)", out, re.M)]
        page = re.split(r"^\.Em (?:\\&)?([A-Z].*) :\n", self.section("CONDITIONS"), flags=re.M)[1:]
        text = rendered()
        for head, _ in program:  # a word of a heading may be the name of a macro
            self.assertIn("\n     %s%s:" % (head[0].upper(), head[1:]), text)
        listed = [(head[0].lower() + head[1:],
                   [name for line in re.findall(r"^\.It (.*)", rows, re.M) for name in re.findall(r"(?<!\\)\b(\w+)\(", line)])
                  for head, rows in zip(page[::2], page[1::2])]
        self.assertEqual([(head, sorted(set(names))) for head, names in listed],
                         [(head, sorted(set(names))) for head, names in program])

    def test_options(self):
        """The pages of commands describe each option of --help, with its letter, and no other."""
        page = "".join(read("man", os.path.basename(path)) for path in glob.glob(os.path.join(ROOT, "man", "*.1")))
        described = dict.fromkeys(re.findall(r"Fl -((?!mlir-)[a-z-]+)", page))
        described.update({name: letter for letter, name in
                          re.findall(r"^\.It Fl (\w)(?: Ar .*?)? , (?:Fl )?-([a-z-]+)", page, re.M)})
        lines = self.shell("for first in '' 'patterns '; do fusion-audit completion fish -- $first '' | "
                           "sed \"s/^/$first/; s/\\t.*//\"; done")[1].splitlines()
        self.assertIn("patterns test", lines)
        options = {}
        for command in ["", *lines]:
            _, out = self.shell("fusion-audit %s --help" % command)
            options.update({name: letter or None
                            for letter, name in re.findall(r"^  (?:-(\w), |    )--([a-z-]+)", out, re.M)})
        self.assertEqual(described, options)

    def test_commands(self):
        _, out = self.shell("fusion-audit --help")
        commands = re.findall(r"^  ([a-z]+)  +\w", out, re.M)
        synopsis = read("man", "fusion-audit.1").split(".Sh SYNOPSIS\n")[1].split(".Sh ")[0]
        self.assertEqual(set(re.findall(r"^\.Nm\n\.Cm (\w+)", synopsis, re.M)), set(commands))
        follow = re.search(r"^\.Cm patterns\n\.Cm (.*)", synopsis, re.M).group(1).split(" | ")
        listed = re.findall(r"^\.It Cm (\w+)", read("man", "fusion-audit.1").split(".Sh PATTERNS\n")[1].split(".Sh ")[0], re.M)
        for words in follow, listed:
            self.assertEqual(sorted(words), sorted(self.shell("fusion-audit completion bash -- patterns ''")[1].split()))

    def test_operators(self):
        rows = re.findall(r'^OP\(\w+, "(\w+)", (\w+)', read("src", "ir", "ops", "ops.def"), re.M)
        classes = {"products": "CONTRACT", "elementwise": "ELTWISE", "reductions": "REDUCE", "along an axis": "AXISWISE"}
        items = re.split(r"^\.It (.*)\n", self.section("OPERATORS"), flags=re.M)[1:]
        for head, text in zip(items[::2], items[1::2]):
            listed = " ".join(bold(text)).split()
            if head in classes:
                self.assertEqual(sorted(listed), sorted(name for name, of in rows if of == classes[head]), head)

    def test_keys(self):
        table = read("src", "patterns", "library", "load_pattern.c").split(" keys[] = {")[1].split("\n};")[0]
        self.assertEqual(sorted(re.findall(r"^\.It Cm (\w+)$", self.section("KEYS"), re.M)),
                         sorted(re.findall(r"^    [A-Z]+\((\w+),", table, re.M)))

    def test_idioms(self):
        defined = re.findall(r"^  (?:- \"|  )(\w+\([\w, ]+\)):", read("patterns", "idioms.yml"), re.M)
        listed = " ".join(bold(self.section("IDIOMS").split("The bundled ones are")[1])[0].split())
        self.assertEqual([d for d in defined if "_written(" not in d], re.findall(r"\w+\(.*?\)", listed))


if __name__ == "__main__":
    if not shutil.which("mandoc"):
        print("mandoc is not there")
        sys.exit(77)
    unittest.main()
