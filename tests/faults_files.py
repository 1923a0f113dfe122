#!/usr/bin/env python3
"""Faults of files, limits and signals. The program ends as without them, or with exit status 3 (2 while it reads patterns),
a message that names the reason, and the old report as it was; nothing is left beside it.

usage: faults_files.py PROGRAM [--full]
--full: every system call behind the begin of main fails once with each error, every size of a file system and of a file,
each signal at 100 moments of each scenario; without it a few of each. System calls fail, and signals arrive, by strace(1);
without it all is skipped. File systems are mounted where unshare(1) lets this be done, else left out.
"""
import collections
import concurrent.futures
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

FULL = "--full" in sys.argv
PROGRAM = os.path.abspath(sys.argv[1])
PAGE = 4096
SIGNALS = ("TERM", "INT", "HUP", "PIPE", "XFSZ")

# What a call can fail with. Of brk, strace cannot say
# that it failed in the way that libc understands.
ERRORS = {
    "openat": ("EACCES", "EMFILE"), "newfstatat": ("EIO",), "readlink": ("EIO",), "read": ("EIO",),
    "pread64": ("EIO",), "write": ("ENOSPC", "EIO"), "lseek": ("EIO",), "mmap": ("ENOMEM",), "mremap": ("ENOMEM",),
    "madvise": ("EINVAL",), "getdents64": ("EIO",), "fchmod": ("EPERM",), "fsync": ("EIO",), "rename": ("EIO", "EBUSY"), "close": ("EIO",),
}
OWN = """\
name: linear
summary: matmul followed by a bias
fused_op: ttnn.linear
source: ttnn
match: out = add(matmul(a, b), bias)
"""
OLD = b"old report\n" * 1000


def module(op, places, text=""):
    t = "tensor<32x32xbf16>"
    lines, last = ["module {", "  func.func @f(%%a: %s, %%w: %s) -> %s {" % (t, t, t)], "%a"
    for i in range(places):
        if op == "linear":
            lines.append('%%s%d = "ttnn.linear"(%s, %%w, %%w) : (%s, %s, %s) -> %s loc("l%d")' % (i, last, t, t, t, t, i))
        else:
            lines.append('%%p%d = "ttnn.matmul"(%s, %%w) {note = "%s"} : (%s, %s) -> %s loc("m%d")' % (i, last, text, t, t, t, i))
            lines.append('%%s%d = "ttnn.add"(%%p%d, %%w) : (%s, %s) -> %s loc("a%d")' % (i, i, t, t, t, i))
        last = "%%s%d" % i
    return "\n".join(lines + ["    return %s : %s" % (last, t), "  }", "}", ""])


FEW = ["-j1", "--ttnn-only", "--no-default-patterns", "-P", "../own.yml"]
LONG = [*FEW, "--no-validate", "-o", "out/r.yml", "../long.mlir"]  # written in many steps
Scenario = collections.namedtuple("Scenario", "name args names", defaults=(1,))
SCENARIOS = [
    Scenario("report", [*FEW, "-o", "out/r.yml", "../missed.mlir"]),
    Scenario("long", LONG),
    Scenario("no old report", [*FEW, "-o", "out/r.yml", "../missed.mlir"], 0),
    Scenario("packed", [*FEW, "-o", "out/r.yml", "../missed.mlir.gz"]),
    Scenario("standard input", [*FEW, "-o", "out/r.yml", "-"]),
    Scenario("nothing missed", ["-j1", "--ttnn-only", "-o", "out/r.yml", "../fused.mlir"]),
    Scenario("all patterns", ["-j1", "--ttnn-only", "-o", "out/r.yml", "../missed.mlir"]),
    Scenario("inspect", ["inspect", "--json", "../missed.mlir"]),
    Scenario("explain", ["explain", "--json", "--ttnn-only", "--no-default-patterns", "-P", "../own.yml", "../missed.mlir"]),
    Scenario("new pattern", ["patterns", "new", "--from=../missed.mlir", "--ops=%p0,%s0"]),
]
BY_NAME = {s.name: s for s in SCENARIOS}
Outcome = collections.namedtuple("Outcome", "status out err files trace")
Call = collections.namedtuple("Call", "name n line")  # the n-th of this name since the process began


