#!/usr/bin/env python3
"""Nothing takes time in the square of its length: the runs of the benchmark at a megabyte, and pattern files that
nest and go on, end within six seconds of processor time. What was quadratic took ten and more.

usage: growth_test.py PROGRAM [--all]
"""
import os
import random
import resource
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bench'))
import generate  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
ALL = '--all' in sys.argv and not sys.argv.remove('--all')
WERE_QUADRATIC = ['attribute:newline', 'attribute:crlf', 'attribute:nuls', 'attribute:colours', 'string:escapes',
                  'quotes:undefined']
SIZE, SECONDS = 1000000, 6
PATTERN = 'name: x\nfused_op: ttnn.x\nsource: ttnn\nmatch: |\n  '
N = 100000
LARGE, DEEP = 'the formula is too large', 'nested too deeply'
PATTERNS = {  # what is wrong, and where
    PATTERN + 'out = cbrt(x' + ' + x' * N + ')\n': f'5:8206: error: {LARGE}',
    PATTERN + 'out = cbrt(x) * (1' + ' * 1' * N + ')\n': f'5:8206: error: {LARGE}',
    PATTERN + 'out = cbrt(x)' + ' [+ a]' * N + '\n': f'5:8202: error: {LARGE}',
    PATTERN + 'out = cbrt(x)\nwhere:\n- 1 < 2' + ' & 1 < 2' * N + '\n': f'7:8199: error: {LARGE}',
    PATTERN + 'out = cbrt(x)\nwhere:\n- 1 < 2' + ' & x1.. < 2' * N + '\n': f'7:11271: error: {LARGE}',
    PATTERN + 'out = cbrt(x)' + '\n  x1 = cbrt(x1..)' * N + '\n': '37:3: error: too many lines',
    PATTERN + 'out = ' + '(' * N + 'x' + ')' * N + '\n': f'5:73: error: {DEEP}',
    PATTERN + 'out = ' + '-' * N + 'x\n': f'5:73: error: {DEEP}',
    PATTERN + 'out = ' + 'cbrt(' * N + '\n': f'5:329: error: {DEEP}',
    'name: ' + '[' * N: f'1:71: error: not YAML: {DEEP}',
    'name: ' + '{a: ' * N: f'1:260: error: not YAML: {DEEP}',
    '- ' * N: f'1:131: error: not YAML: {DEEP}',
    # each line is twice the one before: what walks all paths never ends
    PATTERN + 'a0 = x + y\n  ' + ''.join(f'a{i + 1} = a{i} + a{i}\n  ' for i in range(28)) +
    'out = cbrt(a28)\n  also k = cbrt(a28)\n': '',
    PATTERN + 'a0 = cbrt(x) | abs(x)\n  ' + ''.join(f'a{i + 1} = a{i} | a{i}\n  ' for i in range(28)) +
    'out = a28\n': '',
}


