#!/usr/bin/env python3
"""The README's snippets for CI, run with stand-ins for what talks to the server: what they print, send and exit with.

usage: snippets_test.py PROGRAM
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# Says what it was called with; answers a request for comments with one that is there, where there is a file `there`.
CLIENT = """#!/bin/sh
printf '%s\\n' "$*" >> calls
case "$*" in
*--paginate*) [ ! -e there ] || echo 17 ;;
*per_page*) if [ -e there ]; then echo '[{"id": 17, "body": "<!-- fusion-audit: model.ttnn.mlir 1 -->"}]'; else echo '[]'; fi ;;
esac
"""


def snippet(before):
    """The shell script in the first YAML block that has this text."""
    with open(os.path.join(ROOT, "README.md")) as f:
        blocks = re.findall(r"```yaml\n(.*?)```", f.read(), re.S)
    block = next(b for b in blocks if before in b)
    lines = block[block.index(before) + len(before):].split("\n")[1:]
    indent = len(lines[0]) - len(lines[0].lstrip())
    end = next((i for i, l in enumerate(lines) if l.strip() and len(l) - len(l.lstrip()) < indent), len(lines))
    return textwrap.dedent("\n".join(lines[:end]))


class Snippets(unittest.TestCase):
    def run_it(self, script, there, known):
        """Exit status, calls of the client, and the comment."""
        with tempfile.TemporaryDirectory() as d:
            for name in "gh", "curl":
                with open(os.path.join(d, name), "w") as f:
                    f.write(CLIENT)
                os.chmod(os.path.join(d, name), 0o755)
            os.symlink(PROGRAM, os.path.join(d, "fusion-audit"))
            for level in "ttir", "ttnn":
                shutil.copy(os.path.join(ROOT, "fixtures", f"dit.{level}.mlir"), os.path.join(d, f"model.{level}.mlir"))
            with open(os.path.join(d, "known.yml"), "w") as f:
                f.write("known_findings: []\n")
            if known:
                subprocess.run([PROGRAM, "-q", "--write-baseline=known.yml", "model.ttir.mlir", "model.ttnn.mlir"], cwd=d, check=True)
            if there:
                open(os.path.join(d, "there"), "w").close()
            env = {**os.environ, "PATH": d + ":" + os.environ["PATH"], "GITHUB_REPOSITORY": "o/r", "PR_NUMBER": "3", "TOKEN": "t",
                   "CI_API_V4_URL": "https://host/api/v4", "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "2"}
            done = subprocess.run(["sh", "-e", "-c", script], cwd=d, env=env, capture_output=True, text=True)
            with open(os.path.join(d, "calls")) as calls, open(os.path.join(d, "comment.md")) as comment:
                return done.returncode, calls.read().splitlines(), comment.read()

    def check(self, script, update, create):
        for there in True, False:
            for known in True, False:
                status, calls, comment = self.run_it(script, there, known)
                self.assertEqual(0 if known else 1, status)
                self.assertEqual(2, len(calls), calls)
                self.assertIn(update if there else create, calls[1])
                self.assertTrue(comment.startswith("<!-- fusion-audit: model.ttnn.mlir "), comment[:80])

    def test_github(self):
        self.check(snippet("  run: |"), "api -X PATCH repos/o/r/issues/comments/17 -F body=@comment.md", "pr comment 3 --body-file comment.md")

    @unittest.skipUnless(shutil.which("jq"), "jq is not there")
    def test_gitlab(self):
        notes = "https://host/api/v4/projects/1/merge_requests/2/notes"
        self.check(snippet("  script:\n    - |"), f"PUT --header PRIVATE-TOKEN: t --data-urlencode body@comment.md {notes}/17",
                   f"POST --header PRIVATE-TOKEN: t --data-urlencode body@comment.md {notes}")


unittest.main()
