"""Three etcd, three berthd, a simulated fleet and a place for clients, each in a network namespace of its own.

    with Bed(build, directory) as bed: bed.start(); bed.leader(); bed.members["m1"].kill(); ...

Everything that was started is ended by its pid, and everything that was made goes away, at the end of the with
statement. The process itself is in the namespace of the clients from then on. With members=("m1",) and etcds=() it is
one controller with a log of its own, for tests of the tests.
"""
import base64
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import net

HTTP_PORT, WIRE_PORT, ETCD_PORT, ETCD_PEER_PORT = 4646, 4647, 2379, 2380
SERVICE = net.WIRE.format(1)  # moves with the leadership
CLIENTS, FLEET, KEEPER, CLUSTER = "clients", "fleet", "keeper", "proof"
NUMBERS = {"m1": 11, "m2": 12, "m3": 13, "m4": 14, "e1": 21, "e2": 22, "e3": 23, CLIENTS: 31, FLEET: 32}
START_SECONDS = 60
NODE_CPU = 4000  # MHz: room for two of the instances that clients place
THROTTLE = pathlib.Path("/sys/fs/cgroup/blkio")
SAMPLE = re.compile(r"^(\w+)(\{[^}]*\})? (\S+)$")


class Failure(Exception):
    """What was waited for was not seen."""


class Program:
    """One process, which can be killed, stopped and started again."""

    def __init__(self, command, log):
        self.command, self.log, self.process, self.is_stopped = command, log, None, False

    def start(self, *more):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*map(str, self.command), *more], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        return self

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def tell(self, number):
        if self.runs:
            self.process.send_signal(number)

    def stop(self):
        self.is_stopped = True
        self.tell(signal.SIGSTOP)

    def go_on(self):
        self.is_stopped = False
        self.tell(signal.SIGCONT)

    def kill(self):
        self.end(signal.SIGKILL, 30)

    def end(self, number=signal.SIGTERM, patience_s=30):
        if self.process is None:
            return None
        self.tell(number)
        self.go_on()
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode


