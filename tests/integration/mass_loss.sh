#!/bin/bash
# The controller is cut off from a fleet that lives, then a switch behind the link is: nobody is declared down, and
# everything that was placed stays where it is. A rack that dies is declared down as ever, and so is, slowly, what is
# still away when the hold is over.
export TESTBED_MASS_PERCENT=20 TESTBED_TTL_MS=1500
. "$(dirname "$0")/setup.sh"
NODES=200
HOLD=12 # s; longer than the link and the switch are away
RACK=40
testbed_up
berthd_start --liveness.mass_hold_s=$HOLD
fleet() { # NAME FIRST COUNT
	node_start "$1" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --first "$2" \
		--key-file "$TESTBED_DIR/master.key" --nodes "$3" --name "$1-" --quiet
}
fleet steady 0 $((NODES - RACK))
fleet rack $NODES $RACK
wait_until 30 "all nodes are ready" nodes_are ready $NODES
expired() { metric berth_nodes_expired_total; }
held_is() { [ "$(metric berth_expiry_held)" = "$1" ]; }
health() { api /v1/agent/health | jq -r '.server.message'; }
equal "health" "$(health)" ok
beats_go_on() { [ "$(metric berth_heartbeats_accepted_total)" -gt "$1" ]; }
all_beat() {
	wait_until 30 "the beats come back" beats_go_on $(($(metric berth_heartbeats_accepted_total) + 3 * NODES))
}

api '/v1/event/stream?topic=Liveness' -N >"$TESTBED_DIR/events" 2>/dev/null &
CHILDREN+=($!)

# The cable: the other end is taken down, so the port has no carrier.
in_nodes ip link set "$TESTBED_LINK" down
wait_until 5 "expiry is held" held_is 1
sleep $((4 * TESTBED_TTL_MS / 1000))
equal "nodes that expired while the link was down" "$(expired)" 0
equal "ready nodes" "$(metric berth_nodes 'status="ready"')" $NODES
equal "the link" "$(metric berth_port_link_up)" 0
health | grep -q '^degraded: .*is down' || die "health says $(health)"
grep -q 'event=expiry-held' "$TESTBED_DIR/berthd.log" || die "the log says nothing"
grep -q '"Type":"ExpiryHeld"' "$TESTBED_DIR/events" || die "there is no event"
in_nodes ip link set "$TESTBED_LINK" up
# The address of the second family goes with the link.
in_nodes ip -6 address add fd77::2/64 dev "$TESTBED_LINK" nodad 2>/dev/null
all_beat
wait_until 20 "expiry goes on" held_is 0
equal "nodes that expired" "$(expired)" 0
equal "health" "$(health)" ok
say "link: held and released, nobody was declared down"

# The switch: the link stays up, and what the nodes send goes to somebody else.
in_nodes ip neigh replace "$CONTROLLER" lladdr 02:00:00:00:00:99 dev "$TESTBED_LINK" nud permanent
wait_until $((TESTBED_TTL_MS / 1000 + 5)) "expiry is held" held_is 1
sleep $((2 * TESTBED_TTL_MS / 1000))
equal "nodes that expired while nothing came through" "$(expired)" 0
in_nodes ip neigh del "$CONTROLLER" dev "$TESTBED_LINK"
all_beat
wait_until 20 "expiry goes on" held_is 0
equal "nodes that expired" "$(expired)" 0
say "switch: held and released, nobody was declared down"

kill -9 "$(cat "$TESTBED_DIR/rack.pid")"
wait_until $((TESTBED_TTL_MS / 1000 + 5)) "the rack is down" nodes_are down $RACK
equal "holds" "$(metric berth_expiry_holds_total)" 2
say "rack: $RACK nodes down as ever"

kill -9 "$(cat "$TESTBED_DIR/steady.pid")"
wait_until $((TESTBED_TTL_MS / 1000 + 5)) "expiry is held" held_is 1
equal "nodes that expired" "$(expired)" $RACK
wait_until 60 "the hold is over" grep -q event=expiry-goes-on "$TESTBED_DIR/berthd.log"
berth liveness release | grep -q 'expire now' || die "it cannot be released"
wait_until 5 "all are down" nodes_are down $NODES
say "death of all: down after the hold"
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
