"""Runs every command of docs/tutorial.md as it stands, in one shell, and looks for the output that the page shows.

tutorial.py PAGE

A block ```sh is run; it has to succeed, unless it says "fails"; one that says "again" is run until its output is there.
A block ```text behind it is what its output has, line by line and in this order; "…" is anything, a line of it any
lines.
"""
import pathlib
import re
import subprocess
import sys
import time

BLOCK = re.compile(r"^```(sh|text)([a-z ]*)\n(.*?)^```$", re.M | re.S)
END = "=== the end of a block: "
AGAIN_SECONDS = 90  # for failures, not for timing


def steps_of(page):
    """(commands, how they are run, promised text) of each block of commands."""
    steps = []
    for kind, how, text in BLOCK.findall(page):
        if kind == "sh":
            steps.append([text, how.split(), ""])
        else:
            steps[-1][2] = text
    return steps


def pattern_of(promised):
    """Blanks are as many as there are columns to align."""
    lines = []
    for line in promised.rstrip("\n").split("\n"):
        words = [".*".join(re.escape(part) for part in word.split("…")) for word in line.split()]
        lines.append(r"(?:.*\n)*?" if line == "…" else r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*\n")
    return re.compile("^" + "".join(lines), re.M)


class Shell:
    def __init__(self):
        self.bash = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)

    def run(self, commands):
        """The status of the last command, and what all of them printed."""
        self.bash.stdin.write(f"{commands}\necho '{END}'$?\n")
        self.bash.stdin.flush()
        output = ""
        for line in self.bash.stdout:
            if END in line:
                before, status = line.split(END)
                return int(status), output + before
            output += line
        sys.exit(f"the shell ended after:\n{commands}\n{output}")


def run_step(shell, commands, how, promised):
    until = time.monotonic() + AGAIN_SECONDS
    while True:
        status, output = shell.run(commands)
        is_there = pattern_of(promised).search(output) is not None if promised else True
        if is_there and (status != 0) == ("fails" in how):
            return None
        if "again" not in how or time.monotonic() > until:
            return f"$ {commands}status {status}, and not as the page has it:\n{output}\n--- the page:\n{promised}"
        time.sleep(0.2)


def main():
    steps = steps_of(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    shell = Shell()
    for commands, how, promised in steps:
        wrong = run_step(shell, commands, how, promised)
        if wrong:
            shell.run("tail -n 5 *.log; kill $(jobs -p)")
            sys.exit(wrong)
    shell.bash.stdin.close()
    print(f"{len(steps)} blocks of commands did what the page says")
    return 0 if len(steps) > 20 else 1


if __name__ == "__main__":
    sys.exit(main())
