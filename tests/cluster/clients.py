#!/usr/bin/env python3
"""Clients that ask a cluster all the time, and write what they asked and what they were told.

  clients.py --history FILE --hosts A,B,C --wire HOST --key-file FILE [--seed N] [--pause-ms N] [--placing N]

Runs until it gets SIGTERM. The history has one line of JSON for each question, written when its outcome is known:

  client, op, key   who asked, what (put, read, stale, register, stop, scale, place, release), of which thing
  began, ended      monotonic seconds of the machine
  outcome           ok: done, and told so; fail: told that it was not done; unknown: anything else
  index             of the state, as the answer has it
  and what belongs to the operation: cas, value, version, count, request, items, released, conflict
"""
import argparse
import http.client
import json
import random
import signal
import sys
import threading
import time
import urllib.parse

import bed
import wire

PATIENCE_S = 4
VARIABLES = 4
DIRECT_JOB = "direct"


class History:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8", buffering=1)
        self.lock = threading.Lock()

    def write(self, **fields):
        with self.lock:
            self.file.write(json.dumps(fields) + "\n")


class Client(threading.Thread):
    """Asks one thing after the other. A subclass has step()."""

    def __init__(self, name, settings, history, over):
        super().__init__(name=name, daemon=True)
        self.settings, self.history, self.over = settings, history, over
        self.random = random.Random(f"{settings.seed}-{name}")
        self.connections, self.is_in_doubt = {}, False

    def run(self):
        while not self.over.is_set():
            self.step()
            self.over.wait(self.random.expovariate(1000 / self.settings.pause_ms))
            if self.is_in_doubt:  # as somebody who waits before asking again
                self.over.wait(0.2)

    def ask(self, path, body=None, method=None):
        """Status, headers and the body's value, or None when there was no whole answer."""
        host = self.random.choice(self.settings.hosts)
        data = None if body is None else json.dumps(body)
        connection = self.connections.pop(host, None) or http.client.HTTPConnection(
            host, bed.HTTP_PORT, timeout=PATIENCE_S)
        try:
            connection.request(method or ("PUT" if data else "GET"), path, data)
            answer = connection.getresponse()
            text = answer.read()
            self.connections[host] = connection
            return answer.status, dict(answer.getheaders()), json.loads(text) if text[:1] in b"{[n" else text.decode()
        except (OSError, http.client.HTTPException, ValueError):
            connection.close()
            return None

    def write(self, op, key, began, outcome, index=0, **more):
        self.is_in_doubt = outcome == "unknown"
        self.history.write(client=self.name, op=op, key=key, began=began, ended=time.monotonic(), outcome=outcome,
                           index=index, **more)


def outcome_of(answer, refusals=()):
    """A refusal that is none of those known may come from between the client and who decides: then nobody knows."""
    if answer is None:
        return "unknown"
    if answer[0] == 200:
        return "ok"
    return "fail" if answer[0] in refusals else "unknown"


class VariableClient(Client):
    """Puts variables, each time in place of the version it knows, and reads them."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.known = {}  # path: ModifyIndex
        self.count = 0

    def step(self):
        path = f"proof/{self.random.randrange(VARIABLES)}"
        if self.random.random() < 0.5:
            self.put(path)
        else:
            self.read(path, "stale" if self.random.random() < 0.5 else "read")

    def put(self, path):
        self.count += 1
        cas, value = self.known.get(path, 0), f"{self.name}-{self.count}"
        began = time.monotonic()
        answer = self.ask(f"/v1/var/{path}?cas={cas}", {"Path": path, "Items": {"value": value}})
        outcome = outcome_of(answer, refusals=(409,))
        if outcome == "ok":
            self.known[path] = answer[2]["ModifyIndex"]
            self.write("put", path, began, outcome, answer[2]["ModifyIndex"], cas=cas, value=value)
        elif outcome == "fail":
            found = answer[2] if isinstance(answer[2], dict) else {}
            self.known[path] = found.get("ModifyIndex", 0)
            self.write("put", path, began, outcome, 0, cas=cas, value=value)
        else:
            self.write("put", path, began, outcome, 0, cas=cas, value=value,
                       status=answer and answer[0])

    def read(self, path, how):
        began = time.monotonic()
        answer = self.ask(f"/v1/var/{path}" + ("?stale" if how == "stale" else ""))
        if answer is None or answer[0] not in (200, 404):
            return self.write(how, path, began, "unknown", status=answer and answer[0])
        found = answer[2] if answer[0] == 200 else {"ModifyIndex": 0, "Items": {"value": None}}
        if how == "read":
            self.known[path] = found["ModifyIndex"]
        self.write(how, path, began, "ok", found["ModifyIndex"], value=found["Items"]["value"])


def service_job(job, version, count):
    return {"ID": job, "Name": job, "Type": "service", "Datacenters": ["*"], "Meta": {"version": str(version)},
            "Update": {"MaxParallel": 0},
            "TaskGroups": [{"Name": "g", "Count": count, "EphemeralDisk": {"SizeMB": 10},
                            "Scaling": {"Min": 0, "Max": 10, "Enabled": True}, "Tasks": [{
                                "Name": "t", "Driver": "mock", "Config": {"run_for": "10h"},
                                "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
                                "Resources": {"CPU": 50, "MemoryMB": 20}}]}]}


class JobClient(Client):
    """Registers, scales and stops jobs of its own, which nobody else touches."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.counts, self.version = {}, 0

    def step(self):
        job = f"{self.name}-{self.random.randrange(6)}"
        chance = self.random.random()
        if self.counts.get(job) is None or chance < 0.3:
            self.change("register", job, self.random.randrange(1, 4))
        elif chance < 0.8:
            self.change("scale", job, self.random.randrange(1, 6))
        else:
            self.change("stop", job, None)

    def change(self, op, job, count):
        self.version += 1
        began = time.monotonic()
        if op == "register":
            answer = self.ask("/v1/jobs", {"Job": service_job(job, self.version, count)})
        elif op == "scale":
            answer = self.ask(f"/v1/job/{job}/scale", {"Count": count, "Target": {"Group": "g"}, "Message": "proof"})
        else:
            answer = self.ask(f"/v1/job/{job}", method="DELETE")
        # A deployment under way, or a job that is not there: scaling is refused for good reasons.
        outcome = outcome_of(answer, refusals=(400, 404, 409))
        index = answer[2].get("JobModifyIndex", 0) if outcome == "ok" else 0
        if outcome == "ok":
            self.counts[job] = count
        elif outcome == "unknown":
            self.counts[job] = None  # register it anew, and know again
        self.write(op, job, began, outcome, index, version=self.version, count=count, status=answer and answer[0])


