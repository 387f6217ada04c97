"""Options and the report of benchmarks that are scripts, in the form that bench/README.md describes."""
import argparse
import json
import os
import pathlib
import signal
import sys

SKIPPED = 77


def parse(doc, sizes, smoke_sizes):
    """The options that every benchmark takes, and one for each size; --smoke takes the small ones."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--command", default=" ".join(sys.argv))
    for name, (size, what) in sizes.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, help=f"{what} ({size:,})")
    arguments = parser.parse_args()
    for name, (size, _) in sizes.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, smoke_sizes.get(name, size) if arguments.smoke else size)
    # As an exception, so that what was started is ended and the directory removed.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _: sys.exit(128 + got))
    return arguments


def skip_unless_two_processors(name):
    if len(os.sched_getaffinity(0)) < 2:
        print(f"{name} cannot run here: it takes two processors, one for each end")
        sys.exit(SKIPPED)


class Report:
    def __init__(self, arguments):
        self.arguments = arguments
        self.results = []

    def add(self, name, figure, unit, nodes, reference=None, against=None, note=""):
        """Prints one line and keeps it. What others say of themselves is no run of ours: against says whose it is."""
        ratio = figure / reference if reference else None
        self.results.append({"name": name, "nodes": nodes, "figure": figure, "unit": unit, "reference": reference,
                             "against": against, "ratio": ratio, "ratio_least": ratio, "ratio_most": ratio,
                             "note": note, "smoke": self.arguments.smoke, "command": self.arguments.command})
        beside = f", beside {reference:.6g} ({against}): ratio {ratio:.3g}" if reference else ""
        print(f"{name:44} {nodes:>9} nodes {figure:>12.6g} {unit}{beside}{'; ' + note if note else ''}", flush=True)

    def end(self):
        print(f"command: {self.arguments.command}")
        if self.arguments.json:
            self.arguments.json.write_text(json.dumps(self.results, indent=2) + "\n")
        return 0
