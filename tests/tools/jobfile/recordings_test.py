"""Compares what berth makes of job files with recordings of another parser.

recordings_test.py FOLDER BERTH
"""
import pathlib
import subprocess
import sys


def is_read(case):
    """Files of the older language are refused, so only those that are refused there too are compared."""
    arguments = case.with_name(case.name.replace(".nomad.hcl", ".args"))
    return not (arguments.is_file() and "-hcl1" in arguments.read_text().split("\n")) or case.name.startswith("bad-")


def compare(folder, form, names):
    return subprocess.run([sys.executable, folder / "compare_hcl.py", "-q", *form, folder / "hcl", *names]).returncode


def main():
    folder, berth = pathlib.Path(sys.argv[1]), sys.argv[2]
    names = [case.name[: -len(".nomad.hcl")] for case in sorted((folder / "hcl").glob("*.nomad.hcl")) if is_read(case)]
    read = compare(folder, ["--run", f"'{berth}' job parse {{}}"], names)
    filled = compare(folder, ["--canon", f"'{berth}' job parse --canonical {{}}"], names)
    return read or filled


if __name__ == "__main__":
    sys.exit(main())
