"""Boots a Debian with systemd, as a virtual machine, and lives there with Debian packages as docs/install.md says: the
services start as their units say, and hold what they are to hold. What runs in it is in the folder guest.

booted.py PACKAGES

Root only; needs mmdebstrap, Debian's mirror, qemu and a kernel in /boot (tools/setup). The machine is emulated: KVM is
not whole within every machine. It is given twenty minutes, takes about three, and no network but a cable of its own.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed import ROOT, blocks_of, run, say

GUEST = pathlib.Path(__file__).parent / "guest"
# Seconds; the emulated processor shares the machine with whatever else runs there.
PATIENCE = 1200
# Sparse. A job asks for 300 MB of a node unless it says otherwise.
DISK = "6G"
INCLUDED = ("ca-certificates", "curl", "dbus", "ethtool", "iproute2", "jq", "kmod", "procps", "systemd-sysv", "udev")
# Parts of a Debian that nobody asks for here, and that an emulated processor would be slow with.
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer",
          "e2scrub_reap.service", "fstrim.timer", "getty@tty1.service", "modprobe@drm.service",
          "serial-getty@ttyS0.service", "systemd-logind.service", "systemd-random-seed.service",
          "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service")
# Both ends of a cable: eth0 is the node's, eth1 the controller's. Without offloads, as between two machines.
OFFLOADS = ",".join(f"{name}=off" for name in (
    "csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo"))


def newest_kernel():
    """(image, folder of its modules) of the newest kernel of Debian's."""
    found = []
    for image in pathlib.Path("/boot").glob("vmlinuz-*-amd64"):
        modules = pathlib.Path("/lib/modules") / image.name.removeprefix("vmlinuz-")
        if modules.is_dir():
            found.append(([int(n) for n in re.findall(r"\d+", image.name)], image, modules))
    if not found:
        sys.exit("booted: no kernel in /boot with its modules in /lib/modules: run tools/setup")
    return max(found)[1:]


def make_root(packages, root):
    """A Debian in a folder, with the packages and what they need."""
    suite = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
    debs = [p for p in sorted(packages.glob("*.deb")) if "dbgsym" not in p.name]
    run("mmdebstrap", "--variant=minbase", "--include=" + ",".join(INCLUDED),
        '--customize-hook=mkdir -p "$1/srv/debs"', f"--customize-hook=copy-in {' '.join(map(str, debs))} /srv/debs",
        '--customize-hook=chroot "$1" sh -c "apt-get -qy install --no-install-recommends /srv/debs/*.deb"',
        suite, root)


def furnish(root, modules):
    """What the machine needs of this one, and what it is to do."""
    shutil.copytree(modules, root / modules.relative_to("/"), symlinks=True, dirs_exist_ok=True)
    (root / "etc/hostname").write_text("booted\n")
    (root / "etc/fstab").write_text("/dev/nvme0n1 / ext4 defaults 0 1\n")
    for unit in MASKED:
        (root / "etc/systemd/system" / unit).symlink_to("/dev/null")
    shutil.copytree(GUEST, root / "srv/guest")
    for page, title, name in (("install.md", "The controller", "controller"), ("install.md", "A node", "node"),
                              ("install.md", "A first job", "job")):
        for number, block in enumerate(blocks_of(page, title)):
            # The packages are installed already: apt would take minutes of an emulated processor.
            lines = [line for line in block.splitlines(True) if not line.startswith("apt-get install")]
            (root / f"srv/guest/{name}.{number}").write_text("".join(lines))
    shutil.copy(GUEST / "berth-booted.service", root / "etc/systemd/system")
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "berth-booted.service").symlink_to("/etc/systemd/system/berth-booted.service")


def boot(kernel, image):
    """Runs the machine until it powers off, and shows what it says. What the checks said, line by line."""
    network = []
    for number in (0, 1):
        network += ["-netdev", f"hubport,id=n{number},hubid=0",
                    "-device", f"virtio-net-pci,netdev=n{number},mac=52:54:00:00:00:0{number + 1},{OFFLOADS}"]
    command = ["timeout", str(PATIENCE), "qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,tb-size=512",
               "-cpu", "max", "-smp", "2", "-m", "2048", "-nodefaults", "-display", "none", "-no-reboot", "-kernel", str(kernel),
               "-drive", f"file={image},format=raw,if=none,id=disk,cache=unsafe",
               "-device", "nvme,drive=disk,serial=1", *network, "-serial", "stdio", "-append",
               "console=ttyS0 root=/dev/nvme0n1 rw net.ifnames=0 panic=-1 loglevel=3 quiet "
               "systemd.show_status=0 mitigations=off audit=0 random.trust_cpu=on"]
    said = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          errors="replace") as machine:
        for line in machine.stdout:
            line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).strip()
            said.append(line)
            if line:
                print("|", line, flush=True)
    return said


def main():
    packages = pathlib.Path(sys.argv[1]).resolve()
    kernel, modules = newest_kernel()
    with tempfile.TemporaryDirectory(prefix="berth-booted-", dir=packages) as folder:
        folder = pathlib.Path(folder)
        root, image = folder / "root", folder / "disk.img"
        say("making a Debian with", *sorted(p.name for p in packages.glob("*.deb")))
        make_root(packages, root)
        furnish(root, modules)
        run("mke2fs", "-q", "-t", "ext4", "-d", root, image, DISK)
        shutil.rmtree(root)
        said = boot(kernel, image)
    verdicts = [line for line in said if re.fullmatch(r"booted: \d+ passed, \d+ failed", line)]
    if not verdicts:
        sys.exit("booted: the machine ended, or its time did, before it said what came of it")
    print(verdicts[-1])
    return 0 if verdicts[-1].endswith(" 0 failed") else 1


if __name__ == "__main__":
    sys.exit(main())
