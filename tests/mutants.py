#!/usr/bin/env python3
"""Mutation testing: one change of the code at a time, and whether a fast suite notices.

usage: mutants.py WORK [--count=N] [--seed=N] [--folders=graph,match,...] [--jobs=N] [--again]
       [--suites="cli ..."] [--list]

A mutant is one change at a place by chance (--seed): a comparison or sum the other way, `&&` and `||`, a condition or a
negation dropped, a number one more, what is returned. A place is known by its file, function and line, so that edits
elsewhere leave the sample as it is. All are built at once into a copy of the sources in WORK (a directory outside of this
one), each behind a test of the variable MUTANT of the environment. First each suite runs without one and notes which
mutants its tests come by with another value than the code's: no others can fail for it. Then each mutant runs these, the
short ones first, until one fails; many times the processor time it takes counts as failed. WORK/results.tsv has the
results; a second run goes on where it ended, and --again takes what survived there once more: with the tests of now, or
with slower --suites (of meson; else those that take seconds). Prints what survived as file:line:column: change; status 1:
something that tests/mutants.tsv does not have, with the reason why it changes nothing.

As root first `mount --bind /dev/full /dev/full`: a mutant of what writes reports has put a file in its place.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITES = ('found graph image index match match_limits match_cache pair pattern prove prove_proofs prove_shrink report shorthand numeric'
          ' numeric_ops explain library lowering locate belong role price proofs regions report_yaml fixtures'
          ' families log_fixtures examples verify')
# The text from begin to end is replaced, with the number of the mutant for @.
# Key: file, function, change, the line, and which of such in that function: the same when other lines are added.
Site = collections.namedtuple('Site', 'file begin end text place key')

HEADER = """extern int mutant_chosen, mutant_records;
int mutant_note(int number, int differs);
#define mutant_is(n) (mutant_chosen == (n))
#define mutant_comes(n, differs) (mutant_records && mutant_note(n, differs))
#define mutant_on(n) (mutant_comes(n, 1) || mutant_is(n))
"""
SUPPORT = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct mutant_test { const char *name, *category; };
extern struct mutant_test *const criterion_current_test __attribute__((weak));
int mutant_chosen, mutant_records;
__attribute__((constructor)) static void mutant_begin(void) {
    mutant_chosen = getenv("MUTANT") ? atoi(getenv("MUTANT")) : -1;
    mutant_records = getenv("MUTANT_RECORD") != NULL;
}
int mutant_note(int number, int differs) {
    static unsigned char seen[1 << 16];
    if (differs && !seen[number]) {
        char line[300];
        struct mutant_test *t = &criterion_current_test ? criterion_current_test : NULL;
        int error = errno;
        int n = snprintf(line, sizeof line, "%d %s/%s\n", number, t ? t->category : "", t ? t->name : "");
        int fd = open(getenv("MUTANT_RECORD"), O_WRONLY | O_APPEND);
        seen[number] = 1;
        if (fd >= 0 && (write(fd, line, (size_t)n) < 0 || close(fd)))
            abort();
        errno = error;
    }
    return 0;
}
"""


BEFORE = re.compile(r'(\breturn|\bcase| [-+*/%&|^]?=|<<=|>>=)\s+$')


SWAPS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&', '+': '-', '-': '+'}
EITHER = '(mutant_on(@) ? %s : %s)'
TWICE = '(mutant_comes(@, (%s) != (%s)) || mutant_is(@) ? (%s) : (%s))'
NEVER = '(!mutant_is(@) && (%s) && !mutant_comes(@, 1))'
ALWAYS = '(mutant_is(@) || (%s) || mutant_comes(@, 1))'
# What does something else, too: it differs wherever it is not done.
EFFECT = re.compile(r'[(,] ?&\w|\b(fflush|\w+_add)\(|\+\+|--|[^=<>!]=[^=]')
UNDONE = {NEVER: '(!mutant_on(@) && (%s))', ALWAYS: '(mutant_on(@) || (%s))'}


def masked(text):
    """The text with blanks for what is no code: comments, strings, directives."""
    blank = lambda m: re.sub(r'[^\n]', ' ', m.group())
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ ]*#[^\n]*', blank, text, flags=re.S | re.M)


