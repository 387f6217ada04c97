"""What `meson install` puts on a machine is what the Debian packages have, each file in one of them; and says the truth.

install_test.py BUILD
"""
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Of tools/setup, what a package need not ask for: every builder has it, meson brings it, or it only saves time.
ALWAYS_THERE = {"binutils", "gcc", "libc6-dev", "mold", "ninja-build"}

BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def option(name):
    found = [o["value"] for o in json.loads(run("meson", "introspect", "--buildoptions", BUILD)) if o["name"] == name]
    return found[0]


def install(folder):
    """Paths of all installed files, as they would be with the prefix /usr."""
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder)
    prefix = option("prefix")
    confdir = os.path.join(prefix, option("sysconfdir"))
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_dir():
            continue
        name = "/" + path.relative_to(folder).as_posix()
        for before, after in ((confdir, "/etc"), (prefix, "/usr")):
            if name.startswith(before + "/"):
                name = after + name[len(before):]
                break
        found[name[1:]] = path
    return found, prefix, confdir


def patterns():
    """(package, pattern of installed files) of each line of debian/*.install."""
    for listing in sorted((ROOT / "debian").glob("*.install")):
        for line in listing.read_text().splitlines():
            yield listing.stem, line.split()[0]


def complain_of_packages(found):
    owners = {name: [] for name in found}
    for package, pattern in patterns():
        names = [n for n in found if fnmatch.fnmatch(n, pattern) or n.startswith(pattern + "/")]
        if not names:
            yield f"debian/{package}.install: nothing installs {pattern}"
        for name in names:
            owners[name].append(package)
    for name, packages in owners.items():
        if len(packages) != 1:
            yield f"{name} is in {len(packages)} packages: {', '.join(packages) or 'say in debian/*.install in which'}"


def complain_of_pages(found):
    for page in sorted((ROOT / "docs/man").iterdir()):
        if f"usr/share/man/man{page.suffix[1]}/{page.name}" not in found:
            yield f"{page.name} is not installed"


def complain_of_units(found, prefix, confdir):
    for name, path in found.items():
        if not name.endswith(".service"):
            continue
        for word in re.findall(r"^(?:Exec\w+|EnvironmentFile)=!?(\S+)", path.read_text(), re.M):
            if not word.startswith((prefix + "/", confdir + "/", "/bin/kill")):
                yield f"{name}: {word} is not below {prefix}"
        for word in re.findall(r"--config=(\S+)", path.read_text()):
            if not word.startswith(confdir + "/"):
                yield f"{name}: {word} is not below {confdir}"


def complain_of_capabilities(found):
    """What docs/configuration.md says that ports and becoming the user take; memory is locked without a capability."""
    needed = {f"CAP_{name}" for name in ("NET_ADMIN", "NET_RAW", "NET_BIND_SERVICE", "SYS_ADMIN", "SETUID", "SETGID")}
    unit = found["usr/lib/systemd/system/berthd.service"].read_text()
    given = {word for line in re.findall(r"^CapabilityBoundingSet=(.*)", unit, re.M) for word in line.split()}
    if given != needed:
        yield f"berthd.service: has or lacks {' '.join(sorted(given ^ needed))}"
    if "\nLimitMEMLOCK=infinity\n" not in unit:
        yield "berthd.service: may not lock the memory of a port"


def complain_of_exposure(found):
    """How much units may do, of ten, as systemd reckons it. Said only where systemd is."""
    for name, most in (("berthd", 3.0), ("berth-agent", 5.0)):
        if not shutil.which("systemd-analyze"):
            return
        unit = found[f"usr/lib/systemd/system/{name}.service"]
        said = run("systemd-analyze", "security", "--no-pager", "--offline=yes", unit)
        exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", said)[1])
        if exposure > most:
            yield f"{name}.service: its exposure is {exposure}, more than {most}: systemd-analyze security says why"


def complain_of_settings(found):
    """The file is one with all defaults, and still is when every "#" before a setting is taken away."""
    berthd = found["usr/bin/berthd"]
    path = found["etc/berth/berthd.yaml"]
    text = path.read_text()
    bare = re.sub(r"^( *)#(?=\S)", r"\1", text.replace('#- device: ""', '#- device: "x"'), flags=re.M)
    expected = run(berthd, "--print-config")
    if run(berthd, f"--config={path}", "--print-config") != expected:
        yield "etc/berth/berthd.yaml changes something"
    path.write_text(bare)
    # An empty name is the host's; the port is only an example.
    got = run(berthd, f"--config={path}", "--print-config").partition("ports:\n")
    if got[0] != re.sub(r'^name: .*', 'name: ""', expected, flags=re.M) or not got[2]:
        yield f"etc/berth/berthd.yaml shows other defaults than the program has:\n{got[0]}"
    settings = re.findall(r"^#(BERTH_AGENT_\w+)=", found["etc/berth/agent.env"].read_text(), re.M)
    options = re.findall(r"^  --([a-z-]+)", run(found["usr/bin/berth-agent"], "--help"), re.M)
    for name in options:
        wanted = "BERTH_AGENT_" + name.upper().replace("-", "_")
        if wanted not in settings and not name.startswith(("print-", "help", "version")):
            yield f"etc/berth/agent.env has no {wanted}"


def complain_of_version():
    """The packages are of the version that the programs say."""
    version = json.loads(run("meson", "introspect", "--projectinfo", BUILD))["version"]
    written = re.match(r"berth \(([^)]+)\)", (ROOT / "debian/changelog").read_text())[1]
    if written != version:
        yield f"debian/changelog begins with {written}, the project's version is {version}"


def complain_of_builders():
    """Packages are built from what tools/setup installs to build with, and from nothing else."""
    setup, control = (ROOT / "tools/setup").read_text(), (ROOT / "debian/control").read_text()
    groups = re.findall(r"^\t# ([^\n]*)\n((?:\t[a-z0-9][^\n]*\n)+)", setup, re.M)
    installed = {title: set(names.split()) for title, names in groups}
    wanted = installed["to build"] | installed["libraries"]
    asked = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.M)[1]
    written = set(re.findall(r"^ ([\w.+-]+)", asked, re.M))
    for name in sorted(wanted - ALWAYS_THERE - written):
        yield f"debian/control: Build-Depends has no {name}, tools/setup has"
    for name in sorted(written - set().union(*installed.values()) - {"debhelper-compat"}):
        yield f"tools/setup has no {name}, Build-Depends of debian/control has"


def main():
    with tempfile.TemporaryDirectory() as folder:
        found, prefix, confdir = install(folder)
        complaints = [*complain_of_packages(found), *complain_of_pages(found),
                      *complain_of_units(found, prefix, confdir), *complain_of_capabilities(found),
                      *complain_of_exposure(found),
                      *complain_of_settings(found), *complain_of_version(), *complain_of_builders()]
    print(*complaints, f"{len(found)} files are installed", sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
