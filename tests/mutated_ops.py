#!/usr/bin/env python3
"""Ops as they stand in real IR, changed at random: what the compiler accepts of them is read, however it prints it.

usage: mutated_ops.py PROGRAM COMPILER EXAMPLES PATTERNS [FOLDER...] [--modules=N] [--seed=N]
COMPILER is a script that prints the folder of ttmlir-opt; where it is absent the test is skipped. Ops are taken from the
examples of pattern files (EXAMPLES print PATTERNS) and from *.mlir of folders: of each name, ranks and attributes one.
Extents, ranks, elements, attributes and operands of one are changed, and it is the only op of a module.
"""
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

from legal_test import SPLIT, refused

OP = re.compile(r'(?:%\w+(?::\d+)? = )?"((?:ttir|ttnn)\.\w+)"\([^)]*\)((?: <\{.*\}>)?(?: \{.*\})?) : \((.*)\) -> (.*)$')
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+>)")
PRINTED = [["--mlir-print-op-generic"], ["--mlir-print-debuginfo"], ["--mlir-print-debuginfo", "--mlir-print-local-scope"],
           ["--mlir-print-unique-ssa-ids", "--mlir-print-value-users"], ["--mlir-use-nameloc-as-prefix"]]
AT_A_TIME = 250


def split(text):
    """At commas that stand in no brackets."""
    items, depth = [""], 0
    for before, c in zip(" " + text, text):
        depth += (c in "<([{") - (c in ")]}" or (c == ">" and before != "-"))
        if c == "," and not depth:
            items.append("")
        else:
            items[-1] += c
    return [item.strip() for item in items if item.strip()]


def specimens(texts):
    """By name: name, types of operands, attributes, types of results."""
    seen = {}
    for line in (line.strip() for text in texts for line in text.splitlines()):
        m = OP.match(re.sub(r" loc\(.*$", "", line))
        if m and not re.search(r"#(?!ttnn\.|ttnn<|ttcore\.|ttir\.)", m[0]):
            types, results = split(m[3]), split(re.sub(r"^\((.*)\)$", r"\1", m[4]))
            key = m[1], tuple(t.count("x") for t in types), tuple(sorted(re.findall(r"(\w+) = ", m[2])))
            seen.setdefault(key, [m[1], types, m[2], results])
    return [[s for s in seen.values() if s[0] == name] for name in sorted({key[0] for key in seen})]


def module(name, types, attributes, results):
    of = lambda value, n: ", ".join("%%%s%d" % (value, i) if value == "a" else "%%r#%d" % i for i in range(n))
    out = ", ".join(results)
    return 'module {\n  func.func @f(%s) -> (%s) {\n    %s"%s"(%s)%s : (%s) -> (%s)\n    return %s\n  }\n}\n' % (
        ", ".join("%%a%d: %s" % typed for typed in enumerate(types)), out, "%%r:%d = " % len(results) if results else "", name,
        of("a", len(types)), attributes, ", ".join(types), out, results and of("r", len(results)) + " : " + out or "")


