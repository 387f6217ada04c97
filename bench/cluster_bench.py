#!/usr/bin/env python3
"""Three controllers whose log is in three etcd, all on this machine, against etcd's own puts from a plain client in the
same run (bench/etcd_put.c); then how long nobody decides when the leader is killed.

  placements     durable ones a second with many requests on their way, of one instance and of eight, and what they take
                 in the log, against the bytes that etcd takes in transactions of 64 KiB, four at a time
  one placement  from PLACE to PLACED, forty a second and one behind the other, each against transactions of 400 bytes
                 in the same way
  takeover       from kill -9 of the leader, with a fleet beating, to the first PLACED

Root only: it makes network namespaces (tests/cluster/bed.py).
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench/harness"), str(ROOT / "tests/cluster")]
sys.dont_write_bytecode = True
import bed as beds  # noqa: E402
import clients  # noqa: E402
import report  # noqa: E402
import wire  # noqa: E402

SIZES = {"nodes": (100000, "nodes that beat during the takeovers"), "ttl_ms": (30000, "silence that makes a node down"),
         "place_nodes": (1000, "nodes that placements go to"), "takeovers": (20, "leaders that are killed"),
         "pairs": (5, "of measurement and reference"), "round_ms": (3000, "of one measurement"),
         "window": (1024, "requests of one instance on their way; of eight, half as many")}
SMOKE = {"nodes": 100, "ttl_ms": 10000, "place_nodes": 100, "takeovers": 1, "pairs": 1, "round_ms": 300}
RETRY_S = 0.02
RATE, PAUSE_MS = 40, 20  # of a light load: about as many transactions
TAKEOVER_SECONDS = 60
LEADER_WAIT_SECONDS = 120


def job(cpu=1):
    one = clients.direct_job()
    one["TaskGroups"][0]["Tasks"][0]["Resources"] = {"CPU": cpu, "MemoryMB": 10}
    one["TaskGroups"][0]["EphemeralDisk"] = {"SizeMB": 1}
    return {"Job": one}


def etcd_put(bed, size, together, sizes, pause_ms=0):
    command = [bed.build / "bench/etcd_put", "--endpoints", bed.endpoints, "--bytes", size, "--together", together,
               "--ms", sizes.round_ms, "--pause-ms", pause_ms]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def placing(bed, name, *options):
    """A client that places over the wire; it is a fleet of one node of its own, too."""
    return beds.Program([bed.build / "tools/fleet/berth-fleet", "--server", f"{beds.SERVICE}:{beds.WIRE_PORT}",
                         "--key-file", bed.directory / "master.key", "--nodes", 1, "--first", 2000000, "--cpu", 1,
                         "--place", f"{clients.DIRECT_JOB}:g", "--repeat", 0, "--quiet", *options],
                        bed.directory / f"{name}.log")


def look(bed):
    figures = bed.metrics(bed.leader())
    return time.monotonic(), figures["berth_allocations"], figures["berth_store_append_bytes_total"]


def place_many(bed, window, instances, sizes):
    """Placements and bytes of the log a second."""
    client = placing(bed, "many", "--count", 100000000, "--window", window, "--instances", instances).start()
    before = bed.metrics(bed.leader())["berth_allocations"]
    bed.wait("the first placements", 30, lambda: bed.metrics(bed.leader())["berth_allocations"] > before + 100)
    time.sleep(sizes.round_ms / 3000)
    first = look(bed)
    time.sleep(sizes.round_ms / 1000)
    last = look(bed)
    client.kill()
    seconds = last[0] - first[0]
    return (last[1] - first[1]) / seconds, (last[2] - first[2]) / seconds


def throughput(bed, out, sizes):
    single, eight, together, alone = [], [], [], []
    for _ in range(sizes.pairs):
        together.append(etcd_put(bed, 65536, 4, sizes))
        single.append(place_many(bed, sizes.window, 1, sizes))
        alone.append(etcd_put(bed, 65536, 1, sizes))
        eight.append(place_many(bed, max(1, sizes.window // 2), 8, sizes))
    middle = statistics.median
    theirs = middle(one["bytes_per_s"] for one in together)
    for what, ours in (("one instance a request", single), ("eight instances a request", eight)):
        rates = [one[0] for one in ours]
        placed, in_log = middle(rates), middle(one[1] for one in ours)
        out.add(f"durable placements, {what}", placed, "placements/s", sizes.place_nodes,
                note=f"{in_log / placed:.0f} bytes of log each; {min(rates):,.0f} to {max(rates):,.0f}")
        out.add("bytes of the log", in_log, "bytes/s", sizes.place_nodes, theirs, "etcd, 64 KiB four at a time")
    out.add("etcd, 64 KiB one at a time", middle(o["bytes_per_s"] for o in alone), "bytes/s", sizes.place_nodes,
            note=f"p50 {middle(o['p50_us'] for o in alone):,.0f} us")


def one_placement(bed, out, sizes):
    for what, options, pause_ms in (("forty a second", ("--rate", RATE), PAUSE_MS), ("back to back", (), 0)):
        ours, theirs = [], []
        count = max(20, sizes.round_ms // (25 if options else 10))
        for number in range(sizes.pairs):
            theirs.append(etcd_put(bed, 400, 1, sizes, pause_ms))
            summary = bed.directory / "one.json"
            client = placing(bed, "one", "--count", count, "--window", 1, "--json", summary, "--seed", 100 + number,
                             *options)
            client.start().process.wait(60)
            ours.append(json.loads(summary.read_text())["placing"]["latency_us"])
        middle = statistics.median
        out.add(f"one placement, p50, {what}", middle(one["p50"] for one in ours), "us", sizes.place_nodes,
                middle(one["p50_us"] for one in theirs), "etcd, 400 bytes alone",
                note=f"p99 {middle(o['p99'] for o in ours):,.0f} us, etcd's {middle(o['p99_us'] for o in theirs):,.0f}")


def first_answer(bed, client, number):
    """Until one PLACE is answered: the same question again and again."""
    end = time.monotonic() + TAKEOVER_SECONDS
    request = (time.time_ns() // 1000000, number)
    while time.monotonic() < end:
        try:
            if client.place(request, clients.DIRECT_JOB, "g", 1, RETRY_S):
                return time.monotonic()
        except wire.Refused:
            time.sleep(RETRY_S)
    raise beds.Failure("no PLACE was answered after the leader was killed")


def takeovers(bed, out, sizes):
    client = wire.WireClient("takeover", (beds.SERVICE, beds.WIRE_PORT), bed.directory / "master.key")
    waits = []
    for number in range(sizes.takeovers):
        first_answer(bed, client, 2 * number)
        old = bed.leader()
        began = time.monotonic()
        bed.members[old].kill()
        waits.append(first_answer(bed, client, 2 * number + 1) - began)
        bed.members[old].start()
        bed.wait_answers(old)
        time.sleep(3)  # it has caught up, and the fleet beats as before
    figures = bed.metrics(bed.leader())
    note = f"nodes down {figures.get('berth_nodes_expired_total', 0):.0f}; the leader's lease is 3 s"
    out.add("takeover, p50", statistics.median(waits), "s", sizes.nodes, note=note)
    out.add("takeover, the worst", max(waits), "s", sizes.nodes, note=f"of {len(waits)}")


def in_bed(sizes, directory, nodes, parts, out):
    # A client may ask as much as it can here, and nodes have room for everything.
    settings = ("--wire.client_rate=0", "--log.level=warn")
    with beds.Bed(sizes.build, directory, nodes=nodes, ttl_ms=sizes.ttl_ms, node_cpu=1000000, settings=settings) as bed:
        bed.start()
        bed.wait("the job is taken", 30, lambda: beds.ask(
            bed.net.managing(bed.leader()), "/v1/jobs", job())[0] == 200)
        for part in parts:
            part(bed, out, sizes)


def main():
    sizes = report.parse(__doc__, SIZES, SMOKE)
    report.skip_unless_two_processors("cluster")
    if os.geteuid() != 0 or shutil.which("etcd") is None:
        print("cluster cannot run here: it takes root, for network namespaces, and etcd (Debian package etcd-server)")
        return report.SKIPPED
    out = report.Report(sizes)
    with tempfile.TemporaryDirectory(prefix="berth-cluster-", dir=os.environ.get("TMPDIR", "/var/tmp")) as name:
        in_bed(sizes, pathlib.Path(name) / "placing", sizes.place_nodes, (one_placement, throughput), out)
        in_bed(sizes, pathlib.Path(name) / "takeover", sizes.nodes, (takeovers,), out)
    return out.end()


if __name__ == "__main__":
    sys.exit(main())
