"""What the compiler and the linker do against mistakes in C is in the programs of the packages.

hardened.py PACKAGES
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def complain(program):
    segments, dynamic = run("readelf", "-hlW", program), run("readelf", "-dW", program)
    asked = set(re.findall(r" UND (\w+)", run("readelf", "-W", "--dyn-syms", program)))
    stack = re.search(r"GNU_STACK +(?:0x\w+ +){5}([RWE ]+) 0x", segments)
    if not re.search(r"Type: +DYN", segments) or not re.search(r"FLAGS_1.*PIE", dynamic):
        yield "lies at one address always: -pie"
    if "GNU_RELRO" not in segments or not re.search(r"FLAGS.*BIND_NOW", dynamic):
        yield "can write what the loader wrote: -z relro, -z now"
    if not stack or "E" in stack[1]:
        yield "may run what is on its stack: -z noexecstack"
    if "__stack_chk_fail" not in asked:
        yield "does not notice a smashed stack: -fstack-protector-strong"
    if not any(name.endswith("_chk") for name in asked):
        yield "calls the C library without the sizes of targets: _FORTIFY_SOURCE"


def programs_of(packages, folder):
    for package in sorted(packages.glob("*.deb")):
        if "dbgsym" not in package.name:
            run("dpkg-deb", "-x", package, folder / package.stem)
    return sorted(folder.glob("*/usr/bin/*"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        programs = programs_of(pathlib.Path(sys.argv[1]), pathlib.Path(folder))
        complaints = [f"{program.name} {what}" for program in programs for what in complain(program)]
    print(*complaints, f"hardened: {len(programs)} programs", sep="\n")
    return 1 if complaints or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
