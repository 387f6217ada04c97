"""Installs Debian packages on a Debian of its own, in a folder, and lives with them as docs/install.md and
docs/upgrade.md say: their commands are run as they stand there. An older version is installed, with an agent and a job;
it is upgraded over its data, taken back, upgraded again, removed and purged.

installed.py PACKAGES [OLDER_PACKAGES]

Without older packages the same ones are those, under a lower number. Root only; needs mmdebstrap and Debian's mirror.
There is no systemd that runs, so services are started as their units say.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("berth", "berthd", "berth-agent", "berth-tools")
# As on the page.
INTERFACE, CONTROLLER, NODE = "eth1", "10.0.0.1/24", "10.0.0.2/24"
# Has the test do what systemd would, and waits for it.
SYSTEMCTL = """\
#!/bin/sh
echo "$*" >/srv/asked.new && mv /srv/asked.new /srv/asked
while [ -e /srv/asked ]; do sleep 0.1; done
"""
UNIT_SPACES = {"berthd": "controller", "berth-agent": "node"}


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


def blocks_of(page, title):
    """The commands of a part of a page, block by block."""
    part = (ROOT / "docs" / page).read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\n(.*?)^```", part, re.M | re.S)


class System:
    """A Debian in a folder; its controller and its node are in network namespaces of their own."""

    def __init__(self, root):
        self.root = root
        self.spaces = {name: f"berth-{name}-{os.getpid()}" for name in ("controller", "node")}
        self.services = {}

    def make(self):
        suite = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
        run("mmdebstrap", "--variant=minbase", "--include=ca-certificates", suite, self.root)
        for name in ("proc", "sys", "dev"):
            run("mount", "--rbind", f"/{name}", self.root / name)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        self.write_program("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n")
        self.write_program("/usr/local/bin/systemctl", SYSTEMCTL)
        self.do("apt-get", "-q", "update")
        for space in self.spaces.values():
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
        run("ip", "link", "add", INTERFACE, "netns", self.spaces["controller"], "type", "veth",
            "peer", "name", "eth0", "netns", self.spaces["node"])
        run("ip", "-n", self.spaces["controller"], "link", "set", INTERFACE, "up")
        run("ip", "-n", self.spaces["node"], "address", "add", NODE, "dev", "eth0")
        run("ip", "-n", self.spaces["node"], "link", "set", "eth0", "up")
        run("ip", "netns", "exec", self.spaces["node"], "ethtool", "-K", "eth0", "tx", "off")

    def close(self):
        for space in self.spaces.values():
            subprocess.run(["ip", "netns", "delete", space], check=False)

    def write_program(self, name, text):
        self.path(name).write_text(text)
        self.path(name).chmod(0o755)

    def path(self, name):
        return self.root / name.lstrip("/")

    def inside(self, command, space):
        """The command line that runs another one in the folder; with the network devices of a namespace in /sys."""
        chroot = ["chroot", str(self.root), *command]
        if not space:
            return chroot
        mounted = f"mount -t sysfs sysfs {self.root}/sys && exec {shlex.join(chroot)}"
        return ["ip", "netns", "exec", self.spaces[space], "sh", "-c", mounted]

    def do(self, *command, space=None):
        return run(*self.inside(command, space), env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})

    def answers(self, *words):
        """What the command line says to the controller; nothing when there is none."""
        done = subprocess.run(self.inside(["berth", *words], "controller"), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        return done.stdout if done.returncode == 0 else ""

    def script(self, text, space):
        """Runs commands of a page, as root in the folder with the packages."""
        command = self.inside(["bash", "-ec", "cd /srv/debs\n" + text], space)
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT,
                                       env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
            while process.poll() is None:
                self.serve()
                time.sleep(0.05)
            output.seek(0)
            if process.returncode:
                sys.exit(f"installed: status {process.returncode} of\n{text}\n{output.read()}")
        say("ran", *(line for line in text.splitlines() if line.startswith(("apt-get", "berth", "systemctl"))))

    def serve(self):
        """What systemctl was asked for."""
        asked = self.path("/srv/asked")
        if not asked.exists():
            return
        verb, *words = asked.read_text().split()
        if verb == "stop":
            self.stop(words[-1])
        else:
            self.start(words[-1])
        asked.unlink()

    def offer(self, folder, *, older=None):
        """Puts packages where commands of the pages find them, and what they need of Debian into its cache."""
        for place, source in (("/srv/debs", folder), ("/srv/debs/older", older)):
            shutil.rmtree(self.path(place), ignore_errors=True)
            if source:
                shutil.copytree(source, self.path(place), ignore=lambda _, names: [
                    n for n in names if not n.endswith(".deb") or "dbgsym" in n])
        names = [f"/srv/debs/{p.name}" for p in self.path("/srv/debs").glob("*.deb")]
        self.do("apt-get", "-qy", "--download-only", "install", *names)

    def version(self):
        return self.do("dpkg-query", "-W", "-f", "${Version}", "berthd")

    def start(self, unit):
        """Runs what the unit says, with its environment."""
        space = UNIT_SPACES[unit]
        text = self.path(f"/lib/systemd/system/{unit}.service").read_text()
        environment = dict(os.environ)
        for name in re.findall(r"^EnvironmentFile=(.*)$", text, re.M):
            lines = self.path(name).read_text().splitlines()
            environment |= dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        for before in re.findall(r"^ExecStartPre=(.*)$", text, re.M):
            self.do(*shlex.split(before.removeprefix("!")), space=space)
        command = re.search(r"^ExecStart=!?(.*)$", text, re.M)[1].replace("$BERTH_AGENT_OPTIONS", "")
        with open(self.path(f"/var/log/{unit}.log"), "a") as log:
            self.services[unit] = subprocess.Popen(self.inside(shlex.split(command), space), env=environment,
                                                   stdout=log, stderr=log)
        if unit == "berthd":
            wait_until(lambda: self.answers("health"), "the controller is healthy")

    def stop(self, unit, number=None):
        """As the unit says."""
        text = self.path(f"/lib/systemd/system/{unit}.service").read_text()
        named = re.search(r"^KillSignal=(\w+)", text, re.M)
        process = self.services.pop(unit)
        process.send_signal(number or (getattr(signal, named[1]) if named else signal.SIGTERM))
        expect(process.wait(timeout=30) == 0, f"{unit} ended cleanly")


def look_at_what_is_installed(system):
    expect(system.do("getent", "group", "berth"), "sysusers made the group berth")
    user = int(system.do("id", "-u", "berthd"))
    found = system.path("/var/lib/berth").stat()
    expect(found.st_mode & 0o777 == 0o700 and found.st_uid == user, "/var/lib/berth is the user berthd's alone")
    for unit in ("berthd", "berth-agent"):
        verify = system.inside(["systemd-analyze", "verify", "--man=no", f"{unit}.service"], None)
        said = subprocess.run(verify, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        complaints = [line for line in said.splitlines() if "berth" in line]
        expect(not complaints, f"systemd finds nothing wrong with {unit}.service {complaints or ''}")
    for name in ("berthd", "berth-agent"):
        expect(f"{name}.service" in system.path(f"/var/lib/dpkg/info/{name}.postinst").read_text(),
               f"upgrading {name} restarts its service")


def is_ready(system):
    return " ready" in system.answers("node", "list")


def runs(system):
    return "running" in system.answers("job", "status", "sleeper")


def allocations(system):
    return [line.split()[0] for line in system.answers("alloc", "list").splitlines()[1:]]


def configure(system):
    """As the page says, from the first package to a job that runs."""
    for block in blocks_of("install.md", "The controller"):
        system.script(block, "controller")
    on_node, on_controller, on_node_again = blocks_of("install.md", "A node")
    system.script(on_node, "node")
    system.script(on_controller, "controller")
    system.script(on_node_again, "node")
    wait_until(lambda: is_ready(system), "the node is ready")
    for block in blocks_of("install.md", "A first job"):
        system.script(block, "controller")
    wait_until(lambda: runs(system), "the job runs")


def restart(system):
    """What packages have systemd do when they are upgraded; the agent hands its tasks over."""
    system.stop("berthd")
    system.start("berthd")
    system.stop("berth-agent")
    system.start("berth-agent")


def upgrade(system, packages, older, first):
    before, settings = system.version(), system.path("/etc/berth/berthd.yaml").read_text()
    system.offer(packages, older=older)
    forth, back = blocks_of("upgrade.md", "One controller")
    (of_nodes,) = blocks_of("upgrade.md", "Nodes")
    system.script(forth, "controller")
    system.script(of_nodes, "node")
    expect(system.version() != before, f"{before} was upgraded to {system.version()}")
    expect(system.path("/etc/berth/berthd.yaml").read_text() == settings, "the settings are as they were edited")
    restart(system)
    wait_until(lambda: is_ready(system), "the node is ready")
    expect(runs(system) and allocations(system) == first, "the job runs, as the same allocation")
    return back


def live(system, packages, older):
    system.offer(older)
    configure(system)
    say("installed", system.version())
    look_at_what_is_installed(system)
    first = allocations(system)
    back = upgrade(system, packages, older, first)
    system.script(back, "controller")
    wait_until(lambda: is_ready(system), "with the older version again the node is ready")
    expect(runs(system) and allocations(system) == first, "and the job runs, as the same allocation")
    upgrade(system, packages, older, first)
    system.do("apt-get", "-qy", "install", *(f"/srv/debs/{p.name}" for p in packages.glob("berth-tools_*.deb")))
    system.stop("berth-agent", signal.SIGTERM)
    system.stop("berthd")
    leave(system)


def leave(system):
    of_node, of_controller, purge = blocks_of("install.md", "Removing it")
    system.script(of_node, "node")
    system.script(of_controller, "controller")
    for name in ("/usr/bin/berthd", "/usr/bin/berth", "/usr/bin/berth-agent"):
        expect(not system.path(name).exists(), f"removed: {name} is gone")
    for name in ("/etc/berth/berthd.yaml", "/etc/berth/agent.env", "/var/lib/berth", "/var/lib/berth-agent"):
        expect(system.path(name).exists(), f"removed: {name} stays")
    system.script(purge, "controller")
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
