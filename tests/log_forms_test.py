"""One log as tools pass it on: the program must find in each form what it finds in the plain one, and take nothing for
a prefix that is none. Usage: log_forms_test.py PROGRAM FIXTURES"""

import json
import os
import random
import struct
import subprocess
import sys
import unittest

from load_yaml import load_yaml

PROGRAM, LOGS = sys.argv[1], os.path.join(sys.argv[2], 'log')

# What stands before line i of a log.
FORMS = {
    'docker compose': lambda i: 'trainer-1  | ',
    'docker compose 1': lambda i: 'trainer_1       | ',
    'docker compose, coloured': lambda i: '\033[36mtrainer-1  |\033[0m ',
    'torchrun': lambda i: '[rank0]:',
    'torchrun, spaced': lambda i: '[rank0]: ',
    'torch elastic': lambda i: '[default0]:',
    'pytest': lambda i: 'E       ',
    'Jenkins': lambda i: '[2026-11-28T16:%02d:%02d.%03dZ] ' % (i // 60 % 60, i % 60, i * 7 % 1000),
    'Jenkins, time': lambda i: '16:%02d:%02d  ' % (i // 60 % 60, i % 60),
    'GitLab stdout': lambda i: '2026-11-28T16:%02d:%02d.%06dZ 01O ' % (i // 60 % 60, i % 60, i * 7),
    'GitLab stderr': lambda i: '2026-11-28T16:%02d:%02d.%06dZ 01E ' % (i // 60 % 60, i % 60, i * 7),
    'GitHub Actions': lambda i: '2026-11-28T16:15:11.1234567Z ',
    'gh run view': lambda i: 'build\trun\t2026-11-28T16:15:11.1234567Z ',
    'Buildkite': lambda i: '\033_bk;t=17643453%05d\a' % i,
    'grep -H': lambda i: 'logs/run.log:',
    'grep -Hn': lambda i: 'logs/run.log:%d:' % (i + 1),
    'grep -n': lambda i: '%d:' % (i + 1),
    'kubectl --prefix': lambda i: '[pod/trainer-0/main] ',
    'kubectl, CRI': lambda i: '2026-11-28T16:15:11.123456789Z stderr F ',
    'srun': lambda i: ' 3: ',
    'mpirun': lambda i: '[1,0]<stderr>:',
    'ts': lambda i: 'Nov 28 16:%02d:%02d ' % (i // 60 % 60, i % 60),
    'ts -s': lambda i: '00:%02d:%02d ' % (i // 60 % 60, i % 60),
    'ts %.s': lambda i: '%.6f ' % (1764345311.5 + i * 0.37),
    'syslog': lambda i: 'Nov 28 16:15:11 host python[1234]: ',
    'ray': lambda i: '(Worker pid=123, ip=10.0.0.1) ',
    'ray, function': lambda i: '(train_fn pid=123) ',
    'vLLM': lambda i: '(EngineCore pid=57085) ERROR 07-27 22:08:27 [core.py:1165] ',
    'Python logging': lambda i: '2026-11-28 16:15:11,%03d - root - INFO - ' % (i % 1000),
    'loguru': lambda i: '2026-11-28 16:15:11.%03d | INFO     | run:main:12 - ' % (i % 1000),
    'diff': lambda i: '+',
    'mail': lambda i: '> ',
    'comment': lambda i: '# ',
    'comment of MLIR': lambda i: '// ',
    'cat -n': lambda i: '%6d\t' % (i + 1),
    'bat': lambda i: '%4d \u2502 ' % (i + 1),
    'numbers behind a letter': lambda i: 'x%d ' % i,
    'stamped mpirun': lambda i: '2026-08-21T10:15:02.3010000Z [1,0]<stderr>:',
    'indented': lambda i: '    ',
}
# Of the processes of one job.
RANKS = {
    'docker compose': 'rank%d-1  | ', 'torchrun': '[rank%d]:', 'mpirun': '[1,%d]<stderr>:', 'srun': '%2d: ',
    'kubectl --prefix': '[pod/trainer-%d/main] ', 'ray': '(Worker pid=41%d7, ip=10.0.0.1) ',
    'stamped': '2026-11-28T16:15:11.1234567Z [rank%d]: ',
}
CHATTER = ['starting', 'module loaded', 'Executing operation: %3 = "ttnn.exp"(%1) : (t) -> t', '%0 = "ttnn.exp"(%1) : (t) -> t',
           'func.func is no function here', '}', '{"a": 1}', 'done: 3 of 3']


def read(name):
    with open(os.path.join(LOGS, name), encoding='utf-8') as f:
        return f.read()


def audit(data):
    run = subprocess.run([PROGRAM, '-o', '-', '--only=ttnn.linear', '-'], input=data, capture_output=True, timeout=60,
                         check=False)
    report = load_yaml(run.stdout.decode()) or {}
    return run.returncode, [i for e in report.get('missed_fusions', []) for i in e['instances']], run.stderr.decode()


def segments(found):
    return sorted(i['ttir_segment'] + i['ttnn_segment'] for i in found)


def prefixed(prefix, lines):
    return ''.join(prefix(i) + line + '\n' for i, line in enumerate(lines)).encode()


def docker_json(text, most=10 ** 9):
    """As the driver json-file writes it: long lines in pieces, <, > and & escaped."""
    out = []
    for line in text.splitlines(True):
        for at in range(0, len(line), most):
            record = json.dumps({'log': line[at:at + most], 'stream': 'stderr', 'time': '2026-11-28T16:15:11.123Z'},
                                separators=(',', ':'))
            out.append(record.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026'))
    return ('\n'.join(out) + '\n').encode()


def modules(text):
    """The TTIR and the TTNN of a log of tt-xla."""
    return [text.split('MLIR Module %s:\n' % level)[1].split('-----')[0] for level in ('ttir', 'ttnn')]


def executable(ttir, ttnn, binary):
    offsets = struct.pack('<6Q', 0, len(ttir), len(ttir), len(ttnn), len(ttir) + len(ttnn), len(binary))
    return b'TTSERv00' + offsets + ttir + ttnn + binary


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = read('01_clean.log')
        cls.want = segments(audit(cls.text.encode())[1])

    def test_each_form(self):
        for name, prefix in FORMS.items():
            with self.subTest(name):
                status, found, errors = audit(prefixed(prefix, self.text.splitlines()))
                self.assertEqual((status, segments(found)), (1, self.want), errors)

    def test_what_has_the_form_but_stands_before_no_module(self):
        """Lines of others, in a log without prefix: before and between the modules."""
        for name, prefix in FORMS.items():
            with self.subTest(name):
                chatter = prefixed(prefix, CHATTER).decode()
                text = chatter + self.text.replace('END OF MLIR MODULE ------------------\n',
                                                   'END OF MLIR MODULE ------------------\n' + chatter)
                status, found, errors = audit(text.encode())
                self.assertEqual((status, segments(found)), (1, self.want), errors)
                if prefix(0).strip():
                    self.assertEqual(audit(chatter.encode())[0], 3)

    def test_ranks_at_random(self):
        """Each rank has a model of its own: no line of one may be taken for one of another."""
        sizes = [48, 64, 80, 112, 160, 192, 224, 320]
        texts = [self.text.replace('96x', '%dx' % n).replace('x96', 'x%d' % n).replace('<96', '<%d' % n) for n in sizes]
        want = sorted(s for text in texts for s in segments(audit(text.encode())[1]))
        self.assertEqual(len(set(want)), 8)
        for name, prefix in RANKS.items():
            for seed in range(3):
                with self.subTest(name, seed=seed):
                    rng = random.Random(seed)
                    left = {r: text.splitlines() for r, text in enumerate(texts)}
                    lines = []
                    while left:
                        rank = rng.choice(sorted(left))
                        for _ in range(rng.randint(1, 1 + 6 * (seed == 2))):
                            if left[rank]:
                                lines.append(prefix % rank + left[rank].pop(0))
                        if not left[rank]:
                            del left[rank]
                    status, found, errors = audit(('\n'.join(lines) + '\n').encode())
                    self.assertEqual((status, segments(found)), (1, want), errors)

    def test_times_tell_no_processes(self):
        """Times that go back, where a buffer was written late."""
        rng = random.Random(1)
        for form in ('16:15:%02d ', '[2026-11-28 16:15:%02d] ', '16:15:11.%03d ', '%d.125 '):
            with self.subTest(form):
                data = prefixed(lambda i: form % rng.randint(10, 12), self.text.splitlines())
                status, found, errors = audit(data)
                self.assertEqual((status, segments(found)), (1, self.want), errors)

    def test_json_lines_of_docker(self):
        for most in (10 ** 9, 100):
            status, found, errors = audit(docker_json(self.text, most))
            self.assertEqual((status, segments(found)), (1, self.want), errors)
        cut = docker_json(self.text)[:-30]
        self.assertEqual(segments(audit(cut)[1]), self.want)
        other = docker_json(self.text).replace(b'"stream"', b'"level"')
        self.assertEqual(audit(other)[:2], (3, []))

    def test_lines_of_json_keep_their_numbers(self):
        data = docker_json(self.text.replace('"ttir.add"(%0, %arg2)', '"ttir.add"(%0 %arg2)'), 100)
        errors = audit(data)[2]
        line = next(i for i, text in enumerate(data.decode().splitlines(), 1) if 'ttir.add' in text)
        self.assertIn(':%d:' % line, errors)


class Containers(unittest.TestCase):
    def setUp(self):
        self.ttir, self.ttnn = (m.encode() for m in modules(read('01_clean.log')))
        self.want = segments(audit(self.ttir + self.ttnn)[1])
        self.assertEqual(len(self.want), 1)
        self.binary = b'\x08\0\0\0TTNN\x04\0\0\0' + struct.pack('<I', len(self.ttnn)) + self.ttnn + b'\0\0}\x01{\n\x02\0'

    def test_serialized_executable(self):
        status, found, errors = audit(executable(self.ttir, self.ttnn, self.binary))
        self.assertEqual((status, segments(found), errors.count('error')), (1, self.want, 0), errors)
        self.assertNotIn('graph 2', errors)

    def test_executable_that_is_damaged(self):
        """Offsets that lie outside, and a file that is cut off: nothing of it is found but whole modules."""
        whole = executable(self.ttir, self.ttnn, self.binary)
        for at in range(8, 56, 8):
            for value in (2 ** 64 - 1, len(whole), 2 ** 63):
                status, found, errors = audit(whole[:at] + struct.pack('<Q', value) + whole[at + 8:])
                self.assertIn(status, (1, 3), errors)
                self.assertIn(segments(found), (self.want, []))
        for n in range(1, len(whole), 211):
            status, found, errors = audit(whole[:n])
            self.assertIn(status, (0, 1, 3), errors)
            self.assertIn(segments(found), (self.want, []))

    def test_module_in_a_flatbuffer(self):
        run = subprocess.run([PROGRAM, 'inspect', '--json', '-'], input=self.binary, capture_output=True, timeout=60,
                             check=False)
        module = json.loads(run.stdout)['files'][0]['blocks'][0]['module']
        self.assertEqual((module['ops'], module['skipped_ops']), (7, 0))
        run = subprocess.run([PROGRAM, '--ttnn-only', '-o', '-', '-'], input=self.binary, capture_output=True, timeout=60,
                             check=False)
        self.assertIn(run.returncode, (0, 1), run.stderr)

    def test_flatbuffer_without_a_module(self):
        run = subprocess.run([PROGRAM, '-'], input=self.binary[:12] + b'ttnn.add\0module\0', capture_output=True, timeout=60,
                             check=False)
        self.assertEqual(run.returncode, 3)
        self.assertIn(b'flatbuffer', run.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
