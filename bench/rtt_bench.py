#!/usr/bin/env python3
"""Wire to wire: how long a heartbeat and a placement take through the daemon, against a forwarder that only
swaps addresses (dpdk-testpmd 5tswap), over the same kind of device (net_memif between two processes).

  rtt_bench.py --build DIRECTORY [--smoke] [--json FILE] [--pairs N] [--command TEXT] [--count N]
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

SKIPPED = 77
SERVER, CLIENT = "10.99.0.1", "10.99.0.2"
SERVER_MAC, CLIENT_MAC = "02:be:47:00:00:01", "02:be:47:00:00:02"
PERCENTILES = [("p50", "p50"), ("p99", "p99"), ("p999", "p99.9")]
# What is asked, bytes of the question, and how many questions in one run.
SUBJECTS = {"heartbeat": (64, 20000), "place": (128, 3000)}
START_SECONDS = 30

JOB = {"Job": {"ID": "rtt", "Name": "rtt", "Type": "direct", "Datacenters": ["*"], "TaskGroups": [
    {"Name": "g", "EphemeralDisk": {"SizeMB": 1}, "Tasks": [
        {"Name": "t", "Driver": "exec", "Resources": {"CPU": 1, "MemoryMB": 10}}]}]}}


def say_skipped(why):
    print(f"rtt cannot run here: {why}")
    return SKIPPED


def memif(role, directory):
    # The probe listens, since it is there first: a memif client connects once, when it starts.
    mac = CLIENT_MAC if role == "server" else SERVER_MAC
    return f"net_memif0,role={role},socket={directory}/memif.sock,socket-abstract=no,mac={mac}"


@contextlib.contextmanager
def running(command, directory, name):
    with open(directory / f"{name}.log", "w", encoding="utf-8") as log:
        with subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=log,
                              stderr=log) as process:
            try:
                yield process
            finally:
                process.terminate()
                process.wait()


@contextlib.contextmanager
def probing(arguments, options, directory, plan):
    (directory / "memif.sock").unlink(missing_ok=True)
    command = [arguments.build / "bench/rtt_probe", "--vdev", memif("server", directory), "--server", SERVER,
               "--server-mac", SERVER_MAC, "--address", CLIENT, "--cpu", options["probe_cpu"],
               "--key-file", directory / "master.key",
               "--plan", ",".join(f"{ask}:{size}:{count}" for ask, size, count in plan)]
    with open(directory / "probe.log", "w", encoding="utf-8") as log:
        with subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=log,
                              text=True) as process:
            try:
                if process.stdout.readline() != "ready\n":
                    sys.exit("rtt_probe did not start: " + (directory / "probe.log").read_text())
                yield process
            finally:
                process.terminate()


def answers(process, directory, name, plan):
    lines = [process.stdout.readline() for _ in plan]
    if not all(lines):
        sys.exit("".join((directory / f"{log}.log").read_text()[-3000:] for log in (name, "probe")))
    return dict(zip(SUBJECTS, map(json.loads, lines)))


def forwarder(options, directory):
    return ["dpdk-testpmd", "--no-huge", "-m", "256", "--no-shconf", "--no-pci", "--no-telemetry",
            f"--file-prefix=rtt-{os.getpid()}", f"--lcores=0@{options['probe_cpu']},1@{options['server_cpu']}",
            f"--vdev={memif('client', directory)}", "--", "--forward-mode=5tswap", "--disable-link-check",
            "--total-num-mbufs=8192", "--nb-cores=1"]


def measure_forwarder(arguments, options, directory, counts):
    plan = [("echo", size, counts[name]) for name, (size, _) in SUBJECTS.items()]
    with probing(arguments, options, directory, plan) as process:
        with running(forwarder(options, directory), directory, "testpmd"):
            return answers(process, directory, "testpmd", plan)


def http(port, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method="PUT" if body else "GET",
                                     data=json.dumps(body).encode() if body else None)
    with urllib.request.urlopen(request, timeout=5) as answer:
        return answer.read()


def daemon(arguments, options, directory):
    return [arguments.build / "tools/berthd/berthd", f"--data_dir={directory}/data",
            f"--master_key_file={directory}/master.key", f"--http.port={options['http_port']}",
            f"--ports.0.device={memif('client', directory)}", f"--ports.0.addresses={SERVER}",
            "--dataplane.huge=no", "--wire.ttl_ms=600000", "--log.level=warn"]


def register_job(process, port):
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            http(port, "/v1/jobs", JOB)
            return
        time.sleep(0.05)
    sys.exit("berthd does not answer")


def measure_daemon(arguments, options, directory, counts):
    plan = [(name, size, counts[name]) for name, (size, _) in SUBJECTS.items()]
    with probing(arguments, options, directory, plan) as process:
        with running(daemon(arguments, options, directory), directory, "berthd") as berthd:
            register_job(berthd, options["http_port"])
            return answers(process, directory, "berthd", plan)


def results_of(pairs, smoke, command):
    for name in SUBJECTS:
        for key, label in PERCENTILES:
            subject = [ours[name][key] for ours, _ in pairs]
            reference = [theirs[name][key] for _, theirs in pairs]
            ratios = [a / b for a, b in zip(subject, reference)]
            yield {"name": f"{name} {label}", "figure": statistics.median(subject), "unit": "us",
                   "reference": statistics.median(reference), "against": "testpmd 5tswap",
                   "ratio": statistics.median(ratios), "ratio_least": min(ratios), "ratio_most": max(ratios),
                   "lost": sum(ours[name]["lost"] for ours, _ in pairs), "smoke": smoke, "command": command}


def print_result(r):
    print(f"{r['name']:18} {r['figure']:10.1f} {r['unit']}, against {r['reference']:.1f} ({r['against']}): "
          f"ratio {r['ratio']:.2f} ({r['ratio_least']:.2f} to {r['ratio_most']:.2f}), lost {r['lost']}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--count", type=int, default=0, help="heartbeats of one run")
    parser.add_argument("--command", default=" ".join(sys.argv))
    return parser.parse_args()


def choose_processors():
    # The daemon plans its worker onto the second core and leaves the first to everything else.
    processors = sorted(os.sched_getaffinity(0))
    return {"probe_cpu": processors[0], "server_cpu": processors[1]} if len(processors) > 1 else None


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    # As an exception, so that what was started is ended and the directory removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(128 + signal.SIGINT))
    arguments = parse_arguments()
    options = choose_processors()
    if options is None:
        return say_skipped("it takes two processors, one for each end")
    if shutil.which("dpdk-testpmd") is None:
        return say_skipped("dpdk-testpmd is missing (Debian package dpdk-dev)")
    options["http_port"] = free_port()
    scale = 100 if arguments.smoke else 1
    counts = {name: (arguments.count or count) // scale for name, (_, count) in SUBJECTS.items()}
    with tempfile.TemporaryDirectory(prefix="berth-rtt-") as name:
        directory = pathlib.Path(name)
        subprocess.run([arguments.build / "tools/berthd/berthd", "genkey", directory / "master.key"], check=True,
                       stdout=subprocess.DEVNULL)
        pairs = []
        for _ in range(1 if arguments.smoke else max(arguments.pairs, 5)):
            theirs = measure_forwarder(arguments, options, directory, counts)
            pairs.append((measure_daemon(arguments, options, directory, counts), theirs))
    results = list(results_of(pairs, arguments.smoke, arguments.command))
    for result in results:
        print_result(result)
    print(f"command: {arguments.command}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
