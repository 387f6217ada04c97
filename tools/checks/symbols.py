"""Refuses libraries that call what a rule of layers.toml bans.

symbols.py RULE LIBRARY...
"""
import re
import subprocess
import sys

import layers


def called_by(library):
    """(object, symbol) of each undefined symbol."""
    done = subprocess.run(["nm", "-A", "-u", library], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        place, symbol = line.rsplit(None, 2)[0], line.split()[-1]
        yield place.rstrip(": U"), symbol.split("@")[0]


def check(rule_name, libraries):
    rule = layers.load_rules()["symbols"][rule_name]
    banned = re.compile("|".join(f"(?:{name})" for name in rule["banned"]))
    complaints = []
    for library in libraries:
        for place, symbol in called_by(library):
            if banned.fullmatch(symbol):
                complaints.append(f"{place} calls {symbol}: {rule['why']}")
    return complaints


def main():
    complaints = check(sys.argv[1], sys.argv[2:])
    print(*complaints, sep="\n")
    print(f"symbols {sys.argv[1]}: {len(complaints)} complaints in {len(sys.argv) - 2} libraries")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
