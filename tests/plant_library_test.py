#!/usr/bin/env python3
"""Forms of the ttnn library planted in graphs of other shapes and spellings than the examples have, each with wrong twins.

usage: plant_library_test.py AUDITS [--first=SEED] [--graphs=N] [--keep=DIRECTORY]
Each form has to be found as its fused op with its root among the ops; of a wrong twin that op must not be found there.
"""
import argparse
import os
import random
import sys
import tempfile

from audits import Audits
from plant_test import Garden, found

LIBRARY = "ttnn.experimental."


def activated(g, wrong):
    """An activation of one operand or of both, and one behind."""
    op, shape = g.rng.choice(("multiply", "add", "subtract")), g.rng.choice(((3, 96), (2, 5, 32), (1, 7, 160)))
    s = g.unary(g.rng.choice(("silu", "gelu", "tanh", "sigmoid")), g.argument(shape))
    left, right = s, g.argument(shape)
    if not wrong and g.chance(0.3):
        right = g.unary("exp", right)
    out = g.binary(op, left, right)
    if not wrong and g.chance(0.5):
        out = g.unary(g.rng.choice(("relu", "neg", "abs")), out)
    return "ttnn." + op, out, [s, g.unary("floor", s)] if wrong else []


def swiglu(g, wrong):
    rows, n, k = g.rng.choice(((5, 64, 32), (3, 96, 64), (64, 160, 32)))
    x = g.argument((rows, k))
    y = g.argument((rows, k)) if wrong == "another input" else x
    gate, up = g.matmul(x, g.parameter((k, n))), g.matmul(y, g.parameter((k, n)))
    act = g.unary("silu", gate) if g.chance(0.5) else g.times(gate, g.unary("sigmoid", gate))
    return LIBRARY + "minimal_matmul_split", g.times(act, up), [act] if wrong == "used elsewhere" else []


def packed_swiglu(g, wrong):
    rows, n, k = g.rng.choice(((6, 64, 32), (2, 96, 64)))
    h = g.matmul(g.argument((rows, k)), g.parameter((k, 2 * n)))
    at = n - 1 if wrong else n
    lo, hi = g.slice(h, 1, 0, n), g.slice(h, 1, at, at + n)
    lo, hi = (hi, lo) if g.chance(0.5) else (lo, hi)
    return LIBRARY + "minimal_matmul_split", g.times(g.unary("silu", lo), hi), []


def gate_and_residual(g, wrong):
    rows, n, k = g.rng.choice(((9, 64, 96), (64, 32, 32), (17, 160, 64)))
    y = g.matmul(g.argument((rows, k)), g.parameter((k, n)))
    if g.chance(0.5):
        y = g.plus(y, g.parameter((n,)))
    gate = g.argument((rows, 1) if wrong == "a gate for each row" else (1, n))
    out = g.plus(g.argument((rows, n)), g.times(y, g.spread(gate, (rows, n))))
    return LIBRARY + "dit_minimal_matmul_addcmul_fused", out, [y] if wrong == "used elsewhere" else []


def three_operands(g, wrong):
    shape = g.rng.choice(((3, 96), (2, 5, 32)))
    a, b, c = g.argument(shape), g.argument(shape), g.argument(shape)
    p = g.times(b, c)
    return "ttnn.addcmul", g.plus(a, p), [p] if wrong else []


def shares(g, wrong):
    shape = g.rng.choice(((3, 96), (2, 5, 32)))
    a, b, w = g.argument(shape), g.argument(shape), g.argument(shape)
    return "ttnn.lerp", g.plus(b if wrong else a, g.times(w, g.sub(b, a))), []


def residual_norm(g, wrong):
    rows, n = g.rng.choice(((5, 64), (33, 96)))
    total = g.plus(g.argument((rows, n)), g.argument((rows, n)))
    op = g.rng.choice(("layer_norm", "rms_norm"))
    operands = [total, g.parameter((n,))]
    sizes = "array<i32: 1, 1, 0>"
    shaped = "normalized_shape = array<i64: %d>, " % n if g.level == "ttir" else ""
    out = g.op(op, operands, "epsilon = 1.0e-05 : f32, %soperandSegmentSizes = %s" % (shaped, sizes), (rows, n))
    return {"layer_norm": "ttnn.layer_norm", "rms_norm": "ttnn.dit_rms_norm_unary_fused"}[op], out, [total] if wrong else []


