"""Finds op fusions that a Tenstorrent compile missed: fusion_audit.h for Python.

Each call takes its files, each a path, or a name and what is in it ("m.mlir", text or bytes), and as keywords the
members of its struct of options in fusion_audit.h, also those of its inputs and patterns (where both have `files`,
further pattern files are `patterns`):

    for finding in fusion_audit.audit(["model.ttir.mlir", "model.ttnn.mlir"], only="ttnn.*").findings:
        print(finding.fused_op, finding.saved_us)
"""
from __future__ import annotations

import enum
import json
import os
import re
from dataclasses import dataclass, fields
from typing import Any, Iterable, Union

import cffi

__all__ = ["Application", "Audit", "Check", "Diagnostic", "Error", "File", "Finding", "Levels", "Library", "NearMiss",
           "Note", "Status", "Verification", "apply", "audit", "explain", "find_pairs", "inspect", "verify", "version"]

Path = Union[str, "os.PathLike[str]"]
File = Union[Path, "tuple[Path, str | bytes]"]

_here = os.path.dirname(os.path.abspath(__file__))
_ffi: Any = cffi.FFI()
with open(os.path.join(_here, "fusion_audit.h"), encoding="utf-8") as _header:
    _ffi.cdef(re.sub(r"^#ifdef __cplusplus.*?^#endif$|^#.*?$", "", _header.read(), flags=re.M | re.S))
_beside = os.path.join(_here, "libfusion_audit.so")
_lib: Any = _ffi.dlopen(os.path.realpath(_beside) if os.path.exists(_beside) else "libfusion_audit.so.0")


class Status(enum.IntEnum):
    """The exit status of the program."""
    CLEAN = _lib.FA_CLEAN
    MISSED = _lib.FA_MISSED
    USAGE = _lib.FA_USAGE
    INPUT = _lib.FA_INPUT