class PlacingClient(Client):
    """Places instances over the wire, asks some again under the same name, and releases some."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.wire = wire.WireClient(self.name, (self.settings.wire, bed.WIRE_PORT), self.settings.key_file)
        self.number, self.open, self.held = 0, [], []

    def step(self):
        chance = self.random.random()
        if self.open and chance < 0.3:
            self.place(*self.random.choice(self.open[-20:]))
        elif self.held and chance < 0.55:
            self.release(self.held.pop(self.random.randrange(len(self.held))))
        else:
            self.number += 1
            self.place((time.time_ns() // 1000000, self.number), self.random.randrange(1, 4))

    def place(self, request, count):
        began, answer, outcome, more = time.monotonic(), None, "unknown", {}
        try:
            answer = self.wire.place(request, DIRECT_JOB, "g", count, PATIENCE_S / 4)
        except wire.Refused as refused:
            more = {"reason": refused.reason}
            outcome = "fail" if refused.reason not in wire.PASSING else "unknown"
        if answer:
            outcome, more = "ok", {"items": answer[1]}
            if (request, count) not in self.open:
                self.held += [item[0] for item in answer[1]]
        if outcome != "fail" and (request, count) not in self.open:
            self.open.append((request, count))
        self.write("place", ":".join(map(str, (self.name, *request))), began, outcome, answer[0] if answer else 0,
                   count=count, **more)

    def release(self, allocation):
        began, answer, more = time.monotonic(), None, {}
        try:
            answer = self.wire.release([allocation], PATIENCE_S / 4)
        except wire.Refused as refused:
            more = {"reason": refused.reason}
        if answer:
            more = {"released": answer[1][0]}
        self.write("release", allocation, began, "ok" if answer else "unknown", answer[0] if answer else 0, **more)


def direct_job():
    return {"ID": DIRECT_JOB, "Name": DIRECT_JOB, "Type": "direct", "Datacenters": ["*"], "TaskGroups": [
        {"Name": "g", "EphemeralDisk": {"SizeMB": 10}, "Tasks": [{
            "Name": "t", "Driver": "mock", "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
            "Resources": {"CPU": 1900, "MemoryMB": 64}}]}]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--history", required=True)
    parser.add_argument("--hosts", type=lambda text: text.split(","), required=True)
    parser.add_argument("--wire", required=True)
    parser.add_argument("--key-file", required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--pause-ms", type=float, default=60)
    parser.add_argument("--placing", type=int, default=2)
    settings = parser.parse_args()
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    history = History(settings.history)
    first = Client("first", settings, history, over)
    while not over.is_set():
        answer = first.ask("/v1/job/" + urllib.parse.quote(DIRECT_JOB), {"Job": direct_job()})
        if answer and answer[0] == 200:
            break
        time.sleep(0.2)
    kinds = ((VariableClient, 3), (JobClient, 2), (PlacingClient, settings.placing))
    clients = [kind(f"{kind.__name__.removesuffix('Client').lower()}{i}", settings, history, over)
               for kind, count in kinds for i in range(count)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
