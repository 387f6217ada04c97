#!/bin/bash
# What must not work, says why: a port that does not exist, a second daemon on one store, a key of another
# cluster, a broken configuration, a job with many mistakes.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd=$BUILD/tools/berthd/berthd

says() { # says WHAT PATTERN COMMAND...: it fails, and its message matches
	local what=$1 pattern=$2
	shift 2
	"$@" >"$TESTBED_DIR/said" 2>&1 && die "$what succeeded"
	grep -qE "$pattern" "$TESTBED_DIR/said" || { cat "$TESTBED_DIR/said"; die "$what does not say $pattern"; }
}

says "a port that does not exist" "nosuch0" timeout 60 "$berthd" --data_dir="$TESTBED_DIR/other" \
	--master_key_file="$TESTBED_DIR/master.key" --ports.0.device=nosuch0 --ports.0.addresses=10.9.9.9
says "a port without an address" "addresses" "$berthd" --ports.0.device=lo --ports.0.io=af_packet
says "a missing key file" "genkey" "$berthd" --data_dir="$TESTBED_DIR/other" --master_key_file=/nonexistent \
	--ports.0.device=lo --ports.0.addresses=10.9.9.9
printf 'http:\n  prot: 1\n' >"$TESTBED_DIR/bad.yaml"
says "an unknown key" "bad.yaml:2:3: http.prot" "$berthd" --config "$TESTBED_DIR/bad.yaml"

berthd_start
says "a second daemon on one store" "$BERTHD_PID|lock|in use" timeout 60 ip netns exec "$TESTBED_CONTROLLER" \
	"$berthd" --data_dir="$TESTBED_DIR/data" --master_key_file="$TESTBED_DIR/master.key" --http.port=0 \
	--ports.0.device=net_null0 --ports.0.addresses=10.9.9.9

# An agent with a key of another cluster: counted, never answered, never registered.
"$berthd" genkey "$TESTBED_DIR/foreign.key" >/dev/null
mkdir -p "$TESTBED_DIR/agent1"
id=$("$BUILD/tools/agent/berth-agent" --print-id --state-dir "$TESTBED_DIR/agent1")
(umask 077 && "$BUILD/tools/berth/berth" node key "$id" --master-key "$TESTBED_DIR/foreign.key" \
	>"$TESTBED_DIR/agent1/node.key")
node_start agent1 "$BUILD/tools/agent/berth-agent" --server "$CONTROLLER:4647" --state-dir "$TESTBED_DIR/agent1"
counted() { [ "$(metric berth_packets_refused_total "reason=\"$1\"")" -ge 1 ]; }
wait_until 10 "the foreign key is counted" counted bad-tag
equal "nodes" "$(api /v1/nodes)" "[]"

printf '{"Job":{"ID":"a b","Type":"direct","Priority":900,"TaskGroups":[{"Count":-1,"Tasks":[]},{"Name":"x"}]}}' \
	>"$TESTBED_DIR/bad.json"
says "a job with mistakes" "[4-9] errors|[1-9][0-9] errors" berth job run "$TESTBED_DIR/bad.json"
balanced
