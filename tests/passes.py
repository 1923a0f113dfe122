#!/usr/bin/env python3
"""Patterns as passes of the real compiler: generated, compiled, run on their examples.

usage: passes.py PROGRAM GET_SH [--pdll] [--corpus=DIRECTORY] [--keep=DIRECTORY] [--only=NAMES] [-v]

PROGRAM writes each direct pattern as a pass; the CMakeLists.txt beside them compiles them with clang++-22; ttmlir-opt, which
GET_SH unpacks, loads them. Of each pattern's TTIR examples those that match have to change, the others not, and
`fusion-audit verify` compares before and after. Where all do as they should, NAME.mlir is run as lit runs it, with FileCheck.
With --pdll they are PDLL, which mlir-pdll reads and the pass of FusionPdll.cpp applies.
With --corpus all passes run over the TTIR of its models, with the numbers that are assumed of their arguments: a row for
each says how many direct findings an audit has before and after, and what `verify` says. Prints a table, a row a pattern, and
the sums that measured/passes.md has; exits with 1 where a pass fails, where other examples fuse than are known to, where
verify finds a difference that is neither one of what is no number already (where something is divided by 0) nor one that the
pattern leaves out (`apply` writes the same), where a pass without unchecked conditions fuses what must not be, or where a
model has more fused ops than an audit for them alone has findings.
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

FLAGS = "-O0 -DNDEBUG -Wall -Wextra -Werror -Wno-unused-parameter"
LLVM = "/usr/lib/llvm-22/bin/"

# What no example of a pattern says: a module, and what its pass has to make of it; None: nothing.
CASES = {
    "linear": [
        ("""func.func @keeps_attributes(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16>, %b: tensor<2xbf16>) -> tensor<4x2xbf16> {
  %p = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> {ttcore.weight_dtype = "bfp_bf8"} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
  %o = "ttir.add"(%p, %b) : (tensor<4x2xbf16>, tensor<2xbf16>) -> tensor<4x2xbf16>
  return %o : tensor<4x2xbf16>
}""", r'"ttir.linear"\(%arg0, %arg1, %arg2\) .*\{ttcore.weight_dtype = "bfp_bf8"\}'),
        ("""func.func @keeps_flags(%x: tensor<4x8xbf16>, %w: tensor<2x8xbf16>, %b: tensor<2xbf16>) -> tensor<4x2xbf16> {
  %p = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = true}> : (tensor<4x8xbf16>, tensor<2x8xbf16>) -> tensor<4x2xbf16>
  %o = "ttir.add"(%p, %b) : (tensor<4x2xbf16>, tensor<2xbf16>) -> tensor<4x2xbf16>
  return %o : tensor<4x2xbf16>
}""", r'"ttir.linear"\(%arg0, %arg1, %arg2\) <\{transpose_a = false, transpose_b = true\}>'),
        ("""func.func @turns_by_a_flag(%x: tensor<8x4xbf16>, %w: tensor<8x2xbf16>, %b: tensor<2xbf16>) -> tensor<4x2xbf16> {
  %p = "ttir.matmul"(%x, %w) <{transpose_a = true, transpose_b = false}> : (tensor<8x4xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
  %o = "ttir.add"(%p, %b) : (tensor<4x2xbf16>, tensor<2xbf16>) -> tensor<4x2xbf16>
  return %o : tensor<4x2xbf16>
}""", r'"ttir.linear"\(%arg0, %arg1, %arg2\) <\{transpose_a = true, transpose_b = false\}>'),
        ("""func.func @has_a_layout(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16, "layout">, %b: tensor<2xbf16>) -> tensor<4x2xbf16> {
  %p = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<4x8xbf16>, tensor<8x2xbf16, "layout">) -> tensor<4x2xbf16>
  %o = "ttir.add"(%p, %b) : (tensor<4x2xbf16>, tensor<2xbf16>) -> tensor<4x2xbf16>
  return %o : tensor<4x2xbf16>
}""", None),
    ],
    "rms_norm": [
        ("""func.func @computes_in_the_wider_format(%x: tensor<4x8xf32>, %w: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %q = "ttir.multiply"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = "ttir.mean"(%q) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = "ttir.full"() <{fill_value = 1.0e-05 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
  %a = "ttir.add"(%m, %e) : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %r = "ttir.rsqrt"(%a) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = "ttir.multiply"(%x, %r) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %c = "ttir.typecast"(%n) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %o = "ttir.multiply"(%c, %w) : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return %o : tensor<4x8xbf16>
}""", r'"ttir.rms_norm".*\(tensor<4x8xf32>, tensor<8xf32>\) -> tensor<4x8xf32>'),
        ("""func.func @takes_casts_off(%x: tensor<4x8xbf16>, %w: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %f = "ttir.typecast"(%x) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %q = "ttir.multiply"(%f, %f) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = "ttir.mean"(%q) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = "ttir.full"() <{fill_value = 1.0e-05 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
  %a = "ttir.add"(%m, %e) : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %r = "ttir.rsqrt"(%a) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = "ttir.multiply"(%f, %r) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %c = "ttir.typecast"(%n) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %o = "ttir.multiply"(%c, %w) : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return %o : tensor<4x8xbf16>
}""", r'"ttir.rms_norm"\(%arg0, %arg1\)'),
    ],
}

# Examples that no pass fuses, and why: an audit reads them, FusionMatch.h does not.
NOT_FUSED = {
    "attention": 3,  # the sum of the weights is of f32, the product of bf16; batches are two axes of the scores and one of v
    "clamp_scalar": 1,  # where(1 <= x, 1, x) is a minimum
    "conv2d_scale": 1,  # a negation behind the product
    "group_norm": 1,  # the last reshape stands behind the activation
    "layer_norm": 1,  # heads are split between its ops
    "rms_norm": 1,  # likewise
    "rotary_embedding": 2,  # halves of a slice cut out of what is sliced; neighbours, which the composite does not turn
    "rotary_embedding_complex": 2,  # neighbours
}


def run(command, **more):
    return subprocess.run([str(x) for x in command], capture_output=True, text=True, errors="replace", **more)


def kit(get_sh):
    """The folder of the compiler, or None where it cannot be had."""
    r = run(["sh", "-c", f'exec "{get_sh}" --plugin'])
    folder = r.stdout.strip().splitlines()[-1] if r.stdout.strip() else None
    if r.returncode or not folder or run(["sh", "-c", "command -v clang++-22 && command -v cmake"]).returncode:
        return None
    return folder


def generate(program, directory, names, pdll):
    """The patterns that were written, and the reasons for the others."""
    r = run([program, "patterns", "pass", "-o", directory, "--limit=diagnostics=10000",
             *(["--format=pdll"] if pdll else []), *names])
    reasons = dict(re.findall(r"warning: (\w+): no pass: (.*)", r.stderr))
    unchecked = re.findall(r"note: (\w+): unchecked: (.*)", r.stderr)
    end = "pdll" if pdll else "cpp"
    names = [f[:-5] for f in os.listdir(directory) if f.endswith(".mlir") and os.path.exists(f"{directory}/{f[:-5]}.{end}")]
    return sorted(names), reasons, unchecked


def build_pdll(directory, names, plugin):
    """The plugin that applies any of them, and each as PDL."""
    with open(directory + "/nothing.pdll", "w") as f:
        f.write("Pattern Nothing { erase op<ttir.nothing>(); }")
    for name in [*names, "nothing"]:
        r = run([LLVM + "mlir-pdll", "-x=mlir", "-I", directory, f"{directory}/{name}.pdll", "-o", f"{directory}/{name}.pdl"])
        if r.returncode:
            return r
    return run(["clang++-22", "-std=c++17", "-fPIC", "-fno-exceptions", "-fno-rtti", *FLAGS.split(), "-isystem",
                "/usr/lib/llvm-22/include", "-shared", directory + "/FusionPdll.cpp", "-o", plugin])


def build(folder, directory, plugin):
    """By the folder's own CMakeLists.txt, many passes in one translation unit: the headers of MLIR take longer than they."""
    where = directory + "/build"
    r = run(["cmake", "-S", directory, "-B", where, "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22",
             "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={FLAGS}", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=40",
             "-DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir", f"-DTTMLIR_INCLUDE={folder}/include"])
    if r.returncode == 0:
        r = run(["cmake", "--build", where, "--parallel", "2"])
    if r.returncode == 0:
        os.replace(where + "/libFusions.so", plugin)
    return r


def apply(folder, plugin, passes, texts, path):
    """Each module after a pass; None for one that the compiler refuses."""
    with open(path, "w") as f:
        f.write("\n// -----\n".join(texts))
    r = run(["timeout", "60", folder + "/ttmlir-opt", f"--load-pass-plugin={plugin}",
             f"--pass-pipeline=builtin.module({passes})", "--split-input-file", "--mlir-print-debuginfo", path])
    if r.returncode == 0:
        return r.stdout.split("// -----\n")
    return [None] if len(texts) == 1 else [apply(folder, plugin, passes, [one], path)[0] for one in texts]


def examples(path):
    text = open(path).read().split("\n", 1)[1]
    for one in text.split("// -----"):
        hit = "// It fuses" in one
        yield hit, "\n".join(l for l in one.splitlines() if not l.startswith("//"))


def loaded_ops(text):
    return sorted(re.findall(r'"(ttir\.\w+)"', text or ""))


class Run:
    def __init__(self, args, folder, directory):
        self.args, self.folder, self.directory = args, folder, directory
        self.plugin = directory + "/fusions.so"
        self.wrong = []
        self.sums = dict.fromkeys(["hits", "all hits", "misses", "all misses", "proved", "left out", "lit"], 0)
        self.before, self.after = collections.Counter(), collections.Counter()

    def verify(self, before, after):
        paths = [f"{self.directory}/before.ttir.mlir", f"{self.directory}/after.ttir.mlir"]
        for path, text in zip(paths, (before, after)):
            with open(path, "w") as f:
                f.write(text)
        r = run([self.args.program, "verify", "-q", "--strict", "-o", "-", *paths])
        return r.returncode, r.stdout + r.stderr

    def pass_of(self, name):
        if self.args.pdll:
            return f"fuse-pdll{{patterns={self.directory}/{name}.pdl}}"
        return "fuse-" + name.replace("_", "-")

    def cases(self, name):
        for text, wanted in [] if self.args.pdll else CASES.get(name, []):
            path = self.directory + "/in.mlir"
            before, after = (apply(self.folder, self.plugin, passes, [text], path)[0]
                             for passes in ("fuse-nothing", "fuse-" + name.replace("_", "-")))
            right = after is not None and (re.search(wanted, after) if wanted else loaded_ops(before) == loaded_ops(after))
            if not right or (wanted and self.verify(before, after)[0]):
                self.wrong.append(f"{name}: not {wanted}:\n{text}\n{after}")

    def is_as_applied(self, text, after, name):
        """Whether it computes what `apply` writes, which proves the fusion but for what the pattern itself leaves out."""
        path, out = f"{self.directory}/whole.ttir.mlir", f"{self.directory}/applied.ttir.mlir"
        with open(path, "w") as f:
            f.write(text)
        r = run([self.args.program, "apply", "-q", "--assume=all", "--only=" + name, "-o", out, path])
        if r.returncode:
            return False
        applied = open(out).read()
        return loaded_ops(applied) != loaded_ops(text) and self.verify(applied, after)[0] == 0

    def findings(self, path, *options):
        """Direct findings of an audit by pattern, and by their fused op as TTIR writes it."""
        r = run([self.args.program, "-q", "--ttir-only", "--source=ttnn:dialect", "--format=json", "-o", "-", *options, path])
        if r.returncode not in (0, 1):
            self.wrong.append(f"{path}: {r.stderr[:2000]}")
        entries = json.loads(r.stdout)["missed_fusions"] if r.stdout.strip() else []
        patterns = collections.Counter(i["pattern"] for e in entries for i in e["instances"])
        ops = collections.Counter()
        for e in entries:
            ops[e["fused_op"].replace("ttnn.", "ttir.")] += len(e["instances"])
        return patterns, ops

    def lit(self, name):
        """The status of the RUN line of a test."""
        path = f"{self.directory}/{name}.mlir"
        with open(path) as f:
            command = f.readline().split("RUN: ", 1)[1].strip()
        command = command.replace("%fusions", self.plugin).replace("%t", path + ".pdl")
        command = command.replace("%S", self.directory).replace("%s", path)
        where = os.pathsep.join([self.folder, "/usr/lib/llvm-22/bin", os.environ["PATH"]])
        r = run(["sh", "-c", command], env={**os.environ, "PATH": where})
        if r.returncode:
            self.wrong.append(f"{name}: {command}\n{r.stderr[:2000]}")
        return "passes" if r.returncode == 0 else "fails"

    def model(self, path):
        assumed, after = self.directory + "/assumed.ttir.mlir", self.directory + "/after.ttir.mlir"
        r = run([self.args.program, "apply", "--partial", "--assumed", "--assume=all", "--value=eps=1e-05", "-q", "-o", assumed,
                 path])
        assumed = path if r.returncode else assumed
        r = run([self.folder + "/ttmlir-opt", f"--load-pass-plugin={self.plugin}", "--mlir-print-debuginfo",
                 "--pass-pipeline=builtin.module(fuse-all)", assumed])
        with open(after, "w") as f:
            f.write(r.stdout)
        status = run([self.args.program, "verify", "-q", "--strict", "-o", "-", assumed, after]).returncode
        (before, ops), (left, _) = self.findings(assumed), self.findings(after)
        self.before += before
        self.after += left
        print(f"| {os.path.basename(path)} | {sum(before.values())} | {dict(left) or ''} | {'proved' if status == 0 else status} |",
              flush=True)
        if r.returncode or status:
            self.wrong.append(f"{path}: pass {r.returncode}, verify {status}")
        had, has = (collections.Counter(loaded_ops(text)) for text in (open(assumed).read(), r.stdout))
        for op in ops:
            more = has[op] - had[op]
            if more > ops[op]:  # places that other findings take in
                alone = self.findings(assumed, "--only=" + op.replace("ttir.", "ttnn."))[1][op]
                if more > alone:
                    self.wrong.append(f"{path}: {more} more of {op}, and {alone} findings")

    def pattern(self, name):
        """Hits that fused, hits, misses left alone, misses, proved, different only in what is left out."""
        n = [0, 0, 0, 0, 0, 0]
        unread = 0
        all = list(examples(f"{self.directory}/{name}.mlir"))
        texts = [text for _, text in all]
        befores = apply(self.folder, self.plugin, self.pass_of("nothing"), texts, self.directory + "/in.mlir")
        afters = apply(self.folder, self.plugin, self.pass_of(name), texts, self.directory + "/in.mlir")
        for i, ((hit, text), before, after) in enumerate(zip(all, befores, afters)):
            if before is None:
                unread += 1
                continue
            if after is None:
                self.wrong.append(f"{name}: example {i}: the pass fails\n{text}")
                continue
            changed = before != after
            n[1 if hit else 3] += 1
            n[0 if hit else 2] += changed == hit
            if changed != hit and self.args.verbose:
                print(f"{name}: example {i} {'is not fused' if hit else 'is fused'}\n{text}\n{after}")
            if changed:
                status, said = self.verify(before, after)
                n[4] += status == 0
                values = re.findall(r"at \[.*\]: before (\S+),", said)
                left_out = status == 1 and (bool(values) and not any(re.search(r"\d", v) for v in values)
                                            or self.is_as_applied(before, after, name))
                n[5] += left_out
                if (status == 1 and not left_out) or (status and self.args.verbose):
                    self.wrong.append(f"{name}: example {i}: verify {status}: {said[:3000]}\n{text}\n{after}")
        return n, unread


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("get_sh")
    p.add_argument("--corpus")
    p.add_argument("--keep")
    p.add_argument("--only", default="*")
    p.add_argument("--pdll", action="store_true")
    p.add_argument("-v", "--verbose", action="store_true")
    args = p.parse_args()
    folder = kit(args.get_sh)
    if not folder:
        print("skipped: there is no compiler, no clang++-22, or no cmake")
        return 77
    if args.pdll and not os.path.exists(LLVM + "mlir-pdll"):
        print("skipped: there is no mlir-pdll (the Debian package mlir-22-tools)")
        return 77
    directory = args.keep or tempfile.mkdtemp()
    names, reasons, unchecked = generate(args.program, directory, args.only.split(","), args.pdll)
    text = ""
    if not args.pdll:
        with open(directory + "/FusionPasses.cpp") as f:
            text = f.read()
    if not args.pdll and "fuse-nothing" not in text:
        text = text.replace("void populateAllPatterns", "void populateNothing(RewritePatternSet &) {}\n\nvoid populateAllPatterns", 1)
        text = text.replace('  registerFusion<populateAllPatterns>', '  registerFusion<populateNothing>("fuse-nothing");\n'
                            '  registerFusion<populateAllPatterns>', 1)
        with open(directory + "/FusionPasses.cpp", "w") as f:
            f.write(text)
    plugin = directory + "/fusions.so"
    r = build_pdll(directory, names, plugin) if args.pdll else build(folder, directory, plugin)
    if r.returncode:
        print(r.stderr[:6000])
        return 1
    state = Run(args, folder, directory)
    print("| pass | examples fuse | near misses do not | proved | FileCheck |\n|---|---|---|---|---|")
    for name in names:
        n, unread = state.pattern(name)
        if n[2] != n[3] and name not in dict(unchecked):
            state.wrong.append(f"{name}: fuses {n[3] - n[2]} of its near misses")
        for key, count in zip(state.sums, n):
            state.sums[key] += count
        state.cases(name)
        right = n[0] == n[1] and n[2] == n[3] and not unread
        if not args.pdll and n[1] - n[0] != NOT_FUSED.get(name, 0):  # which has fewer spellings
            state.wrong.append(f"{name}: {n[1] - n[0]} of its examples are not fused, {NOT_FUSED.get(name, 0)} are known")
        lit = state.lit(name) if right and os.path.exists("/usr/lib/llvm-22/bin/FileCheck") else "-"
        state.sums["lit"] += lit == "passes"
        left_out = f" + {n[5]}" if n[5] else ""
        print(f"| `{name}` | {n[0]} of {n[1]} | {n[2]} of {n[3]} | {n[4]}{left_out} | {lit if not unread else 'unread'} |", flush=True)
    print("\n| no pass | why |\n|---|---|")
    for name, why in reasons.items():
        if not why.startswith("the dialect lacks"):
            print(f"| `{name}` | {why} |")
    print("\n| pass | does not check |\n|---|---|")
    for name, what in dict.fromkeys(unchecked):
        print(f"| `{name}` | {what.replace('|', chr(92) + '|')} |")
    print("\n| model | findings | left | verify |\n|---|---|---|---|" if args.corpus else "")
    for path in sorted(glob.glob(args.corpus + "/models/*.ttir.mlir")) if args.corpus else []:
        state.model(path)
    sums = state.sums
    expressible = len(names) + sum(not why.startswith("the dialect lacks") for why in reasons.values())
    print(f"\n{len(names)} of {expressible} patterns that the dialect can express have a pass: "
          f"{sums['hits']} of {sums['all hits']} examples fuse, {sums['misses']} of {sums['all misses']} near misses do not; "
          f"{sums['proved']} results are proved, {sums['left out']} but for what the pattern leaves out or the ops compute no number; {sums['lit']} tests pass with FileCheck")
    if args.corpus:
        left = {n: k for n, k in state.after.items() if n in state.before}
        print(f"models: {sum(state.before.values())} direct findings, {sum(left.values())} after the passes: {left}; "
              f"others after them: {dict(state.after - collections.Counter(left))}")
    print("\n".join(state.wrong))
    return 1 if state.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