def operand_end(code, at):
    """Where the operand of && or || that begins here ends."""
    depth = 0
    while depth or not (code[at] in ')];,?:}' or code.startswith(('&&', '||'), at)):
        depth += (code[at] in '([{') - (code[at] in ')]}')
        at += 1
    return at


def expression_around(code, at):
    """The whole expression that the operator here is of: from a bracket, comma, `return` or `=` to the end of it."""
    begin, end, depth = at, at, 0
    while depth or not (code[begin - 1] in '([{;,}' or BEFORE.search(code, max(0, begin - 8), begin)):
        begin -= 1
        depth += (code[begin] in ')]}') - (code[begin] in '([{')
    while depth or code[end] not in ')]},;':
        depth += (code[end] in '([{') - (code[end] in ')]}')
        end += 1
    return begin + re.compile(r'\s*').match(code, begin, end).end() - begin, end


def may_be_twice(expression):
    """Nothing is changed by it, and nothing of it is read that another part of it guards."""
    guards = re.search(r'&&|\|\||\?', expression) and re.search(r'->|\[|\*\w', expression)
    return not guards and not re.search(r'\w\(|[^=<>!]=[^=]|\+\+|--', expression)


def without(condition, value):
    return (UNDONE[value] if EFFECT.search(condition) else value) % condition


def sites_of(file):
    text = (ROOT / file).read_text()
    code, lines = masked(text), text.split('\n')
    functions = [(m.start(), m.group(1)) for m in re.finditer(r'^\w[^;\n]*?(\w+)(?=\(|\[| = )', code, flags=re.M)]
    seen = collections.Counter()

    def site(begin, end, new, at, was, change):
        row, column = text.count('\n', 0, at) + 1, at - text.rfind('\n', 0, at)
        function = max([f for f in functions if f[0] <= at], default=(0, ''))[1]
        like = file, function, '%s -> %s' % (' '.join(was.split()), change or 'nothing'), lines[row - 1].strip()
        seen[like] += 1
        return Site(file, begin, end, new, (row, column), (*like, str(seen[like])))

    for m in re.finditer(r'(?<= )(<=?|>=?|==|!=|&&|\|\||\+|-)(?=[ \n])', code):
        begin, end = expression_around(code, m.start())
        was, now = text[begin:end], text[begin : m.start()] + SWAPS[m.group()] + text[m.end() : end]
        new = TWICE % (was, now, now, was) if may_be_twice(was) else EITHER % ('(%s)' % now, '(%s)' % was)
        yield site(begin, end, new, m.start(), m.group(), SWAPS[m.group()])
    for m in re.finditer(r'\s(&&|\|\|) ', code):
        end = operand_end(code, m.end())
        new = without(text[m.end() : end].rstrip(), ALWAYS if m.group(1) == '&&' else NEVER)
        yield site(m.end(), end, new, m.end(), text[m.start(1) : end], '')
    for m in re.finditer(r'\bif \(', code):
        end = operand_end(code, m.end())
        if code[end] == ')':
            yield site(m.end(), end, without(text[m.end() : end], NEVER), m.end(), text[m.end() : end], 'false')
    for m in re.finditer(r'(?<=[ (])!(?=[\w(])', code):
        yield site(m.start(), m.end(), 'mutant_on(@) ^ !', m.start(), '!', '')
    for m in re.finditer(r'(?<![\w.\]])(?!(?<=\{)0\})(0|[1-9]\d*)(?![\w.])', code):
        more = str(int(m.group()) + 1)
        yield site(m.start(), m.end(), EITHER % (more, m.group()), m.start(), m.group(), more)
    for m in re.finditer(r'\breturn (true|false|NONE|0|1);', code):
        other = {'true': 'false', 'false': 'true', 'NONE': '0', '0': '1', '1': '0'}[m.group(1)]
        yield site(m.start(1), m.end(1), EITHER % (other, m.group(1)), m.start(), 'return ' + m.group(1), other)


