"""Job files in the manner people write them, and what must come out of each (manners.txt).

manners_test.py BERTH
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def read_cases():
    """Each case: its name, the lines of its job file, and those of what is wanted."""
    text = pathlib.Path(__file__).with_name("manners.txt").read_text(encoding="utf-8")
    for case in text.split("\n### ")[1:]:
        name, *lines = case.rstrip("\n").split("\n")
        wishes = [line[3:] for line in lines if line.startswith("=> ")]
        yield name, [line for line in lines if not line.startswith("=> ")], wishes


def take(wishes, wish):
    """Whether it is among the wishes; takes it away."""
    if wish not in wishes:
        return False
    wishes.remove(wish)
    return True


def text_of(lines, wishes):
    end, begin = ("\r\n", "\ufeff") if take(wishes, "on Windows") else ("\n", "")
    return begin + end.join(lines) + ("" if take(wishes, "without a last line end") else end)


def member(job, path):
    """The member at a path, None when something on the way is missing. Names of maps may have dots."""
    names = path.split(".")
    while names and job is not None:
        if isinstance(job, list):
            index = int(names.pop(0))
            job = job[index] if index < len(job) else None
            continue
        size = next((n for n in range(1, len(names) + 1) if ".".join(names[:n]) in job), 0)
        job = job[".".join(names[:size])] if size else None
        names = names[size:]
    return job


def is_as_wanted(value, wanted):
    return value == wanted or (not value and wanted in (None, ""))


def complaint(berth, file, lines, wishes):
    """What is wrong with a case; None: nothing."""
    file.write_bytes(text_of(lines, wishes).encode())
    run = subprocess.run([berth, "job", "parse", file], capture_output=True, text=True, check=False)
    if wishes[0].startswith("refused at line "):
        line, _, words = wishes[0][len("refused at line "):].partition(": ")
        is_refused = run.returncode == 4 and f"{file}:{line}," in run.stderr and words in run.stderr
        return None if is_refused else f"{wishes[0]} was wanted, not {run.returncode}: {run.stderr or run.stdout}"
    if run.returncode:
        return run.stderr
    job = json.loads(run.stdout)["Job"]
    pairs = [(wish.split(" ", 1)[0], json.loads(wish.split(" ", 1)[1])) for wish in wishes]
    wrong = [f"{path}: {member(job, path)!r}, not {wanted!r}" for path, wanted in pairs
             if not is_as_wanted(member(job, path), wanted)]
    return "\n".join(wrong) or None


def main():
    count, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, lines, wishes in read_cases():
            why = complaint(sys.argv[1], pathlib.Path(folder) / "case.nomad.hcl", lines, wishes)
            count += 1
            failed += why is not None
            if why:
                print(f"{name}: {why}")
    print(f"{count - failed} of {count} are as they must be")
    return failed != 0 or count < 50


if __name__ == "__main__":
    sys.exit(main())
