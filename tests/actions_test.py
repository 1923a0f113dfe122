#!/usr/bin/env python3
"""Actions hold against the compiler: each option that a report names is set, the module compiled and audited again,
and no place asks for it any more; what a report says would stay unfused under a flag stays so. Where a report says what
keeps a pattern of the compiler from firing and CHANGES takes that away, the changed module is compiled: it fires.

usage: actions_test.py PROGRAM SHORTHAND EXAMPLES FIXTURES PATTERNS CORPUS [--every=N [--from=K]] [--only=TEXT]
The compiler is ../compiler of the corpus; without it the test is skipped. Modules: TTIR of the corpus and of the
fixtures, the functions of fixtures/frontends and the examples of the patterns; every Nth of them, from the Kth on. Each is
compiled with fusing on and with fusing off. Prints the table of measured/compiler.md, and below it what else was counted. Options of optimization levels above 0 want an op model, which the compiler at hand
lacks: these, and what is neither an option nor such a change, are counted by kind.
"""
import collections
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

from load_yaml import load_yaml
from shorthand_functions import with_arguments

SKIPPED = 77
PIPELINE = "mock-system-desc-arch=wormhole_b0 optimization-level=0"
CPU_SECONDS = 60
TRIED = re.compile(r"set (enable-[\w-]+=\w+)(?: and (enable-[\w-]+=\w+))?")
GATED = re.compile(r"off unless (enable-[\w-]+=true) is set")
REFUSED = re.compile(GATED.pattern + ", and would not fire then")
EXTEND = re.compile(r"extend (\w+): (.*)")
PART = re.compile(r"(?:^|; )at (\d+) places?: ")
KINDS = ("set optimization-level", "extend", "find out why", "no pass makes it", "add an op", "request a kernel",
         "leave it")


def in_line(number, old, new):
    """Changes one line of a module."""
    def change(text):
        lines = text.split("\n")
        lines[number - 1] = re.sub(old, new, lines[number - 1])
        return "\n".join(lines)
    return change


def in_all(old, new):
    return lambda text: re.sub(old, new, text)


def as_parameters(text):
    """Of arguments that have no type as well."""
    kind = "ttcore.argument_type = #ttcore.argument_type<parameter>"
    return re.sub(r"(%\w+: tensor<[^<>]*>)(?=[,)])", r"\1 {" + kind + "}", re.sub(r"ttcore.argument_type = [^>]*>", kind, text))


# What a report says is in the way, and what takes it away: whatever the function then computes, it is to be fused.
CHANGES = [
    (r"it takes a multiply, and here is \S+ \(ttir\.div at line (\d+)\)",
     lambda m: in_line(int(m[1]), "ttir.div", "ttir.multiply")),
    (r"it takes an add, and here is \S+ \(ttir\.subtract at line (\d+)\)",
     lambda m: in_line(int(m[1]), "ttir.subtract", "ttir.add")),
    (r"(?!it wants the slices).*here is \S+ \(ttir\.typecast at line \d+\)( between)?|it wants .* of one element type.*"
     r"|it wants the result in the element type of q;.*|MatmulWithBiasFusionPattern makes no linear of this first, since"
     r" \S+ \(ttir\.typecast at line \d+\) stands in its way",
     lambda m: in_all(r"(?<=[x<])(bf16|f16|f64)(?=[,>])", "f32")),
    (r".*wants the scale marked as a parameter or constant.*",
     lambda m: as_parameters),
    (r"it compares strides and dilations as they are printed, and here are a number and a list",
     lambda m: in_all(r"(stride|dilation) = (\d+) : i32", r"\1 = array<i32: \2, \2>")),
]


def change_for(reasons):
    """What takes all of the reasons away, or None."""
    changes = []
    for reason in reasons.split("; "):
        found = [make(m) for pattern, make in CHANGES for m in [re.fullmatch(pattern, reason)] if m]
        if not found:
            return None
        changes += found

    def change(text):
        for c in changes:
            text = c(text)
        return text
    return change


def limited(command):
    limit = (CPU_SECONDS, CPU_SECONDS)
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit))


