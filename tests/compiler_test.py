#!/usr/bin/env python3
"""What the notes say of the compiler's own patterns: which of their preconditions a place fails; and where such a
pattern would be wrong, that nothing is suggested, or the precondition is spelled out.

usage: compiler_test.py AUDITS [CORPUS]
Where the corpus is there: what the compiler does fuse of a model with fusing on has no reason not to be fused.
IR is written short: "e = exp x -> 4x32x64 {attributes}; ..." in TTIR; tensors without an element type are bf16; what
nothing defines is an argument, "x:4x32x64" in front; "w:64!" is a parameter. Constants are "c = full 0.5 -> 1".
"""
import glob
import os
import re
import sys

from audits import Audits

AUDITS = Audits(sys.argv[1], "ttnn")
failures = []


def tensor(text):
    if not re.search(r"x[a-z]+[0-9]+$", text):
        text += "xbf16"
    return "tensor<%s>" % text


def module(args, ops):
    types, head, body, used = {}, [], [], set()
    for a in args.split():
        name, _, t = a.partition(":")
        kind = "parameter" if t.endswith("!") else "input"
        types[name] = tensor(t.rstrip("!"))
        head.append("%%%s: %s {ttcore.argument_type = #ttcore.argument_type<%s>}" % (name, types[name], kind))
    last = None
    for line in filter(None, (x.strip() for x in re.split(r"[;\n]", ops))):
        if line.startswith("return "):
            used.add(None)
            last = line.split()[1:]
            break
        m = re.match(r"(\S+) = (\w+)((?: [\w#%.+-]+)*) -> (\S+)((?: <.*>)?)((?: \{.*\})?)$", line)
        name, op, operands, out, props, attrs = m.groups()
        operands = operands.split()
        results = [tensor(t) for t in out.split("+")]
        if op == "full":
            props, operands = " <{fill_value = %s : f32, shape = array<i32: 1>}>" % operands[0], []
        elif props:
            props = " <{%s}>" % props.strip()[1:-1]
        if op in ("matmul", "linear") and not props:
            props = " <{transpose_a = false, transpose_b = false}>"
        for i, t in enumerate(results):
            types[name if len(results) == 1 else "%s#%d" % (name, i)] = t
        body.append('    %%%s%s = "ttir.%s"(%s)%s%s : (%s) -> %s' % (
            name, ":%d" % len(results) if len(results) > 1 else "", op, ", ".join("%" + o for o in operands), props,
            attrs, ", ".join(types[o] for o in operands),
            results[0] if len(results) == 1 else "(%s)" % ", ".join(results)))
        last = [name]
    body.append("    return %s : %s" % (", ".join("%" + n for n in last), ", ".join(types[n] for n in last)))
    return "module {\n  func.func @main(%s) -> (%s) {\n%s\n  }\n}\n" % (
        ", ".join(head), ", ".join(types[n] for n in last), "\n".join(body))


def audit(args, ops):
    text = module(args, ops)
    status, said, report = AUDITS.audit_text("ttir", text)
    if status > 1 or said:
        failures.append("%s%s" % (text, said))
        print("FAIL", failures[-1])
    return {e["fused_op"]: e["instances"][0]["notes"] for e in report or []}, text


def check(ok, text, what, found):
    if not ok:
        failures.append(what)
        print("FAIL %s in\n%sfound: %s" % (what, text, found))


def silent(op, args, ops):
    found, text = audit(args, ops)
    check("ttnn." + op not in found, text, "%s is to be silent" % op, found)


def says(op, want, args, ops):
    """The notes have this text; None: the pattern of the compiler fires."""
    found, text = audit(args, ops)
    notes = found.get("ttnn." + op, "")
    want = want or "which fires here"
    check(want in notes, text, "%s is to say %r" % (op, want), found)


def why(op, args, good, *bad):
    """A form in which the compiler's pattern fires, and others with the reason why it does not."""
    says(op, None, args, good)
    for ops, reason in bad:
        says(op, reason, args, ops)


