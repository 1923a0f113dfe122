#!/usr/bin/env python3
"""Measures the program and prints a table in Markdown.

usage: run.py PROGRAM [--full] [--size MB] [--runs N] [--only PART,...] [--cpu] [--work DIR]

Every figure is a median over N runs (5) after one that warms the caches; what is compared is run in turns. --full
measures what the project promises: 500 MB next to 50 MB, a log of 1 GB, and traps of a million. Parts: patterns, read, log,
memory, linear, formats, traps, runs, texts, corpus. Inputs are made from fixtures/ by generate.py, and, where the corpus is beside the checkout, by its
bigir.py from real models. Exit status 0: everything that has a bound keeps it.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import generate  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parent.parent / 'shared'
MLIR_OPT = ['mlir-opt-22', '--allow-unregistered-dialect', '--mlir-disable-threading']
DRY = ['--jobs', '1', '--dry-run', '--no-validate', '--quiet']


class Run:
    """One run of a command: seconds, peak memory in bytes, exit status, standard error."""

    def __init__(self, command, cpu=False):
        with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
            if command[0] != 'grep':  # which stops at the first match when nobody reads what it counts
                out = subprocess.DEVNULL
            begin = time.perf_counter()
            child = subprocess.Popen(command, stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            self.seconds = time.perf_counter() - begin
            if cpu:
                self.seconds = usage.ru_utime + usage.ru_stime
            child.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.user = usage.ru_utime
            self.memory = usage.ru_maxrss * 1024
            err.seek(0)
            self.error = err.read().decode('utf-8', 'replace')
        if not 0 <= self.status <= 3:
            raise SystemExit(f'{" ".join(map(str, command))}: exit status {self.status}\n{self.error}')


class Bench:
    def __init__(self, options):
        self.o = options
        self.program = str(pathlib.Path(options.program).resolve())
        self.work = pathlib.Path(tempfile.mkdtemp(prefix='fusion-audit-bench-', dir=options.work))
        self.missed = 0

    def make(self, kind, size, *names):
        paths = [self.work / n for n in names or [f'{kind}-{size:g}']]
        if not all(p.exists() for p in paths):
            # in a process of its own: a child's peak memory starts at that of the process it was forked from
            subprocess.run([sys.executable, HERE / 'generate.py', kind, str(size), *paths], check=True)
        return paths if len(paths) > 1 else paths[0]

    def drop(self, *paths):
        for p in paths:
            p.unlink()

    def audit(self, *arguments):
        return [self.program, *map(str, arguments)]

    def turns(self, *commands, runs=None, cpu=None):
        """Medians of commands that are run in turns."""
        all_runs = [[] for _ in commands]
        for i in range((runs or self.o.runs) + 1):
            for c, done in zip(commands, all_runs):
                done.append(Run(c, self.o.cpu if cpu is None else cpu))
        return [statistics.median(r.seconds for r in done[1:]) for done in all_runs]

    def row(self, what, figures, bound='', good=None):
        self.missed += good is False
        print(f'| {what} | {figures} | {bound}{"" if good is None else " ✓" if good else " ✗"} |', flush=True)

    def compare(self, what, ours, theirs, name, factor, cpu=None):
        a, b = self.turns(ours, theirs, cpu=cpu)
        self.row(what, f'{a:.2f} s, {name} {b:.2f} s: {b / a:.1f} times', f'≥ {factor} times', b / a >= factor)
        return a


def mb(n):
    return f'{n / 1e6:.0f} MB'


def speed(path, seconds):
    return f'{path.stat().st_size / 1e6 / seconds:.0f} MB/s'


def read(b):
    path = b.make('ttir', b.o.size)
    dry = b.audit('--ttir-only', *DRY, path)
    cat, = b.turns(['cat', path])
    ours, = b.turns(dry)
    b.row(f'plain read of a TTIR module of {mb(path.stat().st_size)} (`cat`)', f'{cat:.3f} s, {speed(path, cat)}')
    b.row('the same audited, one thread', f'{ours:.2f} s, {speed(path, ours)}, {ours / cat:.0f} times the plain read')
    if shutil.which(MLIR_OPT[0]):
        b.compare('the same next to mlir-opt', dry, [*MLIR_OPT, path, '-o', '/dev/null'], 'mlir-opt', 3)
    report(b, path)
    ttir, ttnn = b.make('pair', b.o.size, 'pair.ttir', 'pair.ttnn')
    pair, = b.turns(b.audit(*DRY, ttir, ttnn))
    size = ttir.stat().st_size + ttnn.stat().st_size
    b.row(f'a TTIR and a TTNN module, {mb(size)}', f'{pair:.2f} s, {size / 1e6 / pair:.0f} MB/s')
    b.drop(ttir, ttnn)


def report(b, path):
    out = b.work / 'report.yml'
    base = ['--ttir-only', '--quiet', '--jobs', '1']
    dry, full, proved = b.turns(b.audit(*base, '--dry-run', '--no-validate', path), b.audit(*base, '--no-validate', '-o', out, path),
                                b.audit(*base, '-o', out, path))
    size = out.stat().st_size
    b.row(f'its report of {mb(size)} written', f'{full - dry:.2f} s, {size / 1e6 / max(full - dry, 1e-9):.0f} MB/s')
    b.row('all its places proved', f'{proved - full:.2f} s')
    b.drop(out)


def log(b):
    path = b.make('noise', b.o.size)
    os.environ['LC_ALL'] = 'C'
    ours, grep = b.turns(b.audit('--ttir-only', *DRY, path), ['grep', '-c', '^module', path])
    b.row(f'{mb(path.stat().st_size)} of log lines skipped',
          f'{ours:.3f} s, grep {grep:.3f} s: {speed(path, ours)}, {grep / ours:.2f} of its speed')
    b.drop(path)
    kinds = [('graphs', 'a TTIR module a graph', b.o.size), ('log', 'all stages of each graph', b.o.size)]
    if b.o.full:
        kinds.append(('log', 'all stages of each graph', 1000))
    for kind, what, size in kinds:
        path = b.make(kind, size)
        level = ['--ttir-only'] if kind == 'graphs' else []
        one = b.audit(*level, *DRY, path)
        ours, grep = b.turns(one, ['grep', '-c', '^module', path])
        alone, two = b.turns(one, ['2' if x == '1' else x for x in one], cpu=False)
        b.row(f'a log of {mb(path.stat().st_size)}, {what}',
              f'{ours:.2f} s, {speed(path, ours)}; `--jobs 2` {alone / two:.1f} times; grep {grep:.2f} s')
        b.drop(path)


def memory(b):
    path = b.make('ttir', b.o.size)
    size = path.stat().st_size
    peak = Run(b.audit('--ttir-only', *DRY, path)).memory
    b.row(f'peak memory for a module of {mb(size)}', f'{mb(peak)}, {peak / size:.2f} times', '< 3.5 times', peak < 3.5 * size)
    out = b.work / 'report.yml'
    peak = Run(b.audit('--ttir-only', '--jobs', '1', '--quiet', '-o', out, path)).memory
    b.row('the same with its report', f'{mb(peak)}, {peak / size:.2f} times', '< 7 times', peak < 7 * size)
    b.drop(out)
    for kind in ('graphs', 'log'):
        path = b.make(kind, b.o.size)
        size = path.stat().st_size
        level = ['--ttir-only'] if kind == 'graphs' else []
        loud = [x for x in DRY if x != '--quiet']
        run = Run(b.audit(*level, *loud, path))
        said = re.search(r'(\d+) places?\b', run.error)
        places = int(said.group(1)) if said else 0
        b.row(f'peak memory for a log of {mb(size)} ({kind}), {places} instances', f'{mb(run.memory)}, {run.memory / size:.2f} times')
        b.drop(path)


def linear(b):
    for kind, level in (('ttir', ['--ttir-only']), ('graphs', ['--ttir-only']), ('log', [])):
        times = []
        for size in (b.o.size / 10, b.o.size):
            path = b.make(kind, size)
            seconds, = b.turns(b.audit(*level, *DRY, path), runs=3)
            times.append(seconds)
            b.drop(path)
        ratio = times[1] / times[0]
        b.row(f'ten times the input ({kind}, {b.o.size:g} MB)', f'{times[0]:.2f} s, {times[1]:.2f} s: {ratio:.1f} times',
              '≤ 11 times', ratio <= 11)


def formats(b):
    """Each format of a report, and what compares reports: least user time of three, and peak memory, at N and 4N findings."""
    base = ['--ttnn-only', '--quiet', '--jobs', '1', '--no-validate']
    made = {}
    for n in (10000, 40000):
        path = b.make('linears', n)
        files = [b.work / f'{n}.{end}' for end in ('yml', 'json', 'known')]
        report, document, known = files
        Run(b.audit(*base, f'--format=yaml:{report}', f'--format=json:{document}', f'--write-baseline={known}', path))
        commands = {f'`{f}`': [*base, f'--format={f}:{b.work}/out', path] for f in ('yaml', 'json', 'markdown', 'sarif', 'html')}
        commands['a dry run'] = [*base, '-n', path]
        commands['`--baseline`'] = [*base, f'--baseline={known}', '-o', b.work / 'out', path]
        commands['`diff` of two YAML reports'] = ['diff', report, report]
        commands['`diff` of two JSON reports'] = ['diff', document, document]
        commands['`summary`'] = ['summary', report]
        for what, command in commands.items():
            runs = [Run(b.audit(*command), True) for _ in range(3)]
            made.setdefault(what, []).append((min(r.user for r in runs), max(r.memory for r in runs)))
        b.drop(path, *files)
    for what, ((less, _), (more, memory)) in made.items():
        ratio = more / max(less, 0.02)
        most = 700e6 if what.startswith('`diff') else 250e6 if what.startswith('`summary') or 'baseline' in what else 150e6
        b.row(f'{what}, 10,000 and 40,000 findings', f'{less:.2f} s, {more:.2f} s: {ratio:.1f} times; peak {mb(memory)}',
              f'≤ 6 times, {mb(most)}', ratio <= 6 and memory <= most)


TRAPS = ['uses', 'operands', 'arguments', 'aliases', 'functions', 'adds', 'moves', 'consts', 'calls', 'chain', 'cycle',
         'tree', 'users', 'unaries', 'regions', 'brackets', 'same', 'broken', 'undefined', 'blocks', 'warned', 'headers', 'modules', 'prefixed',
         'foreign', 'line', 'badline', 'hex']
ELEMENTWISE = {'tree', 'users', 'unaries'}  # of TTNN, with the regions in them
CLEAN = set(TRAPS) - {'regions', 'brackets', 'broken', 'badline'}  # the others are said to be wrong


def traps(b):
    for kind in TRAPS:
        big = (200 if b.o.full else 20) if kind in generate.MODELS else (1000000 if b.o.full else 100000)
        runs = []
        for size in (big / 10, big):
            names = ['trap', 'trap2'][:2 if kind in generate.TWO else 1]
            paths = b.make(kind, size, *names)
            paths = paths if isinstance(paths, list) else [paths]
            level = [] if len(paths) == 2 else ['--ttir-only']
            if kind in ELEMENTWISE:
                level = ['--ttnn-only', '--include=elementwise']
            runs.append(min((Run(b.audit(*level, *DRY, *paths), b.o.cpu) for _ in range(2)), key=lambda r: r.seconds))
            bytes_read = sum(p.stat().st_size for p in paths)
            b.drop(*paths)
        if kind in CLEAN and any(r.status > 1 for r in runs):
            b.row(f'trap: {kind}', runs[1].error.strip().split('\n')[0], 'is read', False)
        unit = ' MB' if kind in generate.MODELS else ''
        ratio = runs[1].seconds / max(runs[0].seconds, 0.02)
        b.row(f'trap: {kind}, {big / 10:,.0f}{unit} and {big:,.0f}{unit} ({mb(bytes_read)})',
              f'{runs[0].seconds:.2f} s, {runs[1].seconds:.2f} s: {ratio:.1f} times; peak {mb(runs[1].memory)}',
              '≤ 12 times', ratio <= 12)


def runs(b):
    """Each at 1 MB and at 4 MB: least user time of three."""
    never = b.work / 'never.yml'
    never.write_text(NEVER)
    command = b.audit('--ttir-only', *DRY, '--no-default-patterns', '-P', never)
    for place in generate.PLACES:
        worst = 0, ''
        for unit in generate.UNITS:
            least = []
            for size in (1000000, 4000000):
                path = b.make(f'{place}:{unit}', size, 'run')
                least.append(min(Run([*command, path], True).user for _ in range(3)))
                b.drop(path)
            worst = max(worst, (least[1] / max(least[0], 0.02), f'{unit}: {least[0]:.2f} s, {least[1]:.2f} s'))
        b.row(f'{len(generate.UNITS)} runs at `{place}`, 1 MB and 4 MB', f'worst is {worst[1]}: {worst[0]:.1f} times',
              '≤ 6 times', worst[0] <= 6)


def texts(b):
    """`explain` on a chain, and texts of people: least user time of three at N and 4N."""
    chain, brackets, terms, nested = (b.work / n for n in ('chain', 'brackets.yml', 'terms.yml', 'nested.yml'))
    head = 'name: x\nfused_op: ttnn.x\nsource: ttnn\nmatch: |\n  out = '
    kinds = {'explain, a chain of adds': (250, chain, ['explain', '--ttir-only', chain]),
             'explain --at in it': (250, chain, ['explain', '--ttir-only', '--at=%100', chain]),
             'a formula of terms': (100000, terms, ['patterns', 'check', terms]),
             'a formula of brackets': (100000, brackets, ['patterns', 'check', brackets]),
             'YAML that nests': (100000, nested, ['patterns', 'check', nested])}
    for what, (n, path, command) in kinds.items():
        least = []
        for size in (n, 4 * n):
            if path == chain:
                b.drop(*[p for p in (chain,) if p.exists()])
                b.make('adds', size, 'chain')
            terms.write_text(head + 'cbrt(x' + ' + x' * size + ')\n')
            brackets.write_text(head + '(' * size + 'x' + ')' * size + '\n')
            nested.write_text('name: ' + '[' * size)
            done = [Run(b.audit(*command), True) for _ in range(3)]
            if done[0].status != (0 if path == chain else 2):
                raise SystemExit(f'{what}: {done[0].error}')
            least.append(min(r.user for r in done))
        ratio = least[1] / max(least[0], 0.02)
        b.row(f'{what}, {n:,} and {4 * n:,}', f'{least[0]:.2f} s, {least[1]:.2f} s: {ratio:.1f} times', '≤ 6 times', ratio <= 6)


def corpus(b):
    tool = SHARED / 'tools' / 'bigir.py'
    models = sorted((SHARED / 'corpus' / 'models').glob('*.ttir.mlir'), key=lambda p: -p.stat().st_size)
    if not tool.exists() or not models:
        print('| the corpus is not there | | |')
        return
    for model in models[:2]:
        for noise in ([], ['--noise']):
            path = b.work / 'corpus.mlir'
            subprocess.run([sys.executable, tool, model, path, str(b.o.size), *noise], check=True, stdout=subprocess.DEVNULL)
            what = f'{model.name.split(".")[0]} {" ".join(noise)}, {mb(path.stat().st_size)}'
            dry = b.audit('--ttir-only', *DRY, path)
            if not noise and shutil.which(MLIR_OPT[0]):
                b.compare(what, dry, [*MLIR_OPT, path, '-o', '/dev/null'], 'mlir-opt', 3)
            one, = b.turns(dry)
            b.row(what, f'{one:.2f} s, {speed(path, one)}; peak {mb(Run(dry).memory)}')
            b.drop(path)


NEVER = 'name: never\nfused_op: ttnn.never\nsource: ttnn\nmatch: out = cbrt(atan2(x, y))\n'


UNARY = ['abs', 'ceil', 'cos', 'erf', 'exp', 'floor', 'log', 'neg', 'sign', 'sin', 'sqrt', 'tan', 'tanh']


def other_function(match, k):
    """The `match:` of a pattern with each unary operator k further in the list, sums for differences and other numbers;
    where it has none of these, with one operator more."""
    head, formula = match.split(':', 1)
    new = re.sub(rf'\b({"|".join(UNARY)})\(', lambda m: UNARY[(UNARY.index(m[1]) + k) % len(UNARY)] + '(', formula)
    new = re.sub(r'\b\d+\.\d+\b', lambda m: f'{float(m[0]) * (1 + k / 8):g}', new)
    new = re.sub(r' (-|\+) (?=\w)', lambda m: {'-': ' + ', '+': ' - '}[m[1]] if k % 2 else m[0], new)
    if new == formula:
        new = re.sub(r'(\w+\()(\w+)(?=[,)])', rf'\1{UNARY[k]}(\2)', formula, count=1)
    return head + ':' + new


def pattern_set(b, n):
    """A directory with n patterns: the bundled ones, and again under other names, with other operators and numbers in
    their formulas, so that they are other functions."""
    bundled = HERE.parent / 'patterns'
    directory = b.work / f'patterns-{n}'
    directory.mkdir()
    documents = []
    for path in sorted(bundled.glob('*.yml')):
        if path.name.endswith('.test.yml'):
            continue
        text = path.read_text()
        if re.search(r'(?m)^name:', text):
            documents += re.split(r'(?m)^---\n', text)
        else:
            shutil.copy(path, directory)
    for i in range(n):
        text = documents[i % len(documents)]
        if i >= len(documents):
            suffix = f'_{i // len(documents)}'
            text = re.sub(r'(?m)^(name|like): (\w+)', rf'\1: \2{suffix}', text)
            text = re.sub(r'(?m)^(contains|fused|compiler|undecided|undone|torch|status|approximate): .*\n([ \n].*\n|\n)*', '', text)
            text = re.sub(r'(?m)^match: .*\n([ \n].*\n|\n)*', lambda m: other_function(m[0], i // len(documents)), text)
        (directory / f'p{i:04}.yml').write_text(text)
    return directory


def startup(b):
    empty = b.work / 'empty.mlir'
    empty.write_text('module {\n}\n')
    with_patterns, without = [min(Run(b.audit('--dry-run', *more, empty), True).seconds for _ in range(100))
                              for more in ([], ['--no-default-patterns', '-P', HERE.parent / 'patterns' / 'adaln.yml'])]
    ms = 1e3 * (with_patterns - without)
    b.row('processor time for loading the patterns, least of 100', f'{ms:.1f} ms', '<= 4 ms', ms <= 4)


def patterns(b):
    path = b.make('ttir', b.o.size)
    base = b.audit('--ttir-only', *DRY, '--no-default-patterns')
    never = b.work / 'never.yml'
    never.write_text(NEVER)
    sets = [pattern_set(b, n) for n in (200, 400)]
    empty = b.work / 'empty.mlir'
    empty.write_text('module {\n  func.func @f(%a: tensor<1xf32>) -> tensor<1xf32> {\n    return %a : tensor<1xf32>\n  }\n}\n')
    load, = b.turns([*base, '-P', sets[0], empty])
    none, two, four = b.turns([*base, '-P', never, path], *[[*base, '-P', s, path] for s in sets])
    two -= load  # reading the patterns is no matching
    four -= 2 * load
    b.row(f'{mb(path.stat().st_size)} read and made a graph of; with 200 patterns searched',
          f'{none:.2f} s; {two - none:.2f} s more: {(two - none) / none:.2f} of it', '< 1', two - none < none)
    b.row('400 patterns next to 200', f'{four:.2f} s, {two:.2f} s: {four / two:.2f} times', '< 1.5 times', four < 1.5 * two)


PARTS = {'startup': startup, 'patterns': patterns, 'read': read, 'log': log, 'memory': memory,
         'linear': linear, 'formats': formats, 'traps': traps, 'runs': runs, 'texts': texts, 'corpus': corpus}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('program')
    p.add_argument('--full', action='store_true')
    p.add_argument('--size', type=float, default=50)
    p.add_argument('--runs', type=int, default=5)
    p.add_argument('--only', default=','.join(PARTS))
    p.add_argument('--cpu', action='store_true', help='processor time, not elapsed time, where one thread runs: for a busy machine')
    p.add_argument('--work')
    o = p.parse_args()
    b = Bench(o)
    try:
        print('| what | measured | wanted |\n|---|---|---|')
        for part in o.only.split(','):
            if part == 'linear' and o.full:
                o.size *= 10
            PARTS[part](b)
            if part == 'linear' and o.full:
                o.size /= 10
    finally:
        shutil.rmtree(b.work)
    return 1 if b.missed else 0


if __name__ == '__main__':
    sys.exit(main())
