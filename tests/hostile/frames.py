"""Frames of the wire: broken, forged, sent again, and of those who may not."""
import random
import socket
import struct
import threading
import time
import uuid

import vectors
from daemon import TTL_MS, WIRE_PORT, ask_json, expect
from jobs import job

SERVER = ("127.0.0.1", WIRE_PORT)
NONE = {"key_id": 0, "flags": 0, "slot": vectors.NO_SLOT, "generation": 0, "sequence": 0}


def refused(daemon, reason=""):
    return daemon.metric("berth_packets_refused_total", f'reason="{reason}"' if reason else "")


class Node:
    """A node that follows the protocol, as far as it has to."""

    def __init__(self, daemon, name, id=None, source="127.0.0.1"):
        self.id = id or uuid.uuid4()
        self.name = name
        self.key_id, master = daemon.master_key()
        vectors.MASTERS[self.key_id] = master
        self.key = vectors.node_key(self.id, self.key_id)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((source, 0))
        self.socket.settimeout(0.2)
        self.slot, self.generation, self.sequence, self.term = vectors.NO_SLOT, 0, 0, 0

    def frame(self, kind, fields, encode, sequence, key=None):
        header = {"key_id": self.key_id, "flags": 0, "slot": self.slot, "generation": self.generation,
                  "sequence": sequence}
        if kind == "REGISTER":
            header.update(slot=vectors.NO_SLOT, generation=0)
        body, least = encode(fields)
        return vectors.frame(kind, key or self.key, header, body, least)

    def registration(self, name=None, key=None, **more):
        fields = vectors.description(node=str(self.id), name=name or self.name, pairs=[
            {"kind": 0, "name": "driver.raw_exec", "value": "1"},
            {"kind": 0, "name": "kernel.version", "value": "6.1.0"},
            {"kind": 0, "name": "long", "value": "a" * 900 + self.name}], **more)
        return self.frame("REGISTER", fields, vectors.register, int(time.time() * 1000), key)

    def beat(self, term=None):
        self.sequence += 1
        fields = {"term": self.term if term is None else term, "alloc_index": 0, "load_permille": 0}
        return self.frame("HEARTBEAT", fields, vectors.heartbeat, self.sequence)

    def say(self, frame):
        self.socket.sendto(frame, SERVER)

    def hear(self, kind, tries=50):
        """The first answer of the kind; None: none came."""
        for _ in range(tries):
            try:
                data = self.socket.recv(2048)
            except TimeoutError:
                return None
            if data[3] == vectors.TYPES[kind]:
                return data
        return None

    def register(self):
        frame = self.registered = self.registration()
        for _ in range(50):
            self.say(frame)  # unchanged: another one would begin another generation
            if answer := self.hear("REGISTERED"):
                self.slot, self.generation = struct.unpack_from("<II", answer, 8)
                self.term, = struct.unpack_from("<Q", answer, 24)
                return self
        raise AssertionError(f"{self.name} does not register")

    def is_heard(self):
        self.say(self.beat())
        return self.hear("HEARTBEAT_ACK") is not None

    def await_handled(self):
        """Until all that this socket said before has been handled: it is heard in order."""
        for _ in range(50):
            self.say(self.registered)
            if self.hear("REGISTERED"):
                return
        raise AssertionError(f"{self.name} is not answered")


