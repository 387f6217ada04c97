"""What all members of a bed have in the end, as checker.py wants it; and who said meanwhile that it leads."""
import http.client
import json
import shutil
import subprocess
import threading
import time

import bed as beds

LISTS = {"nodes": "/v1/nodes", "allocations": "/v1/allocations?namespace=*", "evaluations": "/v1/evaluations",
         "deployments": "/v1/deployments"}
MISSED = "Node heartbeat missed"
LEAD_METRIC, TERM_METRIC = "berth_cluster_role", "berth_cluster_term"


def get(bed, member, path):
    stale = "&stale" if "?" in path else "?stale"
    status, _, body = beds.ask(bed.net.managing(member), path + stale, timeout_s=30)
    if status != 200:
        raise beds.Failure(f"{member}: {path}: {status} {body[:200]}")
    return json.loads(body)


def state_of(bed, member):
    state = {kind: get(bed, member, path) for kind, path in LISTS.items()}
    state["index"], state["cpu"] = bed.metrics(member)["berth_state_index"], beds.NODE_CPU
    state["jobs"] = {one["ID"]: get(bed, member, f"/v1/job/{one['ID']}") for one in get(bed, member, "/v1/jobs")}
    paths = [one["Path"] for one in get(bed, member, "/v1/vars")]
    state["variables"] = {path: get(bed, member, f"/v1/var/{path}") for path in paths}
    return state


def is_settled(states):
    """Nothing waits, and all members have the same."""
    first = next(iter(states.values()))
    waits = any(one["Status"] in ("pending", "blocked") for one in first["evaluations"]) or any(
        one["ClientStatus"] == "pending" and one["DesiredStatus"] == "run" for one in first["allocations"])
    return not waits and all(state == first for state in states.values())


def settle(bed, seconds=90):
    """The states once they are equal and at rest, or as they are at last."""
    end = time.monotonic() + seconds
    while True:
        states = {member: state_of(bed, member) for member in bed.member_names}
        if is_settled(states) or time.monotonic() > end:
            return states
        time.sleep(0.5)


def falsely_down(bed, member, nodes):
    for node in nodes:
        if node["Status"] != "ready":
            yield f"{node['Name']} is {node['Status']}"
        elif node["ModifyIndex"] != node["CreateIndex"]:
            events = get(bed, member, f"/v1/node/{node['ID']}")["Events"]
            missed = [one["Timestamp"] for one in events if one["Message"] == MISSED]
            if missed:
                yield f"{node['Name']} went down at {missed}"


def copy_data(bed, member):
    copy = bed.directory / member / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(bed.data(member), copy)
    return copy


def verify(bed, member):
    """A complaint about a copy of its store, or an empty text."""
    copy = copy_data(bed, member)
    done = subprocess.run([bed.berthd, "--verify-state", f"--data_dir={copy}",
                           f"--master_key_file={bed.directory}/master.key"], capture_output=True, text=True,
                          check=False)
    shutil.rmtree(copy)
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-1000:]


def judge(bed):
    """What log_judge finds in the logs of members that have ended, and in etcd's, which it kept meanwhile."""
    etcd = []
    if bed.keeps_log:
        if bed.programs.pop(beds.KEEPER).end() != 0:
            raise beds.Failure(f"the log of etcd was not kept; see {bed.directory}/keeper.log")
        etcd = ["--etcd", bed.etcd_log]
    result = bed.directory / "logs.json"
    done = subprocess.run([bed.log_judge, result, *etcd, *(f"{member}={copy_data(bed, member)}"
                                                           for member in bed.member_names)],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise beds.Failure(f"log_judge ended with {done.returncode}: {done.stderr[-1000:]}")
    for member in bed.member_names:
        shutil.rmtree(bed.directory / member / "copy")
    with open(result, encoding="utf-8") as file:
        return json.load(file)


class Watcher(threading.Thread):
    """Asks each member again and again whether it leads."""

    def __init__(self, bed, period_s=0.25):
        super().__init__(daemon=True)
        self.bed, self.period_s, self.samples, self.over = bed, period_s, [], threading.Event()

    def run(self):
        while not self.over.wait(self.period_s):
            for member in list(self.bed.members):
                self.look(member)

    def look(self, member):
        try:
            figures = self.bed.metrics(member)
        except (OSError, http.client.HTTPException):
            return
        if figures and figures.get(LEAD_METRIC):
            sample = {"member": member, "term": figures.get(TERM_METRIC, 0)}
            if not self.samples or self.samples[-1] != sample:
                self.samples.append(sample)

    def end(self):
        self.over.set()
        self.join()
        return self.samples


def gather(bed, watcher):
    """Everything at the end; stops the members."""
    states = settle(bed)
    leader = bed.leader() or bed.member_names[0]
    down = list(falsely_down(bed, leader, states[leader]["nodes"]))
    leaders = watcher.end()
    for program in bed.members.values():
        program.end()
    return {"members": states, "down": down, "leaders": leaders,
            "verify": {member: verify(bed, member) for member in bed.member_names}, **judge(bed)}
