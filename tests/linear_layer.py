"""The module of tests that type commands: a linear layer whose bias is added by an op of its own, or not."""


def module(dialect, fused=False):
    """Its results are called as in README.md and the manual."""
    x, w, b = "tensor<32x64xbf16>", "tensor<64x64xbf16>", "tensor<64xbf16>"
    of = '{ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "layers.0.fc.%s"}'
    if fused:
        body = '    %%17 = "%s.linear"(%%x, %%w, %%b) : (%s, %s, %s) -> %s loc("add.174")\n' % (dialect, x, w, b, x)
    else:
        body = ('    %%14 = "%s.matmul"(%%x, %%w) : (%s, %s) -> %s loc("dot.173")\n'
                '    %%17 = "%s.add"(%%14, %%b) : (%s, %s) -> %s loc("add.174")\n' % (dialect, x, w, x, dialect, x, b, x))
    return "module {\n  func.func @main(%%x: %s, %%w: %s %s, %%b: %s %s) -> %s {\n%s    return %%17 : %s\n  }\n}\n" % (
        x, w, of % "weight", b, of % "bias", x, body, x)


def log(fused=False):
    return "MLIR Module ttir:\n%sMLIR Module ttnn:\n%s" % (module("ttir"), module("ttnn", fused))
