#!/usr/bin/env python3
"""Replays scenarios of nodes and of virtual machines through `berth simulate`; what comes of them must be as worked
out by hand, and what cannot be a scenario must be refused in words that say where.

usage: replay.py BERTH nodes|vms SCENARIO.json...
"""
import json
import subprocess
import sys

REFUSED = {
    "nodes": [
        ({"Events": events}, words) for events, words in [
            ([{"Kind": "added", "Node": "a"}, {"Kind": "task-scheduled", "Node": "b"}],
             'Input.Events[1]: node "b" is not healthy'),
            ([{"Kind": "vanished", "Node": "a"}], 'Input.Events[0].Kind: "vanished" is none of added, removed'),
            ([{"Kind": "sweep"}, {"Node": "a"}], "Input.Events[1].Kind: is missing"),
            ([{"Kind": "added"}], "Input.Events[0].Node: is missing"),
            ([{"Kind": "ready", "Node": "a", "Backoff": -1}], "Input.Events[0].Backoff: must not be negative"),
            ([{"Kind": "sweep", "At": 9000000000000000000}], "Input.Events[0].At: is too far from 1970"),
        ]
    ],
    "vms": [
        ({"VMs": [{"name": "a"}, {"name": "a"}]}, 'Input.VMs: the name "a" is given twice'),
        ({"VMs": [{"name": "a"}, {}]}, "Input.VMs[1].name: is missing"),
        ({"Workers": [{"name": "w"}, {"name": "w"}]}, 'Input.Workers: the name "w" is given twice'),
        ({"VMs": [{"name": "a", "status": "tired"}]},
         'Input.VMs[0].status: "tired" is none of pending, running, failed'),
        ({"VMs": [{"name": "a", "createdAt": "yesterday"}]}, 'Input.VMs[0].createdAt: "yesterday" is no time'),
        ({"VMs": [7]}, "Input.VMs[0]: expected an object"),
        ({"VMs": {}}, "Input.VMs: expected a list"),
        ({"Now": "now"}, 'Input.Now: "now" is no time'),
        ({"vMs": [{"name": "a", "status": "failed"}]}, 'Input.VMs: is to be spelled exactly so'),
        ({"VMs": [{"name": "a", "Conditions": []}]}, 'Input.VMs[0].conditions: is to be spelled exactly so'),
    ],
}


def simulate(berth, scenario):
    return subprocess.run([berth, "simulate", "-"], input=json.dumps(scenario).encode(), capture_output=True,
                          timeout=20, check=False)


def difference(actual, expected):
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        for i, (is_, should) in enumerate(zip(actual, expected)):
            if is_ != should:
                return "result %d: expected %s\n  got %s" % (i, json.dumps(should), json.dumps(is_))
    if actual != expected:
        return "expected %s\n  got %s" % (json.dumps(expected), json.dumps(actual))
    return None


def replay(berth, path):
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    result = simulate(berth, scenario)
    if result.returncode:
        return result.stderr.decode(errors="replace").strip()
    return difference(json.loads(result.stdout), scenario["Output"])


def refuse(berth, kind, scenario, words):
    result = simulate(berth, {"Scenario": {"Type": kind}, "Input": scenario})
    said = result.stderr.decode(errors="replace")
    if result.returncode != 1 or result.stdout or words not in said:
        return 'exit status %d, said "%s", not "%s"' % (result.returncode, said.strip(), words)
    return None


def main():
    berth, kind, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    complaints = [(path, replay(berth, path)) for path in paths]
    complaints += [(words, refuse(berth, kind, scenario, words)) for scenario, words in REFUSED[kind]]
    failed = [(what, why) for what, why in complaints if why]
    for what, why in failed:
        print("%s: %s" % (what, why))
    print("%d of %d as expected" % (len(complaints) - len(failed), len(complaints)))
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
