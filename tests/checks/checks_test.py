"""Each rule of tools/checks must refuse a bad sample, and none may refuse a good one.

checks_test.py ROOT
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/checks"))
import count  # noqa: E402
import docs  # noqa: E402
import folder_table  # noqa: E402
import format as form  # noqa: E402
import how_to  # noqa: E402
import layers  # noqa: E402
import rows  # noqa: E402
import shape  # noqa: E402
import symbols  # noqa: E402
import test_programs  # noqa: E402
import tidy  # noqa: E402

GOOD = {
    "meson.build": "executable('good', 'state/good.c')\n",
    "state/base/floor.h": "#pragma once\nint floor_of(int);\n",
    "state/good.c": '#include "state/base/floor.h"\n\nint floor_of(int x)\n{\n\treturn x;\n}\n',
    "README.md": "Good. See https://example.com/" + "long/" * 40 + "\n",
}


def function(lines):
    return "int f(void)\n{\n" + "\tg();\n" * (lines - 2) + "}\n"


# Path of the bad file, its content, what the complaint must say. Split words keep tidy calm about this file.
TIDY = [
    ("build-left.log", "ninja: done\n", "does not belong at the top"),
    ("state/good.c", "int x; " + " " * 115 + "int y;\n", "columns"),
    ("state/good.c", "\t" * 15 + "int yyyy;\n", "columns"),
    ("tools/a.py", "x = " + "1 + " * 40 + "1\n", "columns"),
    ("state/good.c", "int x;\n" * 801, "801 lines"),
    ("state/good.c", function(71), "f has 71 lines"),
    ("state/good.c", "// TO" "DO\n", "TO" "DO"),
    ("state/good.c", "// FIX" "ME: x\n", "FIX" "ME"),
    ("README.md", "X" "XX\n", "X" "XX"),
    ("README.md", "This is so for " "now.\n", "for " "now"),
    ("README.md", "See /ho" "me/someone/file\n", "a path of one machine"),
    ("state/good.c", "\tstrcpy(a, b);\n", "use snprintf"),
    ("state/good.c", "\tstrncpy(a, b, 3);\n", "use snprintf"),
    ("state/good.c", "\tsprintf(a, b);\n", "use snprintf"),
    ("state/good.c", "\tgets(a);\n", "use fgets"),
    ("state/good.c", "\tstrtok(a, b);\n", "strtok_r"),
    ("state/good.c", '__attribute__((no_sanitize("thread"))) void f(void);\n', "may look at"),
    ("state/good.c", "\tx = atoi(a);\n", "strtol"),
    ("state/good.c", "\tx = rand();\n", "prng"),
    ("state/good.c", "\tx = time(NULL);\n", "time_source"),
    ("tools/x/good.c", "\tgettimeofday(&t, NULL);\n", "time_source"),
    ("state/good.c", "\tclock_gettime(0, &t);\n", "time_source"),
    ("state/good.c", "\tp = malloc(4);\n", "memory_take"),
    ("state/good.c", "\tassert(x);\n", "CHECK"),
    ("state/good.c", '\tlog_warn("lost", "file=%s err=%d", file, 1);\n', "error value is error"),
    ("state/good.c", '\tlog_warn("lost", "why=%s",\n\t\terror_text(e));\n', ":1: the key of an error value is error"),
    ("state/good.c", '\tlog_warn("link is down", "port=%u", port);\n', ":1: a log event is one word"),
    ("state/good.c", "\tsystem(x);\n", "posix_spawn"),
    ("state/good.c", "\trcu_assign_pointer(a, b);\n", "publishing"),
    ("state/good.c", "\tuatomic_xchg(a, b);\n", "publishing"),
    ("placement/good.c", "\trcu_xchg_pointer(a, b);\n", "publishing"),
    ("state/good.c", "int x; /* old */\n", "use // for comments"),
    ("state/good.c", "#if 0\n#endif\n", "switched off"),
    ("state/good.c", "int x; \n", "blanks at the end"),
    ("README.md", "No line end", "no line end"),
    ("README.md", "big\n" * 70000, "280000 bytes"),
    ("tests/oracle/recordings/x.tar.xz", b"\0" * 1100000, "1100000 bytes"),
    ("tests/oracle/x.tar.xz", b"\0" * 300000, "300000 bytes"),
    ("README.md", b"\xff\xfe\n", "not UTF-8"),
    ("state/lonely.c", "int x;\n", "no meson.build names it"),
    ("state/lonely.h", "int x;\n", "nobody includes it"),
]

# Good lines that a careless rule would refuse.
TIDY_GOOD = [
    ("state/good.c", '\tputs("strcpy(a, b) /* atoi(x) */");\n'),
    ("state/good.c", "// like sprintf(3), but bounded\n"),
    ("state/good.c", "\tx = t->time(context) + read_time(y);\n"),
    ("state/good.c", '\t\t"' + "x" * 110 + '"\n'),
    ("state/good.c", "#define LIST(X) \\\n\tX(a) /* first */ \\\n\tX(b) /* last */\n"),
    ("state/tables/publish.c", "\trcu_assign_pointer(a, b);\n"),
    ("state/base/time_source.c", "\tclock_gettime(0, &t);\n"),
    ("state/good.c", function(70)),
    ("tests/fuzz/corpus/x/one", b"\xff\xfe \n  "),
    ("tests/oracle/recordings/x.tar.xz", b"\0" * 300000),
    ("README.md", "mktemp -d berth-XXXXXX and s/network/peer/\n"),
]

LAYERS = [
    ("state/base/bad.c", '#include "state/records/good.h"\n', "base must not include"),
    ("state/records/bad.c", '#include "placement/direct/good.h"\n', "state/records must not include"),
    ("placement/direct/bad.c", '#include "dataplane/good.h"\n', "placement/direct must not include"),
    ("dataplane/bad.c", '#include "placement/direct/good.h"\n', "dataplane must not include"),
    ("dataplane/hot/bad.c", '#include "state/records/good.h"\n', "hot must not include"),
    ("dataplane/wire/bad.c", '#include "state/records/good.h"\n', "wire must not include"),
    ("tools/agent/bad.c", '#include "state/records/good.h"\n', "agent must not include"),
    ("state/records/bad.c", '#include "good.h"\n', "not a path from the root"),
    ("dataplane/hot/bad.c", "#include <rte_mbuf.h>\n", "packet views"),
    ("state/records/bad.c", "#include <rte_ring.h>\n", "state/records must not include <rte_ring.h>"),
    ("tools/api/bad.c", "#include <lmdb.h>\n", "api must not include <lmdb.h>"),
    ("tools/agent/bad.c", "#include <urcu-qsbr.h>\n", "agent must not include"),
]
LAYERS_GOOD = [
    ("dataplane/hot/fine.c", '#include "state/tables/node_table.h"\n#include "dataplane/wire/good.h"\n'),
    ("dataplane/fine.c", '#include <rte_mbuf.h>\n#include "dataplane/hot/good.h"\n'),
    ("tests/fine.c", '#include "placement/direct/good.h"\n#include "dataplane/good.h"\n#include <lmdb.h>\n'),
]
LAYERS_AROUND = ["state/records", "placement/direct", "dataplane", "dataplane/hot", "dataplane/wire"]

DOCS_AROUND = {
    "state/good.h": "#pragma once\n",
    "docs/features.md": "| row | | |\n|---|---|---|\n| A1 | [a](spec/one.md#a1) | x |\n"
                        "| B1–B3 | [b](spec/one.md#b1) | y |\n",
    "docs/spec/one.md": "# One page\n\n" + "".join(f'<a id="{i}"></a>\n' for i in ("a1", "b1", "b2", "b3")),
}
DOCS = [
    ("docs/features.md", "| A1 | a | x |\n| B1–B3 | [b](spec/one.md#b1) | y |\n", "A1 does not lead to its statement"),
    ("docs/features.md", "| A1 | [a](spec/one.md#b1) | x |\n| B1–B3 | [b](spec/one.md#b1) | y |\n", "row A1 does not"),
    ("state/bad.c", "// Rows A1, B1 to B" "4.\n", "bad.c:1: there is no row B4"),
    ("state/bad.c", "int x;\n// As rows A1 and\n// A" "2 say.\n", "bad.c:2: there is no row A2"),
    ("docs/more.md", "As row C" "9 says.\n", "there is no row C9"),
    ("tests/bad_test.py", "# rows A1–A" "3\n", "there is no row A3"),
    ("docs/spec/two.md", '<a id="a9"></a>\n', "row A9 is not listed"),
    ("docs/spec/two.md", '<a id="a1"></a>\n', "a1 is stated in docs/spec/one.md already"),
    ("docs/spec/one.md", '<a id="a1"></a>\n', "row B2 has no statement"),
    ("docs/more.md", "[there](spec/none.md)\n", "spec/none.md: there is no such file"),
    ("docs/more.md", "[there](spec/one.md#two-pages)\n", "there is no such place"),
    ("README.md", "[there](#here)\n", "there is no such place"),
    ("docs/more.md", "See `state/lost.h`.\n", "there is no state/lost.h"),
    ("docs/more.md", "See `state/{good,lost}.h`.\n", "there is no state/lost.h"),
    ("docs/more.md", "See `state/b*.c`.\n", "there is no state/b*.c"),
    ("docs/more.md", "See `lost.c`.\n", "there is no lost.c"),
    ("docs/more.md", "```\n (state/lost.c) ─►\n```\n", "there is no state/lost.c"),
    ("state/bad.c", "int x; // as in state/lost.c\n", "bad.c:1: there is no state/lost.c"),
    ("state/bad.c", "// As sem" "antics \u00a7" "5.7 say.\n", "bad.c:1: cite a page of docs/spec/"),
    ("state/bad.c", "// Six (sem" "antics: 6).\n", "bad.c:1: cite a page of docs/spec/"),
    ("docs/more.md", "See \u00a7" "4.1.\n", "cite a page of docs/spec/"),
    ("state/bad.c", "// Of lost.h.\n", "there is no lost.h"),
    ("state/bad.c", "// (docs/spec/one.md#b4)\n", "there is no b4 in docs/spec/one.md"),
    ("docs/more.md", "See state/lost.c, please.\n", "there is no state/lost.c"),
]
DOCS_GOOD = [
    ("state/fine.c", "// Rows B1–B3 and A1; the arrow of a C99 compiler.\n"),
    ("docs/more.md", "# A `page`\n[one](spec/one.md#one-page) [a](#a-page) [x](https://example.com/none#y)\n"),
    ("docs/more.md", "`state/g*.h` `state/NAME.c` `/etc/lost/lost.conf` `elsewhere/lost.c` `good.h`\n"),
    ("docs/more.md", "```\nx[1](2)\n```\n"),
]

# What a cell of the list of rows says, and what is complained about.
ROWS = [
    ("done: `one-test` (a_case_of_one)", None),
    ("done: `oracle-recordings`, `struct thing` (a word), `a script` (\"what it, says\", helps)", None),
    ("done: `scenes` (first-scene), `a py` (a_case)", None),
    ("done: `one-test`", "row A1: say in brackets which case of one-test it is"),
    ("done: `one-test`", "row A1: names no test with a case"),
    ("done", "names no test with a case"),
    ("done: `oracle-recordings`", "names no test with a case"),
    ("done: `one-test` (a_case_of_one, a_case_of_two)", "one-test has no case a_case_of_two"),
    ("done: `one-test` (a_case_of_one: so)", "one-test has no case a_case_of_one: so"),
    ("done: `one-test` (only_called)", "one-test has no case only_called"),
    ("done: `one-test` (a_case_of_one), `lost-test` (some_case)", "lost-test is no test"),
    ("done: `a script` (\"what it does not\")", "a script has no case"),
    ("done: `scenes` (second-scene)", "scenes has no case second-scene"),
]
ROWS_TESTS = {
    "one-test": {"one_test.c": "static void a_case_of_one(void **state)\n{\n\tonly_called();\n}\n"},
    "a script": {"a.sh": "helps() { true; }\nsay \"what it, says\"\n"},
    "a py": {"a.py": "def a_case():\n    pass\n"},
    "scenes": {"first-scene.json": "{}", "replay.py": ""},
    "oracle-recordings": {"recordings.py": ""},
}

SYMBOLS = [
    ("hot", "#include <stdlib.h>\nvoid *f(void) { return malloc(3); }\n", "malloc"),
    ("hot", "#include <stdio.h>\nvoid f(int x) { printf(\"%d\", x); }\n", "printf"),
    ("hot", "#include <pthread.h>\nvoid f(pthread_mutex_t *m) { pthread_mutex_lock(m); }\n", "pthread_mutex_lock"),
    ("hot", "void log_write(void);\nvoid f(void) { log_write(); }\n", "log_write"),
    ("hot", "#include <unistd.h>\nlong f(void) { return syscall(1); }\n", "syscall"),
    ("no_dpdk", "void rte_exit(int);\nvoid f(void) { rte_exit(1); }\n", "rte_exit"),
]
SYMBOLS_GOOD = "void check_failed(void);\nvoid wire_verify(void);\nvoid f(void) { wire_verify(); check_failed(); }\n"


def write(root, files):
    for name, content in files.items():
        path = pathlib.Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def complaints_about(check, files):
    with tempfile.TemporaryDirectory() as root:
        write(root, files)
        return check(root)


def expect(said, wanted, sample):
    assert any(wanted in line for line in said), f"{sample!r}: wanted {wanted!r}, got {said}"


def test_tidy():
    def check(root):
        return tidy.check(root)[0]

    assert complaints_about(check, GOOD) == [], complaints_about(check, GOOD)
    for name, content, wanted in TIDY:
        expect(complaints_about(check, {**GOOD, name: content}), wanted, (name, content[:60]))
    for name, content in TIDY_GOOD:
        said = complaints_about(check, {**GOOD, name: content})
        said = [line for line in said if "no meson.build names it" not in line and "nobody includes" not in line]
        assert said == [], (name, content[:60], said)


def test_layers():
    around = {f"{folder}/good.h": "#pragma once\n" for folder in LAYERS_AROUND}
    around["state/tables/node_table.h"] = "#pragma once\n"
    assert complaints_about(layers.check, {**GOOD, **around}) == []
    for name, content, wanted in LAYERS:
        expect(complaints_about(layers.check, {**around, name: content}), wanted, (name, content))
    for name, content in LAYERS_GOOD:
        said = complaints_about(layers.check, {**around, name: content})
        assert said == [], (name, content, said)


def test_docs():
    assert complaints_about(docs.check, DOCS_AROUND) == [], complaints_about(docs.check, DOCS_AROUND)
    for name, content, wanted in DOCS:
        expect(complaints_about(docs.check, {**DOCS_AROUND, name: content}), wanted, (name, content))
    for name, content in DOCS_GOOD:
        said = complaints_about(docs.check, {**DOCS_AROUND, name: content})
        assert said == [], (name, content, said)


def test_rows():
    tests = {n: {pathlib.Path(p): text for p, text in files.items()} for n, files in ROWS_TESTS.items()}
    for cell, wanted in ROWS:
        said = list(rows.judge("page", f"| A1 | [a](spec/one.md#a1) | {cell} |", tests))
        assert any(wanted in line for line in said) if wanted else said == [], (cell, said)
    expect(rows.judge("page", "| row | | |\n", tests), "has no rows", "no rows")
    build = {"meson-info/intro-targets.json": json.dumps([{"filename": ["/b/one"], "target_sources": [
                 {"sources": ["ROOT/tests/one_test.c", "ROOT/state/one.c"]}, {"linker": []}]}]),
             "meson-info/intro-tests.json": json.dumps([
                 {"name": "one", "cmd": ["/b/one"]}, {"name": "two", "cmd": ["python3", "ROOT/tests/two.py", "-B"]}])}
    files = {"tests/one_test.c": "x", "tests/two.py": "y", "state/one.c": "z"}
    with tempfile.TemporaryDirectory() as root:
        root = str(pathlib.Path(root).resolve())
        write(root, files | {name: text.replace("ROOT", root) for name, text in build.items()})
        found = rows.tests_of(root, root)
    assert {n: list(f.values()) for n, f in found.items()} == {"one": ["x"], "two": ["y"]}, found


# Files, the rule, what the complaint must say.
SHAPE = [
    ({f"state/big/f{i}.c": "" for i in range(41)}, "sizes", "state/big: 41 source files"),
    ({f"tests/big/f{i}.c": "" for i in range(41)}, "sizes", "tests/big: 41 source files"),
    ({f"state/{folder}/f{i}.c": "" for folder in "abc" for i in range(16)}, "sizes", "half of the folders"),
    ({"state/x/a.h": '#include "state/x/b.h"\n', "state/x/b.c": '#include "state/x/a.h"\n'}, "circles", "a, b include"),
    ({"state/x/a.h": '#include "state/x/b.h"\n', "state/x/b.h": '#include "state/x/c_private.h"\n',
      "state/x/c.c": '#include "state/x/a.h"\n'}, "circles", "a, b, c include"),
    ({"state/a.c": "static int find(int x)\n", "tools/b.c": "static inline void *find(void)\n"}, "statics",
     "state/a.c: the static function find is there in 2 files"),
    ({"state/apply/a.c": function(4) + "void g(void)\n{\n}\n" + "void h(void)\n{\n\tCHECK(x);\n}\n"}, "checks",
     "state/apply/: 1 CHECKs in 3 functions"),
]
SHAPE_GOOD = [
    ({f"state/big/f{i}.c": "" for i in range(40)} | {f"state/{i}/a.c": "" for i in range(9)}, "sizes"),
    ({"state/x/a.c": '#include "state/x/a_private.h"\n', "state/x/a_private.h": '#include "state/x/a.h"\n',
      "state/x/a.h": '#include "state/y/b.h"\n', "state/y/b.h": '#include "state/x/a.h"\n'}, "circles"),
    ({"state/a.c": "static int find_job(int x)\n", "tests/b.c": "static int find(int x)\n",
      "tools/b.c": "static int find(int x)\n", "tools/c.c": "static int find_job(int x)\n"}, "statics"),
    ({"state/apply/a.c": function(4) + "void h(void)\n{\n\tCHECK(x);\n}\n", "state/b.c": function(4)}, "checks"),
]


def test_shape():
    for files, rule, wanted in SHAPE:
        said = complaints_about(lambda root: shape.check(root, [rule], is_strict=True), files)
        expect(said, wanted, (rule, list(files)[:3]))
    for files, rule in SHAPE_GOOD:
        said = complaints_about(lambda root: shape.check(root, [rule], is_strict=True), files)
        assert said == [], (rule, list(files)[:3], said)


TABLE_RULES = """# The floor.
[[layer]]
name = "base"
folder = "state/base/"
may = []