# ---- where the compiler's own rule would be wrong ----

# 1: the last elements of an ascending sort have the largest one at the end, topk has it first
SORT = "s = sort x -> 4x64+4x64xsi32 <descending = %s, dim = -1 : si32, stable = false>\n" \
       "o = slice_static s#0 -> 4x8 <begins = [0 : i32, %s : i32], ends = [4 : i32, %d : i32], step = [1 : i32, 1 : i32]>"
says("topk", "or the result of topk is reversed", "x:4x64", SORT % ("false", 56, 64))
says("topk", None, "x:4x64", SORT % ("true", 0, 8))
says("topk", "it compares the bounds of the slice as they are printed", "x:4x64", SORT % ("false", "-8", 64))

# 2: a factor that is wrong by 40 %
MEAN = "s = sum x -> 32x1 <dim_arg = [1 : i32], keep_dim = true>; c = full %s -> 1; o = multiply s c -> 32x1"
says("mean", None, "x:32x4096", MEAN % "2.44140625E-4")
silent("mean", "x:32x4096", MEAN % "3.4E-4")
silent("mean", "x:32x4096", MEAN % "1.5E-4")

# 3: users of what the relu reads are no obstacle, users of the relu are
RELU6 = "r = relu x -> 32x64; c = full 6.0 -> 1; o = minimum r c -> 32x64; "
says("relu6", "it wants the operand of the relu to have no other user", "x:32x64",
     RELU6 + "e = exp x -> 32x64; return o e")
says("relu6", None, "x:32x64", RELU6)
silent("relu6", "x:32x64", RELU6 + "e = exp r -> 32x64; return o e")

# 4: the first three factors have no 0.5 among them
CDF = "r = full 0.70710678 -> 1; u = multiply x r -> 32x64; e = erf u -> 32x64; one = full 1.0 -> 1\n" \
      "g = add e one -> 32x64; h = full 0.5 -> 1; "
GELU = CDF + "p = multiply h g -> 32x64; o = multiply x p -> 32x64"
says("gelu", "it gives up at the first three factors", "y:32x64 z:32x64", "x = multiply y z -> 32x64; " + GELU)
says("gelu", None, "x:32x64", GELU)

# 5: a threshold under which softplus is not yet the identity
MISH = "t = full %s -> 1; g = gt x t -> 32x64xi1; e = exp x -> 32x64; l = log1p e -> 32x64\n" \
       "s = where g x l -> 32x64; h = tanh s -> 32x64; o = multiply x h -> 32x64"
says("mish", None, "x:32x64", MISH % "20.0")
silent("mish", "x:32x64", MISH % "0.1")

# 6: masks that lose their leading dimensions
SDPA = "scaled_dot_product_attention"
QKV = "q:2x4x32x64 k:2x4x32x64 v:2x4x32x64 "
KT = "t = transpose k -> 2x4x64x32 <dim0 = 2 : si32, dim1 = 3 : si32>; "
QK = KT + "p = matmul q t -> 2x4x32x32; "
PV = "w = softmax s -> 2x4x32x32 <dimension = 3 : si32>; o = matmul w v -> 2x4x32x64"
SCALED = QK + "c = full 0.125 -> 1; m = multiply p c -> 2x4x32x32; "
says(SDPA, "it wants a mask of rank 4, and %a is 32x32xbf16", QKV + "a:32x32",
     SCALED + "s = add m a -> 2x4x32x32; " + PV)
says(SDPA, "MatmulWithBiasFusionPattern comes first", QKV + "a:1x32x32",
     QK + "b = reshape a -> 1x1x32x32 <shape = [1 : i32, 1 : i32, 32 : i32, 32 : i32]>; "
     "s = add p b -> 2x4x32x32; " + PV)
says(SDPA, "the mask was taken for the bias of the product", QKV + "a:32x32",
     KT + "s = linear q t a -> 2x4x32x32; " + PV)
