"""Started by root with a user, berthd is that user in every thread, with no capability, and goes on working as it: what
root left in its data is its own, keys are read anew, and what it may not read is told before a start.

user_test.py BERTHD
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

BERTHD = os.path.abspath(sys.argv[1])
# A process that has become another user is looked into by nobody, so not for leaks either.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
USER, NUMBER = "nobody", 65534
FIELDS = {"Uid": str(NUMBER), "Gid": str(NUMBER), "CapPrm": "0" * 16, "CapEff": "0" * 16, "CapAmb": "0" * 16,
          "NoNewPrivs": "1"}
# Of the loopback, and of no other process that does the same.
ADDRESS = "127.{}.{}.{}".format(64 + (os.getpid() >> 16), os.getpid() >> 8 & 255, os.getpid() & 255)


def expect(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")
    print(what)


def settings(folder, **more):
    named = {"data_dir": folder / "data", "master_key_file": folder / "key", "http.port": 0, "user": USER,
             "ports.0.io": "socket", "ports.0.addresses": ADDRESS, "http.socket.path": folder / "socket", **more}
    return [BERTHD, *(f"--{name}={value}" for name, value in named.items())]


def genkey(folder, *options):
    subprocess.run([BERTHD, "genkey", *options, folder / "key"], check=True, stdout=subprocess.DEVNULL)


def make(folder):
    """A data directory as an older version that was root left it, and traps in it."""
    folder.chmod(0o755)
    genkey(folder)
    os.chown(folder / "key", NUMBER, NUMBER)
    (folder / "data/inner").mkdir(parents=True)
    (folder / "data/inner/file").write_text("")
    (folder / "secret").write_text("")
    (folder / "secret").chmod(0o600)
    (folder / "data/link").symlink_to(folder / "secret")
    (folder / "other").write_text("")
    os.link(folder / "other", folder / "data/other")
    os.chown(folder, NUMBER, NUMBER)


def refused(folder, command, words, **more):
    done = subprocess.run([*command, "--check"], text=True, capture_output=True, timeout=60, **more)
    expect(done.returncode != 0 and words in done.stderr, f"refused: {words} {done.stderr.strip()!r}")


def wait_for(log, event, seconds=100):
    end = time.monotonic() + seconds
    while f"event={event}" not in log.read_text():
        expect(time.monotonic() < end, f"{event} within {seconds} s: {log.read_text()}")
        time.sleep(0.05)


def status(path):
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return {name: set(value.split()) for name, _, value in lines}


def look_at_threads(pid):
    threads = sorted(pathlib.Path(f"/proc/{pid}/task").iterdir())
    for thread in threads:
        try:
            has = status(thread / "status")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        for name, value in FIELDS.items():
            expect_quietly(has[name] == {value}, f"{name} of {thread.name} is {value}, not {has[name]}")
    expect(len(threads) > 4, "every thread is the user, and has no capability")


def expect_quietly(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")


def live(folder):
    log = folder / "log"
    with open(log, "w") as output:
        daemon = subprocess.Popen(settings(folder), stdout=output, stderr=output)
    try:
        wait_for(log, "ready")
        look_at_threads(daemon.pid)
        owners = {p.name: os.lstat(p).st_uid for p in (folder / "data").rglob("*")}
        kept = {"link": 0, "other": 0}
        expect(owners == {name: kept.get(name, NUMBER) for name in owners}, f"its data is its own: {owners}")
        expect(os.stat(folder / "secret").st_uid == 0 and os.stat(folder / "other").st_uid == 0,
               "what a link leads to is as it was")
        expect(os.stat(folder / "socket").st_uid == NUMBER, "its socket is its own")
        genkey(folder, "--rotate")
        expect(os.stat(folder / "key").st_uid == NUMBER, "a new master key is its own")
        daemon.send_signal(signal.SIGHUP)
        wait_for(log, "master-keys-changed")
        wait_for(log, "reloaded")
        look_at_threads(daemon.pid)
        daemon.send_signal(signal.SIGTERM)
        expect(daemon.wait(100) == 0, "it stops cleanly")
    finally:
        daemon.kill()
        daemon.wait()


def main():
    if os.geteuid() != 0:
        print("skipped: only root can become another user")
        return 77
    with tempfile.TemporaryDirectory(prefix="berth-user-", dir="/tmp") as folder:
        folder = pathlib.Path(folder)
        make(folder)
        live(folder)
        subprocess.run([*settings(folder, user=""), "--verify-state"], check=True, stdout=subprocess.DEVNULL)
        expect({p.lstat().st_uid for p in (folder / "data/log").iterdir()} == {NUMBER},
               "root is the owner of data_dir where no user is named")
        refused(folder, settings(folder, user="no-such-user"), 'there is no user "no-such-user"')
        with open(BERTHD, "rb") as program:  # another user need not reach the folder that it lies in
            refused(folder, settings(folder, user="root"), "only root can become root", user=USER, group=NUMBER,
                    executable=f"/proc/self/fd/{program.fileno()}", pass_fds=[program.fileno()],
                    env={**os.environ, "TSAN_OPTIONS": ""})  # nor the suppressions
        os.chown(folder / "key", 0, 0)
        refused(folder, settings(folder), "may not be read by the user that this is")
    return 0


if __name__ == "__main__":
    sys.exit(main())
