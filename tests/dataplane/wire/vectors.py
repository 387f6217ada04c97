#!/usr/bin/env python3
"""Prints vectors.json: frames of every message type, made by a second implementation of docs/wire.md that
shares no line with the C code. `vectors.py --check FILE PAGE` compares instead of printing, and looks for the
frames and keys that PAGE (docs/wire.md) quotes."""

import hashlib
import json
import re
import struct
import sys
import uuid

MASK = 0xFFFFFFFFFFFFFFFF
TYPES = {
    "HEARTBEAT": 2, "HEARTBEAT_ACK": 3, "REGISTER": 4, "REGISTERED": 5, "GOODBYE": 6, "GOODBYE_ACK": 7,
    "PLACE": 8, "PLACED": 9, "RELEASE": 10, "RELEASED": 11, "STATUS": 12, "STATUS_REPLY": 13, "REFUSED": 15,
    "ALLOC_UPDATE": 16, "ALLOC_UPDATED": 17, "ALLOCS": 18, "ALLOCS_REPLY": 19, "ALLOC_SPEC": 20,
    "ALLOC_SPEC_REPLY": 21, "READINESS": 22, "READINESS_TAKEN": 23, "VMS": 24, "VMS_REPLY": 25,
    "NOTIFY": 27,
}
MASTERS = {7: bytes(range(32)), 6: hashlib.sha256(b"an older master key").digest()}
NODE = uuid.UUID("7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de")
OTHER = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
CLIENT = "autoscaler"
NO_SLOT = 0xFFFFFFFF


def siphash128(key, data):
    def rotate(x, b):
        return ((x << b) | (x >> (64 - b))) & MASK

    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return struct.pack("<QQ", low, v[0] ^ v[1] ^ v[2] ^ v[3])


def chacha_rounds(state):
    def rotate(x, b):
        return ((x << b) | (x >> (32 - b))) & 0xFFFFFFFF

    def quarter(a, b, c, d):
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            state[z] = rotate(state[z] ^ state[x], bits)

    for _ in range(10):
        for columns in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)):
            quarter(*columns)
        for diagonals in ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(*diagonals)
    return state


def chacha_state(key, last):
    return list(struct.unpack("<4I", b"expand 32-byte k") + struct.unpack("<8I", key) + struct.unpack("<4I", last))


def chacha20(key, nonce, counter, data):
    out = b""
    for at in range(0, len(data), 64):
        first = chacha_state(key, struct.pack("<I", counter + at // 64) + nonce)
        stream = struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(first, chacha_rounds(list(first)))))
        out += bytes(a ^ b for a, b in zip(data[at:at + 64], stream))
    return out


