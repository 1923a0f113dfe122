#!/usr/bin/env python3
"""Installs the build, moves the tree, and uses it: the program, clients of the shared and of the static library.

usage: installed_test.py BUILD SOURCE MESON
What the library exports is what its header declares; the static one has no other global symbol.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

build, source, meson = sys.argv[1:]
fixtures = [os.path.join(source, "fixtures", name) for name in ("dit.ttir.mlir", "dit.ttnn.mlir")]

# Of the static library, with a name of its own that the library has, too.
CLIENT = r"""
#include <fusion_audit.h>
extern "C" void buf_add() {}
int main(int, char **argv) {
    struct fa_options options = fa_options();
    options.default_patterns = argv[1];
    options.default_devices = argv[2];
    options.files = argv + 3;
    options.nfiles = 2;
    options.only = "ttnn.*";
    struct fa_audit *audit = fa_audit(&options);
    bool good = fa_print_report(audit, "json", stdout) && !fa_print_report(audit, "pdf", stdout);
    fa_status status = fa_get_status(audit);
    fa_free(audit);
    return good ? status : 9;
}
"""


def run(*command, env=None, status=0):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode != status:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def find(directory, name):
    return next(os.path.join(root, name) for root, _, names in os.walk(directory) if name in names)


def symbols(*command):
    return {line.split()[2] for line in run(*command).splitlines() if len(line.split()) == 3 and line.split()[1] in "TDBRVW"}


if not all(shutil.which(tool) for tool in ("nm", "pkg-config", "cc", "c++")):
    sys.exit(77)
with tempfile.TemporaryDirectory() as directory:
    run(meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", directory + "/first")
    prefix = directory + "/moved"
    os.rename(os.path.dirname(os.path.dirname(find(directory + "/first", "fusion-audit"))), prefix)

    declared = set(re.findall(r"^[a-z][\w ]*[ *](fa_\w+)\(", open(source + "/include/fusion_audit.h").read(), re.M))
    library = find(prefix, "libfusion_audit.so")
    exported = symbols("nm", "-D", "--defined-only", library)
    if exported != declared:
        sys.exit(f"exported and not declared, or declared and not exported: {exported ^ declared}")
    if "libfusion_audit.so.0" not in run("readelf", "-d", library):
        sys.exit("the shared library has no SONAME")
    static = find(prefix, "libfusion_audit.a")
    if symbols("nm", "-g", "--defined-only", static) != declared:
        sys.exit(f"global in {static}: {symbols('nm', '-g', '--defined-only', static) ^ declared}")

    env = {"PKG_CONFIG_PATH": os.path.dirname(find(prefix, "fusion-audit.pc"))}
    flags = run("pkg-config", "--define-variable=prefix=" + prefix, "--cflags", "--libs", "fusion-audit", env=env).split()
    needs = run("pkg-config", "--define-variable=prefix=" + prefix, "--cflags", "--libs", "--static", "fusion-audit", env=env).split()
    needs = [static if flag == "-lfusion_audit" else flag for flag in needs]
    program, data, client = prefix + "/bin/fusion-audit", prefix + "/share/fusion-audit/", directory + "/client"
    run("cc", "-Wall", "-Wextra", "-Werror", source + "/examples/missed.c", *flags, "-o", client)
    listed = run(client, *fixtures, env={"LD_LIBRARY_PATH": os.path.dirname(library)}, status=1)
    report = run(program, "--only=ttnn.*", "--format=json", "-o", "-", *fixtures, status=1)
    places = [place for entry in json.loads(report)["missed_fusions"] for place in entry["instances"]]
    if [line.split("lines ")[1].split(": ")[0] for line in listed.splitlines()] != [p["ttnn_lines"] for p in places]:
        sys.exit(f"the client lists other places than the report:\n{listed}")
    with open(client + ".cc", "w") as file:
        file.write(CLIENT)
    run("c++", "-Wall", "-Wextra", "-Werror", client + ".cc", *needs, "-o", client)
    if run(client, data + "patterns", data + "devices", *fixtures, status=1) != report:
        sys.exit("the report of the static library is another one")
