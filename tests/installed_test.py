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

# Of the static library, with a name of its own that the library has, too. In the locale of its environment it calls
# whatever reads or writes numbers: all of standard output is of the library.
CLIENT = r"""
#include <clocale>
#include <cstring>
#include <fusion_audit.h>
extern "C" void buf_add() {}
static bool put(void *, const char *bytes, size_t n) { return fwrite(bytes, 1, n, stdout) == n; }
static bool refuse(void *, const char *, size_t) { return false; }
int main(int, char **argv) {
    char error[256], number[16];
    if (!setlocale(LC_ALL, "") || (snprintf(number, sizeof number, "%.1f", 0.5), strcmp(number, argv[2])))
        return 8;
    fa_audit_options options = fa_audit_options();
    options.patterns.data = argv[1];
    options.patterns.only = "ttnn.*";
    options.times = true;
    options.inputs.files = argv + 3;
    options.inputs.nfiles = 2;
    fa_audit *audit = fa_run_audit(&options);
    fa_status status = fa_get_status(audit);
    FILE *out = fa_open_stream(put, NULL), *none = fa_open_stream(refuse, NULL);
    bool good = fa_print_report(audit, "json", out) && !fa_print_report(audit, "pdf", out);
    good = good && fa_write_report(audit, "yaml", argv[5], error, sizeof error);
    fa_print_report(audit, "yaml", none);
    good = fa_close_stream(out) && !fa_close_stream(none) && good;
    fflush(stdout);
    fa_print_summary(audit, "summary", 80, stdout);
    fa_free(audit);
    audit = fa_read_report(argv[5]);
    fa_table_row row = {audit, argv[5], NULL, NULL, NULL};
    good = fa_print_table(&row, 1, "text", stdout) && good;
    fa_diff_options xml = fa_diff_options();
    xml.format = "xml";
    good = !fa_print_table(&row, 1, "xml", stdout) && fa_diff(audit, audit, &xml, stdout) == FA_USAGE && good;
    fa_free(audit);
    fa_verify_options pair = fa_verify_options();
    pair.inputs = options.inputs;
    pair.data = argv[1];
    fa_verification *v = fa_verify(&pair);
    good = fa_verification_print(v, "yaml", stdout) && !fa_verification_print(v, "xml", stdout) && good;
    fputs(fa_verification_text(v), stdout);
    fa_verification_free(v);
    fa_explain_options near = fa_explain_options();
    near.inputs = options.inputs;
    near.patterns = options.patterns;
    fa_explanation *e = fa_explain(&near);
    fa_explanation_print(e, true, stdout);
    fa_explanation_free(e);
    fa_apply_options change = fa_apply_options();
    change.inputs = options.inputs;
    change.inputs.nfiles = 1;
    change.patterns = options.patterns;
    change.assume = "all";
    fa_application *a = fa_apply(&change);
    good = fa_application_print(a, stdout) && fa_application_found(a) && good;
    fa_application_free(a);
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


def comma_locale(directory):
    """The environment of a locale with a comma in numbers, where one can be made."""
    if subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", directory + "/de_DE.UTF-8"], capture_output=True).returncode:
        return None
    return {"LOCPATH": directory, "LC_ALL": "de_DE.UTF-8"}


def symbols(*command):
    return {line.split()[2] for line in run(*command).splitlines() if len(line.split()) == 3 and line.split()[1] in "TDBRVW"}


if not all(shutil.which(tool) for tool in ("nm", "pkg-config", "cc", "c++")):
    sys.exit(77)
with tempfile.TemporaryDirectory() as directory:
    run(meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", directory + "/first")
    prefix = directory + "/moved"
    os.rename(os.path.dirname(os.path.dirname(find(directory + "/first", "fusion-audit"))), prefix)

    declared = set(re.findall(r"^(?!typedef)\w[\w ]*[ *](fa_\w+)\(", open(source + "/include/fusion_audit.h").read(), re.M))
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
    said = {}
    for number, locale in (("0.5", {"LC_ALL": "C"}), ("0,5", comma_locale(directory))):
        if locale:
            said[number] = run(client, data, number, *fixtures, directory + "/report.yml", env=locale, status=1)
    if not said["0.5"].startswith(report):
        sys.exit("the report of the static library is another one")
    if said.get("0,5", said["0.5"]) != said["0.5"]:
        sys.exit("numbers depend on the locale")
    for path in (program, library, static):
        with open(path, "rb") as file:
            if source.encode() in file.read():
                sys.exit(f"{source} is in {path}: built in another folder, it has other bytes")