class Fleet:
    """Nodes that live, each of a class of its own; the first is "good"."""

    def __init__(self, daemon, count):
        self.nodes = [Node(daemon, f"fleet-{i}" if i else "good") for i in range(count)]
        self.stopped = False
        for node in self.nodes:
            node.register()
        threading.Thread(target=self.beat, daemon=True).start()
        for _ in range(600):
            if sum(n["Status"] == "ready" for n in ask_json("GET", "/v1/nodes")) == count:
                return
            time.sleep(0.1)
        raise AssertionError("the nodes are not ready")

    def beat(self):
        while not self.stopped:
            for node in self.nodes:
                node.say(node.beat())
            for _ in range(TTL_MS // 250):  # more than a third of it: who beats faster is over its rate
                if not self.stopped:
                    time.sleep(0.1)

    def stop(self):
        self.stopped = True


def await_refused(daemon, least):
    for _ in range(100):
        if refused(daemon) >= least:
            return
        time.sleep(0.05)
    raise AssertionError(f"{refused(daemon)} frames were refused, not {least}")


def noise(daemon):
    """Bytes of any length, and the beginnings of good frames: nothing but a counter changes."""
    chance, node = random.Random(7), Node(daemon, "noise")
    good = node.registration()
    before, nodes = refused(daemon), len(ask_json("GET", "/v1/nodes"))
    for i in range(20_000):
        size = chance.randrange(0, 1400)
        if i % 2:
            data = good[:size % len(good)]
        else:
            data = struct.pack("<HBBHBB", 0x4242, 1, chance.randrange(32), size, 1, 0) + chance.randbytes(size)
        node.say(data)
        if i % 50 == 0:
            time.sleep(0.002)
    await_refused(daemon, before + 10_000)
    expect("an answer to noise", node.hear("REGISTERED", 1), None)
    expect("nodes", len(ask_json("GET", "/v1/nodes")), nodes)


def forged(daemon):
    """Registrations with a flipped bit, or under the key of another node: no node comes of them."""
    node, other = Node(daemon, "forged"), Node(daemon, "other")
    before, nodes = refused(daemon), len(ask_json("GET", "/v1/nodes"))
    good = node.registration()
    for bit in range(0, len(good) * 8, 7):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        node.say(bytes(bad))
    for i in range(100):
        node.say(node.registration(name=f"n{i}", key=other.key))
    await_refused(daemon, before + 100)
    expect("nodes", len(ask_json("GET", "/v1/nodes")), nodes)


def other_names(daemon):
    """One key registers under a thousand names: it stays one node."""
    before = len(ask_json("GET", "/v1/nodes"))
    node = Node(daemon, "name-0").register()
    for i in range(1000):
        node.say(node.registration(name=f"name-{i}"))
        if i % 20 == 0:
            time.sleep(0.01)
    nodes = ask_json("GET", "/v1/nodes")
    expect("nodes of one key", sum(n["ID"] == str(node.id) for n in nodes), 1)
    expect("nodes", len(nodes), before + 1)


def replayed(daemon):
    """Heartbeats that came before, and of terms to come, make no node ready; a goodbye under another's key does nothing."""
    node, other = Node(daemon, "replayed").register(), Node(daemon, "thief")
    old = node.beat(term=node.term + 1_000_000)
    for _ in range(500):
        node.say(old)
    other.slot, other.generation = node.slot, node.generation
    node.say(other.frame("GOODBYE", {}, vectors.goodbye, 1 << 40))
    node.await_handled()
    state = ask_json("GET", f"/v1/node/{node.id}")["Status"]
    expect("a node by replayed frames of a term to come", state, "initializing")


def pings(daemon):
    """Frames far faster than anybody's share: heartbeats of others are heard meanwhile."""
    node, other = Node(daemon, "flood").register(), Node(daemon, "bystander").register()
    beats, over = [node.beat() for _ in range(3000)], threading.Event()

    def flood():
        while not over.is_set():
            for frame in beats:
                node.say(frame)

    threading.Thread(target=flood, daemon=True).start()
    time.sleep(0.3)
    heard = any(other.is_heard() for _ in range(20))
    over.set()
    expect("a bystander is answered", heard, True)
    expect("the good node", [n["Status"] for n in ask_json("GET", "/v1/nodes") if n["Name"] == "good"], ["ready"])


def await_allocation(name):
    for _ in range(200):
        if ask_json("GET", f"/v1/job/{name}/allocations"):
            return
        time.sleep(0.1)
    raise AssertionError(f"the job {name} has no allocation")


def a_normal_job_is_placed(daemon):
    ask_json("PUT", "/v1/jobs", job("normal"))
    await_allocation("normal")


CASES = [
    ("frames of noise", noise, 3, 32),
    ("forged frames", forged, 2, 32),
    ("one key under a thousand names", other_names, 3, 32),
    ("frames again, of terms to come, of others", replayed, 2, 32),
    ("a flood of heartbeats", pings, 2, 32),
]