says(SDPA, "it wants a mask of rank 4; as the bias of the linear it is 32x32xbf16", QKV + "a:32x32",
     KT + "s = linear q t a -> 2x4x32x32; " + PV)
says(SDPA, None, QKV + "a:1x1x32x32", SCALED + "s = add m a -> 2x4x32x32; " + PV)

# 7: the decode op scales the mask too
ONE = "q:2x4x1x64 k:2x4x32x64 v:2x4x32x64 a:2x1x1x32"
DECODE = KT + "p = matmul q t -> 2x4x1x32; c = full 0.125 -> 1; m = multiply p c -> 2x4x1x32; " \
     "s = add m a -> 2x4x1x32\n" \
         "w = softmax s -> 2x4x1x32 <dimension = 3 : si32>; o = matmul w v -> 2x4x1x64"
says(SDPA, "has to be divided by the scale; one of 0 and -inf stays as it is", ONE, DECODE)

# 8: a clamp whose upper bound changes the result; negative dimensions
UNIT = "q = multiply x x -> 4x64; s = sum q -> 4x1 <dim_arg = [%s : i32], keep_dim = true>; r = sqrt s -> 4x1\n" \
       "l = clamp_scalar r -> 4x1 <max = %s : f32, min = 1.0e-12 : f32>; d = div x l -> 4x64; c = full 8.0 -> 1\n" \
       "o = multiply d c -> 4x64"
says("rms_norm", None, "x:4x64", UNIT % ("1", "3.40282347E+38"))
says("rms_norm", None, "x:4x64", UNIT % ("-1", "3.40282347E+38"))
silent("rms_norm", "x:4x64", UNIT % ("1", "2.0"))
says("softmax", None, "x:4x64",
     "e = exp x -> 4x64; s = sum e -> 4x1 <dim_arg = [-1 : i32], keep_dim = true>; o = div e s -> 4x64")
says("softmax", "it compares the dimensions of max and softmax as they are printed", "x:4x64",
     "m = max x -> 4x1 <dim_arg = [1 : i32], keep_dim = true>; d = subtract x m -> 4x64\n"
     "o = softmax d -> 4x64 <dimension = -1 : si32>")

# 9: ops that a fusion would drop, or operands that it would concatenate
says("linear", 'precondition: the fused op keeps ttcore.weight_dtype = "bfp_bf8" of %p (ttir.matmul)',
     "x:32x64 w:64x128! b:128!",
     'p = matmul x w -> 32x128 {ttcore.weight_dtype = "bfp_bf8"}; o = add p b -> 32x128')
SHARED = "a = matmul x w1 -> 32x16; b = matmul x w2 -> 32x16; c = matmul x w3 -> 32x16; return a b c"
says("matmul", None, "x:32x64 w1:64x16! w2:64x16! w3:64x16!", SHARED)
silent("matmul", "x:32x64 w1:64x16! w2:64x16xf32! w3:64x16!", SHARED)
UP = "c = conv_transpose2d x w -> 1x16x16x8 <dilation = 1 : i32, groups = %d : i32, output_padding = 0 : i32, " \
     "padding = 0 : i32, stride = 2 : i32>; o = multiply c s -> 1x16x16x8"
says("conv_transpose2d", "ConvWithMultiply", "x:1x8x8x4 w:4x8x2x2! s:1x1x1x8!", UP % 1)
silent("conv_transpose2d", "x:1x8x8x4 w:4x4x2x2! s:1x1x1x8!", UP % 2)

# ---- why the compiler's pattern did not fire ----

why("linear", "x:32x64 w:64x128! b:128",
    "p = matmul x w -> 32x128; o = add p b -> 32x128",
    ("p = matmul x w -> 32x128; c = typecast p -> 32x128xf32; o = add c b -> 32x128xf32",
     "nothing but one reshape may stand between the matmul and the add, and here is %c (ttir.typecast at line"),
    ("p = matmul x w -> 32x128; u = unsqueeze p -> 1x32x128 <dim = 0 : si32>; o = add u b -> 1x32x128",
     "ttir.unsqueeze"))
