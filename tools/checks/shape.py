"""The shape of the tree: folders small enough to be read, files in order, names that say which, invariants written down.

shape.py ROOT [--strict]

--strict: also where a rule does not hold yet.
"""
import collections
import pathlib
import re
import statistics
import sys

import layers
import sources
import tidy

FOLDER_FILES_MAX = 40
FOLDER_FILES_MEDIAN_MAX = 15

# Tests and benchmarks are no product.
OTHER_FOLDERS = ("tests/", "bench/")
# Where a broken invariant would spread: at least one CHECK in two functions.
CHECKED_FOLDERS = ("state/tables/", "state/apply/", "placement/scheduler/")
CHECKS_PER_FUNCTION_MIN = 0.5

# Where a rule does not hold yet; nothing is added here.
OPEN = {
    "sizes": (),
    "circles": (),
    "statics": (),
    "checks": (),
}

STATIC = re.compile(r"^(?:__attribute__\(\(.*\)\) )?static (?:inline )?(?:[\w ]+?[ *]+)(\w+)\(", re.M)
CHECK = re.compile(r"\b(?:HOT_)?CHECK\(")


def is_product(name):
    return not sources.in_any(name, OTHER_FOLDERS)


def group_by_folder(names):
    folders = collections.defaultdict(list)
    for name in names:
        folders[str(pathlib.PurePath(name).parent)].append(name)
    return folders


def judge_sizes(names):
    sizes = {folder: len(files) for folder, files in group_by_folder(names).items()}
    for folder, size in sorted(sizes.items()):
        if size > FOLDER_FILES_MAX:
            yield f"{folder}: {size} source files; at most {FOLDER_FILES_MAX}: split it by what they are about"
    median = statistics.median(sizes.values()) if sizes else 0
    if median > FOLDER_FILES_MEDIAN_MAX:
        yield f"half of the folders hold {median:g} source files or more; at most {FOLDER_FILES_MEDIAN_MAX}"


def unit_of(path):
    return path.stem.removesuffix("_private")


def units_of_folder(texts):
    """{folder: {unit: units of the same folder that it includes}}; NAME.c, NAME.h and NAME_private.h are one unit."""
    folders = collections.defaultdict(lambda: collections.defaultdict(set))
    for name, text in texts.items():
        path = pathlib.PurePath(name)
        unit = unit_of(path)
        for line in text.splitlines():
            found = layers.INCLUDE.match(line)
            included = pathlib.PurePath(found[2]) if found and found[1] == '"' else None
            if included and included.parent == path.parent and unit_of(included) != unit:
                folders[str(path.parent)][unit].add(unit_of(included))
    return folders


def reach(units, begin):
    """What a unit includes, directly or not."""
    reached, waiting = set(), list(units[begin])
    while waiting:
        unit = waiting.pop()
        if unit not in reached:
            reached.add(unit)
            waiting += units.get(unit, ())
    return reached


def circles_of(units):
    """Groups of units that include each other, directly or not, each sorted."""
    reached = {unit: reach(units, unit) for unit in list(units)}
    circles = {tuple(sorted(other for other in reached[unit] if unit in reached.get(other, ())))
               for unit in reached if unit in reached[unit]}
    return sorted(circles)


def judge_circles(texts):
    for folder, units in sorted(units_of_folder(texts).items()):
        for circle in circles_of(units):
            yield f"{folder}: {', '.join(circle)} include each other: say which is below the other"


def judge_statics(texts):
    files = collections.defaultdict(set)
    for name, text in texts.items():
        for function in STATIC.findall(text):
            if "_" not in function:
                files[function].add(name)
    for function, where in sorted(files.items()):
        for name in sorted(where) if len(where) > 1 else ():
            yield f"{name}: the static function {function} is there in {len(where)} files: give each its noun"


def judge_checks(texts):
    for folder in CHECKED_FOLDERS:
        mine = [text for name, text in texts.items() if name.startswith(folder) and name.endswith(".c")]
        functions = sum(sum(1 for _ in tidy.functions_of(text.split("\n"))) for text in mine)
        checks = sum(len(CHECK.findall(text)) for text in mine)
        if checks < functions * CHECKS_PER_FUNCTION_MIN:
            yield f"{folder}: {checks} CHECKs in {functions} functions; at least {CHECKS_PER_FUNCTION_MIN:g} a function"


RULES = {
    "sizes": lambda names, texts: judge_sizes(names),
    "circles": lambda names, texts: judge_circles(texts),
    "statics": lambda names, texts: judge_statics(texts),
    "checks": lambda names, texts: judge_checks(texts),
}


def check(root, rules=tuple(RULES), is_strict=False):
    """Complaints, one text each; is_strict: also those where a rule does not hold yet."""
    root = pathlib.Path(root)
    names = sources.list_c(root)
    texts = {name: (root / name).read_text(errors="replace") for name in names if is_product(name)}
    return [complaint for rule in rules for complaint in RULES[rule](names, texts)
            if is_strict or not complaint.startswith(OPEN[rule])]


def main():
    is_strict = "--strict" in sys.argv
    complaints = check(sys.argv[1], is_strict=is_strict)
    print(*complaints, sep="\n")
    print(f"shape: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
