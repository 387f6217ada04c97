#!/usr/bin/env python3
"""Replays recorded decisions of another scheduler, when they are there.

usage: recordings.py BERTH EXCUSED FOLDER

The recordings are in the folder that BERTH_ORACLE_DIR names, else in FOLDER: compare.py, and scenarios/. Where a row
of docs/features.md asks for something else than what was recorded, a line of EXCUSED says so.
"""
import glob
import os
import subprocess
import sys

SKIPPED = 77  # as meson has it


def main():
    berth, excused, folder = sys.argv[1:]
    folder = os.environ.get("BERTH_ORACLE_DIR", folder)
    compare = os.path.join(folder, "compare.py")
    scenarios = sorted(glob.glob(os.path.join(folder, "scenarios", "*.json")))
    if not os.path.exists(compare) or not scenarios:
        print("no recordings in %s; name their folder in BERTH_ORACLE_DIR" % folder)
        return SKIPPED
    command = [sys.executable, compare, "--run", "'%s' simulate {}" % berth, "--excuse", excused, "--verbose"]
    return subprocess.run(command + scenarios, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