def attention_of(g, q, k, v, causal=False, mask=None):
    more = ", operandSegmentSizes = array<i32: 1, 1, 1, %d, 0>" % (mask is not None)
    return g.op("scaled_dot_product_attention", [q, k, v] + ([mask] if mask else []),
                "is_causal = %s%s" % (str(causal).lower(), more), q.shape)


def joint(g, wrong):
    heads, n, m, d = g.rng.choice(((2, 96, 32, 64), (5, 64, 96, 32)))
    q, k, v = [g.concat([g.argument((1, heads, n, d)), g.argument((1, heads, m, d))], 2) for _ in range(3)]
    if wrong != "causal" and g.chance(0.4):
        scores = g.times_number(g.matmul(q, g.transpose(k, 2, 3)), 0.25)
        o = g.matmul(g.softmax(scores), v)
    else:
        o = attention_of(g, q, k, v, wrong == "causal")
    cut = n - 32 if wrong == "cut elsewhere" else n
    parts = [g.slice(o, 2, 0, cut), g.slice(o, 2, cut, n + m)]
    return "ttnn.transformer.joint_scaled_dot_product_attention", parts[0], parts[1:]


def windows(g, wrong):
    heads, n, d = g.rng.choice(((2, 96, 64), (5, 64, 32)))
    ids = g.argument((n,), dtype="si32")
    other = g.argument((n,), dtype="si32") if wrong == "numbers of two" else ids
    rows, columns = g.reshape(ids, 1, 1, n, 1), g.reshape(other, 1, 1, 1, n)
    there = g.binary("le" if wrong == "not more" else "eq", rows, columns, "bf16")
    mask = g.where(there, g.full(0.0, (1, 1, n, n), "bf16"), g.full(-1e9, (1, 1, n, n), "bf16"))
    q, k, v = [g.argument((1, heads, n, d), dtype="bf16") for _ in range(3)]
    return "ttnn.scaled_dot_product_attention", attention_of(g, q, k, v, False, mask), []


def repeated_heads(g, wrong):
    groups, times, n, d = g.rng.choice(((2, 3, 32, 64), (4, 2, 64, 32)))
    q = g.argument((1, groups * times, n, d))
    k, v = [g.interleave(g.argument((1, groups, n, d)), times, 1) for _ in range(2)]
    return "ttnn.scaled_dot_product_attention", attention_of(g, q, k, v), [k] if wrong else []


def masked_softmax(g, wrong):
    b, h, n = g.rng.choice(((2, 3, 32), (4, 5, 96)))
    s = g.times_number(g.argument((b, h, n, n)), 0.25)
    mask = g.argument((1 if wrong == "of one batch" else b, h if wrong == "of heads" else 1, g.rng.choice((1, n)), n))
    return "ttnn.scale_mask_softmax", g.softmax(g.plus(s, mask)), []


def packed_heads(g, wrong):
    b, n, h, d = g.rng.choice(((2, 32, 3, 32), (1, 64, 2, 96)))
    r = g.reshape(g.argument((b, n, 3 * h * d)), b, n, 3, h, d)
    order = (2, 0, 1, 3, 4) if wrong else (2, 0, 3, 1, 4)
    t = g.permute(r, *order)
    parts = [g.slice(t, 0, i, i + 1) for i in range(3)]
    heads = [g.reshape(p, *t.shape[1:]) for p in parts]
    return "ttnn.split_query_key_value_and_split_heads", parts[0], heads


def weighed_experts(g, wrong):
    k, n, d = g.rng.choice(((4, 32, 64), (2, 96, 32)))
    weighed = g.times(g.argument((k, n, d)), g.argument((k, n, d) if wrong == "of features" else (k, n, 1)))
    return LIBRARY + "deepseek_moe_fast_reduce_nc_fused", g.reduce("sum", weighed, [2 if wrong == "over features" else 0], g.chance(0.5)), []