def copy_of(sources, mutants):
    """The sources with those mutants (number: site) that are behind no error yet."""
    by_file = collections.defaultdict(list)
    for number, site in mutants.items():
        by_file[site.file].append((site, number))
    for file in sources:
        text = (ROOT / file).read_text()
        for site, number in sorted(by_file[file], reverse=True):
            text = text[: site.begin] + site.text.replace('\n', ' ').replace('@', str(number)) + (
                '\n' * text.count('\n', site.begin, site.end) + text[site.end :])
        yield file, text


def chosen(o):
    """The mutants by number, none within another."""
    paths = [p for r in o.folders.split(',') for p in sorted((ROOT / 'src' / r).glob('*.c'))]
    sites = [s for p in paths for s in sites_of(str(p.relative_to(ROOT)))]
    print('%d places' % len(sites))
    sites.sort(key=lambda s: hashlib.sha256(repr((o.seed, s.key)).encode()).digest())
    taken, mutants = collections.defaultdict(list), {}
    for site in sites:
        if len(mutants) < o.count and all(site.end <= b or e <= site.begin for b, e in taken[site.file]):
            taken[site.file].append((site.begin, site.end))
            mutants[len(mutants)] = site
    return mutants


def build(work, mutants):
    """Writes and builds the copy; what does not build is left out of `mutants`."""
    files = subprocess.check_output(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT, text=True).split('\n')
    copy, out = work / 'copy', work / 'copy' / 'build'
    for f in filter(None, files):
        new = (ROOT / f).exists() and not ((copy / f).exists() and (ROOT / f).read_bytes() == (copy / f).read_bytes())
        if new and not ((copy / f).exists() and re.fullmatch(r'src/.*\.c', f)):
            (copy / f).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / f, copy / f)
    (work / 'mutant.h').write_text(HEADER)
    if not (out / 'build.ninja').exists():
        flags = '-w -include %s/mutant.h' % work
        options = ['-Db_lto=false', '-Doptimization=1', '-Ddebug=false', '-Dcorpus=absent']
        subprocess.run(['meson', 'setup', out, copy, *options], env=dict(os.environ, CFLAGS=flags), check=True)
    sources = [f for f in files if re.fullmatch(r'src/.*\.c', f)]
    while True:
        for file, text in copy_of(sources, mutants):
            text += SUPPORT if file == 'src/base/base.c' else ''
            if (copy / file).read_text() != text:
                (copy / file).write_text(text)
        done = subprocess.run(['ninja', '-k0', '-C', out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not done.returncode:
            return
        wrong = {(f, int(n)) for f, n in re.findall(r'(src/[\w/]+\.c):(\d+):\d+: error', done.stdout)}
        bad = [n for n, s in mutants.items() for f, line in wrong if f == s.file and line in lines_of(s)]
        if not bad:
            sys.exit(done.stdout[-3000:])
        for n in set(bad):
            print('does not build: %s' % name(mutants.pop(n)))


def name(site):
    return '%s:%d:%d: %s' % (site.file, *site.place, site.key[2])


def lines_of(site):
    text = (ROOT / site.file).read_text()
    first = text.count('\n', 0, site.begin) + 1
    return range(first, first + text.count('\n', site.begin, site.end) + 1)


class Suite:
    def __init__(self, test, directory):
        self.directory = directory
        self.name, self.command = test['name'], test['cmd']
        self.env = dict(os.environ, **test['env'])
        self.tests, self.seconds = set(), 0.0
        self.by_mutant = collections.defaultdict(set)
        if os.path.basename(self.command[0]).startswith('test_'):
            self.command = self.command + ['--fail-fast', '-j1']

    def run(self, more, env, seconds):
        """Whether it passes, and the processor time it took; no process of it takes more than `seconds`."""
        limits = [(resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, 1 << 32), (resource.RLIMIT_CORE, 0)]
        with tempfile.TemporaryDirectory() as scratch:
            os.chmod(scratch, 0o1777)  # tests that are another user for a while
            p = subprocess.Popen(self.command + more, cwd=self.directory, env=dict(self.env, TMPDIR=scratch, **env),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True,
                                 preexec_fn=lambda: [resource.setrlimit(what, (most, most)) for what, most in limits])
            alarm = threading.Timer(60 + 20 * seconds, os.killpg, (p.pid, signal.SIGKILL))
            alarm.start()
            _, status, usage = os.wait4(p.pid, 0)
            alarm.cancel()
            p.returncode = status
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return os.waitstatus_to_exitcode(status) in (0, 77), usage.ru_utime + usage.ru_stime

    def record(self):
        """Which tests come by which mutants; false when it fails without one."""
        with tempfile.NamedTemporaryFile('r') as out:
            os.chmod(out.name, 0o666)
            passes, self.seconds = self.run([], {'MUTANT_RECORD': out.name}, 300)
            for line in out:
                number, test = line.split()
                self.by_mutant[int(number)].add(test)
                self.tests.add(test)
        return passes

    def share(self, mutant):
        return len(self.by_mutant[mutant]) / max(1, len(self.tests))

    def kills(self, mutant):
        tests = sorted(self.by_mutant[mutant] - {'/'})
        more = ['--filter', '@(%s)' % '|'.join(tests)] if tests and '/' not in self.by_mutant[mutant] else []
        return not self.run(more, {'MUTANT': str(mutant)}, int(10 * self.seconds * self.share(mutant)) + 2)[0]


def suites_of(work, jobs, names):
    directory = work / 'copy' / 'build'
    with open(directory / 'meson-info' / 'intro-tests.json') as f:
        suites = [Suite(t, directory) for t in json.load(f) if t['name'] in names]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for suite, passes in zip(list(suites), pool.map(Suite.record, suites)):
            note = '' if passes else '; left out, it fails without a mutant'
            print('%6.1f s %-15s comes by %d%s' % (suite.seconds, suite.name, len(suite.by_mutant), note), flush=True)
            if not passes:
                suites.remove(suite)
    return suites


def try_one(number, suites):
    """What killed it, '' when nothing does, None when no test comes by."""
    able = sorted((s for s in suites if number in s.by_mutant), key=lambda s: s.seconds * s.share(number))
    return next((s.name for s in able if s.kills(number)), '') if able else None


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument('work', type=lambda s: pathlib.Path(s).resolve())
    p.add_argument('--count', type=int, default=500)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--folders', default='graph,match,lang,prove,report')
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--suites', default=SUITES)
    p.add_argument('--again', action='store_true')
    p.add_argument('--list', action='store_true')
    o = p.parse_args()
    mutants = chosen(o)
    if o.list:
        print('\n'.join(map(name, mutants.values())))
        return 0
    (o.work / 'copy').mkdir(parents=True, exist_ok=True)
    build(o.work, mutants)
    results, path = {}, o.work / 'results.tsv'
    if path.exists():
        results = {tuple(key): result for result, *key in (l.split('\t') for l in path.read_text().splitlines())}
    open_ = ('survived', 'not reached') if o.again else ()
    known = {tuple(l.split('\t')[:5]) for l in open(ROOT / 'tests' / 'mutants.tsv')}
    left = [n for n, s in mutants.items() if results.get(s.key) in (None, *open_) and not (o.again and s.key in known)]
    suites = suites_of(o.work, o.jobs, o.suites.split()) if left else []
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool, open(path, 'a') as out:
        for number, killer in zip(left, pool.map(lambda n: try_one(n, suites), left)):
            result = 'not reached' if killer is None else 'killed by ' + killer if killer else 'survived'
            results[mutants[number].key] = result
            print(result, *mutants[number].key, sep='\t', file=out, flush=True)
    counts = collections.Counter()
    for site in mutants.values():
        result = results[site.key].split(' by ')[0]
        if result != 'killed' and site.key in known:
            result = 'equivalent'
        counts[result] += 1
        if result in ('survived', 'not reached'):
            print('%s: %s\n    %s' % (result, name(site), site.key[3]))
    print('%d mutants: ' % len(mutants) + ', '.join('%d %s' % (n, r) for r, n in sorted(counts.items())))
    return counts['survived'] + counts['not reached'] > 0


if __name__ == '__main__':
    sys.exit(main())
