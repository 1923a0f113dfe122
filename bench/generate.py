#!/usr/bin/env python3
"""Makes big inputs for the benchmark from this repository's fixtures.

usage: generate.py KIND SIZE OUT [OUT2]

Models, SIZE in MB; copies of the functions of a DiT block, each with symbols and locations of its own:
  ttir       one TTIR module
  ttnn       one TTNN module
  pair       a TTIR and a TTNN module of the same copies, SIZE together: OUT and OUT2
  graphs     a log with a TTIR module for each copy, between log lines
  log        a log with all stages of each copy, between log lines
  noise      log lines, and one small module at the end

Traps, SIZE a number:
  uses       one matmul added to SIZE values
  operands   one op with SIZE operands
  arguments  one function with SIZE arguments
  aliases    SIZE location aliases, each used once
  functions  SIZE functions of one op
  adds       a chain of SIZE adds
  linears    a chain of SIZE products with a bias, a missed fusion each
  moves      a chain of SIZE reshapes of a constant, each one added to something
  consts     a chain of SIZE adds of constants
  calls      SIZE calls of one function
  chain      an alias chain of SIZE, used by 1000 ops
  cycle      an alias cycle of SIZE, used by 1000 ops
  regions    SIZE regions, one in the other
  brackets   a type with SIZE brackets, one in the other
  same       a TTIR and a TTNN module of SIZE ops that all have one location: OUT and OUT2
  broken     SIZE lines that are no ops
  undefined  SIZE ops whose operands nothing defines
  blocks     a log of SIZE graphs of one op
  warned     a log of SIZE graphs of two ops, one of which has no type
  headers    a log of SIZE headers with nothing after them
  modules    SIZE modules of one op, without headers
  prefixed   one module of SIZE ops, a prefix on every line
  foreign    one module of SIZE ops, a log line after each
  line       a module of SIZE MB on one line, a missed fusion in every two ops
  badline    a module of SIZE MB on one line, in which every op has an error
  hex        a constant of SIZE MB on one line

Runs, SIZE in bytes: PLACE:UNIT, as many repeats of one of UNITS as fit, at one of PLACES, such as log:nul, type:less.
"""
import functools
import io
import pathlib
import re
import sys

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / 'fixtures'
COPY = '\x01'   # in a template: the number of the copy
ALIAS = '\x02'  # around the number of a location alias, which is moved on with each copy
NOISE = '2026-11-20 10:00:%02d.%03d (%8.3fs) [        7F3A1C40]     client_instance.cc:847      1| %s %d\n'
SAYS = ['compiling graph', 'BufferInstance::toHost of buffer', 'flatbuffer written, bytes:', 'executing program',
        'cache miss for key "graph{0}" of tensor<1x64x128xbf16>:']
HEADER = '2026-11-20 10:00:00.000 (   1.000s) [        7F3A1C40]       module_builder.cc:1278     1| MLIR Module %s:\n'
FOOTER = '------------------ END OF MLIR MODULE ------------------\n'


def own(text):
    """Text in which symbols, location aliases and location names carry the number of the copy."""
    text = re.sub(r'#loc(\d+)\b', lambda m: f'#loc{ALIAS}{m.group(1)}{ALIAS}', text)
    text = re.sub(r'(loc\(|"\()"([^"]+)"(?!:\d)', lambda m: f'{m.group(1)}"g{COPY}.{m.group(2)}"', text)
    return re.sub(r'@((?!SyncTensors|device|default)[A-Za-z_][\w.$-]*)', lambda m: f'@{m.group(1)}_{COPY}', text)


@functools.lru_cache
def cut(template):
    return re.split(f'{ALIAS}(\\d+){ALIAS}', template)


def copy(template, number, stride):
    """One copy of a template; `stride`: how many location aliases a copy has."""
    parts = list(cut(template))
    parts[1::2] = [str(number * stride + int(p)) for p in parts[1::2]]
    return ''.join(parts).replace(COPY, str(number))


def stride_of(*templates):
    return max(int(n) for t in templates for n in re.findall(f'{ALIAS}(\\d+){ALIAS}', t))


