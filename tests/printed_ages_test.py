"""Text that the compiler's printer or parser takes, of any date of it, against the same in today's spelling: it is read
whole, with the same uses, and the same is found. Usage: printed_ages_test.py PROGRAM"""

import json
import subprocess
import sys
import unittest

from load_yaml import load_yaml

PROGRAM = sys.argv[1]
BIG, ROW, WIDE = 'tensor<1x64x3072xf32>', 'tensor<3072xf32>', 'tensor<64x128xbf16>'


def module(body, arguments, result, head=''):
    return '%smodule {\n  func.func @main(%s) -> %s {\n%s\n  }\n}\n' % (head, arguments, result, body)


def inspect(text):
    run = subprocess.run([PROGRAM, 'inspect', '--json', '--unpaired', '-'], input=text.encode(), capture_output=True,
                         timeout=60, check=False)
    document = json.loads(run.stdout)
    modules = [b['module'] for b in document['files'][0]['blocks'] if b['module']]
    said = [d['message'] for d in document['diagnostics']]
    return run.returncode, [(m['edges'], m['skipped_ops'], m['undefined_values']) for m in modules], said


def found(text, level='--ttir-only'):
    run = subprocess.run([PROGRAM, level, '-o', '-', '-'], input=text.encode(), capture_output=True, timeout=60, check=False)
    report = load_yaml(run.stdout.decode()) or {}
    return [(e['fused_op'], len(e['instances'])) for e in report.get('missed_fusions', [])]


LINEAR = ('    %%0 = "ttir.matmul"(%%x, %%w) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>\n'
          '    %%1%s=%s"ttir.add"(%%0, %%b) : (tensor<32x32xf32>, tensor<32xf32>)%s-> tensor<32x32xf32>\n'
          '    return %%1 : tensor<32x32xf32>')
ARGUMENTS = '%%x: tensor<32x64xf32>%s, %%w: tensor<64x32xf32>, %%b: tensor<32xf32>'
PLAIN = module(LINEAR % (' ', ' ', ' '), ARGUMENTS % '', 'tensor<32x32xf32>')

# Name: what was printed, today's spelling.
SPELLED = {
    'attributes of an argument over lines': (
        module(LINEAR % (' ', ' ', ' '), ARGUMENTS % ' {a.x = 1 : i32,\n   ttcore.y = #ttcore.y<z>}', 'tensor<32x32xf32>'),
        PLAIN),
    'an arrow on its own line': (module(LINEAR % (' ', ' ', '\n      '), ARGUMENTS % '', '\n    tensor<32x32xf32>'), PLAIN),
    'an arrow of an op at the end of a line': (PLAIN.replace('-> tensor<32x32xf32>\n', '->\n      tensor<32x32xf32>\n'), PLAIN),
    'results with attributes over lines': (
        PLAIN.replace('-> tensor<32x32xf32> {', '\n    -> (tensor<32x32xf32> {a.x = "1"\n    }) {'), PLAIN),
    'blanks before =': (module(LINEAR % ('  ', '  ', ' '), ARGUMENTS % '', 'tensor<32x32xf32>'), PLAIN),
    'braces and names in comments': (PLAIN.replace('    %1', '    // } module { %1 = "\n    %1'), PLAIN),
    'full with fillValue': (
        module('    %0 = "ttir.full"() <{fillValue = 1.0 : f32, shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>\n'
               '    %1 = "ttir.add"(%x, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n'
               '    %2 = "ttir.log"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n    return %2 : tensor<4x8xf32>',
               '%x: tensor<4x8xf32>', 'tensor<4x8xf32>'),
        module('    %0 = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>\n'
               '    %1 = "ttir.add"(%x, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n'
               '    %2 = "ttir.log"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n    return %2 : tensor<4x8xf32>',
               '%x: tensor<4x8xf32>', 'tensor<4x8xf32>')),
}


def convolution(attributes):
    return module('    %%0 = "ttir.conv2d"(%%x, %%w) <{%s}> : (tensor<1x32x32x8xbf16>, tensor<16x8x3x3xbf16>) -> '
                  'tensor<1x16x16x16xbf16>\n    %%1 = "ttir.add"(%%0, %%b) : (tensor<1x16x16x16xbf16>, tensor<1x1x1x16xbf16>) '
                  '-> tensor<1x16x16x16xbf16>\n    return %%1 : tensor<1x16x16x16xbf16>' % attributes,
                  '%x: tensor<1x32x32x8xbf16>, %w: tensor<16x8x3x3xbf16>, %b: tensor<1x1x1x16xbf16>',
                  'tensor<1x16x16x16xbf16>')


