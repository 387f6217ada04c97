"""The fuzz loop must find the canary's bugs, save the input, and fail again on that input alone."""
import pathlib
import subprocess
import sys
import tempfile

WORDS = {
    "abort": ["Aborted"],
    "overread": ["Segmentation fault", "AddressSanitizer"],
    "hang": ["fuzz: hang"],
}


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout + done.stderr


def main():
    program, corpus, kind = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as directory:
        code, output = run(program, "--seconds", 20, "--hang-seconds", 1, "--save", directory, corpus)
        assert code != 0, f"the loop missed the bug: {output}"
        saved = list(pathlib.Path(directory).iterdir())
        assert len(saved) == 1, f"no single saved input: {saved}: {output}"
        code, output = run(program, "--runs", 0, "--hang-seconds", 1, "--save", directory, saved[0])
        assert code != 0, f"the saved input does not fail: {output}"
        assert any(word in output for word in WORDS[kind]), output
        code, output = run(program, "--runs", 0, corpus)
        assert code == 0, f"the corpus itself must pass: {output}"


main()