def pieces(text):
    """(shared, locations, body): the aliases that all copies share, those of each copy, and the module as a list of
    literal text and, as one-tuples, of the functions that a copy has its own of."""
    aliases = [l for l in text.split('\n') if re.match(r'[#!][\w$.]+ = ', l)]
    locations = [l for l in aliases if re.match(r'#loc\d+ = ', l)]
    shared = [l for l in aliases if l not in locations]
    body, group, indent = [], [], None
    for line in text.split('\n'):
        if not line or re.match(r'[#!][\w$.]+ = ', line):
            continue
        depth = len(line) - len(line.lstrip())
        if indent is None and line.lstrip().startswith('func.func '):
            indent = depth
        if indent is not None and depth >= indent:
            group.append(line)
            continue
        if indent is not None:
            body.append((own('\n'.join(group) + '\n'),))
            group, indent = [], None
        body.append(line + '\n')
    return '\n'.join(shared + ['']), own('\n'.join(locations + [''])), body


def copies_in(parts, size):
    shared, locations, body = parts
    one = len(locations) + sum(len(b[0]) for b in body if isinstance(b, tuple))
    return max(1, int((size - len(shared)) / (one + 200)))


def write_module(out, parts, n):
    shared, locations, body = parts
    stride = stride_of(locations)
    out.write(shared)
    for b in body:
        if isinstance(b, tuple):
            for k in range(n):
                out.write(copy(b[0], k, stride))
        else:
            out.write(b)
    for k in range(n):
        out.write(copy(locations, k, stride))


def write_noise(out, n, lines):
    for i in range(n, n + lines):
        out.write(NOISE % (i % 60, i % 1000, i / 1000, SAYS[i % len(SAYS)], i))


def fixture(name):
    return (FIXTURES / name).read_text()


def plain(name):
    def make(size, out):
        parts = pieces(fixture(name))
        write_module(out, parts, copies_in(parts, size * 1e6))
    return make


def pair(size, out, out2):
    ttir, ttnn = pieces(fixture('dit.ttir.mlir')), pieces(fixture('dit.ttnn.mlir'))
    share = copies_in(ttir, 1e9) / copies_in(ttnn, 1e9)
    n = copies_in(ttir, size * 1e6 / (1 + share))
    write_module(out, ttir, n)
    write_module(out2, ttnn, n)


def graphs(size, out):
    shared, locations, body = pieces(fixture('dit.ttir.mlir'))
    module = shared + ''.join(b[0] if isinstance(b, tuple) else b.replace('@Sync', f'@G{COPY}') for b in body)
    written = k = 0
    while written < size * 1e6:
        write_noise(out, k * 20, 20)
        written += out.write(HEADER % 'ttir' + copy(module + locations, k, 0) + FOOTER)
        k += 1


def log(size, out):
    template = own(fixture('dit.log')).replace('@SyncTensors', f'@G{COPY}')
    written = k = 0
    while written < size * 1e6:
        write_noise(out, k * 100, 100)
        written += out.write(copy(template, k, 0)) + 10000
        k += 1


def noise(size, out):
    lines = 0
    while out.tell() < size * 1e6:
        write_noise(out, lines, 10000)
        lines += 10000
    out.write(HEADER % 'ttir' + fixture('dit.ttir.mlir') + FOOTER)


# ---- traps ----

T = 'tensor<32x32xbf16>'


def function(out, lines, args=f'%a: {T}, %b: {T}', before='', after=''):
    out.write(f'{before}module {{\n  func.func @main({args}) -> {T} {{\n')
    for line in lines:
        out.write('    ' + line + '\n')
    out.write(f'    return %a : {T}\n  }}\n}}\n{after}')


def add(result, a, b, loc='unknown', dialect='ttir'):
    return f'%{result} = "{dialect}.add"(%{a}, %{b}) : ({T}, {T}) -> {T} loc({loc})'


def uses(n, out):
    function(out, [f'%m = "ttir.matmul"(%a, %b) : ({T}, {T}) -> {T}'] + [add(i, 'm', 'b') for i in range(n)])


def operands(n, out):
    function(out, [f'%m = "ttir.concat"({", ".join(["%a"] * n)}) <{{dim = 0 : si32}}> : ({", ".join([T] * n)}) -> {T}'])


def arguments(n, out):
    function(out, [add(0, 'a', 'a')], ', '.join(f'%a{i or ""}: {T}' for i in range(n)))


def aliases(n, out):
    function(out, (add(i, 'a', 'b', f'#loc{i + 1}') for i in range(n)),
             after=''.join(f'#loc{i + 1} = loc("add.{i}")\n' for i in range(n)))


