#!/usr/bin/env python3
"""Replays recorded decisions of other schedulers through `berth simulate` and compares them aspect by aspect.

usage: recordings.py [--every N] BERTH EXCUSED KNOWN PACK...

A PACK is an archive of recordings/ (its README.md has the format). EXCUSED names the aspects that a row of
docs/features.md wants otherwise, KNOWN those that are wrong today. Everything else must be as recorded; and what a
list names must differ, so that a line goes as soon as its reason is gone. --every N: only one scenario in N, for builds
that are slow.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

import kinds
import nomad

DEADLINE_SECONDS = 60
# At the end of thousands of short runs the address sanitizer would look for leaks longer than they last; it does look
# at the end of those of replay.py.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
REASON = re.compile(r"([\w.]+): \S")
ENTRY = re.compile(r"(\S+) (\S+) ([\w.]+)")


class ListError(Exception):
    """A list that says nothing that could be used; the text says where."""


def read_list(path):
    """{(scenario, aspect): reason's key} of lines `SCENARIO ASPECT,… KEY`; lines `KEY: why` say what a key means."""
    reasons, entries = set(), {}
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        reason, entry = REASON.match(line), ENTRY.fullmatch(line)
        if reason:
            reasons.add(reason[1])
        elif entry:
            entries.update(((entry[1], aspect), entry[3]) for aspect in entry[2].split(","))
        elif line.strip() and not line.startswith("#"):
            raise ListError(f"{path}:{number}: neither a reason nor an entry")
    odd = reasons ^ set(entries.values())
    if odd:
        raise ListError(f"{path}: without a reason or without an entry: {', '.join(sorted(odd))}")
    return entries


def read_pack(path):
    """(name, text) of each scenario."""
    with tarfile.open(path) as pack:
        for member in pack:
            if member.isfile():
                yield pathlib.PurePath(member.name).stem, pack.extractfile(member).read()


def simulate(berth, text):
    command = [berth, "simulate", "-"]
    done = subprocess.run(command, input=text, env=ENVIRONMENT, capture_output=True, timeout=DEADLINE_SECONDS,
                          check=False)
    if done.returncode:
        raise ValueError(f"exit status {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return json.loads(done.stdout)


def judge(scenario, output):
    comparer = kinds if scenario["Scenario"]["Type"] in kinds.ASPECTS else nomad
    return comparer.differences(scenario, output)


def replay(berth, name, text):
    """(name, {aspect: what differs}); the aspect of an output that is none is `run`."""
    try:
        return name, judge(json.loads(text), simulate(berth, text))
    except (ValueError, TypeError, KeyError, AttributeError, subprocess.TimeoutExpired) as error:
        return name, {"run": f"{type(error).__name__}: {error}"}


def replay_all(berth, packs, every):
    """{name: {aspect: what differs}}"""
    scenarios = (scenario for pack in packs for scenario in read_pack(pack))
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(replay, berth, *scenario) for scenario in itertools.islice(scenarios, 0, None, every)]
        return dict(each.result() for each in running)


def complain(found, lists):
    """What the lists do not name and is not as recorded, and what they name and need not."""
    named = {**lists["excused"], **lists["known"]}
    for name, aspects in sorted(found.items()):
        for aspect, what in aspects.items():
            if (name, aspect) not in named:
                yield f"{name} {aspect}: {what}"
    for which, entries in lists.items():
        for (name, aspect), key in sorted(entries.items()):
            if aspect not in found.get(name, ()):
                there = "is as recorded: take it out" if name in found else "there is no such scenario"
                yield f"{name} {aspect}: {which}, {key}: {there}"
    for name, aspect in sorted(lists["excused"].keys() & lists["known"].keys()):
        yield f"{name} {aspect}: is in both lists"


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    for name in ("berth", "excused", "known"):
        parser.add_argument(name)
    parser.add_argument("packs", nargs="+")
    return parser.parse_args()


def main():
    given = read_arguments()
    try:
        lists = {"excused": read_list(given.excused), "known": read_list(given.known)}
    except ListError as error:
        print(error)
        return 1
    found = replay_all(given.berth, given.packs, given.every)
    if given.every > 1:
        lists = {which: {at: key for at, key in entries.items() if at[0] in found} for which, entries in lists.items()}
    complaints = list(complain(found, lists))
    print(*complaints, sep="\n")
    for which, entries in lists.items():
        count = collections.Counter(entries.values())
        print(f"{which}, by reason:", ", ".join(f"{key} {count[key]}" for key in sorted(count)))
    equal = sum(not aspects for aspects in found.values())
    print(f"{len(found)} recordings, {equal} equal in all aspects; {len(complaints)} complaints")
    return 1 if complaints or not found else 0


if __name__ == "__main__":
    sys.exit(main())
