"""Names the tests whose programs can have a second thread, one a line: those that the thread sanitizer is for.

threaded.py BUILD [--programs] SUITE...

--programs names what they run instead, as ninja has it.

The link decides. A program that takes none of the functions below from a library cannot begin a thread, and one
thread has no race. A test that is a script counts by the programs that it is given. Tests of the suites one-thread
and plain are left out, as docs/style.md tells.
"""
import json
import os
import subprocess
import sys

# What begins a thread: directly, or inside of a library that does so when it is called.
BEGINS_THREAD = {"pthread_create", "urcu_qsbr_call_rcu", "MHD_start_daemon", "rte_eal_init"}
LEFT_OUT = {"one-thread", "plain"}


def functions_of(program):
    """Names of the functions that a program takes from libraries; none when it is no program of ours."""
    with open(program, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return set()
    symbols = subprocess.run(
        ["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1].split("@")[0] for line in symbols.splitlines() if line.split()}


def programs_of(build, test):
    """Paths from the build directory."""
    paths = [os.path.relpath(os.path.join(build, word), build) for word in test["cmd"]]
    return [path for path in paths if os.path.isfile(os.path.join(build, path)) and not path.startswith("..")]


def is_threaded(build, test):
    return any(BEGINS_THREAD & functions_of(os.path.join(build, path)) for path in programs_of(build, test))


def main():
    build, words = sys.argv[1], sys.argv[2:]
    does_name_programs = "--programs" in words
    suites = set(words) - {"--programs"}
    listed = subprocess.run(
        ["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True
    ).stdout
    for test in json.loads(listed):
        of = {suite.split(":")[-1] for suite in test["suite"]}
        if of & suites and not of & LEFT_OUT and is_threaded(build, test):
            print("\n".join(programs_of(build, test) if does_name_programs else [test["name"]]))


if __name__ == "__main__":
    main()
