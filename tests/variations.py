#!/usr/bin/env python3
"""Every example that a pattern has to match still matches when it is written in another way that computes the same.

usage: variations.py FUSION_AUDIT AUDITS EXAMPLES PATTERNS [--every=N] [--only=PATTERN] [--kind=KIND] [--verbose=1]
Takes the hits of the pattern files as modules (EXAMPLES print PATTERNS) and audits each as it is and varied, a kind of
variation at a time:
  swap       the operands of ops that commute exchanged
  neutral    each result multiplied by 1, plus 0 or permuted by nothing before it is used
  broadcast  an operand that an elementwise op would broadcast broadcast before
  places     location names removed
  unsaid     what says which arguments are inputs and which are parameters removed
  arguments  arguments of which nothing says what they are instead of parameters: if it is not found where they are
             inputs, a precondition has to say that they are parameters
  lowered    ops of TTIR under the names of TTNN, with the maximum of 0 as relu and the power of a number as pow_scalar
  rows       one more leading dimension, of two elements, of data that has rows; not of weights
  one        each extent in turn 1, with what ops say of others (proof/reduce/shrink.h); windows keep their sizes
What is found and proved of an example - its fused op, or what another pattern makes of it - has to be found and proved
again, or its pattern is in EXCEPTIONS with a reason and no more are lost than are known to be. --every=N takes each Nth
variation. Exit status 1: nothing is found and proved of an example; or one is lost without a reason, more than are known,
or (of all) fewer.
"""
import collections
import re
import subprocess
import sys
import tempfile

from audits import Audits

OPTIONS = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
COMMUTE = "add multiply maximum minimum eq ne logical_and logical_or"
OP = re.compile(r'(?P<result>%\w+) = "(?P<dialect>ttir|ttnn)\.(?P<name>\w+)"\((?P<operands>[^)]*)\)'
                r'(?P<attributes>(?: <\{.*?\}>)?(?: \{[^{}]*\})?) : \((?P<types>[^()]*)\) -> (?P<type>tensor<[^<>]*(?:<[^<>]*>[^<>]*)*>)')
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)>")
ELEMENTWISE = "add subtract multiply divide div maximum minimum where pow"

# Kind, patterns, how many of all their variations are lost (a sample may lose as many, not more), why.
EXCEPTIONS = [
    ("one", "mean|global_avg_pool2d|(layer|rms|distributed_layer|distributed_rms)_norm.*|theory_l2_normalize", 83,
     "of one element there is no mean and no norm"),
    ("one", "theory_(mla_q_projection|qk_norm_rope|dynamic_tanh)", 3, "of one feature there is no norm"),
    ("one", "attention|embedding|theory_(bias_softmax|cross_entropy.*|kl_divergence|total_variation)|topk.*", 11,
     "among one key, class or number there is nothing to choose"),
    ("one", "batch_norm_inference", 3, "the parameters of one channel are single numbers, which tell no axis"),
    ("one", "theory_(adaln_modulate|gated_residual|(layer|rms)_norm_modulated.*)", 25,
     "what one row is modulated by is a weight or a tensor of its shape"),
    ("one", ".*group_norm.*", 55, "of one position, one channel or one element it is another norm or none"),
    ("one", ".*heads.*", 65, "one head or one position moves nothing, and no fused op takes heads of one feature"),
    ("one", "(linear|matmul|conv[12]d)_of_scaled_(in|out)put", 7, "one number is no factor of each feature"),
    ("one", "linear", 1, "of one column a transposed product is told from no row"),
    ("one", "theory_rope_of_query_and_key|rotary_embedding_of_(query_and_key|part)|update_cache_by_comparison", 13,
     "one position is that of all, and one feature has no half"),
    ("one", "repeat|repeat_interleave|upsample", 52,
     "what is repeated once or has one element is broadcast, or nothing happens"),
    ("one", "experts_.*|.*router.*", 8, "the kernels are for 128 or 256 experts, and of one token there is no batch"),
    ("one", "(max|mean|min|sum)_with_scalar", 5, "of one element there is nothing to reduce"),
    ("one", "theory_glu", 1, "one column has no halves"),
    ("one", "matmul_turned", 8, "a turn of one row or one column moves nothing"),
    ("one", "theory_(batched_matmul_add|conv_residual_activation|linear_scale_add|matmul_add)", 16,
     "a residual of one row is a bias, and another pattern is nearer"),
    ("one", "matmul_(behind|before)_.*|attention_of_gathered_keys", 16, "nothing is gathered of or scattered into one element"),
    ("one", "(gathered_matmul|matmul_scatter)_gate_residual", 17, "nothing is gathered or scattered, and one row is a factor"),
    ("one", "matmul_(gate_residual|split_in_[236]|pair|swiglu|swiglu_packed)", 18, "one column is no tile to split, and one row a factor"),
    ("one", "theory_gate_up_linear_silu", 1, "halves of one column each are no projections"),
    ("one", "theory_narrow_matmul_chain", 2, "what goes between products of one column is wider than they are"),
    ("rows", ".*group_norm.*|global_avg_pool2d|scale_mask_softmax|concatenate_heads|update_cache_by_comparison", 28,
     "no fused op takes images, heads or caches of five dimensions"),
    ("rows", "experts_weighed_and_summed|nlp_concat_heads_decode|router_of_logits", 5, "the kernels are for one batch of tokens"),
    ("rows", "linear|rotary_embedding|theory_matmul_add", 3, "with a weight or a table for each batch it is another op"),
    ("neutral", "matmul_swiglu", 2, "behind a reshape that each product has of its own it hides that both are of one value"),
    ("rows", "theory_batched_matmul_add", 2, "what is added is joined across the rows of a batch, not across batches"),
    ("lowered", "attention|attention_over_one_key", 3, "TTNN has no reduction of truth values"),
    ("lowered", "relu", 1, "it is the relu that it becomes"),
    ("unsaid|arguments", "(linear|matmul)_shared|conv(_transpose)?2d_scale", 8,
     "what is computed of arguments of which nothing is said may differ from call to call"),
]


