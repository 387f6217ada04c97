"""Each row of docs/features.md and of docs/security.md names a test, and the case of it that shows what the row says.

rows.py ROOT BUILD

The form is `a-test` (a_case, "a text", a-scenario): the name of the test as `meson test --list` has it, and of a case
the function, or a text of the script in quotes, or the file that the test is run with, without its ending.
"""
import collections
import json
import pathlib
import re
import sys

PAGES = ("docs/features.md", "docs/security.md")
ROW = re.compile(r"^\| ([A-EPT]\d[^|]*?) \| [^|]* \| (.*) \|$")
QUOTED = re.compile(r"`([^`]+)`(?: \(([^()]*)\))?")
CASE = re.compile(r'"[^"]*"|[^,\s][^,]*')
# These replay archives; a recording has no name of its own on the page.
WHOLE = {"oracle-recordings"}


def is_function(case, text):
    """Of a test in C, in Python or in a shell."""
    name = re.escape(case)
    return re.search(rf"\bvoid {name}\(void \*\*|\bdef {name}\(|^{name}\(\) ?\{{", text, re.M)


def has_case(case, files):
    """files: texts by path."""
    if case.startswith('"'):
        return any(case.strip('"') in text for text in files.values())
    return any(is_function(case, text) or path.stem == case and path.suffix == ".json" for path, text in files.items())


def judge_row(row, cell, tests):
    """tests: of each name the texts of its files by their path."""
    shown = 0
    for name, cases in QUOTED.findall(cell):
        if name not in tests or name in WHOLE:
            if cases and re.fullmatch(r"[\w -]+", name) and "_" in cases:
                yield f"row {row}: {name} is no test"
            continue
        found = CASE.findall(cases)
        shown += len(found)
        if not found:
            yield f"row {row}: say in brackets which case of {name} it is"
        for case in found:
            if not has_case(case.strip(), tests[name]):
                yield f"row {row}: {name} has no case {case.strip()}"
    if not shown:
        yield f"row {row}: names no test with a case that shows it"


def judge(page, text, tests):
    rows = [found for line in text.split("\n") if (found := ROW.match(line))]
    complaints = [text for found in rows for text in judge_row(found[1], found[2], tests)]
    return complaints if rows else [f"{page}: has no rows"]


def tests_of(root, build):
    """Of each test the files below tests/ that it is made of or run with."""
    about = pathlib.Path(build) / "meson-info"
    sources = {}
    for target in json.loads((about / "intro-targets.json").read_text()):
        for program in target["filename"]:
            sources[program] = [s for part in target["target_sources"] for s in part.get("sources", [])]
    below = pathlib.Path(root).resolve() / "tests"
    tests = collections.defaultdict(dict)
    for test in json.loads((about / "intro-tests.json").read_text()):
        for word in test["cmd"]:
            # What another program runs has its path from the folder of the build.
            names = sources.get(word) or sources.get(str(pathlib.Path(build).resolve() / word), [word])
            for path in (pathlib.Path(p).resolve() for p in names):
                if below in path.parents and path.is_file() and path.suffix in (".c", ".py", ".sh", ".json"):
                    tests[test["name"]][path] = path.read_text(errors="replace")
    return tests


def main():
    root, build = sys.argv[1:]
    tests = tests_of(root, build)
    complaints = [text for page in PAGES for text in judge(page, (pathlib.Path(root) / page).read_text(), tests)]
    print(*complaints, sep="\n")
    print(f"rows: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