why("softmax", "x:4x64",
    "e = exp x -> 4x64; s = sum e -> 4x1 <dim_arg = [1 : i32], keep_dim = true>; o = div e s -> 4x64",
    ("e = exp x -> 4x64; s = sum e -> 4x1 <dim_arg = [1 : i32], keep_dim = true>; r = reciprocal s -> 4x1\n"
     "o = multiply e r -> 4x64", "it takes a division by the sum, and here is %r (ttir.reciprocal at line"),
    ("e = exp x -> 4x64; c = typecast e -> 4x64xf32; s = sum c -> 4x1xf32 <dim_arg = [1 : i32], keep_dim = true>\n"
     "o = div c s -> 4x64xf32", "nothing but one broadcast may stand between its ops, and here is %c (ttir.typecast"),
    ("e = exp x -> 4x64; s = sum e -> 4x1 <dim_arg = [1 : i32], keep_dim = true>; one = full 1.0 -> 1\n"
     "r = div one s -> 4x1; o = multiply e r -> 4x64", "it takes exp(x) / sum, and here 1 / sum is multiplied"))
NORM = "q = multiply x x -> 4x64; m = mean q -> 4x1 <dim_arg = [1 : i32], keep_dim = true>; c = full 1.0e-5 -> 1\n" \
       "a = add m c -> 4x1; "
why("rms_norm", "x:4x64 w:64!",
    NORM + "r = rsqrt a -> 4x1; n = multiply x r -> 4x64; o = multiply n w -> 4x64",
    (NORM + "r = rsqrt a -> 4x1; o = multiply x r -> 4x64", "it wants a weight to multiply by, and here is none"),
    (NORM + "r = sqrt a -> 4x1; n = div x r -> 4x64; o = multiply n w -> 4x64", "the root is spelled otherwise here"),
    (NORM + "h = full -0.5 -> 1; r = pow a h -> 4x1; n = multiply x r -> 4x64; o = multiply n w -> 4x64",
     "the root is spelled otherwise here"),
    (NORM + "r = rsqrt a -> 4x1; n = multiply x w -> 4x64; o = multiply n r -> 4x64",
     "it wants the weight multiplied last"),
    ("q = multiply x x -> 4x64; m = mean q -> 4x1 <dim_arg = [1 : i32], keep_dim = true>; r = rsqrt m -> 4x1\n"
     "n = multiply x r -> 4x64; o = multiply n w -> 4x64", "it wants an epsilon that is added to the mean"))
says("rms_norm", "they are 4x64xf32 and 64xbf16", "x:4x64xf32 w:64!",
     "q = multiply x x -> 4x64xf32; m = mean q -> 4x1xf32 <dim_arg = [1 : i32], keep_dim = true>; "
     "c = full 1.0e-5 -> 1xf32\n"
     "a = add m c -> 4x1xf32; r = rsqrt a -> 4x1xf32; n = multiply x r -> 4x64xf32; o = multiply n w -> 4x64xf32")
# a constant is commuted to the right
says("mean", None, "x:32x64", "s = sum x -> 32x1 <dim_arg = [1 : i32], keep_dim = true>; c = full 0.015625 -> 1\n"
     "o = multiply c s -> 32x1")
why("mean", "x:32x64", MEAN % "0.015625",
    ("s = sum x -> 32x1 <keep_dim = true>; c = full 4.8828125E-4 -> 1; o = multiply s c -> 1x1".replace("32x1", "1x1"),
     "it wants the dimensions of the sum"),
    ("s = sum x -> 32x1 <dim_arg = [1 : i32], keep_dim = true>; c = full 64.0 -> 1; o = div s c -> 32x1",
     "here the sum is divided by 64"))