[[layer]]
name = "house"
folder = "state/"
may = ["base"]

[[outside]]
library = "LMDB"
header = "lmdb"
layers = ["house"]
"""
TABLE_ROWS = [
    "| house | `state` |  | base | LMDB |",
    "| base | `state/base` | The floor | – | – |",
    "| house | `state/part` | | as `state` | |",
]
TABLE = {
    "tools/checks/layers.toml": TABLE_RULES,
    "state/a.c": "", "state/base/a.c": "", "state/part/a.c": "", "tests/a.c": "",
    "docs/architecture.md": "\n".join(["Folders", "", folder_table.HEAD, folder_table.RULE, *TABLE_ROWS, "", "End", ""]),
}
# What another tree has otherwise, and what the complaint must say.
TABLE_BAD = [
    ({"docs/architecture.md": TABLE["docs/architecture.md"].replace("| base | LMDB", "| – | LMDB")}, "is not so"),
    ({"docs/architecture.md": TABLE["docs/architecture.md"].replace(TABLE_ROWS[1] + "\n", "")}, "is missing"),
    ({"docs/architecture.md": "Nothing\n"}, "has no table"),
    ({"state/more/a.h": ""}, "`state/more` | | as `state` | |: is missing"),
    ({"elsewhere/a.c": ""}, "elsewhere/ belongs to no layer"),
    ({"tools/checks/layers.toml": TABLE_RULES.replace("state/base/", "state/none/")}, "state/none/ holds no sources"),
]


def test_folder_table():
    assert complaints_about(folder_table.check, TABLE) == [], complaints_about(folder_table.check, TABLE)
    for files, wanted in TABLE_BAD:
        expect(complaints_about(folder_table.check, TABLE | files), wanted, files)
    with tempfile.TemporaryDirectory() as root:
        write(root, TABLE | {"docs/architecture.md": "Folders\n\n| library | old |\n\nEnd\n"})
        folder_table.check(root, write=True)
        assert folder_table.check(root) == []
        assert (pathlib.Path(root) / "docs/architecture.md").read_text() == TABLE["docs/architecture.md"]


HOW_TO = {
    "docs/style.md": "# Style\n\n## How to add …\n\n### A thing\n\n"
                     "At most 2 files of the product. Sample: `\\bTHING_A\\b` in `state`\n\n- `state/a.h`: its number\n- `state/NAME.c`: what it does\n\nAlso `docs/style.md`.\n",
    "state/a.h": "enum { THING_A };\n", "state/a.c": "int x = THING_A;\n", "tests/a.c": "int x = THING_A;\n",
}
HOW_TO_BAD = [
    ({"state/b.c": "int y = THING_A;\n"}, "stands in 3 files, at most 2: state/a.c, state/a.h, state/b.c"),
    ({"docs/style.md": HOW_TO["docs/style.md"].replace("state/a.h", "state/old.h")}, "state/old.h is not there"),
    ({"docs/style.md": HOW_TO["docs/style.md"].replace("THING_A", "THING_B")}, "matches nothing"),
    ({"docs/style.md": HOW_TO["docs/style.md"].replace("2 files", "1 files")}, "lists 2 files; at most 1"),
    ({"docs/style.md": "Nothing\n"}, "has no part"),
]


def test_how_to():
    assert complaints_about(how_to.check, HOW_TO) == [], complaints_about(how_to.check, HOW_TO)
    for files, wanted in HOW_TO_BAD:
        expect(complaints_about(how_to.check, HOW_TO | files), wanted, files)


def archive(root, source):
    write(root, {"a.c": source})
    subprocess.run(["cc", "-O1", "-c", "a.c", "-o", "a.o"], cwd=root, check=True)
    subprocess.run(["ar", "rc", "a.a", "a.o"], cwd=root, check=True)
    return str(pathlib.Path(root) / "a.a")


def test_symbols():
    for rule, source, wanted in SYMBOLS:
        with tempfile.TemporaryDirectory() as root:
            expect(symbols.check(rule, [archive(root, source)]), wanted, source)
    with tempfile.TemporaryDirectory() as root:
        library = archive(root, SYMBOLS_GOOD)
        assert symbols.check("hot", [library]) == []
        assert symbols.check("no_dpdk", [library]) == []


THREADED = [
    ("int main(void) { return 0; }", False),
    ("#include <pthread.h>\nint main(void) { pthread_t t; return pthread_create(&t, 0, 0, 0); }", True),
]


def test_threaded():
    for source, wanted in THREADED:
        with tempfile.TemporaryDirectory() as root:
            write(root, {"a.c": source, "a.sh": "exit 0\n"})
            subprocess.run(["cc", "-w", "-pthread", "a.c", "-o", "a"], cwd=root, check=True)
            given = {"cmd": ["/bin/sh", f"{root}/a.sh", f"{root}/a", f"{root}/b"]}
            assert test_programs.programs_of(root, given, {"a", "c"}) == ["a"]
            assert test_programs.is_threaded(root, ["a.sh", "a"]) == wanted, source


def test_format():
    formatter = form.find_formatter()
    if not formatter:
        print("format: clang-format is not installed, nothing to try")
        return
    shape = {".clang-format": (ROOT / ".clang-format").read_text()}
    with tempfile.TemporaryDirectory() as root:
        write(root, {**shape, **GOOD})
        assert form.check(root, formatter) == []
        write(root, {"state/good.c": "int f( void ){return 1;}\n"})
        expect(form.check(root, formatter), "good.c", "bad form")


CASES = "[ RUN      ] a\n[       OK ] a\n[  FAILED  ] b\n[  SKIPPED ] c\n[==========] 3 test(s) run.\n"
COUNTS = [
    ({"result": "OK", "stdout": "hello"}, (1, 0, 0)),
    ({"result": "FAIL"}, (0, 1, 0)),
    ({"result": "TIMEOUT"}, (0, 1, 0)),
    ({"result": "SKIP"}, (0, 0, 1)),
    ({"result": "UNEXPECTEDPASS"}, (0, 1, 0)),
    ({"result": "FAIL", "stdout": CASES, "stderr": "[  FAILED  ] b\n"}, (1, 1, 1)),
    ({"result": "OK", "stdout": "[       OK ] a\n" * 3}, (3, 0, 0)),
    # All cases passed and then the leak checker had its say.
    ({"result": "FAIL", "stdout": "[       OK ] a\n" * 3}, (3, 1, 0)),
]


def test_count():
    for sample, wanted in COUNTS:
        assert count.count_test(sample) == wanted, (sample, count.count_test(sample))


for test in (test_count, test_tidy, test_layers, test_docs, test_rows, test_shape, test_folder_table, test_how_to,
             test_symbols, test_threaded, test_format):
    test()
    print(f"{test.__name__}: passed")
