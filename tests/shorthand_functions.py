"""Functions of fixtures/frontends in the short notation of patterns/library/shorthand.h."""
import re


def with_arguments(ops):
    """The text with a line `func` of the arguments before it and a return of what no op uses behind it."""
    arguments, results, used = {}, [], set()
    for line in re.split("[;\n]", re.sub(r"#(?!\d).*|\{[^}]*\}", "", ops)):
        results += [r.split(":")[0] for r in re.split(r",\s*", line.partition("=")[0].strip()) if "=" in line]
        for word in line.rpartition("=")[2].split("->")[0].split():
            name, _, kind = word.partition(":")
            used.add(name.split("#")[0])
            if kind and not re.match(r"-?\d", name):
                arguments[name] = "%s:%s!%s" % (name, kind, "parameter" if name.isupper() else "input")
    end = "" if "return" in used else "\nreturn " + " ".join(r for r in results if r not in used)
    return "func main %s\n%s%s\n" % (" ".join(arguments.values()), ops.rstrip("\n"), end)