why("silu", "x:32x64", "s = sigmoid x -> 32x64; o = multiply x s -> 32x64",
    ("n = neg x -> 32x64; e = exp n -> 32x64; one = full 1.0 -> 1; a = add e one -> 32x64; r = reciprocal a -> 32x64\n"
     "o = multiply x r -> 32x64", "it takes the op sigmoid, which is spelled out here"),
    ("n = neg x -> 32x64; e = exp n -> 32x64; one = full 1.0 -> 1; a = add e one -> 32x64; o = div x a -> 32x64",
     "here x is divided by 1 + exp(-x)"))
why("gelu", "x:32x64", GELU,
    (GELU.replace("0.70710678", "1.41421356").replace("u = multiply", "u = div"), "here x is divided"),
    ("r = full -0.70710678 -> 1; u = multiply x r -> 32x64; g = erfc u -> 32x64; h = full 0.5 -> 1\n"
     "p = multiply h g -> 32x64; o = multiply x p -> 32x64", "here is erfc"),
    (CDF.split("one =")[0] + "h = full 0.5 -> 1; f = multiply e h -> 32x64; p = add f h -> 32x64; "
     "o = multiply x p -> 32x64",
     "0.5 is folded into the sum"),
    (CDF + "c = typecast g -> 32x64xf32; p = multiply h c -> 32x64xf32; o = multiply x p -> 32x64xf32",
     "casts included, and here is %c (ttir.typecast"))
why("mish", "x:32x64", MISH % "20.0",
    ((MISH % "20.0").replace("gt x t", "ge x t"), "compares with gt or lt, and here is %g (ttir.ge"),
    ("e = exp x -> 32x64; l = log1p e -> 32x64; h = tanh l -> 32x64; o = multiply x h -> 32x64", "and here is none"))
HARD = "three = full 3.0 -> 1; a = add x three -> 32x64; r = relu6 a -> 32x64; "
why("hardsigmoid", "x:32x64", HARD + "six = full 6.0 -> 1; o = div r six -> 32x64",
    (HARD + "six = full 0.166666667 -> 1; o = multiply r six -> 32x64",
     "it takes a division by 6, and here is %o (ttir.multiply"))
why("relu", "x:32x64", "z = full 0.0 -> 1; o = maximum x z -> 32x64",
    ("o = clamp_scalar x -> 32x64 <max = 3.40282347E+38 : f32, min = 0.0 : f32>", "it takes a maximum with 0"))
why(SDPA, QKV + "a:1x1x32x32 b:1x1x32x32 g:1x1x32x32xi1 f:2x4x32x64xf32", SCALED + "s = add m a -> 2x4x32x32; " + PV,
    (SCALED + "n = add m a -> 2x4x32x32; s = add n b -> 2x4x32x32; " + PV, "it takes one mask, and here are two"),
    (SCALED + "z = full -1.0E+9 -> 1; s = where g m z -> 2x4x32x32; " + PV,
     "one selects between scores and -1000000000"),
    ("d = full 0.5 -> 1; y = multiply q d -> 2x4x32x64; " + KT + "p = matmul y t -> 2x4x32x32; c = full 0.25 -> 1\n"
     "s = multiply p c -> 2x4x32x32; " + PV, "and here are both"),
    (SCALED + "e = exp m -> 2x4x32x32; n = sum e -> 2x4x32x1 <dim_arg = [3 : i32], keep_dim = true>\n"
     "r = reciprocal n -> 2x4x32x1; w = multiply e r -> 2x4x32x32; o = matmul w v -> 2x4x32x64",
     "which no pattern makes of an exp and %r (ttir.reciprocal"),
    (SCALED + "s = add m a -> 2x4x32x32; w = softmax s -> 2x4x32x32xf32 <dimension = 3 : si32>\n"
     "o = matmul w f -> 2x4x32x64xf32", "k and v of one element type, and they are 2x4x32x64xbf16 and 2x4x32x64xf32"))
