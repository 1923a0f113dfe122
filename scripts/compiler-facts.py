#!/usr/bin/env python3
"""Prints the dated facts of the compiler, patterns/compiler_facts.yml, from the histories of its checkouts.

usage: compiler-facts.py TT_MLIR TT_XLA [SOURCE] > patterns/compiler_facts.yml

TT_MLIR and TT_XLA are git directories or checkouts of tt-mlir and tt-xla. SOURCE is this source (the folder above), whose
patterns name the passes, patterns and options that are asked for, and whose table of operators the ops. Each fact has the day on which the first parent of
HEAD got it and, where it is gone, the day on which it lost it.
"""
import collections
import os
import re
import subprocess
import sys
import textwrap

OPS = re.compile(r"include/ttmlir/Dialect/(TTIR|TTNN)/IR/\w+\.td$")
PASSES = re.compile(r"include/ttmlir/(Dialect/\w+/Transforms|Conversion)/Passes\.td$")
PIPELINES = re.compile(r"include/ttmlir/Dialect/TTNN/(Pipelines/TTNNPipelines|Utils/\w+)\.h$")
SOURCES = re.compile(r"(lib|include/ttmlir)/(Dialect/(TTIR|TTNN|StableHLO)|Conversion)/.*\.(cpp|h)$")
XLA_OPTIONS = re.compile(r".*compile_options\.(h|cc)$|.*module_builder\.cc$|third_party/CMakeLists\.txt$")
DATED_FROM = "2025-03-01"  # what came or went before dates no compile that anybody asks about
WIDTH = 118


# ---- a history ----

def git(repo, *args):
    return subprocess.run(["git", "-C", repo, *args], check=True, capture_output=True).stdout


