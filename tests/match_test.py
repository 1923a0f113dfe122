#!/usr/bin/env python3
"""The formula language and its conditions: for each feature places that match and as many that almost do (match.txt);
for each kind of difference what explain says of it (explain.txt); what a fused form is the same as, and what is refuted
(verdicts.txt).

usage: match_test.py PROGRAM TABLE
The tables have blocks: the lines of a formula, other keys of the pattern, and examples as `patterns test` takes them,
each of TTIR or, with that word, of TTNN; `same` and `refuted` are hits, of which the second ones have to fail.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
IDIOMS = os.path.join(HERE, "..", "patterns", "idioms.yml")


def document(number, lines):
    """A block as a pattern of its own."""
    match, keys, tests = [], [], []
    for line in lines:
        example = re.match(r"- (ttnn )?(hit|miss|same|refuted): (.*)", line)
        if example:
            tests += ["- name: line %d" % number, "  level: " + (example[1] or "ttir"), "  %s: |" % ("miss" if example[2] == "miss" else "hit"), "    " + example[3]]
        elif tests:
            tests.append(line)
        elif keys or re.match(r"(where|require|unless|escapes|beside|decomposed|block|notes|torch|fused|outside|replicated|approximate):", line):
            keys.append(line)
        elif not line.startswith("#"):
            match.append("  " + line)
        number += 1
    return "\n".join(["name: line_%d" % number, "fused_op: ttnn.p", "match: |", *match, *keys, "tests:", *tests, ""])


def main():
    with open(os.path.join(HERE, sys.argv[2]), encoding="utf-8") as file:
        table = file.read()
    documents, number = [], 1
    for block in table.split("\n\n"):
        lines = block.splitlines()
        documents.append(document(number, lines))
        number += len(lines) + 1
    lines = table.splitlines()
    hits, misses = (sum(bool(re.match("- (ttnn )?%s: " % what, line)) for line in lines) for what in ("hit", "miss"))
    wrong = {n for n, line in enumerate(lines, 1) if re.match("- (ttnn )?refuted: ", line)}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as patterns:
        patterns.write("---\n".join(documents))
        patterns.flush()
        done = subprocess.run([sys.argv[1], "patterns", "test", "--no-default-patterns", "-P", IDIOMS, "-P", patterns.name],
                              stderr=subprocess.PIPE, text=True, check=False)
    refuted = {int(n) for n in re.findall(r"error: .*\(line (\d+)\): the fused form computes something else", done.stderr)}
    unproved = wrong and re.search(r"[1-9]\d* not evaluated", done.stderr)
    print(done.stderr)
    print("%d places, %d near misses; not refuted: %s" % (hits, misses, sorted(wrong - refuted)))
    as_said = done.stderr.count("error: ") == len(wrong) and wrong == refuted and (done.returncode != 0) == bool(wrong)
    return not as_said or bool(unproved) or hits not in (0, misses)


if __name__ == "__main__":
    sys.exit(main())
