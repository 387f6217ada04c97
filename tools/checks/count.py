"""Counts what a test run said, from meson's own logs.

count.py [--broken] LOG.json...

A test program of many cases counts as many; anything else counts as one. A program that fails although
its cases passed (a leak found at exit, a time-out) is one failure more. Skipped tests are named and
counted apart. --broken counts one failure more: of a step whose tests could not run. The last line is
"N passed, N failed"; exit 1 when something failed or nothing ran.
"""
import collections
import json
import re
import sys

# Each case's verdict as cmocka prints it on standard output; its summary goes to standard error.
VERDICT = re.compile(r"^\[\s+(OK|FAILED|SKIPPED)\s+\] (\S+)$", re.M)
GOOD = ("OK", "EXPECTEDFAIL")


def count_test(test):
    """(passed, failed, skipped) of one test."""
    good = test["result"] in GOOD
    if test["result"] == "SKIP":
        return 0, 0, 1
    verdicts = collections.Counter(verdict for verdict, _ in VERDICT.findall(test.get("stdout", "")))
    if not verdicts:
        return int(good), int(not good), 0
    failed = verdicts["FAILED"]
    if not good and failed == 0:
        failed = 1
    return verdicts["OK"], failed, verdicts["SKIPPED"]


def read_log(path):
    with open(path, encoding="utf-8", errors="replace") as log:
        return [json.loads(line) for line in log if line.strip()]


def suite_of(test):
    """The part of "berth:unit / bytes" between the colon and the slash."""
    name = test["name"].split(" / ")[0]
    return name.split(":", 1)[-1]


def main():
    arguments = sys.argv[1:]
    broken = arguments[:1] == ["--broken"]
    suites = collections.defaultdict(lambda: [0, 0, 0])
    notes = []
    for path in arguments[broken:]:
        for test in read_log(path):
            counts = count_test(test)
            for at in range(3):
                suites[suite_of(test)][at] += counts[at]
            if test["result"] not in GOOD:
                notes.append(f"{test['result']}: {test['name']} ({path})")
    for suite, (passed, failed, skipped) in sorted(suites.items()):
        print(f"{suite:16} {passed:6} passed {failed:4} failed {skipped:4} skipped")
    print(*notes, sep="\n")
    passed = sum(counts[0] for counts in suites.values())
    failed = sum(counts[1] for counts in suites.values()) + broken
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