def functions(n, out):
    out.write('module {\n')
    for i in range(n):
        out.write(f'  func.func @f{i}(%a: {T}, %b: {T}) -> {T} {{\n    {add(0, "a", "b")}\n    return %0 : {T}\n  }}\n')
    out.write('}\n')


def adds(n, out):
    function(out, (add(i, i - 1 if i else 'a', 'b') for i in range(n)))


def linears(size, out):
    x, w, b = ('tensor<%sxbf16>' % shape for shape in ('32x64', '64x64', '1x64'))
    out.write(f'module {{\n func.func @f(%a: {x}, %w: {w}, %b: {b}) -> {x} {{\n')
    for i in range(size):
        out.write(f' %m{i} = "ttnn.matmul"(%a{i - 1 if i else ""}, %w) : ({x}, {w}) -> {x}\n'
                  f' %a{i} = "ttnn.add"(%m{i}, %b) : ({x}, {b}) -> {x}\n')
    out.write(f' return %a{size - 1} : {x}\n }}\n}}\n')


def moves(n, out):
    def lines():
        yield f'%m0 = "ttir.full"() <{{fill_value = 2.0 : f32, shape = array<i32: 32, 32>}}> : () -> {T}'
        for i in range(n):
            yield f'%m{i + 1} = "ttir.reshape"(%m{i}) <{{shape = [32 : i32, 32 : i32]}}> : ({T}) -> {T}'
            yield add(i, f'm{i + 1}', 'a')
    function(out, lines())


def consts(n, out):
    def lines():
        yield f'%m0 = "ttir.full"() <{{fill_value = 2.0 : f32, shape = array<i32: 32, 32>}}> : () -> {T}'
        for i in range(n):
            yield add(f'm{i + 1}', f'm{i}', 'm0')
    function(out, lines())


def calls(n, out):
    out.write(f'module {{\n  func.func private @f(%a: {T}) -> {T} attributes {{tt.function_type = "const_eval"}} {{\n'
              f'    {add(0, "a", "a")}\n    return %0 : {T}\n  }}\n  func.func @main(%a: {T}) -> {T} {{\n')
    for i in range(n):
        out.write(f'    %{i} = ttcore.load_cached(@f, [%{i - 1 if i else "a"}]) : ({T}) -> {T}\n')
    out.write(f'    return %{n - 1} : {T}\n  }}\n}}\n')


def chained(last):
    def make(n, out):
        function(out, (add(i, 'a', 'b', '#loc1') for i in range(1000)),
                 after=''.join(f'#loc{i + 1} = loc(#loc{i + 2})\n' for i in range(n)) + f'#loc{n + 1} = loc({last})\n')
    return make


def device_function(out, lines, last):
    """Ops of TTNN, of which `last` is returned."""
    out.write(f'module {{\n  func.func @main(%a: {T}, %b: {T}) -> {T} {{\n')
    out.writelines(f'    {line}\n' for line in lines)
    out.write(f'    return %{last} : {T}\n  }}\n}}\n')


def unary(result, operand, op='exp'):
    return f'%{result} = "ttnn.{op}"(%{operand}) : ({T}) -> {T} loc(unknown)'


def tree(n, out):
    """Additions in one tree: half of them add arguments, the others two results each."""
    half = (n + 1) // 2
    device_function(out, (add(i, 'a', 'b', dialect='ttnn') if i < half else
                          add(i, 2 * (i - half), 2 * (i - half) + 1, dialect='ttnn') for i in range(2 * half - 1)), 2 * half - 2)


def users(n, out):
    """A result with n users, each the first of two ops."""
    device_function(out, [unary('m', 'a', 'neg')] +
                    [unary(i, f'{i - 1}' if i % 2 else 'm') for i in range(2 * n)], 'm')


def unaries(n, out):
    device_function(out, (unary(i, i - 1 if i else 'a') for i in range(n)), n - 1)


def regions(n, out):
    function(out, ['"scf.execute_region"() ({'] * n + [add(0, 'a', 'b')] + ['}) : () -> ()'] * n)


def brackets(n, out):
    function(out, [f'%0 = "x.y"(%a) : ({T}) -> ' + 'tuple<' * n + 'i1' + '>' * n, add(1, 'a', 'b')])


