"""One process that audits many files and reads the patterns once (audits.c)."""
import os
import re
import subprocess
import tempfile

from load_yaml import load_yaml


def without_locations(text):
    inner = r"[^()]*"
    for _ in range(6):  # parentheses in parentheses
        inner = rf"(?:[^()]|\({inner}\))*"
    return re.sub(rf" loc\({inner}\)", "", re.sub(r"^#loc.*\n", "", text, flags=re.M))


def proved(entry):
    """Of each place of an entry whether it was validated: the first one speaks for those that say the same."""
    says = [re.search(r"^(not )?validated: ", i["notes"], re.M) for i in entry["instances"]]
    return [bool(s or says[0]) and not (s or says[0]).group(1) for s in says]


class Audits:
    def __init__(self, program, *sources):
        self.directory = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, self.directory.name, *sources], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def audit(self, level, *files):
        """Exit status, diagnostics and what is missed (None: there is no report); `level`: both, ttir or ttnn."""
        self.process.stdin.write("report %s %s\n" % (level, " ".join(files)))
        self.process.stdin.flush()
        status, lines = map(int, self.process.stdout.readline().split())
        said = [self.process.stdout.readline() for _ in range(lines)]
        path = os.path.join(self.directory.name, "report.yml")
        if not os.path.exists(path):
            return status, said, None
        with open(path) as f:
            report = load_yaml(f)["missed_fusions"]
        os.remove(path)
        return status, said, report

    def audit_text(self, level, text):
        path = os.path.join(self.directory.name, "text.mlir")
        with open(path, "w") as f:
            f.write(text)
        return self.audit(level, path)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.directory.cleanup()
