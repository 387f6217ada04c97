"""Installs Debian packages on a Debian of its own, in a folder, and lives with them: an older version is installed,
configured as docs/install.md says, started with an agent and a job; it is upgraded over its data, removed, purged.

installed.py PACKAGES [OLDER_PACKAGES]

Without older packages the same ones are those, under a lower number. Root only; needs mmdebstrap and Debian's mirror.
"""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ("berth", "berthd", "berth-agent", "berth-tools")
CONTROLLER, NODE = "10.97.0.1", "10.97.0.2"
PORTS = f"""
ports:
  - device: berth0
    io: af_packet
    addresses: [{CONTROLLER}]
"""
JOB = """{"Job": {"ID": "sleeper", "Type": "service", "Datacenters": ["*"], "TaskGroups": [{"Name": "g", "Tasks": [
{"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["1000"]},
"Resources": {"CPU": 50, "MemoryMB": 16}}]}]}}"""


def say(*words):
    print("installed:", *words, flush=True)


def run(*command, **more):
    command = [str(word) for word in command]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(condition, what):
    if not condition:
        sys.exit(f"installed: not so: {what}")
    say(what)


def wait_until(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"installed: not within {seconds} s: {what}")
        time.sleep(0.2)
    say(what)


def older_of(packages, folder):
    """Makes the same packages under a lower number, also where they depend on each other."""
    folder.mkdir()
    for name in NAMES:
        package = next(packages.glob(f"{name}_*.deb"))
        tree = folder / name
        run("dpkg-deb", "-R", package, tree)
        control = tree / "DEBIAN/control"
        version = re.search(r"^Version: (.*)$", control.read_text(), re.M)[1]
        control.write_text(re.sub(rf"(Version: |= ){re.escape(version)}", r"\g<1>0.0.1~older", control.read_text()))
        run("dpkg-deb", "--root-owner-group", "-b", tree, folder / f"{name}_0.0.1~older_amd64.deb")
    return folder