SPELLED['conv2d by height and width'] = (
    convolution('stride_height = 2 : si32, stride_width = 2 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, '
                'groups = 1 : si32, padding_height = 1 : i32, padding_width = 1 : i32'),
    convolution('stride = array<i32: 2, 2>, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 1, 1>'))
SPELLED['conv2d by its sides'] = (
    convolution('stride_height = 2 : si32, stride_width = 2 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, '
                'groups = 1 : si32, padding_bottom = 2 : i32, padding_left = 1 : i32, padding_right = 0 : i32, padding_top = 0 : i32'),
    convolution('stride = array<i32: 2, 2>, dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 0, 1, 2, 0>'))


def destinations(op, operands, result, empties, today):
    """An op with what it writes to: made by ttir.empty, as an argument, and without."""
    types = dict(a.split(': ') for a in operands.split(', '))
    results = result if isinstance(result, list) else [result]
    names = ', '.join('%%r%d' % i for i in range(len(results)))
    typed = '(%s)' % ', '.join(results) if len(results) > 1 else results[0]

    def text(used, head, extra):
        listed = {**types, **{'%%e%d' % i: t for i, t in enumerate(results)}}
        signature = ', '.join(listed[u] for u in used)
        return module('%s    %s = "%s"(%s)%s : (%s) -> %s\n    return %s : %s'
                      % (head, names, op[0], ', '.join(used), op[1], signature, typed, names, ', '.join(results)),
                      operands + extra, typed)
    made = ''.join('    %%e%d = ttir.empty() : %s\n' % (i, t) for i, t in enumerate(results))
    given = ''.join(', %%e%d: %s' % (i, t) for i, t in enumerate(results))
    return text(empties, made, ''), text(empties, '', given), text(today, '', '')


SORT = ('ttir.sort', ''), '%x: ' + WIDE, [WIDE, 'tensor<64x128xi16>']
WRITTEN = {
    'sort': destinations(*SORT, ['%x', '%e0', '%e1'], ['%x']),
    'heads': destinations(('ttir.split_query_key_value_and_split_heads', ' <{num_heads = 2 : ui32, transpose_key = false}>'),
                          '%x: tensor<1x32x384xbf16>', ['tensor<1x2x32x64xbf16>'] * 3, ['%x', '%e0', '%e1', '%e2'], ['%x']),
    'embedding': destinations(('ttir.embedding', ''), '%i: tensor<1x32xi32>, %w: tensor<512x128xf32>', 'tensor<1x32x128xf32>',
                              ['%i', '%w', '%e0'], ['%i', '%w']),
    'embedding, before its weight': destinations(
        ('ttir.embedding', ''), '%i: tensor<1x32xi32>, %w: tensor<512x128xf32>', 'tensor<1x32x128xf32>', ['%i', '%e0', '%w'],
        ['%i', '%w']),
    'layer_norm': destinations(('ttir.layer_norm', ' <{epsilon = 1.0E-6 : f32}>'), '%x: ' + BIG, BIG, ['%x', '%e0'], ['%x']),
    'layer_norm with a weight': destinations(('ttir.layer_norm', ' <{epsilon = 1.0E-6 : f32}>'), '%x: ' + BIG + ', %w: ' + ROW,
                                             BIG, ['%x', '%w', '%e0'], ['%x', '%w']),
}
# Edges of a value that an op writes to would be one more.

ALIASES = ('#dram   = #ttnn.buffer_type<dram>\n#l  = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,\n'
           '  memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>\n')
RELU = ('module {\n  func.func @%s(%%a: tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l> {\n    %%0 = "ttnn.relu"(%%a) : '
        '(tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>\n    return %%0 : tensor<32x32xbf16, #l>\n  }\n}\n')
YIELD = ('module {\n  func.func @main(%%a: tensor<32x32xbf16>) -> tensor<32x32xbf16> {\n    %%0 = "ttnn.relu"(%%a) : '
         '(tensor<32x32xbf16>) -> tensor<32x32xbf16>\n    return %%0 : tensor<32x32xbf16>\n  }\n  func.func private @k() {\n'
         '    %%0 = emitc.expression  : () -> i32 {\n      %%1 = "emitc.constant"() <{value = 1 : i32}> : () -> i32\n'
         '      %s %%1 : i32\n    }\n    return\n  }\n}\n')


