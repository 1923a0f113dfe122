#!/usr/bin/env python3
"""Holds the folders of src/ to the rules that HACKING.md states.

usage: folders_test.py SOURCE_ROOT [LIBRARY] [--lines]
A folder includes headers of itself and of folders to its left only, cli of itself alone; no files call one another in a circle (read from the
static LIBRARY with nm); no two structs have one name; at most three .c files stand directly in src/; few files name an operator
(K_ADD): others ask for what its row says; patterns/ has no line over 120 columns.
--lines prints the lines of each folder.
"""
import collections
import glob
import os
import re
import subprocess
import sys

# Rooms, each with its sub-rooms, in the order in which they may use one another.
ROOMS = {"base": "", "input": "unpack log", "ir": "ops mlir graph pair", "patterns": "lang library", "search": "automaton match",
         "device": "chips price", "proof": "value numeric reduce trials elements prove", "elementwise": "",
         "report": "place explain needless time page . compare inspect", "authoring": "", "compile": "verify apply vary pass", "cli": ""}
FOLDERS = [room if sub == "." else f"{room}/{sub}" if sub else room
           for room, subs in ROOMS.items() for sub in (subs.split() or [""])]

MOST_AT_TOP = 3
MOST_NAMING_OPERATORS = 26
MOST_COLUMNS_OF_PATTERNS = 120
arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
library = arguments[1] if len(arguments) > 1 else None
src = os.path.join(arguments[0], "src")
failures = []
lines = collections.Counter()
includes = collections.defaultdict(set)

for path in sorted(glob.glob(src + "/**/*.[chd]*", recursive=True)):
    name = os.path.relpath(path, src)
    folder = os.path.dirname(name)
    text = open(path).read()
    lines[folder or "(top)"] += text.count("\n")
    if folder and folder not in FOLDERS:
        failures.append(f"{name}: {folder} is no folder")
        continue
    for header in re.findall(r'^#include "([^"]+)"', text, re.M):
        includes[name].add(header)
        if header == "fusion_audit.h" or not folder:
            continue
        other = os.path.dirname(header)
        if other not in FOLDERS:
            failures.append(f"{name}: includes {header}, which is in no folder")
        elif FOLDERS.index(other) > FOLDERS.index(folder):
            failures.append(f"{name}: includes {header}, which is to its right")
        elif folder == "cli" and other != "cli":
            failures.append(f"{name}: includes {header}: what the program does goes through fusion_audit.h")


# Who calls whom, from the symbols of the compiled library: calls are what makes a circle, not types.
structs = collections.defaultdict(set)
for path in glob.glob(src + "/**/*.[ch]", recursive=True):
    for struct in re.findall(r"^struct (\w+) \{", open(path).read(), re.M):
        structs[struct].add(os.path.relpath(path, src))
for struct, where in sorted(structs.items()):
    if len(where) > 1:
        failures.append(f"struct {struct} is defined in {' and '.join(sorted(where))}")
defined, called = {}, collections.defaultdict(set)
if library:
    listing = subprocess.run(["nm", "-A", library], capture_output=True, text=True, check=True).stdout
    for where, kind, symbol in re.findall(r"[:/]src_(\S+)\.c\.o:\s*[0-9a-f]* ([A-Za-z]) (\S+)", listing):
        if kind == "U":
            called[where].add(symbol)
        elif kind in "TDRBVC":
            defined[symbol] = where
edges = {a: {defined[s] for s in symbols if s in defined} - {a} for a, symbols in called.items()}


def find_circles():
    """Files that call one another (strongly connected components, Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on_stack.add(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on_stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            circle = []
            while not circle or circle[-1] != v:
                circle.append(stack.pop())
                on_stack.discard(circle[-1])
            if len(circle) > 1:
                found.append(sorted(circle))

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return found


for circle in find_circles():
    failures.append("a circle: " + ", ".join(circle))
top = glob.glob(src + "/*.c")
if len(top) > MOST_AT_TOP:
    failures.append(f"{len(top)} .c files directly in src/, at most {MOST_AT_TOP}")
naming = [path for path in glob.glob(src + "/**/*.*", recursive=True) if re.search(r"\bK_[A-Z]", open(path).read())]
if len(naming) > MOST_NAMING_OPERATORS:
    failures.append(f"{len(naming)} files name operators, at most {MOST_NAMING_OPERATORS}")

patterns = {path: open(path).read() for path in glob.glob(f"{arguments[0]}/patterns/*.yml")}
failures += [f"{path}:{n}: {len(line)} columns, at most {MOST_COLUMNS_OF_PATTERNS}" for path, text in patterns.items()
             for n, line in enumerate(text.split("\n"), 1) if len(line) > MOST_COLUMNS_OF_PATTERNS]

if "--lines" in sys.argv:
    for folder in [*FOLDERS, "(top)"]:
        print(f"{folder:16} {lines[folder]:6}")
    print(f"{'all':16} {sum(lines.values()):6}")
for failure in failures:
    print("FAIL", failure)
sys.exit(1 if failures else 0)