class Mutant(random.Random):
    """An op, changed in place."""

    def of(self, name, types, attributes, results):
        self.types, self.attributes, self.results = types[:], attributes, results[:]
        for _ in range(self.choice([0, 1, 1, 1, 2, 2, 3])):
            self.choice([self.extent, self.order, self.rank, self.everywhere, self.everywhere, self.number, self.number,
                         self.attribute, self.element, self.operand])()
        return module(name, self.types, self.attributes, self.results)

    def shapes(self, change, share=1.0):
        for types in self.types, self.results:
            for i, text in enumerate(types):
                m = TENSOR.fullmatch(text)
                if m and self.random() < share:
                    types[i] = "tensor<%s%s" % ("".join("%dx" % e for e in change([int(e) for e in m[1].split("x")[:-1]])), m[2])

    def extent(self):
        self.shapes(lambda s: [max(0, self.choice([e, e, 1, e + 1, e - 1, 2 * e, e // 2])) for e in s], 0.4)

    def order(self):
        self.shapes(lambda s: self.sample(s, len(s)), 0.4)

    def rank(self):
        front, drop, extent, share = self.random() < 0.5, self.random() < 0.5, self.choice([1, 1, 2]), self.choice([0.4, 1])
        self.shapes(lambda s: (s[1:] if front else s[:-1]) if drop else [extent] + s if front else s + [extent], share)

    def everywhere(self):
        """One extent, wherever it stands."""
        extents = re.findall(r"(\d+)x", " ".join(self.types + self.results))
        if extents:
            old = self.choice(extents)
            new = self.choice([1, 2, 7, int(old) + 1, 2 * int(old)])
            self.shapes(lambda s: [new if e == int(old) else e for e in s])
            self.attributes = re.sub(r"(?<![\w.])%s(?![\w.])" % old, str(new), self.attributes)

    def number(self):
        found = list(re.finditer(r"(?<![\w.])-?\d+(?![\w.])|true|false", self.attributes))
        if found:
            m = self.choice(found)
            old = {"true": 1, "false": 0}.get(m[0]) if m[0].isalpha() else int(m[0])
            new = ["true", "false"][old] if m[0].isalpha() else str(self.choice([old + 1, old - 1, -old, 0, 1, 2 * old]))
            self.attributes = self.attributes[:m.start()] + new + self.attributes[m.end():]

    def attribute(self):
        m = re.match(r" <\{(.*)\}>", self.attributes)
        if m:
            kept = split(m[1])
            kept.pop(self.randrange(len(kept)))
            self.attributes = " <{%s}>" % ", ".join(kept) if kept else ""

    def element(self):
        new, share = self.choice(["f32", "bf16", "f16", "i1", "i32", "si32", "ui32", "ui8"]), self.choice([0.4, 1])
        for types in self.types, self.results:
            types[:] = [re.sub(r"^(tensor<(?:\d+x)*)\w+>", r"\g<1>" + new + ">", t) if self.random() < share else t for t in types]

    def operand(self):
        """One more, or one less."""
        if self.types:
            at, more = self.randrange(len(self.types)), self.random() < 0.4
            self.types[at:at + 1] = [self.types[at]] * 2 if more else []
            m = re.search(r"operandSegmentSizes = array<i32: ([\d, ]*)>", self.attributes)
            sizes, end = [int(n) for n in m[1].split(",")] if m else [], 0
            for i, size in enumerate(sizes):
                end += size
                if at < end:
                    sizes[i] += 1 if more else -1
                    self.attributes = self.attributes[:m.start(1)] + ", ".join(map(str, sizes)) + self.attributes[m.end(1):]
                    break


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    program, compiler, examples, patterns, *folders = (a for a in sys.argv[1:] if not a.startswith("--"))
    if not os.path.exists(compiler):
        sys.exit(77)
    opt = subprocess.run([compiler], capture_output=True, text=True, check=True).stdout.strip() + "/ttmlir-opt"

    def said(*command):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    texts = [said(examples, "print", patterns)] + [
        said(opt, "--split-input-file", "--mlir-print-op-generic", "--mlir-print-local-scope", file)
        for folder in folders for file in sorted(glob.glob(folder + "/**/*.mlir", recursive=True))]
    kinds, random_ = specimens(texts), Mutant(int(options.get("seed", "1")))
    made, accepted, wrong = int(options.get("modules", "500")), 0, 0
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "m.mlir")

        def ours(chunks, level):
            return refused(chunks, path, program, "--%s-only" % level, "--dry-run", "--no-validate",
                           "--limit=diagnostics=100000")
        for turn in range(0, made, AT_A_TIME):
            level = ("ttir", "ttir", "ttir", "ttnn")[turn // AT_A_TIME % 4]
            of_level = [kind for kind in kinds if kind[0][0].startswith(level)]
            chunks = [random_.of(*random_.choice(random_.choice(of_level))) for _ in range(min(AT_A_TIME, made - turn))]
            theirs = refused(chunks, path, opt, "--split-input-file", "-o", os.devnull)
            legal = [chunk for i, chunk in enumerate(chunks) if i not in theirs]
            accepted += len(legal)
            with open(path, "w", encoding="utf-8") as f:
                f.write(SPLIT.join(legal))
            printed = said(opt, "--split-input-file", *PRINTED[turn // AT_A_TIME % len(PRINTED)], path).split(SPLIT)
            for what in legal, printed:
                for number, message in sorted(ours(what, level).items()):
                    wrong += 1
                    print(message, what[number], sep="\n")
    print("%d kinds of ops, %d modules, %d accepted by the compiler, %d of them refused" % (
        sum(map(len, kinds)), made, accepted, wrong))
    sys.exit(wrong > 0 or accepted < made // 10)


if __name__ == "__main__":
    main()
