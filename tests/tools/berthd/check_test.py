"""Whatever a start refuses, berthd --check says before, in the same words and with the same exit code; and the reverse.

check_test.py BERTHD
"""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

BERTHD = os.path.abspath(sys.argv[1])
CLUSTER = {"cluster.name": "c", "cluster.endpoints": "http://127.0.0.1:1", "cluster.advertise_http": "http://127.0.0.1:1"}
# What is wrong, and with what settings; {0} is a folder, {1} a TCP port that is taken.
REFUSED = [
    ("no key file", {"master_key_file": "{0}/none"}),
    ("a key that others can read", {"master_key_file": "{0}/open"}),
    ("no keys in the file", {"master_key_file": "{0}/noise"}),
    ("a file for data_dir", {"data_dir": "{0}/noise"}),
    ("data_dir in a folder that is not there", {"data_dir": "{0}/no/where"}),
    ("a driver that DPDK lacks", {"ports.0.device": "net_nosuch0"}),
    ("an interface that is not there", {"ports.0.device": "nosuch0"}),
    ("the same device twice", {"ports.1.device": "net_null0", "ports.1.addresses": "10.9.9.8"}),
    ("half an address", {"ports.0.addresses": "10.9.9"}),
    ("no port", {"ports.0.device": ""}),
    ("an EAL flag that is none", {"dataplane.eal_extra": "--no-such-flag"}),
    ("a region without its address", {"peers.regions": "east"}),
    ("a token that everybody may read", {"peers.token_file": "{0}/readable"}),
    ("a key of peers that everybody may read",
     {"peers.tls.key": "{0}/readable", "peers.tls.certificate": "{0}/noise"}),
    ("a key of the cluster that its group may write",
     {**CLUSTER, "cluster.tls.key": "{0}/of-group", "cluster.tls.certificate": "{0}/noise"}),
    ("a password that everybody may read",
     {**CLUSTER, "cluster.password_file": "{0}/readable", "cluster.user": "root"}),
    ("no token of peers", {"peers.token_file": "{0}/none"}),
    ("no authority of peers", {"peers.tls.ca": "{0}/none"}),
    ("another machine's address", {"http.address": "203.0.113.9", "http.insecure": "true"}),
    ("a name that is no address", {"http.address": "no.such.host.invalid"}),
    ("an open address without TLS", {"http.address": "0.0.0.0"}),
    ("a port that is taken", {"http.port": "{1}"}),
    ("a socket in a folder that is not there", {"http.socket.path": "{0}/no/socket"}),
    ("a file where the socket is to be", {"http.socket.path": "{0}/noise"}),
    ("a relative path of the socket", {"http.socket.path": "socket"}),
    ("no such group", {"http.socket.path": "{0}/socket", "http.socket.group": "no-such-group"}),
    ("a certificate that is none", {"http.tls.certificate": "{0}/noise", "http.tls.key": "{0}/noise"}),
    ("an audit log in a folder that is not there", {"audit.path": "{0}/no/log"}),
    ("a keyring that is none", {"keyring_file": "{0}/noise"}),
    ("a cluster that data_dir does not belong to", CLUSTER),
    ("own addresses that are none", {**CLUSTER, "cluster.advertise_wire": "nonsense:4647"}),
    ("a log that is too small", {"store.map_mb": "1"}),
    ("more than there may be", {"limits.nodes": "100000000"}),
    ("a setting that is none", {"no.such": "1"}),
]
# Wrong usage; everything else is a failure.
USAGE = ("an open address without TLS", "a log that is too small", "more than there may be", "a setting that is none",
         "no port")
STARTS_S = 60


def make_files(folder):
    key = folder / "key"
    subprocess.run([BERTHD, "genkey", key], check=True, stdout=subprocess.DEVNULL)
    (folder / "open").write_text(key.read_text())
    (folder / "open").chmod(0o644)
    (folder / "noise").write_text("noise\n")
    (folder / "noise").chmod(0o600)
    for name, mode in (("readable", 0o644), ("of-group", 0o660)):
        (folder / name).write_text("noise\n")
        (folder / name).chmod(mode)


def command_of(folder, port, settings):
    usual = {"data_dir": "{0}/data", "master_key_file": "{0}/key", "ports.0.device": "net_null0",
             "ports.0.addresses": "10.9.9.9", "http.port": "0", "log.level": "error"}
    return [BERTHD, *(f"--{name}={value}".format(folder, port) for name, value in {**usual, **settings}.items())]


def says(text):
    return [line.removeprefix("berthd: ") for line in text.splitlines() if line.startswith("berthd: ")]


def complain(what, command):
    """A start says one sentence; the check says it, or prints it among the problems of the host."""
    start = subprocess.run(command, capture_output=True, text=True, timeout=60)
    check = subprocess.run([*command, "--check"], capture_output=True, text=True, timeout=60)
    if start.returncode == 0:
        return f"{what}: a start succeeds"
    if start.returncode != (64 if what in USAGE else 1):
        return f"{what}: a start exits with {start.returncode}"
    if check.returncode != start.returncode:
        return f"{what}: a start exits with {start.returncode}, --check with {check.returncode}"
    said = [*says(check.stderr), *(line.removeprefix("error: ") for line in check.stdout.splitlines())]
    sentences = says(start.stderr)
    if not sentences or sentences[-1] not in said:
        return f"{what}: a start says {sentences}, --check {said}"
    return None


def starts(daemon, port):
    """Whether the daemon comes to answer at its port, which is the last of a start."""
    end = time.monotonic() + STARTS_S
    while daemon.poll() is None and time.monotonic() < end:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.02)
    return False


def complain_of_what_is_right(command, port):
    """--check passes, the daemon starts, and --check of the running daemon's settings passes, too."""
    if subprocess.run([*command, "--check"], capture_output=True).returncode != 0:
        return "what is right does not pass"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as daemon:
        try:
            if not starts(daemon, port):
                return "what is right does not start"
            beside = subprocess.run([*command, "--check"], capture_output=True, text=True)
        finally:
            daemon.terminate()
    if beside.returncode != 0 or f"process {daemon.pid} runs with" not in beside.stdout:
        return f"beside the running daemon: {beside.returncode} {beside.stdout} {beside.stderr}"
    return None


def hold_port(port):
    """A socket that is bound to the port. While it does not listen, nobody else is given the port who takes any, and a
    daemon that asks for it by its number can listen there."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", port))
    return held


def main():
    with tempfile.TemporaryDirectory() as name, hold_port(0) as held:
        port = held.getsockname()[1]
        taken = hold_port(port)
        taken.listen()
        make_files(pathlib.Path(name))
        complaints = [complain(what, command_of(name, port, settings)) for what, settings in REFUSED]
        taken.close()
        complaints.append(complain_of_what_is_right(command_of(name, port, {"http.port": "{1}"}), port))
    complaints = [c for c in complaints if c]
    print(*complaints, f"{len(REFUSED)} refusals", sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
