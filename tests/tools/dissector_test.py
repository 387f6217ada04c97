#!/usr/bin/env python3
"""Shows the vectors to tshark through the dissector: every field must come out with its value, and damaged
frames must be marked. usage: dissector_test.py BERTH_LUA VECTORS_JSON"""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

# Names of the vectors' fields where the dissector's differ.
RENAMED = {"version": "agent_version"}
IN_ITEMS = {"version": "spec_version", "flags": "alloc_flags", "client": "client_status", "group": "group_index"}
LISTS = {"device_groups": "device_", "pairs": "pair_"}


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(payload, port):
    udp = struct.pack("!HHHH", 20000, port, 8 + len(payload), 0) + payload
    addresses = bytes([10, 0, 0, 2]), bytes([10, 0, 0, 1])
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, *addresses)
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return bytes(6) + bytes([2, 0, 0, 0, 0, 1]) + b"\x08\x00" + ip + udp


def dissect(script, payloads, port):
    """The layers of each payload, as tshark's JSON gives them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frames.pcap")
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for payload in payloads:
                data = packet(payload, port)
                file.write(struct.pack("<IIII", 1, 0, len(data), len(data)) + data)
        run = subprocess.run(
            ["tshark", "-X", f"lua_script:{script}", "-r", path, "-T", "json", "--no-duplicate-keys"],
            check=True, capture_output=True, text=True)
    if "lua" in run.stderr.lower() and "error" in run.stderr.lower():
        sys.exit(run.stderr)
    return [packet["_source"]["layers"] for packet in json.loads(run.stdout)]


def values(layer, key):
    """All values of a field anywhere in a layer, in order."""
    found = []
    if isinstance(layer, dict):
        for name, value in layer.items():
            if name == key:
                found += value if isinstance(value, list) else [value]
            else:
                found += values(value, key)
    elif isinstance(layer, list):
        for item in layer:
            found += values(item, key)
    return found


def expected(vector):
    """(field of the dissector, all its values) for a vector."""
    out = {}

    def put(name, value):
        out.setdefault("berth." + name, []).append(value)

    def put_item(name, value):
        if name == "tasks":
            put("tasks", len(value))
            for task in value:
                for inner, inner_value in task.items():
                    if inner == "events":
                        put("events", len(inner_value))
                        for event in inner_value:
                            for of_event, event_value in event.items():
                                put("event_" + of_event, event_value)
                    elif inner == "failed":
                        put("task_flags", inner_value + (2 if "handle" in task else 0))
                    elif inner == "handle":
                        put("handle_version", inner_value["version"])
                        put("handle_bytes", len(inner_value["state"]))
                        if inner_value["state"]:  # else there is nothing to show
                            put("handle", ":".join(f"{byte:02x}" for byte in inner_value["state"].encode()))
                    else:
                        put("task_" + inner, inner_value)
        else:
            put(in_items.get(name, name), value)

    in_items = dict(IN_ITEMS, version="machine_version") if vector["type"] == "VMS_REPLY" else IN_ITEMS
    renamed = {"ALLOC_SPEC_REPLY": {"version": "spec_version"}, "VMS": {"version": "list_version"},
               "VMS_REPLY": {"version": "list_version"}}.get(vector["type"], RENAMED)
    for name, value in vector["header"].items():
        put(name, value)
    for name, value in vector["fields"].items():
        if (name == "data" and not value) or (name == "leader_address" and not vector["fields"]["leader_port"]):
            continue  # nothing to show
        if name in LISTS:
            for item in value:
                for inner, inner_value in item.items():
                    put(LISTS[name] + inner, inner_value)
        elif name == "items":
            for item in value:
                for inner, inner_value in item.items():
                    put_item(inner, inner_value)
        elif name in ("ids", "results", "filters", "known"):
            one = {"ids": "allocation", "results": "result", "filters": "filtered_constraint", "known": "known"}[name]
            for item in value:
                put(one, item)
        elif name == "client":
            put("client", value)
        elif name == "leader_address":
            put(name, socket.inet_ntop(socket.AF_INET6, bytes.fromhex(value)))
        else:
            put(renamed.get(name, name), value)
    return out


def same(shown, wanted):
    if isinstance(wanted, str):
        return shown == wanted
    if isinstance(wanted, float):
        return abs(float(shown) - wanted) < 1e-9
    return int(shown, 0) == wanted


def is_marked(layers):
    return "berth.malformed" in json.dumps(layers)


def check_vectors(script, vectors, port):
    payloads = [bytes.fromhex(v["hex"]) for v in vectors]
    for vector, layers in zip(vectors, dissect(script, payloads, port)):
        layer = layers.get("berth")
        assert layer, f"{vector['name']}: not taken for Berth on port {port}"
        assert not is_marked(layers), f"{vector['name']}: marked as malformed: {json.dumps(layer)}"
        for key, wanted in expected(vector).items():
            shown = values(layer, key)
            of_refusal = key.startswith(("berth.nodes_", "berth.filtered_", "berth.exhausted_"))
            if of_refusal and shown == [] and not any(wanted):
                continue  # cut off
            assert len(shown) == len(wanted) and all(map(same, shown, wanted)), \
                f"{vector['name']}: {key} is {shown}, not {wanted}"


def colons(data):
    return ":".join(f"{byte:02x}" for byte in data)


def check_sealed(script, vectors):
    """Of what is sealed, nonce, sealed data and tag are shown, and nothing of what is in it."""
    for vector, layers in zip(vectors, dissect(script, [bytes.fromhex(v["hex"]) for v in vectors], 4647)):
        assert not is_marked(layers), f"{vector['name']}: marked as malformed: {json.dumps(layers.get('berth'))}"
        frame, layer, size = bytes.fromhex(vector["hex"]), layers["berth"], len(vector["fields"]["data"])
        wanted = {"nonce": frame[44:68], "sealed": frame[68:68 + size], "seal_tag": frame[68 + size:84 + size]}
        for name, data in wanted.items():
            assert values(layer, "berth." + name) == ([colons(data)] if data else []), f"{vector['name']}: {name}"
        assert values(layer, "berth.seal") == ["1"] and not values(layer, "berth.data"), vector["name"]
        assert values(layer, "berth.term") == [str(t) for t in (vector["fields"].get("term"),) if t], vector["name"]


def damaged(vectors):
    by_name = {v["name"]: bytes.fromhex(v["hex"]) for v in vectors}

    def changed(name, at, value):
        data = bytearray(by_name[name])
        data[at] = value
        return bytes(data)

    heartbeat = by_name["heartbeat"]
    return {
        "magic": changed("heartbeat", 0, 0x43), "version": changed("heartbeat", 2, 9),
        "type": changed("heartbeat", 3, 14), "length": changed("heartbeat", 4, 63),
        "short": heartbeat[:30], "tiny": heartbeat[:3], "reserved": changed("heartbeat", 44, 1),
        "goodbye": changed("goodbye", 30, 1), "parts": changed("registration", 41, 9),
        "pairs": changed("smallest registration", 76, 2), "kind": changed("registration, part 1 of 2", 46, 8),
        "groups": changed("smallest registration", 74, 5), "client": changed("placement of one", 24, 0),
        "count": changed("placement of one", 51, 33), "more than fit": changed("placed", 32, 2),
        "result": changed("released", 33, 3), "mode": changed("status by id", 35, 2),
        "known": changed("status reply", 62, 2), "filters": changed("refused: no node", 26, 65),
        "cut": heartbeat[:4] + struct.pack("<H", 60) + heartbeat[6:60],
        "padding": changed("placement of one", 110, 1), "report": changed("report of an allocation", 24, 17),
        "status": changed("report of an allocation", 44, 4), "task": changed("report of an allocation", 70, 3),
        "taken": changed("report taken", 33, 2), "allocs": changed("allocations", 33, 2),
        "flags": changed("allocations", 72, 4), "update flags": changed("report of an allocation", 46, 4),
        "ready": changed("ready", 24, 2), "reserved of ready": changed("ready", 25, 1),
        "backoff": changed("not ready", 33, 1), "readiness": changed("readiness taken", 40, 1),
        "vms": changed("virtual machines", 35, 2), "power": changed("virtual machines", 60, 3),
        "spec": changed("question for a small piece", 44, 0), "piece": changed("piece of a specification", 36, 255),
        "seal": changed("piece of a specification", 42, 2),
        "room": changed("piece of a specification", 42, 1),  # sealed, and no room for it
    }


def main():
    script, path = sys.argv[1:]
    if not shutil.which("tshark"):
        print("tshark is not installed: nothing to test with")
        sys.exit(77)
    with open(path, encoding="utf-8") as file:
        both = json.load(file)
    vectors = both["frames"]
    check_sealed(script, both["sealed"])
    check_vectors(script, vectors, 4647)
    check_vectors(script, vectors, 14999)
    bad = damaged(vectors)
    for name, layers in zip(bad, dissect(script, bad.values(), 4647)):
        assert is_marked(layers), f"{name}: not marked as malformed: {json.dumps(layers.get('berth'))}"
    stranger = dissect(script, [b"not ours at all, but long enough to be a frame of some kind"], 7777)
    assert "berth" not in stranger[0], "a stranger's datagram is taken for Berth"
    print(f"{len(vectors)} vectors shown, {len(bad)} damaged frames marked")


if __name__ == "__main__":
    main()
