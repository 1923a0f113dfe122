#!/bin/sh
# Builds the wheel and the Debian packages of the last commit and tries each as its user would: needs root, and ten
# minutes of two cores. With a directory as argument the packages stay there.
set -eu
cd "$(dirname "$0")/.."
export DEBIAN_FRONTEND=noninteractive PATH="/usr/bin:$PATH"
need="debhelper dh-python lintian python3-cffi python3-mesonpy python3-pip python3-venv pkgconf"
# shellcheck disable=SC2086 # words
dpkg -s $need >/dev/null 2>&1 || { apt-get update && apt-get install -y $need; }
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
mkdir "$there/source"
git archive HEAD | tar -x -C "$there/source"
cd "$there/source"

echo '== wheel'
pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$there" .
python3 -m venv --system-site-packages "$there/venv" # cffi is Debian's
"$there/venv/bin/pip" install --quiet --no-index --no-deps "$there"/*.whl
(
    cd "$there/source/fixtures"
    PATH="$there/venv/bin:$PATH"
    status=0
    fusion-audit -q -o "$there/report.yml" dit.ttir.mlir dit.ttnn.mlir || status=$?
    [ "$status" = 1 ]
    python3 -c 'import fusion_audit; assert fusion_audit.audit(["dit.ttir.mlir", "dit.ttnn.mlir"]).findings'
    [ -e "$there/venv/share/man/man1/fusion-audit.1" ]
)

echo '== Debian packages'
dpkg-buildpackage --no-sign --build=binary >"$there/build.log" 2>&1 || { tail -n 40 "$there/build.log"; exit 1; }
lintian --fail-on error,warning --tag-display-limit 0 "$there"/*.changes
apt-get install -y "$there"/*.deb >/dev/null
man fusion-audit | grep -q '^NAME'
for try in program library module; do
    debian/tests/$try
done
names=$(dpkg-deb -W --showformat '${Package} ' "$there"/*.deb)
# shellcheck disable=SC2086 # words
apt-get purge -y $names >/dev/null
left=$(find /usr \( -name '*fusion-audit*' -o -name '*fusion_audit*' \) -not -path '*/.*' -not -path '/usr/local/*')
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
[ $# = 0 ] || cp "$there"/*.deb "$there"/*.whl "$1"
echo 'all packages: built, tried and removed'
