#!/bin/sh
# Makes an archive one object in an archive, whose hidden symbols nobody else sees: localize.sh ARCHIVE OUTPUT
set -eu
ld -r --whole-archive "$1" -o "$2.o"
objcopy --localize-hidden "$2.o"
rm -f "$2"
ar rcsD "$2" "$2.o"
rm "$2.o"
