#!/usr/bin/env python3
"""Audits real compiler output and checks what must and must not be found.

usage: corpus_test.py PROGRAM CORPUS
The corpus is not part of the project: without it the test is skipped (exit 77).
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from load_yaml import load_yaml

PROGRAM, CORPUS = sys.argv[1], sys.argv[2]
MODELS = os.path.join(CORPUS, "models")
DIT = os.path.join(CORPUS, "dit")
SDPA = "ttnn.scaled_dot_product_attention"
failures = []
checks = 0


def check(ok, what):
    global checks
    checks += 1
    if not ok:
        failures.append(what)
        print("FAIL", what)


def audit(*args, source="ttnn:dialect"):
    """Report of an audit as {fused_op: instances}, its exit status, what it printed and its bytes."""
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "todo.yml")
        p = subprocess.run([PROGRAM, "-q", "--source=" + source, "-o", out, *args], capture_output=True, text=True)
        found = collections.defaultdict(list)
        raw = b""
        if os.path.exists(out):
            raw = open(out, "rb").read()
            for entry in load_yaml(raw)["missed_fusions"]:
                # the first place says what to do about all of them
                action = re.findall(r"^action: .*$", entry["instances"][0]["notes"], re.M)
                found[entry["fused_op"]] += [dict(i, action="".join(action)) for i in entry["instances"]]
        return found, p.returncode, p.stderr, raw


def fused_in(path):
    """Fused ops that a TTNN file has, by name."""
    text = open(path).read()
    count = collections.Counter(re.findall(r'"(ttnn\.[a-z_0-9]+)"\(', text))
    return count


def attention(found):
    return len(found[SDPA]) + len(found[SDPA + "_decode"])


def pair(name, suffix):
    return os.path.join(MODELS, name + ".ttir.mlir"), os.path.join(MODELS, name + suffix)


def check_truth():
    rows = [line.split("\t") for line in open(os.path.join(MODELS, "truth.tsv")).read().split("\n") if line]
    wanted = collections.defaultdict(dict)
    for name, op, n in rows:
        wanted[name][op] = int(n)
    both = total = 0
    for name in sorted(wanted):
        found, status, err, raw = audit(*pair(name, ".ttnn-unfused.mlir"))
        off = pair(name, ".ttnn-unfused.mlir")[1] + ": note: no op of it is fused: fusing seems to be off\n"
        check(err in ("", off), f"{name}: reads without a diagnostic: {err[:200]}")
        linear = wanted[name].get("ttnn.linear", 0)
        check(len(found["ttnn.linear"]) >= linear, f"{name}: {len(found['ttnn.linear'])} of {linear} linear")
        n = wanted[name].get(SDPA, 0) + wanted[name].get(SDPA + "_decode", 0)
        check(attention(found) >= n, f"{name}: {attention(found)} of {n} attentions")
        for op in found:
            for instance in found[op]:
                total += 1
                both += "ttir_segment" in instance and "ttnn_segment" in instance
        again = audit(*pair(name, ".ttnn-unfused.mlir"))[3]
        check(raw == again, f"{name}: the report does not change from run to run")
    check(both >= 0.99 * total, f"{both} of {total} instances carry both segments")
    print(f"unfused: {total} instances, {both} with both segments")


# What the compiler really leaves behind in the promoted files: (linear, layer_norm, attention).
LEFT = collections.defaultdict(lambda: (0, 0, 0))
for layer in ("decode", "prefill"):
    for phi in ("phi_1", "phi_1_5", "phi_2"):
        LEFT[f"{phi}_{layer}_layer"] = (0, 2, 0)
for llama in ("llama_3_1_8b", "llama_3_2_1b", "llama_3_2_3b", "llama_3_8b"):
    LEFT[f"{llama}_decode_block"] = (0, 0, 1)
for phi in ("phi_1", "phi_1_5", "phi_2"):
    LEFT[f"{phi}_decode_block"] = (0, 0, 1)
LEFT["bert_encoder_layer"] = (1, 0, 0)  # the pooler's tanh
LEFT["segformer"] = (18, 30, 8)
LEFT["llama_attention"] = (0, 0, 1)


def models():
    return sorted(f[: -len(".ttir.mlir")] for f in os.listdir(MODELS) if f.endswith(".ttir.mlir"))


def check_promoted():
    for name in models():
        # a norm of what is small saves launches and no time, which is not told by default
        found, status, err, _ = audit(*pair(name, ".ttnn-promoted.mlir"), "--min-saving=0us")
        got = (len(found["ttnn.linear"]), len(found["ttnn.layer_norm"]), attention(found))
        check(err == "", f"{name}: promoted reads without a diagnostic: {err[:200]}")
        check(got == LEFT[name], f"{name}: promoted has (linear, layer_norm, attention) {got}, expected {LEFT[name]}")


UNDONE = (SDPA, "ttnn.rotary_embedding", "ttnn.concatenate_heads", "ttnn.group_norm")
# Heads of 80 and 100 elements: the fused op takes multiples of 32 only.
REFUSED = {(name, "ttnn.concatenate_heads"): 1 for name in ("phi_2_prefill_layer", "llama_attention")}


def check_undone():
    """What the default pipeline fused and took apart again is missed, and said to be so."""
    for name in models():
        before, after = (fused_in(pair(name, suffix)[1]) for suffix in (".ttnn.mlir", ".ttnn-promoted.mlir"))
        for kept in (before, after):
            kept[SDPA] += kept[SDPA + "_decode"]
        found, *_ = audit(*pair(name, ".ttnn.mlir"))
        found[SDPA] += found[SDPA + "_decode"]
        for op in UNDONE:
            want = after[op] - before[op] - REFUSED.get((name, op), 0)
            said = sum("decomposed again" in instance["action"] for instance in found[op])
            check(said >= want, f"{name}: {said} of {want} {op} that were taken apart")


def check_preconditions():
    found, *_ = audit(*pair("segformer", ".ttnn-promoted.mlir"))
    for instance in found["ttnn.layer_norm"]:
        check(instance["notes"].count("precondition:") >= 3, "segformer: 1/N and epsilon are stated")
    for instance in found[SDPA]:
        check("precondition: the scale" in instance["notes"], "segformer: the scale is stated")


def check_dit():
    def at(name):
        return os.path.join(DIT, name)

    for args, what in (
        ((at("dit_block_op.ttir.mlir"), at("dit_block_op.ttnn.mlir")), "op"),
        ((at("dit-trace.log"),), "log"),
        ((at("dit_block_prim.ttir.mlir"), at("dit_block_prim.ttnn.mlir")), "prim"),
    ):
        found, status, err, _ = audit(*args)
        check(err == "" and status == 1, f"dit {what}: status {status} {err[:200]}")
        check(len(found["ttnn.layer_norm"]) == 4, f"dit {what}: {len(found['ttnn.layer_norm'])} of 4 layer_norms")
        check(attention(found) == 2, f"dit {what}: {attention(found)} of 2 attentions")
        # ttnn-decomposition takes these apart at level 0, always
        heads = len(found["ttnn.concatenate_heads"])
        check(heads == 2, f"dit {what}: {heads} of 2 concatenations of heads")
        check(sum(map(len, found.values())) == 8, f"dit {what}: nothing else: { {k: len(v) for k, v in found.items()} }")
    found, *_ = audit("--ttnn-only", os.path.join(CORPUS, "issues", "tt-xla-4545-2.mlir"))
    check(not found["ttnn.layer_norm"], "a modulation for each batch element is no weight")
    found, *_ = audit("--ttnn-only", os.path.join(CORPUS, "issues", "tt-xla-4545-1.mlir"))
    check(len(found["ttnn.layer_norm"]) == 1, "a modulation by one row is a weight")


def check_theoretical():
    """Kernels of other ecosystems that the issues name, and those that they do not."""
    for issue, fused, n in (
        ("tt-mlir-8046-2", "triton.liger_kernel.ops.LigerFusedAddRMSNormFunction", 1),
        ("tt-mlir-8934-1", "triton.liger_kernel.ops.LigerSiLUMulFunction", 1),
        ("tt-xla-4545-2", "cuda.tensorrt_llm.fused_layernorm_adaln", 1),
        ("tt-xla-4545-1", "cuda.tensorrt_llm.fused_layernorm_adaln", 0),
        ("tt-mlir-5149-2", "torch.addmm", 0),
    ):
        path = os.path.join(CORPUS, "issues", issue + ".mlir")
        level = "--ttnn-only" if '"ttnn.' in open(path).read() else "--ttir-only"
        found, *_ = audit(level, path, source="torch,triton,cuda")
        check(len(found[fused]) == n, f"{issue}: {len(found[fused])} of {n} {fused}")


def check_logs():
    """A log finds and ends as its pair does."""
    for log in sorted(os.listdir(os.path.join(CORPUS, "logs"))):
        found, status, err, _ = audit(os.path.join(CORPUS, "logs", log))
        of_pair, status_of_pair, *_ = audit(*pair(log.split(".")[0], ".ttnn.mlir"))
        check(err == "" and status == status_of_pair, f"{log}: status {status}, of its pair {status_of_pair} {err[:200]}")
        count, count_of_pair = ({op: len(found[op]) for op in found} for found in (found, of_pair))
        check(count == count_of_pair, f"{log}: {count}, its pair {count_of_pair}")


def check_layouts():
    """Every layout is read, and each shard is what follows from the tensor's shape, the map, the grid and the tile."""
    files = [os.path.join(d, f) for d, _, names in os.walk(CORPUS) for f in names if not f.endswith((".tsv", ".md"))]
    values = 0
    for i in range(0, len(files), 40):
        p = subprocess.run([PROGRAM, "inspect", "--json", *sorted(files)[i : i + 40]], capture_output=True, text=True)
        for file in json.loads(p.stdout)["files"]:
            for module in (b["module"] for b in file["blocks"] if b["module"]):
                values += sum(layout["values"] for layout in module["layouts"])
                check(module["unread_layouts"] == 0, f"{file['path']}: {module['unread_layouts']} layouts not read")
                check(module["inconsistent_layouts"] == 0, f"{file['path']}: {module['inconsistent_layouts']} misread")
    check(values > 30000, f"only {values} values with a layout")
    print(f"{values} values with a layout, all read")


def check_speed():
    slowest = 0.0
    for f in sorted(os.listdir(MODELS)):
        if not f.endswith(".ttir.mlir"):
            continue
        name = f[: -len(".ttir.mlir")]
        best = 9.0
        for _ in range(3):
            start = time.perf_counter()
            audit(*pair(name, ".ttnn-unfused.mlir"))
            best = min(best, time.perf_counter() - start)
        slowest = max(slowest, best)
    print(f"slowest model: {slowest * 1000:.0f} ms with start, report and its reading in Python")


if not os.path.isdir(MODELS):
    print("no corpus: skipped")
    sys.exit(77)
check_truth()
check_promoted()
check_undone()
check_preconditions()
check_dit()
check_theoretical()
check_logs()
check_layouts()
if "--speed" in sys.argv:
    check_speed()
print(f"{checks - len(failures)} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
