#!/bin/sh
# Installs what the tests need, builds into build/ and runs them; further arguments are for `meson test`.
set -eu
cd "$(dirname "$0")/.."
scripts/install.sh test
[ -d build ] || meson setup build
meson test -C build --print-errorlogs "$@"
