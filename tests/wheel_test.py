#!/usr/bin/env python3
"""A wheel, made of the source and installed into a fresh virtual environment, has all that an audit needs.

usage: wheel_test.py SOURCE
What makes it is Debian's: python3-mesonpy, python3-pip and python3-venv, and cffi for the module; 77 where one is not there.
It is built without optimization: scripts/packages.sh tries the one that people get.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
PARTS = ["LICENSE", "devices", "include", "man", "meson.build", "meson_options.txt", "patterns", "pyproject.toml",
         "python", "scripts", "src"]
PAIR = [os.path.join(SOURCE, "fixtures", "dit.%s.mlir" % level) for level in ("ttir", "ttnn")]
AUDIT = """
import sys
import fusion_audit
assert fusion_audit.__file__.startswith(sys.prefix), fusion_audit.__file__
audit = fusion_audit.audit(sys.argv[1:])
print(len(audit.findings), fusion_audit.version())
"""


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != status:
        sys.exit("%s: status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout


def is_complete(python):
    return os.path.exists(python) and subprocess.run([python, "-c", "import cffi, ensurepip, mesonpy, pip"],
                                                     capture_output=True, check=False).returncode == 0


python = next(filter(is_complete, (sys.executable, "/usr/bin/python3")), None)
if not python:
    sys.exit(77)
with tempfile.TemporaryDirectory() as directory:
    source, venv = os.path.join(directory, "source"), os.path.join(directory, "venv")
    os.mkdir(source)
    for name in PARTS:
        whole = os.path.join(SOURCE, name)
        (shutil.copytree if os.path.isdir(whole) else shutil.copy)(whole, os.path.join(source, name))
    env = {**os.environ, "PATH": "/usr/bin:" + os.environ["PATH"]}
    run(python, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", directory,
        "--config-settings=setup-args=-Doptimization=0", ".", cwd=source, env=env)
    wheel = next(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(".whl"))
    run(python, "-m", "venv", "--system-site-packages", venv)
    run(venv + "/bin/pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
    shutil.rmtree(source)
    report = json.loads(run(venv + "/bin/fusion-audit", "-q", "--format=json", "-o", "-", *PAIR, status=1))
    places = sum(len(entry["instances"]) for entry in report["missed_fusions"])
    version = run(venv + "/bin/fusion-audit", "--version").split()[-1]
    said = run(venv + "/bin/python", "-c", AUDIT, *PAIR).split()
    assert said == [str(places), version] and places, (said, places, version)
    pages = {name for _, _, names in os.walk(venv + "/share/man") for name in names}
    assert pages == set(os.listdir(os.path.join(SOURCE, "man"))), pages
    run(venv + "/bin/pip", "uninstall", "--quiet", "--yes", "fusion-audit")
    left = [os.path.join(at, name) for at, _, names in os.walk(venv) for name in names if "fusion" in os.path.join(at, name)]
    assert not left, left
