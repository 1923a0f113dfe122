#!/usr/bin/env python3
"""Holds what the notes say of the compiler against what the compiler did.

usage: statements_test.py AUDITS [CORPUS] [-v]
Of CORPUS/fired.mlir, TTIR with what became of it: each statement is `fires`, `does not fire` or `not decided`. None may
be false, and at most 5 % may be undecided. -v prints all statements. Likewise of CORPUS/lit, where the compiler's own
tests say what fuses.
"""
import os
import re
import sys
from collections import Counter

from audits import Audits

ACTIVATIONS = ("relu", "relu6", "silu", "sigmoid", "gelu", "tanh", "leaky_relu")


class Example:
    """The ops of an example before and after."""

    def __init__(self, text):
        self.name, fused, lowered, self.text = text.split("\n", 3)
        self.before = Counter(re.findall(r'"ttir\.(\w+)"\(', self.text))
        self.fused = [op.split(".")[-1] for op in fused.split(":", 1)[1].split()]
        self.lowered = [op.split(".")[-1] for op in lowered.split(":", 1)[1].split()]
        self.after = Counter(self.fused)

    def more(self, *ops):
        return any(self.after[op] > self.before[op] for op in ops)

    def fewer(self, op):
        return self.after[op] < self.before[op]

    def place(self, *ops):
        return max((i for i, op in enumerate(self.fused) if op in ops), default=-1)


# What shows that a pattern of the compiler fired, by its name; else the fused op is there more often.
SHOWN = {
    "MatmulWithBiasFusionPattern": lambda e: e.more("linear", "scaled_dot_product_attention"),
    "ConvAddBias": lambda e: e.fewer("add") or -1 < e.place("add") < e.place(
        "conv2d", "conv3d", "conv_transpose2d", "conv1d"),   # the sum of two biases comes before
    "RepVGGConvSumFusionPattern": lambda e: e.fewer("conv2d"),
    "ConvWithMultiply": lambda e: e.fewer("multiply"),
    "BatchNormDecomposition": lambda e: e.fewer("batch_norm_inference"),
    "PadConv3dFusionPattern": lambda e: e.fewer("pad"),
    "ReluFusionPattern": lambda e: e.more("relu", "relu6"),
    "Relu6FusionPattern": lambda e: e.more("relu6", "hardsigmoid"),
    "ScaledSumToMeanPattern": lambda e: e.fewer("sum"),
    "NumericStableSoftmaxFusionPattern": lambda e: e.fewer("max"),
    "SharedLHSMatmulFusion": lambda e: e.more("concat"),
    "PermuteSliceAfterMatmulPattern": lambda e: e.place("slice_static") < e.place("matmul", "linear"),
    "TTNNMatmulAndLinearWithActivation": lambda e: not set(ACTIVATIONS) & set(e.lowered),
    "TTNNConv2dWithActivation": lambda e: not set(ACTIVATIONS) & set(e.lowered),
}


def happened(example, fused_op, statement):
    """Whether the compiler made the fusion."""
    pattern = re.search(r" has (\w+) for this", statement)
    shown = SHOWN.get(pattern.group(1)) if pattern else None
    if shown:
        return shown(example)
    if "belongs to TTNN" in statement:
        return bool(set(ACTIVATIONS) & set(example.fused)) and not set(ACTIVATIONS) & set(example.lowered)
    return example.more(fused_op.split(".", 1)[1])


def answer(statement):
    for text, said in (("not decided", None), ("does not fire", False), ("did not fire", False), ("no pass", False),
                       ("off unless", False), ("fires here", True)):
        if text in statement:
            return said
    raise ValueError(statement)


def statements(audits, text):
    for entry in audits.audit_text("ttir", text)[2] or []:
        for instance in entry["instances"]:
            line = re.search("^compiler: (.*)$", instance["notes"], re.M)
            if line:
                yield entry["fused_op"], line.group(1)


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    path = os.path.join(arguments[1], "fired.mlir") if len(arguments) > 1 else ""
    if not os.path.exists(path):
        sys.exit(77)
    audits = Audits(arguments[0], "ttnn")
    examples = open(path).read().split("// ----- ")[1:]
    count, false, undecided = 0, 0, 0
    for i, example in enumerate(map(Example, examples)):
        if not example.fused:
            continue   # the compiler failed
        for fused_op, statement in statements(audits, example.text):
            said, did = answer(statement), happened(example, fused_op, statement)
            count += 1
            undecided += said is None
            false += said not in (None, did)
            if said not in (None, did) or "-v" in sys.argv:
                print("%s %d %s: %s: %s\n  fused: %s" % ("FALSE" if said not in (None, did) else "right", i,
                      example.name, fused_op, statement, " ".join(example.fused)))
    path = os.path.join(arguments[1], "lit", "%s.mlir")
    for line in open(path.replace("%s.mlir", "truth.tsv")):
        name, _, _, sign, ops = (line.rstrip("\n").split("\t") + [""])[:5]
        text = open(path % name).read()
        for fused_op, statement in statements(audits, text) if '"ttir.' in text else ():
            if fused_op.split(".")[1] not in ops.split(","):
                continue
            count += 1
            if ("not fire" in statement if sign == "+" else "fires here" in statement):
                false += 1
                print("FALSE %s %s: %s: %s" % (sign, name, fused_op, statement))
    audits.close()
    print("%d examples, %d statements: %d false, %d not decided" % (len(examples), count, false, undecided))
    sys.exit(1 if false or undecided > count * 0.05 or not count else 0)


if __name__ == "__main__":
    main()
