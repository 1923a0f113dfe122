#!/usr/bin/env python3
"""What `patterns check` says of mistakes in pattern files: where, what, and what was meant.

usage: mistakes_test.py PROGRAM
tests/mistakes.txt has blocks: a pattern file, before which HEAD stands if it begins with its formula, and a line
`=> LINE:COLUMN: words of the message | words of the hint` of the first error, which is the only one.
"""
import os
import re
import subprocess
import sys
import tempfile

HEAD = "name: p\nfused_op: ttnn.p\nsource: ttnn\n"
AT_ONCE = 50  # fewer errors than are printed


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mistakes.txt"), encoding="utf-8") as file:
        blocks = [block.rpartition("\n=> ") for block in file.read().strip().split("\n\n")]
    failures, said = 0, {}
    with tempfile.TemporaryDirectory() as directory:
        for i, (text, _, _) in enumerate(blocks):
            with open("%s/%d.yml" % (directory, i), "w", encoding="utf-8") as file:
                file.write((HEAD if re.match("match:|like:", text) else "") + text + "\n")
        for first in range(0, len(blocks), AT_ONCE):
            files = ["%d.yml" % i for i in range(first, min(first + AT_ONCE, len(blocks)))]
            done = subprocess.run([os.path.abspath(sys.argv[1]), "patterns", "check", *files], cwd=directory,
                                  stderr=subprocess.PIPE, text=True, check=False)
            for name, error in re.findall(r"^(\d+)\.yml:(\d+:\d+: error: .*\n(?:  hint: .*\n)?)", done.stderr, re.M):
                said.setdefault(int(name), []).append(error.replace("error: ", "", 1))
            failures += done.returncode != 2
    for i, (text, _, wanted) in enumerate(blocks):
        message, _, hint = wanted.partition(" | ")
        errors = said.get(i, [])
        if len(errors) != 1 or not errors[0].startswith(message.split(" ")[0]) or \
                message.partition(" ")[2] not in errors[0].partition("\n")[0] or hint not in errors[0].partition("\n")[2]:
            failures += 1
            print("%s\n=> %s\nbut: %s" % (text, wanted, "".join(errors)))
    print("%d mistakes, %d failures" % (len(blocks), failures))
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
