#!/usr/bin/env python3
"""What tools/quickstart --cluster shows: three etcd, three berthd and a small fleet in network namespaces; who is a member,
a job, instances placed over the wire.

  quickstart.py --build DIRECTORY [--nodes N] [--once]

Runs until Ctrl-C. --once kills the leader instead, then puts a snapshot back while all work, and stops by itself; ends
with 0 only if everything promised was seen: another leads, all that was acknowledged is there on every member, no node
went down, all members have the same state; what came after the snapshot is gone on every member, and they go on.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import bed as beds  # noqa: E402
import clients  # noqa: E402
import final  # noqa: E402

SKIPPED = 77
PLACED = 3
TAKEOVER_SECONDS = 30


def equal(what, got, wanted):
    if got != wanted:
        raise beds.Failure(f"{what}: {got}, not {wanted}")


def berth(bed, member, *words, show=True):
    """Runs the command against a member, shows both, and returns what it wrote."""
    environment = dict(os.environ, BERTH_ADDR=f"http://{bed.net.managing(member)}:{beds.HTTP_PORT}")
    if show:
        print(f"\n$ berth {' '.join(map(str, words))}    # of {member}", flush=True)
    done = subprocess.run([str(bed.build / "tools/berth/berth"), *map(str, words)], env=environment, check=False,
                          stdout=subprocess.PIPE, text=True)
    if show:
        print(done.stdout, end="", flush=True)
    if done.returncode != 0:
        raise beds.Failure(f"berth {' '.join(map(str, words))} ended with {done.returncode}")
    return done.stdout


def place(bed, member, show=True):
    words = ["place", "--job", clients.DIRECT_JOB, "--group", "g", "--count", PLACED, "--name", "quickstart", "--wire",
             f"{beds.SERVICE}:{beds.WIRE_PORT}", "--master-key", bed.directory / "master.key", "--json"]
    answer = json.loads(berth(bed, member, *words, show=False))
    if show:
        print(f"\n{answer['Placed']} instances placed over the wire, at index {answer['Index']}")
    equal("instances placed", answer["Placed"], PLACED)
    return [item["Allocation"] for item in answer["Items"]]


def put_jobs(bed, member):
    for job in (clients.direct_job(), clients.service_job("shop", 1, 4)):
        run_job(bed, member, job)


def run_job(bed, member, job):
    path = bed.directory / f"{job['ID']}.json"
    path.write_text(json.dumps({"Job": job}))
    berth(bed, member, "job", "run", "--detach", path)


def runs(bed, member):
    """The service job's instances that run, as this member knows."""
    summary = final.get(bed, member, "/v1/job/shop/summary")["Summary"]
    return summary["g"]["Running"]


def show_all(bed):
    leader = bed.leader()
    follower = next(name for name in bed.member_names if name != leader)
    print(f"\n{bed.nodes} nodes are ready; {leader} leads, {follower} follows and is asked all the same")
    berth(bed, follower, "server", "members")
    put_jobs(bed, follower)
    placed = place(bed, follower)
    bed.wait("the service job runs", 30, lambda: runs(bed, leader) == 4)
    berth(bed, follower, "job", "status", "shop")
    return placed


def take_over(bed, placed):
    old = bed.leader()
    print(f"\nkilling {old}, which leads, with -9: another must lead, and know all that was acknowledged")
    began = time.monotonic()
    bed.members[old].kill()
    new = bed.wait("another leader", TAKEOVER_SECONDS, lambda: (bed.leader() or old) != old and bed.leader())
    placed = placed + place(bed, new, show=False)
    print(f"{new} leads and has placed again {time.monotonic() - began:.1f} s later")
    bed.members[old].start()
    bed.wait_answers(old)
    time.sleep(bed.ttl_ms / 1000 + 2)
    berth(bed, old, "server", "members")
    check(bed, new, placed)
    restore(bed)
    for program in bed.members.values():
        equal("exit of a member", program.end(), 0)
    for member in bed.member_names:
        equal(f"complaints about the state of {member}", final.verify(bed, member), "")


def restore(bed):
    """A snapshot that is put back is that of all members: the others take it of the one that did it."""
    leader, archive = bed.leader(), bed.directory / "cluster.snap"
    berth(bed, leader, "operator", "snapshot", "save", archive)
    run_job(bed, leader, clients.service_job("later", 1, 2))
    equal("jobs of every member", set(map(tuple, jobs(bed).values())), {(clients.DIRECT_JOB, "later", "shop")})
    berth(bed, leader, "operator", "snapshot", "restore", archive)
    bed.wait("the restored state on all members", 60,
             lambda: set(map(tuple, jobs(bed).values())) == {(clients.DIRECT_JOB, "shop")})
    bed.wait("a leader", TAKEOVER_SECONDS, bed.leader)
    berth(bed, bed.leader(), "operator", "cluster")
    place(bed, bed.leader())
    states = final.settle(bed)
    equal("members with another state", [one for one in states if states[one] != states[bed.leader()]], [])


def jobs(bed):
    """The names that each member has; none while it begins anew."""
    return {member: jobs_of(bed, member) for member in bed.member_names}


def jobs_of(bed, member):
    try:
        return sorted(job["ID"] for job in final.get(bed, member, "/v1/jobs"))
    except (OSError, beds.Failure):
        return []


def check(bed, leader, placed):
    states = final.settle(bed)
    for member, state in states.items():
        there = {one["ID"] for one in state["allocations"] if one["DesiredStatus"] == "run"}
        equal(f"placements that {member} does not know", [one for one in placed if one not in there], [])
        equal(f"instances of the job that run, says {member}", runs(bed, member), 4)
        equal(f"what {member} has is what {leader} has", state == states[leader], True)
    equal("nodes that went down", list(final.falsely_down(bed, leader, states[leader]["nodes"])), [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--once", action="store_true")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("etcd") is None:
        print("skipped: it takes root, for network namespaces, and etcd (Debian package etcd-server)")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="berth-cluster-") as name:
        directory = pathlib.Path(name) / "bed"
        try:
            with beds.Bed(arguments.build.resolve(), directory, nodes=arguments.nodes) as bed:
                print("starting three etcd, three berthd and a fleet, each in a network namespace", flush=True)
                bed.start()
                placed = show_all(bed)
                if arguments.once:
                    take_over(bed, placed)
                    print("everything promised was seen")
                    return 0
                leader = bed.leader()
                address = f"http://{bed.net.managing(leader)}:{beds.HTTP_PORT}"
                print(f"\nThe cluster runs until Ctrl-C. In another shell, from this directory:\n"
                      f"  export BERTH_ADDR={address}\n"
                      f"  ip netns exec {bed.net.space(beds.CLIENTS)} build/tools/berth/berth server members\n"
                      f"  kill -9 {bed.members[leader].process.pid}    # {leader}, which leads", flush=True)
                signal.pause()
        except KeyboardInterrupt:
            return 0
        except beds.Failure as failure:
            for log in sorted(directory.glob("m*.log")):
                print(f"{log.name}: ...\n{log.read_text(errors='replace')[-1500:]}", file=sys.stderr)
            print(f"FAILED: {failure}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
