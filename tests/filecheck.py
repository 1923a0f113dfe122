"""FileCheck of LLVM, where one is installed."""
import glob
import os
import re
import subprocess


def version(tool):
    r = subprocess.run([tool, "--version"], capture_output=True, text=True)
    return [int(n) for m in re.findall(r"LLVM version ([\d.]+)", r.stdout) for n in m.split(".") if n]


def newest():
    """The one of the highest version, on PATH or in a folder of LLVM; None: there is none."""
    folders = os.get_exec_path() + glob.glob("/usr/lib/llvm*/bin")
    tools = {os.path.realpath(t) for f in folders for t in glob.glob(os.path.join(f, "FileCheck*")) if os.access(t, os.X_OK)}
    return max(sorted(tools), key=version, default=None)