class System:
    """A Debian in a folder; its controller and its node are in network namespaces of their own."""

    def __init__(self, root):
        self.root = root
        self.spaces = {name: f"berth-{name}-{os.getpid()}" for name in ("controller", "node")}

    def make(self):
        suite = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
        run("mmdebstrap", "--variant=minbase", "--include=ca-certificates", suite, self.root)
        for name in ("proc", "sys", "dev"):
            run("mount", "--rbind", f"/{name}", self.root / name)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        # No service is started by installing: there is no systemd that runs.
        (self.root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (self.root / "usr/sbin/policy-rc.d").chmod(0o755)
        self.do("apt-get", "-q", "update")
        for space in self.spaces.values():
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
        run("ip", "link", "add", "berth0", "netns", self.spaces["controller"], "type", "veth",
            "peer", "name", "eth0", "netns", self.spaces["node"])
        run("ip", "-n", self.spaces["controller"], "link", "set", "berth0", "up")
        run("ip", "-n", self.spaces["node"], "address", "add", f"{NODE}/24", "dev", "eth0")
        run("ip", "-n", self.spaces["node"], "link", "set", "eth0", "up")
        run("ip", "netns", "exec", self.spaces["node"], "ethtool", "-K", "eth0", "tx", "off")

    def close(self):
        for space in self.spaces.values():
            subprocess.run(["ip", "netns", "delete", space], check=False)

    def do(self, *command, space=None, **more):
        inside = ["chroot", str(self.root), *command]
        return run(*(["ip", "netns", "exec", self.spaces[space]] if space else []), *inside, **more)

    def berth(self, *words):
        return self.do("berth", *words, space="controller")

    def answers(self, *words):
        return subprocess.run(["ip", "netns", "exec", self.spaces["controller"], "chroot", self.root, "berth", *words],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def path(self, name):
        return self.root / name.lstrip("/")

    def install(self, folder):
        shutil.rmtree(self.path("/srv/debs"), ignore_errors=True)
        shutil.copytree(folder, self.path("/srv/debs"), ignore=lambda _, names: [
            n for n in names if not n.endswith(".deb") or "dbgsym" in n])
        names = [f"/srv/debs/{p.name}" for p in self.path("/srv/debs").iterdir()]
        self.do("apt-get", "-qy", "-o", "Dpkg::Options::=--force-confold", "install", *names,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})

    def version(self):
        return self.do("dpkg-query", "-W", "-f", "${Version}", "berthd")

    def start(self, unit, space):
        """Runs what the unit says, with its environment; returns the process."""
        text = self.path(f"/lib/systemd/system/{unit}.service").read_text()
        environment = dict(os.environ)
        for name in re.findall(r"^EnvironmentFile=(.*)$", text, re.M):
            lines = self.path(name).read_text().splitlines()
            environment |= dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        for before in re.findall(r"^ExecStartPre=(.*)$", text, re.M):
            say(self.do(*shlex.split(before), space=space).strip())
        command = re.search(r"^ExecStart=(.*)$", text, re.M)[1].replace("$BERTH_AGENT_OPTIONS", "")
        log = open(self.path(f"/var/log/{unit}.log"), "a")
        return subprocess.Popen(["ip", "netns", "exec", self.spaces[space], "chroot", self.root, *shlex.split(command)],
                                env=environment, stdout=log, stderr=log)


def end(process, number=signal.SIGTERM):
    """ip and chroot become the program that they run."""
    process.send_signal(number)
    expect(process.wait(timeout=30) == 0, f"{process.args[-1].split()[0]} ended cleanly")


def configure(system):
    """As docs/install.md says."""
    system.do("berthd", "genkey", "/etc/berth/master.key")
    with open(system.path("/etc/berth/berthd.yaml"), "a") as settings:
        settings.write(PORTS)
    node = system.do("berth-agent", "--print-id").strip()
    key = system.path("/var/lib/berth-agent/node.key")
    key.write_text(system.do("berth", "node", "key", node, "--master-key", "/etc/berth/master.key"))
    key.chmod(0o600)
    with open(system.path("/etc/berth/agent.env"), "a") as settings:
        settings.write(f"BERTH_AGENT_SERVER={CONTROLLER}\n")
    return node


def look_at_what_is_installed(system):
    expect(system.do("getent", "group", "berth"), "sysusers made the group berth")
    mode = system.path("/var/lib/berth").stat().st_mode & 0o777
    expect(mode == 0o700, "tmpfiles made /var/lib/berth for its owner alone")
    for unit in ("berthd", "berth-agent"):
        complaints = [line for line in system.do("systemd-analyze", "verify", f"/lib/systemd/system/{unit}.service",
                                                 ).splitlines() if "berth" in line]
        expect(not complaints, f"systemd finds nothing wrong with {unit}.service {complaints or ''}")
    for name in ("berthd", "berth-agent"):
        expect(f"{name}.service" in system.path(f"/var/lib/dpkg/info/{name}.postinst").read_text(),
               f"upgrading {name} restarts its service")


def is_ready(system):
    return "ready" in system.answers("node", "list")


def runs(system):
    return "running" in system.answers("job", "status", "sleeper")


def live(system, packages, older):
    system.install(older)
    before = system.version()
    say("installed", before)
    look_at_what_is_installed(system)
    configure(system)
    daemon = system.start("berthd", "controller")
    wait_until(lambda: "ok" in system.answers("health").lower(), "the controller is healthy")
    agent = system.start("berth-agent", "node")
    wait_until(lambda: is_ready(system), "the node is ready")
    system.path("/srv/job.json").write_text(JOB)
    system.berth("job", "run", "--detach", "/srv/job.json")
    wait_until(lambda: runs(system), "the job runs")
    allocation = system.berth("alloc", "list").split()
    # What systemd does when a package is upgraded: the agent hands its tasks over.
    end(agent, signal.SIGUSR1)
    end(daemon)
    settings = system.path("/etc/berth/berthd.yaml").read_text()
    system.install(packages)
    expect(system.version() != before, f"{before} was upgraded to {system.version()}")
    expect(system.path("/etc/berth/berthd.yaml").read_text() == settings, "the settings are as they were edited")
    daemon = system.start("berthd", "controller")
    agent = system.start("berth-agent", "node")
    wait_until(lambda: is_ready(system), "the node is ready again")
    expect(runs(system), "the job still runs")
    expect(system.berth("alloc", "list").split()[8] == allocation[8], "as the same allocation")
    end(agent)
    end(daemon)
    say(system.do("berthd", "--config=/etc/berth/berthd.yaml", "--verify-state", space="controller").splitlines()[-1])
    leave(system)


def leave(system):
    system.do("apt-get", "-qy", "remove", *NAMES)
    for name in ("/usr/bin/berthd", "/usr/bin/berth", "/usr/bin/berth-agent", "/usr/bin/berth-fleet"):
        expect(not system.path(name).exists(), f"removed: {name} is gone")
    for name in ("/etc/berth/berthd.yaml", "/etc/berth/agent.env", "/var/lib/berth", "/var/lib/berth-agent"):
        expect(system.path(name).exists(), f"removed: {name} stays")
    system.do("apt-get", "-qy", "purge", *NAMES)
    for name in ("/var/lib/berth", "/var/lib/berth-agent"):
        expect(not system.path(name).exists(), f"purged: {name} is gone")
    left = sorted(p.name for p in system.path("/etc/berth").iterdir())
    expect(left == ["master.key"], f"purged: of /etc/berth there is only what people put there: {left}")


def main():
    packages = pathlib.Path(sys.argv[1]).resolve()
    # Mounts and processes end with this process.
    if os.environ.get("BERTH_INSTALLED") != "1":
        os.environ["BERTH_INSTALLED"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                              sys.executable, "-B", *sys.argv])
    with tempfile.TemporaryDirectory(prefix="berth-installed-") as folder, contextlib.ExitStack() as stack:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        older = pathlib.Path(sys.argv[2]).resolve() if sys.argv[2:] else older_of(packages, folder / "older")
        system = System(folder / "root")
        stack.callback(run, "umount", "--recursive", "--lazy", *(folder / "root" / n for n in ("proc", "sys", "dev")))
        stack.callback(system.close)
        system.make()
        live(system, packages, older)
    print("installed: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
