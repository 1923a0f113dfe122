#!/bin/sh
# Prints the dictionary of a fuzz target: its own words, and the names of the operator table.
# usage: fuzz/dictionary.sh TARGET
set -eu
cd "$(dirname "$0")"
spellings() { grep -oE '\b(ttir|ttnn|stablehlo)\.\w+' ../src/ir/ops/ops.def | sort -u | sed 's/.*/"\\"&\\"("/'; }
names() { sed -n 's/^OP([A-Z0-9_]*, "\([^"]*\)".*/"\1("/p' ../src/ir/ops/ops.def; }
case $1 in
log) cat log.dict ;;
mlir) cat mlir.dict && spellings ;;
audit | match) cat mlir.dict log.dict && spellings ;;
formula) cat formula.dict && names ;;
pattern) cat pattern.dict formula.dict && names ;;
esac
