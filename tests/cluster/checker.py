#!/usr/bin/env python3
"""Whether what clients were told can be true: looks at their histories (clients.py), at what all members have at the end
(final.py), and at what the logs of all of them and of etcd hold (log_judge, whose own complaints are among these). Each
complaint begins with its kind:

  missing         what was acknowledged is not there, or not as it was acknowledged
  two-answers     one request was answered in two ways, or two requests with one allocation or one index
  order           an index was acknowledged that is older than one acknowledged before the question: two leaders
  register        the versions of a variable are no history of one register with compare-and-set
  over-committed  instances that were on a node at one index do not fit it: as clients were told, and in each log
  leaders         two members said that they lead in one term
  unequal         members, or their logs and etcd's, differ at equal index
  down            a node of the fleet, which never stopped, went down
  state           a member's store does not hold together

  checker.py HISTORY FINAL
"""
import bisect
import collections
import json
import sys

WRITES = ("put", "register", "scale", "stop", "place", "release")
DIRECT_CPU, SERVICE_CPU = 1900, 50
TERMINAL = ("complete", "failed", "lost")
SHOWN = 5  # complaints of a kind


def acknowledged(history, *ops):
    return [one for one in history if one["outcome"] == "ok" and one["op"] in ops]


class Acknowledged:
    """The newest index that had been acknowledged at a time."""

    def __init__(self, history):
        known = sorted((one["ended"], one["index"]) for one in acknowledged(history, *WRITES))
        self.times, self.indexes, most = [], [], 0
        for ended, index in known:
            most = max(most, index)
            self.times.append(ended)
            self.indexes.append(most)

    def before(self, time):
        at = bisect.bisect_left(self.times, time)
        return self.indexes[at - 1] if at else 0


def first_questions(history):
    """Ids of the entries that ask for a placement for the first time."""
    seen, first = set(), set()
    for one in sorted(history, key=lambda one: one["began"]):
        if one["op"] == "place" and one["key"] not in seen:
            seen.add(one["key"])
            first.add(id(one))
    return first


def may_be_stopped(entries, one):
    """A stop whose outcome nobody knows may come through late, after what was asked since: a cut holds up what is sent."""
    return any(other["op"] == "stop" and other["outcome"] == "unknown" and other["key"] == one["key"] and
               other["began"] < one["began"] for other in entries)


def changes_nothing(history, one):
    """Scaling to the count that is there, or stopping what is stopped, tells the index of the job."""
    return one["op"] == "scale" or (one["op"] == "stop" and may_be_stopped(history, one))


def check_order(history, newest):
    """Whoever asks after an answer gets a newer index; a release may do nothing, a repeated question tells the first one."""
    first = first_questions(history)
    owners = {}
    for one in acknowledged(history, *WRITES):
        if one["index"] == 0 or changes_nothing(history, one) or (one["op"] == "place" and id(one) not in first):
            continue
        known = newest.before(one["began"])
        if one["index"] < known or (one["index"] == known and one["op"] != "release"):
            yield f"order: {one['client']} {one['op']} {one['key']} has index {one['index']}; {known} was told before"
        if one["op"] != "release" and owners.setdefault(one["index"], one) is not one:
            other = owners[one["index"]]
            yield (f"two-answers: index {one['index']} was told to {one['client']} {one['op']} {one['key']} and to "
                   f"{other['client']} {other['op']} {other['key']}")


def check_requests(history):
    answers, owners = {}, {}
    for one in acknowledged(history, "place"):
        told = (one["index"], one["items"])
        if answers.setdefault(one["key"], told) != told:
            yield f"two-answers: {one['key']} was answered {answers[one['key']]} and {told}"
        for allocation, _ in one["items"]:
            if owners.setdefault(allocation, one["key"]) != one["key"]:
                yield f"two-answers: {allocation} was given to {owners[allocation]} and {one['key']}"


