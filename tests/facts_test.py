#!/usr/bin/env python3
"""scripts/compiler-facts.py over a small history that is made up: what came, went and changed on which day.

usage: facts_test.py SOURCE
"""
import os
import subprocess
import sys
import tempfile

OPS = """class X_Op<string mnemonic, list<Trait> traits = []> : Op<X_Dialect, mnemonic, traits>;
class X_Unary<string mnemonic, list<Trait> traits = []> : X_Op<mnemonic, [A, B] # traits> {
  dag commonArgs = (ins AnyRankedTensor:$input%s);
  let arguments = commonArgs;
  let results = (outs AnyRankedTensor:$result);
}
def X_ExpOp : X_Unary<"exp"> { let description = [{ not } a : $thing }]; }
// def X_GoneOp : X_Unary<"neg">;
def X_AddOp : X_Op<"add"> { let arguments = (ins AnyRankedTensor:$a%s); let results = (outs AnyRankedTensor:$result); }
"""
PIPELINE = """struct O { Option<bool> fuse{*this, "enable-fusing-pass", llvm::cl::desc("on, {or} off"), llvm::cl::init(%s)}; };
"""
SOURCE = "template <typename Op>\nclass %s : public OpRewritePattern<Op> {};\n"
XLA = 'struct C {\n  bool my_fuse = %s;\n};\n'
DAYS = [
    ("2025-04-01", {"ops": OPS % (", AnyRankedTensor:$output", ""), "pipeline": PIPELINE % "false",
                    "source": SOURCE % "ConvWithBias"}),
    ("2025-05-02", {"pipeline": PIPELINE % "true", "source": SOURCE % "ConvAddBias"}),
    ("2025-06-03", {"ops": OPS % ("", ", OptionalAttr<I32Attr>:$width")}),
    ("2025-07-04", {"source": "// class ConvAddBias\n"}),
]
PATHS = {"ops": "include/ttmlir/Dialect/TTIR/IR/TTIROps.td", "pipeline": "include/ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h",
         "source": "lib/Dialect/TTIR/Transforms/TTIRFusing.cpp"}
WANTED = ["{pattern: ConvAddBias, since: 2025-04-01, until: 2025-07-04}", 'default: "2025-04-01 false, 2025-05-02 true"',
          'xla: my_fuse, xla_default: "2025-04-01 true"', "{since: 2025-04-01, ttir: add exp}",
          "{until: 2025-06-03, operand: output, ttir: exp}", "{since: 2025-06-03, attributes: width, ttir: add}"]


def write(root, path, text):
    os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
    with open(os.path.join(root, path), "w") as out:
        out.write(text)


def commit(root, day):
    env = dict(os.environ, GIT_COMMITTER_DATE=day + "T12:00:00+00:00", GIT_AUTHOR_DATE=day + "T12:00:00+00:00",
               GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")
    for args in (["add", "-A"], ["commit", "-q", "-m", day]):
        subprocess.run(["git", "-C", root, *args], check=True, env=env)


def main():
    source = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        mlir, xla, own = (os.path.join(folder, name) for name in ("mlir", "xla", "own"))
        for root in mlir, xla:
            subprocess.run(["git", "init", "-q", root], check=True)
        for day, files in DAYS:
            for name, text in files.items():
                write(mlir, PATHS[name], text)
            commit(mlir, day)
        write(xla, "src/compile_options.h", XLA % "true")
        write(xla, "src/compile_options.cc", 'options.my_fuse = parseBoolOption(compile_options, "my_fuse").value();\n')
        write(xla, "src/module_builder.cc", "options.fuse = compile_options.my_fuse;\n")
        commit(xla, "2025-04-01")
        write(own, "patterns/p.yml", "status: {pass: ttir-fusing, pattern: ConvAddBias, gated: enable-fusing-pass=true}\n")
        write(own, "src/ir/ops/ops.def", '"ttir.exp" "ttir.add" "ttir.neg"\n')
        command = [sys.executable, os.path.join(source, "scripts/compiler-facts.py"), mlir, xla, own]
        said = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    lines = " ".join(said[0].split())
    missing = [w for w in WANTED if w not in lines]
    for w in missing:
        print("not said:", w)
    if missing or "neg" in lines or said[0] != said[1]:
        print(said[0])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
