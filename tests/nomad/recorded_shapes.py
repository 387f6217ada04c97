#!/usr/bin/env python3
"""Writes tests/nomad/recorded_shapes.txt: which members answers of a real server have and of what type, and nothing
else of them. Its argument is a folder of recordings, one JSON file a request with method, path, status and response.

    recorded_shapes.py FOLDER > tests/nomad/recorded_shapes.txt
"""
import collections
import json
import pathlib
import re
import sys

# A route, and which paths are of it. What Berth does not offer at all is not here.
ROUTES = [
    (name, re.compile("^" + pattern + "$")) for name, pattern in (line.split() for line in """
/v1/jobs /v1/jobs
/v1/job/:id/allocations /v1/job/.*/allocations
/v1/job/:id/evaluations /v1/job/.*/evaluations
/v1/job/:id/deployments /v1/job/.*/deployments
/v1/job/:id/deployment /v1/job/.*/deployment
/v1/job/:id/summary /v1/job/.*/summary
/v1/job/:id/versions /v1/job/.*/versions
/v1/job/:id/scale /v1/job/.*/scale
/v1/job/:id/plan /v1/job/.*/plan
/v1/job/:id/evaluate /v1/job/.*/evaluate
/v1/job/:id/dispatch /v1/job/.*/dispatch
/v1/job/:id/revert /v1/job/.*/revert
/v1/job/:id/stable /v1/job/.*/stable
/v1/job/:id/periodic/force /v1/job/.*/periodic/force
/v1/job/:id/services /v1/job/.*/services
/v1/job/:id/submission /v1/job/.*/submission
/v1/job/:id /v1/job/.*
/v1/validate/job /v1/validate/job
/v1/allocations /v1/allocations
/v1/allocation/:id/stop /v1/allocation/[^/]*/stop
/v1/allocation/:id /v1/allocation/[^/]*
/v1/evaluations/count /v1/evaluations/count
/v1/evaluations /v1/evaluations
/v1/evaluation/:id/allocations /v1/evaluation/[^/]*/allocations
/v1/evaluation/:id /v1/evaluation/[^/]*
/v1/deployments /v1/deployments
/v1/deployment/allocations/:id /v1/deployment/allocations/[^/]*
/v1/deployment/pause/:id /v1/deployment/pause/[^/]*
/v1/deployment/promote/:id /v1/deployment/promote/[^/]*
/v1/deployment/fail/:id /v1/deployment/fail/[^/]*
/v1/deployment/unblock/:id /v1/deployment/unblock/[^/]*
/v1/deployment/allocation-health/:id /v1/deployment/allocation-health/[^/]*
/v1/deployment/:id /v1/deployment/[^/]*
/v1/nodes /v1/nodes
/v1/node/pools /v1/node/pools
/v1/node/pool/:name/nodes /v1/node/pool/[^/]*/nodes
/v1/node/pool/:name/jobs /v1/node/pool/[^/]*/jobs
/v1/node/pool/:name /v1/node/pool/[^/]*
/v1/node/:id/allocations /v1/node/[^/]*/allocations
/v1/node/:id/drain /v1/node/[^/]*/drain
/v1/node/:id/eligibility /v1/node/[^/]*/eligibility
/v1/node/:id/evaluate /v1/node/[^/]*/evaluate
/v1/node/:id/purge /v1/node/[^/]*/purge
/v1/node/:id /v1/node/[^/]*
/v1/namespaces /v1/namespaces
/v1/namespace/:name /v1/namespace/[^/]*
/v1/scaling/policies /v1/scaling/policies
/v1/scaling/policy/:id /v1/scaling/policy/[^/]*
/v1/search /v1/search
/v1/search/fuzzy /v1/search/fuzzy
/v1/agent/self /v1/agent/self
/v1/agent/health /v1/agent/health
/v1/agent/members /v1/agent/members
/v1/agent/servers /v1/agent/servers
/v1/agent/schedulers /v1/agent/schedulers
/v1/agent/schedulers/config /v1/agent/schedulers/config
/v1/agent/join /v1/agent/join
/v1/status/leader /v1/status/leader
/v1/status/peers /v1/status/peers
/v1/regions /v1/regions
/v1/metrics /v1/metrics
/v1/operator/raft/configuration /v1/operator/raft/configuration
/v1/operator/autopilot/configuration /v1/operator/autopilot/configuration
/v1/operator/autopilot/health /v1/operator/autopilot/health
/v1/operator/scheduler/configuration /v1/operator/scheduler/configuration
/v1/event/stream /v1/event/stream
/v1/client/metadata /v1/client/metadata
""".split("\n") if line)]