def same(n, out, out2):
    for dialect, o in (('ttir', out), ('ttnn', out2)):
        linear = [f'%m{i} = "{dialect}.matmul"(%{i - 1 if i else "a"}, %b) : ({T}, {T}) -> {T} loc("linear")\n    '
                  + add(i, f'm{i}', 'c', '"linear"', dialect) for i in range(n // 2)]
        function(o, linear, f'%a: {T}, %b: {T}, %c: {T}')


def broken(n, out):
    function(out, (f'%{i} = = "ttir.add"(%a, %b) : ({T}' for i in range(n)))


def undefined(n, out):
    function(out, (add(i, f'u{i}', f'v{i}') for i in range(n)))


def blocks(n, out):
    for i in range(n):
        out.write(HEADER % 'ttir')
        function(out, [add(i, 'a', 'b')])
        out.write(FOOTER)


def warned(n, out):
    for i in range(n):
        out.write(HEADER % 'ttir')
        function(out, [add(i, 'a', 'b'), '"test.untyped"()'])
        out.write(FOOTER)


def headers(n, out):
    for i in range(n):
        out.write(HEADER % 'ttir')
    function(out, [add(0, 'a', 'b')])


def modules(n, out):
    for i in range(n):
        function(out, [add(i, 'a', 'b')])


def prefixed(n, out):
    module = io.StringIO()
    adds(n, module)
    out.write(HEADER % 'ttir')
    for text in module.getvalue().splitlines():
        out.write('[1,0]<stdout>:' + text + '\n')


def foreign(n, out):
    function(out, (add(i, i - 1 if i else 'a', 'b') + '\n' + (NOISE % (0, 0, 1.0, 'still alive', i)).rstrip()
                   for i in range(n)), before=HEADER % 'ttir')


def line(size, out):
    out.write('module { ' + f'func.func @main(%a: {T}, %b: {T}) -> {T} {{ ')
    one = f'%m0 = "ttir.matmul"(%a, %b) : ({T}, {T}) -> {T} %0 = ' + add(0, 'm0', 'b') + ' '
    n = int(size * 1e6 / (len(one) + 10))
    for i in range(n):
        out.write(f'%m{i} = "ttir.matmul"(%{i - 1 if i else "a"}, %b) : ({T}, {T}) -> {T} {add(i, f"m{i}", "b")} ')
    out.write(f'return %{n - 1} : {T} }} }}\n')


def badline(size, out):
    one = f'%0 = "ttir.add"(%u, %v : ({T}, {T}) -> {T} '
    out.write('module { ' + f'func.func @main(%a: {T}, %b: {T}) -> {T} {{ ')
    out.write(one * int(size * 1e6 / len(one)) + f'return %a : {T} }} }}\n')


def hexadecimal(size, out):
    digits = int(size * 1e6) // 4096 * 4096
    function(out, [f'%0 = "ttir.constant"() <{{value = dense<"0x{"3F80A0C1" * (digits // 8)}"> : tensor<{digits // 8}xf32>}}> '
                   f': () -> tensor<{digits // 8}xf32>', add(1, 'a', 'b')])


# ---- runs ----

UNITS = {
    'nul': '\x00', 'escape': '\x1b', 'cr': '\r', 'blank': ' ', 'tab': '\t', 'newline': '\n', 'digit': '7',
    'letter': 'x', 'quote': '"', 'paren': '(', 'close': ')', 'bracket': '[', 'unbracket': ']', 'brace': '{',
    'unbrace': '}', 'less': '<', 'greater': '>', 'hash': '#', 'bang': '!', 'at': '@', 'percent': '%',
    'backslash': '\\', 'comma': ',', 'slash': '/', 'minus': '-', 'colon': ':', 'bar': '|', 'dot': '.', 'equals': '=',
    'byte': 'ÿ', 'caret': '^', 'question': '?', 'colour': '\x1b[0m', 'colours': '\x1b[1m\n', 'nuls': '\x00\n',
    'crlf': '\r\n', 'escaped': '\\"', 'pairs': '()', 'lists': '[1, ', 'dictionaries': '{a = ', 'properties': '<{',
    'arrow': '->', 'tensors': 'tensor<', 'locations': 'loc(', 'fused': 'fused[', 'callsites': 'callsite(',
    'module': 'module {', 'modules': 'module {\n', 'functions': 'func.func @f(', 'value': '%0,', 'alias': '#loc',
    'aliases': '#a = \n', 'undefined': '#a ', 'quoted': '"a" ', 'op': '"ttir.add"(', 'custom': 'ttir.add ',
    'extents': '1x', 'comment': '// ', 'comments': '//\n', 'regions': '({\n', 'block': '^bb0:', 'open': '(\n',
    'unclosed': '"\n', 'results': '%1 =\n', 'returns': 'return\n', 'closed': '}\n', 'header': 'MLIR Module ',
    'dump': '// -----// IR Dump After X //----- //', 'stamp': '2026-11-20 10:00:00.000 | ', 'box': '[0] ',
    'rank': '[1,0]<stdout>:', 'escapes': 'x' * 20 + '\\n'}


def with_op(op, before='', after='', more=''):
    out = io.StringIO()
    function(out, [op], f'%a: {T}{more}, %b: {T}', before, after)
    return out.getvalue()


OP = add(0, 'a', 'b')
PLACES = {
    'log': lambda r: r + '\n' + with_op(OP),
    'between': lambda r: HEADER % 'ttir' + with_op(OP) + r + '\n' + HEADER % 'ttir' + with_op(OP),
    'body': lambda r: with_op(f'{OP}\n{r}\n{add(1, "a", "b")}'),
    'operands': lambda r: with_op(OP.replace('%b', r + ' %b')),
    'attribute': lambda r: with_op(OP.replace(') :', f') <{{k = {r}}}> :')),
    'constant': lambda r: with_op(f'%0 = "ttir.constant"() <{{value = dense<{r}> : {T}}}> : () -> {T}'),
    'type': lambda r: with_op(OP.replace('tensor<', f'tensor<{r}')),
    'types': lambda r: with_op(OP.replace(f'({T},', f'({r},')),
    'location': lambda r: with_op(OP.replace('unknown', r)),
    'string': lambda r: with_op(OP.replace('unknown', f'"{r}"')),
    'alias': lambda r: with_op(OP, before=f'#x = {r}\n'),
    'quotes': lambda r: with_op(OP, before=f'#x = "{r}"\n'),
    'name': lambda r: with_op(OP.replace('%0', f'%{r}0')),
    'argument': lambda r: with_op(OP, more=' ' + r),
    'custom': lambda r: with_op(f'%0 = ttir.add %a, %b {r} : {T}')}


def run_of(place, unit):
    def make(size, out):
        out.reconfigure(encoding='latin-1', newline='')
        out.write(PLACES[place](UNITS[unit] * (size // len(UNITS[unit]))))
    return make


RUNS = [f'{place}:{unit}' for place in PLACES for unit in UNITS]

KINDS = {'ttir': plain('dit.ttir.mlir'), 'ttnn': plain('dit.ttnn.mlir'), 'pair': pair, 'graphs': graphs, 'log': log,
         'noise': noise, 'uses': uses, 'operands': operands, 'arguments': arguments, 'aliases': aliases,
         'functions': functions, 'adds': adds, 'linears': linears, 'moves': moves, 'consts': consts, 'calls': calls,
         'tree': tree, 'users': users, 'unaries': unaries,
         'chain': chained('"end"'), 'cycle': chained('#loc1'), 'regions': regions, 'brackets': brackets, 'same': same,
         'broken': broken, 'undefined': undefined, 'blocks': blocks, 'warned': warned,
         'headers': headers, 'modules': modules, 'prefixed': prefixed, 'foreign': foreign, 'line': line,
         'badline': badline, 'hex': hexadecimal, **{r: run_of(*r.split(':')) for r in RUNS}}
TWO = ('pair', 'same')
MODELS = ('ttir', 'ttnn', 'pair', 'graphs', 'log', 'noise', 'line', 'badline', 'hex')


def make(kind, size, *paths):
    outs = [open(p, 'w') for p in paths]
    KINDS[kind](size if kind in MODELS else int(size), *outs)
    for out in outs:
        out.close()


if __name__ == '__main__':
    if len(sys.argv) < 4 or sys.argv[1] not in KINDS or len(sys.argv) != (5 if sys.argv[1] in TWO else 4):
        sys.exit(__doc__)
    make(sys.argv[1], float(sys.argv[2]), *sys.argv[3:])
