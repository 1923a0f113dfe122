#!/usr/bin/env python3
"""What is said of mistakes, and where: in pattern files (mistakes.txt) by `patterns check`, in IR (input.txt) by `inspect`.

usage: mistakes_test.py PROGRAM TABLE
The tables have blocks: a text, before which HEAD stands if it is a part of one, and for each mistake a line
`=> LINE:COLUMN: words of the message | words of the hint`; `=> fine` if there is none. Lines of IR count behind HEAD.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

PATTERN_HEAD = "name: p\nfused_op: ttnn.p\nsource: ttnn\n"
IR_HEAD = """\
#ok = [1]
#not = [#gone]
#self = #self
#one = #two
#two = #one
!loop = !loop
module {
func.func @main(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %v: tensor<3xf32>, %a: i32) {
"""
AT_ONCE = 50  # fewer errors than are printed
PATTERNS = len(sys.argv) > 2 and sys.argv[2] == "mistakes.txt"


def whole(text):
    """The file, and how many lines of it stand before the text that do not count."""
    if PATTERNS:
        return (PATTERN_HEAD if re.match("match:|like:", text) else "") + text + "\n", 0
    if re.match('[%"= ]', text):
        return IR_HEAD + text + "\nreturn\n}\n}\n", IR_HEAD.count("\n")
    return text + "\n", 0


def said_of(files, directory):
    """Of each file what is said, as (line, column, severity, message, hint)."""
    command = ["patterns", "check"] if PATTERNS else ["inspect", "--json"]
    done = subprocess.run([os.path.abspath(sys.argv[1]), *command, *files], cwd=directory, capture_output=True, text=True,
                          check=False)
    if PATTERNS:
        rows = re.findall(r"^(\d+):(\d+):(\d+): (error): (.*)\n(?:  hint: (.*)\n)?", done.stderr, re.M)
    else:
        rows = [(d["file"], d["line"] or 0, d["column"] or 0, d["severity"], d["message"], d["hint"] or "")
                for d in json.loads(done.stdout)["diagnostics"]]
    for file, line, column, *rest in rows:
        yield int(file), (int(line), int(column), *rest)


def fits(wanted, said, before):
    """Whether the lines behind `=>` are what is said."""
    rows = [re.match(r"(\d+):(\d+): (?:(note|warning): )?(.*?) ?(?:\| (.*))?$", row) for row in wanted if row != "fine"]
    return len(rows) == len(said) and all(
        (int(row[1]) + before, int(row[2]), row[3] or "error") == it[:3] and row[4] in it[3] and (row[5] or "") in it[4]
        for row, it in zip(rows, said))


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[2]), encoding="utf-8") as file:
        blocks = [re.sub("(?m)^# .*\n", "", block).split("\n=> ") for block in file.read().strip().split("\n\n")]
    failures, said = 0, [[] for _ in blocks]
    with tempfile.TemporaryDirectory() as directory:
        for i, (text, *_) in enumerate(blocks):
            with open("%s/%d" % (directory, i), "w", encoding="utf-8") as file:
                file.write(whole(text)[0])
        for first in range(0, len(blocks), AT_ONCE):
            files = [str(i) for i in range(first, min(first + AT_ONCE, len(blocks)))]
            for i, row in said_of(files, directory):
                said[i].append(row)
    for (text, *wanted), rows in zip(blocks, said):
        if not fits(wanted, rows, whole(text)[1]):
            failures += 1
            print("%s\n=> %s\nbut: %s\n" % (text, "\n=> ".join(wanted), rows))
    print("%d texts, %d failures" % (len(blocks), failures))
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
