#!/bin/sh
# Fuzzes one target for some time with AFL++, from the seeds and dictionary that libFuzzer starts with.
#
# usage: fuzz/afl.sh TARGET SECONDS [OPTION OF AFL-FUZZ...]
#
# Builds build-afl/ when it is not there: the targets are the same, with AFL++'s driver in libFuzzer's place.
set -eu
cd "$(dirname "$0")/.."
target=$1 seconds=$2
shift 2
build=${BUILD:-build-afl}
export AFL_USE_ASAN=1 AFL_USE_UBSAN=1 AFL_QUIET=1
[ -d "$build" ] || CC=afl-clang-fast meson setup "$build" -Dfuzz=true -Db_lundef=false
meson compile -C "$build" "fuzz_$target"
mkdir -p "$build/seeds" "$build/out"
[ -d "$build/seeds/$target" ] || fuzz/seeds.py "$target" "$build/seeds/$target" 8192
fuzz/dictionary.sh "$target" | sed 's/\\x0d/\\x0D/' >"$build/seeds/$target.dict"
export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1
exec nice -n 19 afl-fuzz -i "$build/seeds/$target" -o "$build/out/$target" -x "$build/seeds/$target.dict" \
    -V "$seconds" -t 2000 "$@" -- "$build/fuzz/fuzz_$target"
