"""Completion offers what the program itself offers, in every shell.

completion_test.py FOLDER_OF_BERTH COMPLETION.bash COMPLETION.zsh COMPLETION.fish
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER, BASH, ZSH, FISH = map(os.path.abspath, sys.argv[1:])
# Helps like the real one; a listing has one line, which says how it was asked for.
STAND_IN = """\
#!/bin/sh
case " $* " in
*" help "* | *" --help "*) exec "{0}/berth" "$@" ;;
" var list "*) echo "$*" | tr ' ' - ;;
" node revoked ") echo node/lost; echo client/gone ;;
*) echo head head; echo "$(echo "$*" | tr ' ' -) second" ;;
esac
"""
BASH_DRIVER = """
source "$1"
while IFS= read -r line; do
	read -ra COMP_WORDS <<<"berth $line"
	[[ $line == *" " || -z $line ]] && COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
	_berth
	echo "${COMPREPLY[*]}"
done
"""
# What zsh would show goes through these.
ZSH_DRIVER = """
compadd() { shift; print -l -- $@ | grep -- "^${words[CURRENT]}" >>$out; }
_describe() { print -l -- ${(P)4%%:*} | grep -- "^${words[CURRENT]}" >>$out; }
_files() { print -l -- *(N) >>$out; }
source "$1"
out=$2
while IFS= read -r line; do
	words=(berth ${=line})
	[[ $line == *" " || -z $line ]] && words+=("")
	CURRENT=${#words} && : >$out
	_berth
	print -r -- ${(j: :)${(f)"$(<$out)"}}
done
"""
FISH_DRIVER = """
source $argv[1]
for line in (cat)
    set -l offered (complete -C "berth $line" | string split -f 1 \\t | sort)
    echo "$offered"
end
"""
# Lines that somebody types, and what is offered. Files are those of the folder: one, "a-file".
CASES = {
    "node": "node",
    "place --jo": "--job",
    "job run --ch": "--check-index",
    "operator scheduler ": "get-config set-config",
    "server m": "members",
    "worker ": "delete get list pause port-forward resume",
    "vm create --res": "--resource --restart-policy",
    "ag": "agent-info",
    "node list --zz": "",
    "node status ": "node-list",
    "node status x ": "",
    "node pool info ": "node-pool-list",
    "node restore ": "lost",
    "client restore ": "gone",
    "acl role info ": "second",
    "acl role create ": "",
    "var get ": "var-list---out-terse",
    "job run ": "a-file",
    "job stop ": "job-list",
    "namespace apply ": "a-file namespace-list",
}
ARGUMENT = re.compile(r"^  ([a-z][a-z -]*[a-z]) \[?(?:FILE\|)?(?:ID|NAME|ACCESSOR|ROLE|PATTERN|PATH|KEY|UUID)\b", re.M)
# Names that no list has, or that are still to be given.
UNLISTED = re.compile(r".* create$|client (?:key|revoke|rekey|status)$")


def ask(shell, arguments, lines, folder):
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "BERTH_ADDR": "http://127.0.0.1:1",
                   "HOME": folder}
    done = subprocess.run([*shell, *arguments], input="".join(line + "\n" for line in lines), text=True, check=True,
                          capture_output=True, env=environment, cwd=f"{folder}/files")
    answers = [" ".join(sorted(answer.split())) for answer in done.stdout.split("\n")[:-1]]
    assert len(answers) == len(lines) and not done.stderr, (shell[0], answers, done.stderr)
    return dict(zip(lines, answers))


def shells(folder):
    out = f"{folder}/out"
    yield "bash", ["bash", "--norc", "-c", BASH_DRIVER, "-"], [BASH]
    yield "zsh", ["zsh", "-f", "-c", ZSH_DRIVER, "-"], [ZSH, out]
    yield "fish", ["fish", "--no-config", "-c", FISH_DRIVER], [FISH]


def complain_of_cases(name, answers):
    return [f'{name}: "berth {line}" offers "{answers[line]}", not "{expected}"'
            for line, expected in CASES.items() if answers[line] != expected]


def complain_of_table(shell, arguments, folder):
    """Every first word is offered, and for every command with an id something that lists ids."""
    help_text = subprocess.run([f"{FOLDER}/berth", "help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z][a-z -]*[a-z])\b", help_text, re.M)
    with_ids = [c for c in ARGUMENT.findall(help_text) if not UNLISTED.match(c)]
    assert len(with_ids) > 50
    answers = ask(shell, arguments, ["", *(c + " " for c in with_ids)], folder)
    for word in sorted({c.split()[0] for c in commands} - set(answers[""].split())):
        yield f"berth offers no {word}"
    for command in with_ids:
        if not answers[command + " "]:
            yield f'"berth {command} " offers no ids: say in tools/berth/completion/ids.txt what lists them'


def main():
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("bin", "files"):
            os.mkdir(f"{folder}/{name}")
        pathlib.Path(folder, "files/a-file").touch()
        program = pathlib.Path(folder, "bin/berth")
        program.write_text(STAND_IN.format(FOLDER))
        program.chmod(0o755)
        for name, shell, arguments in shells(folder):
            if not shutil.which(name):
                print(f"{name} is not installed: its completion is not looked at")
                continue
            complaints += complain_of_cases(name, ask(shell, arguments, list(CASES), folder))
            if name == "bash":
                complaints += complain_of_table(shell, arguments, folder)
    print(*complaints, sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
