"""The table of folders in docs/architecture.md: what each holds and may use, as layers.toml has it.

folder_table.py ROOT [--write]

Refuses a table that says something else; --write writes it anew. What a folder holds is the comment above its row of
layers.toml. A folder with sources but without a row is part of the one above.
"""
import pathlib
import re
import sys
import tomllib

import layers
import shape
import sources

PAGE = "docs/architecture.md"
RULES = "tools/checks/layers.toml"
HEAD = "| library | folder | holds | may use | outside libraries |"
BEGIN = re.compile(r"^\| library \|", re.M)
RULE = "|---|---|---|---|---|"
ROW = re.compile(r'((?:^#.*\n)*)^\[\[layer\]\]\nname = "([^"]+)"', re.M)


def comments_of(text):
    """{layer: the comment above its row, in one line, without its full stop}"""
    return {name: " ".join(line[1:].strip() for line in comment.splitlines()).rstrip(".").replace("|", "/")
            for comment, name in ROW.findall(text)}


def outside_of(layer, rules):
    return [rule["library"] for rule in rules["outside"] if layers.is_named(layer, rule["layers"])]


def row_of(layer, rules, comments):
    may = [*layer["may"], *(f"`{header}`" for header in layer.get("headers", []))]
    return "| {} | `{}` | {} | {} | {} |".format(
        layer["name"], layer["folder"].rstrip("/"), comments.get(layer["name"], ""), ", ".join(may) or "–",
        ", ".join(outside_of(layer, rules)) or "–")


def part_of(folder, layer):
    return f"| {layer['name']} | `{folder}` | | as `{layer['folder'].rstrip('/')}` | |"


def build_table(names, text):
    """(lines of the table, complaints)"""
    rules = tomllib.loads(text)
    rules["layer"].sort(key=lambda layer: layer["folder"])
    comments = comments_of(text)
    folders = {folder + "/" for folder in shape.group_by_folder(name for name in names if shape.is_product(name))}
    rows, complaints = {}, []
    for layer in rules["layer"]:
        rows[layer["folder"]] = row_of(layer, rules, comments)
        if not any(folder.startswith(layer["folder"]) for folder in folders):
            complaints.append(f"{RULES}: {layer['name']}: {layer['folder']} holds no sources")
    for folder in sorted(folders - rows.keys() - {"tools/checks/"}):
        layer = layers.layer_of(folder, rules["layer"])
        if layer is None:
            complaints.append(f"{RULES}: {folder} belongs to no layer")
        else:
            rows[folder] = part_of(folder.rstrip("/"), layer)
    return [HEAD, RULE, *(rows[folder] for folder in sorted(rows))], complaints


def split_page(page):
    """(before, table's lines, after) of the page; None when it has no table of libraries."""
    begin = BEGIN.search(page)
    if not begin:
        return None
    table = page[begin.start():].split("\n\n")[0]
    return page[:begin.start()], table.splitlines(), page[begin.start() + len(table):]


def check(root, write=False):
    """Complaints, one text each."""
    root = pathlib.Path(root)
    wanted, complaints = build_table(sources.list_c(root), (root / RULES).read_text())
    page = (root / PAGE).read_text()
    parts = split_page(page)
    if parts is None:
        return complaints + [f"{PAGE}: has no table that begins with {HEAD}"]
    before, table, after = parts
    if write:
        (root / PAGE).write_text(before + "\n".join(wanted) + after)
        return complaints
    odd = [f"{PAGE}: {line}: is not so" for line in table if line not in wanted]
    odd += [f"{PAGE}: {line}: is missing" for line in wanted if line not in table]
    return complaints + odd


def main():
    complaints = check(sys.argv[1], write="--write" in sys.argv[2:])
    print(*complaints, sep="\n")
    print(f"folder_table: {len(complaints)} complaints; folder_table.py ROOT --write writes the table anew")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