class Growth(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def run_it(self, *command):
        done = subprocess.run([PROGRAM, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        return done.returncode, done.stderr.decode('utf-8', 'replace')

    def test_runs(self):
        with open(self.path('p.yml'), 'w') as f:
            f.write(PATTERN + 'out = cbrt(atan2(x, y))\n')
        others = [r for r in generate.RUNS if r not in WERE_QUADRATIC]
        for kind in WERE_QUADRATIC + (others if ALL else random.Random(1).sample(others, 40)):
            with self.subTest(kind):
                generate.make(kind, SIZE, self.path('run'))
                status, error = self.run_it('--ttir-only', '--dry-run', '--no-validate', '-j1', '--no-default-patterns', '-P',
                                            self.path('p.yml'), self.path('run'))
                self.assertIn(status, (0, 3), error)

    def test_products_of_one_value(self):
        """Each may be the first of a group of sixteen, in any order."""
        n, product = 100, 'tensor<8x4xbf16>'
        kinds = ', '.join(n * [product])
        with open(self.path('products'), 'w') as f:
            f.write('module {\n  func.func @main(%%x: tensor<8x2xbf16>%s) -> (%s) {\n' %
                    (''.join(f', %w{i}: tensor<2x4xbf16>' for i in range(n)), kinds))
            for i in range(n):
                f.write(f'    %p{i} = "ttir.matmul"(%x, %w{i}) : (tensor<8x2xbf16>, tensor<2x4xbf16>) -> {product}\n')
            f.write('    return %s : %s\n  }\n}\n' % (', '.join(f'%p{i}' for i in range(n)), kinds))
        status, error = self.run_it('--ttir-only', '--dry-run', '-j1', self.path('products'))
        self.assertEqual((status, 'given up' in error), (1, False), error)

    def test_results(self):
        """Beside each of them another one of the function may be what a line without bound names is."""
        n, t = 30000, 'tensor<8x16xbf16>'
        with open(self.path('results'), 'w') as f:
            f.write(f'module {{\n  func.func @main(%x: {t}) -> ({", ".join(n * [t])}) {{\n')
            for i in range(n):
                f.write(f'    %c{i} = "ttir.cbrt"(%x) : ({t}) -> {t}\n')
            f.write(f'    return {", ".join(f"%c{i}" for i in range(n))} : {", ".join(n * [t])}\n  }}\n}}\n')
        with open(self.path('p.yml'), 'w') as f:
            f.write(PATTERN + 'out = cbrt(x)\n  also k = atan(y)\n')
        status, error = self.run_it('--ttir-only', '--dry-run', '--no-validate', '-j1', '--no-default-patterns', '-P',
                                    self.path('p.yml'), self.path('results'))
        self.assertEqual(status, 0, error)

    def test_siblings(self):
        """What asks at each of a thousand products how many are like it."""
        n, t = 1000, 'tensor<64x64xbf16>'
        with open(self.path('products'), 'w') as f:
            f.write(f'module {{\n  func.func @main(%x: {t}, %s: {t}{"".join(f", %w{i}: {t}" for i in range(n))}) -> {t} {{\n')
            last = '%s'
            for i in range(n):
                f.write(f'    %m{i} = "ttnn.matmul"(%x, %w{i}) : ({t}, {t}) -> {t}\n'
                        f'    %e{i} = "ttnn.exp"(%m{i}) : ({t}) -> {t}\n'
                        f'    %s{i} = "ttnn.subtract"({last}, %e{i}) : ({t}, {t}) -> {t}\n')
                last = f'%s{i}'
            f.write(f'    return {last} : {t}\n  }}\n}}\n')
        status, error = self.run_it('--ttnn-only', '--dry-run', '--no-validate', '--quiet', '-j1', self.path('products'))
        self.assertEqual((status, 'given up' in error), (1, False), error)

    def test_near_misses(self):
        """Each add of the chain but the first is one."""
        generate.make('adds', N // 2, self.path('adds'))
        with open(self.path('p.yml'), 'w') as f:
            f.write(PATTERN + 'out = cbrt(x + y) + z\n')
        status, error = self.run_it('explain', '--ttir-only', '--no-default-patterns', '-P', self.path('p.yml'), self.path('adds'))
        self.assertEqual((status, error), (0, ''))

    def test_known_findings(self):
        """Of many that are alike, against a baseline: only an op before them is another."""
        generate.make('linears', 30000, self.path('linears'))
        with open(self.path('linears')) as f:
            head, _, body = f.read().partition('-> tensor<32x64xbf16> {\n')
        t = 'tensor<32x64xbf16>'
        with open(self.path('shifted'), 'w') as f:
            f.write(f'{head}-> {t} {{\n %e = "ttnn.exp"(%a) : ({t}) -> {t}\n{body.replace("(%a,", "(%e,")}')
        audit = ('--ttnn-only', '--no-validate', '-q', '-j1', '-o', self.path('todo.yml'))
        known = self.path('known.yml')
        self.assertEqual(self.run_it(*audit, f'--write-baseline={known}', self.path('linears'))[0], 0)
        self.assertEqual(self.run_it(*audit, f'--baseline={known}', self.path('shifted'))[0], 0)

    def test_patterns(self):
        for text, wrong in PATTERNS.items():
            with self.subTest(text[:80]):
                with open(self.path('p.yml'), 'w') as f:
                    f.write(text)
                status, error = self.run_it('patterns', 'check', self.path('p.yml'))
                self.assertEqual(status, 2 if wrong else 0, error)
                self.assertIn(f'{self.path("p.yml")}:{wrong}' if wrong else '', error)


if __name__ == '__main__':
    unittest.main()
