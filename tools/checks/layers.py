"""Refuses an include that crosses the layers of layers.toml.

layers.py ROOT
"""
import pathlib
import re
import sys
import tomllib

import sources

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
RULES = pathlib.Path(__file__).with_name("layers.toml")


def load_rules():
    return tomllib.loads(RULES.read_text())


def layer_of(name, layers):
    """The deepest layer that holds the file, or None."""
    held = [layer for layer in layers if name.startswith(layer["folder"])]
    return max(held, key=lambda layer: len(layer["folder"]), default=None)


def is_named(layer, names):
    """A name stands for its layer, and for all layers of its folder: "state" for "state/tables"."""
    return any(layer["name"] == name or layer["name"].startswith(name + "/") for name in names)


def judge_own(root, layer, included, layers):
    made_by_bison = (root / included).with_suffix(".y").is_file()
    if not (root / included).is_file() and not made_by_bison:
        return f'"{included}" is not a path from the root; write the whole path ("state/base/text.h")'
    target = layer_of(included, layers)
    if layer is None or target is layer or included in layer.get("headers", []):
        return None
    if target is None:
        return f'{layer["name"]} must not include "{included}", which belongs to no layer'
    if is_named(target, layer["may"]):
        return None
    may = ", ".join([*layer["may"], *layer.get("headers", [])]) or "nothing of ours"
    return f'{layer["name"]} must not include "{included}" of {target["name"]}; it may include {may}'


def judge_outside(layer, included, outside):
    for rule in outside:
        if layer and re.fullmatch(rule["header"], included) and not is_named(layer, rule["layers"]):
            allowed = ", ".join(rule["layers"])
            return f'{layer["name"]} must not include <{included}> ({allowed} only); use {rule["instead"]}'
    return None


def check(root):
    """Complaints, one text each."""
    root = pathlib.Path(root)
    rules = load_rules()
    complaints = []
    for name in sources.list_c(root):
        layer = layer_of(name, rules["layer"])
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            quote, included = found.groups()
            own = quote == '"'
            bad = judge_own(root, layer, included, rules["layer"]) if own else None
            bad = bad or (judge_outside(layer, included, rules["outside"]) if not own else None)
            if bad:
                complaints.append(f"{name}:{number}: {bad}")
    return complaints


def main():
    complaints = check(sys.argv[1])
    print(*complaints, sep="\n")
    print(f"layers: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
