"""Each alert of packaging/prometheus/alerts.yml fires for what it is about, and no other one does; none fires for a
controller that is well. promtool judges, on series of ninety minutes.

alerts_test.py [PROMTOOL]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ALERTS = pathlib.Path(__file__).resolve().parents[2] / "packaging/prometheus/alerts.yml"
MINUTES = 90
SKIPPED = 77

# Series of a controller that is well: labels beside job and instance, the first value, and what is added each minute.
WELL = {
    ("up", ""): (1, 0),
    ("berth_nodes", "status=ready"): (999, 0),
    ("berth_nodes", "status=down"): (1, 0),
    ("berth_nodes_armed", ""): (999, 0),
    ("berth_nodes_silent", ""): (2, 0),
    ("berth_expiry_held", ""): (0, 0),
    ("berth_heartbeats_accepted_total", ""): (0, 60000),
    ("berth_port_link_up", "port=0"): (1, 0),
    ("berth_port_missed_total", "port=0"): (5, 0),
    ("berth_port_no_mbuf_total", "port=0"): (0, 0),
    ("berth_stalls_total", ""): (2, 0),
    ("berth_journal_commit_seconds_bucket", "le=0.001"): (0, 100),
    ("berth_journal_commit_seconds_bucket", "le=+Inf"): (0, 100),
    ("berth_store_room_bytes", ""): (60000000, 0),
    ("berth_log_waits_total", ""): (0, 0),
    ("berth_snapshot_failures_total", ""): (1, 0),
    ("nomad_nomad_broker_total_ready", ""): (900, 0),
    ("nomad_nomad_broker__failed_ready", ""): (0, 0),
    ("nomad_nomad_blocked_evals_total_blocked", ""): (0, 0),
    ("berth_plans_submitted_total", ""): (0, 100),
    ("berth_plans_partial_total", ""): (0, 1),
    ("berth_evaluations_broken_total", ""): (0, 0),
    ("berth_placement_bad_choices_total", ""): (0, 0),
    ("berth_packets_unaccounted", ""): (0, 0),
    ("berth_cluster_leader_known", ""): (1, 0),
    ("berth_cluster_role", ""): (1, 0),
    ("berth_cluster_role", "instance=m2"): (0, 0),
    ("berth_cluster_members", ""): (3, 0),
    ("berth_cluster_members_alive", ""): (3, 0),
    ("berth_cluster_lag_entries", ""): (20, 0),
    ("berth_cluster_etcd_away", ""): (0, 0),
    ("berth_cluster_clock_odd", ""): (0, 0),
    ("berth_http_certificate_end_seconds", ""): (2000000, 0),
    ("berth_http_requests_total", "method=GET,route=/v1/nodes,class=2xx"): (0, 100),
    ("berth_http_requests_total", "method=GET,route=/v1/nodes,class=5xx"): (0, 1),
    ("berth_http_audit_failed_total", ""): (1, 0),
    ("berth_keyring_keys", ""): (1, 0),
    ("berth_variables", ""): (7, 0),
    ("process_open_fds", ""): (100, 0),
    ("process_max_fds", ""): (1024, 0),
    ("process_start_time_seconds", ""): (5, 0),
}

# The alert, and what is otherwise then.
ILL = [
    ("BerthDown", {("up", ""): (0, 0)}),
    ("BerthNodesDown", {("berth_nodes", "status=down"): (11, 0)}),
    ("BerthManyNodesSilent", {("berth_nodes_silent", ""): (60, 0)}),
    ("BerthExpiryHeld", {("berth_expiry_held", ""): (1, 0)}),
    ("BerthNoHeartbeats", {("berth_heartbeats_accepted_total", ""): (77, 0)}),
    ("BerthPortDown", {("berth_port_link_up", "port=0"): (0, 0)}),
    ("BerthPacketsLost", {("berth_port_missed_total", "port=0"): (0, 1)}),
    ("BerthPacketsLost", {("berth_port_no_mbuf_total", "port=0"): (0, 1)}),
    ("BerthStalls", {("berth_stalls_total", ""): (0, 1)}),
    ("BerthCommitsSlow", {
        ("berth_journal_commit_seconds_bucket", "le=0.001"): (0, 50),
        ("berth_journal_commit_seconds_bucket", "le=1"): (0, 100),
    }),
    ("BerthStoreFull", {("berth_store_room_bytes", ""): (1000, 0)}),
    ("BerthStoreFull", {("berth_log_waits_total", ""): (0, 1)}),
    ("BerthSnapshotsFail", {("berth_snapshot_failures_total", ""): (0, 1)}),
    ("BerthEvaluationsLate", {("nomad_nomad_broker_total_ready", ""): (1001, 0)}),
    ("BerthEvaluationsFail", {("nomad_nomad_broker__failed_ready", ""): (1, 0)}),
    ("BerthWithoutRoom", {("nomad_nomad_blocked_evals_total_blocked", ""): (1, 0)}),
    ("BerthPlansRefused", {("berth_plans_partial_total", ""): (0, 11)}),
    ("BerthInvariantBroken", {("berth_evaluations_broken_total", ""): (0, 1)}),
    ("BerthInvariantBroken", {("berth_placement_bad_choices_total", ""): (0, 1)}),
    ("BerthInvariantBroken", {("berth_packets_unaccounted", ""): (-1, 0)}),
    ("BerthNoLeader", {("berth_cluster_leader_known", ""): (0, 0)}),
    ("BerthSeveralLeaders", {("berth_cluster_role", "instance=m2"): (1, 0)}),
    ("BerthMemberGone", {("berth_cluster_members_alive", ""): (2, 0)}),
    ("BerthMemberLags", {("berth_cluster_lag_entries", ""): (10001, 0)}),
    ("BerthEtcdAway", {("berth_cluster_etcd_away", ""): (1, 0)}),
    ("BerthClockOdd", {("berth_cluster_clock_odd", ""): (1, 0)}),
    ("BerthCertificateEnds", {("berth_http_certificate_end_seconds", ""): (1200000, 0)}),
    ("BerthApiErrors", {("berth_http_requests_total", "method=GET,route=/v1/nodes,class=5xx"): (0, 6)}),
    ("BerthAuditLost", {("berth_http_audit_failed_total", ""): (0, 1)}),
    ("BerthKeyringLost", {("berth_keyring_keys", ""): (0, 0)}),
    ("BerthFewDescriptors", {("process_open_fds", ""): (1000, 0)}),
    ("BerthRestarts", {("process_start_time_seconds", ""): (0, 20)}),
]


def series_of(values):
    """promtool's series: each is constant or grows."""
    for (name, labels), (first, more) in values.items():
        own = {"job": "berth", "instance": "m1", **dict(pair.split("=") for pair in labels.split(",") if pair)}
        shown = ",".join(f'{label}="{value}"' for label, value in own.items())
        yield {"series": f"{name}{{{shown}}}", "values": f"{first}+{more}x{MINUTES}"}


def case(name, values, alerts):
    firing = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts]
    return {"name": name, "interval": "1m", "input_series": list(series_of(values)), "promql_expr_test": [{
        "expr": 'max by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{MINUTES}m",
        "exp_samples": firing}]}


def cases():
    yield case("well", WELL, [])
    for alert, otherwise in ILL:
        yield case(f"{alert} for {list(otherwise)}", {**WELL, **otherwise}, [alert])


def main():
    promtool = shutil.which(sys.argv[1] if len(sys.argv) > 1 else "promtool")
    named = re.findall(r"- alert: (\w+)", ALERTS.read_text())
    untested = set(named) ^ {alert for alert, _ in ILL}
    if untested or len(set(named)) != len(named):
        print(f"these alerts have no test, or stand twice: {sorted(untested)}")
        return 1
    if not promtool:
        print("promtool is not installed: tools/setup installs it")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        # JSON is YAML, too.
        test = pathlib.Path(folder) / "alerts.json"
        test.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": list(cases())}))
        return subprocess.run([promtool, "test", "rules", test], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