def check_registers(history):
    by_key = collections.defaultdict(list)
    for one in history:
        if one["op"] in ("put", "read", "stale"):
            by_key[one["key"]].append(one)
    for key, entries in sorted(by_key.items()):
        yield from (f"register: {key}: {what}" for what in check_register(entries))


def check_register(entries):
    puts = [one for one in entries if one["op"] == "put"]
    told = {}
    for one in puts:
        if one["outcome"] == "ok" and told.setdefault(one["index"], one) is not one:
            yield f"index {one['index']} was told to {told[one['index']]['value']} and {one['value']}"
    perhaps = {one["value"]: one for one in puts if one["outcome"] == "unknown"}
    seen = {one["index"]: one for one in entries if one["op"] != "put" and one["outcome"] == "ok" and one["index"]}
    yield from check_chain(told, seen, bool(perhaps))
    newest = Acknowledged(puts)
    for one in puts:
        if one["outcome"] == "ok" and one["index"] <= newest.before(one["began"]):
            yield f"{one['value']} has index {one['index']}; {newest.before(one['began'])} was told before"
    for one in entries:
        if one["op"] != "put" and one["outcome"] == "ok":
            yield from check_read(one, told, perhaps, newest)


def check_chain(told, seen, may_be_unknown):
    """Each put replaced the version that it named: the one before it, told or seen, or one whose outcome nobody knows."""
    before = 0
    for index in sorted(told):
        cas = told[index]["cas"]
        if cas < before:
            yield f"{told[index]['value']} (index {index}) replaced {cas}, but {before} was there"
        if cas > before and cas not in seen and not may_be_unknown:
            yield f"{told[index]['value']} (index {index}) replaced {cas}, which nobody put"
        if cas >= index:
            yield f"{told[index]['value']} (index {index}) replaced {cas}, which is newer"
        before = index


def check_read(one, told, perhaps, newest):
    index, value = one["index"], one["value"]
    put = told.get(index) or perhaps.get(value)
    if index and (put is None or put["value"] != value):
        yield f"{one['client']} read {value} at index {index}, which nobody put there"
    elif index and put["began"] > one["ended"]:
        yield f"{one['client']} read {value} before it was put"
    if one["op"] == "read" and index < newest.before(one["began"]):
        yield f"{one['client']} read index {index}; {newest.before(one['began'])} was told before"


def check_missing(history, member, state):
    there = {one["ID"]: one for one in state["allocations"]}
    asked = {one["key"] for one in history if one["op"] == "release"}
    for one in acknowledged(history, "place"):
        for allocation, node in one["items"]:
            found = there.get(allocation)
            if found is None or found["NodeID"] != node:
                yield f"missing: {member}: {allocation} of {one['key']} is not on node {node}"
            elif allocation not in asked and (found["DesiredStatus"] != "run" or found["ClientStatus"] in TERMINAL):
                yield f"missing: {member}: {allocation} ended, and nobody released it"
    for one in acknowledged(history, "release"):
        found = there.get(one["key"])
        if one["released"] > 1 or found is None or found["DesiredStatus"] == "run":
            yield f"missing: {member}: the release of {one['key']}, which was told {one['released']}"
    for key in sorted({one["key"] for one in acknowledged(history, "put")}):
        puts = [one for one in history if one["op"] == "put" and one["key"] == key]
        yield from check_variable(puts, key, member, state)
    for key in sorted({one["key"] for one in acknowledged(history, "register", "scale", "stop")}):
        yield from check_job([one for one in history if one["key"] == key], key, member, state)


def check_variable(puts, key, member, state):
    last = max((one for one in puts if one["outcome"] == "ok"), key=lambda one: one["index"])
    found = state["variables"].get(key, {"ModifyIndex": 0, "Items": {}})
    values = {one["value"] for one in puts if one["outcome"] == "unknown"}
    if found["ModifyIndex"] == last["index"]:
        values = {last["value"]}
    if found["ModifyIndex"] < last["index"] or found["Items"].get("value") not in values:
        yield f"missing: {member}: {key} has {found}; {last['value']} was put at {last['index']}"