class Trials:
    def __init__(self, program, compiler, directory):
        self.program, self.compiler, self.directory = program, compiler, directory
        self.counts, self.failures = collections.Counter(), 0

    def fail(self, text):
        self.failures += 1
        print("FAIL", text, flush=True)

    def compiled(self, ttir, options):
        """The path of the TTNN, or None where the compiler refuses or does not end."""
        out = os.path.join(self.directory, "out.mlir")
        run = limited([self.compiler, "--ttir-to-ttnn-backend-pipeline=%s %s" % (PIPELINE, " ".join(options)),
                       "--mlir-print-debuginfo", ttir, "-o", out])
        return out if run.returncode == 0 else None

    def entries(self, ttir, ttnn, *options):
        run = limited([self.program, "-q", "--unpaired", "--format=json", "-o", "-", *options, ttir, ttnn])
        if run.returncode not in (0, 1):
            self.fail("%s: status %d: %s" % (ttir, run.returncode, run.stderr))
        return json.loads(run.stdout)["missed_fusions"] if run.stdout else []

    def is_made(self, ttir, op):
        """With fusing on, some pass leaves such an op."""
        log = limited([self.compiler, "--ttir-to-ttnn-backend-pipeline=%s enable-fusing-pass=true" % PIPELINE,
                       "--mlir-print-ir-after-all", "--mlir-disable-threading", ttir, "-o", os.devnull]).stderr
        return re.search(r'"tt(ir|nn)\.%s"' % op.partition(".")[2], log) is not None

    def try_module(self, name, ttir):
        fused = None
        for fusing in "true", "false":
            options = ["enable-fusing-pass=" + fusing]
            ttnn = self.compiled(ttir, options)
            if not ttnn:
                self.counts["modules that the compiler refuses"] += 1
                return
            before = self.entries(ttir, ttnn)
            for tried in sorted({TRIED.match(a)[0] for e in before for _, a in actions(e) if TRIED.match(a)}):
                self.try_option(name, ttir, options, before, tried)
            if fusing == "true":
                fused = {e["fused_op"] for e in self.entries(ttir, ttnn, "--include=decomposed,slower")}
                self.try_refusals(name, ttir, options, before)
                self.try_changes(name, ttir, options, before)
                self.count(before)
                continue
            for e in before:   # what does not fire for another reason than the flag does not fire with it
                for _, action in actions(e):
                    self.counts["reasons beside the flag"] += 1 if EXTEND.match(action) else 0
                    if (EXTEND.match(action) and "comes first" not in action and e["fused_op"] not in fused
                            and self.is_made(ttir, e["fused_op"])):   # other passes may leave nothing to find
                        self.fail("%s: %s is fused with enable-fusing-pass=true: %s" % (name, e["fused_op"], action))

    def count(self, before):
        for e in before:
            for places, action in actions(e):
                extend = EXTEND.match(action)
                kind = next((k for k in KINDS if action.startswith(k)), None)
                if not extend or not change_for(extend[2]):
                    self.counts["not tried: " + kind if kind else "places with an option"] += places

    def try_option(self, name, ttir, options, before, option):
        """`option`: "set A and B", as far as the compiler at hand has them."""
        named = [o for o in TRIED.match(option).groups() if o]
        given = {o.partition("=")[0]: o for o in options + ["enable-fusing-pass=true"] + named}   # each pattern's pass is on
        ttnn = self.compiled(ttir, given.values())
        if not ttnn:
            self.fail("%s: the compiler fails: %s" % (name, option))
            return
        after = self.entries(ttir, ttnn)
        self.counts["options tried"] += 1
        for pattern in sorted({pattern_of(e) for e in before if asks(e, option)}):
            asked = sum(n for e in before if pattern_of(e) == pattern for n, a in actions(e) if asks_so(a, option))
            rest = sum(n for e in before if pattern_of(e) == pattern for n, a in actions(e) if not asks_so(a, option))
            left = [(n, a) for e in after if pattern_of(e) == pattern for n, a in actions(e)]
            later = sum(n for n, a in left if a.startswith("set ") and not asks_so(a, option))
            opened = any("is not decided" in notes(e) for e in before if pattern_of(e) == pattern)
            self.counts["patterns tried"] += 1
            if any(asks_so(a, option) for _, a in left) or sum(n for n, _ in left) - later > rest and not opened:
                self.fail("%s: %s, %d places, %s: left: %s" % (name, pattern, asked, option, left))
            elif sum(n for n, _ in left) - later > rest:
                self.counts["patterns of which it was said to be open"] += 1
            elif later:
                self.counts["patterns that another option keeps"] += 1

    def try_refusals(self, name, ttir, options, before):
        """A fusion that would not fire with its flag does not."""
        for flag in sorted({f for e in before for f in REFUSED.findall(notes(e))}):
            ttnn = self.compiled(ttir, options + [flag])
            after = self.entries(ttir, ttnn) if ttnn else []
            for e in before:
                if not REFUSED.search(notes(e)) or asks(e, "set " + flag):
                    continue
                self.counts["refusals tried"] += 1
                if not ttnn or not any(x["fused_op"] == e["fused_op"] for x in after):
                    self.fail("%s: %s is fused with %s: %s" % (name, e["fused_op"], flag, actions(e)))

    def try_changes(self, name, ttir, options, before):
        """Without what is in its way a pattern of the compiler fires."""
        with open(ttir, encoding="utf-8") as f:
            text = f.read()
        changed = os.path.join(self.directory, "changed.ttir.mlir")
        for e in before:
            for places, action in actions(e):
                extend = EXTEND.match(action)
                change = change_for(extend[2]) if extend else None
                if not change or places > 1:
                    continue
                with open(changed, "w", encoding="utf-8") as f:
                    f.write(change(text))
                ttnn = self.compiled(changed, options + GATED.findall(notes(e)))
                left = self.entries(changed, ttnn) if ttnn else []
                self.counts["changes tried" if ttnn else "changes that the compiler refuses"] += 1
                if any(pattern_of(x) == pattern_of(e) and EXTEND.match(a) and EXTEND.match(a)[1] == extend[1]
                       for x in left for _, a in actions(x)):
                    self.fail("%s: changed, and it does not fire: %s" % (name, action))


