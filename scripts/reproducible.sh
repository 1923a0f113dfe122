#!/bin/sh
# Builds the last commit in two folders and compares what is installed; needs ten minutes of two cores.
set -eu
export CCACHE_DISABLE=1 # what it keeps has the paths of the folder that it came from
cd "$(dirname "$0")/.."
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
for folder in "$there/one" "$there/deep/er/two"; do
    mkdir -p "$folder"
    git archive HEAD | tar -x -C "$folder"
    (cd "$folder" && meson setup build -Dtests=false >build.log && meson compile -C build >>build.log &&
        DESTDIR="$folder/installed" meson install -C build --no-rebuild --quiet) || { tail "$folder/build.log"; exit 1; }
done
diff -r "$there/one/installed" "$there/deep/er/two/installed" && echo 'the same bytes'
