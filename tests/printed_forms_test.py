#!/usr/bin/env python3
"""The findings do not depend on the flags that MLIR printed a module with: the models of the corpus, in each form that
mlir-opt prints, against the text as it is. Exit 77: mlir-opt or the corpus is not there.

usage: printed_forms_test.py AUDITS CORPUS [MODEL...]
Each model is printed in one of the forms, models that are named in all of them.
"""
import glob
import os
import re
import sys
import tempfile

from audits import Audits
from reader_vs_mlir_opt import MLIR_OPT, run_mlir_opt

FORMS = {
    "generic": ["--mlir-print-op-generic"],
    "local scope": ["--mlir-print-local-scope"],
    "names of locations": ["--mlir-use-nameloc-as-prefix"],
    "unique ids": ["--mlir-print-unique-ssa-ids"],
    "users": ["--mlir-print-value-users"],
    "elided": ["--mlir-elide-elementsattrs-if-larger=4", "--mlir-elide-resource-strings-if-larger=4"],
    "generic, users, local scope": ["--mlir-print-op-generic", "--mlir-print-value-users", "--mlir-print-local-scope"],
}
PRETTY = ["--mlir-pretty-debuginfo"]
AUDITS, CORPUS = sys.argv[1:3]


def finding(fused_op, instance):
    """Fused op, the ops of both segments and the notes (the verdict of the proof is one), but names and line numbers."""
    ops = [re.findall(r'= "([\w.]+)"\(', instance.get(level, "")) for level in ("ttir_segment", "ttnn_segment")]
    return fused_op, ops, re.sub(r"%[\w$.#-]+|at line \d+", "%", instance["notes"])


def findings(report):
    return sorted(finding(entry["fused_op"], i) for entry in report or [] for i in entry["instances"])


def main():
    models = sys.argv[3:] or sorted(f[: -len(".ttir.mlir")] for f in glob.glob(CORPUS + "/models/*.ttir.mlir"))
    if not MLIR_OPT or not models:
        print("mlir-opt or the corpus is not there")
        return 77
    audits, failed, same = Audits(AUDITS), 0, 0
    with tempfile.TemporaryDirectory() as directory:

        def printed(path, flags):
            out = os.path.join(directory, os.path.basename(path))
            with open(out, "w") as f:
                f.write(run_mlir_opt(path, ["--mlir-print-debuginfo"] + flags))
            return out

        for i, model in enumerate(models):
            pair = model + ".ttir.mlir", model + ".ttnn-unfused.mlir"
            status, said, report = audits.audit("both", *pair)
            want = status, said, findings(report)
            forms = list(FORMS.items())
            for form, flags in forms if sys.argv[3:] else [forms[i % len(forms)]]:
                status, said, report = audits.audit("both", *(printed(f, flags) for f in pair))
                got = status, said, findings(report)
                same += got == want
                if got != want:
                    failed += 1
                    print(f"{model}, {form}: {got[0]} {got[1][:3]} {len(got[2])}; plain: {want[0]} {want[1]} {len(want[2])}")
                    print("\n".join(f"  {a}\n  {b}" for a, b in zip(got[2], want[2]) if a != b)[:2000])
            if i % 8 == 0:
                status, said, _ = audits.audit("both", *(printed(f, PRETTY) for f in pair))
                if status != 3 or len(said) != 2 or not all("--mlir-pretty-debuginfo" in line for line in said):
                    failed += 1
                    print(f"{model}: pretty locations: {status} {said[:4]}")
    audits.close()
    print(f"{same} printed pairs with the findings of the plain text, {failed} different")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
