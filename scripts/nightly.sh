#!/bin/sh
# What takes too long for each change, run by hand: faults of files and memory, the figures of MEASURED.md, and what mlir-opt
# and the compiler say. With words as arguments only the lines that have one of them. What is not installed is skipped.
set -u
cd "$(dirname "$0")/.."
corpus=${CORPUS:-../shared/corpus} get=${COMPILER:-../shared/compiler/get.sh}
scripts/install.sh test && { [ -d build ] || meson setup build; } &&
    meson compile -C build fusion-audit agree dump_ir examples fail_allocation measured prices shorthand || exit 1
opt=$([ -x "$get" ] && "$get")/ttmlir-opt
tests=build/tests
passed=0 failed=0 skipped=0
only=$*

run() {
    wanted=${only:+no}
    for word in $only; do case "$*" in *"$word"*) wanted= ;; esac; done
    [ -z "$wanted" ] || return 0
    echo "== $*"
    "$@"
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) && echo "== FAILED: $*" ;;
    esac
}
with_compiler() { if [ -x "$opt" ]; then run "$@"; else skipped=$((skipped + 1)); fi; }

program=build/fusion-audit
run tests/recall.py $program "$corpus"
run tests/validated.py $program "$corpus" --most=5
run tests/library_rows.py $program patterns measured/patterns.md
for seed in 5 11; do run $program patterns test --quiet --seed=$seed; done # verdicts hang on no number met by chance
run $tests/measured devices tests/measured.tsv measured/prices.md
run tests/prices_test.py $program $tests/prices $tests/examples patterns devices
run tests/faults_files.py $program
run tests/faults_memory.py $program $tests/libfail_allocation.so
run tests/reader_vs_mlir_opt.py $tests/dump_ir "$corpus"
run tests/examples_vs_mlir_opt.py $tests/examples patterns
[ -z "${TT_MLIR:-}" ] || run tests/dates.py $program "$TT_MLIR"
run tests/real_dumps.py $program "$corpus/real"
if [ -d build-clang ] && command -v clang-tidy >/dev/null; then # of .ci/run; with the analyser of paths, whose states are bounded
    find src -name '*.c' >build-clang/sources
    run xargs -a build-clang/sources -n 8 -P "$(nproc)" clang-tidy --quiet -p build-clang \
        --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=50000
fi
with_compiler tests/legal_test.py $program "$get"
with_compiler tests/applied.py $program "$corpus" "$(dirname "$opt")"
with_compiler tests/applied.py $program "$corpus" "$(dirname "$opt")" --again
with_compiler tests/applied.py $program "$corpus" "$(dirname "$opt")" --repro
with_compiler tests/compiled.py $program "$get" "$corpus"/models/*.ttir.mlir
with_compiler tests/fuzz_compiler_test.py $program $tests "$corpus" .
TTMLIR_OPT=$opt with_compiler scripts/fuzz-compiler.sh --seed=1 --count=1000
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
