"""What pages say of each other and of the code must be there: rows, links, paths. Tests of rows are looked up by rows.py.

docs.py ROOT
"""
import fnmatch
import pathlib
import re
import sys

import sources

SPEC = "docs/spec/"
ROWS_PAGE = "docs/features.md"

# "row C46", "rows B47–B51, C1 and D2", "(rows A1 to A40; …)".
ID = r"[A-E][1-9]\d?(?!\w)"
JOINT = r"(?:\s*(?:,|;|–|-|/|\band\b|\bor\b|\bto\b)\s*)+"
CITED = re.compile(rf"\b[Rr]ows?\s+({ID}(?:{JOINT}{ID})*)")
# "| A1 | [what it is about](spec/system.md#a1) | …", with the link of the first where several share a line.
LISTED = re.compile(rf"^\| ({ID}(?:(?:, |–){ID})*) \|(?: \[[^|]*\]\(([^)|]*)\) \|)?", re.M)
RANGE = re.compile(r"([A-E])(\d+)\s*(?:–|-|\bto\b)\s*([A-E])(\d+)")
C_NAMES = (".c", ".h")
CITING = (".c", ".h", ".py", ".sh", ".md", "meson.build")

# A line of a comment may break a list of rows.
COMMENT_BREAK = re.compile(r"\n[ \t]*(?://|#)?[ \t]*")
# A section of some paper elsewhere. Written so that this file does not complain about itself.
ELSEWHERE = re.compile(r"\bsem" r"antics(?: |: ?|\s*\()(?:§|\d)|(?<!RFC )\u00a7 ?\d")

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.M)
CODE_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
CODE = re.compile(r"`([^`\n]+)`")
COMMENT = re.compile(r"(?:^|\s)(?://|#) (.*)")
# Lines that may be of a block: a diagram or a command.
BLOCK_LINE = re.compile(r"^([^|#`\n].*)$", re.M)
# A path: folders, a name, an ending; a star stands for any text.
PATH = re.compile(r"[\w.*{},-]+(?:/[\w.*{},-]+)*\.[a-z][\w]*")
BRACES = re.compile(r"\{([^{}]*)\}")


