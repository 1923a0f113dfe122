#!/usr/bin/env python3
"""The reader against mlir-opt: names of ops, use-def edges and resolved locations must be the same.

usage: reader_vs_mlir_opt.py DUMP_IR CORPUS
Files that mlir-opt refuses as they are get the custom assembly of the ttcore dialect (which it does
not know) rewritten to generic form first. Exit 77: mlir-opt or the corpus is not there.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
GENERIC = ["--mlir-print-op-generic", "--mlir-print-debuginfo"]
LOC = r'(\s*loc\((?:[^()"]|"[^"]*"|\((?:[^()"]|"[^"]*")*\))*\))?'


def generic_form(text):
    """Rewrites the ops of ttcore whose custom assembly mlir-opt cannot read."""
    out, closers = [], []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        body = line.strip()
        if closers and indent == closers[-1] and body.startswith("}"):
            closers.pop()
            m = re.fullmatch(r"\}" + LOC, body)
            line = " " * indent + "}) : () -> ()" + (m.group(1) or "")
        elif m := re.fullmatch(r"(ttcore\.(?:device|cpu)_module) \{", body):
            closers.append(indent)
            line = f'{" " * indent}"{m.group(1)}"() ({{'
        elif m := re.fullmatch(r"ttcore\.device (@\S+) = <.*>" + LOC, body):
            line = f'"ttcore.device"() <{{sym = {m.group(1)}}}> : () -> (){m.group(2) or ""}'
        else:
            line = re.sub(r"ttcore\.load_cached\((@[^,]+), \[([^\]]*)\]\)", r'"ttcore.load_cached"(\2) <{callee = \1}>', line)
            line = re.sub(r"ttir\.empty\(\) : (.*)", r'"ttir.empty"() : () -> \1', line)
        out.append(line)
    return "\n".join(out)


def run_mlir_opt(path, flags=GENERIC):
    command = [MLIR_OPT, "--allow-unregistered-dialect", *flags]
    result = subprocess.run([*command, path], capture_output=True, text=True)
    if result.returncode == 0:
        return result.stdout
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as f:
        f.write(generic_form(open(path).read()))
        f.flush()
        result = subprocess.run([*command, f.name], capture_output=True, text=True)
        # a file location of this file is one that mlir-opt made up for an op without loc(...)
        return result.stdout.replace(f.name, path) if result.returncode == 0 else None


def split_top(text):
    """Comma separated parts outside of brackets and strings."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        c = text[i]
        if c == '"':
            i = text.index('"', i + 1)
        elif c in "([<":
            depth += 1
        elif c in ")]>":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
        i += 1
    return [p.strip() for p in parts + [text[start:]] if p.strip()]


def loc_names(text, aliases):
    text = text.strip()
    while text in aliases:
        text = aliases[text]
    if text == "unknown":
        return []
    if m := re.match(r'"([^"]*)":(\d+):(\d+)', text):
        return [f"{m.group(1)}:{m.group(2)}:{m.group(3)}"]
    if m := re.fullmatch(r'"([^"]*)"(?:\((.*)\))?', text):
        return [m.group(1)] + (loc_names(m.group(2), aliases) if m.group(2) else [])
    if m := re.fullmatch(r"fused(?:<.*>)?\[(.*)\]", text):
        return [n for part in split_top(m.group(1)) for n in loc_names(part, aliases)]
    if m := re.fullmatch(r"callsite\((.*) at (.*)\)", text):
        return loc_names(m.group(1), aliases) + loc_names(m.group(2), aliases)
    raise ValueError("location: " + text)


def trailing_loc(line):
    """What stands inside the loc(...) at the end of a line."""
    if not line.endswith(")"):
        return None
    depth = 0
    for i in range(len(line) - 1, -1, -1):
        if line[i] == ")":
            depth += 1
        elif line[i] == "(":
            depth -= 1
            if depth == 0:
                return line[i + 1:-1] if line[i - 3:i] == "loc" else None
    return None