def counted_pool(g, wrong):
    def pool(x, padding):
        return g.op("avg_pool2d", [x], "ceil_mode = false, count_include_pad = true, dilation = array<i32: 1, 1>, "
                    "kernel = array<i32: 3, 3>, padding = array<i32: %s>, stride = array<i32: 1, 1>" % padding, (1, 6, 6, x.shape[3]))
    ones = g.full(2.0 if wrong == "twos" else 1.0, (1, 6, 6, 1))
    share = pool(ones, "1, 1, 1, 1") if wrong != "padded otherwise" else pool(ones, "2, 0, 2, 0")
    return "ttnn.avg_pool2d", g.div(pool(g.argument((1, 6, 6, 5)), "1, 1, 1, 1"), share), []


def chain(g, wrong):
    shape = g.rng.choice(((3, 96), (2, 5, 32)))
    n = g.unary("neg", g.argument(shape))
    e = g.unary("exp", n)
    out = g.unary("sqrt", e) if not wrong and g.chance(0.5) else e
    return "ttnn.unary_chain", out, [n] if wrong else []


def split(g, wrong):
    rows, n, k, parts = g.rng.choice(((7, 32, 64, 2), (3, 64, 32, 3), (1, 96, 32, 6)))
    width = n - 8 if wrong == "no whole tiles" else n
    h = g.matmul(g.argument((rows, k)), g.parameter((k, width * parts)))
    more = [g.slice(h, 1, i * width, (i + 1) * width) for i in range(parts)]
    return LIBRARY + "minimal_matmul_split", more[0], more[1:] + ([h] if wrong == "used elsewhere" else [])


def collective(g, name, x, shape, attributes):
    return g.op(name, [x], "cluster_axis = 1 : ui32, " + attributes, shape)


def gather(g, x, dim, times):
    shape = tuple(n * times if i == dim else n for i, n in enumerate(x.shape))
    return collective(g, "all_gather", x, shape, "all_gather_dim = %d : si32" % dim)


def gathered_product(g, wrong):
    rows, k, n, times = g.rng.choice(((8, 32, 96, 4), (5, 64, 32, 2)))
    at = 0 if wrong == "rows are gathered" else 1
    y = g.matmul(gather(g, g.argument((rows, k if at else k * times)), at, times), g.parameter((k * times, n)))
    return LIBRARY + "all_gather_matmul_async", y, []


