#!/bin/bash
# The machines and pods of a trace in openb's form through REGISTER and PLACE; nothing is over-committed.
# BERTH_TRACE_DIR names the published trace; without it the small one beside this script is used.
. "$(dirname "$0")/setup.sh"
trace=${BERTH_TRACE_DIR:-$here/trace}
testbed_up
berthd_start
ip netns exec "$TESTBED_NODES" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --trace "$trace" --http "http://$TESTBED_NET.3:4646" --quiet \
	--json "$TESTBED_DIR/trace.json" >"$TESTBED_DIR/fleet.log" 2>&1 || die "the trace was not placed"
cat "$TESTBED_DIR/trace.json"
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