class Blobs:
    """Texts of objects of a repository."""

    def __init__(self, repo):
        self.process = subprocess.Popen(["git", "-C", repo, "cat-file", "--batch"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __call__(self, name):
        self.process.stdin.write(name.encode() + b"\n")
        self.process.stdin.flush()
        head = self.process.stdout.readline().split()
        if head[1] == b"missing":
            return ""
        text = self.process.stdout.read(int(head[2]) + 1)
        return text.decode("utf-8", "replace")


def changes(repo, wanted):
    """Of each commit of the first parents, oldest first: its day, and {path: object, or None where it is gone}."""
    log = git(repo, "log", "--first-parent", "--reverse", "-m", "--raw", "--no-renames", "--no-abbrev", "-z",
              "--format=%x01%cs", "HEAD").decode("utf-8", "replace")
    for commit in log.split("\x01")[1:]:
        parts = [p for p in commit.split("\0") if p.strip()]
        day, changed = parts[0].strip(), {}
        for head, path in zip(parts[1::2], parts[2::2]):
            fields = head.strip().split()
            if wanted.match(path):
                changed[path] = None if fields[4] == "D" else fields[3]
        if changed:
            yield day, changed


def history(repo, wanted, read, settle):
    """{fact: [(day, value), ...]}, None as value from the day on which it is gone. `read` makes of a path and its text
    what a file says, `settle` of what all files say the facts: {fact: value}."""
    blobs, files, known = Blobs(repo), {}, {}
    out = collections.defaultdict(list)
    for day, changed in changes(repo, wanted):
        dirty = False
        for path, name in changed.items():
            said = read(path, blobs(name)) if name else None
            dirty |= files.get(path) != said
            if said:
                files[path] = said
            else:
                files.pop(path, None)
        if not dirty:
            continue
        facts = settle(files)
        for key in known.keys() | facts.keys():
            if known.get(key) != facts.get(key):
                if out[key] and out[key][-1][0] == day:
                    out[key].pop()
                out[key].append((day, facts.get(key)))
        known = facts
    return {key: spans for key, spans in out.items() if any(value is not None for _, value in spans)}


# ---- what files say ----

def balanced(text, at, pair):
    """The end of what the bracket at `at` opens."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i + 1
    return len(text)


def without_comments(text):
    text = re.sub(r"\[\{.*?\}\]", '""', text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def members_of(body, what):
    """Of `let arguments = (ins ...)`: [(type, name)], ("dag", NAME) for what `dag NAME` has; None where it is not there."""
    m = re.search(r"%s\s*=" % what, body)
    if not m:
        return None
    end = body.find(";", m.end())
    text, last = body[m.end():end], 0
    out = [("dag", name) for name in re.findall(r"\b\w*[aA]rg(?:ument)?s\b", text)]
    for name in re.finditer(r":\s*\$(\w+)", text):
        out.append((text[last:name.start()], name[1]))
        last = name.end()
    return tuple(out)


def read_ops(text):
    """{record: (parent, mnemonic, arguments, results, dags)} of a .td file."""
    text, out = without_comments(text), {}
    for m in re.finditer(r"^\s*(class|def)\s+(\w+)", text, flags=re.M):
        at = m.end()
        while at < len(text) and text[at] not in ":{;":
            at = balanced(text, at, "<>") if text[at] == "<" else at + 1
        parent = mnemonic = None
        if at < len(text) and text[at] == ":":
            head = re.match(r":\s*(\w+)\s*", text[at:])
            at += head.end() if head else 1
            parent = head[1] if head else None
            if at < len(text) and text[at] == "<":
                end = balanced(text, at, "<>")
                word = re.match(r'<\s*"([\w.]+)"', text[at:end])
                mnemonic, at = word[1] if word else None, end
            while at < len(text) and text[at] not in "{;":
                at = balanced(text, at, "<>") if text[at] == "<" else at + 1
        body = text[at:balanced(text, at, "{}")] if at < len(text) and text[at] == "{" else ""
        out[m[2]] = (parent, mnemonic if m[1] == "def" else None, members_of(body, r"let\s+arguments"),
                     members_of(body, r"let\s+results"),
                     {name: members_of(body, r"dag\s+" + name) for name in re.findall(r"\bdag\s+(\w+)", body)})
    return out


def settle_ops(files):
    """Of each op that it is there, its attributes, whether it takes a destination, and how many results it has."""
    records, facts = {}, {}
    for path in sorted(files):
        dialect = OPS.match(path)[1].lower()
        for name, record in files[path].items():
            records[dialect, name] = record

    def inherited(dialect, name, which):
        for _ in range(12):
            record = records.get((dialect, name))
            if not record or record[which] is not None:
                return record and record[which]
            name = record[0]
        return None

    def dag(dialect, name, word):
        for _ in range(12):
            record = records.get((dialect, name))
            if not record or word in record[4]:
                return record[4][word] or () if record else ()
            name = record[0]
        return ()
    for (dialect, name), (_, mnemonic, _, _, _) in records.items():
        arguments = inherited(dialect, name, 2) if mnemonic else None
        if arguments:
            arguments = [one for member in arguments
                         for one in (dag(dialect, name, member[1]) if member[0] == "dag" else [member])]
        if not mnemonic or arguments is None:
            continue
        op = "%s.%s" % (dialect, mnemonic)
        facts[op] = True
        for kind, argument in arguments:
            if "Attr" in kind:
                facts["%s %s" % (op, argument)] = True
            elif argument in ("output", "outputs"):
                facts["%s operand output" % op] = True
        results = inherited(dialect, name, 3) or ()
        known = "Variadic" not in "".join(kind for kind, _ in results)
        facts["%s results %s" % (op, len(results) if known else "any")] = True
    return facts


def read_passes(text):
    """{"pass ttir-fusing": "TTIRFusing"} of a Passes.td: by what switches it on, the name that dumps have."""
    return {"pass " + m[2]: m[1] for m in re.finditer(r'^\s*def\s+(\w+)\s*:\s*(?:Interface)?Pass<\s*"([\w-]+)"',
                                                      without_comments(text), flags=re.M)}


def read_classes(text):
    """Those that are defined, and of templates of one for each activation those that are made; a conversion may fuse in a
    function of its own."""
    text = without_comments(text)
    names = re.findall(r"^\s*(?:template\s*<[^;{]*>\s*)?(?:class|struct)\s+(\w+)\s*(?:final\s*)?[:{]", text, flags=re.M)
    names += [re.sub(r"\s+", " ", n) for n in re.findall(r"\b\w+WithActivation<\w+Op(?:,\s+\w+Op)*>", text)]
    return {"pattern " + n: True for n in names + re.findall(r"\bgetFusable\w+(?=\()", text)}


def read_options(text):
    """Options of a pipeline: ("name" or the constant that has it, default), by field; and such constants."""
    text, out = without_comments(text), {}
    for m in re.finditer(r'StringRef\s+(\w+)\s*=\s*"([\w-]+)"', text):
        out["constant", m[1]] = m[2]
    for m in re.finditer(r'Option<[^;{]*?>\s+(\w+)\s*\{\s*\*this\s*,\s*("[\w-]+"|[\w:]+)', text):
        end = balanced(text, text.index("{", m.start()), "{}")
        value = re.search(r"cl::init\(([^()]*(?:\([^()]*\))?)\)", text[m.start():end])
        out["option", m[1]] = (m[2].strip('"').split("::")[-1], value[1] if value else "")
    return out


def settle_options(files):
    facts, names = {}, {}
    for said in files.values():
        names.update({key[1]: value for key, value in said.items() if isinstance(key, tuple) and key[0] == "constant"})
    for said in files.values():
        for key, value in said.items():
            if isinstance(key, tuple) and key[0] == "option":
                facts["option " + names.get(value[0], value[0])] = (key[1], value[1])
    return facts


def read_compiler(path, text):
    if OPS.match(path):
        return read_ops(text)
    if PASSES.match(path):
        return read_passes(text)
    if PIPELINES.match(path):
        return read_options(text)
    return read_classes(text)


def settle_compiler(files):
    facts = settle_ops({path: said for path, said in files.items() if OPS.match(path)})
    facts.update(settle_options({path: said for path, said in files.items() if PIPELINES.match(path)}))
    for path, said in files.items():
        if not OPS.match(path) and not PIPELINES.match(path):
            facts.update(said)
    return facts


def read_xla(path, text):
    """Of compile_options: members with their defaults, and the key of each; of the builder: which field gets which."""
    text, out = without_comments(text), {}
    if path.endswith("CMakeLists.txt"):
        m = re.search(r"TTMLIR_ENABLE_OPMODEL=(\w+)", text)
        return {"opmodel": m[1]} if m else {}
    for m in re.finditer(r'(\w+)\s*=\s*"(\w+)"\s*;', text):
        out["constant", m[1]] = m[2]
    for m in re.finditer(r"^\s*(?:bool|int|std::optional<\w+>)\s+(\w+)\s*=\s*([\w:]+)\s*;", text, flags=re.M):
        out["default", m[1]] = m[2]
    for m in re.finditer(r'options\.(\w+)\s*=\s*(?:internal::)?parse\w+Option\(\s*compile_options\s*,\s*("?\w+"?)', text):
        out["key", m[1]] = m[2]
    for m in re.finditer(r"options\.(\w+)\s*=\s*(?:m_)?compile_options\.(\w+)\s*;", text):
        out["field", m[1]] = m[2]
    for m in re.finditer(r"options\.(\w+)\s*=\s*(true|false|\d+)\s*;", text):
        out["fixed", m[1]] = m[2]
    return out


def settle_xla(files):
    """{field of the pipeline: (key of set_custom_compile_options or "", default)}."""
    said, facts = {}, {}
    for path in sorted(files):
        said.update(files[path])
    for key, value in said.items():
        if key == "opmodel":
            facts[key] = value
        elif key[0] == "field" and ("default", value) in said and ("key", value) in said:
            name = said["key", value]
            facts["field " + key[1]] = (name.strip('"') if name[0] == '"' else said.get(("constant", name), name),
                                        said["default", value])
        elif key[0] == "fixed":
            facts.setdefault("field " + key[1], ("", value))
    return facts


# ---- what is printed ----

def asked_for(folder):
    """The names of passes, patterns and options that pattern files name under `status` and `passes`."""
    text = "\n".join(open(os.path.join(folder, name)).read() for name in sorted(os.listdir(folder))
                     if name.endswith(".yml") and not name.endswith(".test.yml") and name != "compiler_facts.yml")
    passes = set(re.findall(r"\bpass: ([a-z][\w-]+)|- \{name: ([a-z][\w-]+), (?:level|off|file)", text))
    patterns = set(re.findall(r"\bpattern: (\w+)", text)) | set(re.findall(
        r"\b[A-Z]\w*(?:Pattern|Fusing|Fusion|Bias|Multiply|Decomposition|Activation)\b(?:<\w+Op(?:, \w+Op)*>)?", text))
    options = set(re.findall(r"\b([a-z][a-z0-9-]*-[a-z0-9-]+)=(?:true|false|\d)", text))
    return {n for pair in passes for n in pair if n}, patterns, options


def span(days):
    """First and last day, empty where they are before all that is asked about, or it is still there."""
    since, until = days[0][0], days[-1][0] if days[-1][1] is None else ""
    return since if since >= DATED_FROM else "", until if until >= DATED_FROM else ""


def words(name):
    return set(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]+", name)) - {"Pattern", "Template", "TTIR", "With"}


def first_day(name, facts):
    """Of a class; of one that took the place of another that was called nearly so, of that one."""
    key, mine = "pattern " + name, words(name)
    day = facts[key][0][0]
    for other, days in facts.items():
        if other == key or not other.startswith("pattern ") or days[-1] != (day, None):
            continue
        shared = mine & {re.sub("^(Conv).*", r"\1", w) for w in words(other[8:])}
        if len(shared) >= 2 and 2 * len(shared) >= len(mine | words(other[8:])):
            return min(day, first_day(other[8:], facts))
    return day


def quoted(text):
    return '"%s"' % text if re.search(r"[^\w.=-]", text) or text in ("true", "false", "") else text


def defaults_of(days, pick):
    """"2025-08-04 true, 2026-01-02 false": the default from each day on, each where it is another one than before."""
    out = []
    for day, value in days:
        text = None if value is None else pick(value)
        if text and (not out or out[-1][1] != text):
            out.append((day, text))
    return ", ".join("%s %s" % pair for pair in out)


def last_value(days):
    return next(value for _, value in reversed(days) if value is not None)


def write(out, text):
    out.write("\n".join(textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)) + "\n")


def print_had(facts, fields, folder, out):
    passes, patterns, options = asked_for(folder)
    for name in sorted(passes):
        days = facts.get("pass " + name)
        if days:
            write(out, "  - {pass: %s, dump: %s, since: %s}" % (name, last_value(days), days[0][0]))
    for name in sorted(patterns):
        if "pattern " + name in facts:
            until = span(facts["pattern " + name])[1]
            write(out, "  - {pattern: %s, since: %s%s}" % (quoted(name), first_day(name, facts), until and ", until: " + until))
    for name in sorted(options):
        days = facts.get("option " + name)
        if not days:
            continue
        text = "  - {option: %s, since: %s, default: %s" % (name, days[0][0], quoted(defaults_of(days, lambda v: v[1])))
        of_xla = fields.get("field " + last_value(days)[0])
        if of_xla and last_value(of_xla)[0]:
            text += ", xla: %s, xla_default: %s" % (last_value(of_xla)[0], quoted(defaults_of(of_xla, lambda v: v[1])))
        write(out, text + "}")
    if "opmodel" in fields:
        write(out, "  - {option: TTMLIR_ENABLE_OPMODEL, since: %s, xla_default: %s}" % (
            fields["opmodel"][0][0], quoted(defaults_of(fields["opmodel"], lambda v: v))))


def print_prints(facts, known, out):
    groups = collections.defaultdict(list)
    for fact, days in facts.items():
        op, _, what = fact.partition(" ")
        if op not in known:
            continue
        if what.startswith("results") and (op + " results any" in facts or op + " operand output" in facts):
            continue  # of those with a destination the results may be left to the base class
        since, until = span(days)
        whole = span(facts[op])
        if what:  # the op itself tells as much
            since, until = ("" if since == whole[0] else since), ("" if until == whole[1] else until)
        if since or until:
            groups[since, until, what].append(op)
    rows = collections.defaultdict(set)
    for (since, until, what), ops in groups.items():
        kind, _, word = what.partition(" ")
        key = (kind, word) if word else ("attributes", "") if what else ("", "")
        rows[since, until, key, tuple(sorted(ops))].add(what)
    for (since, until, (kind, word), ops), attributes in sorted(rows.items()):
        head = ["since: " + since] if since else []
        head += ["until: " + until] if until else []
        head += ["%s: %s" % (kind, word or " ".join(sorted(attributes)))] if kind else []
        for dialect in ("ttir", "ttnn"):
            names = [op[5:] for op in ops if op.startswith(dialect)]
            head += ["%s: %s" % (dialect, " ".join(names))] if names else []
        write(out, "  - {%s}" % ", ".join(head))


def print_facts(mlir, xla, root, out):
    wanted = re.compile("|".join("(?:%s)" % r.pattern for r in (OPS, PASSES, PIPELINES, SOURCES)))
    facts = history(mlir, wanted, read_compiler, settle_compiler)
    fields = history(xla, XLA_OPTIONS, read_xla, settle_xla)
    heads = [git(repo, "log", "-1", "--format=%h (%cs)", "--abbrev=12", "HEAD").decode().strip() for repo in (mlir, xla)]
    out.write("# Made by scripts/compiler-facts.py; not to be edited. What the compiler has had since which day (`since`), and\n"
              "# until which (`until`: the day on which it was gone), by the first parents of HEAD.\n"
              "compiler:\n  - {name: tt-mlir, version: %s}\n  - {name: tt-xla, version: %s}\n\nhad:\n" % tuple(map(quoted, heads)))
    print_had(facts, fields, os.path.join(root, "patterns"), out)
    out.write("\n# Ops, their attributes, operands and numbers of results: what a module prints dates its compiler.\nprints:\n")
    known = set(re.findall(r"\b(?:ttir|ttnn)\.\w+", open(os.path.join(root, "src/ir/ops/ops.def")).read()))
    print_prints(facts, known, out)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    print_facts(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else here, sys.stdout)