def anchors_of(text):
    """Ids and the headings as they are called in addresses."""
    found = set(ANCHOR.findall(text))
    for heading in HEADING.findall(CODE_BLOCK.sub("", text)):
        plain = LINK.sub(lambda m: m.group(0)[1:m.group(0).index("]")], heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def cited_rows(text):
    """(id, offset) of each row that the text cites, ends of ranges and all between them."""
    text = COMMENT_BREAK.sub(lambda m: " " * len(m.group(0)), text)
    for cited in CITED.finditer(text):
        ids = set(re.findall(ID, cited.group(1)))
        for a, low, b, high in RANGE.findall(cited.group(1)):
            if a == b:
                ids |= {f"{a}{n}" for n in range(int(low), int(high) + 1)}
        for row in sorted(ids):
            yield row, cited.start()


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def judge_rows(pages):
    """Rows of the list, and what is wrong with their statements."""
    complaints, stated = [], {}
    for name, text in pages.items():
        for anchor in ANCHOR.findall(text) if name.startswith(SPEC) else ():
            if anchor in stated:
                complaints.append(f"{name}: {anchor} is stated in {stated[anchor]} already")
            stated[anchor] = name
    listed = set()
    for cell, target in LISTED.findall(pages.get(ROWS_PAGE, "")):
        first = cell.split(",")[0].split("–")[0]
        listed |= set(re.findall(ID, cell))
        listed |= {f"{a}{n}" for a, low, _, high in RANGE.findall(cell) for n in range(int(low), int(high) + 1)}
        if not target.endswith("#" + first.lower()):
            complaints.append(f"{ROWS_PAGE}: row {first} does not lead to its statement")
    for row in sorted(listed - {anchor.upper() for anchor in stated}):
        complaints.append(f"{ROWS_PAGE}: row {row} has no statement in {SPEC}")
    for anchor in sorted(stated):
        if re.fullmatch(r"[a-e]\d+", anchor) and anchor.upper() not in listed:
            complaints.append(f"{stated[anchor]}: row {anchor.upper()} is not listed in {ROWS_PAGE}")
    return listed, complaints


def judge_cited(name, text, listed):
    for row, offset in cited_rows(text):
        if row not in listed:
            yield f"{name}:{line_of(text, offset)}: there is no row {row}; {ROWS_PAGE} lists them"
    for found in ELSEWHERE.finditer(text):
        yield f"{name}:{line_of(text, found.start())}: cite a page of {SPEC}"


def judge_links(root, name, text, anchors):
    for found in LINK.finditer(CODE_BLOCK.sub(lambda m: "\n" * m.group(0).count("\n"), text)):
        target, _, anchor = found.group(1).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        path = pathlib.PurePosixPath(name).parent / target if target else pathlib.PurePosixPath(name)
        full = (root / path).resolve()
        if not full.exists():
            yield f"{name}: {found.group(1)}: there is no such file"
            continue
        other = full.relative_to(root).as_posix()
        if anchor and other in anchors and anchor not in anchors[other]:
            yield f"{name}: {found.group(1)}: there is no such place on that page"


def spelled_out(path):
    """a/{b,c}.h as a/b.h and a/c.h."""
    found = BRACES.search(path)
    if not found:
        return [path]
    return [p for part in found.group(1).split(",")
            for p in spelled_out(path[:found.start()] + part + path[found.end():])]


def is_there(root, path, folders, files):
    """True also of what is no path of the repository: names of others' files, placeholders in capitals."""
    if "NAME" in path or not PATH.fullmatch(path):
        return True
    if "/" in path:
        return path.split("/")[0] not in folders or any(root.glob(path))
    return not path.endswith(C_NAMES) or any(fnmatch.fnmatch(f, path) for f in files)


def judge_paths(root, name, text, folders, files):
    for found in (*CODE.finditer(text), *BLOCK_LINE.finditer(text)):
        words = (word.strip(",;:()│") for word in found.group(1).split())
        for path in (p for word in words for p in spelled_out(word)):
            if not is_there(root, path, folders, files):
                yield f"{name}:{line_of(text, found.start())}: there is no {path}"


def judge_comments(root, name, text, folders, files, anchors):
    """Paths that comments name, and places on pages."""
    for number, line in enumerate(text.split("\n"), 1):
        comment = COMMENT.search(line)
        for word in comment.group(1).split() if comment else ():
            place, _, anchor = word.strip(",;:().`'[]").partition("#")
            for path in spelled_out(place):
                if not is_there(root, path, folders, files):
                    yield f"{name}:{number}: there is no {path}"
            if anchor and place in anchors and anchor not in anchors[place]:
                yield f"{name}:{number}: there is no {anchor} in {place}"


def check(root):
    root = pathlib.Path(root).resolve()
    names = sources.list_files(root)
    texts = {n: (root / n).read_text(errors="replace") for n in names if n.endswith(CITING)}
    pages = {n: text for n, text in texts.items() if n.endswith(".md")}
    folders = {n.split("/")[0] for n in names if "/" in n}
    files = {n.split("/")[-1] for n in names}
    anchors = {n: anchors_of(text) for n, text in pages.items()}
    listed, complaints = judge_rows(pages)
    for name, text in texts.items():
        complaints += judge_cited(name, text, listed)
        if name not in pages and not name.startswith("tests/checks/"):
            complaints += judge_comments(root, name, text, folders, files, anchors)
    for name, text in pages.items():
        complaints += judge_links(root, name, text, anchors)
        complaints += judge_paths(root, name, text, folders, files)
    return complaints


def main():
    complaints = check(sys.argv[1])
    print(*complaints, sep="\n")
    print(f"docs: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