def poly1305(key, data):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    sum_ = 0
    for at in range(0, len(data), 16):
        sum_ = (sum_ + int.from_bytes(data[at:at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((sum_ + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def xchacha20_poly1305(key, nonce, associated, plain):
    """draft-irtf-cfrg-xchacha: what is sealed, and its tag."""
    rounds = chacha_rounds(chacha_state(key, nonce[:16]))
    inner, rest = struct.pack("<8I", *rounds[:4], *rounds[12:]), bytes(4) + nonce[16:]
    sealed = chacha20(inner, rest, 1, plain)
    padded = [part + bytes(-len(part) % 16) for part in (associated, sealed)]
    sizes = struct.pack("<QQ", len(associated), len(sealed))
    return sealed, poly1305(chacha20(inner, rest, 0, bytes(32)), padded[0] + padded[1] + sizes)


def seal(key, associated, plain):
    """Nonce, what is sealed, and its tag, under what follows from a node's key."""
    both = hashlib.blake2b(b"berth seal v1", key=key, digest_size=64).digest()
    nonce = hashlib.blake2b(associated + plain, key=both[32:], digest_size=24).digest()
    return (nonce, *xchacha20_poly1305(both[:32], nonce, associated, plain))


def derive(label, key_id, identity):
    message = label.encode() + bytes([key_id]) + identity
    return hashlib.blake2b(message, key=MASTERS[key_id], digest_size=16).digest()


def sender_key(kind, key_id, identity, generation):
    if generation == 0:
        return derive(f"berth {kind} v1", key_id, identity)
    return derive(f"berth {kind} v2", key_id, struct.pack("<I", generation) + identity)


def node_key(node, key_id=7, generation=0):
    return sender_key("node", key_id, node.bytes, generation)


def client_key(name, key_id=7, generation=0):
    return sender_key("client", key_id, name.encode(), generation)


def text8(s):
    raw = s.encode()
    return bytes([len(raw)]) + raw


def text16(s):
    raw = s.encode()
    return struct.pack("<H", len(raw)) + raw


def term(f):
    return struct.pack("<Q", f["term"]) if "term" in f else b""


def frame(kind, key, header, body, least=0):
    if header["flags"] & 1 and kind in ("ALLOCS", "ALLOC_SPEC", "VMS"):
        least += 8  # room for the term
    if header["flags"] & 2 and kind == "ALLOC_SPEC":
        least += 40  # room for nonce and tag
    body += bytes(max(0, least - 40 - len(body)))
    length = 24 + len(body) + 16
    head = struct.pack("<HBBHBBIIQ", 0x4242, 1, TYPES[kind], length, header["key_id"], header["flags"],
                       header["slot"], header["generation"], header["sequence"])
    return head + body + siphash128(key, head + body)


# One body encoder per message; each returns the bytes and the least length of the frame.
def heartbeat(f):
    return struct.pack("<QQII", f["term"], f["alloc_index"], f["load_permille"], 0), 0


def heartbeat_ack(f):
    body = (f["term"], f["alloc_index"], f["ttl_ms"], f["directives"], f["line_port"])
    return struct.pack("<QQIHH", *body), 0


def goodbye(_):
    return bytes(24), 0


def register(f):
    out = uuid.UUID(f["node"]).bytes + struct.pack("<BBH", f["part"], f["parts"], 0)
    if f["part"] == 0:
        for name in ("cpu_mhz", "memory_mb", "disk_mb", "reserved_cpu_mhz", "reserved_memory_mb", "reserved_disk_mb"):
            out += struct.pack("<I", f[name])
        for name in ("name", "datacenter", "class", "pool", "address", "version"):
            out += text8(f[name])
        out += bytes([len(f["device_groups"])])
        for group in f["device_groups"]:
            out += text8(group["vendor"]) + text8(group["type"]) + text8(group["name"]) + bytes([group["instances"]])
    out += struct.pack("<H", len(f["pairs"]))
    for pair in f["pairs"]:
        out += bytes([pair["kind"]]) + text8(pair["name"]) + text16(pair["value"])
    return out, 96


def place(f):
    out = text8(f["client"]) + struct.pack("<QQB", f["issued_ms"], f["request"], f["count"])
    return out + text8(f["namespace"]) + text8(f["job"]) + text8(f["group"]), max(128, 56 + 40 * f["count"])


def placed(f):
    out = struct.pack("<QBBHI", f["index"], len(f["items"]), f["requested"], 0, f["nodes_feasible"])
    for item in f["items"]:
        out += uuid.UUID(item["allocation"]).bytes + uuid.UUID(item["node"]).bytes + struct.pack("<d", item["score"])
    return out, 0


def ids_of(f):
    return b"".join(uuid.UUID(i).bytes for i in f["ids"])


def release(f):
    return text8(f["client"]) + bytes([len(f["ids"])]) + ids_of(f), 49 + len(f["ids"])


def released(f):
    return struct.pack("<QB", f["index"], len(f["results"])) + bytes(f["results"]), 0


def status(f):
    out = text8(f["client"]) + bytes([f["mode"], f["count"]])
    out += ids_of(f) if f["mode"] == 0 else struct.pack("<Q", f["since"])
    return out, 52 + 32 * f["count"]


def status_reply(f):
    out = struct.pack("<QBBH", f["index"], len(f["items"]), f["more"], 0)
    for i in f["items"]:
        out += uuid.UUID(i["allocation"]).bytes
        out += struct.pack("<QBBBBI", i["modify_index"], i["desired"], i["client"], i["known"], 0, i["node_slot"])
    return out, 0


NUMBERS = ("nodes_seen", "nodes_not_ready", "filtered_datacenter", "filtered_class", "filtered_device",
           "exhausted_cpu", "exhausted_memory", "exhausted_disk", "exhausted_device")


def not_leader(f):
    out = struct.pack("<BBHI", f["request_type"], f["reason"], f["leader_port"], f["retry_after_ms"])
    return out + (bytes.fromhex(f["leader_address"]) if f["leader_port"] else bytes(8)), 0


def refused(f):
    if f["reason"] == 23:
        return not_leader(f)
    out = struct.pack("<BBHIQ", f["request_type"], f["reason"], len(f["filters"]), f["retry_after_ms"], f["value"])
    for name in NUMBERS[:f.get("numbers_sent", len(NUMBERS))]:
        out += struct.pack("<I", f[name])
    return out + b"".join(struct.pack("<I", n) for n in f["filters"]), 0


def no_numbers():
    return {name: 0 for name in NUMBERS}


def notify(f):
    return struct.pack("<QQH", f["term"], f["alloc_index"], f["call_port"]) + bytes(6), 0


def alloc_update(f):
    out = struct.pack("<BBH", len(f["items"]), 0, 0)
    for i in f["items"]:
        out += uuid.UUID(i["allocation"]).bytes
        out += bytes([i["client"], i["healthy"], i["update_flags"], len(i["tasks"])])
        out += text8(i["description"])
        for t in i["tasks"]:
            handle = t.get("handle")
            flags = t["failed"] + (2 if handle else 0)
            out += text8(t["name"]) + struct.pack("<BBH", t["state"], flags, t["restarts"])
            out += struct.pack("<qqq", t["started"], t["finished"], t["last_restart"])
            if handle:
                out += struct.pack("<I", handle["version"]) + text16(handle["state"])
            out += bytes([len(t["events"])])
            for e in t["events"]:
                out += text8(e["type"]) + text8(e["message"]) + struct.pack("<qi", e["time"], e["exit_code"])
    return out, 49 + len(f["items"])


def alloc_updated(f):
    return struct.pack("<QB", f["index"], len(f["known"])) + bytes(f["known"]), 0


def readiness(f):
    return struct.pack("<BBHI", f["ready"], 0, 0, f["backoff_ms"]) + bytes(16), 0


def readiness_taken(f):
    return struct.pack("<Q", f["index"]) + bytes(16), 0


def allocs(f):
    return struct.pack("<QB", f["since"], f["count"]), 52 + 40 * f["count"]


def allocs_reply(f):
    out = struct.pack("<QBBH", f["index"], len(f["items"]), f["more"], 0)
    for i in f["items"]:
        out += uuid.UUID(i["allocation"]).bytes + struct.pack("<QQ", i["version"], i["job_index"])
        out += struct.pack("<BBHHH", i["desired"], i["client"], i["group"], i["flags"], 0)
    return out + term(f), 0


def alloc_spec(f):
    return uuid.UUID(f["allocation"]).bytes + struct.pack("<IHH", f["offset"], f["bytes"], 0), 60 + f["bytes"]


def alloc_spec_reply(f):
    data = f["data"].encode()
    return struct.pack("<QIIHH", f["version"], f["total"], f["offset"], len(data), 0) + data + term(f), 0


def vms(f):
    return struct.pack("<QHB", f["version"], f["from"], f["count"]), 52 + 32 * f["count"]


def vms_reply(f):
    out = struct.pack("<QHBB", f["version"], f["from"], len(f["items"]), f["more"])
    for i in f["items"]:
        out += uuid.UUID(i["instance"]).bytes + struct.pack("<QB", i["version"], i["power"]) + bytes(7)
    return out + term(f), 0


BODIES = {
    "HEARTBEAT": heartbeat, "HEARTBEAT_ACK": heartbeat_ack, "REGISTER": register, "REGISTERED": heartbeat_ack,
    "GOODBYE": goodbye, "GOODBYE_ACK": goodbye, "PLACE": place, "PLACED": placed, "RELEASE": release,
    "RELEASED": released, "STATUS": status, "STATUS_REPLY": status_reply, "REFUSED": refused,
    "ALLOC_UPDATE": alloc_update, "ALLOC_UPDATED": alloc_updated, "ALLOCS": allocs, "ALLOCS_REPLY": allocs_reply,
    "ALLOC_SPEC": alloc_spec, "ALLOC_SPEC_REPLY": alloc_spec_reply,
    "READINESS": readiness, "READINESS_TAKEN": readiness_taken, "VMS": vms, "VMS_REPLY": vms_reply,
    "NOTIFY": notify,
}


def description(**more):
    fields = {
        "node": str(NODE), "part": 0, "parts": 1, "cpu_mhz": 28800, "memory_mb": 32096, "disk_mb": 97204,
        "reserved_cpu_mhz": 100, "reserved_memory_mb": 256, "reserved_disk_mb": 0, "name": "rack3-n07",
        "datacenter": "dc1", "class": "", "pool": "default", "address": "192.0.2.7:4646", "version": "0.1.0",
        "device_groups": [], "pairs": [],
    }
    fields.update(more)
    return fields


def cases():
    at = {"slot": 4097, "generation": 3}
    none = {"slot": NO_SLOT, "generation": 0}
    born = 1767225600000
    yield "first heartbeat", "HEARTBEAT", at, 1, {"term": 0, "alloc_index": 0, "load_permille": 0}
    yield "heartbeat", "HEARTBEAT", at, 4294967297, {"term": 12, "alloc_index": 90017, "load_permille": 734}
    ack = {"term": 12, "alloc_index": 90020, "ttl_ms": 10000, "directives": 0, "line_port": 0}
    yield "answer to a heartbeat", "HEARTBEAT_ACK", at, 4294967297, ack
    yield "answer with directives", "HEARTBEAT_ACK", at, 2, dict(ack, directives=15, term=2**63 - 1)
    yield "answer that calls", "HEARTBEAT_ACK", at, 3, dict(ack, directives=16, line_port=4647)
    yield "smallest registration", "REGISTER", none, born, description(
        name="", datacenter="", pool="", address="", version="")
    pairs = [{"kind": 0, "name": "cpu.arch", "value": "amd64"}, {"kind": 0, "name": "kernel.name", "value": "linux"},
             {"kind": 1, "name": "rack", "value": "r3 \u2013 nord"}, {"kind": 2, "name": "mock", "value": "1"},
             {"kind": 0, "name": "unique.hostname", "value": ""}]
    gpus = [{"vendor": "nvidia", "type": "gpu", "name": "A10", "instances": 8},
            {"vendor": "", "type": "fpga", "name": "", "instances": 1}]
    yield "registration", "REGISTER", none, born + 1, dict(description(), pairs=pairs, device_groups=gpus)
    more = [{"kind": 3, "name": "certs", "value": "ro /etc/ssl/certs"},
            {"kind": 3, "name": "scratch", "value": "rw /srv/scratch"},
            {"kind": 4, "name": "host:eth0", "value": "10000"}, {"kind": 4, "name": "bridge:", "value": ""},
            {"kind": 5, "name": "host:eth0 192.0.2.7", "value": "default 22,9000-9010"},
            {"kind": 5, "name": "host:eth0 2001:db8::7", "value": "public"},
            {"kind": 6, "name": "ports.reserved", "value": "22,111"},
            {"kind": 6, "name": "ports.dynamic", "value": "25000-25999"},
            {"kind": 6, "name": "cores.reservable", "value": "2-15"},
            {"kind": 7, "name": "nvidia/gpu/A10/memory", "value": "24 GiB"}]
    yield "registration with networks", "REGISTER", none, born + 4, dict(
        description(), pairs=pairs + more, device_groups=gpus)
    many = [{"kind": 0, "name": f"attribute.{i:03}", "value": "v" * (i % 23)} for i in range(90)]
    yield "registration, part 0 of 2", "REGISTER", none, born + 2, description(
        parts=2, pairs=many[:30], **{"class": "gpu-large"})
    yield "registration, part 1 of 2", "REGISTER", none, born + 2, {
        "node": str(NODE), "part": 1, "parts": 2, "pairs": many[30:60]}
    yield "registration, an empty last part", "REGISTER", none, born + 3, {
        "node": str(NODE), "part": 7, "parts": 8, "pairs": []}
    yield "answer to a registration", "REGISTERED", at, born + 1, dict(ack, alloc_index=0)
    yield "goodbye", "GOODBYE", at, 99, {}
    yield "answer to goodbye", "GOODBYE_ACK", at, 99, {}
    ask = {"client": CLIENT, "issued_ms": born, "request": 77, "count": 1, "namespace": "", "job": "web",
           "group": "frontend"}
    yield "placement of one", "PLACE", none, 5, ask
    yield "placement of 32", "PLACE", none, 6, dict(ask, count=32, namespace="team-a", client="c" * 64)
    item = {"allocation": str(OTHER), "node": str(NODE), "score": 0.8413214285714286}
    yield "placed", "PLACED", none, 5, {"index": 90021, "requested": 1, "nodes_feasible": 99998, "items": [item]}
    yield "placed in part", "PLACED", none, 6, {
        "index": 90022, "requested": 32, "nodes_feasible": 2, "items": [item, dict(item, score=-0.25)] * 10}
    yield "release", "RELEASE", none, 7, {"client": CLIENT, "ids": [str(OTHER)]}
    yield "release of 32", "RELEASE", none, 8, {"client": CLIENT, "ids": [str(OTHER), str(NODE)] * 16}
    yield "released", "RELEASED", none, 8, {"index": 90030, "results": [0, 1, 2]}
    yield "status by id", "STATUS", none, 9, {"client": CLIENT, "mode": 0, "count": 2, "ids": [str(OTHER), str(NODE)]}
    yield "status of changes", "STATUS", none, 10, {"client": CLIENT, "mode": 1, "count": 32, "since": 90021}
    one = {"allocation": str(OTHER), "modify_index": 90021, "desired": 0, "client": 0, "known": 1, "node_slot": 4097}
    lost = dict(one, client=4, modify_index=90044)
    unknown = {"allocation": str(NODE), "modify_index": 0, "desired": 0, "client": 0, "known": 0, "node_slot": 0}
    yield "status reply", "STATUS_REPLY", none, 9, {"index": 90044, "more": 0, "items": [lost, unknown]}
    yield "status reply, nothing new", "STATUS_REPLY", none, 10, {"index": 90044, "more": 0, "items": []}
    yield "status reply, more to come", "STATUS_REPLY", none, 10, {"index": 90060, "more": 1, "items": [one] * 32}
    stale = dict(no_numbers(), request_type=2, reason=1, retry_after_ms=0, value=0, filters=[])
    yield "refused: stale generation, cut to 64", "REFUSED", at, 11, dict(stale, numbers_sent=2)
    yield "refused: older registration", "REFUSED", none, born, dict(
        stale, request_type=4, reason=2, value=born + 9, numbers_sent=9)
    why = dict(stale, request_type=8, reason=8, nodes_seen=1523, nodes_not_ready=2, filtered_datacenter=100,
               filtered_class=7, filtered_device=310, exhausted_cpu=900, exhausted_memory=110, exhausted_disk=3,
               exhausted_device=1, filters=[40, 50])
    yield "refused: no node", "REFUSED", none, 5, why
    started = {"type": "Started", "message": "Task started by client", "time": born * 10**6, "exit_code": 0}
    ended = {"type": "Terminated", "message": "Exit Code: 137, Signal: 9", "time": born * 10**6 + 5, "exit_code": 137}
    task = {"name": "web", "state": 1, "failed": 0, "restarts": 0, "started": born * 10**6, "finished": 0,
            "last_restart": 0, "events": [started]}
    dead = dict(task, state=2, failed=1, restarts=3, finished=born * 10**6 + 5, last_restart=born * 10**6 + 3,
                events=[started, ended])
    report = {"allocation": str(OTHER), "client": 1, "healthy": 1, "update_flags": 0,
              "description": "Tasks are running", "tasks": [task]}
    yield "report of an allocation", "ALLOC_UPDATE", at, born, {"items": [report]}
    yield "report of three", "ALLOC_UPDATE", at, born + 1, {"items": [
        report, dict(report, client=3, healthy=2, description="Failed tasks", tasks=[dict(dead, name="log"), dead]),
        dict(report, client=2, healthy=0, description="", tasks=[])]}
    yield "report of a status alone", "ALLOC_UPDATE", at, born + 2, {
        "items": [dict(report, healthy=0, description="", tasks=[])]}
    remote = dict(task, name="remote", handle={"version": 1, "state": "a task far away"})
    yield "report of a remote task", "ALLOC_UPDATE", at, born + 3, {
        "items": [dict(report, tasks=[remote, dict(dead, handle={"version": 4294967295, "state": ""})])]}
    lost_it = dict(report, client=3, healthy=0, update_flags=1, description="Failed tasks", tasks=[dead])
    yield "reports of a flaky node", "ALLOC_UPDATE", at, born + 4, {"items": [
        lost_it, dict(lost_it, client=2, update_flags=2, description="", tasks=[]), dict(lost_it, update_flags=3)]}
    yield "report taken", "ALLOC_UPDATED", at, born + 1, {"index": 90070, "known": [1, 1, 0]}
    yield "ready", "READINESS", at, born + 5, {"ready": 1, "backoff_ms": 0}
    yield "not ready", "READINESS", at, born + 6, {"ready": 0, "backoff_ms": 5000}
    yield "not ready, and not to be asked again", "READINESS", at, born + 7, {"ready": 0, "backoff_ms": 0}
    yield "readiness taken", "READINESS_TAKEN", at, born + 5, {"index": 90071}
    yield "question for all allocations", "ALLOCS", at, 1, {"since": 0, "count": 32}
    yield "question for changed allocations", "ALLOCS", at, 2, {"since": 90020, "count": 1}
    mine = {"allocation": str(OTHER), "version": 90021, "job_index": 90001, "desired": 0, "client": 0,
            "group": 1, "flags": 1}
    yield "allocations", "ALLOCS_REPLY", at, 1, {"index": 90080, "more": 0, "items": [
        mine, dict(mine, allocation=str(NODE), desired=1, client=1, version=90077, flags=3)]}
    yield "allocations, more to come", "ALLOCS_REPLY", at, 1, {"index": 90060, "more": 1, "items": [mine] * 32}
    yield "no allocation changed", "ALLOCS_REPLY", at, 2, {"index": 90080, "more": 0, "items": []}
    yield "question for a specification", "ALLOC_SPEC", at, 3, {"allocation": str(OTHER), "offset": 0, "bytes": 1388}
    yield "question for a small piece", "ALLOC_SPEC", at, 4, {"allocation": str(OTHER), "offset": 1392, "bytes": 1}
    yield "piece of a specification", "ALLOC_SPEC_REPLY", at, 4, {
        "version": 90021, "total": 1410, "offset": 1392, "data": '"Driver":"mock"}}'}
    yield "end of a specification", "ALLOC_SPEC_REPLY", at, 5, {
        "version": 90021, "total": 1410, "offset": 1410, "data": ""}
    yield "question for virtual machines", "VMS", at, 6, {"version": 0, "from": 0, "count": 32}
    yield "question for the next page", "VMS", at, 7, {"version": 90081, "from": 32, "count": 1}
    guest = {"instance": str(OTHER), "version": 3, "power": 0}
    yield "virtual machines", "VMS_REPLY", at, 6, {"version": 90081, "from": 32, "more": 0, "items": [
        guest, dict(guest, instance=str(NODE), version=2**63 - 1, power=2)]}
    yield "virtual machines, more to come", "VMS_REPLY", at, 7, {
        "version": 90081, "from": 0, "more": 1, "items": [guest, dict(guest, power=1)] * 16}
    yield "no virtual machine", "VMS_REPLY", at, 8, {"version": 1, "from": 0, "more": 0, "items": []}
    asks = dict(at, flags=1)  # for the term, and answers with it
    yield "question for all allocations and the term", "ALLOCS", asks, 9, {"since": 0, "count": 32}
    yield "question for a specification and the term", "ALLOC_SPEC", asks, 10, {
        "allocation": str(OTHER), "offset": 0, "bytes": 1380}
    yield "question for virtual machines and the term", "VMS", asks, 11, {"version": 0, "from": 0, "count": 32}
    yield "allocations of a term", "ALLOCS_REPLY", asks, 9, {"index": 90080, "more": 0, "items": [mine], "term": 12}
    yield "piece of a specification of a term", "ALLOC_SPEC_REPLY", asks, 10, {
        "version": 90021, "total": 1410, "offset": 1392, "data": '"Driver":"mock"}}', "term": 12}
    sealed = dict(at, flags=3)  # and for a sealed answer
    yield "question for a sealed specification", "ALLOC_SPEC", sealed, 12, {
        "allocation": str(OTHER), "offset": 0, "bytes": 1340}
    yield "virtual machines of a term", "VMS_REPLY", asks, 11, {
        "version": 90081, "from": 0, "more": 0, "items": [guest], "term": 2**63 - 1}
    notice = {"term": 12, "alloc_index": 90090, "call_port": 0}
    yield "notice of news", "NOTIFY", at, 0, notice
    yield "notice that calls", "NOTIFY", at, 1722, dict(notice, call_port=4647)
    yield "refused: not allowed", "REFUSED", at, born, dict(stale, request_type=16, reason=15, numbers_sent=2)
    yield "refused: overloaded", "REFUSED", none, 5, dict(stale, request_type=8, reason=10, retry_after_ms=250)
    follows = {"request_type": 2, "reason": 23, "retry_after_ms": 0, "leader_port": 4647,
               "leader_address": "00000000000000000000ffffc0000202"}
    yield "refused: not the leader", "REFUSED", at, 14, follows
    yield "refused: not the leader, which has IPv6", "REFUSED", none, 6, dict(
        follows, request_type=8, leader_address="20010db8000000000000000000000002")
    yield "refused: not the leader, which is not known", "REFUSED", none, 7, dict(
        follows, request_type=10, retry_after_ms=500, leader_port=0, leader_address="00" * 16)


def sealed_cases():
    """Answers to ALLOC_SPEC whose data is sealed: name, sequence, flags, allocation of the question, fields."""
    whole = {"version": 90021, "total": 1410, "offset": 1392, "data": '"Driver":"mock"}}', "term": 12}
    yield "sealed piece", 12, 3, OTHER, whole
    yield "the same again, to a later question", 13, 3, OTHER, whole
    yield "sealed piece without a term", 12, 2, OTHER, {k: v for k, v in whole.items() if k != "term"}
    yield "sealed piece of all that fits", 14, 3, NODE, dict(whole, offset=0, data="0123456789abcdef" * 84)
    yield "sealed end", 15, 3, OTHER, dict(whole, offset=1410, data="")


def sealed_frame(key, header, allocation, fields):
    plain = fields["data"].encode()
    length = 40 + 20 + 40 + len(plain) + (8 if "term" in fields else 0)
    head = struct.pack("<HBBHBBIIQ", 0x4242, 1, TYPES["ALLOC_SPEC_REPLY"], length, header["key_id"], header["flags"],
                       header["slot"], header["generation"], header["sequence"])
    head += struct.pack("<QIIHH", fields["version"], fields["total"], fields["offset"], len(plain), 1)
    nonce, data, tag = seal(key, head + allocation.bytes + struct.pack("<Q", fields.get("term", 0)), plain)
    whole = head + nonce + data + tag + term(fields)
    assert len(whole) + 16 == length
    return whole + siphash128(key, whole)


def sealed_vectors():
    key = node_key(NODE)
    for name, sequence, flags, allocation, fields in sealed_cases():
        header = {"key_id": 7, "flags": flags, "sequence": sequence, "slot": 4097, "generation": 3}
        yield {"name": name, "type": "ALLOC_SPEC_REPLY", "header": header, "key": "7:" + key.hex(),
               "allocation": str(allocation), "fields": fields,
               "hex": sealed_frame(key, header, allocation, fields).hex()}


def check_published_vector():
    """The example of draft-irtf-cfrg-xchacha, appendix A.3.1."""
    plain = (b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
             b"would be it.")
    nonce, associated = bytes(range(0x40, 0x58)), bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    sealed, tag = xchacha20_poly1305(bytes(range(0x80, 0xa0)), nonce, associated, plain)
    assert sealed.hex().startswith("bd6d179d3e83d43b9576579493c0e939") and tag.hex() == \
        "c0875924c1c7987947deafd8780acf49"


def vectors():
    frames = []
    for name, kind, place_, sequence, fields in cases():
        of_client = place_["slot"] == NO_SLOT and kind != "REGISTER" and fields.get("request_type") != 4
        key = client_key(fields.get("client", CLIENT)) if of_client else node_key(NODE)
        header = {"key_id": 7, "flags": 0, "sequence": sequence, **place_}
        body, least = BODIES[kind](fields)
        shown = {k: v for k, v in fields.items() if k != "numbers_sent"}
        frames.append({"name": name, "type": kind, "header": header, "key": "7:" + key.hex(), "fields": shown,
                       "hex": frame(kind, key, header, body, least).hex()})
    keys = [{"kind": "node", "name": str(n), "key_id": k, "text": f"{k}:{node_key(n, k).hex()}"}
            for n in (NODE, OTHER) for k in MASTERS]
    keys += [{"kind": "client", "name": c, "key_id": k, "text": f"{k}:{client_key(c, k).hex()}"}
             for c in (CLIENT, "c" * 64) for k in MASTERS]
    keys += [{"kind": "node", "name": str(NODE), "key_id": 7, "generation": g,
              "text": f"7:{node_key(NODE, 7, g).hex()}"} for g in (1, 2, 0x01020304)]
    keys += [{"kind": "client", "name": c, "key_id": 7, "generation": 1,
              "text": f"7:{client_key(c, 7, 1).hex()}"} for c in (CLIENT, "c" * 64)]
    masters = [{"id": k, "hex": v.hex()} for k, v in MASTERS.items()]
    return {"version": 1, "master_keys": masters, "keys": keys, "frames": frames,
            "sealed": list(sealed_vectors())}


def check_page(page, made):
    """Every block of hexadecimal digits in the page is a frame, and every ID:HEX a key."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    frames = {frame["hex"] for frame in made["frames"] + made["sealed"]}
    blocks = ["".join(block.split()) for block in re.findall(r"```\n([0-9a-f\n]+)```", text)]
    if not blocks or any(block not in frames for block in blocks):
        sys.exit(f"{page}: a block of hexadecimal digits is no frame of the vectors")
    keys = {key["text"] for key in made["keys"]}
    if any(key not in keys for key in re.findall(r"\b[0-9]+:[0-9a-f]{32}\b", text)):
        sys.exit(f"{page}: a key is not among the vectors")


def main():
    check_published_vector()
    made = vectors()
    text = json.dumps(made, indent=1, ensure_ascii=True) + "\n"
    if len(sys.argv) == 4 and sys.argv[1] == "--check":
        with open(sys.argv[2], encoding="utf-8") as file:
            if file.read() != text:
                sys.exit(f"{sys.argv[2]} is not what {sys.argv[0]} prints: run it again and look at the difference")
        check_page(sys.argv[3], made)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