says(SDPA, "it wants tensors of rank 4, and %q is 8x32x64xbf16", "q:8x32x64 k:8x32x64 v:8x32x64",
     "t = transpose k -> 8x64x32 <dim0 = 1 : si32, dim1 = 2 : si32>; p = matmul q t -> 8x32x32; c = full 0.125 -> 1\n"
     "s = multiply p c -> 8x32x32; w = softmax s -> 8x32x32 <dimension = 2 : si32>; o = matmul w v -> 8x32x64")
CONV = "c = conv2d x w -> 1x8x8x16 <dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32>; "
why("conv2d", "x:1x8x8x4 w:16x4x1x1! b:1x1x1x16! d:16!", CONV + "o = add c b -> 1x8x8x16",
    (CONV + "o = subtract c b -> 1x8x8x16", "it takes an add, and here is %o"),
    (CONV + "f = typecast c -> 1x8x8x16xf32; o = add f b -> 1x8x8x16xf32",
     "the convolution has to be the operand of the add, and here is %f (ttir.typecast"))
# operands are broadcast to the rank of the result, and movement goes behind elementwise ops
says("conv2d", None, "x:1x8x8x4 w:16x4x1x1! d:16!", CONV + "o = add c d -> 1x8x8x16")
says("conv2d", None, "x:1x8x8x4 w:16x4x1x1! d:16!",
     CONV + "r = reshape c -> 64x16 <shape = [64 : i32, 16 : i32]>; o = add r d -> 64x16")
TURNED = CONV + "t = permute c -> 1x16x8x8 <permutation = array<i64: 0, 3, 1, 2>>; "
for ops, reason in (
        ("m = multiply t s -> 1x16x8x8; o = add m b -> 1x16x8x8", " is set\n"),
        ("f = typecast t -> 1x16x8x8xf32; o = multiply f s -> 1x16x8x8xf32",
         " is set, and would not fire then: nothing may stand between the convolution and the multiply, and here is %f"),
        ("m = subtract t b -> 1x16x8x8; o = multiply m s -> 1x16x8x8",
         " is set, and would not fire then: it does not fold a scale behind an addition that ConvAddBias leaves")):
    says("conv2d", "off unless enable-fusing-conv2d-with-multiply-pattern=true" + reason,
         "x:1x8x8x4 w:16x4x1x1! s:16x1x1! b:16x1x1!", TURNED + ops)
LO = "l = slice_static x -> %(s)sx32 <begins = [%(z)s, 0 : i32], ends = [%(e)s, 32 : i32], step = [%(o)s, 1 : i32]>\n" \
     "h = slice_static x -> %(s)sx32 <begins = [%(z)s, 32 : i32], ends = [%(e)s, 64 : i32], step = [%(o)s, 1 : i32]>\n" \
     "n = neg h -> %(s)sx32; r = concat n l -> %(s)sx64 <dim = %(d)d : si32>\n" \
     "a = multiply x cos -> %(s)sx64; b = multiply r sin -> %(s)sx64; o = add a b -> %(s)sx64"


def rotated(*dims):
    return LO % {"s": "x".join(map(str, dims)), "z": ", ".join(["0 : i32"] * len(dims)), "d": len(dims),
                 "e": ", ".join("%d : i32" % d for d in dims), "o": ", ".join(["1 : i32"] * len(dims))}


says("rotary_embedding", None, "x:1x8x32x64 cos:1x1x32x64 sin:1x1x32x64", rotated(1, 8, 32))
says("rotary_embedding", "it wants a tensor of rank 4, and %x is 8x32x64xbf16", "x:8x32x64 cos:1x32x64 sin:1x32x64",
     rotated(8, 32))

# two transposes of k become one permute of three dimensions (as in the DiT of the corpus)
says(SDPA, "it takes k through a permute of the last two dimensions", "q:2x4x32x64 k:2x32x4x64 v:2x4x32x64",
     "y = permute k -> 2x4x32x64 <permutation = array<i64: 0, 2, 1, 3>>\n"
     "t = permute y -> 2x4x64x32 <permutation = array<i64: 0, 1, 3, 2>>; p = matmul q t -> 2x4x32x32\n"
     "c = full 0.125 -> 1; s = multiply p c -> 2x4x32x32; " + PV)


