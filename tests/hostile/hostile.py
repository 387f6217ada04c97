#!/usr/bin/env python3
"""Hostile jobs, clients, frames and dialers against a real berthd: each is refused or answered as it should be, within
its processor time and memory, and after each the daemon answers somebody else. At the end a normal job is placed.

hostile.py BUILD [WORD…]: all cases, or those with one of the words in their name. Prints a table."""
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile

NODES = 40
# What was stored, and what the allocator keeps of what was freed, in arenas of several threads: it differs by tens.
KEPT_MIB_MAX = 256


def judge(daemon, cases):
    """Runs what the words of the command line pick of them; returns how many are wrong."""
    from daemon import Wrong
    wrong = 0
    for name, act, cpu_s_max, mib_max in cases:
        if sys.argv[2:] and not any(word in name for word in sys.argv[2:]):
            continue
        complaint = ""
        try:
            cpu_s, mib, seconds = daemon.measured(act)
            daemon.await_health(30)
        except (Wrong, AssertionError, OSError) as e:
            cpu_s, mib, seconds = 0, 0, 0
            complaint = f"{type(e).__name__}: {e}"
        if cpu_s > cpu_s_max or mib > mib_max:
            complaint = "too dear"
        wrong += bool(complaint)
        print(f"{name:48} {seconds:5.1f} {cpu_s:5.2f} of {cpu_s_max:2} {mib:5.0f} of {mib_max:3} {complaint}",
              flush=True)
    return wrong


def judge_in_clear(folder):
    import clients
    import frames
    import handshakes
    import jobs
    import line
    from daemon import Daemon
    daemon = Daemon(sys.argv[1], folder)
    try:
        fleet = frames.Fleet(daemon, NODES)
        at_first_kb = daemon.memory_kb()
        wrong = judge(daemon, [case for module in (clients, jobs, frames, line) for case in module.CASES])
        wrong += judge(daemon, handshakes.LINE_CASES)
        kept_mib = (daemon.memory_kb() - at_first_kb) / 1024
        wrong += kept_mib > KEPT_MIB_MAX
        print(f"{'kept of all that':66} {kept_mib:5.0f} of {KEPT_MIB_MAX:3}")
        frames.a_normal_job_is_placed(daemon)
        fleet.stop()
    finally:
        daemon.stop()
    return wrong


def judge_https(folder):
    import daemon as daemons
    import frames
    import handshakes
    program = pathlib.Path(sys.argv[1]) / "tools/berth/berth"
    for what in (["ca", "create"], ["cert", "create", "controller", "--host", "127.0.0.1"]):
        subprocess.run([program, "tls", *what, "--directory", folder], check=True, stdout=subprocess.DEVNULL)
    daemons.secure = ssl.create_default_context(cafile=f"{folder}/berth-ca.pem")
    daemon = daemons.Daemon(sys.argv[1], folder, settings=[
        f"--http.tls.certificate={folder}/controller.pem", f"--http.tls.key={folder}/controller-key.pem"])
    try:
        fleet = frames.Fleet(daemon, 1)
        wrong = judge(daemon, handshakes.CASES)
        fleet.stop()
    finally:
        daemon.stop()
    return wrong


def main():
    print(f"{'what':48} {'s':>5} {'cpu s':>11} {'MiB':>11}")
    wrong = 0
    for part in (judge_in_clear, judge_https):
        with tempfile.TemporaryDirectory(prefix="berth-hostile.") as folder:
            wrong += part(folder)
    print("the daemon answers, and a normal job is placed" if not wrong else f"FAILED: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import inside
    inside.enter()
    sys.exit(main())
