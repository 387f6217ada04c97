#!/usr/bin/env python3
"""Day two through a member that follows: two berthd with mutual TLS, one etcd and one agent, in network namespaces.

  followed.py --build DIRECTORY

A command, a log that is followed, a port of a machine, the log of the leader and its events go through the follower, as
they come. The leader is killed while all of them are open: each ends and says so, and the member that takes over
answers the same clients.
"""
import argparse
import http.client
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import bed as beds  # noqa: E402

SKIPPED = 77
NODE = "n1"
beds.NUMBERS[NODE] = 33
TASK = "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.2; done"


def expect(what, is_so):
    if not is_so:
        raise beds.Failure(what)


class SecureBed(beds.Bed):
    """Members on sockets, whose APIs speak TLS to who shows a certificate; one real agent in place of a fleet."""

    def __init__(self, build, directory):
        super().__init__(build, directory, members=("m1", "m2"), etcds=("e1",))
        self.pki, self.token = self.directory / "pki", ""

    def __enter__(self):
        super().__enter__()
        for member in self.member_names:
            self.net.ip(member, "address", "add", self.net.wire(member) + "/24", "dev", "w0")
        self.net.add_host(NODE, beds.NUMBERS[NODE], "kernel")
        return self

    def run(self, *words, **more):
        return subprocess.run([str(word) for word in words], check=True, capture_output=True, **more)

    def make_certificates(self):
        berth = self.build / "tools/berth/berth"
        self.pki.mkdir()
        self.run(berth, "tls", "ca", "create", "--directory", self.pki)
        for member in self.member_names:
            self.run(berth, "tls", "cert", "create", member, "--host", self.net.managing(member), "--directory",
                     self.pki)
        self.run(berth, "tls", "cert", "create", "alice", "--directory", self.pki)
        self.context = ssl.create_default_context(cafile=self.pki / "berth-ca.pem")
        self.context.load_cert_chain(self.pki / "alice.pem", self.pki / "alice-key.pem")

    def start(self):
        self.directory.mkdir(parents=True)
        self.make_certificates()
        super().start()

    def write_config(self, member):
        folder, here = self.directory / member, self.net.managing(member)
        folder.mkdir(exist_ok=True)
        shown = f"certificate: {self.pki}/{member}.pem, key: {self.pki}/{member}-key.pem"
        lines = [f"data_dir: {folder}/data", f"master_key_file: {self.directory}/master.key", f"name: {member}",
                 f"http: {{address: {here}, tls: {{{shown}, client_ca: {self.pki}/berth-ca.pem}}}}",
                 "wire: {ttl_ms: 3000}", "liveness: {mass_percent: 100}", "ports:",
                 f"  - {{device: w0, io: socket, addresses: [{self.net.wire(member)}]}}", "cluster:",
                 f"  name: {beds.CLUSTER}", f'  endpoints: "{self.endpoints}"',
                 f"  advertise_http: https://{here}:{beds.HTTP_PORT}",
                 f"  advertise_wire: {self.net.wire(member)}:{beds.WIRE_PORT}", "  ttl_ms: 2000",
                 f"  tls: {{ca: {self.pki}/berth-ca.pem, {shown}}}"]
        (folder / "berthd.yaml").write_text("\n".join(lines) + "\n")

    def ask(self, member, path, body=None):
        connection = http.client.HTTPSConnection(self.net.managing(member), beds.HTTP_PORT, timeout=5,
                                                 context=self.context)
        try:
            headers = {"X-Nomad-Token": self.token} if self.token else {}
            connection.request("GET" if body is None else "PUT", path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, member, path):
        """The value; None when there is none."""
        try:
            status, body = self.ask(member, path)
        except (OSError, http.client.HTTPException):
            return None
        return json.loads(body) if status == 200 else None

    def metrics(self, member):
        try:
            status, body = self.ask(member, "/v1/metrics?format=prometheus")
        except (OSError, http.client.HTTPException):
            return None
        if status != 200:
            return None
        lines = [line.rsplit(" ", 1) for line in body.decode().splitlines() if line and line[0] != "#"]
        return {name: float(value) for name, value in lines}

    def wait_answers(self, member, seconds=beds.START_SECONDS):
        self.wait(f"{member} answers", seconds, lambda: self.get(member, "/v1/status/leader") is not None)

    def start_fleet(self):
        """One agent, which may run machines. Over TLS access control is on from the first start."""
        status, body = self.ask(self.leader(), "/v1/acl/bootstrap", {})
        expect(f"no first token was made: {status} {body}", status == 200)
        self.token = json.loads(body)["SecretID"]
        state, images = self.directory / NODE, self.directory / "images"
        state.mkdir()
        images.mkdir()
        self.run(self.build / "tests/tools/agent/vm/write_guest", images / "ticks.img")
        agent = self.build / "tools/agent/berth-agent"
        name = self.run(agent, "--print-id", "--state-dir", state, text=True).stdout.strip()
        key = self.run(self.build / "tools/berth/berth", "node", "key", name, "--master-key",
                       self.directory / "master.key").stdout
        (state / "node.key").write_bytes(key)
        (state / "node.key").chmod(0o600)
        servers = ",".join(f"{self.net.wire(member)}:{beds.WIRE_PORT}" for member in self.member_names)
        # What the agent runs goes on without it, but not without the first process of its space.
        self.programs[NODE] = beds.Program(
            [*self.net.inside(NODE), "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", agent,
             "--server", servers, "--state-dir", state, "--name", NODE, "--worker",
             "--vm-network", "user", "--vm-acceleration", "none", "--vm-images", images],
            self.directory / "agent.log").start()
        self.wait("the agent is ready", beds.START_SECONDS, self.node_is_ready)

    def node_is_ready(self):
        nodes = self.get(self.leader() or self.member_names[0], "/v1/nodes?stale")
        return nodes and nodes[0]["Status"] == "ready"

    def berth(self, member, *words, **more):
        """The command begun against a member, with pipes at its ends."""
        environment = dict(os.environ, BERTH_TOKEN=self.token, BERTH_ADDR=f"https://{self.net.managing(member)}:{beds.HTTP_PORT}",
                           BERTH_CACERT=f"{self.pki}/berth-ca.pem", BERTH_CLIENT_CERT=f"{self.pki}/alice.pem",
                           BERTH_CLIENT_KEY=f"{self.pki}/alice-key.pem")
        return subprocess.Popen([str(self.build / "tools/berth/berth"), *map(str, words)], env=environment, text=True,
                                stdin=more.pop("stdin", subprocess.PIPE), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def run_berth(self, member, *words, given=""):
        command = self.berth(member, *words)
        out, error = command.communicate(given, timeout=60)
        expect(f"berth {' '.join(map(str, words))}: {command.returncode}, {error}", command.returncode == 0)
        return out


def begin_work(bed, member):
    """A task that writes lines, and a machine; the allocation's id."""
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "sh", "args": ["-c", TASK]},
            "Resources": {"CPU": 20, "MemoryMB": 16}}
    job = {"ID": "web", "Name": "web", "Type": "service", "Datacenters": ["*"],
           "TaskGroups": [{"Name": "g", "Tasks": [task]}]}
    status, body = bed.ask(member, "/v1/jobs", {"Job": job})
    expect(f"the job was not registered: {status} {body}", status == 200)
    bed.run_berth(member, "vm", "create", "ticks", "--image", "ticks.img", "--cpu", 1, "--memory", 32)
    bed.wait("the task runs", 30, lambda: allocation_runs(bed, member))
    bed.wait("the machine runs", 60, lambda: (bed.get(member, "/v1/vms/ticks") or {}).get("status") == "running")
    return bed.get(member, "/v1/job/web/allocations")[0]["ID"]


