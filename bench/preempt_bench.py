#!/usr/bin/env python3
"""A fleet that is full of work of low priority, and one job of higher priority that takes nearly a third of it: from
its PUT to all of it placed and durable, through the real controller. What a public record says of the same stands
beside it; it was not run here.

  preempt_bench.py --build DIRECTORY [--smoke] [--json FILE] [--command TEXT] [SIZES]
"""
import json
import sys
import urllib.error

from harness import cluster, report

SIZES = {
    "nodes": (130_000, "nodes, each full with one instance of low priority"),
    "low_jobs": (130, "jobs of low priority"),
    "count": (39_000, "instances of higher priority"),
    "clients": (4, "clients that put the low ones"),
    "schedulers": (0, "scheduler threads; 0: the daemon's choice"),
    "limit_s": (400, "longest run"),
}
SMOKE = {"nodes": 200, "low_jobs": 4, "count": 60, "limit_s": 60}
FULL = 130_000, 39_000
SECONDS, SAID = 93, "GKE, 130,000 nodes: 39,000 pods preempted in 93 s, by its own report"
NODE, INSTANCE = "--shape=host=1,1000,2048,10000", (900, 1800)


def fill(bench, sizes):
    job = cluster.service_job("@ID@", sizes.nodes // sizes.low_jobs, *INSTANCE, Priority=10)
    full = job["TaskGroups"][0]["Count"] * sizes.low_jobs
    process, _ = bench.put(job, sizes.low_jobs, "low-", sizes.clients)
    bench.wait_metric("berth_allocations", full, sizes.limit_s)
    bench.put_result(process, sizes.low_jobs)
    return full


def placed(bench, job):
    """Instances of the job that are placed; the answer is of the published state, which is durable."""
    try:
        said = json.loads(bench.http(f"/v1/job/{job}/summary"))["Summary"].get("g", {})
    except urllib.error.HTTPError:
        return 0  # the job is not registered yet
    return said.get("Starting", 0) + said.get("Running", 0)


def preempt(bench, out, sizes, full):
    busy = bench.processor_seconds()
    job = cluster.service_job("@ID@", sizes.count, *INSTANCE, Priority=90)
    process, began = bench.put(job, 1, "high-", 1)
    end = bench.wait("all are placed", sizes.limit_s, lambda: placed(bench, "high-0") >= sizes.count)
    bench.put_result(process, 1)
    figures = bench.metrics()
    room = sizes.nodes - full
    evicted = figures["berth_allocations"] - full - sizes.count
    said = (SECONDS, SAID) if (sizes.nodes, sizes.count) == FULL else (None, None)
    note = (f"{sizes.count / (end - began):,.0f}/s; {room} nodes were free; controller "
            f"{bench.processor_seconds() - busy:.1f} s of processor; placed anew besides {evicted:.0f}")
    out.add(f"{sizes.count:,} of higher priority, PUT to durable", end - began, "s", sizes.nodes, *said, note=note)


def main():
    sizes = report.parse(__doc__, SIZES, SMOKE)
    report.skip_unless_two_processors("preempt")
    out = report.Report(sizes)
    with cluster.Cluster(sizes.build, sizes.limit_s) as bench:
        bench.start_fleet(sizes.nodes, "--register-rate=0", "--no-run", NODE)
        bench.start_daemon("--wire.ttl_ms=30000", f"--scheduler.workers={sizes.schedulers}")
        bench.http("/v1/operator/scheduler/configuration", {"PreemptionConfig": {"ServiceSchedulerEnabled": True}})
        bench.wait_metric('berth_nodes{status="ready"}', sizes.nodes, 120)
        full = fill(bench, sizes)
        preempt(bench, out, sizes, full)
    return out.end()


if __name__ == "__main__":
    sys.exit(main())
