#!/usr/bin/env python3
"""Replays scenarios of virtual machines through `berth simulate`; what comes of a turn must be as worked out by hand.

usage: vms_replay.py BERTH SCENARIO.json...
"""
import json
import subprocess
import sys

REFUSED = [
    ({"VMs": [{"name": "a"}, {"name": "a"}]}, 'Input.VMs: the name "a" is given twice'),
    ({"VMs": [{"name": "a"}, {}]}, "Input.VMs[1].name: is missing"),
    ({"Workers": [{"name": "w"}, {"name": "w"}]}, 'Input.Workers: the name "w" is given twice'),
    ({"VMs": [{"name": "a", "status": "tired"}]}, 'Input.VMs[0].status: "tired" is none of pending, running, failed'),
    ({"VMs": [{"name": "a", "createdAt": "yesterday"}]}, 'Input.VMs[0].createdAt: "yesterday" is no time'),
    ({"VMs": [7]}, "Input.VMs[0]: expected an object"),
    ({"VMs": {}}, "Input.VMs: expected a list"),
    ({"Now": "now"}, 'Input.Now: "now" is no time'),
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
    if actual != expected:
        return "expected %s\n  got %s" % (json.dumps(expected), json.dumps(actual))
    return None


def refuse(berth, scenario, words):
    result = simulate(berth, {"Scenario": {"Type": "vms"}, "Input": scenario})
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
    for scenario, words in REFUSED:
        why = refuse(berth, scenario, words)
        if why:
            failed += 1
            print(why)
    print("%d of %d as expected" % (len(paths) + len(REFUSED) - failed, len(paths) + len(REFUSED)))
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
