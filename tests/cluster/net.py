"""Network namespaces on two bridges, of which single links can be cut without a word to either end.

A host has a leg in the managing network (10.88.0.0/24: etcd, HTTP) and may have one in the network of the wire
(10.77.0.0/24). All of it is in namespaces whose names begin with the prefix, and goes away with them.
"""
import ctypes
import os
import subprocess

CLONE_NEWNET = 0x40000000
MANAGING, WIRE = "10.88.0.{}", "10.77.0.{}"
LAN = "lan"


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def enter(namespace):
    """This thread, and whatever it starts, is in the namespace from now on."""
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(fd)


class Net:
    def __init__(self, prefix):
        self.prefix = prefix
        self.hosts = {}  # name: number, the last of its addresses
        self.cuts = set()
        run("ip", "netns", "add", self.space(LAN))
        for bridge in ("bmanaging", "bwire"):
            self.ip(LAN, "link", "add", "name", bridge, "type", "bridge")
            self.ip(LAN, "link", "set", "dev", bridge, "up")

    def space(self, host):
        return f"{self.prefix}-{host}"

    def inside(self, host):
        """What begins a command that runs there."""
        return ["ip", "netns", "exec", self.space(host)]

    def ip(self, host, *words):
        return run("ip", "-n", self.space(host), *words)

    def managing(self, host):
        return MANAGING.format(self.hosts[host])

    def wire(self, host):
        return WIRE.format(self.hosts[host])

    def add_host(self, host, number, wire=None):
        """wire: "kernel" gives it an address there, "bare" only the link w0, for a program that has its own stack."""
        run("ip", "netns", "add", self.space(host))
        self.hosts[host] = number
        self.ip(host, "link", "set", "lo", "up")
        self.add_link(host, "m", "bmanaging")
        self.ip(host, "address", "add", self.managing(host) + "/24", "dev", "m0")
        # Rules come before what is local, so that a rule can drop what arrives.
        self.ip(host, "rule", "add", "pref", "10", "lookup", "local")
        self.ip(host, "rule", "del", "pref", "0")
        if wire:
            self.add_link(host, "w", "bwire")
            # A veth leaves checksums to hardware that is not there; Berth checks them.
            run(*self.inside(host), "ethtool", "-K", "w0", "tx", "off")
        if wire == "kernel":
            self.ip(host, "address", "add", self.wire(host) + "/24", "dev", "w0")
        elif wire:
            run(*self.inside(host), "sysctl", "-qw", "net.ipv6.conf.w0.disable_ipv6=1")

    def add_link(self, host, kind, bridge):
        far = f"{kind}{host}"
        self.ip(LAN, "link", "add", "name", far, "type", "veth", "peer", "name", f"{kind}0", "netns", self.space(host))
        self.ip(LAN, "link", "set", "dev", far, "master", bridge, "up")
        self.ip(host, "link", "set", "dev", f"{kind}0", "up")

    def cut(self, one, other):
        """Nothing goes between the two over the managing network: either end drops what comes from the other."""
        if (one, other) in self.cuts or (other, one) in self.cuts:
            return
        self.cuts.add((one, other))
        for here, there in ((one, other), (other, one)):
            self.ip(here, "rule", "add", "pref", "5", "from", self.managing(there), "blackhole")

    def mend(self, one, other):
        pair = (one, other) if (one, other) in self.cuts else (other, one)
        if pair not in self.cuts:
            return
        self.cuts.discard(pair)
        for here, there in ((one, other), (other, one)):
            self.ip(here, "rule", "del", "pref", "5", "from", self.managing(there), "blackhole")

    def cut_wire(self, host, off=True):
        """The bridge forwards nothing of it and to it; its own link stays up."""
        run("bridge", "-n", self.space(LAN), "link", "set", "dev", f"w{host}", "state", 0 if off else 3)

    def mend_all(self):
        for one, other in list(self.cuts):
            self.mend(one, other)

    def close(self):
        for host in [*self.hosts, LAN]:
            subprocess.run(["ip", "netns", "del", self.space(host)], capture_output=True)
