#!/usr/bin/env python3
"""Replays scenarios of nodes through `berth simulate`; where every node stands must be as worked out by hand.

usage: nodes_replay.py BERTH SCENARIO.json...
"""
import json
import subprocess
import sys

REFUSED = [
    ([{"Kind": "added", "Node": "a"}, {"Kind": "task-scheduled", "Node": "b"}],
     'Input.Events[1]: node "b" is not healthy'),
    ([{"Kind": "vanished", "Node": "a"}], 'Input.Events[0].Kind: "vanished" is none of added, removed'),
    ([{"Kind": "sweep"}, {"Node": "a"}], "Input.Events[1].Kind: is missing"),
    ([{"Kind": "added"}], "Input.Events[0].Node: is missing"),
    ([{"Kind": "ready", "Node": "a", "Backoff": -1}], "Input.Events[0].Backoff: must not be negative"),
    ([{"Kind": "sweep", "At": 9000000000000000000}], "Input.Events[0].At: is too far from 1970"),
]


def simulate(berth, scenario):
    return subprocess.run([berth, "simulate", "-"], input=json.dumps(scenario).encode(), capture_output=True,
                          timeout=20, check=False)


def replay(berth, path):
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    result = simulate(berth, scenario)
    if result.returncode:
        return result.stderr.decode(errors="replace").strip()
    actual, expected = json.loads(result.stdout), scenario["Output"]
    if len(actual) != len(expected):
        return "%d results, expected %d" % (len(actual), len(expected))
    for i, (is_, should) in enumerate(zip(actual, expected)):
        if is_ != should:
            return "event %d: expected %s\n  got %s" % (i, json.dumps(should), json.dumps(is_))
    return None


def refuse(berth, events, words):
    result = simulate(berth, {"Scenario": {"Type": "nodes"}, "Input": {"Events": events}})
    said = result.stderr.decode(errors="replace")
    if result.returncode != 1 or result.stdout or words not in said:
        return 'exit status %d, said "%s", not "%s"' % (result.returncode, said.strip(), words)
    return None


def main():
    berth, paths = sys.argv[1], sys.argv[2:]
    failed = 0
    for path in paths:
        why = replay(berth, path)
        if why:
            failed += 1
            print("%s: %s" % (path, why))
    for events, words in REFUSED:
        why = refuse(berth, events, words)
        if why:
            failed += 1
            print(why)
    print("%d of %d as expected" % (len(paths) + len(REFUSED) - failed, len(paths) + len(REFUSED)))
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