def scattered_product(g, wrong):
    rows, k, n, times = g.rng.choice(((8, 32, 96, 4), (6, 64, 32, 2)))
    y = g.matmul(g.argument((rows, k)), g.parameter((k, n)))
    at = 0 if wrong == "rows are scattered" else 1
    shape = (rows // times, n) if at == 0 else (rows, n // times)
    kind = "max" if wrong == "the largest" else "sum"
    out = collective(g, "reduce_scatter", y, shape, "reduce_type = #ttcore.reduce_type<%s>, scatter_dim = %d : si32" % (kind, at))
    return LIBRARY + "matmul_reduce_scatter_async", out, []


def gathered_keys(g, wrong):
    heads, n, d, times = g.rng.choice(((2, 32, 64, 4), (5, 64, 32, 2)))
    at = 1 if wrong == "heads are gathered" else 2
    shape = (1, heads, n * times, d) if at == 1 else (1, heads, n, d)
    k, v = [gather(g, g.argument(shape), at, times) for _ in range(2)]
    q = g.argument((1, heads * (times if at == 1 else 1), n, d))
    return "ttnn.transformer.ring_joint_scaled_dot_product_attention", attention_of(g, q, k, v), []


def norm_of_devices(g, wrong):
    rows, n, times = g.rng.choice(((5, 64, 4), (33, 96, 8)))
    x = g.argument((rows, n))
    own = g.fold("sum", g.squared(x), 1)
    total = collective(g, "all_reduce", own, own.shape, "reduce_type = #ttcore.reduce_type<sum>")
    mean = g.times(total, g.full(1 / (n * (1 if wrong == "of one device" else times)), (1,)))
    r = g.unary("rsqrt", g.plus(mean, g.full(1e-5, (1,))))
    out = g.times(g.times(g.argument((rows, n)) if wrong == "of another value" else x, r), g.parameter((n,)))
    return "ttnn.distributed_rms_norm", out, []


def scaled_sum(g, wrong):
    s = g.reduce(g.rng.choice(("sum", "max")), g.argument((3, 40)), [1], g.chance(0.5))
    name = g.lines[-1][2].split('"')[1].split(".")[1]
    return "ttnn." + name, g.times_number(s, 3.0), [s] if wrong else []


def bent_convolution(g, wrong):
    shape, w = (1, 6, 6, 8), g.parameter((16, 8, 1, 1))
    c = g.op("conv2d", [g.argument(shape), w], "dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 0, 0>, "
             "stride = array<i32: 1, 1>", (1, 6, 6, 16))
    if not wrong and g.chance(0.5):
        return "ttnn.conv2d", g.unary("mish", c), []
    return "ttnn.conv2d", g.times(g.argument(c.shape) if wrong else c, g.unary("hardsigmoid", c)), []


def hardswish(g, wrong):
    x = g.argument((3, 40))
    bent = g.unary("relu6", g.plus(x, g.const(2.0 if wrong == "plus two" else 3.0)))
    return "ttnn.hardswish", g.times_number(g.times(x, bent), 1 / (5.0 if wrong == "by five" else 6.0)), []


def users_positions(g, wrong):
    b, h, n, d = g.rng.choice(((2, 3, 16, 32), (5, 2, 8, 64)))
    places = (1, h, 1, 1) if wrong else (b, 1, 1, 1)
    at = g.broadcast(g.argument(places, dtype="si32"), b, h, 1, d)
    out = g.op("scatter", [g.argument((b, h, n, d)), at, g.argument((b, h, 1, d))],
               "dim = 2 : %s, scatter_reduce_type = #ttcore.reduce_type<invalid>" % ("i32" if g.level == "ttir" else "si32"), (b, h, n, d))
    return "ttnn.paged_update_cache", out, []


PLANTS = {
    activated: ("used elsewhere",),
    swiglu: ("another input", "used elsewhere"),
    packed_swiglu: ("parts that overlap",),
    gate_and_residual: ("a gate for each row", "used elsewhere"),
    three_operands: ("used elsewhere",),
    shares: ("the wrong end",),
    residual_norm: ("used elsewhere",),
    joint: ("causal", "cut elsewhere"),
    windows: ("numbers of two", "not more"),
    repeated_heads: ("used elsewhere",),
    masked_softmax: ("of heads", "of one batch"),
    packed_heads: ("rows first",),
    weighed_experts: ("of features", "over features"),
    counted_pool: ("twos", "padded otherwise"),
    chain: ("used elsewhere",),
    split: ("no whole tiles", "used elsewhere"),
    gathered_product: ("rows are gathered",),
    scattered_product: ("rows are scattered", "the largest"),
    gathered_keys: ("heads are gathered",),
    norm_of_devices: ("of one device", "of another value"),
    scaled_sum: ("used elsewhere",),
    bent_convolution: ("another value",),
    hardswish: ("plus two", "by five"),
    users_positions: ("for each head",),
}
TTIR_ONLY = {counted_pool, bent_convolution}  # in TTNN rows are flattened


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("audits")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--graphs", type=int, default=240)
    parser.add_argument("--keep")
    args = parser.parse_args()
    audits, failed, counts = Audits(args.audits, "ttnn", "slower"), 0, {}
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(args.first, args.first + args.graphs):
            rng = random.Random(seed)
            plant = list(PLANTS)[seed % len(PLANTS)]
            wrong = rng.choice(PLANTS[plant]) if rng.random() < 0.4 else None
            g = Garden("ttir" if plant in TTIR_ONLY else rng.choice(("ttir", "ttnn")), rng)
            fused_op, root, more = plant(g, wrong)
            path = os.path.join(args.keep or directory, "library%d.%s.mlir" % (seed, g.level))
            with open(path, "w") as f:
                f.write(g.text([root] + more, rng if rng.random() < 0.7 else None))
            there, printed = found(audits, [(g.level, path)])
            is_found = any(op == fused_op and root.name in names[0] for op, names in there)
            counts[plant.__name__] = counts.get(plant.__name__, 0) + 1
            if is_found != (wrong is None) or (printed and "fusing seems to be off" not in printed):
                failed += 1
                print("graph %d (%s): %s %s: %s; found %s %s" % (
                    seed, g.level, plant.__name__, wrong or "planted", fused_op, [op for op, _ in there], printed))
    audits.close()
    print("%d graphs of %d forms, %d wrong" % (args.graphs, len(counts), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
