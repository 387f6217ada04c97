#!/bin/bash
# A second daemon wants the port of the first, and somebody takes the first one's XDP program away: nobody is declared
# down, the second is refused with the reason, and health fails while the port is deaf.
export TESTBED_IO=af_xdp TESTBED_TTL_MS=1500
. "$(dirname "$0")/setup.sh"
NODES=20
testbed_up
berthd_start
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes $NODES --quiet
wait_until 30 "all nodes are ready" nodes_are ready $NODES
held_is() { [ "$(metric berth_expiry_held)" = "$1" ]; }

for io in af_xdp af_packet; do
	if in_controller timeout 60 "$BUILD/tools/berthd/berthd" --data_dir="$TESTBED_DIR/second" --http.port=0 \
		--master_key_file="$TESTBED_DIR/master.key" --ports.0.device="$TESTBED_PORT" --ports.0.io=$io \
		--ports.0.addresses="$CONTROLLER" >"$TESTBED_DIR/second.log" 2>&1; then
		die "a second daemon runs on the port"
	fi
	grep -q "in use by another berthd (process $BERTHD_PID" "$TESTBED_DIR/second.log" ||
		die "the second was not told: $(tail -1 "$TESTBED_DIR/second.log")"
done
sleep $((2 * TESTBED_TTL_MS / 1000))
equal "nodes that expired" "$(metric berth_nodes_expired_total)" 0
equal "holds" "$(metric berth_expiry_holds_total)" 0
api_is_healthy || die "the first is not healthy"
say "second daemon: refused, the first did not notice"

in_controller ip link set "$TESTBED_PORT" xdp off || in_controller ip link set "$TESTBED_PORT" xdpgeneric off
wait_until 5 "expiry is held" held_is 1
sleep $((4 * TESTBED_TTL_MS / 1000))
equal "nodes that expired" "$(metric berth_nodes_expired_total)" 0
equal "ready nodes" "$(metric berth_nodes 'status="ready"')" $NODES
if api_is_healthy; then die "a deaf daemon is healthy"; fi
grep -q 'event=port-program-lost' "$TESTBED_DIR/berthd.log" || die "the log says nothing"
berthd_kill TERM
berthd_start --wire.restart_grace_ms=1000
# Long enough for a node that was not heard since to have expired.
sleep $((2 * TESTBED_TTL_MS / 1000 + 1))
nodes_are ready $NODES || die "nodes are not ready after a restart"
equal "nodes that expired" "$(metric berth_nodes_expired_total)" 0
say "program taken away: held, unhealthy, and as before after a restart"
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
