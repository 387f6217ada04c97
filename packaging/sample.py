"""Writes the configuration that comes with a program: every setting as a comment, with what it means and its default.

sample.py berthd PROGRAM    settings of berthd.yaml, as `berthd --help` lists them
sample.py agent PROGRAM     settings of agent.env, as `berth-agent --help` lists them

What is a comment stands after "# ", what is a setting after "#" alone.
"""
import re
import subprocess
import sys
import textwrap

COLUMNS = 100

BERTHD_HEAD = """\
# Settings of berthd, the controller: berthd(8), {docs}/configuration.md.
# Each is shown with its default. To change one take the "#" before it away, and those before the sections that
# it is in. "berthd --config=FILE --check" says what is wrong; "systemctl reload berthd" takes over what can change
# while it runs, and says what cannot.
#
# There is no default for ports: name the interface, and the address that is Berth's.
"""

AGENT_HEAD = """\
# Settings of berth-agent, which runs what the controller places on this machine: berth-agent(8). Each is an
# option of the program. BERTH_AGENT_SERVER is needed, and the node's key in BERTH_AGENT_KEY_FILE.

# Further options as on a command line: those that are given several times.
#BERTH_AGENT_OPTIONS="--meta rack=7 --meta row=2"
"""

# "  --http.port    TCP port of the HTTP API [4646]"
SETTING = re.compile(r"^  --([\w.]+) +(.*?)(?: \[([^\]]*)\])?$")
# "  --server=HOST[:PORT]   the controller"
OPTION = re.compile(r"^  --([\w-]+)(?:=(\S+))? +(.*)$")
PLAIN = re.compile(r"[a-z]+|0|[1-9]\d*")


def remark(text, indent):
    return textwrap.wrap(text, COLUMNS, initial_indent=indent + "# ", subsequent_indent=indent + "# ",
                         break_on_hyphens=False, break_long_words=False)


def value_of(preset):
    return preset if PLAIN.fullmatch(preset or "") else f'"{preset or ""}"'


def berthd_lines(help_text):
    """Sections are nested as the dots say; of ports one is shown."""
    section = []
    for line in help_text.partition("\nsettings ")[2].splitlines():
        found = SETTING.match(line)
        if not found:
            continue
        *path, leaf = found[1].replace("ports.N.", "ports.").split(".")
        common = 0
        while common < min(len(path), len(section)) and path[common] == section[common]:
            common += 1
        if not path or path[:1] != section[:1]:
            yield ""
        first = path == ["ports"] and path != section
        for depth in range(common, len(path)):
            yield "  " * depth + f"#{path[depth]}:"
        section = path
        indent = "  " * len(path) + ("  " if path == ["ports"] else "")
        yield from remark(found[2], indent)
        yield (indent[:-2] + f"#- {leaf}: " if first else indent + f"#{leaf}: ") + value_of(found[3])


def agent_lines(help_text):
    for line in help_text.splitlines():
        found = OPTION.match(line)
        if not found or found[1].startswith(("print-", "help", "version")):
            continue
        yield ""
        yield from remark(found[3] + (f": {found[2]}" if found[2] else ""), "")
        yield f"#BERTH_AGENT_{found[1].upper().replace('-', '_')}={'' if found[2] else '1'}"


def main():
    kind, program, *docs = sys.argv[1:]
    text = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
    head, lines = (BERTHD_HEAD, berthd_lines) if kind == "berthd" else (AGENT_HEAD, agent_lines)
    print(head.replace("{docs}", docs[0] if docs else "docs") + "\n".join(lines(text)))


if __name__ == "__main__":
    main()
