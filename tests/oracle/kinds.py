"""What is compared of Orchard's passes over virtual machines and of Scoot's cluster of nodes.

differences(scenario, output) gives {aspect: what differs} for one output of `berth simulate`.
"""
import json
import re

# The aspects of each type of scenario. Of nodes, each event has an entry with all of them.
ASPECTS = {"vms": ("Updates", "Assignments", "Notified"),
           "nodes": ("Healthy", "Suspended", "Offlined", "Groups", "Free", "Running")}
# Under these a member says something even where its value is the zero value: a group may be empty, a condition false.
SAYS_ZERO = ("Groups", "state")
INSTANT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z")


def plain_text(text):
    """The same instant may be written with or without zeros behind its fraction."""
    found = INSTANT.fullmatch(text)
    if not found:
        return text
    fraction = (found[2] or "").rstrip("0")
    return f"{found[1]}.{fraction}Z" if fraction else f"{found[1]}Z"


def plain(value, under=None):
    if isinstance(value, dict):
        members = {key: plain(member, key) for key, member in value.items()}
        return {key: member for key, member in members.items()
                if under in SAYS_ZERO or key in SAYS_ZERO or member not in (None, "", 0, [], {})}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return plain_text(value) if isinstance(value, str) else value


def as_text(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def first_difference(expected, actual, place):
    """Where two values part, and how, or None; 1 and true are two."""
    if as_text(expected) == as_text(actual):
        return None
    if isinstance(expected, dict) and isinstance(actual, dict):
        parts = ((key, expected.get(key), actual.get(key)) for key in sorted(expected.keys() | actual.keys()))
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        parts = ((i, *pair) for i, pair in enumerate(zip(expected, actual)))
    else:
        return f"{place}: recorded {as_text(expected)[:400]}, got {as_text(actual)[:400]}"
    return next(found for key, *pair in parts if (found := first_difference(*pair, f"{place}[{key}]")))


def take_aspect(kind, output, aspect):
    if kind == "nodes":
        return [plain(entry.get(aspect), aspect) for entry in output]
    return plain(output.get(aspect) or [], aspect)


def differences(scenario, output):
    kind = scenario["Scenario"]["Type"]
    # Where a row asks for something else: what the recorded system gives once it is corrected so.
    expected = scenario.get("ByRow", scenario)["Output"]
    found = ((aspect, first_difference(take_aspect(kind, expected, aspect), take_aspect(kind, output, aspect), aspect))
             for aspect in ASPECTS[kind])
    return {aspect: what for aspect, what in found if what}
