#!/bin/sh
# Fuzzes one target for some time with libFuzzer and the sanitizers.
#
# usage: fuzz/run.sh TARGET SECONDS [OPTION OF LIBFUZZER...]
#
# TARGET is log, mlir, pattern, formula, match or audit. Builds build-fuzz/ when it is not there. The corpus grows in
# build-fuzz/corpus/TARGET and what was found is left in build-fuzz/found/TARGET; what is fixed goes from there, made
# small by -minimize_crash=1, to fuzz/found/TARGET, which the test suite replays. EVERY=N takes every Nth seed.
set -eu
cd "$(dirname "$0")/.."
target=$1 seconds=$2
shift 2
build=${BUILD:-build-fuzz}
case $target in
audit | match) max=32768 ;;
mlir | log) max=32768 ;;
pattern | formula) max=8192 ;;
*) echo "no such target: $target" >&2 && exit 2 ;;
esac
[ -d "$build" ] || CC=clang meson setup "$build" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
meson compile -C "$build" "fuzz_$target"
mkdir -p "$build/corpus/$target" "$build/found/$target" "$build/seeds"
[ -d "$build/seeds/$target" ] || fuzz/seeds.py "$target" "$build/seeds/$target" "$max" "${EVERY:-1}"
fuzz/dictionary.sh "$target" >"$build/seeds/$target.dict"
exec nice -n 19 "$build/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len="$max" -timeout=10 -rss_limit_mb=2048 \
    -dict="$build/seeds/$target.dict" -artifact_prefix="$build/found/$target/" -print_final_stats=1 "$@" \
    "$build/corpus/$target" "$build/seeds/$target" "fuzz/found/$target"
