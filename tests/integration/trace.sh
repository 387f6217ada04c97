#!/bin/bash
# The machines and pods of a trace in openb's form through REGISTER and PLACE; nothing is over-committed.
# BERTH_TRACE_DIR names the published trace; without it the small one beside this script is used.
. "$(dirname "$0")/setup.sh"
trace=${BERTH_TRACE_DIR:-$here/trace}
testbed_up
# The fleet registers the trace's jobs over HTTP: a second link for that.
ip link add mgmt netns "$TESTBED_CONTROLLER" type veth peer name mgmt netns "$TESTBED_NODES"
in_controller ip address add 10.78.0.1/24 dev mgmt
in_nodes ip address add 10.78.0.2/24 dev mgmt
in_controller ip link set mgmt up
in_nodes ip link set mgmt up
berthd_start --http.address=0.0.0.0 --http.insecure=true
ip netns exec "$TESTBED_NODES" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --trace "$trace" --http "http://10.78.0.1:4646" --quiet \
	--json "$TESTBED_DIR/trace.json" >"$TESTBED_DIR/fleet.log" 2>&1 || die "the trace was not placed"
cat "$TESTBED_DIR/trace.json"
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
