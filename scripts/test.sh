#!/bin/sh
# Installs what the tests need, builds into build-test/ and runs them; further arguments are for `meson test`.
set -eu
cd "$(dirname "$0")/.."
scripts/install.sh test
[ -d build-test ] || meson setup build-test
meson test -C build-test --print-errorlogs "$@"
