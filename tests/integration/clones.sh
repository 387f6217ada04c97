#!/bin/bash
# The state directory of an agent is copied and a second agent started with it: the one that came later is refused, also
# after kill -9 of the daemon, and the first one keeps the node. An operator clears it once the clone is gone.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start

agent_start web1
wait_until 20 "the node is ready" nodes_are ready 1
id=$(cat "$TESTBED_DIR/web1.id")
clone_start() {
	node_start "$1" "$BUILD/tools/agent/berth-agent" --server "$CONTROLLER:4647" \
		--state-dir "$TESTBED_DIR/$1" --name web1
}
cp -a "$TESTBED_DIR/web1" "$TESTBED_DIR/thief"
clone_start thief
counted() { [ "$(metric berth_commands_total 'type="node-register",outcome="quarantined"')" -ge "$1" ]; }
wait_until 60 "the clone is refused" counted 1
wait_until 20 "its agent says so" grep -q "event=quarantined" "$TESTBED_DIR/thief.log"
! grep -q "event=quarantined" "$TESTBED_DIR/web1.log" || die "the first one is refused"
wait_until 20 "the node is ready" nodes_are ready 1
berth node admit refused | grep -q "web1.* clone" || die "it is not listed"
berth node status "$id" | grep -q "^Clone .*refused since" || die "the node does not tell"
grep -q NodeQuarantined <<<"$(api "/v1/event/stream?topic=Admission&index=1" --max-time 2 2>/dev/null)" ||
	die "no event of it"

berthd_kill KILL
berthd_start
wait_until 60 "the node is ready again" nodes_are ready 1
ask_again thief
wait_until 20 "the clone is refused after a kill, too" counted 1

kill "$(cat "$TESTBED_DIR/thief.pid")"
berth node quarantine clear "$id" >/dev/null || die "it is not cleared"
equal "refused nodes" "$(api /v1/berth/admit/refused)" "[]"
berth node quarantine clear "$id" 2>/dev/null && die "there was nothing to clear"
nodes_are ready 1 || die "the node is not ready"