class Levels(enum.IntEnum):
    """Which levels are taken, as `levels=`."""
    BOTH = _lib.FA_BOTH_LEVELS
    TTIR = _lib.FA_TTIR_ONLY
    TTNN = _lib.FA_TTNN_ONLY
    ANY = _lib.FA_ANY_LEVEL


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong with input, options or pattern files."""
    severity: str
    file: str
    line: int
    column: int
    message: str
    hint: str

    def __str__(self) -> str:
        place = ":".join([self.file or "fusion-audit", *(str(n) for n in (self.line, self.column) if n)])
        return f"{place}: {self.severity}: {self.message}" + (f" ({self.hint})" if self.hint else "")


@dataclass(frozen=True)
class Finding:
    """A place where a fusion is missed: struct fa_finding."""
    entry: int
    fused_op: str
    source: str
    lacks: str
    component_ops: str
    dialect_level: str
    pass_status: str
    pass_: str
    existing_pattern: str
    source_file: str
    action: str
    pattern: str
    location: str
    place: str
    layer: str
    names: str
    torch: str
    ttir: str
    ttnn: str
    ttir_lines: str
    ttnn_lines: str
    ttir_module: str
    ttnn_module: str
    kind: str
    verdict: str
    todo: str
    action_kind: str
    notes: str
    us: float
    saved_us: float
    launches: int
    dram_bytes: int
    l1_bytes: int
    known: bool
    repeated: bool


@dataclass(frozen=True)
class Note:
    """One of the notes of a finding: struct fa_note."""
    key: str
    text: str


@dataclass(frozen=True)
class Check:
    """What `verify` found of some ops: struct fa_check."""
    kind: str
    fused_op: str
    pass_: str
    location: str
    unchecked: str
    matters_for: str
    on_device: str
    counterexample: str
    reason: str
    needs: str
    before: str
    after: str
    before_module: str
    after_module: str


@dataclass(frozen=True)
class NearMiss:
    """A place where a pattern matches, or nearly: struct fa_near_miss."""
    outcome: str
    file: str
    op: str
    result: str
    line: int
    pattern: str
    fused_op: str
    matched: int
    total: int
    kind: str
    part: str
    reason: str
    hint: str
    proof: str
    gives_way_to: str
    same: int


class Error(Exception):
    """What was asked is wrong, or the input could not be read as a whole."""

    def __init__(self, status: Status, diagnostics: list[Diagnostic]):
        super().__init__("\n".join(map(str, diagnostics)) or status.name)
        self.status, self.diagnostics = status, diagnostics


# ---- values ----

def _text(p: Any) -> str:
    return _ffi.string(p).decode("utf-8", "replace") if p else ""


def _value(x: Any) -> Any:
    return _text(x) if isinstance(x, _ffi.CData) else x


def _as(kind: Any, struct: Any) -> Any:
    return kind(**{f.name: _value(getattr(struct, f.name.rstrip("_"))) for f in fields(kind)})


def _all(kind: Any, get: Any, *of: Any) -> list[Any]:
    found: list[Any] = []
    struct = _ffi.new(_ffi.typeof(get).args[-1])
    while get(*of, len(found), struct):
        found.append(_as(kind, struct))
    return found


def _diagnostics(d: Any) -> list[Diagnostic]:
    return [_as(Diagnostic, _lib.fa_get_diagnostic(d, i)) for i in range(_lib.fa_count(d))]


def _done(options: _Options, status: int, diagnostics: Any) -> tuple[Status, list[Diagnostic]]:
    said = _diagnostics(diagnostics)
    if status in (Status.USAGE, Status.INPUT):
        raise Error(Status(status), said)
    return Status(status), said


def _printed(function: Any, *arguments: Any) -> str:
    pieces: list[bytes] = []

    @_ffi.callback("bool(void *, const char *, size_t)")
    def write(_: Any, piece: Any, n: int) -> bool:
        pieces.append(_ffi.buffer(piece, n)[:])
        return True

    out = _lib.fa_open_stream(write, _ffi.NULL)
    printed = function(*arguments, out)
    _lib.fa_close_stream(out)
    if printed is False:
        raise ValueError("there is no such format")
    return b"".join(pieces).decode("utf-8", "replace")


class _Options:
    """A struct of options, and what it points to."""

    def __init__(self, kind: str, given: dict[str, Any], files: Iterable[File] | None = None):
        self.keep: list[Any] = []
        self.struct = _ffi.new(f"struct {kind} *")
        self.where = [self.struct]
        self.where += [getattr(self.struct, name) for name in ("inputs", "patterns") if hasattr(self.struct, name)]
        if files is not None:
            self.files(files)
        for name, value in given.items():
            self.put(name, value)

    def new(self, kind: str, value: Any) -> Any:
        self.keep.append(_ffi.new(kind, value))
        return self.keep[-1]

    def string(self, value: Path) -> Any:
        return self.new("char[]", os.fsencode(value))

    def array(self, values: Iterable[Path]) -> tuple[Any, int]:
        strings = [self.string(value) for value in values]
        return self.new("const char *[]", strings), len(strings)

    def files(self, files: Iterable[File]) -> None:
        pairs = [file if isinstance(file, tuple) else (file, None) for file in files]
        texts = [text.encode() if isinstance(text, str) else text for _, text in pairs]
        inputs = self.struct.inputs
        inputs.files, inputs.nfiles = self.array(name for name, _ in pairs)
        if any(text is not None for text in texts):
            inputs.contents = self.new("struct fa_bytes[]", [
                {} if text is None else {"data": self.new("char[]", text), "size": len(text)} for text in texts])

    def put(self, name: str, value: Any) -> None:
        if name == "patterns" and hasattr(self.struct, "patterns"):
            self.struct.patterns.files, self.struct.patterns.nfiles = self.array(value)
            return None
        to = next((x for x in self.where if hasattr(x, name)), None)
        if to is None:
            raise TypeError(f"no such option: {name}")
        if isinstance(value, Library):
            self.keep.append(value)
            value = value._of
        elif isinstance(value, (str, os.PathLike)):
            value = self.string(value)
        elif isinstance(value, (list, tuple)):
            value, n = self.array(value)
            setattr(to, "n" + name, n)
        setattr(to, name, value)
        return None


# ---- calls ----

class Library:
    """Patterns that are read once, for calls with `library=`."""

    def __init__(self, files: Iterable[str] = (), **options: Any):
        self._options = _Options("fa_patterns", {"files": list(files), **options})
        self._of = _ffi.gc(_lib.fa_library_read(self._options.struct, 0), _lib.fa_library_free)
        self.status, self.diagnostics = _done(self._options, _lib.fa_library_status(self._of), _lib.fa_library_diagnostics(self._of))


class Audit:
    """A finished audit: `status`, `diagnostics`, `findings` in the order of the report."""

    def __init__(self, options: _Options):
        self._of, self._options = _ffi.gc(_lib.fa_run_audit(options.struct), _lib.fa_free), options
        self.status, self.diagnostics = _done(options, _lib.fa_get_status(self._of), _lib.fa_diagnostics(self._of))
        self.findings: list[Finding] = _all(Finding, _lib.fa_get_finding, self._of)

    @property
    def time_us(self) -> float:
        """The estimated time of all ops; known where something was found."""
        return _lib.fa_time(self._of)

    def notes(self, i: int) -> list[Note]:
        """Of finding i, what its text `notes` is made of."""
        return _all(Note, _lib.fa_get_note, self._of, i)

    def report(self, format: str = "yaml") -> str:
        """In a format of --format, or as "baseline" or "expectations"."""
        return _printed(_lib.fa_print_report, self._of, format.encode())

    def summary(self, name: str = "report", width: int = 100) -> str:
        """The table that the program prints on standard error."""
        return _printed(_lib.fa_print_summary, self._of, name.encode(), width)


@dataclass(frozen=True)
class Verification:
    """What two modules of one compile were found to compute."""
    status: Status
    differences: int
    proved: tuple[int, int]  # compute ops of the two modules
    ops: tuple[int, int]
    checks: list[Check]
    report: str  # YAML, as verify writes it; or empty
    text: str  # what `at` asked for
    diagnostics: list[Diagnostic]


@dataclass(frozen=True)
class Application:
    """A TTIR module with fused ops in it: of `found` findings `applied` are in `text`."""
    found: int
    applied: int
    text: str
    diagnostics: list[Diagnostic]


def audit(files: Iterable[File], **options: Any) -> Audit:
    """Audits one compile. Keywords: levels, unpaired, patterns (files), only, skip, sources, include, library, device, perf,
    baseline, strict_baseline, min_saving, fail_on, expect, no_validate, classify, details, inventory, modules, at, jobs,
    max_diagnostics."""
    return Audit(_Options("fa_audit_options", options, files))


def verify(files: Iterable[File], **options: Any) -> Verification:
    """Compares two modules of one compile. Keywords: only, details, seed, modules, strict, at, jobs, min_compared."""
    o = _Options("fa_verify_options", {"min_compared": 0.9, **options}, files)
    v = _ffi.gc(_lib.fa_verify(o.struct), _lib.fa_verification_free)
    status, said = _done(o, _lib.fa_verification_status(v), _lib.fa_verification_diagnostics(v))
    sides = [_lib.fa_verification_compared(v, after) for after in (False, True)]
    return Verification(status, _lib.fa_verification_differences(v), (sides[0].proved, sides[1].proved),
                        (sides[0].ops, sides[1].ops), _all(Check, _lib.fa_get_check, v),
                        _printed(_lib.fa_verification_print, v, b"yaml"),
                        _text(_lib.fa_verification_text(v)), said)


def apply(files: Iterable[File], **options: Any) -> Application:
    """Writes the fused ops into the TTIR module. Keywords: patterns, only, skip, library, graph, assume, values
    (["NAME=NUMBER"]), at, partial."""
    o = _Options("fa_apply_options", options, files)
    a = _ffi.gc(_lib.fa_apply(o.struct), _lib.fa_application_free)
    _, said = _done(o, _lib.fa_application_status(a), _lib.fa_application_diagnostics(a))
    return Application(_lib.fa_application_found(a), _lib.fa_application_applied(a),
                       _printed(_lib.fa_application_print, a), said)


def explain(files: Iterable[File], **options: Any) -> list[NearMiss]:
    """Where patterns nearly match. Keywords: levels, patterns, only, skip, library, at, most."""
    o = _Options("fa_explain_options", options, files)
    e = _ffi.gc(_lib.fa_explain(o.struct), _lib.fa_explanation_free)
    _done(o, _lib.fa_explanation_status(e), _lib.fa_explanation_diagnostics(e))
    return _all(NearMiss, _lib.fa_get_near_miss, e)


def inspect(files: Iterable[File], **options: Any) -> dict[str, Any]:
    """What was understood of the files, as `inspect --json` prints it."""
    o = _Options("fa_inspect_options", {**options, "json": True}, files)
    printed = _printed(_lib.fa_inspect, o.struct)
    if not printed:
        raise Error(Status.INPUT, [])
    return json.loads(printed)


def find_pairs(files: Iterable[File], **options: Any) -> list[list[str]]:
    """The files of each compile among files, directories and archives, each to be audited."""
    o = _Options("fa_pairs_options", options, files)
    p = _ffi.gc(_lib.fa_find_pairs(o.struct), _lib.fa_pairs_free)
    _done(o, Status.INPUT if _lib.fa_pairs_failed(p) else Status.CLEAN, _lib.fa_pairs_diagnostics(p))
    pairs = [_lib.fa_get_pair(p, i) for i in range(_lib.fa_pairs_count(p))]
    return [[_text(path) for path in (pair.ttir, pair.ttnn) if path] for pair in pairs]


def version() -> str:
    """Of the library."""
    return _text(_lib.fa_version())
