"""Documents held against their schemas; nothing is asked where Debian's python3-jsonschema is not there."""
import json
import os

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def hold(document, name, folder="schema"):
    """`document` is what schema/NAME.schema.json says."""
    if jsonschema:
        with open(os.path.join(ROOT, folder, name + ".schema.json")) as file:
            jsonschema.validate(document, json.load(file))
