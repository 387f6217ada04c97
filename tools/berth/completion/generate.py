"""Writes the completion of one shell: commands and flags come from berth's own help when somebody types, what the ids of
a command are from one table for all shells.

generate.py TABLE TEMPLATE
"""
import pathlib
import sys

MARK = "@IDS@"


def rows_of(text):
    """(command, list, column), the longest command first: the first that fits is taken."""
    rows = [line.split("|") for line in text.splitlines() if line and not line.startswith("#")]
    return sorted(rows, key=lambda row: (-len(row[0].split()), row[0]))


def pick(column):
    """The part of the listing that is the id; a word stands for lines WORD/ID."""
    if column == "0":
        return ""
    if column.isdigit():
        return " | awk 'NR > 1 { print $" + column + " }'"
    return " | sed -n 's/^" + column + "\\/\\([^ ]*\\).*/\\1/p'"


def branch(shell, command, listing, column):
    asked = f"berth {listing} 2>/dev/null{pick(column)}"
    if shell == "fish":
        return f"        case '{command}' '{command} *'\n            {asked}"
    return f'\t"{command}" | "{command} "*) {asked} ;;'


def main():
    table, template = map(pathlib.Path, sys.argv[1:])
    shell = template.name.split(".")[1]
    branches = "\n".join(branch(shell, *row) for row in rows_of(table.read_text()))
    print(template.read_text().replace(MARK, branches), end="")


if __name__ == "__main__":
    main()
