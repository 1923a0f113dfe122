#!/usr/bin/env python3
"""Measured times (--perf): a profile made by hand for a module, whole, shifted by rows, with gaps, and in older columns.

usage: perf_test.py PROGRAM FIXTURES CORPUS
Each op of a TTNN module gets a row at its location. Without the corpus, the fixture alone.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FIXTURES, CORPUS = sys.argv[1:4]
del sys.argv[1:4]
CODES = {"matmul": "MatmulDeviceOperation", "linear": "MatmulDeviceOperation", "add": "BinaryNgDeviceOperation",
         "subtract": "BinaryNgDeviceOperation", "multiply": "BinaryNgDeviceOperation", "divide": "BinaryNgDeviceOperation",
         "softmax": "SoftmaxDeviceOperation", "layer_norm": "LayerNormDeviceOperation", "permute": "TransposeDeviceOperation",
         "typecast": "TypecastDeviceOperation", "mean": "ReduceDeviceOperation", "sum": "ReduceDeviceOperation",
         "concat": "ConcatDeviceOperation", "slice_static": "SliceDeviceOperation", "reshape": "ReshapeDeviceOperation",
         "pow_scalar": "UnaryDeviceOperation", "rsqrt": "UnaryDeviceOperation", "gelu": "UnaryDeviceOperation",
         "silu": "UnaryDeviceOperation", "rms_norm": "LayerNormDeviceOperation", "exp": "UnaryDeviceOperation"}
NEW = ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "OP TO OP LATENCY [ns]", "DEVICE FW DURATION [ns]",
       "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES", "LOC", "CONST_EVAL_OP"]
OLD = ["GLOBAL CALL COUNT", "OP CODE", "DEVICE FW DURATION [ns]", "LOC"]
MODELS = [(os.path.join(FIXTURES, "dit.ttir.mlir"), os.path.join(FIXTURES, "dit.ttnn.mlir"))]
MODEL = os.path.join(CORPUS, "models", "bert_encoder_layer.ttnn-unfused.mlir")
if os.path.exists(MODEL):
    MODELS.append((MODEL.replace(".ttnn-unfused", ".ttir"), MODEL))


def rows_of(path):
    """One row for each op, at its location: 1000 ns, and 500 between ops."""
    with open(path) as f:
        text = f.read()
    aliases = dict(re.findall(r"^(#loc\d*) = (loc\(.*\))$", text, re.M))

    def resolved(loc):
        return re.sub(r"#loc\d+", lambda m: aliases.get(m[0], m[0])[4:-1], loc)

    rows = []
    for name, loc in re.findall(r'"ttnn\.(\w+)"\(.*loc\((#loc\d+|".*)\)$', text, re.M):
        if name in CODES:
            values = [CODES[name], "tt_dnn_device", len(rows), 0, 500, 1200, 1000, "{'a': 'b'; 'c': 'd'}",
                      resolved("loc(%s)" % loc), "false"]
            rows.append(dict(zip(NEW, values)))
    return rows


class Perf(unittest.TestCase):
    encoding = "utf-8"

    def audit(self, model, rows, columns=NEW):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, "ops_perf_results.csv")
            with open(name, "w", newline="", encoding=self.encoding) as f:
                writer = csv.DictWriter(f, columns, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(rows)
            p = subprocess.run([PROGRAM, "-q", "--no-validate", "--details", "-o", "-", "--perf=" + name, *model],
                               capture_output=True, text=True)
            return p.returncode, p.stdout, p.stderr.replace(name, "CSV")

    def test_whole(self):
        for model in MODELS:
            rows = rows_of(model[1])
            self.assertGreater(len(rows), 20)
            status, out, err = self.audit(model, rows)
            self.assertEqual(status, 1, err)
            self.assertNotIn("error", err)
            times = re.findall(r"saves: about .* of ([0-9.]+) us as measured ", out)
            self.assertGreater(len(times), 3, model)
            launches = re.findall(r"\n +launches: (\d+)\n(?:.*\n)*? +measured_us: ([0-9.]+)", out)
            self.assertTrue(launches)

    def test_two_ops_at_one_place_are_measured_together(self):
        model = MODELS[0]
        out = self.audit(model, rows_of(model[1]))[1]
        for entry in out.split("- fused_op: ")[1:]:
            if entry.startswith("ttnn.linear\n") and entry.count("\n  - ttnn.") == 2:
                for place in entry.split("ttnn_segment")[1:]:
                    if "measured" in place:
                        self.assertIn("of 3.0 us as measured ", place)

    def test_devices_are_averaged_and_const_eval_left_out(self):
        model = MODELS[0]
        rows = rows_of(model[1])
        one = self.audit(model, rows)[1]
        both = self.audit(model, rows + [dict(r, **{"DEVICE ID": 1}) for r in rows] +
                          [dict(r, **{"CONST_EVAL_OP": "true"}) for r in rows])[1]
        self.assertEqual(re.findall(".* as measured ", one), re.findall(".* as measured ", both))

    def test_older_columns(self):
        model = MODELS[0]
        out = self.audit(model, rows_of(model[1]), OLD)[1]
        self.assertIn("of 2.4 us as measured ", out)

    def test_shifted(self):
        for model in MODELS:
            rows = rows_of(model[1])
            shifted = [dict(r, LOC=rows[(i + 1) % len(rows)]["LOC"]) for i, r in enumerate(rows)]
            status, out, err = self.audit(model, shifted)
            self.assertRegex(err, r"^CSV: error: at \d+ of \d+ locations ran another op than stands there: \w+ ran at ")
            self.assertNotIn("measured", out)
            self.assertEqual(status, 1)

    def test_gaps_are_counted(self):
        for model in MODELS:
            rows = rows_of(model[1])
            fewer = [r for i, r in enumerate(rows) if i % 3] + [dict(rows[0], LOC="loc(unknown)"), dict(rows[0], LOC='loc("no.such")')]
            status, out, err = self.audit(model, fewer)
            all_times, times = (o.count(" as measured ") for o in (self.audit(model, rows)[1], out))
            self.assertLess(times, all_times)
            self.assertNotIn("error", err)
            self.assertRegex(err, r"CSV: note: \d+ of %d rows are of no op of the module, and not used" % len(fewer))

    def test_damaged_rows_are_counted(self):
        rows = [dict.fromkeys(NEW, ""), dict(rows_of(MODELS[0][1])[0], LOC='"loc(""'), {"OP CODE": "Matmul", "LOC": ""}]
        status, out, err = self.audit(MODELS[0], rows)
        self.assertEqual(status, 1)
        self.assertIn("CSV: note: 2 of 2 rows are of no op", err)

    def test_a_time_is_a_number(self):
        model = MODELS[0]
        rows = rows_of(model[1])
        for time in "inf", "1e400", "0x7F800000 : f32", "nan", "-":
            wrong = [rows[0], dict(rows[1], **{"DEVICE KERNEL DURATION [ns]": time})] + rows[2:]
            status, out, err = self.audit(model, wrong)
            self.assertEqual((status, out), (3, ""))
            self.assertEqual(err, "CSV:3: error: DEVICE KERNEL DURATION [ns] is '%s', no time\n" % time)
        self.assertEqual(self.audit(model, [dict(r, **{"DEVICE KERNEL DURATION [ns]": "1e3"}) for r in rows]), self.audit(model, rows))

    def test_as_a_spreadsheet_writes_it(self):
        model = MODELS[0]
        self.encoding = "utf-8-sig"
        self.assertIn("measured", self.audit(model, rows_of(model[1]))[1])

    def test_no_profile(self):
        status, out, err = self.audit(MODELS[0], [], ["OP CODE", "DEVICE KERNEL DURATION [ns]"])
        self.assertEqual(status, 3)
        self.assertIn("CSV:1: error: there is no column LOC", err)


unittest.main()
