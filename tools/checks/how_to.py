"""What docs/style.md says about adding things is still true: its paths are there, and something that was added so stands in
no more files than the page says.

how_to.py ROOT
"""
import pathlib
import re
import sys

import shape
import sources

PAGE = "docs/style.md"
TITLE = "## How to add"
SECTION = re.compile(r"^### (.*)$", re.M)
RULE = re.compile(r"^At most (\d+) files of the product\. Sample: `(.*)` in (`.*`)$", re.M)
BULLET = re.compile(r"^- ((?:`[^`]+`(?:, )?)+):", re.M)
QUOTED = re.compile(r"`([^`]+)`")
# A path; the name of a file that is still to be written has NAME in it.
PATH = re.compile(r"^(?:state|placement|dataplane|tools|tests|docs)/[\w./-]*$")
NEW = "NAME"


def sections_of(page):
    """(title, text) of each part about adding something."""
    parts = SECTION.split(page.partition(TITLE)[2].split("\n## ")[0])
    return list(zip(parts[1::2], parts[2::2]))


def matches_of(root, names, pattern, folders):
    """Files of the product in these folders where the pattern matches."""
    places = tuple(folder + "/" for folder in folders)
    return [name for name in names if sources.in_any(name, places) and shape.is_product(name)
            and re.search(pattern, (root / name).read_text(errors="replace"), re.M)]


def judge_section(root, names, title, text):
    for path in QUOTED.findall(text):
        if PATH.match(path) and NEW not in path and not (root / path).exists():
            yield f"{title}: {path} is not there"
    rule = RULE.search(text)
    if not rule:
        return
    most, pattern, folders = int(rule[1]), rule[2], QUOTED.findall(rule[3])
    listed = [path for bullet in BULLET.findall(text) for path in QUOTED.findall(bullet)]
    if len(listed) > most:
        yield f"{title}: lists {len(listed)} files; at most {most}"
    found = matches_of(root, names, pattern, folders)
    if not found:
        yield f"{title}: the sample {pattern} matches nothing; choose another"
    if len(found) > most:
        yield f"{title}: {pattern} stands in {len(found)} files, at most {most}: {', '.join(found)}"


def check(root):
    """Complaints, one text each."""
    root = pathlib.Path(root)
    names = sources.list_c(root)
    sections = sections_of((root / PAGE).read_text())
    complaints = [f"{PAGE}: {text}" for title, body in sections for text in judge_section(root, names, title, body)]
    return complaints if sections else [f"{PAGE}: has no part {TITLE}"]


def main():
    complaints = check(sys.argv[1])
    print(*complaints, sep="\n")
    print(f"how_to: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
