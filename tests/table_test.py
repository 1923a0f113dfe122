#!/usr/bin/env python3
"""What a program prints is what a file beside this one has.

usage: table_test.py FILE [--write] PROGRAM ARGUMENTS
--write writes the file anew: see what `git diff` says of it.
"""
import difflib
import os
import subprocess
import sys


def main():
    write = '--write' in sys.argv
    name, *command = [a for a in sys.argv[1:] if a != '--write']
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    got = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    if write:
        with open(path, 'w') as f:
            f.write(got)
    with open(path) as f:
        want = f.read()
    differences = list(difflib.unified_diff(want.splitlines(), got.splitlines(), 'expected', 'got', lineterm=''))
    print('\n'.join(differences))
    return want != got


sys.exit(main())
