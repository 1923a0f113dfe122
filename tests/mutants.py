#!/usr/bin/env python3
"""Mutation testing: one change of the code at a time, and whether a fast suite notices.

usage: mutants.py BUILD [--count=N] [--seed=N] [--rooms=graph,match,...] [--jobs=N] [--out=FILE] [--again=FILE] [--keep=DIRECTORY]
       [--list]

BUILD is a configured build directory, whose flags and tests are used; nothing in it is changed. The library is built
once as a shared one, at -O1, into a temporary directory or DIRECTORY, which spares the next run this (headers are not
looked at). A mutant is one change at a place by chance (--seed): a comparison, `&&` and
`||`, a condition or a negation dropped, a number one more, a sign, what is returned. Its file alone is compiled; where
that gives the same machine code the change is none, and another is taken. The suites run until one fails, those first
that kill most a second; one that takes ten times its time counts as failed. --again takes the survivors in FILE (what
--out wrote) once more. Prints kills, survivors and what does not build, as file:line: change; status 1: a survivor that
tests/mutants.tsv does not have, with the reason why it changes nothing.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = 'graph,match,lang,prove,report'
# no corpus, no faults to inject, seconds at most
SUITES = ('graph index match match_cache pair pattern prove prove_proofs prove_shrink report shorthand numeric '
          'numeric_ops explain library lowering locate belong role report_yaml fixtures families frontends manual '
          'log_fixtures cli examples').split()
LIBRARIES = '-lyaml -lpcre2-8 -ljson-c -larchive -lz -lm -lpthread'.split()
Site = collections.namedtuple('Site', 'file begin end new kind')


def masked(text):
    """The text with blanks for what is no code: comments, strings, directives."""
    blank = lambda m: re.sub(r'[^\n]', ' ', m.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ ]*#[^\n]*', blank, text, flags=re.S | re.M)


def operand_end(code, at):
    """Where the operand of && or || that begins here ends."""
    depth = 0
    while at < len(code):
        c = code[at]
        if depth == 0 and (c in ')];,?:}' or code.startswith(('&&', '||'), at)):
            return at
        depth += (c in '([{') - (c in ')]}')
        at += 1
    return at


def sites_of(file):
    code = masked((ROOT / file).read_text())
    swaps = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&', '+': '-', '-': '+'}
    for m in re.finditer(r'(?<= )(<=?|>=?|==|!=|&&|\|\||\+|-)(?=[ \n])', code):
        yield Site(file, m.start(), m.end(), swaps[m.group()], 'swap')
    for m in re.finditer(r'\s(&&|\|\|) ', code):
        yield Site(file, m.start(), operand_end(code, m.end()), '', 'dropped')
    for m in re.finditer(r'(?<=[ (])!(?=[\w(])', code):
        yield Site(file, m.start(), m.end(), '', 'dropped')
    for m in re.finditer(r'\bif \(', code):
        end = operand_end(code, m.end())
        if code[end] == ')':
            yield Site(file, m.end(), end, 'false', 'never')
    for m in re.finditer(r'(?<![\w.\]])(?!(?<=\{)0\})(0|[1-9]\d*)(?![\w.])', code):
        yield Site(file, m.start(), m.end(), str(int(m.group()) + 1), 'number')
    for m in re.finditer(r'\breturn (true|false|NONE|NULL|0|1);', code):
        other = {'true': 'false', 'false': 'true', 'NONE': '0', 'NULL': '(void *)0', '0': '1', '1': '0'}[m.group(1)]
        if m.group(1) != 'NULL':
            yield Site(file, m.start(1), m.end(1), other, 'result')


class Build:
    """The library as a shared one, and programs that use it."""

    def __init__(self, build, work):
        self.work, self.build = work, os.path.realpath(build)
        self.commands = {}
        for entry in json.load(open(os.path.join(build, 'compile_commands.json'))):
            file = os.path.relpath(os.path.join(entry['directory'], entry['file']), ROOT)
            self.commands.setdefault(file, (entry['directory'], [a for a in shlex.split(entry['command']) if a != 'ccache']))
        self.library = [f for f in self.commands if f.startswith('src/') and not f.startswith(('src/cli/', 'src/main.c'))]
        self.helpers = ['tests/ir_text.c', 'tests/pattern_text.c', 'tests/numeric_fixtures.c']
        for file in [f for f in self.commands if f.startswith(('src/', 'tests/'))]:
            known = os.path.exists(self.object(file)) and os.path.getmtime(self.object(file))
            if known < (ROOT / file).stat().st_mtime and self.compile(file, ROOT / file, self.object(file)).returncode:
                sys.exit('%s does not build' % file)
        self.link(os.path.join(work, 'libfusion_audit.so'), {})
        self.programs = {}
        subprocess.run(['ar', 'rcs', os.path.join(work, 'helpers.a'), *map(self.object, self.helpers)], check=True)
        self.link_program('fusion-audit', [f for f in self.commands if f.startswith(('src/cli/', 'src/main.c'))], [])
        for file in [f for f in self.commands if f.startswith('tests/') and f not in self.helpers]:
            name = pathlib.Path(file).stem
            if name != 'fail_allocation':
                self.link_program(name, [file], ['-lcriterion'] if name.startswith('test_') else [])

    def object(self, file):
        return os.path.join(self.work, file.replace('/', '_') + '.o')

    def compile(self, file, source, out):
        directory, command = self.commands[file]
        args = [a.replace(self.build + '"', self.work + '"') for a in command[: command.index('-o')] if a not in ('-MD', '-Werror')]
        args = [a for i, a in enumerate(args) if a not in ('-MQ', '-MF') and (i == 0 or args[i - 1] not in ('-MQ', '-MF'))]
        args += ['-O1', '-g0', '-w', '-fPIC', '-iquote', str((ROOT / file).parent), '-c', str(source), '-o', out]
        return subprocess.run(args, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def link(self, out, changed):
        objects = [changed.get(f, self.object(f)) for f in self.library]
        subprocess.run(['gcc', '-shared', '-o', out, *objects, *LIBRARIES], check=True)

    def link_program(self, name, files, libraries):
        out = os.path.join(self.work, name)
        helpers = os.path.join(self.work, 'helpers.a')
        subprocess.run(['gcc', '-o', out, *map(self.object, files), helpers, '-L' + self.work, '-lfusion_audit', *libraries,
                        *LIBRARIES], check=True)
        self.programs[name] = out


class Suite:
    def __init__(self, test, build):
        self.name, self.seconds, self.runs, self.kills = test['name'], 0, 0, 0
        own = {os.path.join(build.build, directory, n): out for n, out in build.programs.items() for directory in ('', 'tests')}
        self.command = [own.get(os.path.normpath(os.path.join(build.build, a)), a) for a in test['cmd']]
        self.env = dict(os.environ, **test['env'])
        if os.path.basename(self.command[0]).startswith('test_'):
            self.command += ['--fail-fast', '-j1']

    def passes(self, libraries, limit):
        with tempfile.TemporaryDirectory() as scratch:
            env = dict(self.env, LD_LIBRARY_PATH=libraries, TMPDIR=scratch)
            p = subprocess.Popen(self.command, cwd=scratch, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32)))
            try:
                return p.wait(limit) in (0, 77)
            except subprocess.TimeoutExpired:
                return False
            finally:
                try:
                    os.killpg(p.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                p.wait()


def describe(site):
    """file:line: change, and what tells it from others when lines move: file: change, and the text of the line."""
    text = (ROOT / site.file).read_text()
    line = text.count('\n', 0, site.begin) + 1
    change = '%s `%s` -> `%s`' % (site.kind, ' '.join(text[site.begin : site.end].split()), site.new)
    return '%s:%d: %s' % (site.file, line, change), '%s: %s\t%s' % (site.file, change, text.split('\n')[line - 1].strip())


def try_one(site, build, suites, directory, lock):
    """(result, name of the suite) with result killed, survived, same or no build."""
    text = (ROOT / site.file).read_text()
    source, out = os.path.join(directory, 'mutant.c'), os.path.join(directory, 'mutant.o')
    pathlib.Path(source).write_text(text[: site.begin] + site.new + text[site.end :])
    if build.compile(site.file, source, out).returncode:
        return 'no build', ''
    pathlib.Path(source).write_text(text)
    plain = os.path.join(directory, 'plain.o')
    build.compile(site.file, source, plain)
    if pathlib.Path(plain).read_bytes() == pathlib.Path(out).read_bytes():
        return 'same', ''
    build.link(os.path.join(directory, 'libfusion_audit.so'), {site.file: out})
    with lock:
        order = sorted(suites, key=lambda s: -(s.kills + 1) / (s.runs + 4) / s.seconds)
    for suite in order:
        good = suite.passes(directory, 10 * suite.seconds + 5)
        with lock:
            suite.runs += 1
            suite.kills += not good
        if not good:
            return 'killed', suite.name
    return 'survived', ''


def sites_by_chance(o):
    files = [str(p.relative_to(ROOT)) for r in o.rooms.split(',') for p in sorted((ROOT / 'src' / r).glob('*.c'))]
    sites = [s for f in files for s in sites_of(f)]
    random.Random(o.seed).shuffle(sites)
    if o.again:
        again = {l.rstrip('\n').split('\t', 2)[2] for l in open(o.again) if l.startswith('survived\t')}
        sites = [s for s in sites if describe(s)[1] in again]
    return sites


def suites_of(build):
    """Those of the fast suites that pass, with the time that they take."""
    suites = []
    for test in json.load(open(os.path.join(build.build, 'meson-info', 'intro-tests.json'))):
        if test['name'] not in SUITES:
            continue
        suite, begin = Suite(test, build), time.monotonic()
        if not suite.passes(build.work, 300):
            print('left out, it fails without a change: %s' % ' '.join(suite.command), flush=True)
            continue
        suite.seconds = time.monotonic() - begin
        print('%6.1f s %s' % (suite.seconds, suite.name), flush=True)
        suites.append(suite)
    print('%d suites, %.1f s' % (len(suites), sum(s.seconds for s in suites)), flush=True)
    return suites


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument('build')
    p.add_argument('--count', type=int, default=100)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--rooms', default=ROOMS)
    p.add_argument('--jobs', type=int, default=1)
    p.add_argument('--out', default='/dev/null')
    p.add_argument('--again')
    p.add_argument('--keep')
    p.add_argument('--list', action='store_true')
    o = p.parse_args()
    sites = sites_by_chance(o)
    if o.list:
        print('\n'.join(describe(s)[0] for s in sites[: o.count]))
        return 0
    known = {'\t'.join(l.split('\t')[:2]) for l in open(ROOT / 'tests' / 'mutants.tsv')}
    counts, left, lock = collections.Counter(), iter(sites), threading.Lock()
    with tempfile.TemporaryDirectory() as work, open(o.out, 'a') as out:
        build = Build(o.build, os.path.abspath(o.keep or work))
        suites = suites_of(build)

        def worker(number):
            directory = os.path.join(work, str(number))
            os.mkdir(directory)
            while True:
                with lock:
                    site = next(left, None) if counts['killed'] + counts['survived'] + counts['equivalent'] < o.count else None
                if not site:
                    return
                result, suite = try_one(site, build, suites, directory, lock)
                at, key = describe(site)
                if result == 'survived' and key in known:
                    result = 'equivalent'
                with lock:
                    counts[result] += 1
                    print('%s\t%s\t%s\t%s' % (result, at, key, suite), file=out, flush=True)
                    if result in ('survived', 'no build'):
                        print('%s: %s\n    %s' % (result, at, key.split('\t')[1]), flush=True)

        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for done in [pool.submit(worker, i) for i in range(o.jobs)]:
                done.result()
    print(', '.join('%d %s' % (n, r) for r, n in sorted(counts.items())))
    return counts['survived'] > 0


if __name__ == '__main__':
    sys.exit(main())
