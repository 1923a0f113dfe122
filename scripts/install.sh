#!/bin/sh
# Installs what building needs, on Debian and its kin; with "test" also what the tests need.
set -eu
sudo=$([ "$(id -u)" = 0 ] || echo sudo)
build="build-essential meson ninja-build pkg-config libyaml-dev libpcre2-dev libarchive-dev zlib1g-dev uthash-dev"
test="libcriterion-dev libjson-c-dev locales mandoc python3 python3-cffi python3-jsonschema python3-yaml strace"
[ "${1-}" = test ] || test=
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # lists of words
if ! dpkg -s $build $test >/dev/null 2>&1; then
    $sudo apt-get update
    $sudo apt-get install -y $build $test
fi