# A record is known by members that only it has, the first that fits.
RECORDS = [(name, set(members.split(","))) for name, members in (line.split() for line in """
Deployment IsMultiregion,TaskGroups
DeploymentGroup DesiredCanaries
Job Datacenters,TaskGroups
JobStub Datacenters,JobSummary
JobSummary Children,Summary
TaskGroup EphemeralDisk,Tasks
Task Driver,KillTimeout
Allocation AllocatedResources,TaskResources
AllocationStub FollowupEvalID,TaskStates
AllocationDiff Job,PreviousAllocation
Metrics NodesEvaluated,NodesFiltered
Evaluation TriggeredBy,Priority
TaskState Restarts,Events
TaskEvent DisplayMessage,DriverError
Node NodeResources,Attributes,Events
NodeStub NodeClass,Version,Drivers
Constraint LTarget,Operand
Network MBits,ReservedPorts
Update HealthyDeadline,MaxParallel
Migrate HealthCheck,HealthyDeadline
DiffField New,Old
DiffGroup Fields,Tasks
DiffTask Annotations,Fields
DiffObject Fields,Name,Objects,Type
Driver Detected,HealthDescription
DeploymentHealth Canary,Healthy
Transition ForceReschedule,Migrate
RescheduleEvent PrevAllocID
TaskResources CPU,MemoryMB,IOPS
Restart Mode,RenderTemplates
TaskShare CpuShares,ReservedCores
Port HostIP,Label,Value
PortAsked HostNetwork,Label
Drain AccessorID,StartedAt
Submitted EvalID,JobModifyIndex,Warnings
Namespace NodePoolConfiguration,Quota
NodePool SchedulerConfiguration,Description
ScalingPolicy Enabled,Target
ServiceStub ServiceName
Member ProtocolCur,Tags
Schedulers enabled_schedulers,num_schedulers
DeploymentChanged DeploymentModifyIndex,RevertedJobVersion
NodeHeard HeartbeatTTL,NodeModifyIndex
NodeChanged EvalIDs,NodeModifyIndex
Allocated Shared,TaskLifecycles
AllocatedShared DiskMB,Ports
NodeAmounts MinDynamicPort,NodeNetworks
NodeKept Networks,Cpu,Disk
JobDiff TaskGroups,Fields,ID
Service TaggedAddresses,OnUpdate
""".split("\n") if line)]

# Members whose own members are named by users or by what there is.
MAPS = set("""Meta Env Summary TaskStates TaskResources Attributes Links Drivers HostVolumes HostNetworks
Config DesiredTGUpdates FailedTGAllocs ConstraintFiltered ClassFiltered ClassExhausted DimensionExhausted
NodesAvailable Scores TaskLifecycles ClassEligibility QueuedAllocations Details Tags Volumes Updates
CSIControllerPlugins CSINodePlugins Matches Truncations DispatchedMeta Options Args
Headers Header HostVolume Static Dynamic VariableFlags ResourcesExhausted Labels""".split())
MAPS_AS_OBJECT = {"Tasks", "TaskGroups"}  # lists in a job, maps elsewhere
# What is about the server itself, and nobody's to rely on.
OPAQUE = {"config", "stats", "Policy"}

records = collections.OrderedDict()  # name -> [how often seen, member -> [how often, types]]


def record_of(value, path):
    for name, members in RECORDS:
        if members <= value.keys():
            return name
    return path


def type_of(value, path, member):
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"bool"}
    if isinstance(value, (int, float)):
        return {"integer" if isinstance(value, int) else "real"}
    if isinstance(value, str):
        return {"string"}
    if isinstance(value, list):
        inner = set().union(*(type_of(v, path, "") for v in value))
        return {"list of " + t for t in inner} or {"list"}
    is_map = member in MAPS or (member in MAPS_AS_OBJECT and record_of(value, "") == "")
    if is_map and record_of(value, "") == "":
        inner = set().union(*(type_of(v, path, "") for v in value.values()))
        return {"map of " + t for t in inner} or {"map"}
    if member in OPAQUE:
        return {"map"}
    name = record_of(value, path)
    if name == path and ".Payload." in path:
        return set()  # shortened by who recorded it
    seen, members = records.setdefault(name, [0, {}])
    records[name][0] += 1
    for key, item in value.items():
        known = members.setdefault(key, [0, set()])
        known[0] += 1
        known[1] |= type_of(item, name + "." + key, key)
    return {name}


def kept(types):
    """Without what a longer form says as well, and without what differs by nature."""
    if {"integer", "real"} <= types:
        types = (types - {"integer", "real"}) | {"number"}
    for short in ("list", "map"):
        inner = {t for t in types if t.startswith(short + " of ")}
        types = {t for t in types if not (t.endswith(" of list") and any(t + " of " in i for i in types))}
        inner &= types
        if inner:
            types = types - {short}
        nothing = short + " of null"
        if nothing in inner and len(inner) == 2:
            one = (inner - {nothing}).pop()
            types = (types - inner) | {f"{short} of null or {one[len(short) + 4:]}"}
        elif len(inner - {short + " of null"}) > 1:
            types = (types - inner) | {short}
    return "|".join(sorted(types))


def answers(recording):
    value = recording.get("response")
    if recording["path"].endswith("/stream"):
        return [line for line in value if line] if isinstance(value, list) else []
    return [value]


def main():
    routes = collections.OrderedDict()
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        recording = json.loads(file.read_text())
        if not isinstance(recording, dict) or recording.get("status") != 200:
            continue
        route = next((n for n, p in ROUTES if p.match(recording.get("path", ""))), None)
        if not route:
            continue
        method = "PUT" if recording["method"] == "POST" else recording["method"]
        name = method + " " + route
        for answer in answers(recording):
            if isinstance(answer, str) and "json" not in recording["response_headers"].get("Content-Type", ""):
                continue
            routes.setdefault(name, set()).update(type_of(answer, name.replace(" ", ""), ""))
    print("# Members of the answers of a Nomad 1.6.5 server and their types, made by tests/nomad/recorded_shapes.py.")
    print("# \"?\": the member is left out when it is empty. \"map\": members are named by users.")
    for name, types in sorted(routes.items()):
        print(f"\n{name}\n\t{kept(types)}")
    for name, (seen, members) in sorted(records.items()):
        print(f"\nrecord {name}")
        for key, (count, types) in sorted(members.items()):
            print(f"\t{key}{'?' if count < seen else ''}\t{kept(types)}")


main()
