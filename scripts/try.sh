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
echo
echo 'The first place of fusion_todo.yml, in words:'
sed -n '/^    notes: |/,/^    - /{/^    notes: |/d;/^    - /q;/^- /q;s/^    //p}' fusion_todo.yml | head -n 12
echo
echo 'Next:'
echo '  build/fusion-audit --format=html:fusion_todo.html fixtures/dit.ttir.mlir fixtures/dit.ttnn.mlir  # as a page'
echo '  build/fusion-audit MODEL.ttir.mlir MODEL.ttnn.mlir                                             # your own model'