def check_job(entries, key, member, state):
    """Whoever has asked the last is told by the index: nobody else changes this job."""
    told = [one for one in entries if one["outcome"] == "ok" and one["index"]]
    if not told:
        return
    last = max(told, key=lambda one: one["index"])
    job = state["jobs"].get(key)
    if job is None or job["JobModifyIndex"] < last["index"]:
        yield f"missing: {member}: {last['op']} of {key} at {last['index']}; the job is {job and job['JobModifyIndex']}"
        return
    if job["JobModifyIndex"] > last["index"]:
        if all(one["outcome"] != "unknown" for one in entries):
            yield f"missing: {member}: {key} changed at {job['JobModifyIndex']}, and nobody did it"
        return
    count, version = job["TaskGroups"][0]["Count"], (job["Meta"] or {}).get("version")
    # Scaling leaves a job stopped that is.
    is_wrong = job["Stop"] != (last["op"] == "stop") and not (last["op"] == "scale" and may_be_stopped(entries, last))
    if is_wrong or (last["op"] != "stop" and count != last["count"]) or \
            (last["op"] == "register" and version != str(last["version"])):
        yield f"missing: {member}: {key} is version {version}, count {count}, stop {job['Stop']}; told was {last}"


def check_instances(member, state):
    """Each job has as many instances as it asks for, no two of one name."""
    living = collections.defaultdict(list)
    for one in state["allocations"]:
        if one["DesiredStatus"] == "run" and one["ClientStatus"] not in TERMINAL and one["JobType"] != "direct":
            living[one["JobID"]].append(one["Name"])
    for key, job in sorted(state["jobs"].items()):
        if job["Type"] == "direct":
            continue
        wanted = 0 if job["Stop"] else job["TaskGroups"][0]["Count"]
        names = living.pop(key, [])
        if len(names) != wanted:
            yield f"missing: {member}: {key} wants {wanted} instances and has {len(names)}"
        if len(set(names)) != len(names):
            yield f"two-answers: {member}: {key} has two instances of one name: {sorted(names)}"
    for key in living:
        yield f"missing: {member}: the job {key}, which has instances"


def check_room(history, state, newest):
    """Sums only what certainly was there: from the index of the answer to what was known when its release was asked."""
    ends = {}
    for one in history:
        if one["op"] == "release":
            ends[one["key"]] = min(ends.get(one["key"], 1 << 63), newest.before(one["began"]))
    changes, counted = collections.defaultdict(list), set()
    for one in acknowledged(history, "place"):
        for allocation, node in one["items"]:
            end = ends.get(allocation, 1 << 63)
            if allocation not in counted and end > one["index"]:
                counted.add(allocation)
                changes[node] += [(one["index"], DIRECT_CPU), (end, -DIRECT_CPU)]
    for one in state["allocations"]:
        if one["JobType"] != "direct" and one["DesiredStatus"] == "run" and one["ClientStatus"] not in TERMINAL:
            changes[one["NodeID"]].append((one["CreateIndex"], SERVICE_CPU))
    for node, list_ in sorted(changes.items()):
        used = 0
        for index, cpu in sorted(list_):
            used += cpu
            if used > state["cpu"]:
                yield f"over-committed: node {node} has {used} MHz of {state['cpu']} in use at index {index}"
                break


def check_log(history, name, log):
    """The log, behind the snapshot that it may begin with, holds what was acknowledged, at the index that was told."""
    def complain(one, what):
        return f"missing: {name}: its log, which holds {log['from'] + 1} to {log['to']}, has {what}; told was {one}"

    # A question that is repeated is told the first answer, and a release may do nothing.
    for one in acknowledged(history, *WRITES):
        if one["index"] <= log["from"] or (not log["is_whole"] and one["index"] > log["to"]):
            continue
        if one["op"] == "place":
            yield from (complain(one, what) for what in check_logged_place(one, log))
        elif one["op"] == "release":
            found = log["released"].get(one["key"])
            if one["released"] == 0 and (found is None or found > one["index"]):
                yield complain(one, f"its release at {found}")
        elif one["op"] == "put" and one["index"] not in log["variables"].get(f"default.{one['key']}", ()):
            yield complain(one, "no such put")
        elif one["op"] != "put" and one["index"] and one["index"] not in log["jobs"].get(one["key"], ()):
            yield complain(one, "no such change of the job")
    for key, answers in log["requests"].items():
        if len(answers) > 1:
            yield f"two-answers: {name}: its log answers {key} with {answers}"


