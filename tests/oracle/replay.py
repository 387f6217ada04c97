#!/usr/bin/env python3
"""Replays scenarios of our own through `berth simulate` and compares what must come of them.

usage: replay.py BERTH SCENARIO.json...

A scenario holds Input, and as Output what is expected. A list must have as many items as expected, in any order; of
an object, what is not expected may be anything, and null stands for missing or zero. A text that begins with "$"
stands for a generated id: the same name for the same id everywhere in the file.
"""
import json
import subprocess
import sys


def is_nothing(value):
    return value in (None, "", 0, False) or value == [] or value == {}


def match(expected, actual, names):
    """The names bound if actual is as expected, or None."""
    if isinstance(expected, str) and expected.startswith("$"):
        if not isinstance(actual, str) or not actual:
            return None
        if names.get(expected, actual) != actual:
            return None
        return {**names, expected: actual}
    if is_nothing(expected):
        return names if is_nothing(actual) else None
    if isinstance(expected, dict):
        return match_members(expected, actual, names)
    if isinstance(expected, list):
        return match_items(expected, actual, names)
    if isinstance(expected, float) or isinstance(actual, float):
        return names if isinstance(actual, (int, float)) and abs(expected - actual) < 1e-9 else None
    return names if expected == actual and type(expected) is type(actual) else None


def match_members(expected, actual, names):
    if not isinstance(actual, dict):
        return None
    for key, value in expected.items():
        names = match(value, actual.get(key), names)
        if names is None:
            return None
    return names


def match_items(expected, actual, names):
    """Each expected item with an actual one of its own; tries again where a choice proves wrong."""
    if not isinstance(actual, list) or len(actual) != len(expected):
        return None
    if not expected:
        return names
    for i, candidate in enumerate(actual):
        bound = match(expected[0], candidate, names)
        if bound is None:
            continue
        rest = match_items(expected[1:], actual[:i] + actual[i + 1:], bound)
        if rest is not None:
            return rest
    return None


def fills(output):
    """What is not said about an output is that there is none."""
    for plan in output.get("Plans", []):
        for key in ("NodeUpdate", "NodePreemptions", "Placements", "InplaceUpdates", "AttributeUpdates",
                    "DeploymentUpdates"):
            plan.setdefault(key, [])
        plan.setdefault("DesiredTGUpdates", {})
        plan.setdefault("Deployment", None)
    for key in ("Plans", "Evals", "CreateEvals", "ReblockEvals"):
        output.setdefault(key, [])
    return output


def replay(berth, path):
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    result = subprocess.run([berth, "simulate", path], capture_output=True, timeout=20, check=False)
    if result.returncode:
        return "exit status %d: %s" % (result.returncode, result.stderr.decode(errors="replace").strip())
    actual = json.loads(result.stdout)
    names = {}
    for key, expected in fills(scenario["Output"]).items():
        bound = match(expected, actual.get(key), names)
        if bound is None:
            return "%s: expected %s\n  got %s" % (key, json.dumps(expected), json.dumps(actual.get(key)))
        names = bound
    return None


def main():
    berth, paths = sys.argv[1], sys.argv[2:]
    failed = 0
    for path in paths:
        why = replay(berth, path)
        if why:
            failed += 1
            print("%s: %s" % (path, why))
    print("%d of %d scenarios as expected" % (len(paths) - failed, len(paths)))
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
