#!/usr/bin/env python3
"""Every operator of the table with operands and attributes that it cannot have: no crash, no hang, no sanitizer's report.

usage: malformed_ops.py OPS_DEF PROGRAM REPLAY_MATCH REPLAY_AUDIT [--every=N]
For each operator: no result and two, every number of operands from none to two more than it has, every split into segments of 0, 1 and 2,
every attribute missing, of another kind and extreme. One module an operator goes through search, near misses and notes
(REPLAY_MATCH), all of them in one module through audit and inspect (REPLAY_AUDIT), each also through explain and
`patterns new` (PROGRAM). One op of N is taken, the same each time; without --every one of 130.
"""
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile

OPS_DEF, PROGRAM, MATCH, AUDIT = sys.argv[1:5]
EVERY = int((sys.argv[5:] or ["--every=130"])[0].removeprefix("--every="))
# the last ones: as many elements as no number, or just one, can say
TYPES = ["tensor<%sxf32>" % t for t in ("4x4", "4294967295x4294967295", "3037000499x3037000499", "9223372036854775807",
                                        "1x65535x65535x65535x65535", "9223372036854775807x1x1x9223372036854775807")]
VALUES = ("unit", "true", "-9223372036854775808 : i64", "[99 : i32, -7 : i32]", "array<i64>", "\"x\"", "#absent", "1.0e308 : f32",
          "dense<[1, 2]> : tensor<2xi64>", "array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>")
KEYS = ("dim", "dim_arg", "dimension", "shape", "permutation", "begins", "ends", "step", "keep_dim", "k", "value", "padding",
        "stride", "kernel_size", "groups", "repeat_dimensions", "cluster_axis", "num_heads", "scale", "epsilon", "transpose_b")


def operators():
    """(roles, spelling, attributes) of each row; rows end with a parenthesis at the end of a line."""
    text = re.sub(r"/\*.*?\*/", "", open(OPS_DEF).read(), flags=re.S)
    for row in re.findall(r"^OP\((.*?)\)$", text, re.S | re.M):
        texts = re.findall(r'"([^"]*)"', row)
        roles, spellings = texts[1], next(t for t in texts[2:] if re.match(r"[a-z_]+\.\w+", t))
        keys = re.findall(r"(\w+):", re.search(r'\.attributes\s*=\s*"([^"]*)"|$', row).group(1) or "")
        for spelling in {d: s for s in reversed(spellings.split()) for d in [s.split(".")[0]]}.values():
            yield [r for r in roles.split(",") if r], spelling, keys


def op(name, n, type, dictionary="", results=1):
    """The op, and what the op behind it takes."""
    operands = ", ".join("%%%d" % i for i in range(n))
    names, used = (("", "%1"), ("%r = ", "%r"), ("%r:2 = ", "%r#1"))[results]
    types = ", ".join([type] * n), ", ".join([type] * results)
    return '%s"%s"(%s)%s : (%s) -> (%s)' % (names, name, operands, dictionary, *types), used


def ops_of(roles, name, keys, type):
    for results in (0, 2):
        yield op(name, len(roles), type, results=results)
    for n in range(len(roles) + 3):
        yield op(name, n, type)
        if any("?" in r for r in roles):
            for sizes in itertools.product((0, 1, 2), repeat=min(len(roles), 5)):
                if sum(sizes) in (n, n + 1):
                    yield op(name, n, type, " <{operandSegmentSizes = array<i32: %s>}>" % ", ".join(map(str, sizes)))
    for key in dict.fromkeys(keys + list(KEYS)):
        for value in VALUES:
            yield op(name, len(roles), type, " <{%s}>" % (key if value == "unit" else "%s = %s" % (key, value)))


def functions(ops, type, first):
    args = ", ".join("%%%d: %s" % (i, type) for i in range(12))
    for i, (text, used) in enumerate(ops):
        yield ("func.func @f%d(%s) -> %s {\n  %s\n  %%s = \"ttnn.add\"(%s, %%0) : (%s, %s) -> %s\n  return %%s : %s\n}\n"
               % (first + i, args, type, text, used, type, type, type, type))


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)
    if done.returncode not in (0, 1, 2, 3):
        sys.exit("%s: status %d\n%s%s" % (" ".join(args), done.returncode, done.stdout[-300:].decode(), done.stderr[-3000:].decode()))
    return done


random.seed(1)
with tempfile.TemporaryDirectory() as directory:
    everything, table = [], list(operators())
    for roles, name, keys in table:
        for type in TYPES:
            ops = list(ops_of(roles, name, keys, type))[random.randrange(EVERY) :: EVERY]
            everything += functions(ops, type, len(everything))
    count = len(everything)
    paths = [os.path.join(directory, "%d.mlir" % i) for i in range(0, count, 300)]
    for i, path in enumerate(paths): # of few ops the search for near misses would tell all
        with open(path, "w") as f:
            f.write("module {\n%s}\n" % "".join(everything[300 * i : 300 * (i + 1)]))
    for i in range(0, len(paths), 20):
        done = run(MATCH, *paths[i : i + 20])
        if done.returncode:
            sys.exit(done.stdout[-300:].decode() + done.stderr[-3000:].decode())
    whole = os.path.join(directory, "all.mlir")
    with open(whole, "w") as f:
        everything = everything[::7]
        f.write("module {\n%s}\n" % "".join(everything))
    if run(AUDIT, whole).returncode:
        sys.exit("an audit of all fails")
    run(PROGRAM, "inspect", whole)
    for at in range(3, 6 * len(everything), max(6, len(everything) // (40 if EVERY < 100 else 4) * 6)):
        run(PROGRAM, "explain", "--at=%d" % at, whole)
    for i in range(0, len(paths) - 1, 1 if EVERY < 100 else 5):
        run(PROGRAM, "patterns", "new", "--from=" + paths[i], "--ops=%%r,%%s,@f%d" % (300 * i + 9))
    print("%d ops of %d operators" % (count, len(table)))
    sys.exit(0 if len(table) > 200 and count > 500000 // EVERY else "too few")