def examples():
    """Pattern, place and text of each hit."""
    text = subprocess.run([EXAMPLES, "print", PATTERNS], capture_output=True, text=True, check=True).stdout
    for part in text.split("// -----\n"):
        first, _, module = part.strip().partition("\n")
        m = re.match(r"// (\S+): (\w+), test \d+ \(hit\)", first)
        if m and "func.func" in module:
            yield m.group(2), m.group(1), module


def shape(text):
    m = TENSOR.fullmatch(text.strip())
    return ([int(d) for d in m.group(1).split("x") if d], m.group(2)) if m else (None, None)


def tensor(dims, element):
    return "tensor<" + "".join(f"{d}x" for d in dims) + element + ">"


def swap(module):
    def exchange(m):
        operands, types = m["operands"].split(", "), m["types"].split(", ")
        if m["name"] not in COMMUTE.split() or len(operands) != 2 or len(types) != 2:
            return m[0]
        return m[0].replace("(%s)" % m["operands"], "(%s)" % ", ".join(operands[::-1]), 1).replace(
            "(%s)" % m["types"], "(%s)" % ", ".join(types[::-1]), 1)
    varied = OP.sub(exchange, module)
    return [varied] if varied != module else []


def constant(dialect, name, number, type_text):
    dims, element = shape(type_text)
    listed = "#ttnn.shape<%s>" % "x".join(map(str, dims)) if dialect == "ttnn" else "array<i32: %s>" % ", ".join(map(str, dims))
    return f'{name} = "{dialect}.full"() <{{fill_value = {number} : f32, shape = {listed}}}> : () -> {type_text}\n'


def neutral(module):
    """Behind each op that computes in floating point, one after the other: times 1, plus 0, permuted by nothing."""
    count = 0

    def behind(m):
        nonlocal count
        dims, element = shape(m["type"])
        rest = module[m.end():]
        if not dims or element not in ("f32", "bf16") or m["name"] in ("full", "constant", "ones", "zeros", "empty") or \
                not re.search(re.escape(m["result"]) + r"\b(?!#)", rest) or m["result"] + "#" in module or \
                re.search(r"return .*" + re.escape(m["result"]) + r"\b", rest):
            return m[0]
        count += 1
        old, t, d = m["result"] + "_was", m["type"], m["dialect"]
        text = m[0].replace(m["result"] + " =", old + " =", 1) + "\n"
        if count % 3 == 0:
            order = ", ".join(str(i) for i in range(len(dims)))
            return text + f'{m["result"]} = "{d}.permute"({old}) <{{permutation = array<i64: {order}>}}> : ({t}) -> {t}\n'
        name, number = ("multiply", "1.0") if count % 3 == 1 else ("add", "0.0")
        return (text + constant(d, m["result"] + "_one", number, t) +
                f'{m["result"]} = "{d}.{name}"({old}, {m["result"]}_one) : ({t}, {t}) -> {t}\n')
    varied = OP.sub(behind, module)
    return [varied] if count else []


