#!/usr/bin/env python3
"""Makes the seeds of a fuzz target from the fixtures and patterns of this repository.

usage: seeds.py TARGET DIRECTORY MAX_BYTES [EVERY]
"""
import pathlib
import re
import sys

target, out, limit = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
every = int(sys.argv[4]) if len(sys.argv) > 4 else 1
root = pathlib.Path(__file__).resolve().parent.parent
count = 0


def put(text):
    global count
    data = text if isinstance(text, bytes) else text.encode()
    if 0 < len(data) <= limit:
        if count % every == 0:
            (out / f'seed{count:04d}').write_bytes(data)
        count += 1


def fixtures(*suffixes):
    for path in sorted((root / 'fixtures').rglob('*')):
        if path.is_file() and path.name.endswith(suffixes):
            yield path.read_bytes().decode('utf-8', 'replace')


def parts(text, lines):
    """The lines of a module in pieces, each between the braces of a function; and its aliases."""
    whole = text.split('\n')
    ops = [l for l in whole if re.match(r'\s+(%|"|return|func\.)', l)]
    aliases = [l for l in whole if re.match(r'[#!][\w$.]+ = ', l)]
    for i in range(0, len(ops), lines):
        body = ops[i:i + lines]
        used = set(re.findall(r'[#!][\w$]+', '\n'.join(body)))
        head = [a for a in aliases if a.split(' = ')[0] in used]
        used |= set(re.findall(r'[#!][\w$]+', '\n'.join(head)))
        head = [a for a in aliases if a.split(' = ')[0] in used]
        opened = [] if any('func.func' in l for l in body) else ['  func.func @main() {']
        yield '\n'.join(head + ['module {'] + opened + body + ['  }', '}', ''])


def mlir_seeds(sizes=(3, 12), small=0):
    """Files and their parts; of those up to `small` bytes no parts."""
    for text in fixtures('.mlir'):
        put(text)
        for lines in sizes if len(text) > small else ():
            for part in parts(text, lines):
                put(part)


def log_seeds():
    for text in fixtures('.log', '.txt'):
        put(text)
        lines = text.split('\n')
        headers = [i for i, l in enumerate(lines) if 'odule' in l and l.rstrip().endswith((':', '//', '-'))]
        for begin, end in zip([0] + headers, headers[2:] + [len(lines)]):
            put('\n'.join(lines[begin:min(end, begin + 40)] + lines[max(begin + 40, end - 8):end] + ['']))


def pattern_texts():
    files = sorted((root / 'patterns').glob('*.yml'))
    return {p.stem: p.read_text() for p in files if not p.stem.endswith('.test')}


def put_with_tests(text, tests):
    """Each pattern alone with its examples under the key `tests`."""
    for block in re.split(r'\n\n(?=\w+:\n)', tests):
        name, _, examples = block.partition(':\n')
        for document in re.split(r'(?m)^---\n', text):
            if re.search(rf'(?m)^name: {name}$', document):
                put(document + 'tests:\n' + examples + '\n')


def pattern_seeds():
    texts = pattern_texts()
    for name, text in texts.items():
        put(text)
        tests = root / 'patterns' / f'{name}.test.yml'
        if tests.exists():
            put_with_tests(text, tests.read_text())
        if name != 'idioms':
            put(texts['idioms'] + '---\n' + text)


def formula_seeds():
    texts = pattern_texts()
    items = re.split(r'\n  - ', '\n' + texts.get('idioms', ''))[1:]
    idioms = []
    for item in items:
        item = re.sub(r'(?m)^\s*#.*\n?', '', item).strip()
        item = re.sub(r'(?m)^    ', '', item.removeprefix('|\n')).strip('"')
        idioms.append(item)
    for text in texts.values():
        for m in re.finditer(r'(?m)^match: (?:\|\n((?:  .*\n|\n)+)|(.*)\n)', text):
            formula = re.sub(r'(?m)^  ', '', m.group(1) or m.group(2) + '\n')
            conditions = re.findall(r'(?m)^  - (?:when: )?"?([^"\n]*)"?$', text)
            used = [i for i in idioms if re.match(r'\w+', i) and re.match(r'\w+', i).group() + '(' in formula + ''.join(idioms)]
            put('\n\n'.join(used) + '\n---\n' + formula + '---\n' + '\n'.join(conditions) + '\n')
            put('---\n' + formula + '---\n' + '\n'.join(conditions) + '\n')
    for idiom in idioms:
        put(idiom + '\n---\nx + y\n---\n')


def audit_seeds():
    match_seeds()
    log_seeds()


def match_seeds():
    mlir_seeds((12, 30), 16384)  # an audit of each takes a tenth of a second, and all are run before any is changed
    for ttir in sorted((root / 'fixtures').rglob('*.ttir.mlir')):
        ttnn = ttir.with_name(ttir.name.replace('.ttir.', '.ttnn.'))
        if ttnn.exists():
            pairs = [list(parts(p.read_text(), 40)) for p in (ttir, ttnn)]
            for i, one in enumerate(pairs[0]):
                put(one + '---\n' + pairs[1][i * len(pairs[1]) // len(pairs[0])])


out.mkdir(parents=True, exist_ok=True)
{'log': lambda: (log_seeds(), mlir_seeds()), 'mlir': mlir_seeds, 'pattern': pattern_seeds, 'formula': formula_seeds,
 'match': match_seeds, 'audit': audit_seeds}[target]()
print(count, 'seeds')
