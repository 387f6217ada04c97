#!/bin/bash
# A fleet that registers at one moment, and again when the controller has lost its store: nobody goes down meanwhile,
# because an authentic REGISTER is a sign of life. By hand with as many as the machine holds:
#
#   NODES=1000000 BUILD=build tests/integration/storm.sh
NODES=${NODES:-20000}
# Nodes beat three times in it; those who are simulated share the machine's cores with the controller.
TESTBED_TTL_MS=${TESTBED_TTL_MS:-$((10000 + NODES / 10))}
TESTBED_MASS_PERCENT=${TESTBED_MASS_PERCENT:-20} # as the daemon has it: nobody is killed here
. "$(dirname "$0")/setup.sh"
PATIENCE=$((150 + NODES / 1000)) # who is not answered waits up to 31 s, more than once where cores are short
testbed_up
berthd_start --limits.nodes=$((NODES + 1024))
began=$SECONDS
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --key-file "$TESTBED_DIR/master.key" \
	--nodes "$NODES" --register-rate 0 --quiet
wait_until "$PATIENCE" "all nodes are ready" nodes_are ready "$NODES"
say "$NODES nodes that came at once are ready after $((SECONDS - began)) s"
equal "nodes that went down while others came" "$(metric berth_nodes_expired_total)" 0

berthd_kill KILL
rm -rf "$TESTBED_DIR/data"
began=$SECONDS
berthd_start --limits.nodes=$((NODES + 1024))
wait_until "$PATIENCE" "all nodes are back" nodes_are ready "$NODES"
say "they are back in an empty store after $((SECONDS - began)) s"
equal "nodes that went down while others came back" "$(metric berth_nodes_expired_total)" 0
say "refused for want of room: $(metric berth_packets_refused_total 'reason="requests-full"')"
balanced