def notes(entry):
    return "\n".join(i["notes"] for i in entry["instances"])


def pattern_of(entry):
    return entry["instances"][0]["pattern"]


def actions(entry):
    """Pairs of a number of places and what is to be done there."""
    text = re.search(r"^action: (.*)", notes(entry), re.M)
    parts = PART.split(text.group(1)) if text else []
    if len(parts) < 2:
        return [(len(entry["instances"]), parts[0])] if parts else []
    return [(int(n), a) for n, a in zip(parts[1::2], parts[2::2])]


def asks_so(action, option):
    return TRIED.match(action) is not None and TRIED.match(action)[0] == option


def asks(entry, option):
    return any(asks_so(a, option) for _, a in actions(entry))


def frontends(shorthand, fixtures, directory):
    texts = []
    for path in sorted(glob.glob(os.path.join(fixtures, "frontends", "*.yml"))):
        with open(path, encoding="utf-8") as f:
            texts += ["%s ttir\n%s----\n" % (x["name"], with_arguments(x["ops"])) for x in load_yaml(f.read())
                      if x.get("level", "ttir") == "ttir"]
    subprocess.run([shorthand, directory], input="".join(texts), text=True, check=True)


def hits(examples, patterns, directory):
    """Those examples of direct patterns that are matched in TTIR."""
    text = subprocess.run([examples, "print", patterns], capture_output=True, text=True, check=True).stdout
    for module in text.split("// -----\n"):
        head = re.search(r"^// (?!.*theory_)\S+ (.*) \(hit\)", module, re.M)
        if head and '"ttir.' in module and '"ttnn.' not in module:
            with open(os.path.join(directory, re.sub(r"\W+", "_", head[1]) + ".ttir.mlir"), "w", encoding="utf-8") as f:
                f.write(module)


def modules(made, fixtures, corpus):
    """Pairs of a name and a path."""
    found = glob.glob(os.path.join(corpus, "*", "*.ttir.mlir"))
    found += glob.glob(os.path.join(fixtures, "**", "*.ttir.mlir"), recursive=True)
    found += glob.glob(os.path.join(made, "*.ttir.mlir"))
    return sorted((os.path.join(*path.split(os.sep)[-2:]), path) for path in found)


COLUMNS = {"modules": "modules", "options": "options tried", "patterns": "patterns tried", "refusals": "refusals tried",
           "reasons beside the flag": "reasons beside the flag", "changes": "changes tried"}


def print_table(name, counts, failures):
    print("| | %s | fail |\n%s" % (" | ".join(COLUMNS), "|---" * (len(COLUMNS) + 2) + "|"))
    print("| %s | %s | %d |\n" % (name, " | ".join(str(counts.pop(key, 0)) for key in COLUMNS.values()), failures))
    for what, n in sorted(counts.items()):
        print("%6d  %s" % (n, what))


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    program, shorthand, examples, fixtures, patterns, corpus = (os.path.abspath(a) for a in sys.argv[1:]
                                                                if not a.startswith("--"))
    get = os.path.join(corpus, os.pardir, "compiler", "get.sh")
    if not os.path.exists(get):
        print("there is no compiler at", get)
        return SKIPPED
    compiler = os.path.join(subprocess.check_output([get], text=True).strip(), "ttmlir-opt")
    with tempfile.TemporaryDirectory() as directory:
        made = os.path.join(directory, "made")
        os.mkdir(made)
        frontends(shorthand, fixtures, made)
        hits(examples, patterns, made)
        trials = Trials(program, compiler, directory)
        every, first, only = int(options.get("every", 1)), int(options.get("from", 0)), options.get("only", "")
        for i, (name, path) in enumerate(modules(made, fixtures, corpus)):
            if i % every == first and only in name:
                trials.counts["modules"] += 1
                trials.try_module(name, path)
    print_table("`%s`" % only if only else "all", trials.counts, trials.failures)
    return trials.failures > 0


if __name__ == "__main__":
    sys.exit(main())
