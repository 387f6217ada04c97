"""A real controller and a simulated fleet, two processes with net_memif between them: what the benchmarks of whole
clusters share. The fleet listens on the socket and outlives the controller, so that a controller can be killed and
started again.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

SERVER, CLIENT = "10.99.0.1", "10.99.0.2"
SERVER_MAC, CLIENT_MAC = "02:be:47:00:00:01", "02:be:47:00:00:02"
START_SECONDS = 120
STOP_SECONDS = 30
POLL_SECONDS = 0.02  # at least
MEMIF_RING = 12  # slots of a ring, as a power of two
SAMPLE = re.compile(r"^(\w+)(\{[^}]*\})? (\S+)$")


class Failure(SystemExit):
    """The benchmark did not see what it measures."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def memif(role, directory, mac):
    return (f"net_memif0,role={role},socket={directory}/memif.sock,socket-abstract=no,mac={mac},rsize={MEMIF_RING}")


class Cluster:
    """Programs of one run, in a directory of its own. Use it in a with statement: it ends what it started."""

    def __init__(self, build, end_s):
        self.build = build
        self.deadline = time.monotonic() + end_s
        self.port = free_port()
        self.programs = {}
        self.rest = contextlib.ExitStack()
        base = os.environ.get("TMPDIR", "/var/tmp")
        self.directory = pathlib.Path(self.rest.enter_context(tempfile.TemporaryDirectory(prefix="berth-", dir=base)))
        key = [build / "tools/berthd/berthd", "genkey", self.directory / "master.key"]
        subprocess.run(key, check=True, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.programs.values():
            end_process(process)
        self.rest.close()

    @property
    def daemon(self):
        return self.programs["berthd"]

    def log(self, name):
        return self.directory / f"{name}.log"

    def run(self, name, command, stdout=None):
        """Starts a program; what it writes goes to its log, or its output to whom it answers."""
        with open(self.log(name), "ab") as log:
            self.programs[name] = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                                                   stdout=log if stdout is None else stdout, stderr=log, text=True)
        return self.programs[name]

    def fail(self, what):
        for name in self.programs:
            sys.stderr.write(f"{name}: ...\n" + self.log(name).read_text(errors="replace")[-2000:])
        raise Failure(what)

    def start_fleet(self, nodes, *options):
        """Starts the fleet, which waits for the controller; call start_daemon next."""
        device = memif("server", self.directory, CLIENT_MAC)
        self.run("fleet", [
            self.build / "tools/fleet/berth-fleet", f"--server={SERVER}", f"--address={CLIENT}", f"--vdev={device}",
            f"--key-file={self.directory}/master.key", f"--nodes={nodes}", *options])
        self.wait("the fleet's socket", START_SECONDS, (self.directory / "memif.sock").exists)

    def start_daemon(self, *settings):
        device = memif("client", self.directory, SERVER_MAC)
        self.run("berthd", [
            self.build / "tools/berthd/berthd", f"--data_dir={self.directory}/data",
            f"--master_key_file={self.directory}/master.key", f"--http.port={self.port}",
            f"--ports.0.device={device}", f"--ports.0.addresses={SERVER}", "--dataplane.huge=no", "--log.level=warn",
            *settings])
        self.wait("the controller's first answer", START_SECONDS, self.answers)

    def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()

    def answers(self):
        with contextlib.suppress(OSError):
            self.http("/v1/metrics?format=prometheus")
            return True
        return False

    def http(self, path, body=None, method="PUT"):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data,
                                         method=method if data else "GET")
        with urllib.request.urlopen(request, timeout=STOP_SECONDS) as answer:
            return answer.read()

    def metrics(self):
        """Every sample by its name, with its labels as they are written."""
        samples = {}
        for line in self.http("/v1/metrics?format=prometheus").decode().splitlines():
            match = SAMPLE.match(line)
            if match:
                samples[match[1] + (match[2] or "")] = float(match[3])
        return samples

    def metric(self, name):
        return self.metrics().get(name, 0)

    def wait(self, what, seconds, is_so):
        """Returns when it is so; the monotonic time, to one part of a hundred, since each look costs the controller
        something. Fails after so many seconds, at the end of the run, or when one of the programs ends."""
        began = time.monotonic()
        end = min(began + seconds, self.deadline)
        while not is_so():
            for name, process in self.programs.items():
                if process.poll() not in (None, 0 if name == "job_put" else None):
                    self.fail(f"{name} ended with {process.returncode} while waiting: {what}")
            if time.monotonic() > end:
                self.fail(f"not seen in time: {what}")
            time.sleep(max(POLL_SECONDS, (time.monotonic() - began) / 100))
        return time.monotonic()

    def wait_metric(self, name, value, seconds):
        return self.wait(f"{name} at {value:g}", seconds, lambda: self.metric(name) >= value)

    def alive(self, figures):
        return figures["berth_allocations"] - figures["berth_allocations_terminal"]

    def put(self, job, count, prefix, clients=1):
        """Starts to register jobs; the process and when its first PUT began."""
        template = self.directory / f"{prefix}.json"
        template.write_text(json.dumps({"Job": job}))
        left = max(1, int(self.deadline - time.monotonic()))
        command = [self.build / "bench/job_put", "--port", self.port, "--template", template, "--count", count,
                   "--prefix", prefix, "--clients", clients, "--seconds", left]
        process = self.run("job_put", command, subprocess.PIPE)
        words = process.stdout.readline().split()
        if len(words) != 2:
            self.fail("job_put did not start")
        return process, float(words[1])

    def put_result(self, process, count):
        """What job_put says when it has ended; fails unless every job was taken."""
        line = process.stdout.readline()
        process.wait()
        result = json.loads(line) if line else {"put": 0, "failed": 0}
        if result["put"] - result["failed"] != count:
            self.fail(f"{count} jobs were put, {result['put']} answered, {result['failed']} of them refused")
        return result

    def fleet_line(self):
        """The figures of the last line that the fleet wrote."""
        lines = [line for line in self.log("fleet").read_text().splitlines() if line.startswith("t=")]
        pairs = (word.split("=", 1) for word in (lines[-1].split() if lines else []))
        return {name: float(value.rstrip("s")) for name, value in pairs}

    def wait_fleet(self, what, seconds, name, value):
        """As wait, for a figure of the fleet's lines, of which there is one a second; the line."""
        self.wait(what, seconds, lambda: self.fleet_line().get(name, 0) >= value)
        return self.fleet_line()

    def signal_fleet(self):
        self.programs["fleet"].send_signal(signal.SIGUSR1)

    def resident_bytes(self, kind="RssAnon"):
        """Of the controller; RssAnon: its own memory, without the files that it maps and the packets."""
        status = pathlib.Path(f"/proc/{self.daemon.pid}/status").read_text()
        return int(re.search(kind + r":\s+(\d+) kB", status)[1]) * 1024

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end_process(process):
    if process.poll() is None:
        process.kill()
    process.wait()


def service_job(job_id, count, cpu, memory_mb, **more):
    return {"ID": job_id, "Name": job_id, "Type": "service", "Datacenters": ["*"], "TaskGroups": [{
        "Name": "g", "Count": count, "EphemeralDisk": {"SizeMB": 4}, "Tasks": [{
            "Name": "t", "Driver": "mock", "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
            "Resources": {"CPU": cpu, "MemoryMB": memory_mb}}]}], **more}
