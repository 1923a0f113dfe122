#!/usr/bin/env python3
"""Prints one table of ratios to mlir-opt, which parses, verifies and prints the same modules on one thread.

usage: beside.py PROGRAM [--runs N] [--sizes MB,...] [--only REGEX] [--work DIR] [--instructions]

Rows: the pairs and logs of ../shared/corpus/real, and models repeated by ../shared/tools/bigir.py to each size. Least user
time of N runs in turns (3), one thread, and peak memory. `audit` proves and writes the report; `formats` is the slowest
other format next to it, `summary` what reads that report, `diff` a compile with itself next to two audits. `apply` is next to
mlir-opt, with its memory in times of the TTIR. Of a log mlir-opt reads the modules that it can
without the dialects. With --instructions one run of each is counted by valgrind in place of its time; memory is not told then.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from run import MLIR_OPT, SHARED, Run  # noqa: E402

REAL, MODELS = SHARED / 'corpus' / 'real', SHARED / 'corpus' / 'models'
REPEATED = [SHARED / 'corpus' / 'dit' / 'dit_block_prim.ttir.mlir', MODELS / 'segformer.ttir.mlir']
FORMATS = ['json', 'markdown', 'sarif', 'html']
MOST_EXPLAINED = 8e6
COUNTED = ['valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null']
COLUMNS = ['input', 'mlir-opt', 'audit', 'memory', 'formats', 'diff', 'summary', 'inspect', 'explain', 'verify', 'apply']
MODULE = re.compile(r'(?:^[#!]\S+ = .*\n)*^module\b.*\n(?:(?!module\b).*\n)*?^\}.*\n(?:^#loc.*\n)*', re.M)


def readable(text, is_log):
    """What mlir-opt reads without the dialects."""
    if is_log:
        text = '// -----\n'.join(MODULE.findall(text + '\n'))
    text = re.sub(r'\bttcore\.(device_module|cpu_module)\b', 'builtin.module', text)
    text = re.sub(r'(?m)^ *ttcore\.device .*\n', '', text)
    text = re.sub(r'ttcore\.load_cached\((@[\w$.-]+), \[(.*?)\]\)', r'"ttcore.load_cached"(\2) {callee = \1}', text)
    return re.sub(r'= (tt\w+\.empty)\(\)', r'= "\1"()', text)


def inputs(sizes, work):
    """Names and files: of a pair two."""
    for packed in sorted(REAL.glob('*.zst')):
        subprocess.run(['zstd', '-dqf', packed, '-o', work / packed.stem], check=True)
    for path in sorted(work.iterdir()):
        partner = path.with_name(path.name.replace('.ttir.', '.ttnn.'))
        if path.suffix == '.log':
            yield path.name, [path]
        elif '.ttir.' in path.name and partner.exists():
            yield path.name.split('.')[0], [path, partner]
    for size in sizes:
        for model in REPEATED:
            path = work / f'{model.name.split(".")[0]}-{size}'
            subprocess.run([sys.executable, SHARED / 'tools' / 'bigir.py', model, path, size], check=True, stdout=subprocess.DEVNULL)
            yield f'{path.name} MB', [path]
            path.unlink()


def commands(program, files, work):
    level = ['--ttir-only'] if not files[0].suffix else []
    audit = [program, '-q', '-j1', *level, *files]
    made = {'audit': [*audit, '-o', work / 'out'], 'summary': [program, 'summary', work / 'out'],
            'inspect': [program, 'inspect', '--json', *files]}
    made.update({f: [*audit, f'--format={f}:{work / "out"}'] for f in FORMATS})
    if files[0].stat().st_size < MOST_EXPLAINED:
        made['explain'] = [program, 'explain', *level, *files]
    if files[0].suffix != '.log':
        made['apply'] = [program, 'apply', '-q', files[0], '-o', work / 'applied']
    if not level:
        made['verify'] = [program, 'verify', '-j1', *files]
        made['diff'] = [program, 'diff', '-j1', files[-1], files[-1]]
    return made


def took(command, instructions):
    """Seconds of user time, or thousand million instructions; and the memory in bytes."""
    run = Run([*COUNTED, *command] if instructions else command)
    if not instructions:
        return run.user, run.memory
    return int(re.search(r'I +refs: +([\d,]+)', run.error)[1].replace(',', '')) / 1e9, 0


def measure(program, files, work, runs, instructions):
    """The least of each command, and its memory."""
    modules = []
    for i, path in enumerate(files):
        modules.append(work / f'modules{i}')
        modules[i].write_text(readable(path.read_text(errors='replace'), path.suffix == '.log'))
    theirs = [[*MLIR_OPT, '--split-input-file', m, '-o', '/dev/null'] for m in modules]
    best = {}
    for _ in range(runs):
        made = {name: [took(command, instructions)] for name, command in commands(program, files, work).items()}
        made['mlir-opt'] = [took(command, instructions) for command in theirs]
        for name, done in made.items():
            new = sum(time for time, _ in done), max(memory for _, memory in done)
            best[name] = min(new, best.get(name, new))
    return best


def row(name, files, best, instructions):
    base, base_memory = best['mlir-opt']
    audit, memory = best['audit']

    def beside(what, to=base):
        return f'{best[what][0] / max(to, 1e-3):.2f}' if what in best else ''
    slowest = max(FORMATS, key=lambda f: best[f])
    theirs = f'{base:.2f} G' if instructions else f'{base:.2f} s, {base_memory / 1e6:.0f} MB'
    cells = [name, theirs, beside('audit'), '' if instructions else f'{memory / base_memory:.2f}', beside(slowest, audit),
             beside('diff', 2 * audit), beside('summary', audit), beside('inspect'), beside('explain'), beside('verify'),
             beside('apply')]
    if 'apply' in best and not instructions:
        cells[-1] += f', {best["apply"][1] / files[0].stat().st_size:.0f} times'
    print('| ' + ' | '.join(cells) + ' |', flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('program', type=lambda x: str(pathlib.Path(x).resolve()))
    p.add_argument('--runs', type=int, default=3)
    p.add_argument('--sizes', default='4,16,64')
    p.add_argument('--only', default='')
    p.add_argument('--work')
    p.add_argument('--instructions', action='store_true')
    o = p.parse_args()
    print('| ' + ' | '.join(COLUMNS) + ' |\n|' + '---|' * len(COLUMNS))
    with tempfile.TemporaryDirectory(dir=o.work) as directory:
        work = pathlib.Path(directory)
        unpacked, out = work / 'in', work / 'out'
        unpacked.mkdir()
        out.mkdir()
        for name, files in inputs([s for s in o.sizes.split(',') if s], unpacked):
            if re.search(o.only, name):
                runs = 1 if o.instructions else o.runs
                row(name, files, measure(o.program, files, out, runs, o.instructions), o.instructions)


if __name__ == '__main__':
    main()
