"""House rules that a compiler does not know. Each complaint names the place and what to do instead.

tidy.py ROOT
"""
import pathlib
import re
import sys

import sources

# clang-format holds code to 100; this bounds the comments that it leaves alone.
C_COLUMNS_MAX = 120
SCRIPT_COLUMNS_MAX = 120
FILE_LINES_WARN = 500
FILE_LINES_MAX = 800
FUNCTION_LINES_WARN = 50
FUNCTION_LINES_MAX = 70
FILE_BYTES_MAX = 256 * 1024
# Archives of recordings, which nothing else could stand for.
PACKED_FOLDERS = ("tests/oracle/recordings/",)
PACKED_BYTES_MAX = 1024 * 1024

# What the top of the tree has; whatever else stands there was left behind.
TOP_ENTRIES = {
    ".ci", ".clang-format", ".editorconfig", ".gitignore", "LICENSE", "README.md", "bench", "dataplane", "debian",
    "docs", "meson.build", "meson_options.txt", "packaging", "placement", "state", "tests", "tools",
}

C_NAMES = (".c", ".h")
SCRIPT_NAMES = (".py", ".sh", "meson.build")
SCRIPT_FOLDERS = ("tools/", ".ci/", "bench/")
# Data that is as it was recorded or chosen.
DATA_FOLDERS = ("tests/fuzz/corpus/", "tests/golden/")

# Written so that this file does not complain about itself.
WORDS = [
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b"), "finish it, or say in a sentence what the limit is"),
    (re.compile(r"\bfor " r"now\b", re.I), "say what holds, not what may come"),
    (re.compile(r"(?<![\w.$})-])/(?:ho" r"me|ro" r"ot|wo" r"rk|Us" r"ers)/\w"), "a path of one machine"),
]

TIME_PLACES = ("state/base/time_source.c", "bench/", "tools/", "tests/")
# Pattern of a call, what to use instead, and where it is allowed.
CALLS = [
    (r"(?:strcpy|strcat|stpcpy|strncpy|strncat)", "snprintf, or memcpy with a length", ()),
    (r"v?sprintf", "snprintf", ()),
    (r"gets", "fgets", ()),
    (r"strtok", "strtok_r or struct text", ()),
    (r"ato(?:i|l|ll|f)", "strtol and its kin, with the end and errno checked", ()),
    (r"(?:rand|srand|random|srandom|drand48|rand_r)", "struct prng (state/base/prng.h)", ()),
    (r"(?:time|gettimeofday|ftime|clock)", "struct time_source (state/base/time_source.h)", ()),
    (r"clock_gettime", "struct time_source (state/base/time_source.h)", TIME_PLACES),
    (r"(?:gmtime|localtime|ctime|asctime)", "gmtime_r", ()),
    (r"assert", "CHECK (state/base/check.h)", ()),
    (r"(?:malloc|calloc|realloc|strdup|strndup)", "memory_take, memory_resize or text_copy",
     ("state/base/memory.c", "tests/", "bench/")),
    (r"(?:system|popen)", "posix_spawn with a list of arguments", ("bench/",)),
    (r"alloca", "an array of a fixed limit", ()),
    (r"no_sanitize\w*", "code that the sanitizers may look at", ()),
    (r"(?:rcu_(?:assign|xchg|cmpxchg|set)_pointer|uatomic_(?:xchg|cmpxchg|set))",
     "the one publishing function (state/tables/publish.c)", ("state/tables/publish.c",)),
]
CALLS = [(re.compile(r"(?<![\w.>])" + name + r"\("), instead, places) for name, instead, places in CALLS]

# In the fields of a log line.
ERROR_KEY = re.compile(r'"[^"]*\b(?:err|errno|err_?msg)=')
LOG_CALL = re.compile(r"\blog_(?:debug|info|warn|error)\s*\((.*?)\);", re.S)
LOG_EVENT_BLANK = re.compile(r'\s*"[^"]*[\s_]')
ERROR_VALUE = re.compile(r"error_text\(|strerror\(|\berrno\b|\berror\.text\b")

STRING = re.compile(r'"(?:\\.|[^"\\])*"')
FUNCTION_NAME = re.compile(r"(\w+)\(")


def is_script(name, first):
    return name.endswith(SCRIPT_NAMES) or (sources.in_any(name, SCRIPT_FOLDERS) and first.startswith("#!"))


def code_of(line):
    """The line without the inside of strings and without its comment."""
    return STRING.sub('""', line).split("//")[0]


def judge_width(line, most):
    width = len(line.expandtabs(8))
    # A literal or an address that cannot be broken may stand alone on its line.
    alone = line.strip().startswith('"') or "://" in line
    if width > most and not alone:
        return f"{width} columns; at most {most}"
    return None


def judge_c_line(name, line, before):
    code = code_of(line)
    # Inside a macro of several lines // would swallow the rest.
    in_macro = line.endswith("\\") or before.endswith("\\")
    if ("/*" in code or "*/" in code) and not in_macro:
        yield "use // for comments"
    if re.match(r"\s*#\s*if\s+0\b", code):
        yield "delete what is switched off"
    if ERROR_KEY.search(line):
        yield "the key of an error value is error"
    for call, instead, places in CALLS:
        found = call.search(code)
        if found and not sources.in_any(name, places):
            yield f"{found.group().rstrip('(')}: use {instead}"


