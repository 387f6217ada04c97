"""Asks clang-format 14 whether every C file has the form of .clang-format; exit 77 (skipped) without it.

format.py ROOT
"""
import re
import shutil
import subprocess
import sys

import sources

VERSION = "14"
FILES_AT_ONCE = 64


def find_formatter():
    """Another version would want another form."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            found = re.search(r"version (\d+)\.", said)
            if found and found.group(1) == VERSION:
                return path
    return None


def check(root, formatter):
    """What the formatter said about files that differ; empty when none does."""
    names = sources.list_c(root)
    said = []
    for at in range(0, len(names), FILES_AT_ONCE):
        command = [formatter, "--dry-run", "--Werror", *names[at : at + FILES_AT_ONCE]]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            said.append(done.stderr)
    return said


def main():
    formatter = find_formatter()
    if not formatter:
        print(f"clang-format {VERSION} is not installed: tools/setup installs it")
        return 77
    said = check(sys.argv[1], formatter)
    print(*said, sep="\n")
    if said:
        print("format: run clang-format -i on the files above")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
