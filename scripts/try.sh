#!/bin/sh
# From a checkout to a first report: installs what is missing, builds into build/, audits a DiT block, shows the report.
set -eu
cd "$(dirname "$0")/.."
scripts/install.sh
[ -d build ] || meson setup build
meson compile -C build fusion-audit
status=0
build/fusion-audit -o fusion_todo.yml fixtures/dit.ttir.mlir fixtures/dit.ttnn.mlir || status=$?
[ "$status" = 1 ] || exit "$status" # 1: missed fusions were found, as they should be
head -n 24 fusion_todo.yml
echo '... the whole report is in fusion_todo.yml'
