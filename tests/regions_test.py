#!/usr/bin/env python3
"""Elementwise regions as the program reports them.

usage: regions_test.py PROGRAM
"""
import os
import subprocess
import sys
import tempfile
import unittest

from load_yaml import load_yaml

PROGRAM = os.path.abspath(sys.argv.pop(1))
T = 'tensor<64x64xbf16>'
NAMES = 'abcdefgh'
TREE = [('add', '%0', '%a', '%b'), ('add', '%1', '%c', '%d'), ('add', '%2', '%e', '%f'), ('add', '%3', '%g', '%h'),
        ('add', '%4', '%0', '%1'), ('add', '%5', '%2', '%3'), ('add', '%6', '%4', '%5')]


def module(ops, type_=T):
    lines = [f'    {r} = "ttnn.{op}"({", ".join(of)}) : ({", ".join([type_] * len(of))}) -> {type_} loc("{op}{r[1:]}")'
             for op, r, *of in ops]
    arguments = ', '.join(f'%{c}: {type_}' for c in NAMES)
    return f'module {{\n  func.func @main({arguments}) -> {type_} {{\n' + '\n'.join(lines) + \
        f'\n    return {ops[-1][1]} : {type_}\n  }}\n}}\n'


def audit(path, *options):
    done = subprocess.run([PROGRAM, '--ttnn-only', '-o', '-', *options, path], capture_output=True, text=True, timeout=120)
    entries = (load_yaml(done.stdout) or {}).get('missed_fusions', []) if done.stdout else []
    return done, [e for e in entries if e['fused_op'] == 'ttnn.generic']


class Regions(unittest.TestCase):
    def audit(self, text, *options):
        with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
            f.write(text)
            f.flush()
            return audit(f.name, *options)

    def test_a_pair_has_both_halves(self):
        with tempfile.TemporaryDirectory() as directory:
            for dialect in 'ttir', 'ttnn':
                with open(f'{directory}/{dialect}.mlir', 'w') as f:
                    f.write(module(TREE).replace('"ttnn.', f'"{dialect}.'))
            done = subprocess.run([PROGRAM, '-q', '--include=elementwise', '-o', '-', f'{directory}/ttir.mlir',
                                   f'{directory}/ttnn.mlir'], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, ''))
        entry, = load_yaml(done.stdout)['missed_fusions']
        self.assertEqual(entry['instances'][0]['ttir_segment'].count('ttir.add'), 7)

    def test_off_by_default(self):
        done, found = self.audit(module(TREE))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
        done, found = self.audit(module(TREE), '--include=blocked')
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_tree(self):
        done, found = self.audit(module(TREE), '--include=elementwise', '--classify', '--details')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(found), 1)
        self.assertEqual((found[0]['source'], found[0]['pass_status'], found[0]['component_ops']),
                         ('ttnn', 'gated_off', ['ttnn.add'] * 7))
        instance, = found[0]['instances']
        for line in ('7 ops, 8 inputs of at most 31.\n',
                     '5 of 8 destination registers.\n',
                     'precondition: the grids', 'the same ops in one kernel, emulated PCC 0.99', '(6 launches, ',
                     'set enable-create-d2m-subgraphs=true enable-elementwise-fusion'):
            self.assertIn(line, instance['notes'])
        self.assertEqual([line.split()[0] for line in instance['ttnn_segment'].strip().split('\n')], [op[1] for op in TREE])
        cost = instance['cost']
        self.assertEqual((cost['launches'], cost['launches_fused']), (7, 1))
        size = 64 * 64 * 2
        self.assertEqual((cost['dram_read_bytes'], cost['dram_read_bytes_fused']), (14 * size, 8 * size))
        self.assertEqual((cost['dram_written_bytes'], cost['dram_written_bytes_fused']), (7 * size, size))
        self.assertEqual(cost['held_bytes'], 5 * size)
        self.assertLess(instance['validation']['relative_l2_fused'], instance['validation']['relative_l2_unfused'])

    def test_one_entry_for_regions_alike(self):
        ops = [('exp', '%0', '%a'), ('neg', '%1', '%0'), ('matmul', '%2', '%1', '%b'), ('exp', '%3', '%2'), ('neg', '%4', '%3')]
        _, found = self.audit(module(ops), '--include=elementwise,slower')
        self.assertEqual([len(e['instances']) for e in found], [2])

    def test_counts_without_a_report(self):
        done, _ = self.audit(module(TREE), '--include=elementwise', '--dry-run')
        self.assertEqual(done.returncode, 1)
        self.assertIn('1 place', done.stderr)

    def test_other_sources_hide_them(self):
        done, _ = self.audit(module(TREE), '--include=elementwise', '--source=torch')
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_selected_by_name(self):
        text = module(TREE + [('matmul', '%7', '%6', '%a'), ('maximum', '%8', '%7', '%b')])
        for options, status, n in ((['--only=ttnn.generic'], 1, 1), (['--only=elementwise'], 1, 1),
                                   (['--skip=ttnn.generic', '--source=ttnn'], 0, 0), (['--only=linear'], 0, 0)):
            done, found = self.audit(text, '--include=elementwise', *options)
            self.assertEqual((done.returncode, len(found)), (status, n), options)
        done, _ = self.audit(text, '--only=ttnn.generic')
        self.assertEqual(done.returncode, 2)
        self.assertIn('hint: --include=elementwise or --include=elementwise-reduction searches for it', done.stderr)

    def test_a_baseline_knows_what_was_not_searched(self):
        with tempfile.TemporaryDirectory() as directory:
            known = '--baseline=%s/b.yml' % directory
            self.audit(module(TREE), '--include=elementwise', '-q', known.replace('--', '--write-'))
            done, _ = self.audit(module(TREE), '--strict-baseline', known)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            done, _ = self.audit(module(TREE[:1]), '--strict-baseline', '--include=elementwise-reduction', known)
            self.assertEqual(done.returncode, 1)
            self.assertIn('no longer there', done.stderr)

    def explain(self, text, *options):
        with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
            f.write(text)
            f.flush()
            return subprocess.run([PROGRAM, 'explain', '--ttnn-only', *options, f.name], capture_output=True, text=True).stdout

    def test_explains_what_is_in_the_way(self):
        chain = [('add', '%1', '%a', '%b')] + [('add', f'%{i}', f'%{i - 1}', f'%{NAMES[i]}') for i in range(2, 8)]
        wide = module(chain, 'tensor<64x64xf32>')
        text = self.explain(wide, '--include=elementwise', '--only=ttnn.generic')
        self.assertIn('near: elementwise -> ttnn.generic, both ops match', text)
        self.assertIn('together they have 8 inputs, at most 7 where elements have more than 16 bits', text)
        self.assertIn('hint     elements of 16 bits, or two kernels', text)
        self.assertIn('%6: matched: elementwise -> ttnn.generic', self.explain(wide, '--include=elementwise', '--at=%3'))
        for quiet in (self.explain(wide), self.explain(module(chain), '--include=elementwise')):
            self.assertNotIn('-> ttnn.generic', quiet)
        rows = module([('exp', '%1', '%a'), ('neg', '%2', '%1')], 'tensor<40x64xbf16>')
        self.assertIn('%a, a tensor<40x64xbf16>, does not end in two dimensions that are multiples of 32',
                      self.explain(rows, '--include=elementwise', '--only=ttnn.generic'))

    def test_wrong_word(self):
        done, _ = self.audit(module(TREE), '--include=elementwise,reduction')
        self.assertEqual(done.returncode, 2)
        self.assertIn(", elementwise-reduction, not 'reduction'", done.stderr)


if __name__ == '__main__':
    unittest.main()