def ask(host, path, body=None, method=None, timeout_s=5, port=HTTP_PORT):
    """Status, headers and body of one request."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method or ("PUT" if data else "GET"), path, data)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class Bed:
    def __init__(self, build, directory, members=("m1", "m2", "m3"), etcds=("e1", "e2", "e3"), nodes=1000,
                 ttl_ms=3000, mass_percent=20, node_cpu=NODE_CPU, settings=(), prefix=None,
                 keeps_log=False):
        self.build, self.directory = pathlib.Path(build), pathlib.Path(directory)
        self.member_names, self.etcd_names = list(members), list(etcds)
        self.nodes, self.ttl_ms, self.mass_percent = nodes, ttl_ms, mass_percent
        self.node_cpu, self.settings = node_cpu, settings
        self.keeps_log = keeps_log and self.etcd_names  # for final.judge
        self.prefix = prefix or f"proof{os.getpid()}"
        self.net, self.programs, self.throttled = None, {}, []

    def __enter__(self):
        self.net = net.Net(self.prefix)
        try:
            self.net.add_host(CLIENTS, NUMBERS[CLIENTS], "kernel")
            self.net.add_host(FLEET, NUMBERS[FLEET], "kernel")
            for name in self.etcd_names:
                self.net.add_host(name, NUMBERS[name])
            for name in self.member_names:
                self.net.add_host(name, NUMBERS[name], "bare")
            net.enter(self.net.space(CLIENTS))
        except BaseException:
            self.net.close()
            raise
        return self

    def __exit__(self, *_):
        for program in reversed(list(self.programs.values())):
            program.tell(signal.SIGKILL)
        for program in self.programs.values():
            program.end(signal.SIGKILL)
        for group in self.throttled:
            group.rmdir()
        self.net.close()

    @property
    def members(self):
        return {name: self.programs[name] for name in self.member_names if name in self.programs}

    @property
    def etcds(self):
        return {name: self.programs[name] for name in self.etcd_names}

    def data(self, member):
        return self.directory / member / "data"

    def say(self, text):
        with open(self.directory / "events.log", "a", encoding="utf-8") as log:
            log.write(f"{time.monotonic():.3f} {text}\n")

    # etcd

    def start_etcds(self):
        members = ",".join(f"{name}=http://{self.net.managing(name)}:{ETCD_PEER_PORT}" for name in self.etcd_names)
        for name in self.etcd_names:
            here = self.net.managing(name)
            mine, peer = f"http://{here}:{ETCD_PORT}", f"http://{here}:{ETCD_PEER_PORT}"
            self.programs[name] = Program([
                *self.net.inside(name), "etcd", "--name", name, "--data-dir", self.directory / name,
                "--listen-client-urls", mine, "--advertise-client-urls", mine, "--listen-peer-urls", peer,
                "--initial-advertise-peer-urls", peer, "--initial-cluster", members, "--initial-cluster-state", "new",
                "--quota-backend-bytes", 2 << 30, "--logger", "zap", "--log-level", "warn"],
                self.directory / f"{name}.log").start()
        self.wait("etcd answers", START_SECONDS, self.etcd_is_healthy)
        if self.keeps_log:  # etcd forgets what all members have
            self.programs[KEEPER] = Program([self.log_judge, "--keep", self.etcd_log, self.endpoints, CLUSTER],
                                            self.directory / "keeper.log").start()

    @property
    def log_judge(self):
        return self.build / "tests/cluster/log_judge"

    @property
    def etcd_log(self):
        """What the log in etcd was, if it is kept."""
        return self.directory / "etcd.log-kept"

    def etcd_is_healthy(self):
        for name in self.etcd_names:
            try:
                status, _, body = ask(self.net.managing(name), "/health", port=ETCD_PORT, timeout_s=2)
            except OSError:
                return False
            if status != 200 or b'"true"' not in body:
                return False
        return True

    @property
    def endpoints(self):
        return ",".join(f"http://{self.net.managing(name)}:{ETCD_PORT}" for name in self.etcd_names)

    def raise_no_space(self):
        """The alarm that a member of etcd raises when its space is used up: all of them refuse what takes more."""
        here = self.net.managing(self.etcd_names[0])
        status, _, body = ask(here, "/v3/maintenance/status", {}, "POST", port=ETCD_PORT)
        member = json.loads(body)["header"]["member_id"] if status == 200 else 0
        alarm = {"action": "ACTIVATE", "memberID": member, "alarm": "NOSPACE"}
        status, _, body = ask(here, "/v3/maintenance/alarm", alarm, "POST", port=ETCD_PORT)
        if status != 200:
            raise Failure(f"etcd raises no alarm: {status} {body[:200]}")

    def control_etcd(self, *words):
        environment = dict(os.environ, ETCDCTL_API="3")
        subprocess.run(["etcdctl", f"--endpoints={self.endpoints}", *words], env=environment, check=True,
                       capture_output=True, timeout=30)

    # members

    def write_config(self, member):
        folder = self.directory / member
        folder.mkdir(exist_ok=True)
        here = self.net.managing(member)
        lines = [f"data_dir: {folder}/data", f"master_key_file: {self.directory}/master.key",
                 f"name: {member}",
                 f"http: {{address: {here}, port: {HTTP_PORT}, insecure: true}}",
                 f"wire: {{ttl_ms: {self.ttl_ms}}}", f"liveness: {{mass_percent: {self.mass_percent}}}",
                 f"limits: {{nodes: {self.nodes + 1024}}}", 'dataplane: {huge: "no"}', "ports:",
                 f"  - {{device: w0, io: af_packet, addresses: [{SERVICE}, {self.net.wire(member)}]}}"]
        if self.etcd_names:
            lines += ["cluster:", f"  name: {CLUSTER}", f'  endpoints: "{self.endpoints}"',
                      f"  advertise_http: http://{here}:{HTTP_PORT}",
                      f"  advertise_wire: {self.net.wire(member)}:{WIRE_PORT}", "  ttl_ms: 3000"]
        (folder / "berthd.yaml").write_text("\n".join(lines) + "\n")

    @property
    def berthd(self):
        return self.build / "tools/berthd/berthd"

    def do(self, member, *words):
        """Runs berthd with a command, on the member's machine while its daemon is not there."""
        command = [*self.net.inside(member), self.berthd, *words, f"--config={self.directory}/{member}/berthd.yaml"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise Failure(f"{member}: berthd {' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def add_member(self, member, how):
        """how: "init" makes the cluster of what is in its data_dir, "join" comes to one, None has a log of its own."""
        if member not in self.net.hosts:
            self.net.add_host(member, NUMBERS[member], "bare")
        if member not in self.member_names:
            self.member_names.append(member)
        self.write_config(member)
        if how:
            self.do(member, "cluster", how)
        self.start_member(member)

    def start_member(self, member, up_s=0, day_s=0):
        """Its clocks may be away from the machine's: those that count how long it has been up, and the time of day."""
        space = ["unshare", "--time", "--monotonic", up_s, "--boottime", up_s] if up_s else []
        self.programs[member] = Program(
            [*self.net.inside(member), *space, *(self.with_time_of_day(day_s) if day_s else []), self.berthd,
             *self.settings, f"--config={self.directory}/{member}/berthd.yaml"],
            self.directory / f"{member}.log").start()

    def with_time_of_day(self, shift_s):
        """What begins a command whose time of day is another. The address sanitizer wants to be the first library."""
        library = self.build.resolve() / "tests/cluster/libclock_shift.so"
        options = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
        return ["env", f"LD_PRELOAD={library}", f"CLOCK_SHIFT_S={shift_s}", f"ASAN_OPTIONS={options}"]

    def remove_member(self, member):
        self.programs.pop(member).end()
        self.do(member, "cluster", "leave")
        shutil.rmtree(self.data(member))
        self.member_names.remove(member)

    def start(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        if not (self.directory / "master.key").exists():
            subprocess.run([self.berthd, "genkey", self.directory / "master.key"], check=True, capture_output=True)
        if self.etcd_names:
            self.start_etcds()
        for place, member in enumerate(self.member_names):
            self.add_member(member, None if not self.etcd_names else "join" if place else "init")
            # Who comes first makes the cluster, and the keys of variables that all of them have.
            self.wait_answers(member)
        self.wait("a leader", START_SECONDS, self.leader)
        self.start_fleet()

    def start_fleet(self):
        self.programs[FLEET] = Program(
            [*self.net.inside(FLEET), self.build / "tools/fleet/berth-fleet", "--server", f"{SERVICE}:{WIRE_PORT}",
             "--key-file", self.directory / "master.key", "--nodes", self.nodes, "--duration", 1000000,
             "--cpu", self.node_cpu,
             "--memory", 2 * self.node_cpu], self.directory / "fleet.log").start()
        patience_s = START_SECONDS + self.nodes / 1000
        self.wait("the fleet is ready", patience_s, lambda: self.ready() == self.nodes)

    def start_clients(self, seed, pause_ms=60, placing=2):
        """They write to a history of their own until they are ended."""
        here = pathlib.Path(__file__).resolve().parent
        self.history.touch()
        self.programs[CLIENTS] = Program(
            [sys.executable, "-B", here / "clients.py", "--history", self.history, "--wire", SERVICE, "--seed", seed,
             "--hosts", ",".join(map(self.net.managing, self.member_names)), "--key-file",
             self.directory / "master.key", "--pause-ms", pause_ms, "--placing", placing],
            self.directory / "clients.log").start()

    @property
    def history(self):
        return self.directory / "history.jsonl"

    def acknowledged_since(self, began, ops=("put", "place", "register")):
        """How many questions of each kind that were asked later were done."""
        found = dict.fromkeys(ops, 0)
        with open(self.history, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 100000))
            for line in file.read().split(b"\n")[1:]:
                one = json.loads(line) if line.endswith(b"}") else {"outcome": None}
                if one["outcome"] == "ok" and one["op"] in found and one["began"] > began:
                    found[one["op"]] += 1
        return found

    def wait_acknowledged(self, seconds=30, ops=("put", "place", "register")):
        """Until questions of each kind that are asked from now on are done."""
        began = time.monotonic()
        self.wait("questions are answered again", seconds, lambda: all(self.acknowledged_since(began, ops).values()))

    def wait_answers(self, member, seconds=START_SECONDS):
        self.wait(f"{member} answers", seconds, lambda: self.metrics(member) is not None)

    # looking

    def started_s(self, member):
        """When the process began, by its own time of day."""
        status, _, body = ask(self.net.managing(member), "/v1/agent/schedulers?stale")
        if status != 200:
            raise Failure(f"{member}: {status} {body[:200]}")
        text = json.loads(body)["schedulers"][0]["started"]
        return datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp()

    def metrics(self, member):
        """Samples by name, summed over their labels, and by name and label; None when it does not answer."""
        try:
            status, _, body = ask(self.net.managing(member), "/v1/metrics?format=prometheus", timeout_s=2)
        except (OSError, http.client.HTTPException):
            return None
        if status != 200:
            return None
        samples = {}
        for line in body.decode().splitlines():
            match = SAMPLE.match(line)
            if match:
                samples[match[1]] = samples.get(match[1], 0) + float(match[3])
                if match[2]:
                    samples[match[1] + match[2]] = float(match[3])
        return samples

    def is_degraded(self, member):
        try:
            status, _, body = ask(self.net.managing(member), "/v1/agent/health?stale", timeout_s=2)
        except (OSError, http.client.HTTPException):
            return False
        return status == 200 and b"degraded" in body

    def new_log(self, member, size=20000):
        """The end of what it wrote."""
        with open(self.programs[member].log, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read().decode(errors="replace")

    def ready(self):
        leader = self.leader()
        figures = self.metrics(leader) if leader else None
        return figures and figures.get('berth_nodes{status="ready"}')

    def leader(self):
        """The member that has the leader's key in etcd; None when nobody has, or etcd does not say."""
        if not self.etcd_names:
            return self.member_names[0]
        key = base64.b64encode(f"/berth/{CLUSTER}/leader".encode()).decode()
        for name, program in self.etcds.items():
            if not program.runs or program.is_stopped:
                continue
            try:
                status, _, body = ask(self.net.managing(name), "/v3/kv/range", {"key": key}, "POST", 2, ETCD_PORT)
            except (OSError, http.client.HTTPException):
                continue
            if status == 200:
                found = json.loads(body).get("kvs", [])
                return json.loads(base64.b64decode(found[0]["value"]))["name"] if found else None
        return None

    def wait(self, what, seconds, is_so):
        """The value, as soon as it is a true one. A machine that has nothing else to do has it within the seconds; the
        deadline is three times that: it is for failures, not for timing."""
        seconds *= 3
        end = time.monotonic() + seconds
        while True:
            value = is_so()
            if value:
                return value
            for name, program in self.programs.items():
                if name in (FLEET, CLIENTS, KEEPER) and not program.runs:
                    raise Failure(f"{name} ended while waiting: {what}; see {program.log}")
            if time.monotonic() > end:
                ended = [f"{name} ended with {program.process.poll()}" for name, program in self.programs.items()
                         if not program.runs]
                raise Failure("; ".join([f"not within {seconds} s: {what}", *ended]))
            time.sleep(0.1)

    # faults beside those of Program and Net

    def cut_from_etcd(self, member):
        for name in self.etcd_names:
            self.net.cut(member, name)

    def cut_from_members(self, member):
        for name in self.member_names:
            if name != member:
                self.net.cut(member, name)

    def throttle(self, member, writes_a_second):
        """A slow disk: the kernel lets the process write so often. False where it cannot."""
        if not (THROTTLE / "cgroup.procs").exists():
            return False
        group = THROTTLE / f"{self.prefix}-{member}"
        if not group.exists():
            group.mkdir()
            self.throttled.append(group)
        device = os.stat(self.directory).st_dev
        limit = f"{os.major(device)}:{os.minor(device)} {writes_a_second}"
        (group / "blkio.throttle.write_iops_device").write_text(limit)
        (group / "cgroup.procs").write_text(str(self.members[member].process.pid))
        return True
