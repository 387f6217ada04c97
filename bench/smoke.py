#!/usr/bin/env python3
"""Runs a benchmark with tiny sizes and checks the form of its report.

smoke.py PROGRAM [ARGUMENTS]
"""
import json
import numbers
import pathlib
import subprocess
import sys
import tempfile

FIELDS = {"name": str, "figure": numbers.Real, "unit": str, "command": str}
MAY_BE_NULL = {"reference": numbers.Real, "ratio": numbers.Real}


def check_result(result):
    for field, kind in FIELDS.items():
        assert isinstance(result.get(field), kind) and result[field] != "", f"{field} is missing: {result}"
    for field, kind in MAY_BE_NULL.items():
        assert field in result, f"{field} is missing: {result}"
        assert result[field] is None or isinstance(result[field], kind), f"{field} is no number: {result}"
    assert "nodes" not in result or result["nodes"] > 0, f"nodes is no size: {result}"


def main():
    program = sys.argv[1:]
    if program[0].endswith(".py"):
        program = [sys.executable, "-B", *program]
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        code = subprocess.run([*program, "--smoke", "--json", str(report)], stdin=subprocess.DEVNULL).returncode
        if code != 0:
            # 77: this machine cannot run it (the benchmark has said why).
            return code if code > 0 else 1
        results = json.loads(report.read_text())
    assert isinstance(results, list) and results, "the report is no list of results"
    for result in results:
        check_result(result)
    print(f"{len(results)} results")
    return 0


if __name__ == "__main__":
    sys.exit(main())
