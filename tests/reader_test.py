#!/usr/bin/env python3
"""A reader types what README.md and the manual pages show, in order, in a folder with a model and nothing else.
fusion-patterns(5) is read by manual_test.py, the script in Python of fusion-audit(1) by python_test.py.

usage: reader_test.py PROGRAM

A comment before each block of a page says what it is:
  .\\" example: shell, script, python   commands behind "$ "; a script of sh; one of Python
  .\\" example: file OPTION             a file that this option takes
  .\\" example: continued python        goes on where the one before ends
  .\\" example: module                  a script that needs the module
  .\\" example: output                  what is printed, shortened: not run
"""
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from linear_layer import log, module
from load_yaml import load_yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROGRAM = os.path.abspath(sys.argv.pop())
PAGES = [p for p in sorted(glob.glob(os.path.join(ROOT, "man", "*.[157]"))) if not p.endswith("patterns.5")]

# The compiler makes this TTNN of any TTIR; of parallel, what the README asks of it.
COMPILER = "#!/bin/sh\ncat model.ttnn.mlir\n"
PARALLEL = '#!/bin/sh\nwhile read -r line; do sh -c "$(printf "%s" "$1" | sed "s|{}|$line|g")"; done\n'


def read(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()

# Both answer with the comments in comments.json, and write down what else they are asked.
GH = """#!/bin/sh
case "$*" in
*--jq*) eval "filter=\\${$#}"; jq "$filter" comments.json ;;
*) echo "$*" >>asked ;;
esac
"""
CURL = """#!/bin/sh
case "$*" in
*per_page*) cat comments.json ;;
*) echo "$*" >>asked ;;
esac
"""


class Reader(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = directory.name
        for name, text in (("model.ttir.mlir", module("ttir")), ("model.ttnn.mlir", module("ttnn")), ("run.log", log(False)),
                           ("old.log", log(True)), ("new.log", log(True)), ("dumps/llama/decode.ttir.mlir", module("ttir")),
                           ("dumps/llama/decode.ttnn.mlir", module("ttnn"))):
            self.write(name, text)
        with gzip.open(os.path.join(self.dir, "run.log.gz"), "wt") as file:
            file.write(log(False))
        self.bin = tempfile.TemporaryDirectory()
        self.addCleanup(self.bin.cleanup)
        for name, text in (("ttmlir-opt", COMPILER), ("parallel", PARALLEL), ("less", "#!/bin/sh\ncat \"$@\"\n"),
                           ("gh", GH), ("curl", CURL)):
            path = os.path.join(self.bin.name, name)
            with open(path, "w") as file:
                file.write(text)
            os.chmod(path, 0o755)
        os.symlink(PROGRAM, os.path.join(self.bin.name, "fusion-audit"))

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def run_it(self, command, of=("sh", "-c"), statuses=(0, 1)):
        env = dict(os.environ, PATH="%s:%s" % (self.bin.name, os.environ["PATH"]), SLURM_ARRAY_TASK_ID="llama",
                   XDG_CACHE_HOME=self.bin.name, TTIR="model.ttir.mlir", TTNN="model.ttnn.mlir")
        done = subprocess.run([*of, command], cwd=self.dir, env=env, capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, statuses, "%s\n%s" % (command, done.stderr))
        self.assertNotRegex(done.stderr, r"(?m)(^|: )error: |Traceback", command)
        return done

    def test_readme(self):
        """Each block of commands, line by line; what they leave is there for the lines after them."""
        lines = re.findall(r"(?m)^    ((?:fusion-audit|ls|find|sed) .*)$", read("README.md"))
        self.assertGreater(len(lines), 20)
        for line in lines:
            self.write("expect.yml", "ttnn.linear: == 0\n")
            done = self.run_it(line)
            fine = re.match(r"fusion-audit (explain|verify|apply|repro|pass|inspect|try|patterns|diff|summary)|fusion-audit .*baseline|find|sed", line)
            self.assertEqual(done.returncode, 0 if fine else 1, line + done.stderr)
        for name in ("fusion_todo.yml", "page.html", "fused.ttir.mlir", "repro", "known.yml", "my.yml", "comment.md",
                     "reports/llama/decode.yml"):
            self.assertTrue(os.path.exists(os.path.join(self.dir, name)), name)
        self.assertIn('"ttir.linear"', read(os.path.join(self.dir, "fused.ttir.mlir")))

    def test_jobs_of_the_readme(self):
        """Each writes one comment, or changes the one that it has written; the status is that of the audit."""
        actions, gitlab, hooks = [load_yaml(text) for text in re.findall(r"(?ms)^```yaml\n(.*?)^```", read("README.md"))][:3]
        self.assertEqual([hook["id"] for hook in hooks[0]["hooks"]], [hook["id"] for hook in load_yaml(read(".pre-commit-hooks.yaml"))])
        self.run_it("fusion-audit -q --write-baseline=known.yml model.ttir.mlir model.ttnn.mlir")
        mine = {"id": 7, "body": "<!-- fusion-audit: model.ttnn.mlir 0123 -->"}
        for script, new, changed in ((actions[1]["run"], "pr comment", "-X PATCH .*/comments/7 "),
                                     ("\n".join(gitlab["missed-fusions"]["script"]), "--request POST .*/notes$",
                                      "--request PUT .*/notes/7$")):
            for comments, asked in ([], new), ([{"id": 6, "body": "other"}, mine], changed):
                self.write("comments.json", json.dumps(comments))
                self.write("asked", "")
                self.run_it(script, of=("bash", "-e", "-c"), statuses=(0,))
                self.assertRegex(read(os.path.join(self.dir, "asked")), r"(?m)\A.*%s.*\n\Z" % asked)
            self.run_it(script.replace("--baseline=known.yml", ""), of=("bash", "-e", "-c"), statuses=(1,))

    def blocks(self, path):
        """Kind and text of each displayed block, and the commands in the text, in order."""
        found = re.findall(r'(?:^\.\\" example: (.*)\n)?^\.Bd -literal.*\n((?:.*\n)*?)^\.Ed|^\.Dl \$ (.*)\n', read(path), re.M)
        self.assertEqual([text for kind, text, line in found if text and not kind], [], "a block of %s without its kind" % path)
        return [(kind or "shell", (text or "$ " + line + "\n").replace("\\e", "\\").replace("\\(dq", '"')) for kind, text, line in found]

    def test_manual(self):
        kinds = set()
        for path in PAGES:
            program = ""
            self.run_it("fusion-audit -q --format=yaml --format=json model.ttir.mlir model.ttnn.mlir")
            for kind, text in self.blocks(path):
                kinds.add(kind.split()[0])
                if kind == "shell":
                    for command in re.findall(r"^\$ (.*)\n", text, re.M):
                        self.run_it(command)
                elif kind == "script":
                    self.run_it(text)
                elif kind in ("python", "continued python"):
                    program = text if kind == "python" else "import sys\n" + program + text
                    self.run_it(program, of=(sys.executable, "-c"))
                elif kind == "file --expect":
                    self.expectations(text)
                elif kind.startswith("file "):
                    self.write("file.yml", text)
                    self.run_it("fusion-audit -n %s=file.yml model.ttir.mlir model.ttnn.mlir" % kind[5:])
                else:
                    self.assertIn(kind, ("output", "module", "other"))
        self.assertLessEqual({"shell", "script", "python", "continued", "file", "output", "module"}, kinds)

    def expectations(self, text):
        """Of another model: each is read, and none is met."""
        self.write("file.yml", text)
        done = subprocess.run([PROGRAM, "-n", "--expect=file.yml", "model.ttir.mlir", "model.ttnn.mlir"], cwd=self.dir,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, len(re.findall(r"(?m)^file\.yml:\d+:\d+: error: .* expected", done.stderr))), (1, 5), done.stderr)


if __name__ == "__main__":
    if not shutil.which("jq"):
        print("jq is not there")
        sys.exit(77)
    unittest.main()
