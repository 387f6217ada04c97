#!/usr/bin/env python3
"""The commands of docs/cluster.md, each as it stands there, on three machines that are namespaces of network and mounts.

  page.py --build DIRECTORY

Each machine has /etc and /var/lib of its own, over those of this one. Only the own name and addresses are other ones on
the second and third machine. What stands in for the rest of a machine: apt-get looks whether the packages are there,
systemctl starts programs as their units do. Ends with 0 when three members are alive and one of them leads.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import net  # noqa: E402

SKIPPED = 77
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/cluster.md"
PATIENCE_S = 90
MACHINE = r"""
set -u
mount -t tmpfs tmpfs "$OWN"
for folder in etc var/lib; do
	mkdir -p "$OWN/upper/$folder" "$OWN/scratch/$folder"
	mount -t overlay overlay "/$folder" \
		-o "lowerdir=/$folder,upperdir=$OWN/upper/$folder,workdir=$OWN/scratch/$folder"
done
rm -rf /etc/berth /var/lib/berth /var/lib/etcd
mkdir -p /etc/berth /var/lib/berth /var/lib/etcd /etc/default
: >/etc/default/etcd
cp "$KEY" /etc/berth/master.key
# The test's own: there are no huge pages.
printf 'dataplane: {huge: "no"}\n' >/etc/berth/berthd.yaml
apt-get() { [ "$1" = install ] && dpkg -s "${@:2}" >/dev/null; }
systemctl() {
	case $* in
	"restart --no-block etcd")
		(set -a && . /etc/default/etcd && exec etcd --log-level=error) >>"$LOG" 2>&1 </dev/null & ;;
	"start berthd") berthd --config=/etc/berth/berthd.yaml >>"$LOG" 2>&1 </dev/null & ;;
	*) return 1 ;;
	esac
	own="${own-} $!"
}
finish() { kill -9 ${own-} 2>/dev/null; wait; umount -l /etc /var/lib; }
trap finish EXIT
"""


class Machine:
    """A shell that stays, since its mounts go with it."""

    def __init__(self, network, name, build, directory):
        own = directory / name
        own.mkdir()
        programs = f"{build}/tools/berth:{build}/tools/berthd:{os.environ['PATH']}"
        environment = dict(os.environ, PATH=programs, OWN=str(own), LOG=str(directory / f"{name}.log"),
                           KEY=str(directory / "master.key"), ETCD_LOGGER="zap")
        environment.pop("BERTH_ADDR", None)
        self.name, self.log = name, directory / f"{name}.log"
        self.shell = subprocess.Popen([*network.inside(name), "unshare", "--mount", "bash"], env=environment,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True)
        self.do(MACHINE)

    def do(self, command):
        """What it says; a failure ends the test."""
        said, status = self.ask(command)
        if status != 0:
            log = self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""
            raise SystemExit(f"FAILED: {self.name}: {command}\nended with {status}: {said}\n{log}")
        return said

    def ask(self, command):
        self.shell.stdin.write(f"{command}\necho \"end-of-command $?\"\n")
        self.shell.stdin.flush()
        said = []
        for line in self.shell.stdout:
            if line.startswith("end-of-command "):
                return "".join(said), int(line.split()[1])
            said.append(line)
        return "".join(said), -1

    def wait(self, command, wanted):
        end = time.monotonic() + PATIENCE_S
        while True:
            said, status = self.ask(command)
            if status == 0 and re.search(wanted, said):
                return said
            if time.monotonic() > end:
                self.do(f"{command}\necho 'does not say: {wanted}'; false")
            time.sleep(0.2)

    def close(self):
        self.shell.stdin.close()
        self.shell.wait()


def read_page():
    """The commands of both blocks; one goes on to the end of its here-document."""
    chapter = PAGE.read_text(encoding="utf-8").split("## Ten commands\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```\n(.*?)^```$", chapter, re.M | re.S)
    commands = [re.findall(r"^[^\n]*<<END\n.*?^END$|^[^\n]+$", block, re.M | re.S) for block in blocks]
    if [len(block) for block in commands] != [4, 4]:
        raise SystemExit(f"FAILED: the page has other commands than before: {commands}")
    return commands


def of_machine(command, number):
    """With the own name and addresses in the place of the first machine's, but where all of them are named."""
    lines = []
    for line in command.split("\n"):
        if "10.0.0.2" not in line:
            line = re.sub(r"\bc1$", f"c{number}", line)
            line = re.sub(r"\b10\.0\.0\.1\b", f"10.0.0.{number}", line)
            line = re.sub(r"\b10\.0\.0\.11\b", f"10.0.0.1{number}", line)
        lines.append(line)
    return "\n".join(lines)


def set_up(machines):
    first, then = read_page()
    for command in first:
        for number, machine in enumerate(machines, 1):
            machine.do(of_machine(command, number))
    for number, machine in enumerate(machines, 1):
        machine.wait(f"ETCDCTL_API=3 etcdctl --endpoints=http://10.0.0.{number}:2379 endpoint health 2>&1", "is healthy")
    init, join, *rest = then
    for number, machine in enumerate(machines, 1):
        machine.do(init if number == 1 else join)
        machine.do(of_machine(rest[0], number))
        machine.wait(of_machine(rest[1], number), r"Leader +=")
    for number, machine in enumerate(machines, 1):
        said = machine.wait(of_machine(rest[1], number), r"(?s)(alive.*){3}")
        if not re.search(r"Leader += c[123]\b", said):
            raise SystemExit(f"FAILED: nobody leads: {said}")
    print(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("etcd") is None:
        print("skipped: it takes root, for namespaces, and etcd (Debian package etcd-server)")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    net.MANAGING = "10.0.0.{}"
    network, machines = net.Net(f"page{os.getpid()}"), []
    with tempfile.TemporaryDirectory(prefix="berth-page-") as name:
        directory, build = pathlib.Path(name), arguments.build.resolve()
        subprocess.run([build / "tools/berthd/berthd", "genkey", directory / "master.key"], check=True,
                       capture_output=True)
        try:
            for number in (1, 2, 3):
                network.add_host(f"c{number}", number, "bare")
                network.ip(f"c{number}", "link", "set", "dev", "w0", "down")
                network.ip(f"c{number}", "link", "set", "dev", "w0", "name", "eth1", "up")
                machines.append(Machine(network, f"c{number}", build, directory))
            set_up(machines)
        finally:
            for machine in machines:
                machine.close()
            network.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