# ---- what earlier passes change, and both views of an operand ----

says("relu6", None, "x:32x64", "o = clamp_scalar x -> 32x64 <max = 6.0 : f32, min = 0.0 : f32>")
says("relu6", "beside another op", "x:32x64", "z = full 0.0 -> 1; m = maximum x z -> 32x64\n"
     "o = clamp_scalar m -> 32x64 <max = 6.0 : f32, min = 0xFF800000 : f32>")
six = "three = full 3.0 -> 1; a = add three x -> 32x64; r = clamp_scalar a -> 32x64 <max = 6.0 : f32, min = 0.0 : f32>\n"
says("hardsigmoid", None, "x:32x64", six + "six = full 6.0 -> 1; o = div r six -> 32x64")
says("mean", "it takes a factor within 0.0001 of 1/N, and 0.333984375 is not", "x:32x3", MEAN % "0.333984375")
silent("mean", "x:32x1", MEAN % "1.0")   # of one element
says("mean", "accepts a factor within an absolute 1e-4 of 1/N", "x:32x4096", MEAN % "2.44140625E-4")
says("mean", None, "x:32x64", "s = sum x -> 32 <dim_arg = [1 : i32], keep_dim = false>\n"
     "r = reshape s -> 32x1 <shape = [32 : i32, 1 : i32]>; c = full 0.015625 -> 1; o = multiply r c -> 32x1")
says("softmax", "it takes a sum along one dimension", "x:4x1x64", "e = exp x -> 4x1x64\n"
     "s = sum e -> 4x1x1 <dim_arg = [1 : i32, 2 : i32], keep_dim = true>; o = div e s -> 4x1x64")
says("softmax", None, "x:4x64", "m = max x -> 4x1 <dim_arg = [1 : i32], keep_dim = true>; d = subtract x m -> 4x64\n"
     "c = typecast d -> 4x64xf32; e = exp c -> 4x64xf32; s = sum e -> 4x1xf32 <dim_arg = [1 : i32], keep_dim = true>\n"
     "o = div e s -> 4x64xf32")
says("linear", None, "x:32x64 w:64x128! b:128!",
     "p = matmul x w -> 32x128; f = typecast p -> 32x128xf32; g = typecast f -> 32x128; o = add g b -> 32x128")
HEADS = "p = matmul x w -> 32x128; r = reshape p -> 32x4x32 <shape = [32 : i32, 4 : i32, 32 : i32]>\n" \
        "c = reshape b -> 4x32 <shape = [4 : i32, 32 : i32]>; o = add r c -> 32x4x32"
says("linear", "makes 32 of 128", "x:32x64 w:64x128! b:128", HEADS)
says("linear", "ttir-erase-inverse-ops swaps", "x:32x64 w:64x128! b:128!", HEADS)   # and then the linear is made
says("linear", "is not decided: %c (ttir.broadcast at line", "x:32x64 w:64x128! b:128!",
     "p = matmul x w -> 32x128; r = reshape p -> 1x32x128 <shape = [1 : i32, 32 : i32, 128 : i32]>\n"
     "c = broadcast r -> 2x32x128 <broadcast_dimensions = array<i64: 2, 1, 1>>; o = add c b -> 2x32x128")
silent("linear", "w:128x64! x:64x32 b:128x1!",   # its workaround for linear would take it apart again
       "p = matmul w x -> 128x32; o = add p b -> 128x32")
says("matmul", "SharedLHSMatmulFusion comes first and makes one product of the 3 of %x", "x:32x64 u:64x16! v:64x16! w:64x16!",
     "p = matmul x u -> 32x16; q = matmul x v -> 32x16; r = matmul x w -> 32x16; s = silu p -> 32x16; return s q r")