def read_generic(text):
    """(name, operands, loc text) of each op of mlir-opt's output, which has one op a line."""
    ops, aliases, scopes, opened = [], {}, [{}], []
    pending = []
    for line in text.split("\n"):
        body = line.strip()
        if m := re.match(r"(#[\w$.-]+) = loc\((.*)\)$", body):
            aliases[m.group(1)] = m.group(2)
        if not body or body[0] in "#!":
            continue
        if body.startswith("^"):
            for k, name in enumerate(re.findall(r"(%[\w$.-]+): ", body)):
                scopes[-1][name] = ("arg", k)
            continue
        if body.startswith("}"):
            scopes.pop()
            if body.startswith("}, {"):
                scopes.append({})
                continue
            op = opened.pop()
            ops[op][2] = trailing_loc(body)
            for k, name in results.pop(op, []):
                scopes[-1][name] = (op, k)
            continue
        m = re.match(r'(?:(%.*?) = )?"([\w.$-]+)"\(([^)]*)\)', body)
        if not m:
            raise ValueError("line: " + body)
        op = len(ops)
        ops.append([m.group(2), [u.strip() for u in m.group(3).split(",") if u.strip()], None])
        pending.append((op, list(scopes)))
        names = []
        for part in (m.group(1) or "").split(","):
            if part.strip():
                name, _, count = part.strip().partition(":")
                names += [(len(names) + k, name + (f"#{k}" if count else "")) for k in range(int(count or 1))]
        if body.endswith("({"):
            opened.append(op)
            results_of(op, names)
            scopes.append({})
        else:
            ops[op][2] = trailing_loc(body)
            for k, name in names:
                scopes[-1][name] = (op, k)
    for op, visible in pending:
        ops[op][1] = [next(s[u] for s in reversed(visible) if u in s) for u in ops[op][1]]
    return ops, aliases


results = {}


def results_of(op, names):
    results[op] = names


def compare(dump_ir, path):
    """None when mlir-opt refuses the file, else a list of differences."""
    generic = run_mlir_opt(path)
    if generic is None:
        return None
    results.clear()
    want, aliases = read_generic(generic)
    dumped = subprocess.run([dump_ir, path], capture_output=True, text=True).stdout.split("\n")[:-1]
    got = [line.split("\t") for line in dumped]
    # mlir-opt wraps what is not in a module
    shift = 1 if got and want and got[0][0] != "builtin.module" and want[0][0] == "builtin.module" else 0
    want = want[shift:]
    if len(got) != len(want):
        return [f"{len(got)} ops, mlir-opt has {len(want)}"]
    bad = []
    for i, ((name, operands, loc), (w_name, w_operands, w_loc)) in enumerate(zip(got, want)):
        if name != w_name:
            bad.append(f"op {i}: {name}, mlir-opt: {w_name}")
        edges = " ".join(f"arg.{k}" if o == "arg" else f"{o - shift}.{k}" for o, k in w_operands)
        if operands != edges:
            bad.append(f"op {i} {name}: operands {operands}, mlir-opt: {edges}")
        if loc != "-" and loc != "|".join(loc_names(w_loc or "unknown", aliases)):
            bad.append(f"op {i} {name}: location {loc}, mlir-opt: {w_loc}")
    return bad


def main():
    dump_ir, corpus = sys.argv[1:3]
    files = sorted(f for d in ("models", "dit", "lit", "issues") for f in glob.glob(f"{corpus}/{d}/*.mlir") if ".frag" not in f)
    if not MLIR_OPT or not files:
        print("mlir-opt or the corpus is not there")
        return 77
    refused, failed, same = [], 0, 0
    for path in files:
        bad = compare(dump_ir, path)
        if bad is None:
            refused.append(os.path.basename(path))
        elif bad:
            failed += 1
            print(f"{path}: {len(bad)} differences")
            print("\n".join("  " + b for b in bad[:5]))
        else:
            same += 1
    print(f"{same} files the same, {failed} different, {len(refused)} refused by mlir-opt: {' '.join(refused)}")
    return 1 if failed or same < len(files) // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
