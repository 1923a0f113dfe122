#!/usr/bin/env python3
"""What proof/reduce/resize.h makes of the examples of the patterns, in their own extents and with each extent 1, the real
compiler reads where it reads the example. Of TTIR only: TTNN would need layouts and devices, which copies have none of.

usage: copies_test.py EXAMPLES PATTERNS CORPUS [EVERY]
Exit 77: the compiler is not there.
"""
import os
import re
import subprocess
import sys

SKIPPED = 77
SPLIT = "// -----\n"


def modules(examples, mode, patterns):
    """Of TTIR: the place of the example ("patterns/conv.test.yml:19") and the text."""
    text = subprocess.run([examples, mode, patterns], capture_output=True, text=True, check=True).stdout
    for part in text.split(SPLIT):
        place = re.match(r"// (\S+:\d+): ", part)
        for module in part.split("// or\n"):
            if place and "func.func" in module and '"ttnn.' not in module:
                yield place.group(1), module


def refused(compiler, parts):
    """The indices of those that the compiler does not read, with its messages."""
    text = SPLIT.join(module for _, module in parts)
    begins = [0]
    for _, module in parts:
        begins.append(begins[-1] + module.count("\n") + 1)
    run = subprocess.run([compiler, "--split-input-file", "-o", os.devnull], input=text, capture_output=True, text=True)
    errors = {}
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)", run.stderr, re.M):
        errors[next(i for i, end in enumerate(begins[1:]) if int(line) <= end)] = message
    return errors, run.returncode < 0 or (run.returncode != 0 and not errors)


def main():
    examples, patterns, corpus = sys.argv[1:4]
    every = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    get = os.path.join(corpus, os.pardir, "compiler", "get.sh")
    if not os.path.exists(get):
        print("there is no compiler at", get)
        return SKIPPED
    compiler = os.path.join(subprocess.check_output([get], text=True).strip(), "ttmlir-opt")
    copies = list(modules(examples, "ones", patterns))[::every]
    places = {place for place, _ in copies}
    sources = [part for part in modules(examples, "print", patterns) if part[0] in places]
    unread, crashed = refused(compiler, sources)
    unread = {sources[i][0] for i in unread}
    errors, crashed_again = refused(compiler, copies)
    wrong = {i: message for i, message in errors.items() if copies[i][0] not in unread}
    for i, message in wrong.items():
        print(f"{copies[i][0]}: {message}\n{copies[i][1]}")
    print(f"{len(copies)} copies, {len(wrong)} refused; of {len(sources)} examples {len(unread)} are")
    return 1 if wrong or crashed or crashed_again or not copies else 0


if __name__ == "__main__":
    sys.exit(main())
