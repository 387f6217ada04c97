#!/bin/bash
# A real Prometheus scrapes a real daemon that has all there is to scrape (a log in etcd, TLS, an audit log, Orchard's
# names): every family is described, all that board and alerts ask for is there, and one alert fires when nodes die.
. "$(dirname "$0")/setup.sh"
for program in prometheus promtool etcd; do
	command -v $program >/dev/null || { say "skipped: $program is not installed"; exit 77; }
done
testbed_up
root=$here/../..
pki=$TESTBED_DIR
"$BUILD/tools/berth/berth" tls ca create --directory "$pki" >/dev/null || die "no authority was made"
"$BUILD/tools/berth/berth" tls cert create controller --host 127.0.0.1 --directory "$pki" >/dev/null ||
	die "no certificate was made"
url=https://127.0.0.1:$TESTBED_HTTP
api() { in_controller curl -sS --max-time 30 --cacert "$pki/berth-ca.pem" "$url$1" "${@:2}"; }

etcd=http://127.0.0.1:2379
# Started without a function between, so that the pids are their own.
inside=(ip netns exec "$TESTBED_CONTROLLER")
"${inside[@]}" etcd --data-dir "$TESTBED_DIR/etcd" --listen-client-urls $etcd --advertise-client-urls $etcd \
	--listen-peer-urls http://127.0.0.1:2380 --logger zap --log-level warn >"$TESTBED_DIR/etcd.log" 2>&1 &
CHILDREN+=($!)
etcd_is_healthy() { in_controller curl -sS --max-time 2 $etcd/health 2>/dev/null | grep -q true; }
wait_until 20 "etcd answers" etcd_is_healthy

settings=(--cluster.name=watched --cluster.endpoints=$etcd --cluster.advertise_http="$url"
	--cluster.tls.ca="$pki/berth-ca.pem" --audit.path="$TESTBED_DIR/audit.log" --vms.metrics=true
	--http.tls.certificate="$pki/controller.pem" --http.tls.key="$pki/controller-key.pem")
in_controller "$BUILD/tools/berthd/berthd" cluster init --data_dir="$TESTBED_DIR/data" \
	--master_key_file="$TESTBED_DIR/master.key" --http.port="$TESTBED_HTTP" --ports.0.device="$TESTBED_PORT" \
	--ports.0.addresses="$CONTROLLER" "${settings[@]}" >"$TESTBED_DIR/init.log" 2>&1 || die "no cluster was made"
berthd_start "${settings[@]}"
is_ready() { [ "$(api /readyz)" = ok ]; }
wait_until 20 "the daemon is ready" is_ready
equal "livez" "$(api /livez)" ok
api '/readyz?verbose' | grep -q '^\[+\]cluster-log ok$' || die "readyz does not list its checks"

api /metrics >"$TESTBED_DIR/scraped.txt"
promtool check metrics <"$TESTBED_DIR/scraped.txt" >"$TESTBED_DIR/promtool.log" 2>&1
[ $? -ne 1 ] || die "promtool cannot read the metrics"

# The alerts as they are, but that they wait for nothing.
sed 's/^\( *for:\) .*/\1 0s/' "$root/packaging/prometheus/alerts.yml" >"$TESTBED_DIR/alerts.yml"
cat >"$TESTBED_DIR/prometheus.yml" <<YAML
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yml]
scrape_configs:
  - job_name: berth
    scheme: https
    tls_config: {ca_file: berth-ca.pem}
    static_configs: [{targets: ["127.0.0.1:$TESTBED_HTTP"]}]
YAML
"${inside[@]}" prometheus --config.file="$TESTBED_DIR/prometheus.yml" --storage.tsdb.path="$TESTBED_DIR/tsdb" \
	--web.listen-address=127.0.0.1:9090 --log.level=warn >"$TESTBED_DIR/prometheus.log" 2>&1 &
CHILDREN+=($!)

node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --key-file "$TESTBED_DIR/master.key" \
	--nodes 20 --quiet
nodes_are_20() { [ "$(metric berth_nodes "status=\"$1\"")" = 20 ]; }
wait_until 30 "20 nodes are ready" nodes_are_20 ready
watch() { in_controller python3 -B "$root/tests/monitoring/watch.py" http://127.0.0.1:9090 "$@"; }
seen() { watch "$@" >"$TESTBED_DIR/watch.log" 2>&1; }
wait_until 30 "Prometheus knows every family" seen described
cat "$TESTBED_DIR/watch.log"
watch asked || die "the board or the alerts ask for what is not there"
watch silent || die "an alert fires although nothing is wrong"

kill "$(cat "$TESTBED_DIR/fleet.pid")"
wait_until 30 "20 nodes are down" nodes_are_20 down
wait_until 20 "the alert fires" seen fires BerthNodesDown
cat "$TESTBED_DIR/watch.log"
say "a daemon was watched, and its alert fired"