class Ages(unittest.TestCase):
    def read_whole(self, text):
        status, modules, said = inspect(text)
        self.assertEqual((status, said), (0, []))
        self.assertTrue(all(m[1:] == (0, 0) for m in modules))
        return [m[0] for m in modules]

    def test_spelling(self):
        for name, (printed, today) in SPELLED.items():
            with self.subTest(name):
                self.assertEqual(self.read_whole(printed), self.read_whole(today))
                self.assertEqual(found(printed), found(today))
                self.assertNotEqual(found(today), [])

    def test_destinations(self):
        for name, (made, given, today) in WRITTEN.items():
            with self.subTest(name):
                want = self.read_whole(today)
                self.assertEqual(self.read_whole(made), want)
                self.assertEqual(self.read_whole(given), want)

    def test_what_is_no_destination(self):
        """What an op cannot take stays an error; a weight stays a weight."""
        sort = ('    %r, %s = "ttir.sort"(%x, %y, %z) : (W, W, tensor<64x128xi32>) -> (W, tensor<64x128xi16>)\n'
                '    return %r, %s : W, tensor<64x128xi16>').replace('W', WIDE)
        lookup = ('    %0 = "ttir.embedding"(%i, %v, %w) : (tensor<1x32xi32>, tensor<512x128xf32>, tensor<512x128xf32>) -> '
                  'tensor<1x32x128xf32>\n    return %0 : tensor<1x32x128xf32>')
        for text in (module(sort, '%%x: %s, %%y: %s, %%z: tensor<64x128xi32>' % (WIDE, WIDE), '(%s, tensor<64x128xi16>)' % WIDE),
                     module(lookup, '%i: tensor<1x32xi32>, %v: tensor<512x128xf32>, %w: tensor<512x128xf32>',
                            'tensor<1x32x128xf32>')):
            status, _, said = inspect(text)
            self.assertEqual((status, len(said)), (3, 1))
            self.assertIn('has 3 operands', said[0])
        norm = ('    %0 = "ttir.layer_norm"(%x, %w) <{epsilon = 1.0E-6 : f32}> : (tensor<3072xf32>, tensor<3072xf32>) -> '
                'tensor<3072xf32>\n    return %0 : tensor<3072xf32>')
        self.assertEqual(self.read_whole(module(norm, '%x: tensor<3072xf32>, %w: tensor<3072xf32>', 'tensor<3072xf32>')), [3])

    def test_a_norm_that_writes_to_an_argument(self):
        text = module('''    %one = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 1, 64, 3072>}> : () -> B
    %0 = "ttir.layer_norm"(%x, %init) <{epsilon = 9.99999997E-7 : f32}> : (B, B) -> B
    %1 = "ttir.add"(%scale, %one, %init) : (tensor<1x1x3072xf32>, B, B) -> B
    %2 = "ttir.multiply"(%0, %1, %init) : (B, B, B) -> B
    return %2 : B'''.replace('B', BIG), '%%x: %s, %%init: %s, %%scale: tensor<1x1x3072xf32>' % (BIG, BIG), BIG)
        self.assertEqual(found(text), [('ttnn.layer_norm', 1)])

    def test_old_attributes_that_are_not_all_there(self):
        """Half of a stride is no stride; what has the name of today wins."""
        half = convolution('stride_height = 2 : si32, groups = 1 : i32, padding = array<i32: 1, 1>, dilation = array<i32: 1, 1>')
        self.assertNotIn('ttir.conv2d', str(found(half)))
        full = SPELLED['full with fillValue'][1]
        both = full.replace('fill_value = 1.0', 'fillValue = 3.0 : f32, fill_value = 1.0')
        self.assertEqual(found(both), found(full))
        other = SPELLED['full with fillValue'][0].replace('1.0', '3.0')
        self.assertNotEqual(found(other), found(full))

    def test_aliases_of_a_file(self):
        for between in ('', '// -----\n', '\n// of another module\n// -----\n\n'):
            with self.subTest(between):
                self.assertEqual(self.read_whole(ALIASES + RELU % 'f' + between + RELU % 'g'), [2, 2])
        status, _, said = inspect(ALIASES + RELU % 'f' + RELU.replace('#l', '#m') % 'g')
        self.assertEqual(status, 3)
        self.assertIn('which is not defined', said[0])

    def test_yield_of_the_dialect_around_it(self):
        self.assertEqual(self.read_whole(YIELD % 'yield'), self.read_whole(YIELD % 'emitc.yield'))
        self.assertEqual(inspect(YIELD % 'yields')[0], 3)

    def test_extents_of_nothing(self):
        cut = ('    %0 = "ttir.slice_static"(%x) <{begins = [8 : i32], ends = [8 : i32], step = [1 : i32]}> : (tensor<64xf32>) -> '
               'tensor<0xf32>\n    return %0 : tensor<0xf32>')
        self.assertEqual(inspect(module(cut, '%x: tensor<64xf32>', 'tensor<0xf32>'))[0], 0)
        self.assertEqual(inspect(module(cut.replace('<0x', '<1x'), '%x: tensor<64xf32>', 'tensor<1xf32>'))[0], 3)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