def make_inputs(root):
    own = "input: {ttnn: ../fused.mlir}\nmissed_fusions: []\n"
    for name, text in (("missed.mlir", module("matmul", 2)), ("fused.mlir", module("linear", 2)), ("own.yml", OWN),
                       ("long.mlir", module("matmul", 40, "x" * 40000)), ("own report", own)):
        with open(os.path.join(root, name), "w") as f:
            f.write(text)
    subprocess.run(["gzip", "-k", "missed.mlir"], cwd=root, check=True)


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def contents(root):
    return {"out/" + name: read(root, "out", name) for name in os.listdir(os.path.join(root, "out"))}


def nothing(root):
    pass


class Bench:
    """Runs the program in a directory of its own each time, beside the inputs, and counts what was survived."""

    def __init__(self, root):
        self.root, self.counts, self.whole, self.traces = root, {}, {}, {}
        make_inputs(root)
        for s in SCENARIOS:
            self.whole[s.name] = self.run(s)
            self.traces[s.name] = self.trace(s)

    def untouched(self, scenario):
        text = read(self.root, "own report") if scenario.name == "nothing missed" else OLD
        return {"out/r.yml": text} if scenario.names else {}

    def run(self, scenario, command=(), before=nothing, behind=nothing, preexec_fn=None):
        """`before` the old report is there, and `behind` it: functions that mount file systems."""
        root = tempfile.mkdtemp(dir=self.root)
        try:
            os.mkdir(root + "/out")
            before(root)
            for name, text in self.untouched(scenario).items():
                with open(os.path.join(root, name), "wb") as f:
                    f.write(text)
            behind(root)
            done = subprocess.run([*command, PROGRAM, *scenario.args], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  input=read(self.root, "missed.mlir"), timeout=100, preexec_fn=preexec_fn)
            trace = read(root, "trace").decode(errors="replace") if command else ""
            return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"), contents(root), trace)
        finally:
            for line in open("/proc/self/mounts").read().splitlines()[::-1]:
                if line.split()[1].startswith(root):
                    subprocess.run(["umount", line.split()[1]], check=True)
            shutil.rmtree(root)

    def strace(self, scenario, injections=()):
        """The command that a run is traced by, into the file `trace` of its directory."""
        options = [x for call, what in injections for x in ("-e", "inject=%s:%s" % (call, what))]
        return ["strace", "-f", "-o", "trace", *options]

    def trace(self, scenario):
        """The system calls of main."""
        calls, seen, begun = [], collections.Counter(), False
        for line in self.run(scenario, self.strace(scenario)).trace.splitlines():
            name = re.match(r"\d+ +(\w+)\(", line)
            begun |= "F_GETFD" in line
            if name:
                seen[name[1]] += 1
            if name and begun:
                calls.append(Call(name[1], seen[name[1]], line))
        return calls

    def wrong(self, scenario, got, killed, reason):
        """What is wrong with an outcome, or None."""
        whole, old = self.whole[scenario.name], self.untouched(scenario)
        if (got.status, got.out, got.files) == (whole.status, whole.out, whole.files):
            return None
        left = {name: text for name, text in got.files.items() if not name.endswith(".tmp")}
        if killed and got.status == -getattr(signal, "SIG" + killed) and left in (old, whole.files):
            return None  # what was being written may be left beside it
        if scenario.name == "nothing missed" and got.status == 0 and got.files == old:
            return None  # an old report that cannot be read or removed stays
        said = re.search('(?m)^fusion-audit: |: error: |"error"', got.err + got.out.decode()) and reason in got.err
        if got.status in (2, 3) and got.files == old and said:
            return None
        return "exit status %d, %s, %r" % (got.status, {k: len(b) for k, b in got.files.items()}, got.err[:300])

    def check(self, kind, case, scenario, killed=None, reason="", **how):
        got = self.run(scenario, **how)
        if got.status == 127:
            return  # of the loader, before main
        reached = not got.trace or (("--- SIG" + killed if killed else "(INJECTED)") in got.trace)
        wrong = self.wrong(scenario, got, killed, reason) if reached else "was not reached"
        n = self.counts.setdefault(kind, [0, 0])
        n[0] += 1
        n[1] += not wrong
        if wrong:
            print("%s: %s: %s: %s" % (kind, scenario.name, case, wrong))


