#!/usr/bin/env python3
"""Two million service instances on 6,100 nodes, from the first PUT to the last durable one, through the real controller:
HashiCorp's two million containers in small. Theirs stands beside ours; it was not run here.

  c2m_bench.py --build DIRECTORY [--smoke] [--json FILE] [--command TEXT] [SIZES]
"""
import sys
import time

from harness import cluster, report

SIZES = {
    "nodes": (6_100, "nodes"),
    "jobs": (200, "service jobs"),
    "count": (10_000, "instances of each"),
    "clients": (4, "clients that put them"),
    "run": (0, "1: the nodes run what they are given, too"),
    "schedulers": (0, "scheduler threads; 0: the daemon's choice"),
    "limit_s": (400, "longest run"),
}
SMOKE = {"nodes": 100, "jobs": 4, "count": 200, "limit_s": 60}
INSTANCES, SECONDS = 2_000_000, 1_334
SAID = "Nomad C2M: 22 min 14 s on 6,100 hosts, three schedulers, by its own report"
# A node holds 400 of them, where 328 are asked for.
NODE, INSTANCE = "--shape=host=1,32000,65536,500000", (80, 160)


def ask_for_all(bench, out, sizes):
    instances = sizes.jobs * sizes.count
    before, busy = bench.resident_bytes(), bench.processor_seconds()
    process, began = bench.put(cluster.service_job("@ID@", sizes.count, *INSTANCE), sizes.jobs, "c2m-", sizes.clients)
    half = bench.wait_metric("berth_allocations", instances / 2, sizes.limit_s) - began
    whole = bench.wait_metric("berth_allocations", instances, sizes.limit_s) - began
    bench.put_result(process, sizes.jobs)
    figures = bench.metrics()
    if bench.alive(figures) != instances:
        bench.fail(f"{bench.alive(figures):.0f} instances are alive, not {instances}")
    said = (SECONDS, SAID) if instances == INSTANCES else (None, None)
    note = (f"{instances / whole:,.0f}/s; first half {half:.2f} s; "
            f"controller {bench.processor_seconds() - busy:.1f} s of processor; "
            f"plans {figures['berth_plans_submitted_total']:.0f}, "
            f"partial {figures['berth_plans_partial_total']:.0f}")
    out.add(f"{sizes.jobs:,} jobs of {sizes.count:,}, PUT to durable", whole, "s", sizes.nodes, *said, note=note)
    if sizes.run:
        bench.wait_fleet("all run", sizes.limit_s, "running", instances)
        out.add("PUT to running", time.monotonic() - began, "s", sizes.nodes, *said)
    out.add("resident, an allocation", (bench.resident_bytes() - before) / instances, "bytes/allocation", sizes.nodes)


def main():
    sizes = report.parse(__doc__, SIZES, SMOKE)
    report.skip_unless_two_processors("c2m")
    out = report.Report(sizes)
    with cluster.Cluster(sizes.build, sizes.limit_s) as bench:
        bench.start_fleet(sizes.nodes, "--register-rate=0", NODE, *([] if sizes.run else ["--no-run"]))
        bench.start_daemon("--wire.ttl_ms=30000", f"--scheduler.workers={sizes.schedulers}")
        bench.wait_metric('berth_nodes{status="ready"}', sizes.nodes, 60)
        ask_for_all(bench, out, sizes)
    return out.end()


if __name__ == "__main__":
    sys.exit(main())
