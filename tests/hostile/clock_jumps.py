#!/usr/bin/env python3
"""The machine's clock jumps by a year, forward, back and right again, under a berthd that has nodes, allocations, tokens
with an end and periodic jobs: nothing happens, but that it says so.

clock_jumps.py BUILD PRELOADED"""
import os
import struct
import sys
import tempfile
import time

YEAR_S = 365 * 24 * 3600
NODES = 5


class Clock:
    """How far the daemon's clock is off."""

    def __init__(self, path):
        self.path = path
        self.jump(0)

    def jump(self, seconds):
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as file:
            file.write(struct.pack("<q", seconds))


def yearly():
    from jobs import job
    return job("yearly", Type="batch", Periodic={"Enabled": True, "SpecType": "cron", "Spec": "0 0 1 1 *"})


def short_token():
    from daemon import ask_json
    return ask_json("POST", "/v1/acl/token", {"Name": "short", "Type": "management", "ExpirationTTL": "1h"})["SecretID"]


def what_must_stay(daemon):
    """Whatever a year would change."""
    from daemon import ask_json
    return {
        "nodes": sorted((n["ID"], n["Status"]) for n in ask_json("GET", "/v1/nodes")),
        "allocations": sorted((a["ID"], a["DesiredStatus"], a["ClientStatus"])
                              for a in ask_json("GET", "/v1/job/steady/allocations")),
        "launches": [j["ID"] for j in ask_json("GET", "/v1/jobs?prefix=yearly/")],
        "tokens": sorted(t["AccessorID"] for t in ask_json("GET", "/v1/acl/tokens")),
        "expired": daemon.metric("berth_nodes_expired_total"),
        "evaluations": sorted(e["ID"] for e in ask_json("GET", "/v1/evaluations")),
    }


def look(daemon, seconds, secret, before):
    from daemon import ask, ask_json, expect
    time.sleep(4)
    for what, now in what_must_stay(daemon).items():
        expect(f"{what}, {seconds} s off", now, before[what])
    expect("a token that ends in an hour", ask("GET", "/v1/jobs", headers=[f"X-Nomad-Token: {secret}"])[0], 200)
    name = f"after{seconds}"
    from jobs import job
    ask_json("PUT", "/v1/jobs", job(name, Type="batch", Periodic={"Enabled": True, "SpecType": "cron",
                                                                  "Spec": "0 0 1 1 *"}))
    told = ask_json("GET", f"/v1/job/{name}")["SubmitTime"] / 1e9
    if abs(told - time.time()) > 30:
        raise AssertionError(f"{seconds} s off a job is of {told}, not of {time.time()}")
    ahead = daemon.metric("berth_clock_ahead_seconds")
    if abs(ahead - seconds) > 30:
        raise AssertionError(f"{seconds} s off it says {ahead}")
    health = ask("GET", "/v1/agent/health")[1]
    expect(f"{seconds} s off, health says: {health}", "the machine's clock was set" in health, seconds != 0)


def main():
    import frames
    from daemon import Daemon, ask_json, expect
    import daemon as daemons
    from jobs import job
    with tempfile.TemporaryDirectory(prefix="berth-clock.") as folder:
        clock = Clock(f"{folder}/clock")
        daemon = Daemon(sys.argv[1], folder, {"LD_PRELOAD": sys.argv[2], "JUMPING_CLOCK": clock.path})
        try:
            daemons.token = ask_json("POST", "/v1/acl/bootstrap")["SecretID"]
            fleet = frames.Fleet(daemon, NODES)
            secret = short_token()
            ask_json("PUT", "/v1/jobs", yearly())
            ask_json("PUT", "/v1/jobs", job("steady"))
            frames.await_allocation("steady")
            before = what_must_stay(daemon)
            expect("allocations", len(before["allocations"]), 1)
            for seconds in (YEAR_S, 0, -YEAR_S, 0):
                clock.jump(seconds)
                look(daemon, seconds, secret, before)
                if seconds == 0:
                    # The next jump goes from there.
                    daemons.ask("DELETE", "/v1/job/after0?purge=true")
            fleet.stop()
            log = (daemon.folder / "berthd.log").read_text()
            expect("lines about jumps", (log.count("clock-was-set"), log.count("clock-is-right")), (2, 2))
        finally:
            daemon.stop()
    print("a year forward, and a year back: nothing happens")


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import inside
    inside.enter()
    main()