def spread(items, most):
    """All, or at most so many of them, the first and the last too."""
    n = len(items)
    return list(items) if n <= most else [items[i * (n - 1) // (most - 1)] for i in range(most)]


def system_calls(bench):
    for s in SCENARIOS:
        for name, errors in ERRORS.items():
            faults = [(c.n, error) for c in bench.traces[s.name] for error in errors if c.name == name]
            for n, error in faults if FULL else spread(faults, 2) if s in SCENARIOS[:2] else faults[-1:]:
                case = [(name, "error=%s:when=%d" % (error, n))]
                yield "system call", case, s, {"command": bench.strace(s, case)}


def signals(bench):
    """From when those are ignored of which a failed write says more."""
    for s in SCENARIOS[:5]:
        calls = bench.traces[s.name]
        ready = max(i for i, c in enumerate(calls) if c.name == "rt_sigaction") + 1
        moments = [c for c in calls[ready:] if c.name != "exit_group"]
        if not FULL:  # those that matter most
            moments = [c for c in moments if c.name in ("write", "fsync", "rename")]
        for name in SIGNALS if FULL or s == SCENARIOS[0] else SIGNALS[:1]:
            for c in spread(moments, 100 if FULL else 4):
                case = [(c.name, "signal=%s:when=%d" % (name, c.n))]
                yield "signal", case, s, {"command": bench.strace(s, case), "killed": name}


def limits(bench):
    size = len(bench.whole["long"].files["out/r.yml"])

    def limited(what, value):
        return {"preexec_fn": lambda: resource.setrlimit(what, (value, value))}
    for s in [BY_NAME[name] for name in ("report", "long")]:
        for n in spread(range(0, size + PAGE, PAGE), 10000 if FULL else 5):
            yield "ulimit -f", n, s, dict(limited(resource.RLIMIT_FSIZE, n), reason="File too large")
    for s in SCENARIOS:
        for n in spread(range(3, 12), 100 if FULL else 2):
            yield "ulimit -n", n, s, limited(resource.RLIMIT_NOFILE, n)
        for n in spread(range(40 << 20, 72 << 20, 1 << 18), 1000 if FULL else 2):
            yield "ulimit -v", n, s, limited(resource.RLIMIT_AS, n)


def mount(*args):
    subprocess.run(["mount", *args], check=True)


def small(place, size):
    return lambda root: mount("-t", "tmpfs", "-o", "size=%d" % size, "tmpfs", "%s/%s" % (root, place))


def read_only(*places):
    def bind(root):
        for place in places:
            mount("--bind", "%s/%s" % (root, place), "%s/%s" % (root, place))
        mount("-o", "remount,bind,ro", "%s/%s" % (root, places[0]))
    return bind


def file_systems(bench):
    size = len(bench.whole["long"].files["out/r.yml"])
    full, fixed = "No space left on device", "Read-only file system"
    for n in spread(range(3 * PAGE, size + 4 * PAGE, PAGE), 10000 if FULL else 4):
        yield "full disk", "out %d" % n, BY_NAME["long"], {"before": small("out", n), "reason": full}
    for s in SCENARIOS[:4]:
        yield "read-only disk", "out", s, {"behind": read_only("out"), "reason": fixed}


def main():
    if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode:
        print("no strace")
        return 77
    namespace = [args for args in (["unshare", "-m"], ["unshare", "-rm"])
                 if "--mounted" not in sys.argv and shutil.which("unshare") and
                 subprocess.run([*args, "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL).returncode == 0]
    if namespace:
        os.execvp("unshare", [*namespace[0], sys.executable, *sys.argv, "--mounted"])
    kinds = [system_calls, signals, limits] + [file_systems] * ("--mounted" in sys.argv)
    with tempfile.TemporaryDirectory() as root, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bench = Bench(root)
        for s in SCENARIOS[:5]:
            names = [c.name for c in bench.traces[s.name]]
            if "rename" in names and "fsync" not in names[:names.index("rename")]:
                sys.exit("%s: renamed before it was on disk" % s.name)
        cases = [case for kind in kinds for case in kind(bench)]
        for done in [pool.submit(bench.check, *case, **how) for *case, how in cases]:
            done.result()
    for kind, (n, survived) in bench.counts.items():
        print("%-15s %5d faults, %5d survived" % (kind, n, survived))
    return any(n != survived for n, survived in bench.counts.values())


if __name__ == "__main__":
    sys.exit(main())
