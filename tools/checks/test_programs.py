"""Names the tests of suites and the programs that they run.

test_programs.py BUILD [--threaded] SUITE...

A line is a test: its name, and after tabs its programs as ninja has them. Tests of the suite plain are left out: they
tell nothing under a sanitizer.

--threaded leaves out, as docs/style.md tells, the suite one-thread and tests whose programs cannot have a second
thread, for which the thread sanitizer would be for nothing. The link decides, so that BUILD has to be built: a program
that takes none of the functions below from a library cannot begin a thread, and one thread has no race. A test that is
a script counts by the programs that it is given.
"""
import functools
import json
import os
import subprocess
import sys

# What begins a thread: directly, or inside of a library that does so when it is called.
BEGINS_THREAD = {"pthread_create", "urcu_qsbr_call_rcu", "MHD_start_daemon", "rte_eal_init"}


@functools.cache
def functions_of(program):
    """Names of the functions that a program takes from libraries; none when it is no program of ours."""
    with open(program, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return set()
    symbols = subprocess.run(
        ["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1].split("@")[0] for line in symbols.splitlines() if line.split()}


def introspect(build):
    """Tests, and the files that BUILD makes, as ninja has them."""
    seen = json.loads(subprocess.run(
        ["meson", "introspect", "--tests", "--targets", build], capture_output=True, text=True, check=True
    ).stdout)
    files = [file for target in seen["targets"] for file in target["filename"]]
    return seen["tests"], {os.path.relpath(file, build) for file in files}


def programs_of(build, test, files):
    """Paths from the build directory."""
    words = [os.path.relpath(os.path.join(build, word), build) for word in test["cmd"]]
    return [word for word in words if word in files]


def is_threaded(build, programs):
    return any(BEGINS_THREAD & functions_of(os.path.join(build, program)) for program in programs)


def main():
    build, words = os.path.realpath(sys.argv[1]), sys.argv[2:]
    only_threaded = "--threaded" in words
    suites, left_out = set(words) - {"--threaded"}, {"plain"}
    if only_threaded:
        left_out.add("one-thread")
    tests, files = introspect(build)
    for test in tests:
        of = {suite.split(":")[-1] for suite in test["suite"]}
        programs = programs_of(build, test, files)
        if of & suites and not of & left_out and (not only_threaded or is_threaded(build, programs)):
            print("\t".join([test["name"], *programs]))


if __name__ == "__main__":
    main()
