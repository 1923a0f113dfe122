#!/usr/bin/env python3
"""Each allocation fails once, in the program and in its libraries (fail_allocation.c): the result is what it is without, or exit
status 3 with a message; no other report, and no file left.

usage: faults_memory.py PROGRAM FAIL_ALLOCATION_SO [--every=N] [--only=NAME]

One run of N is taken, at a place by chance that is the same each time; without --every, 60 of each command.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

T = 'tensor<32x64xbf16>'
MODULE = f'''module {{
  func.func @main(%arg0: {T} loc("x"), %arg1: {T} {{ttir.name = "l_0.norm.weight"}}) -> {T} {{
    %0 = "DIALECT.sigmoid"(%arg0) : ({T}) -> {T} loc("layers.0.mlp.sigmoid.1")
    %1 = "DIALECT.multiply"(%arg0, %0) : ({T}, {T}) -> {T} loc(#loc1)
    %2 = "DIALECT.add"(%1, %arg1) : ({T}, {T}) -> {T} loc(fused["a", "f.py":1:2])
    return %2 : {T}
  }}
}}
#loc1 = loc("layers.0.mlp.multiply.2")
'''
PATTERNS = '''define:
- "swish(x): x * sigmoid(x)"
- says: named
  about: axes
  is: "named(x): rank(x) == 2"
---
name: swish
fused_op: ttnn.silu
source: ttnn
summary: a sigmoid times its operand
fused: out = op silu(x)
match: out = swish(x)
where: named(x)
notes:
- "{x} is multiplied"
tests:
- hit: |
    s = sigmoid x:32x64
    o = multiply s x
- miss: |
    s = sigmoid x:32x64
    o = multiply s y:32x64
---
name: gated
fused_op: ttnn.gated
source: cuda
match: out = swish(x) + y
'''
STALE = 'input:\n  ttir: m.ttir.mlir\n  ttnn: m.ttnn.mlir\nmissed_fusions:\n- fused_op: x\n'
OWN = ['--no-default-patterns', '-P', 'p.yml']
COMMANDS = {  # the exit status where no allocation fails, the arguments
    'audit': [1, '-j1', *OWN, 'm.ttir.mlir', 'm.ttnn.mlir'],
    'clean': [0, '-j1', '--no-default-patterns', '-P', 'none.yml', 'm.ttir.mlir', 'm.ttnn.mlir'],
    'threads': [1, '-j2', *OWN, '--ttir-only', 'm.log'],
    'packed': [1, '-j1', '-o', '-', *OWN, '--ttir-only', 'm.log.gz'],
    'zstd': [1, '-j1', '-n', *OWN, '--ttir-only', 'm.log.zst'],
    'tar': [1, '-j1', '-n', *OWN, '--ttir-only', 'm.tar'],
    'explain': [0, 'explain', *OWN, '--ttir-only', 'm.ttir.mlir'],
    'explain json': [0, 'explain', '--json', '--at=%1', *OWN, 'm.ttir.mlir', 'm.ttnn.mlir'],
    'inspect': [0, 'inspect', 'm.log'],
    'inspect json': [0, 'inspect', '--json', 'm.log'],
    'new': [0, 'patterns', 'new', *OWN, '--from=m.ttir.mlir', '--ops=%0,%1'],
    'test': [0, 'patterns', 'test', '-v', *OWN],
    'check': [0, 'patterns', 'check', *OWN, 'p.yml'],
    'show': [0, 'patterns', 'show', *OWN, 'swish'],
    'lower': [0, 'lower', 'silu'],
    'bundled': [1, '-j1', '-o', '-', 'm.ttir.mlir', 'm.ttnn.mlir'],
}


class Directory:
    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix='fusion-audit-faults-'))
        ttir, ttnn = MODULE.replace('DIALECT', 'ttir'), MODULE.replace('DIALECT', 'ttnn')
        header = '2026-11-20 10:00:00.000 (   1.000s) [        7F3A1C40]       module_builder.cc:1278     1| MLIR Module %s:\n'
        self.write('m.ttir.mlir', ttir)
        self.write('m.ttnn.mlir', ttnn)
        self.write('m.log', header % 'ttir' + '\x1b[0m' + ttir + header % 'ttir' + ttir.replace('@main', '@other'))
        self.write('p.yml', PATTERNS)
        self.write('none.yml', 'name: none\nfused_op: ttnn.none\nsource: ttnn\nmatch: out = cbrt(x)\n')
        subprocess.run(['gzip', '-k', 'm.log'], cwd=self.path, check=True)
        subprocess.run(['tar', 'cf', 'm.tar', 'm.log'], cwd=self.path, check=True)
        if shutil.which('zstd'):
            subprocess.run(['zstd', '-q', 'm.log'], cwd=self.path, check=True)
        self.files = set(os.listdir(self.path)) | {'fusion_todo.yml'}

    def write(self, name, text):
        (self.path / name).write_text(text)

    def run(self, program, command, **environment):
        """Status, output, messages, report, files that should not be there."""
        self.write('fusion_todo.yml', STALE)
        done = subprocess.run([program, *command], cwd=self.path, capture_output=True, timeout=120,
                              env={**os.environ, **environment, 'TMPDIR': str(self.path)})
        left = set(os.listdir(self.path)) - self.files
        for name in left:
            (self.path / name).unlink()
        report = self.path / 'fusion_todo.yml'
        return (done.returncode, done.stdout, done.stderr.decode('utf-8', 'replace'),
                report.read_text() if report.exists() else None, left)


def wrong(clean, run):
    """What is wrong with a run in which an allocation failed; None: nothing."""
    status, out, err, report, left = run
    if left:
        return f'left: {left}'
    if run == clean:
        return None
    if status == 127 and 'out of memory' in err and report == STALE:
        return None  # glibc's loader, which ends the process by itself
    if status != 3:
        return f'exit status {status}, not 3 or {clean[0]}: {err}' if status != clean[0] else 'says something else'
    if not err and b'error' not in out:
        return f'no message: {out!r}'
    return None if report in (STALE, clean[3]) else 'another report'


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('program', type=os.path.abspath)
    p.add_argument('library', type=os.path.abspath)
    p.add_argument('--every', type=int, default=0)
    p.add_argument('--only')
    o = p.parse_args()
    directories = [Directory() for _ in range(os.cpu_count())]
    failed = total = 0

    def chunk(d, command, numbers):
        clean = d.run(o.program, command)
        return [(n, w) for n in numbers
                if (w := wrong(clean, d.run(o.program, command, LD_PRELOAD=o.library, FAIL_ALLOCATION=str(n))))]

    for name, (status, *command) in COMMANDS.items():
        if (o.only and name != o.only) or (name == 'zstd' and not shutil.which('zstd')):
            continue
        d = directories[0]
        d.files.add('count')
        clean = d.run(o.program, command, LD_PRELOAD=o.library, COUNT_ALLOCATIONS=str(d.path / 'count'))
        if clean[0] != status:
            sys.exit(f'{name}: exit status {clean[0]}, not {status}: {clean[2]}')
        most = int((d.path / 'count').read_text())
        every = o.every or max(1, most // 60)
        numbers = [min(most, n + random.Random(n).randrange(every)) for n in range(1, most + 1, every)]
        with concurrent.futures.ThreadPoolExecutor(len(directories)) as pool:
            parts = [numbers[i::len(directories)] for i in range(len(directories))]
            bad = sorted(b for part in pool.map(chunk, directories, [command] * len(parts), parts) for b in part)
        failed += len(bad)
        total += len(numbers)
        print(f'{name}: {len(numbers)} of {most} allocations failed, {len(bad)} not survived', flush=True)
        for n, what in bad[:20]:
            print(f'  {n}: {what.strip()}')
    for d in directories:
        shutil.rmtree(d.path)
    print(f'{total - failed} passed, {failed} failed')
    return 1 if failed or not total else 0


if __name__ == '__main__':
    sys.exit(main())