def allocation_runs(bed, member):
    found = bed.get(member, "/v1/job/web/allocations")
    return found and found[0]["ClientStatus"] == "running"


def lines_until(command, wanted, seconds=60):
    """Reads lines until one has the words; what it comes with is not waited for any longer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        line = command.stdout.readline()
        if wanted in line:
            return line
        expect(f"ended before {wanted!r} came: {command.poll()}", line)
    raise beds.Failure(f"{wanted!r} did not come")


def open_all(bed, follower, allocation):
    """What is open when the leader dies, by name."""
    opened = {
        "exec": bed.berth(follower, "alloc", "exec", allocation, "cat"),
        "logs": bed.berth(follower, "alloc", "logs", "-f", allocation),
        "port": bed.berth(follower, "vm", "port-forward", "--stdio", "ticks", 22),
        "monitor": bed.berth(follower, "monitor", "--server-id", "leader", "--log-level", "debug"),
        "events": bed.berth(follower, "events", "--json"),
    }
    # Each line comes back before the next is said.
    for word in ("one", "two", "three"):
        opened["exec"].stdin.write(word + "\n")
        opened["exec"].stdin.flush()
        lines_until(opened["exec"], word)
    first = int(lines_until(opened["logs"], "line ").split()[1])
    lines_until(opened["logs"], f"line {first + 10}")
    bed.run_berth(follower, "job", "eval", "web", "--detach")
    lines_until(opened["events"], "Evaluation")
    bed.wait("the port is open", 20, lambda: bed.metrics(follower)["berth_http_forwards_upgraded"] == 2)
    expect("a stream ended", all(command.poll() is None for command in opened.values()))
    return opened


def kill_leader(bed, leader, opened):
    bed.members[leader].kill()
    began = time.monotonic()
    for name, command in opened.items():
        try:
            command.wait(90)
        except subprocess.TimeoutExpired:
            command.kill()
            raise beds.Failure(f"{name} goes on without its leader") from None
        if name == "exec":
            error = command.stderr.read()
            expect(f"{name} ended with 0: {error}", command.returncode != 0)
            expect(f"{name} does not say why: {error}", "the leader of the cluster went away" in error)
    return time.monotonic() - began


def go_through(bed):
    leader = bed.leader()
    follower = next(name for name in bed.member_names if name != leader)
    allocation = begin_work(bed, follower)
    lines = bed.run_berth(follower, "alloc", "exec", allocation, "seq", 10000).split()
    expect("not all came that the command said", lines == [str(i) for i in range(1, 10001)])
    many = "".join(f"{i}\n" for i in range(50000))
    expect("not all came back", bed.run_berth(follower, "alloc", "exec", allocation, "cat", given=many) == many)
    refused = bed.berth(follower, "alloc", "exec", "--task", "none", allocation, "true")
    expect("a refusal is another one", "task not found" in refused.communicate(timeout=30)[1])
    opened = open_all(bed, follower, allocation)
    took_s = kill_leader(bed, leader, opened)
    print(f"{len(opened)} streams ended within {took_s:.1f} s of their leader's death", flush=True)
    bed.wait("the follower leads", 30, lambda: bed.leader() == follower)
    bed.wait("the agent is ready again", 30, bed.node_is_ready)
    bed.wait("a command runs again", 30, lambda: runs_again(bed, follower, allocation))
    bed.members[leader].start()
    bed.wait_answers(leader)
    bed.wait("a command runs through the other one", 30, lambda: runs_again(bed, leader, allocation))


def runs_again(bed, member, allocation):
    command = bed.berth(member, "alloc", "exec", allocation, "echo", "again", stdin=subprocess.DEVNULL)
    return command.communicate(timeout=30)[0] == "again\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("etcd") is None:
        print("skipped: it takes root, for network namespaces, and etcd (Debian package etcd-server)")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="berth-followed-") as name:
        directory = pathlib.Path(name) / "bed"
        try:
            with SecureBed(arguments.build.resolve(), directory) as bed:
                bed.start()
                go_through(bed)
                for program in bed.members.values():
                    expect(f"exit of {program.command[-1]}", program.end() == 0)
        except beds.Failure as failure:
            for log in sorted(directory.glob("*.log")):
                print(f"{log.name}: ...\n{log.read_text(errors='replace')[-1500:]}", file=sys.stderr)
            print(f"FAILED: {failure}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