def check_logged_place(one, log):
    answers = log["requests"].get(one["key"], [])
    if [one["index"], one["items"]] not in answers:
        yield f"the answers {answers}"
    for allocation, node in one["items"]:
        placed_on, index = log["placed"].get(allocation, (None, 0))
        if placed_on != node or index > one["index"]:
            yield f"{allocation} placed on {placed_on} at {index}"


def check_leaders(samples):
    """samples: time, member, term of each that said it leads."""
    leaders = {}
    for sample in samples:
        first = leaders.setdefault(sample["term"], sample["member"])
        if first != sample["member"]:
            yield f"leaders: {first} and {sample['member']} lead in term {sample['term']}"


def check_equal(states):
    names = sorted(states)
    for kind in ("index", "nodes", "allocations", "jobs", "variables", "evaluations", "deployments"):
        first = states[names[0]].get(kind)
        for name in names[1:]:
            if states[name].get(kind) != first:
                yield f"unequal: {kind} of {names[0]} and {name}: {difference(first, states[name].get(kind))}"


def difference(one, other):
    if isinstance(one, list):
        one, other = ({item["ID"]: item for item in list_} for list_ in (one, other))
    if not isinstance(one, dict):
        return f"{one} and {other}"
    keys = sorted(key for key in {*one, *other} if one.get(key) != other.get(key))
    if not keys:
        return "another order"
    a, b = one.get(keys[0]), other.get(keys[0])
    if isinstance(a, dict) and isinstance(b, dict):
        return f"{len(keys)} differ, {keys[0]}: {({f: (a.get(f), b.get(f)) for f in {*a, *b} if a.get(f) != b.get(f)})}"
    return f"{len(keys)} differ, {keys[0]}: {a} and {b}"


def check(history, final):
    """Complaints. final: {"members": {NAME: state}, "leaders": [...], "down": [...], "verify": {NAME: complaint},
    "logs": {NAME: what it holds}, "complaints": [...]}: the last two are of log_judge (log_holds.h)."""
    newest = Acknowledged(history)
    complaints = [*check_order(history, newest), *check_requests(history), *check_registers(history)]
    for member, state in sorted(final["members"].items()):
        complaints += [*check_missing(history, member, state), *check_instances(member, state)]
    any_state = next(iter(final["members"].values()))
    complaints += [*check_room(history, any_state, newest), *check_leaders(final["leaders"]),
                   *check_equal(final["members"])]
    for name, log in sorted(final["logs"].items()):
        complaints += check_log(history, name, log)
    complaints += final["complaints"]
    complaints += [f"down: {node}" for node in final["down"]]
    return complaints + [f"state: {member}: {text}" for member, text in sorted(final["verify"].items()) if text]


def read_history(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    # The last line may be of one who was killed.
    return [json.loads(line) for line in lines if line.endswith("}")]


def count(history):
    """(operation, outcome): how many."""
    return collections.Counter((one["op"], one["outcome"]) for one in history)


def shorten(complaints):
    """The first few of each kind, and how many more there are."""
    kinds = collections.defaultdict(list)
    for complaint in complaints:
        kinds[complaint.split(":")[0]].append(complaint)
    for kind, list_ in kinds.items():
        yield from list_[:SHOWN]
        if len(list_) > SHOWN:
            yield f"{kind}: and {len(list_) - SHOWN} more"


def main():
    history = read_history(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        complaints = check(history, json.load(file))
    print(*shorten(complaints), sep="\n")
    print(f"checker: {len(history)} questions, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
