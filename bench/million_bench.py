#!/usr/bin/env python3
"""The life of a fleet of a million, by the real programs on two cores: all nodes register at once, a service instance
for each, many jobs of one instance, a system job on all, a rack that dies, a controller that is killed. Each line
stands beside what others say of theirs; theirs was not run here. The nodes of the fleet do all that they are told: they
ask for their allocations, run them and report.

  million_bench.py --build DIRECTORY [--smoke] [--json FILE] [--command TEXT] [SIZES]
"""
import sys
import time

from harness import cluster, report

SIZES = {
    "nodes": (1_000_000, "nodes that register at once"),
    "jobs": (1_000, "service jobs"),
    "count": (1_000, "instances of each"),
    "single_jobs": (100_000, "service jobs of one instance"),
    "clients": (8, "clients that put them"),
    "rack": (10_000, "nodes that die"),
    "schedulers": (0, "scheduler threads; 0: the daemon's choice"),
    "ttl_ms": (30_000, "silence that makes a node down; a third of it lies between two heartbeats"),
    "limit_s": (900, "longest run"),
}
SMOKE = {"nodes": 400, "jobs": 4, "count": 100, "single_jobs": 40, "rack": 3, "ttl_ms": 2_000, "limit_s": 100}

# A node has room for one service instance, single jobs and the system job's; one in fifty for two, so that what a rack
# loses finds room.
SHAPES = ["--shape=plain=49,1000,4096,10000", "--shape=large=1,1700,8192,20000"]
SERVICE, SINGLE, SYSTEM = (600, 1024), (120, 128), (10, 16)

K8S_PODS = 70, "k8s-1m: 1,000,000 pods on 1,000,000 nodes, about 9,600 cores, not durable, by its own report"
K8S_NODES = 1_000_000
C1M = 267, "Nomad C1M: 1,000,000 containers on 5,000 hosts at 3,750/s, by its own report"


def beside(size, full, said):
    """What others say of the full size says nothing of a smaller one."""
    return said if size == full else (None, None)


def register(bench, out, sizes):
    began = time.monotonic()
    bench.start_fleet(sizes.nodes, "--register-rate=0", "--duration=1000000", f"--silence={sizes.rack}@signal", *SHAPES)
    bench.start_daemon(*settings(sizes))
    heard = bench.wait_metric('berth_requests_total', 1, cluster.START_SECONDS)
    ready = bench.wait_metric('berth_nodes{status="ready"}', sizes.nodes, 300)
    figures = bench.metrics()
    line = bench.wait_fleet("all registered", 60, "registered", sizes.nodes)
    refused = sum(value for name, value in line.items() if name.startswith("refused"))
    note = (f"retries {line['registrations'] - sizes.nodes:.0f}, refused {refused:.0f}, "
            f"nodes down {figures.get('berth_nodes_expired_total', 0):.0f}, "
            f"{heard - began:.1f} s before the first was heard")
    out.add("all register at once, to ready", ready - heard, "s", sizes.nodes, note=note)
    out.add("registrations sent again", line["registrations"] - sizes.nodes, "registrations", sizes.nodes)
    out.add("registrations refused", refused, "registrations", sizes.nodes)
    out.add("resident, nodes alone", bench.resident_bytes() / sizes.nodes, "bytes/node", sizes.nodes)


def settings(sizes):
    jobs = max(65536, 2 * (sizes.jobs + sizes.single_jobs))
    return [f"--wire.ttl_ms={sizes.ttl_ms}", f"--scheduler.workers={sizes.schedulers}", f"--limits.jobs={jobs}",
            f"--limits.nodes={sizes.nodes + 8192}"]


def put_all(bench, job, count, instances, prefix, clients, patience_s):
    """Puts jobs; seconds from the first PUT to the last durable instance, to the last running one, and the PUTs'."""
    figures = bench.metrics()
    goal = figures["berth_allocations"] + instances
    process, began = bench.put(job, count, prefix, clients)
    said = bench.put_result(process, count)  # no look is wasted before the last job is put
    durable = bench.wait_metric("berth_allocations", goal, patience_s)
    return durable - began, said, began


def wait_running(bench, instances):
    bench.wait_fleet(f"{instances} allocations run", 300, "running", instances)


