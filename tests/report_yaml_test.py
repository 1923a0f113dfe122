#!/usr/bin/env python3
"""What PyYAML reads of a report is what was put into it, byte for byte.

usage: report_yaml_test.py PATH_OF_REPORT_DUMP
"""
import itertools
import random
import subprocess
import sys

try:
    import yaml
except ImportError:
    sys.exit(77)

PARTS = ["", " ", "  ", "\n", "a", "\t", ": ", "#", "- ", "\x85", "\u2028", "\u2029", "\r", "|", '"', "\\", "%", "'",
         "é", "→", "\ufeff", "\U0001f600", "...", "---", "\x00", "\x7f", "\x9b", "\ufffe", "\xa0", "{", "[", "*", "&",
         "?", "!", ",", "@", "`", "true", "~", "1"]


def samples():
    for pair in itertools.product(PARTS, repeat=2):
        yield "".join(pair).encode()
        yield ("".join(pair) + "\n").encode()
    rng = random.Random(1)
    for _ in range(1500):
        yield "".join(rng.choice(PARTS) for _ in range(rng.randrange(3, 12))).encode()
    yield b"x" * 200000 + b" y" * 100000 + b"\n"
    yield b"bad \xff\xfe \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 end \xe2\x82\n"
    yield bytes(range(256))


def repaired(data):
    """Each byte that is not part of valid UTF-8 is U+FFFD."""
    text = data.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text)


def read_back(dump, data, loader):
    """The report that `dump` prints of these samples, as `loader` reads it."""
    texts = b"".join(b"%d\n%s" % (len(sample), sample) for sample in data)
    out = subprocess.run([dump], input=texts, stdout=subprocess.PIPE, check=True).stdout
    return yaml.load(out.decode(), Loader=loader)


def check(dump, data, loader):
    report = read_back(dump, data, loader)
    assert list(report) == ["input", "missed_fusions"], list(report)
    assert report["input"] == {"ttir": "12", "ttnn": "a: #b"}, report["input"]
    (entry,) = report["missed_fusions"]
    assert entry["component_ops"] == ["ttnn.matmul", "null"], entry["component_ops"]
    assert len(entry["instances"]) == len(data)
    for sample, instance in zip(data, entry["instances"]):
        assert instance.get("ir_loc", "") == repaired(sample), (sample, instance["ir_loc"])
        assert instance.get("ttnn_segment", "") == repaired(sample), (sample, instance["ttnn_segment"])


def main():
    data = list(samples())
    if yaml.__with_libyaml__:
        check(sys.argv[1], data, yaml.CSafeLoader)
    check(sys.argv[1], data[::10] + data[-3:], yaml.SafeLoader)  # pure Python: slow, so a part of them


if __name__ == "__main__":
    main()
