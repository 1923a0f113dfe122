#!/bin/sh
# Random TTIR functions through the compiler TTMLIR_OPT names, judged by `fusion-audit verify`: see fuzz/compiler.py for the
# options (--count=N, --seed=S, --time=SECONDS, --corpus=DIR). Exit status 1: it found what fixtures/compiler-defects does
# not have.
set -eu
cd "$(dirname "$0")/.."
: "${TTMLIR_OPT:?names the compiler, ttmlir-opt}"
BUILD=${BUILD:-build}
[ -d "$BUILD" ] || meson setup "$BUILD" >&2
meson compile -C "$BUILD" fusion-audit examples agree >&2
exec python3 fuzz/compiler.py "$@" "$BUILD/fusion-audit" "$BUILD/tests" "$TTMLIR_OPT"