def services(bench, out, sizes):
    job = cluster.service_job("@ID@", sizes.count, *SERVICE)
    instances = sizes.jobs * sizes.count
    before = bench.resident_bytes()
    seconds, said, began = put_all(bench, job, sizes.jobs, instances, "service-", sizes.clients, 400)
    figures = bench.metrics()
    note = (f"{instances / seconds:,.0f}/s; jobs put in {said['seconds']:.2f} s; "
            f"plans {figures['berth_plans_submitted_total']:.0f}, partial {figures['berth_plans_partial_total']:.0f}")
    out.add(f"{sizes.jobs:,} jobs of {sizes.count:,}, PUT to durable", seconds, "s", sizes.nodes,
            *beside(instances, K8S_NODES, K8S_PODS), note=note)
    wait_running(bench, instances)
    out.add(f"{sizes.jobs:,} jobs of {sizes.count:,}, PUT to running", time.monotonic() - began, "s", sizes.nodes,
            *beside(instances, K8S_NODES, C1M))
    out.add("resident, an allocation", (bench.resident_bytes() - before) / instances, "bytes/allocation", sizes.nodes)


def single_jobs(bench, out, sizes):
    job = cluster.service_job("@ID@", 1, *SINGLE)
    seconds, said, _ = put_all(bench, job, sizes.single_jobs, sizes.single_jobs, "single-", sizes.clients, 400)
    note = f"put in {said['seconds']:.2f} s, p50 {said['p50_us']} us, p99 {said['p99_us']} us"
    out.add(f"{sizes.single_jobs:,} jobs of 1 by {sizes.clients}, PUT to durable", seconds, "s", sizes.nodes, note=note)
    wait_running(bench, sizes.jobs * sizes.count + sizes.single_jobs)


def system_job(bench, out, sizes):
    job = cluster.service_job("@ID@", 1, *SYSTEM) | {"Type": "system"}
    seconds, _, began = put_all(bench, job, 1, sizes.nodes, "everywhere-", 1, 300)
    out.add("system job on all, PUT to durable", seconds, "s", sizes.nodes, note=f"{sizes.nodes / seconds:,.0f}/s")
    wait_running(bench, sizes.jobs * sizes.count + sizes.single_jobs + sizes.nodes)
    out.add("system job on all, PUT to running", time.monotonic() - began, "s", sizes.nodes)


def is_settled(bench, alive, lost):
    figures = bench.metrics()
    open_evaluations = figures["berth_evaluations_pending"] + figures["berth_evaluations_blocked"]
    return bench.alive(figures) == alive and figures["berth_allocations_terminal"] >= lost and open_evaluations == 0


def rack_dies(bench, out, sizes):
    """A node that dies takes its system allocation with it; everything else must run elsewhere."""
    began = time.monotonic()
    bench.signal_fleet()
    down = bench.wait_metric('berth_nodes{status="down"}', sizes.rack, 300)
    alive = sizes.jobs * sizes.count + sizes.single_jobs + sizes.nodes - sizes.rack
    replaced = bench.wait("the rack's work runs elsewhere", 300, lambda: is_settled(bench, alive, sizes.rack))
    out.add(f"a rack of {sizes.rack:,} dies, to down", down - began, "s", sizes.nodes,
            note=f"silence of {sizes.ttl_ms / 1000:g} s is waited for")
    out.add(f"a rack of {sizes.rack:,} dies, down to replaced", replaced - down, "s", sizes.nodes)


def killed(bench, out, sizes):
    figures = bench.metrics()
    resyncs = bench.fleet_line()["resyncs"]
    began = time.monotonic()
    bench.kill_daemon()
    bench.start_daemon(*settings(sizes))
    ready = time.monotonic()
    # A node that hears of a new term beats again at once, and the fleet counts it.
    bench.wait_fleet("all nodes are heard again", 300, "resyncs", resyncs + sizes.nodes - sizes.rack)
    heard = time.monotonic()
    after = bench.metrics()
    for name in ("berth_jobs", "berth_allocations"):
        if after[name] < figures[name]:
            bench.fail(f"{name}: {figures[name]:.0f} before the kill, {after[name]:.0f} after it")
    out.add("kill -9, to ready", ready - began, "s", sizes.nodes)
    out.add("kill -9, to all heard", heard - began, "s", sizes.nodes,
            note=f"nodes down {after.get('berth_nodes_expired_total', 0):.0f}")


def main():
    sizes = report.parse(__doc__, SIZES, SMOKE)
    report.skip_unless_two_processors("million")
    out = report.Report(sizes)
    with cluster.Cluster(sizes.build, sizes.limit_s) as bench:
        for part in (register, services, single_jobs, system_job, rack_dies, killed):
            part(bench, out, sizes)
        out.add("resident, all in", bench.resident_bytes("VmRSS") / 2**20, "MiB", sizes.nodes)
    return out.end()


if __name__ == "__main__":
    sys.exit(main())
