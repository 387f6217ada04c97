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


ENDBR64 = b"\xf3\x0f\x1e\xfa"


def unmarked_targets(program):
    """How many functions the program's tables point at, and where those lie that no checked jump may go to."""
    image = program.read_bytes()
    code = [tuple(int(number, 16) for number in section)
            for section in re.findall(r"PROGBITS +(\w+) (\w+) (\w+) \w+ +AX ", run("readelf", "-SW", program))]
    pointers = {int(value, 16) for value in re.findall(r"R_X86_64_RELATIVE +(\w+)", run("readelf", "-rW", program))}
    targets = {pointer: pointer - start + offset for start, offset, length in code for pointer in pointers
               if start <= pointer < start + length}
    return len(targets), sorted(address for address, place in targets.items() if image[place:place + 4] != ENDBR64)


def complain_of_jumps(program):
    if "SHSTK" not in run("readelf", "-nW", program):
        yield "is not marked for shadow stacks: -z shstk"
    targets, unmarked = unmarked_targets(program)
    if targets < 3:  # two of them are the compiler's
        yield f"has {targets} functions in tables: not enough to look at"
    if unmarked:
        yield f"has no mark at {len(unmarked)} of {targets} functions, as {unmarked[0]:#x}: -fcf-protection=full"


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
    if "X86-64" in segments:
        yield from complain_of_jumps(program)


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