says("linear", None, "x:32x64 w:64x128! b:128!",
     "p = matmul x w -> 32x128; s = add p b -> 32x128; g = sigmoid s -> 32x128; o = multiply s g -> 32x128")
says("rms_norm", "they are 4x64xbf16 and 64xf32", "x:4x64 w:64!",
     "f = typecast x -> 4x64xf32; g = typecast w -> 64xf32; q = multiply f f -> 4x64xf32\n"
     "m = mean q -> 4x1xf32 <dim_arg = [1 : i32], keep_dim = true>; c = full 1.0e-5 -> 1xf32; a = add m c -> 4x1xf32\n"
     "r = rsqrt a -> 4x1xf32; n = multiply f r -> 4x64xf32; one = full 1.0 -> 1xf32; h = add g one -> 64xf32\n"
     "o = multiply n h -> 4x64xf32")
says(SDPA, None, QKV + "a:1x1x1x32", SCALED + "b = broadcast a -> 2x4x32x32 <broadcast_dimensions = array<i64: 2, 4, 32, 1>>\n"
     "s = add m b -> 2x4x32x32; " + PV)
says(SDPA, "it wants a mask of 32 queries and 32 keys", QKV + "a:1x1x1x32",
     QK + "b = broadcast a -> 2x4x32x32 <broadcast_dimensions = array<i64: 2, 4, 32, 1>>; s = add p b -> 2x4x32x32; " + PV)
says(SDPA, "or by a permute of the last two dimensions, and here %k is 2x32x4x64xbf16",
     "q:2x4x32x64 k:2x32x4x64 v:2x4x32x64", "t = permute k -> 2x4x64x32 <permutation = array<i64: 0, 2, 3, 1>>\n"
     "p = matmul q t -> 2x4x32x32; c = full 0.125 -> 1; s = multiply p c -> 2x4x32x32; " + PV)
says(SDPA, "here is a factor of 1", QKV, QK + "c = full 1.0 -> 1; s = multiply p c -> 2x4x32x32; " + PV)
says("rotary_embedding", None, "x:1x8x32x64 cos:32x64 sin:32x64", rotated(1, 8, 32))

# ---- the compiler as the judge ----

def findings(*files):
    """By fused op, last location and pattern: what is said of the compiler."""
    out = {}
    for e in AUDITS.audit("both", *files)[2] or []:
        for i in e["instances"]:
            lines = dict(line.split(": ", 1) for line in i["notes"].splitlines()[1:] if ": " in line)
            place = e["fused_op"], lines.get("locations", "").split(", ")[-1], i["notes"].splitlines()[0]
            out[place] = lines.get("compiler", "")
    return out


judged = 0
for ttir in sorted(glob.glob(os.path.join(sys.argv[2], "models", "*.ttir.mlir"))) if len(sys.argv) > 2 else []:
    base = ttir[:-len(".ttir.mlir")]
    off, on, lowered = (findings(ttir, base + ".ttnn%s.mlir" % kind) for kind in ("-unfused", "-promoted", ""))
    for place, line in off.items():
        # three products of one operand are made one, so that no bias behind an unsqueeze is found any more; the promoted
        # modules keep what the pipeline takes apart again
        if ("ttir-fusing has" not in line or "off unless" in line or "not decided" in line or "ttir.unsqueeze" in line
                or "apart again" in line):
            continue
        judged += 1
        if ("should have fired" in line) != (place not in on):
            failures.append(place)
            print("FAIL %s: %s was %sfused, but: %s" % (base, place, "not " if place in on else "", line))
    for place, line in [*on.items(), *lowered.items()]:
        judged += 1
        if "should have fired" in line:
            failures.append(place)
            print("FAIL %s: %s was not fused, but: %s" % (base, place, line))
AUDITS.close()
print("%d places judged by what the compiler fused" % judged)
print("%d failed" % len(failures))
sys.exit(1 if failures else 0)