def judge_line(name, line, columns):
    if line != line.rstrip():
        yield "blanks at the end of the line"
    for word, remedy in WORDS:
        found = word.search(line)
        if found:
            yield f"'{found.group()}': {remedy}"
    wide = columns and judge_width(line, columns)
    if wide:
        yield wide


def functions_of(lines):
    """(name, first line, count of lines) of each body; a brace alone in column 0 begins one."""
    begin = None
    for at, line in enumerate(lines):
        if line == "{":
            begin = at
        elif line == "}" and begin is not None:
            head = begin - 1
            while head > 0 and lines[head].startswith((" ", "\t")):
                head -= 1
            found = FUNCTION_NAME.search(lines[head])
            yield (found.group(1) if found else "?"), begin + 1, at - begin + 1
            begin = None


def judge_size(name, lines):
    """(fatal, text)"""
    if len(lines) > FILE_LINES_WARN:
        yield len(lines) > FILE_LINES_MAX, f"{name}: {len(lines)} lines; split it at {FILE_LINES_MAX}"
    if not name.endswith(C_NAMES):
        return
    for function, number, count in functions_of(lines):
        if count > FUNCTION_LINES_WARN:
            fatal = count > FUNCTION_LINES_MAX
            yield fatal, f"{name}:{number}: {function} has {count} lines; at most {FUNCTION_LINES_MAX}"


def judge_logs(name, text):
    """An event is one word; what a call tells of an error has the key error, wherever in the call it is."""
    for call in LOG_CALL.finditer(text):
        number = text.count("\n", 0, call.start()) + 1
        if ERROR_VALUE.search(call.group(1)) and not re.search(r"\berror=", call.group(1)):
            yield True, f"{name}:{number}: the key of an error value is error"
        if LOG_EVENT_BLANK.match(call.group(1)):
            yield True, f"{name}:{number}: a log event is one word, with hyphens"


def columns_of(name, first):
    if name.endswith(C_NAMES):
        return C_COLUMNS_MAX
    return SCRIPT_COLUMNS_MAX if is_script(name, first) else None


def judge_text(name, text):
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    elif text:
        yield True, f"{name}:{len(lines)}: no line end at the end of the file"
    columns = columns_of(name, lines[0] if lines else "")
    before = ""
    for number, line in enumerate(lines, 1):
        complaints = list(judge_line(name, line, columns))
        if name.endswith(C_NAMES):
            complaints += judge_c_line(name, line, before)
        before = line
        for complaint in complaints:
            yield True, f"{name}:{number}: {complaint}"
    if name.endswith(".c"):
        yield from judge_logs(name, text)
    if columns:
        yield from judge_size(name, lines)


def judge_file(root, name):
    path = root / name
    size = path.stat().st_size
    most = PACKED_BYTES_MAX if sources.in_any(name, PACKED_FOLDERS) else FILE_BYTES_MAX
    if size > most:
        yield True, f"{name}: {size} bytes; keep files of more than {most} out of the repository"
        return
    data = path.read_bytes()
    if sources.in_any(name, DATA_FOLDERS) or b"\0" in data or name == "LICENSE":
        return
    try:
        yield from judge_text(name, data.decode())
    except UnicodeDecodeError as error:
        yield True, f"{name}: not UTF-8 ({error.reason})"


def judge_unused(root, names):
    """C files that no meson.build names and headers that nobody includes."""
    built = "\n".join((root / n).read_text() for n in names if n.endswith("meson.build"))
    included = "\n".join((root / n).read_text(errors="replace") for n in names if n.endswith(C_NAMES))
    # Tests and harnesses are named by rows: 'bytes' stands for bytes_test.c.
    quoted = set(re.findall(r"'([^']+)'", built))
    for name in names:
        path = pathlib.PurePath(name)
        stem = re.sub(r"_(?:test|fuzz|bench)$", "", path.stem)
        if name.endswith(".c") and not any(q.endswith(path.name) or q == stem for q in quoted):
            yield True, f"{name}: no meson.build names it; delete it or build it"
        if name.endswith(".h") and f'"{name}"' not in included:
            yield True, f"{name}: nobody includes it; delete it"


def judge_top(names):
    for name in sorted({name.split("/")[0] for name in names} - TOP_ENTRIES):
        yield True, f"{name}: does not belong at the top of the tree"


def check(root):
    """(complaints, notes)"""
    root = pathlib.Path(root)
    names = sources.list_files(root)
    found = [item for name in names for item in judge_file(root, name)]
    found += judge_unused(root, names)
    found += judge_top(names)
    return [text for fatal, text in found if fatal], [text for fatal, text in found if not fatal]


def main():
    complaints, notes = check(sys.argv[1])
    for note in notes:
        print(f"note: {note}")
    print(*complaints, sep="\n")
    print(f"tidy: {len(complaints)} complaints, {len(notes)} notes")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