def broadcast(module):
    count = 0

    def before(m):
        nonlocal count
        operands, types = m["operands"].split(", "), m["types"].split(", ")
        dims, _ = shape(m["type"])
        if m["name"] not in ELEMENTWISE.split() or not dims or len(operands) != len(types):
            return m[0]
        text = ""
        for i, (v, t) in enumerate(zip(operands, types)):
            own, element = shape(t)
            if own is None or own == dims or not own:
                continue
            full, lead = [1] * (len(dims) - len(own)) + own, f"{v}_full{count}"
            if len(full) != len(dims) or any(a not in (1, b) for a, b in zip(full, dims)):
                continue
            times = [b // a for a, b in zip(full, dims)]
            key = ("repeat_dims = #ttnn.shape<%s>" % "x".join(map(str, times)) if m["dialect"] == "ttnn" else
                   "repeat_dimensions = array<i64: %s>" % ", ".join(map(str, times)))
            shaped = tensor(full, element)
            listed = ", ".join(f"{d} : i32" for d in full)
            text += f'{lead}_shaped = "{m["dialect"]}.reshape"({v}) <{{shape = [{listed}]}}> : ({t}) -> {shaped}\n'
            text += f'{lead} = "{m["dialect"]}.repeat"({lead}_shaped) <{{{key}}}> : ({shaped}) -> {tensor(dims, element)}\n'
            operands[i], types[i] = lead, tensor(dims, element)
            count += 1
        if not text:
            return m[0]
        return text + m[0].replace("(%s)" % m["operands"], "(%s)" % ", ".join(operands), 1).replace(
            "(%s)" % m["types"], "(%s)" % ", ".join(types), 1)
    varied = OP.sub(before, module)
    return [varied] if count else []


def places(module):
    varied = re.sub(r' loc\((?:"[^"]*"|#\w+)(?:\([^()]*\))?\)', "", re.sub(r',? ?ttir\.name = "[^"]*"', "", module))
    return [varied] if varied != module else []


ANNOTATION = r" ?\{ttcore\.argument_type = #ttcore\.argument_type<(?:%s)>\}"


def unsaid(module):
    varied = re.sub(ANNOTATION % r"\w+", "", module)
    return [varied] if varied != module else []


def arguments(module):
    varied = re.sub(ANNOTATION % "parameter|constant", "", module)
    return [varied] if varied != module else []


def lowered(module):
    """What the compiler lowers op by op; of products and windows, whose attributes become others, nothing."""
    if '"ttir.' not in module or re.search(r'"ttir\.(?:dot_general|\w*conv\w*|\w*pool\w*)"', module):
        return []
    numbers = dict(re.findall(r'(%\w+) = "ttir\.full"\(\) <\{fill_value = (\S+) :', module))

    def lower(m):
        name, operands, types = m["name"], m["operands"].split(", "), m["types"].split(", ")
        text = numbers.get(operands[-1], "nan")
        number = float("nan" if text.startswith("0x") else text)
        if len(operands) == len(types) == 2 and (name == "maximum" and number == 0 or name == "pow" and number == number):
            op = "relu" if name == "maximum" else "pow_scalar"
            attributes = " <{rhs = %s : f32}>" % text if name == "pow" else ""
            return f'{m["result"]} = "ttnn.{op}"({operands[0]}){attributes} : ({types[0]}) -> {m["type"]}'
        return m[0].replace('"ttir.div"', '"ttnn.divide"').replace('"ttir.broadcast"', '"ttnn.repeat"').replace(
            "broadcast_dimensions =", "repeat_dims =").replace('"ttir.', '"ttnn.')
    text = OP.sub(lower, module).replace('"ttir.', '"ttnn.')
    return [re.sub(r'("ttnn.argmax".*?)dim_arg = \[([^]]*)\]', r"\1dim = \2", text)]


def ones():
    """Of each hit pattern, place, the extent that is 1 ('itself', 'rows': none is) and the module, with its constants as they
    are and as they are of the new extents."""
    text = subprocess.run([EXAMPLES, "ones", PATTERNS], capture_output=True, text=True, check=True).stdout
    for part in text.split("// -----\n"):
        m = re.match(r"// (\S+): (\w+), (\w+)\n", part)
        if m:
            yield m[2], m[1], m[3], [t for t in dict.fromkeys(part[m.end():].split("// or\n")) if t]


def found(audits, level, module):
    """The notes of the fused ops that are found and proved, by name; None: the module does not hold together."""
    _, said, report = audits.audit_text(level, module)
    if any("error" in line or " is not " in line or "no op" in line for line in said):
        return None
    return {e["fused_op"]: i["notes"] for e in report or [] for i in e["instances"]
            if re.search(r"^(validated: same function|alike: )", i["notes"], re.M)}


def unstated(audits, level, before, after, want, ops):
    """The ops that are found only if arguments are parameters, and no precondition names one of them."""
    inputs = re.sub("argument_type<(?:parameter|constant)>", "argument_type<input>", before)
    named = "|".join(set(re.findall(r"%\w+(?=: [^%{]*\{ttcore\.argument_type = #ttcore\.argument_type<(?:parameter|constant)>)", before)))
    anyway = found(audits, level, inputs) or {}
    return [op for op in want if op not in anyway and not re.search(rf"^precondition: .*(?:{named})\b", ops[op], re.M)]


def why(pattern, level, text):
    """What explain says of a place that is lost, or that nothing comes close."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as f:
        f.write(text)
        f.flush()
        said = subprocess.run([PROGRAM, "explain", f"--{level}-only", f"--only={pattern}", f.name], capture_output=True,
                              text=True).stdout
    because = re.findall(r"because\s+(.*)", said)
    return because[0] if because else "found, and not proved"


def variations():
    """Kind, pattern, place, what is varied and what it becomes: texts, of which one has to be found."""
    for pattern, place, module in examples():
        for kind in (swap, neutral, broadcast, places, unsaid, arguments, lowered):
            for varied in kind(module):
                yield kind.__name__, pattern, place, [module], [varied]
    for pattern, place, extent, texts in ones():
        if extent == "itself":
            whole = texts
        else:
            kind = "rows" if extent == "rows" else "one"
            yield kind, pattern, place if kind == "rows" else f"{place} with {extent} as 1", whole, texts


def main():
    listed = subprocess.run([PROGRAM, "patterns", "list"], capture_output=True, text=True, check=True).stdout
    fused = {line.split()[0]: line.split()[1] for line in listed.splitlines() if line[0] != " "}
    audits, every, bases = Audits(AUDITS, "", "blocked,decomposed,slower"), int(OPTIONS.get("every", 1)), {}
    tried, lost, nothing = collections.Counter(), collections.defaultdict(list), set()
    for n, (kind, pattern, place, before, after) in enumerate(variations(), 1):
        if n % every or OPTIONS.get("only", pattern) != pattern or OPTIONS.get("kind", kind) != kind:
            continue
        level = "ttnn" if '"ttnn.' in before[0] else "ttir"
        if before[0] not in bases:
            bases[before[0]] = next(filter(None, (found(audits, level, text) for text in before)), None)
        base = bases[before[0]]
        if not base:
            nothing.add(place.split()[0])
            continue
        want = [fused[pattern]] if fused[pattern] in base else list(base)
        level = "ttnn" if kind == "lowered" else level
        ops = [ops for ops in (found(audits, level, text) for text in after) if ops is not None]
        tried[kind] += bool(ops)
        if ops and not any(set(want) <= set(each) for each in ops):
            lost[kind, pattern].append((place, level, set().union(*ops), after[-1]))
        elif kind == "arguments" and unstated(audits, level, before[0], after[0], want, ops[0]):
            lost[kind, pattern].append((place, level, ["it without a precondition"], after[0]))
    audits.close()
    failures, by_row = len(nothing), collections.Counter()
    for (kind, pattern), places_ in sorted(lost.items()):
        row = next((r for r in EXCEPTIONS if re.fullmatch(r[0], kind) and re.fullmatch(r[1], pattern)), None)
        by_row[row] += len(places_)
        good = row is not None and by_row[row] <= row[2]
        failures += not good
        known = f": {row[3]}" if good else f", {row[2]} of its row are known" if row else ""
        print(f"{kind} {pattern}: {len(places_)} lost{known}")
        if not good or OPTIONS.get("verbose"):
            for place, level, ops, text in places_:
                print(f"  {place} ({level}): found {sorted(ops) or 'nothing'}: {why(pattern, level, text)}")
                if OPTIONS.get("verbose") == "2":
                    print(text)
    for row in EXCEPTIONS:   # no row excuses more than is lost of all
        if every == 1 and set(row[0].split("|")) <= set(tried) and "only" not in OPTIONS and by_row[row] < row[2]:
            print(f"{row[0]} {row[1]}: {by_row[row]} lost, {row[2]} are excused")
            failures += 1
    for place in sorted(nothing):
        print(f"{place}: nothing is found and proved")
    print(", ".join(f"{kind} {tried[kind]}" for kind in tried), "tried;", sum(map(len, lost.values())), "lost")
    return failures > 0


if __name__ == "__main__":
    PROGRAM, AUDITS, EXAMPLES, PATTERNS = [a for a in sys.argv[1:] if not a.startswith("--")]
    sys.exit(main())
