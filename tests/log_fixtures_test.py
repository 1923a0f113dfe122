"""fixtures/log: one file for each format, stage order, prefix and kind of damage. The program must find the
same missed fusions in all of them, or say what is wrong. Usage: log_fixtures_test.py PROGRAM FIXTURES"""

import os
import subprocess
import sys
import unittest

from audits import Audits
from load_yaml import load_yaml

PROGRAM, AUDITS, LOGS = sys.argv[1], sys.argv[2], os.path.join(sys.argv[3], 'log')

# file: (exit status, instances, what standard error says)
WANT = {
    '01_clean.log': (1, 1, ''),
    '02_two_graphs.log': (1, 2, ''),
    '03_colours_crlf_actions.log': (1, 1, ''),
    '04_foreign_lines.log': (1, 1, ''),
    '05_verbose_new_headers.log': (1, 1, ''),
    '05_verbose_old_headers.log': (1, 1, ''),
    '05_verbose_with_stages.log': (1, 1, ''),
    '06_forge_trace.log': (1, 1, ''),
    '07_tt_torch.log': (1, 1, ''),
    '08_headers_only.log': (3, 0, 'headers'),
    '09_truncated.log': (1, 1, 'cut off'),
    '10_mpi.log': (1, 2, ''),
    '10_mpi_same.log': (1, 1, ''),
    '10_vllm.log': (1, 2, ''),
    '10_xdist.log': (1, 2, ''),
    '12_executed_only.log': (3, 0, 'no IR'),
    '13_exported_ttir.mlir': (3, 0, 'no TTNN level'),
    '13_exported_ttnn.mlir': (3, 0, 'no TTIR level'),
    '14_failed.log': (3, 0, 'the compiler failed here'),
    '14_failed_then_whole.log': (1, 1, 'graph 1 has no TTNN level'),
    '15_nested.log': (1, 1, ''),
    '16_diff.log': (1, 1, ''),
    '16_grep_n.log': (1, 1, ''),
    '16_pytest.log': (1, 1, ''),
    '17_compiled_twice.log': (1, 2, ''),
    '18_utf16.log': (1, 1, ''),
    '19_error_at_the_end.log': (3, 0, 'the compiler failed here, at TTNNWorkaroundsPass'),
    '19_error_survived.log': (1, 1, ''),
    '19_pass_failed.log': (3, 0, 'the compiler failed here, at TTNNWorkaroundsPass'),
}
# 09: @second is cut before its return. 15: the linear layer of the const-eval function runs once. Neither counts.


def read(name):
    with open(os.path.join(LOGS, name), 'rb') as f:
        return f.read()


def audit(*files, data=None):
    run = subprocess.run([PROGRAM, '-o', '-', '--only=ttnn.linear', *files], input=data, capture_output=True,
                         timeout=120, check=False)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def instances(report):
    return [i for e in (load_yaml(report) or {}).get('missed_fusions', []) for i in e['instances']]


class Fixtures(unittest.TestCase):
    def test_every_file_is_named(self):
        self.assertEqual(sorted(os.listdir(LOGS)), sorted(WANT))

    def test_each(self):
        for name, (status, count, words) in WANT.items():
            with self.subTest(name):
                got, report, errors = audit(os.path.join(LOGS, name))
                self.assertEqual(got, status, errors)
                self.assertEqual(len(instances(report)), count, report)
                self.assertIn(words, errors)
                if not words:
                    self.assertNotIn('error', errors)
                    self.assertNotIn('warning', errors)

    def test_what_is_found_is_the_same(self):
        """Damage and prefixes leave no trace in what is reported."""
        want = instances(audit(os.path.join(LOGS, '01_clean.log'))[1])[0]
        for name in ('03_colours_crlf_actions.log', '04_foreign_lines.log', '05_verbose_with_stages.log',
                     '06_forge_trace.log', '14_failed_then_whole.log', '16_diff.log', '16_grep_n.log', '16_pytest.log', '18_utf16.log'):
            got = instances(audit(os.path.join(LOGS, name))[1])[0]
            if name == '14_failed_then_whole.log':  # other shapes
                self.assertEqual(got['ir_loc'], want['ir_loc'])
                continue
            for key in ('ir_loc', 'ttir_segment', 'ttnn_segment'):
                self.assertEqual(got[key], want[key], (name, key))

    def test_two_exported_files(self):
        ttir, ttnn = (os.path.join(LOGS, '13_exported_%s.mlir' % level) for level in ('ttir', 'ttnn'))
        for files in ((ttir, ttnn), (ttnn, ttir)):
            status, report, errors = audit(*files)
            self.assertEqual((status, len(instances(report))), (1, 1), errors)

    def test_constant_of_two_megabytes_with_the_end_line_in_a_string(self):
        constant = ('    %%c = "ttir.constant"() <{value = dense<"0x%s"> : tensor<1048576xi8>, '
                    'note = "------------------ END OF MLIR MODULE ------------------"}> : () -> tensor<1048576xi8>\n'
                    % ('3F80' * 524288)).encode()
        marker = b'    %0 = "ttir.matmul"'
        data = read('01_clean.log').replace(marker, constant + marker)
        self.assertGreater(len(data), 2 << 20)
        status, report, errors = audit('-', data=data)
        self.assertEqual((status, len(instances(report))), (1, 1), errors)

    def test_cut_at_any_byte(self):
        """Nothing is found that is not there, nothing crashes."""
        data = read('01_clean.log').decode()
        audits = Audits(AUDITS, 'ttnn')
        for n in range(1, len(data), 37):
            status, said, report = audits.audit_text('both', data[:n])
            self.assertIn(status, (0, 1, 3), said)
            self.assertIn([(e['fused_op'], len(e['instances'])) for e in report or []], ([], [('ttnn.linear', 1)]))
        audits.close()


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
